"""The order in which the floats of a row are added: sums_test.py RMLC.

It depends on shapes only: not on the level of optimisation, the processor, the rest of the
program, or networks. It is the order that lowering/llvm/elements/sums.cc describes, computed
here again."""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)
RUNS = [1, 3, 4, 5, 7, 10, 12, 15, 16, 17, 28, 31, 33, 63, 64, 100, 784]


def lanes_of(run):
    lanes = 16  # of f64
    while lanes > 4 and (lanes > run or run % lanes > run // 4):
        lanes //= 2
    return lanes


def in_order(values):
    total = -0.0
    for value in values:
        total += value
    return total


def sum_of(values):
    if len(values) < 4:
        return in_order(values)
    lanes = lanes_of(len(values))
    whole = len(values) // lanes * lanes
    parts = [in_order(values[lane:whole:lanes]) for lane in range(lanes)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [parts[k] + parts[k + half] for k in range(half)]
    return parts[0] + in_order(values[whole:]) if whole < len(values) else parts[0]


def numbers(text):
    return [[float(x) for x in cell.strip("[]").replace(";", ",").split(",")] for cell in text.split("|")]


class Sums(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.random = random.Random(7)

    def run_program(self, source, rows, *options):
        (self.folder / "sums.rml").write_text(source)
        (self.folder / "in.jsonl").write_text(rows)
        done = subprocess.run([RMLC, "run", "sums.rml", "--input", "in.jsonl", "--output", "out.jsonl", *options],
                              cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / "out.jsonl").read_text()

    def draw(self, count):
        return [self.random.uniform(-1, 1) * 10 ** self.random.randint(-3, 3) for _ in range(count)]

    def test_it_is_the_order_that_is_told(self):
        for run in RUNS:
            x = self.draw(3 * run)
            rows = '{"x": [' + ", ".join(str(x[k * run:(k + 1) * run]) for k in range(3)) + "]}\n"
            source = f"node main(x: f64[3, {run}]) -> (y: f64[3], all: f64)\n  y = sum(x, axis=1);\n  all = sum(x);\n"
            want = '{"y":' + str([sum_of(x[k * run:(k + 1) * run]) for k in range(3)]).replace(" ", "")
            want += f',"all":{sum_of(x)}' + "}\n"
            for level in ("-O0", "-O2"):
                got = self.run_program(source, rows, level)
                self.assertEqual(eval(got), eval(want), f"runs of {run}, {level}")

    # A sum is the same alone and beside others, in loops that divide the run, in small and in
    # large tensors.
    def test_nothing_else_decides(self):
        shapes = [(2, 3), (3, 5), (4, 10), (64, 10), (5, 33), (7, 64), (3, 300)]
        ports = ", ".join(f"x{k}: {'f32' if k % 2 else 'f64'}[{a}, {b}]" for k, (a, b) in enumerate(shapes))
        results, lines = [], []
        for k, (a, b) in enumerate(shapes):
            t = "f32" if k % 2 else "f64"
            lines += [f"  m{k} = mean(x{k}, axis=1, keepdims=1);", f"  s{k} = sum((x{k} - m{k}) * x{k});",
                      f"  p{k} = prod(1.0 + 0.01 * x{k}, axis=1);", f"  e{k} = exp(0.01 * x{k});",
                      f"  q{k} = e{k} / sum(e{k}, axis=1, keepdims=1);", f"  c{k} = sum(x{k}, axis=0);"]
            results += [f"m{k}: {t}[{a}, 1]", f"s{k}: {t}", f"p{k}: {t}[{a}]", f"q{k}: {t}[{a}, {b}]", f"c{k}: {t}[{b}]"]
        source = f"node main({ports}) -> ({', '.join(results)})\n" + "\n".join(lines) + "\n"
        rows = ""
        for _ in range(3):
            cells = [f'"x{k}": {[self.draw(b) for _ in range(a)]}' for k, (a, b) in enumerate(shapes)]
            rows += "{" + ", ".join(cells) + "}\n"
        want = self.run_program(source, rows, "-O2")
        for options in (["-O1"], ["-O3"], ["--threads", "3"], ["--engine", "channels", "--grain", "op"],
                        ["--engine", "channels", "--grain", "pass"]):
            self.assertEqual(self.run_program(source, rows, *options), want, options)


unittest.main(argv=sys.argv[:1])
