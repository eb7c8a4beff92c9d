#!/usr/bin/env bash
# A convolutional network, inference with batches of 1 and 64 and training with batches of 64, and its peers
# one after the other: hand-written C++, oneDNN, OpenBLAS, PyTorch, ONNX Runtime; a table of medians and
# ratios. See ../README.md.
#
#   RMLC      the compiler               (default: ../../build/release/bin/rmlc)
#   PEERS     the peers' programs        (default: ../../../shared/benchmarks/ml)
#   BUILD     scratch folder             (default ${TMPDIR:-/tmp}/rml-ml)
#   RUNS      passes over everything     (default 3; the lowest median of each counts)
#   PYTHON    one that imports torch     (default /usr/bin/python3; without torch it is left out)
#   ORT_LIB   ONNX Runtime's library, and
#   ONNX_DIR  the models that make_onnx.py of the peers writes (without them, it is left out)
#   BENCH_CPU the core to run on         (default 0)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
RMLC=$(realpath "${RMLC:-$here/../../build/release/bin/rmlc}")
PEERS=$(realpath "${PEERS:-$here/../../../shared/benchmarks/ml}")
export BUILD=${BUILD:-${TMPDIR:-/tmp}/rml-ml}
RUNS=${RUNS:-3} PYTHON=${PYTHON:-/usr/bin/python3}
[[ -e $PEERS/lenet.cpp ]] || { echo "no programs of the peers in $PEERS (set PEERS)" >&2; exit 1; }
[[ -x $RMLC ]] || { echo "no compiler $RMLC (set RMLC)" >&2; exit 1; }
mkdir -p "$BUILD"
runtime=$(dirname "$RMLC")/../lib/rmlc

for node in infer1 infer64 train64; do
  "$RMLC" build lenet.rml --node $node -O3 --cpu native --emit lib -o "$BUILD/$node.a"
done
g++ -std=c++20 -O2 -march=native -I "$BUILD" -I "$PEERS" lenet.cc "$BUILD"/{infer1,infer64,train64}.a \
  "$runtime/librmlrt.a" -lz -lpthread -o "$BUILD/own"
(cd "$PEERS" && for program in probe lenet ort_run; do [[ -x $BUILD/$program ]] || ONLY=$program ./build.sh; done)

: > "$BUILD/raw.jsonl"
export BENCH_REPS=${BENCH_REPS:-21}
for ((run = 0; run < RUNS; run++)); do
  {
    "$BUILD/own" infer1 infer64 train64
    "$BUILD/lenet" all 1,64 1
    if "$PYTHON" -c 'import torch' 2> "$BUILD/torch"; then (cd "$PEERS" && "$PYTHON" torch_lenet.py all 1,64 1); fi
    if [[ -n ${ORT_LIB:-} && -n ${ONNX_DIR:-} ]]; then "$BUILD/ort_run" lenet 1,64 1; fi
  } >> "$BUILD/raw.jsonl"
done
python3 table.py "$BUILD/raw.jsonl"
