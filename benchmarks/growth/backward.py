#!/usr/bin/env python3
"""Writes a program of N nested backward recurrences: `backward.py N > program.rml`.

All recurrences share one end. Each one sums up the values of the previous one, backward from the end of a segment."""
import sys


def main():
    count = int(sys.argv[1])
    print("node main(e: bool, x: f64) -> (y: f64)")
    for k in range(count):
        print(f"  v{k} = {'x' if k == 0 else f'v{k - 1}'} + post_end(e, 0.0, v{k});")
    print(f"  y = v{count - 1};")


main()
