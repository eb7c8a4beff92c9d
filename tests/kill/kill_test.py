"""A run that is killed at any moment and resumed writes the same as an undisturbed one.

kill_test.py RMLC [--kills N] [--seed S]: each program runs with --resume under SIGKILLs at random
moments (while rows are written and states saved, renamed, or read again) until it ends by itself.
This repeats until N kills have hit. After each end, the outputs are compared byte by byte. Each
program also runs as a network of tasks.
"""

import argparse
import gzip
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

# Programs by the contents of their states: cells, parameters and random draws; segments and the
# queues around them; a pipeline whose rows come late, on sub-clocks; a program without inputs.
PROGRAMS = {
    "forward": """
        node main(c: bool, x: f64) -> (y: f64, z: f64 when c)
          w = param(normal([40]));
          moved = w fby moved + 0.001 * x;
          y = sum(moved) + uniform([]) + (0.0 fby y) * 0.5;
          z = (1.0 fby z) * 0.9 + (x when c) + (uniform([]) when c);""",
    "segments": """
        node main(c: bool, x: f64) -> (y: f64, z: f64 when c)
          total = fby_end(c, 0.0, total) + x;
          mean = backfill(total, c);
          rest = x + (if c then 0.0 else post rest);
          k = param(1.0);
          learnt = k fby (if c then learnt + 0.01 * mean else learnt);
          y = rest * learnt + mean;
          z = (y when c) + uniform([]) when c;""",
    "late": """
        node main(c: bool, x: f64) -> (y: f64, z: f64 when c)
          y = (post post post x) - (0.0 fby x);
          z = (post (x when c)) + (0.0 fby 0.0 fby x when c);""",
    "clock": """
        node main() -> (n: i32, r: f64)
          n = 0 fby n + 1;
          r = (0.0 fby r) * 0.99 + normal([]);""",
}
ROWS = 4000
OUTPUTS = ("rows.csv", "rows.jsonl", "rows.csv.gz")


def content(path):
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


class Program:
    def __init__(self, rmlc, folder, name, draw, grain=None):
        self.name = f"{name} as a network, {grain}" if grain else name
        self.folder = folder / self.name
        self.folder.mkdir()
        source = self.folder / "main.rml"
        source.write_text(PROGRAMS[name])
        self.binary = self.folder / "main"
        subprocess.run([rmlc, "build", source, "-o", self.binary, *(["--grain", grain] if grain else [])], check=True)
        self.arguments = ["--quiet"]
        if grain:
            self.arguments += ["--capacity", draw.choice(("1", "64"))]
        if name == "clock":
            self.arguments += ["--cycles", str(ROWS)]
        else:
            rows = [f"{'TF'[draw.random() < 0.9]},{draw.random()!r}" for _ in range(ROWS)]
            (self.folder / "in.csv").write_text("c,x\n" + "\n".join(rows) + "\n")
            self.arguments += ["--input", "in.csv"]
        self.expected = {}
        for output in OUTPUTS:
            subprocess.run([self.binary, *self.arguments, "--output", "whole." + output], cwd=self.folder, check=True)
            self.expected[output] = content(self.folder / ("whole." + output))

    # Runs once to the end and returns the number of kills, or None if the output is wrong.
    def run(self, draw):
        output = draw.choice(OUTPUTS)
        every = draw.choice((7, 50, 300, 1500))
        for stale in (output, "state"):
            (self.folder / stale).unlink(missing_ok=True)
        command = [self.binary, *self.arguments, "--output", output, "--resume", "state", "--save-every", str(every)]
        kills = 0
        patience = 0.02
        while True:
            process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE)
            try:
                _, errors = process.communicate(timeout=draw.uniform(0, patience))
            except subprocess.TimeoutExpired:
                process.kill()
                _, errors = process.communicate()
            if process.returncode == -9:
                kills += 1
                patience *= 1.1  # later attempts get more time, so that every run ends
                continue
            if process.returncode != 0:
                print(f"{self.name}, {output}, saved every {every} cycles: exit status {process.returncode} after "
                      f"{kills} kills: {errors.decode()}")
                return None
            if content(self.folder / output) != self.expected[output]:
                print(f"{self.name}, {output}, saved every {every} cycles: other rows after {kills} kills")
                return None
            return kills


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rmlc")
    parser.add_argument("--kills", type=int, default=40)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "big")
    print("seed", seed)
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        programs = [Program(options.rmlc, pathlib.Path(folder), name, draw, grain) for name in PROGRAMS
                    for grain in (None, draw.choice(("pass", "stage", "op")))]
        kills = runs = 0
        begin = time.time()
        while kills < options.kills or runs < len(programs):
            killed = programs[runs % len(programs)].run(draw)
            if killed is None:
                return 1
            kills += killed
            runs += 1
    print(f"{runs} runs, {kills} kills, {time.time() - begin:.0f} s")
    return 0


sys.exit(main())
