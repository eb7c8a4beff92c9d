"""Threads that make random calls of instances: random_threads.py FROM COUNT.

A case has eight threads that share a node. Each has an instance of its own, and must get the same bits as from the same
calls in succession. Four further threads use a single instance: each of their calls is either complete, or is refused
because another call is in progress. Meanwhile, one thread compiles. The script prints errors and counts.
"""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import rmlc

PROGRAMS = {
    "memories": """
node main(x: f64, on: bool) -> (y: f64, held: f64[3] when on)
  y = 0.9 * (0.0 fby y) + x;
  total = [x, y, 1.0] + (zeros([3]) fby total);
  held = total when on;
""",
    "learning": """
node line(x: f64) -> (y: f64)
  w = param(glorot_uniform([16, 16]));
  y = sum(matmul(w, ones([16]))) * x;
node main(x: f64, on: bool) -> (y: f64)
  y, _ = diff line(x, true, if on then 0.001 else 0.0);
""",
    "random": """
node main(x: f64, on: bool) -> (y: f64)
  y = x + uniform([], 0.0, 1.0);
""",
    "waiting": """
node main(x: f64, on: bool) -> (y: f64)
  y = if on then x else (post y) - x;
""",
}
CALLS = ("run", "step", "save", "load", "copy", "params", "state", "reset", "finish")


def program(number: int) -> str:
    return f"node main(x: f64[4]) -> (y: f64[4])\n  y = {number}.0 * x + (ones([4]) fby y);\n"


def rows_as_bytes(rows: Any) -> bytes:
    parts = [rows[name] for name in rows]
    return b"".join((part.values if isinstance(part, rmlc.Sampled) else np.asarray(part)).tobytes() for part in parts)


def work(node: rmlc.Node, seed: int, calls: int = 30) -> list[bytes]:
    """Returns the results of random calls of an instance that only one thread uses."""
    source, s = random.Random(seed), node.start(seed=seed)
    found, saved = [], s.save()
    for _ in range(calls):
        call = source.choice(CALLS)
        count = source.randint(1, 200)
        x = np.array([source.random() for _ in range(count)])
        on = x < 0.3
        if call == "run":
            found.append(rows_as_bytes(s.run(x=x, on=on)))
        elif call == "step":
            found += [repr(s.step(float(x[k]), bool(on[k]))).encode() for k in range(min(count, 20))]
        elif call == "save":
            saved = s.save()
            found.append(saved)
        elif call == "load":
            s.load(saved)
        elif call == "copy":
            s = s.copy()
        elif call == "params":
            for path, value in list(s.params.items()):
                s.params[path] = value * 0.5
        elif call == "state":
            found.append(b"".join(np.asarray(value).tobytes() for value in s.state.values()))
        elif call == "reset":
            s.reset()
        else:
            found.append(rows_as_bytes(s.finish()))
            s.reset()
    return found


def contest(node: rmlc.Node, seed: int) -> str:
    """Uses one instance in four threads. Returns a description of what went wrong, or an empty text."""
    s, lock, cycles, refused = node.start(), threading.Barrier(4), [0] * 4, [0] * 4

    def use(number: int) -> None:
        source = random.Random(seed * 4 + number)
        lock.wait()
        for _ in range(60):
            count = source.randint(1, 300)
            call: Callable[[], Any] = source.choice([
                lambda: s.run(x=np.ones(count), on=np.ones(count, bool)), lambda: s.step(1.0, True), s.save,
                lambda: dict(s.params), lambda: s.settled])
            before = call.__code__.co_names if hasattr(call, "__code__") else ()
            try:
                call()
            except RuntimeError as error:
                if "in use already" not in str(error):
                    raise
                refused[number] += 1
            else:
                cycles[number] += count if "run" in before else 1 if "step" in before else 0

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    return "" if s.cycle == sum(cycles) else f"{s.cycle} cycles of {sum(cycles)} that were asked for"


def check(case: int) -> str:
    source = random.Random(case)
    name = source.choice(list(PROGRAMS))
    node = rmlc.compile(PROGRAMS[name]).node()
    begin = threading.Barrier(9)

    def compiling() -> None:
        begin.wait()
        made = rmlc.compile(program(case)).node()
        if made.start().run(x=np.ones((1, 4))).y[0, 0] != case + 1:
            raise AssertionError("a program that was compiled meanwhile is another one")

    def working(seed: int) -> list[bytes]:
        begin.wait()
        return work(node, seed)

    seeds = [source.randrange(2**32) for _ in range(8)]
    with ThreadPoolExecutor(9) as pool:
        other = pool.submit(compiling)
        found = list(pool.map(working, seeds))
        other.result()
    if found != [work(node, seed) for seed in seeds]:
        return f"{name}: threads have other rows than the same calls one after the other"
    return contest(node, case)


def main() -> int:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    warnings.simplefilter("ignore", rmlc.UndeterminedWarning)
    sys.setswitchinterval(1e-5)
    wrong = 0
    for case in range(first, first + count):
        try:
            said = check(case)
        except Exception as error:  # an exception in a thread is a finding of the case
            said = f"{type(error).__name__}: {error}"
        if said:
            wrong += 1
            print(f"case {case}: {said}")
    print(f"cases={count} wrong={wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
