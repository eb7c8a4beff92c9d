#!/usr/bin/env python3
"""Writes a program of N backward recurrences, each of the one before: `backward.py N > program.rml`.

All end together: each sums up, from the end of a segment backward, what the one before has there."""
import sys


def main():
    count = int(sys.argv[1])
    print("node main(e: bool, x: f64) -> (y: f64)")
    for k in range(count):
        print(f"  v{k} = {'x' if k == 0 else f'v{k - 1}'} + post_end(e, 0.0, v{k});")
    print(f"  y = v{count - 1};")


main()
