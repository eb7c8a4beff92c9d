#!/usr/bin/env python3
"""Writes a program of N equations: `equations.py N > program.rml`.

Like a controller written by hand, the program mixes arithmetic, delays, conditions and values on
sub-clocks. Each equation uses some of the equations shortly before it. Every hundred equations form a
node, and main calls these nodes."""
import random
import sys

PER_NODE = 100


def node(number, count, rng):
    print(f"node part{number}(x: f32, c: bool) -> (y: f32)")
    names = ["x"]
    for k in range(count - 1):
        a, b = (rng.choice(names[-8:]) for _ in range(2))
        scale = f"{rng.randint(1, 63)}.0 / 64.0"
        form = rng.randrange(6)
        if form == 0:
            right = f"0.0 fby {a} * {scale} + {b}"
        elif form == 1:
            right = f"if {a} > {b} then {a} else {b} - {scale}"
        elif form == 2:
            right = f"merge c (({a} when c) * {scale}) ({b} when not c)"
        elif form == 3:
            right = f"minimum({a}, {b}) + {scale}"
        else:
            right = f"{a} * {scale} - {b}"
        print(f"  v{k} = {right};")
        names.append(f"v{k}")
    print(f"  y = {' + '.join(names[-4:])};\n")


def main():
    equations = int(sys.argv[1])
    rng = random.Random(1)
    parts = max(1, equations // PER_NODE)
    for number in range(parts):
        # main has one equation for each node
        node(number, max(2, equations // parts - 1), rng)
    print("node main(x: f32, c: bool) -> (y: f32)")
    for number in range(parts):
        print(f"  y{number} = part{number}({'x' if number == 0 else f'y{number - 1}'}, c);")
    print(f"  y = y{parts - 1};")


main()
