#!/bin/sh
# Measures the megabytes of CSV text per second that copy_columns reads and writes, from file to
# file, on one core, with 8 columns of f32. There are three data sets: random floats in their
# shortest form (7 to 10 digits), decimals with four places, and whole numbers.
# Usage: measure.sh PATH-TO-copy_columns [ROWS]
set -eu
program=$1
rows=${2:-1000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for kind in random decimals whole; do
  awk -v rows="$rows" -v kind="$kind" 'BEGIN {
    srand(7); print "a,b,c,d,e,f,g,h"
    form = kind == "random" ? "%.9g" : kind == "decimals" ? "%.4f" : "%d"
    scale = kind == "whole" ? 100000 : kind == "decimals" ? 100 : 1
    for (i = 0; i < rows; i++) {
      line = ""
      for (k = 0; k < 8; k++) line = line (k ? "," : "") sprintf(form, (rand() - 0.5) * scale)
      print line
    } }' > "$folder/$kind.raw.csv"
  # The first run writes every float in its shortest form.
  "$program" --input "$folder/$kind.raw.csv" --output "$folder/once.csv"
  sed '1s/.*/a,b,c,d,e,f,g,h/' "$folder/once.csv" > "$folder/$kind.csv"
  best=
  for repeat in 1 2 3; do
    seconds=$("$program" --input "$folder/$kind.csv" --output "$folder/out.csv" --stats 2>&1 | awk '$1 == "time" {print $2}')
    best=$(printf '%s\n%s\n' "$best" "$seconds" | awk 'NF && (!b || $1 < b) {b = $1} END {print b}')
  done
  in=$(wc -c < "$folder/$kind.csv")
  out=$(wc -c < "$folder/out.csv")
  awk -v k="$kind" -v i="$in" -v o="$out" -v s="$best" 'BEGIN {
    printf "%-9s %6.1f MB in + %6.1f MB out in %.3f s: %4.0f MB/s in + out\n", k, i / 1e6, o / 1e6, s, (i + o) / 1e6 / s }'
done
