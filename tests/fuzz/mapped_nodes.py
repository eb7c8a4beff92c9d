#!/usr/bin/env python3
"""Compares `map` of nodes with memory with the same nodes written once for each element:
mapped_nodes.py RMLC FROM COUNT

Draws nodes with memory, branches and sampled streams whose conditions differ between elements,
with nodes that they call and map, with parameters and look-ahead. The outputs of `map`, in the
reference engine and compiled, must be the text that the written program gives in the reference
engine, number by number. A seed always gives the same program.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

TYPES = {"f64": "0.5", "i32": "3", "bool": "true"}


class Node:
    """The text of a node with x: f64, n: i32, c: bool and, equal for all elements, k: f64 and
    e: bool."""

    def __init__(self, seed, name, callee=None):
        self.random = random.Random(seed)
        self.name, self.callee = name, callee
        self.equations, self.fresh = [], 0
        self.pool = {"f64": ["x", "k"], "i32": ["n"], "bool": ["c", "e"]}
        for _ in range(self.random.randint(3, 9)):
            self.equation()
        self.outputs = [(self.new(kind, self.expression(kind, 2)), kind) for kind in TYPES]

    def text(self):
        outputs = ", ".join(f"{n}: {t}" for n, t in self.outputs)
        return f"node {self.name}(x: f64, n: i32, c: bool, k: f64, e: bool) -> ({outputs})\n" + "".join(self.equations) + "\n"

    def new(self, kind, right):
        self.fresh += 1
        name = f"v{self.fresh}"
        self.equations.append(f"  {name} = {right};\n")
        self.pool[kind].append(name)
        return name

    def leaf(self, kind):
        return self.random.choice(self.pool[kind] + [TYPES[kind]])

    def expression(self, kind, fuel):
        pick = self.random.random()
        sub = lambda of=kind: self.expression(of, fuel - 1)
        if fuel <= 0 or pick < 0.15:
            return self.leaf(kind)
        if pick < 0.3:
            return f"({self.leaf(kind)} fby {sub()})"
        if pick < 0.42:
            return f"(if {sub('bool')} then {sub()} else {sub()})"
        if pick < 0.5:
            return f"fby_end({self.leaf('bool')}, {self.leaf(kind)}, {sub()})"
        if kind == "bool":
            if pick < 0.6:
                return f"(not {sub()})"
            if pick < 0.8:
                return f"({sub()} {self.random.choice(['and', 'or'])} {sub()})"
            of = self.random.choice(["f64", "i32"])
            return f"({sub(of)} {self.random.choice(['<', '>=', '=='])} {sub(of)})"
        if pick < 0.9:
            return f"({sub()} {self.random.choice('+-*')} {sub()})"
        if pick < 0.94:  # adds a value that prevents a part from being computed for all elements together
            return f"sum([{sub()}, {sub()}])" if kind == "f64" else f"({sub()} / maximum({sub()}, 1))"
        return f"maximum({sub()}, {sub()})"

    def equation(self):
        kind = self.random.choice(["f64", "f64", "i32", "bool"])
        pick = self.random.random()
        if pick < 0.25:  # adds a recurrence
            name = f"v{self.fresh + 1}"
            self.pool[kind].append(name)
            right = f"{TYPES[kind]} fby {self.expression(kind, 2)}"
            self.pool[kind].remove(name)
            self.new(kind, right)
        elif pick < 0.45:  # adds memory that changes at some cycles only
            c, name = self.leaf_variable("bool"), f"v{self.fresh + 1}"
            held = f"({self.leaf(kind)} fby {name}) when not {c}" if kind == "bool" else f"(0 fby {name} when not {c})"
            held = held.replace("(0 ", "(0.0 ") if kind == "f64" else held
            some = f"({self.leaf_variable(kind)} when {c})"
            some = f"({some} fby ({self.leaf_variable(kind)} when {c}))" if self.random.random() < 0.5 else some
            self.new(kind, f"merge {c} {some} ({held})")
        elif pick < 0.6 and self.callee:
            a, b, d = (self.new(t, self.expression(t, 1)) for t in ("f64", "i32", "bool"))
            names = [f"v{self.fresh + i + 1}" for i in range(3)]
            self.fresh += 3
            self.equations.append(f"  {', '.join(names)} = {self.callee}({a}, {b}, {d}, k, e);\n")
            for t, n in zip(TYPES, names):
                self.pool[t].append(n)
        elif pick < 0.7 and self.callee:
            a = [self.new("f64", self.expression("f64", 1)) for _ in range(2)]
            self.fresh += 1
            self.equations.append(f"  v{self.fresh}, _, _ = map {self.callee}([{a[0]}, {a[1]}], [n, 2], [c, e]; k, e);\n")
            self.new("f64", f"sum(v{self.fresh})")
        elif pick < 0.74:
            self.new("f64", f"param({self.random.choice(['0.5', '-1.0', '2.0'])}) * {self.leaf('f64')}")
        elif pick < 0.79:  # adds a parameter; elements whose changes differ have separate memories
            c, step = self.leaf_variable("bool"), self.leaf_variable("f64")
            self.new("f64", f"param({self.leaf('f64')}, {c}, {step} when {c}) * {self.leaf('f64')}")
        elif pick < 0.84:
            self.new(kind, f"backfill({self.leaf(kind)}, e)")
        else:
            self.new(kind, self.expression(kind, 3))

    def leaf_variable(self, kind):
        return self.random.choice(self.pool[kind])


def programs(seed):
    inner = Node(seed * 2 + 1, "inner")
    outer = Node(seed * 2, "each", "inner")
    nodes = inner.text() + outer.text()
    head = "node main(xs: f64[3], ns: i32[3], cs: bool[3], k: f64, e: bool) -> (ys: f64[3], ms: i32[3], bs: bool[3])\n"
    mapped = nodes + head + "  ys, ms, bs = map each(xs, ns, cs; k, e);\n"
    calls = "".join(f"  y{i}, m{i}, b{i} = each(xs[{i}], ns[{i}], cs[{i}], k, e);\n" for i in range(3))
    written = nodes + head + calls + "  ys = [y0, y1, y2];\n  ms = [m0, m1, m2];\n  bs = [b0, b1, b2];\n"
    return mapped, written


def rows(seed, count=9):
    r = random.Random(seed)
    vector = lambda draw: "[" + ",".join(draw() for _ in range(3)) + "]"
    number = lambda: str(r.choice([-2, -1, -0.5, 0, 0.25, 1, 3]))
    truth = lambda: r.choice("TF")
    lines = {"xs": [vector(number) for _ in range(count)],
             "ns": [vector(lambda: str(r.randint(-3, 5))) for _ in range(count)],
             "cs": [vector(truth) for _ in range(count)],
             "k": [number() for _ in range(count)],
             "e": [truth() for _ in range(count - 1)] + ["T"]}
    return "".join(f"{name} | {' '.join(cells)}\n" for name, cells in lines.items())


def main():
    rmlc, begin, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    compared = 0
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        mapped, written, table = folder / "mapped.rml", folder / "written.rml", folder / "rows.chron"

        def run(program, *options):
            done = subprocess.run([rmlc, "run", program, "--input", table, "--format", "chron", *options],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

        for seed in range(begin, begin + count):
            for path, text in zip((mapped, written), programs(seed)):
                path.write_text(text)
            table.write_text(rows(seed))
            expected = run(written, "--engine", "reference")
            if expected[0] != 0:
                continue  # skips a program that cannot run
            for options in (["--engine", "reference"], ["-O0"], ["-O2"]):
                found = run(mapped, *options)
                if found[:2] != expected[:2]:
                    sys.exit(f"seed {seed}, {' '.join(options)}:\n{mapped.read_text()}\n{table.read_text()}\n"
                             f"map yields\n{found[1]}{found[2]}\nwritten out\n{expected[1]}{expected[2]}")
            compared += 1
    print(f"{compared} of {count} programs compared")
    if compared * 4 < count:
        sys.exit("too few of the programs can be run")


main()
