"""Threads share nodes and have their own instances. Compiling and running release the interpreter lock."""

from __future__ import annotations

import multiprocessing
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from random_threads import check, program

import rmlc

FILTER = """
node main(x: f64[8], end: bool) -> (y: f64[8], last: f64[8] when end)
  y = 0.9 * (zeros([8]) fby y) + sin(x);
  last = y when end;
"""
# A cycle takes some microseconds.
SLOW = """
node main(x: f64) -> (y: f64, n: i64)
  w = zeros([1000]) fby 0.5 * w + x;
  y = sum(tanh(w));
  n = (0 fby n) + 1;
"""


def inputs(seed: int, cycles: int = 3000) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    return {"x": random.normal(size=(cycles, 8)), "end": random.random(cycles) < 0.1}


def test_threads_compile_nodes_of_one_module() -> None:
    """The checked source of the module goes to one of the threads. The others read it again."""
    module = rmlc.compile(FILTER + "".join(f"node of_{k}(x: f64) -> (y: f64)\n  y = x + {k}.0;\n" for k in range(8)))
    with ThreadPoolExecutor(8) as pool:
        nodes = list(pool.map(lambda k: module.node(f"of_{k}"), range(8)))
    assert [node.start().step(0.5) for node in nodes] == [k + 0.5 for k in range(8)]


def test_eight_threads_are_as_one() -> None:
    node = rmlc.compile(FILTER).node()

    def work(seed: int) -> list[bytes]:
        instance, given = node.start(), inputs(seed)
        parts = [instance.run({name: values[k : k + 500] for name, values in given.items()})
                 for k in range(0, 2500, 500)]
        stepped = [np.array(instance.step(x=given["x"][k], end=bool(given["end"][k])).y) for k in range(2500, 3000)]
        return [part.y.tobytes() for part in parts] + [part.last.values.tobytes() for part in parts] + [
            np.array(stepped).tobytes()]

    serial = [work(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == serial
    assert len({tuple(rows) for rows in serial}) == 8


def test_an_instance_that_is_at_work_says_so() -> None:
    node = rmlc.compile(SLOW).node()
    x = np.random.default_rng(0).normal(size=200_000)
    expected = node.start().run(x=x)
    instance = node.start()
    state = node.start().save()
    calls: dict[str, Callable[[], Any]] = {
        "step": lambda: instance.step(1.0), "run": lambda: instance.run(x=x[:3]), "save": instance.save,
        "load": lambda: instance.load(state), "reset": instance.reset, "finish": instance.finish,
        "copy": instance.copy, "state": lambda: instance.state}
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(instance.run, x=x)
        while instance.cycle == 0 and not coming.done():
            time.sleep(0.001)
        refused = 0
        for call in calls.values():
            if coming.done():
                break
            with pytest.raises(RuntimeError, match="in use already"):
                call()
            refused += 1
        rows = coming.result()
    assert refused >= 4, "the run was over too early"
    assert rows.y.tobytes() == expected.y.tobytes()
    assert (rows.n == np.arange(1, len(x) + 1)).all()
    assert instance.step(1.0).n == len(x) + 1


def test_two_threads_that_step_one_instance() -> None:
    """Each row is returned once and complete, to one of the threads."""
    instance = rmlc.compile("node main(k: i64) -> (n: i64, twice: i64)\n  n = (0 fby n) + 1;\n  twice = k + k;\n"
                            ).node().start()
    found: list[int] = []

    def work(number: int) -> int:
        refused = 0
        for k in range(5_000):
            try:
                if k % 100 == 0:
                    rows = instance.run(k=np.full(200, number, np.int64))
                    assert (rows.twice == 2 * number).all() and (np.diff(rows.n) == 1).all()
                    found.extend(rows.n.tolist())
                else:
                    row = instance.step(number)
                    assert row.twice == 2 * number
                    found.append(row.n)
            except RuntimeError as error:
                assert "in use already" in str(error)
                refused += 1
        return refused

    with ThreadPoolExecutor(4) as pool:
        refused = sum(pool.map(work, range(4)))
    assert sorted(found) == list(range(1, instance.cycle + 1))
    assert refused < 4 * 5_000


def test_random_calls_in_threads() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rmlc.UndeterminedWarning)
        assert [check(case) for case in range(4)] == [""] * 4


def test_compile_in_threads() -> None:
    """The threads compile different programs, and then all the same program."""

    def value(number: int) -> float:
        node = rmlc.compile(program(number)).node()
        return float(node.start().run(x=np.ones((1, 4))).y[0, 0])

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(value, range(100, 116))) == [number + 1.0 for number in range(100, 116)]
        assert list(pool.map(value, [77] * 16)) == [78.0] * 16


