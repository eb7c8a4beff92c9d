"""Programs that tests run in two pieces, with the rows of their inputs."""

import functools
import random
import subprocess

RMLC = None  # path of rmlc; the tests set it
ROWS = 24
SECONDS = 20

STATIC = {
    "straight": "node main(x: f64) -> (y: f64)\n  y = x + 0.5 * (0.0 fby y);\n",
    "drawn": "node main(x: f64) -> (y: f64)\n  y = x + normal([]) + param(uniform([], 0.0, 1.0));\n",
    "backward": "node main(e: bool, x: f64) -> (y: f64)\n  s = fby_end(e, 0.0, s) + x;\n  y = x - backfill(s, e);\n",
    "ahead": "node main(x: f64) -> (y: f64, n: i64)\n  y = x + post (post x);\n  n = 0 fby n + 1;\n",
    "two ends": "node main(e: bool, q: bool, x: f64) -> (y: f64, z: f64)\n"
                "  s = fby_end(e, 0.0, s) + x;\n  y = backfill(s, e);\n  z = backfill(x + s, q) - (0.0 fby x);\n",
    "sampled": "node main(e: bool, x: f64) -> (z: f64 when e)\n"
               "  z = (post (x when e)) + (1.0 fby (x when e));\n",
    "trained": "node net(e: bool, x: f64) -> (l: f64)\n  h = tanh(x * param_end(e, param(0.5)) + 0.5 * fby_end(e, 0.0, h));\n"
               "  l = h * h;\nnode main(e: bool, x: f64) -> (l: f64)\n  l, _ = diff net(e, x, true, -0.01);\n",
}
# None of these programs has a static schedule.
ON_DEMAND = {
    "stride": "node main(e: bool, x: f64) -> (y: f64)\n  y = x + (if e then 0.0 else post (post y));\n",
    "some strides": "node main(e: bool, q: bool, x: f64) -> (y: f64)\n  y = x + (if e then 0.0 else if q then post (post y) else post y);\n",
    "delayed": "node main(e: bool, x: f64) -> (y: f64, z: f64)\n  y = x + (if e then 0.0 else post (post y));\n"
               "  z = (0.0 fby 0.0 fby z) + y * (1.0 fby x);\n",
    "held": "node main(e: bool, q: bool, x: f64) -> (y: f64)\n  y = x + (if e then 0.0 else post (post y));\n"
            "  h = if q then y else (0.0 fby h);\n  assert h < 1000.0;\n",
    "at times": "node main(e: bool, q: bool, x: f64) -> (y: f64, z: f64 when q)\n"
                "  y = if q then x else x + (if e then 0.0 else post (post y));\n  z = (y when q) + (0.0 fby (x when q));\n",
    "late memory": "node main(e: bool, q: bool, x: f64) -> (y: f64)\n  v = x + (if e then 0.0 else post (post v));\n"
                   "  y = if q then (0.0 fby v) else x;\n",
    "tensors": "node main(e: bool, x: f64) -> (y: f64[3])\n  y = x * [1.0, 2.0, 3.0] + (if e then zeros([3]) else post (post y));\n",
    "parameters": "node main(e: bool, q: bool, x: f64) -> (y: f64, z: f64 when q)\n"
                  "  y = param(normal([])) * x + (if e then 0.0 else post (post y));\n  z = param(0.5) * (y when q);\n",
    "chance": "node main(e: bool, x: f64) -> (y: f64)\n  y = x + normal([]) + (if e then 0.0 else post (post y));\n",
    "counting": "node main() -> (y: i64)\n  n = 0 fby n + 1;\n  y = n + (if n % 5 == 0 then 0 else post (post y));\n",
}


@functools.cache
def column(name, count):
    draws = random.Random(name)
    flag = {"e": 0.6, "q": 0.25}.get(name)
    return [f"{draws.randint(-9, 9) / 4}" if flag is None else "FT"[draws.random() < flag] for _ in range(count)]


def table(names, first, last, rows=ROWS):
    columns = [column(name, rows)[first:last] for name in names]
    return "".join(",".join(row) + "\n" for row in [names, *zip(*columns, strict=True)])


class Program:
    def __init__(self, folder, text, options, rows=ROWS):
        source, self.path, self.state, self.all = folder / "p.rml", folder / "p", folder / "p.state", rows
        source.write_text(text)
        done = subprocess.run([RMLC, "build", source, "-o", self.path, *options], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        head = text[text.index("node main(") + len("node main(") :]
        self.names = [part.split(":")[0].strip() for part in head[: head.index(")")].split(",") if part]

    def run(self, first, last, *options):
        cycles = [] if self.names else ["--cycles", str(last - first)]
        return subprocess.run([self.path, *map(str, options), *cycles],
                              input=table(self.names, first, last, self.all) if self.names else "",
                              capture_output=True, text=True, timeout=SECONDS)

    def rows(self, first, last, *options):
        done = self.run(first, last, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[1:]
