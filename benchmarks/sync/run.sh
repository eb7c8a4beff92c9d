#!/usr/bin/env bash
# Compares the six synchronous programs compiled by rmlc with hand-written C and with the C of
# Heptagon. All builds run alternately. Prints one row per program. See ../README.md.
#
#   RMLC      the compiler                (default: ../../build/release/bin/rmlc)
#   PEERS     programs of the others      (default: ../../../shared/benchmarks/sync)
#   HEPTC     a Heptagon compiler; without it, its published ratio to the hand-written C is used
#   HEPT_LIB  its library folder (pervasives.epci and c/)
#   BUILD     scratch folder              (default ${TMPDIR:-/tmp}/rml-sync)
#   RUNS      timed runs of each build    (default 7; medians are printed)
#   CYCLES    cycles of a run             (default 10000000)
#   REALS     bits of the floats          (default "32 64")
#   ONLY      a pattern of programs       (default "*")
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
RMLC=${RMLC:-$here/../../build/release/bin/rmlc} PEERS=${PEERS:-$here/../../../shared/benchmarks/sync}
HEPTC=${HEPTC:-} HEPT_LIB=${HEPT_LIB:-} BUILD=${BUILD:-${TMPDIR:-/tmp}/rml-sync}
RUNS=${RUNS:-7} CYCLES=${CYCLES:-10000000} REALS=${REALS:-32 64} ONLY=${ONLY:-*}
[[ -e $PEERS/drv.h ]] || { echo "no programs of the peers in $PEERS (set PEERS)" >&2; exit 1; }
[[ -x $RMLC ]] || { echo "no compiler $RMLC (set RMLC)" >&2; exit 1; }
PEERS=$(cd "$PEERS" && pwd)
mkdir -p "$BUILD"
: >"$BUILD/raw.txt"

# The installed C compilers, each with its default target and for this processor.
configs=()
for cc in gcc clang-14 clang-19; do
  command -v "$cc" >"$BUILD/which" && configs+=("$cc -O2" "$cc -O3 -march=native")
done

# name | number | flag | Heptagon's module | hand-written module | our file | has floats
programs=(
  "1-counter|1|-|p1_counter|p1_hand|counter|no"
  "2-fir|2|-|p2_fir|p2_hand|fir|yes"
  "2-fir-alt|2|-DFIRA|p2_fira|p2r_hand|fir_array|yes"
  "3-pid|3|-|p3_pid|p3_hand|pid|yes"
  "4-chrono|4|-|p4_chrono|p4_hand|stopwatch|no"
  "5-kalman|5|-|p5_kalman|p5_hand|kalman|yes"
  "6-gated-rnd|6|-|p6_gated|p6_hand|gated|yes"
  "6-gated-hold|6|-DHOLD64|p6_gated|p6_hand|gated|yes"
)