def test_errors_in_threads() -> None:
    def place(number: int) -> tuple[int, str]:
        text = "\n" * number + f"node main(x: f64) -> (y: f64)\n  y = x + wrong{number};\n"
        with pytest.raises(rmlc.CompileError) as told:
            rmlc.compile(text)
        found = told.value.diagnostics[0]
        assert found.place is not None
        return found.place.line, found.message

    with ThreadPoolExecutor(8) as pool:
        for number, (line, message) in enumerate(pool.map(place, range(16))):
            assert line == number + 2 and f"wrong{number}" in message


class Counter:
    """Counts in another thread, which needs the interpreter lock for each count."""

    def __enter__(self) -> Counter:
        self.times: list[float] = []
        self._on = True
        self._thread = threading.Thread(target=self._count)
        self._thread.start()
        while not self.times:
            time.sleep(0.001)
        return self

    def _count(self) -> None:
        while self._on:
            self.times.append(time.monotonic())
            time.sleep(0.0005)

    def __exit__(self, *_: object) -> None:
        self._on = False
        self._thread.join()

    def during(self, begin: float, end: float) -> int:
        """Returns the number of counts between two times, without the edges."""
        edge = (end - begin) / 5
        return sum(begin + edge < each < end - edge for each in self.times)


def large_program() -> str:
    lines = [f"  v{k} = tanh(v{k - 1} + {k}.0 * (0.0 fby v{k})) * sin(v{k - 1});" for k in range(1, 400)]
    return "node main(x: f64) -> (y: f64)\n  v0 = x;\n" + "\n".join(lines) + "\n  y = v399;\n"


def test_others_go_on_while_one_compiles() -> None:
    with Counter() as counter:
        begin = time.monotonic()
        rmlc.compile(large_program()).node()
        end = time.monotonic()
    assert end - begin > 0.05, "too fast to be observed"
    assert counter.during(begin, end) > 10


def test_others_go_on_while_one_runs() -> None:
    instance = rmlc.compile(SLOW).node().start()
    x = np.ones(2_000_000)
    with Counter() as counter:
        begin = time.monotonic()
        instance.run(x=x)
        end = time.monotonic()
    assert end - begin > 0.05, "too fast to be observed"
    assert counter.during(begin, end) > 10


def test_instances_end_in_other_threads() -> None:
    """Rows and views outlive the instance, in whichever thread it is destroyed."""
    node = rmlc.compile(FILTER).node()
    kept: list[Any] = []

    def work(seed: int) -> None:
        instance = node.start()
        kept.append((seed, instance.run(inputs(seed, 50)).y, instance.step(np.zeros(8), True).y))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, rows, last in kept:
        instance = node.start()
        assert rows.tobytes() == instance.run(inputs(seed, 50)).y.tobytes()
        assert last.tobytes() == instance.step(np.zeros(8), True).y.tobytes()


def work_of_a_process(instance: rmlc.Instance) -> list[float]:
    """Runs in another process: continues a given instance, and compiles another program."""
    rows = instance.run(x=np.ones(2)).y.tolist()
    other = rmlc.compile("node main(x: f64) -> (y: f64)\n  y = 5.0 * x;\n").node().start()
    return [*rows, other.step(1.0)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method: str) -> None:
    instance = rmlc.compile("node main(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x;\n").node().start()
    instance.step(1.0)
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(work_of_a_process, [instance, instance.copy(), instance]) == [[2.0, 3.0, 5.0]] * 3
    assert instance.step(1.0) == 2.0
