#!/bin/sh
# Networks of operations: messages a second through chains, and what a pipeline gains from a second worker. Builds
# network.cc against the sources; needs two idle processors. Usage: network.sh
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CXX:-g++} -std=c++20 -O2 -DNDEBUG -I. benchmarks/channels/network.cc runtime/scheduler/scheduler.cc \
  runtime/scheduler/graph_base.cc runtime/scheduler/trace.cc runtime/stream_io/byte_sink.cc -lz -pthread -o "$folder/network"
"$folder/network"
"$folder/network" pipeline