translate_peers() {
  for source in "$PEERS"/*.ept; do
    cp "$source" "$BUILD/"
    (cd "$BUILD" && "$HEPTC" -stdlib "$HEPT_LIB" -O -target c "$(basename "$source")")
  done
}

# peer OUT IMPLEMENTATION LINK CONFIG: builds a program of the other languages; uses variables of the loop below.
peer() {
  local out=$1 impl=$2 link=$3 cc options c
  read -r cc options <<<"$4"
  # shellcheck disable=SC2206
  local flags=($common $options) objects=()
  case $impl in
    hand)
      flags+=(-DBK_HAND)
      if [[ $link = sep ]]; then
        "$cc" "${flags[@]}" -c "$PEERS/$hand.c" -o "$out.o"
        objects=("$out.o")
      fi ;;
    hept)
      flags+=(-DBK_HEPT -I "$BUILD/${hept}_c" -I "$HEPT_LIB/c")
      if [[ $link = sep ]]; then
        [[ $real = 32 ]] || flags+=(-include "$PEERS/hept_f64.h")
        for c in "$BUILD/${hept}_c"/*.c; do
          "$cc" "${flags[@]}" -c "$c" -o "$out.$(basename "$c").o"
          objects+=("$out.$(basename "$c").o")
        done
      fi ;;
  esac
  [[ $link = sep ]] || flags+=(-DUNITY)
  "$cc" "${flags[@]}" "$PEERS/p${number}_drv.c" "${objects[@]}" -o "$out"
}

# ours OUT LINK CONFIG LEVEL: step (an object, called at every cycle), run (an object, called for
# blocks of cycles) or lto (bitcode, linked into the loop).
ours() {
  local out=$1 link=$2 level=$4 cc options
  read -r cc options <<<"$3"
  # shellcheck disable=SC2206
  local flags=($common $options -DPROGRAM=$number -DNODE=$node -include "$BUILD/$node.h")
  local driver=(-std=gnu++20 -fno-exceptions -DBK_EXT "-DDRIVER=\"p${number}_drv.c\"" "$here/step.cc")
  case $link in
    step) "$cc" "${flags[@]}" "${driver[@]}" "$BUILD/$node.O$level.o" -o "$out" ;;
    run) "$cc" "${flags[@]}" "$here/run.c" "$BUILD/$node.O$level.o" -o "$out" ;;
    lto)  # A function for one processor is not inlined into one for another.
      local bitcode=$BUILD/$node.O$level
      [[ $3 = *native ]] || bitcode+=.generic
      "$cc" "${flags[@]}" "${driver[@]}" "$bitcode.bc" -flto -fuse-ld=lld -fno-slp-vectorize \
        -Wl,-mllvm,-vectorize-slp=false -Wno-override-module -o "$out" ;;
  esac
}

# The programs of the other languages add sums in order, and so does --strict-math.
compile_ours() {
  local level
  for level in 2 3; do
    local build=("$RMLC" build "$here/$source.rml" --node "$node" "-O$level" --strict-math --emit lib)
    "${build[@]}" --cpu native -o "$BUILD/$node.O$level.o"
    "${build[@]}" --cpu native -o "$BUILD/$node.O$level.bc"
    "${build[@]}" --cpu generic -o "$BUILD/$node.O$level.generic.bc"
  done
  mv "$BUILD/$node.O2.h" "$BUILD/$node.h"
}

builds=()   # "IMPLEMENTATION|LINK|CONFIG|FILE"
add() { # add IMPLEMENTATION LINK CONFIG BUILDER…
  local file=$BUILD/$name.$1.$2.$real.${#builds[@]}
  builds+=("$1|$2|$3|$file")
  if [[ $1 = rml ]]; then ours "$file" "$2" "${3% + *}" "${3##*-O}"; else peer "$file" "$1" "$2" "$3"; fi
}

build_all() {
  local config level
  builds=()
  compile_ours
  for config in "${configs[@]}"; do
    add none uni "$config"
    add hand sep "$config"
    add hand uni "$config"
    [[ -z $HEPTC ]] || { add hept sep "$config"; add hept uni "$config"; }
    for level in 2 3; do
      add rml step "$config + rmlc -O$level"
      [[ $config != *native ]] || add rml run "$config + rmlc -O$level"
      [[ $config != clang-19* ]] || add rml lto "$config + rmlc -O$level"
    done
  done
}

[[ -z $HEPTC ]] || translate_peers
for real in $REALS; do
  for program in "${programs[@]}"; do
    IFS='|' read -r name number flag hept hand source has_real <<<"$program"
    # shellcheck disable=SC2053
    [[ $name = $ONLY && ( $real = 32 || $has_real = yes ) ]] || continue
    node=$source
    [[ $has_real = no ]] || node=${source}_f$real
    common="-std=gnu11 -w -ffp-contract=off -DCYCLES=${CYCLES}u -I $PEERS"
    [[ $flag = - ]] || common+=" $flag"
    [[ $real = 32 ]] || common+=" -DREAL64"
    build_all
    for ((run = 0; run < RUNS; run++)); do
      for build in "${builds[@]}"; do
        IFS='|' read -r impl link config file <<<"$build"
        echo "$name|$real|$impl|$link|$config|$("$file")" >>"$BUILD/raw.txt"
      done
    done
  done
done
[[ -z $HEPTC ]] && bars=published.txt || bars=
python3 "$here/table.py" "$BUILD/raw.txt" "$CYCLES" $bars
