#!/usr/bin/env python3
"""Checks gradients of mapped nodes with memory, under branches, on all engines:
mapped_gradients.py RMLC FROM COUNT

Draws nodes whose memory restarts at the end of a segment, with branches on that end and on other
conditions, with sampled streams, parameters and inner maps. Maps one of them over a vector and
trains or differentiates it. The rows of the reference engine before simplification are compared
with those of the reference engine, of compiled code at -O0 and -O2, and of segments that are
computed at their end. If no element has parameters, the gradient is also compared with that of
the same node written once for each element. A seed always gives the same program.
"""
import math
import pathlib
import random
import subprocess
import sys
import tempfile

ENGINES = (["--engine", "reference"], ["-O0", "--strict-math"], ["-O2"], ["-O0", "--strict-math", "--chunk", "segment"])


class Node:
    """The text of a node with x: f64 and, equal for all elements, end: bool and c: bool."""

    def __init__(self, seed, name, callee, learns):
        self.random = random.Random(seed)
        self.name, self.callee, self.learns = name, callee, learns
        self.equations, self.fresh, self.pool = [], 0, ["x"]
        for _ in range(self.random.randint(1, 4)):
            self.equation()
        self.output = self.new(f"{self.expression(2)} + {self.pool[-1]}")

    def text(self):
        return f"node {self.name}(x, end, c) -> ({self.output})\n" + "".join(self.equations) + "\n"

    def new(self, right, name=None):
        if name is None:
            self.fresh += 1
            name = f"v{self.fresh}"
        self.equations.append(f"  {name} = {right};\n")
        self.pool.append(name)
        return name

    def leaf(self):
        return self.random.choice(self.pool + ["0.3", "-0.5"])

    def condition(self):
        return self.random.choice(["end", "end", "c", "not c", "(end or c)", "(end and c)"])

    def expression(self, fuel):
        pick = self.random.random()
        sub = lambda: self.expression(fuel - 1)
        if fuel <= 0 or pick < 0.15:
            return self.leaf()
        if pick < 0.4:
            return f"(if {self.condition()} then {sub()} else {sub()})"
        if pick < 0.55:
            c = self.random.choice(["end", "c"])
            return f"(merge {c} ({sub()} when {c}) ({sub()} when not {c}))"
        if pick < 0.65:
            return f"fby_end(end, {self.leaf()}, {sub()})"
        if pick < 0.7:
            return f"({self.random.choice(['0.3', '0.0'])} fby {sub()})"
        if pick < 0.85:
            return f"({sub()} {self.random.choice('+-')} {sub()})"
        return f"{self.random.choice(['tanh', 'sin', '0.5 * '])}({sub()})"

    def equation(self):
        pick = self.random.random()
        if pick < 0.3:  # adds a recurrence within a segment
            self.fresh += 1
            name = f"v{self.fresh}"
            right = f"0.5 * fby_end(end, {self.leaf()}, {name}) + {self.expression(2)}"
            self.new(right, name)
        elif pick < 0.65 and self.callee:
            which = self.random.random()
            argument = self.expression(1)
            if which < 0.5:
                self.new(f"(map {self.callee}([{argument}]; end, c))[0]")
            elif which < 0.75:
                self.new(f"sum(map {self.callee}([{argument}, {self.leaf()}]; end, c))")
            else:
                self.new(f"{self.callee}({argument}, end, c)")
        elif pick < 0.85 and self.learns:
            w = self.new(self.random.choice(["param_end(end, param(0.3))", "param_end(end, param(-0.2))"]))
            self.new(f"{w} {self.random.choice('+*')} {self.leaf()}")
        else:
            self.new(self.expression(2))


def programs(seed):
    """A program, and the same one with the map written out; None if elements share parameters."""
    r = random.Random(seed)
    learns = r.random() < 0.6
    size = r.choice([1, 1, 2, 3])
    nodes = Node(seed * 2 + 1, "g", None, False).text() + Node(seed * 2, "f", "g", learns).text()
    head = f"node whole(xs: f64[{size}], end: bool, c: bool) -> (v: f64[{size}])\n"
    flow = r.choice(["true", "end", "c"])
    sampled = "" if flow == "true" else f" when {flow}"
    main = f"node main(xs: f64[{size}], end: bool, c: bool) -> (v: f64[{size}], dxs: f64[{size}])\n"
    main += f"  v, dxs = diff whole(xs, end, c, {flow}, {r.choice(['0.5 + 0.1 * v', 'cos(v)'])}{sampled});\n"
    mapped = nodes + head + "  v = map f(xs; end, c);\n\n" + main
    calls = "".join(f"  v{k} = f(xs[{k}], end, c);\n" for k in range(size))
    written = nodes + head + calls + f"  v = [{', '.join(f'v{k}' for k in range(size))}];\n\n" + main
    return mapped, written if size == 1 or not learns else None


def rows(seed, size, count=8):
    r = random.Random(seed)
    vector = lambda: "[" + ",".join(str(r.choice([-1, -0.5, 0.25, 1, 2])) for _ in range(size)) + "]"
    lines = {"xs": [vector() for _ in range(count)], "end": [r.choice("TFF") for _ in range(count - 1)] + ["T"],
             "c": [r.choice("TF") for _ in range(count)]}
    return "".join(f"{name} | {' '.join(cells)}\n" for name, cells in lines.items())


def numbers(table):
    return [cell for line in table.splitlines() for cell in line.replace("[", " ").replace("]", " ").replace(",", " ").split()]


def same(found, expected):
    a, b = numbers(found), numbers(expected)
    if len(a) != len(b):
        return False
    for x, y in zip(a, b):
        try:
            if not math.isclose(float(x), float(y), rel_tol=1e-9, abs_tol=1e-9) and not x == y:
                return False
        except ValueError:
            if x != y:
                return False
    return True


def main():
    rmlc, begin, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    compared = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        mapped, written, table = folder / "mapped.rml", folder / "written.rml", folder / "rows.chron"

        def run(program, *options):
            done = subprocess.run([rmlc, "run", program, "--quiet", "--input", table, "--format", "chron", *options],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        for seed in range(begin, begin + count):
            source, plain = programs(seed)
            mapped.write_text(source)
            size = int(source.split("node main(xs: f64[")[1].split("]")[0])
            table.write_text(rows(seed, size))
            expected = run(mapped, "--engine", "reference", "--unsimplified")
            if expected[0] == 70:
                sys.exit(f"seed {seed}:\n{source}\n{expected[2]}")
            if expected[0] != 0 or "?" in expected[1]:
                continue  # the program is refused, or its gradient needs itself
            ways = [(mapped, options) for options in ENGINES]
            if plain:
                written.write_text(plain)
                ways.append((written, ["--engine", "reference"]))
            for program, options in ways:
                found = run(program, *options)
                if found[0] == 0 and same(found[1], expected[1]):
                    continue
                sys.exit(f"seed {seed}, {program.name} {' '.join(options)}:\n{program.read_text()}\n{table.read_text()}\n"
                         f"{found[1]}{found[2]}\nreference engine, unsimplified\n{expected[1]}{expected[2]}")
            compared += 1
    print(f"{compared} of {count} programs compared")
    if compared * 4 < count:
        sys.exit("too few of the programs can be run")


main()
