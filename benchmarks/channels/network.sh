#!/bin/sh
# Measures networks of operations: messages per second through chains, and the speed-up of a pipeline by a second
# worker. Needs the release build and two idle processors. Usage: network.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build/release}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
${CXX:-g++} -std=c++20 -O2 -DNDEBUG -I. benchmarks/channels/network.cc "$build/runtime/librmlrt.a" -lz -pthread -o "$folder/network"
"$folder/network"
"$folder/network" pipeline
