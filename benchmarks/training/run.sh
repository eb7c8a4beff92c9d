#!/usr/bin/env bash
# Three trainings, one after the other with their peers: hand-written C++ (plain loops, OpenBLAS, oneDNN) and
# PyTorch; a table of medians and ratios. See ../README.md.
#
#   RMLC    the compiler               (default: ../../build/release/bin/rmlc)
#   PEERS   the peers' programs        (default: ../../../shared/benchmarks/ml)
#   BUILD   scratch folder             (default ${TMPDIR:-/tmp}/rml-training)
#   RUNS    passes over everything     (default 3; the lowest median of each counts)
#   PYTHON  one that imports torch     (default /usr/bin/python3; without torch it is left out)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
RMLC=$(realpath "${RMLC:-$here/../../build/release/bin/rmlc}")
PEERS=$(realpath "${PEERS:-$here/../../../shared/benchmarks/ml}")
export BUILD=${BUILD:-${TMPDIR:-/tmp}/rml-training}
RUNS=${RUNS:-3} PYTHON=${PYTHON:-/usr/bin/python3}
[[ -e $PEERS/online.cpp ]] || { echo "no programs of the peers in $PEERS (set PEERS)" >&2; exit 1; }
[[ -x $RMLC ]] || { echo "no compiler $RMLC (set RMLC)" >&2; exit 1; }
mkdir -p "$BUILD"
runtime=$(dirname "$RMLC")/../lib/rmlc

for level in strict fast; do
  flags=(-O3 --cpu native --emit lib)
  [[ $level = strict ]] || flags+=(--fast-math)
  for program in online mlp lstm; do
    "$RMLC" build "$here/$program.rml" --node $program "${flags[@]}" -o "$BUILD/$program.$level.a"
    mv "$BUILD/$program.$level.h" "$BUILD/$program.h"
  done
  g++ -std=c++20 -O2 -I "$BUILD" "$here/step.cc" "$BUILD"/{online,mlp,lstm}.$level.a "$runtime/librmlrt.a" -lz -lpthread \
    -o "$BUILD/step.$level"
done
(cd "$PEERS" && for program in probe naive online mlp_train lstm_train; do ONLY=$program ./build.sh; done)

: > "$BUILD/raw.jsonl"
export BENCH_PIN=1 BENCH_REPS=${BENCH_REPS:-21}
for ((run = 0; run < RUNS; run++)); do
  {
    for workload in online mlp_train lstm_train; do
      "$BUILD/step.strict" $workload
      "$BUILD/step.fast" $workload | sed 's/"peer":"rmlc"/"peer":"rmlc --fast-math"/'
    done
    cd "$PEERS"
    "$BUILD/online"
    "$BUILD/mlp_train" 64 1
    "$BUILD/lstm_train" 128 1 1
    if "$PYTHON" -c 'import torch' 2> "$BUILD/torch"; then
      "$PYTHON" torch_mlp_train.py 64 1
      "$PYTHON" torch_lstm_train.py 128 1 1
      "$PYTHON" py_online.py 10000
    fi
    cd "$here"
  } >> "$BUILD/raw.jsonl"
done
python3 "$here/table.py" "$BUILD/raw.jsonl"
for program in mlp:5000 lstm:200000; do
  printf '\nwhere the time of %s goes\n' "${program%:*}"
  "$RMLC" run "$here/${program%:*}.rml" -O3 --cycles "${program#*:}" --output "$BUILD/rows.csv" \
    --profile "$BUILD/${program%:*}.json"
done
