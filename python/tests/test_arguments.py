"""Arguments of every kind: each is accepted with its value, or refused by an exception that names it."""

from __future__ import annotations

import gc
import os
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import random_arguments

import rmlc

COUNT = "node main(x: f32[4], k: i32) -> (y: f32[4], n: i32)\n  y = x + x;\n  n = (0 fby n) + k;\n"


@pytest.fixture(scope="module")
def benches() -> list[random_arguments.Bench]:
    return random_arguments.benches()


@pytest.mark.parametrize("part", range(10))
def test_random_arguments(part: int, benches: list[random_arguments.Bench]) -> None:
    """2,000 cases in all. tests/soak/python_arguments runs more."""
    wrong = []
    for case in range(200 * part, 200 * (part + 1)):
        if said := benches[case % len(benches)].check(case):
            wrong.append(f"case {case}: {said}")
    assert not wrong, "\n".join(wrong)


# ---- messages ----------------------------------------------------------------------------------


@pytest.fixture
def instance() -> rmlc.Instance:
    return rmlc.compile(COUNT).node().start()


X = np.arange(4, dtype=np.float32)


@pytest.mark.parametrize(("inputs", "error", "words"), [
    ({"x": X.astype(float), "k": 1}, TypeError, ["x:", "f32[4]", "float64[4]", "astype"]),
    ({"x": X[:3], "k": 1}, ValueError, ["x:", "f32[4]", "float32[3]"]),
    ({"x": X[::-1], "k": 1}, ValueError, ["x:", "contiguous", "ascontiguousarray"]),
    ({"x": [1, 2, 3, "4"], "k": 1}, TypeError, ["x:", "f32[4]"]),
    ({"x": [1, 2, 3], "k": 1}, ValueError, ["x:", "f32[4]"]),
    ({"x": X, "k": 1.0}, TypeError, ["k:", "i32", "float 1.0"]),
    ({"x": X, "k": True}, TypeError, ["k:", "i32", "bool True"]),
    ({"x": X, "k": 2**31}, ValueError, ["k:", "2147483648", "-2147483648 to 2147483647"]),
    ({"x": X, "k": "1"}, TypeError, ["k:", "i32", "str '1'"]),
    ({"x": X}, TypeError, ["k:", "missing"]),
    ({"x": X, "k": 1, "z": 1}, TypeError, ["'z'", "x, k"]),
    ({"x": None, "k": 1}, TypeError, ["x:", "f32[4]", "None"]),
])
def test_messages_of_step(instance: rmlc.Instance, inputs: dict[str, Any], error: type[Exception],
                          words: list[str]) -> None:
    with pytest.raises(error) as told:
        instance.step(**inputs)
    for word in words:
        assert word in str(told.value)
    assert instance.cycle == 0
    row = instance.step(x=X, k=3)
    assert row.n == 3 and (row.y == 2 * X).all()


@pytest.mark.parametrize(("inputs", "error", "words"), [
    ({"x": np.zeros((3, 4)), "k": [1, 2, 3]}, TypeError, ["x:", "f32[3, 4]", "float64[3, 4]"]),
    ({"x": np.zeros((3, 4), "f"), "k": [1, 2]}, ValueError, ["k:", "2", "3"]),
    ({"x": np.zeros((3, 5), "f"), "k": [1, 2, 3]}, ValueError, ["x:", "f32[3, 4]", "float32[3, 5]"]),
    ({"x": np.zeros((3, 4), "f"), "k": [1, 2, 2**40]}, ValueError, ["k:", "int32"]),
    ({"x": np.zeros((4, 3), "f").T, "k": [1, 2, 3]}, ValueError, ["x:", "contiguous", "copy=True"]),
    ({"x": np.zeros((3, 4), "f")}, TypeError, ["k:", "missing"]),
    ({"x": np.zeros((3, 4), "f"), "k": (each for each in [1, 2, 3])}, TypeError, ["k:", "generator"]),
    ({"x": np.zeros((3, 4), "f"), "k": {1, 2, 3}}, TypeError, ["k:", "set"]),
    ({"x": rmlc.Sampled(np.zeros((2, 4), "f"), [0, 2]), "k": [1, 2, 3]}, ValueError, ["x:", "2 of 3"]),
])
def test_messages_of_run(instance: rmlc.Instance, inputs: dict[str, Any], error: type[Exception],
                         words: list[str]) -> None:
    with pytest.raises(error) as told:
        instance.run(**inputs)
    for word in words:
        assert word in str(told.value)
    assert instance.cycle == 0


@pytest.mark.parametrize("byte", [2, 128, 254, 255])
def test_booleans_of_other_bytes(byte: int) -> None:
    """NumPy takes every byte except 0 as true, so the lowest bit of a byte must not decide."""
    node = rmlc.compile("node main(c: bool, v: bool[3]) -> (k: i32, no: bool, w: bool[3])\n"
                        "  k = if c then 1 else 0;\n  no = not c;\n  w = v;\n").node()
    c = np.array([byte, 0, 1], np.uint8).view(bool)
    v = np.array([c, c, c])
    try:
        rows = node.start().run(c=c, v=v)
    except ValueError as error:
        assert "c:" in str(error) or "v:" in str(error)
    else:
        assert rows.k.tolist() == [1, 0, 1] and rows.no.view(np.uint8).tolist() == [0, 1, 0]
        assert rows.w.view(np.uint8).tolist() == [[1, 0, 1]] * 3
    try:
        row = node.start().step(c[0], v[0])
    except ValueError as error:
        assert "v:" in str(error)
    else:
        assert row.k == 1 and row.w.view(np.uint8).tolist() == [1, 0, 1]


# ---- large, many, again ------------------------------------------------------------------------


def test_more_cycles_than_there_is_memory() -> None:
    instance = rmlc.compile("node main() -> (y: f64)\n  y = 1.0;\n").node().start()
    for cycles in (2**62, 2**61, 2**63 - 1):
        with pytest.raises((MemoryError, ValueError)):
            instance.run(cycles=cycles)
    assert instance.cycle == 0
    assert instance.run(cycles=2).y.tolist() == [1.0, 1.0]


def test_an_array_of_10_to_12_that_is_one_number() -> None:
    instance = rmlc.compile("node main(x: f64) -> (y: f64)\n  y = x;\n").node().start()
    with pytest.raises(ValueError, match="x: .*contiguous"):
        instance.run(x=np.broadcast_to(1.0, (10**12,)))
    assert instance.cycle == 0


def test_inputs_are_read_where_they_lie() -> None:
    """If a run copied its input, the memory would contain it twice."""
    instance = rmlc.compile("node main(x: f64[1000]) -> (y: f64)\n  y = x[0];\n").node().start()
    x = np.ones((20_000, 1000))
    before = resident()
    assert instance.run(x=x).y.sum() == 20_000
    assert resident() - before < x.nbytes // 4


def resident() -> int:
    """Returns the bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fails(instance: rmlc.Instance) -> None:
    for inputs in ({"x": X[:2], "k": 1}, {"x": X, "k": "1"}, {"x": X, "k": 2**40}, {"z": 1}):
        try:
            instance.step(**inputs)
        except (TypeError, ValueError):
            continue
        raise AssertionError(inputs)


MANY: dict[str, Callable[[rmlc.Instance], Any]] = {
    "step": lambda instance: instance.step(X, 1),
    "step by name": lambda instance: instance.step(k=1, x=X),
    "step of a list": lambda instance: instance.step([1.0, 2.0, 3.0, 4.0], np.int32(1)),
    "step that fails": fails,
    "run": lambda instance: instance.run(x=[[1.0, 2.0, 3.0, 4.0]], k=[1]),
    "save and load": lambda instance: instance.load(instance.save()),
    "copy": lambda instance: instance.copy(),
    "reset": lambda instance: instance.reset(),
    "start": lambda instance: instance.node.start(seed=1),
    "params and state": lambda instance: (dict(instance.params), dict(instance.state)),
}


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
@pytest.mark.parametrize("name", MANY)
def test_nothing_is_kept(name: str, instance: rmlc.Instance) -> None:
    """The number of objects and the memory of the extension do not grow with the number of calls."""
    call = MANY[name]
    count = 20_000 if "step" in name else 2_000
    for _ in range(count // 4):
        call(instance)
    gc.collect()
    references = sys.getrefcount(X), sys.getrefcount(instance), sys.getrefcount(instance.node)
    memory, blocks = resident(), sys.getallocatedblocks()
    for _ in range(count):
        call(instance)
    gc.collect()
    assert (sys.getrefcount(X), sys.getrefcount(instance), sys.getrefcount(instance.node)) == references
    assert sys.getallocatedblocks() - blocks < count // 20
    assert resident() - memory < 4 << 20


def test_rows_are_freed(instance: rmlc.Instance) -> None:
    tracemalloc.start()
    try:
        x, k = np.ones((50_000, 4), "f"), np.ones(50_000, "i4")
        instance.run(x=x, k=k)
        before, traced = resident(), tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            instance.run(x=x, k=k)
        assert resident() - before < 20 * 50_000 * 3
        assert tracemalloc.get_traced_memory()[0] - traced < 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype, largest, more", [("f16", 65519.0, 65520.0), ("bf16", 3.396e38, 3.3962e38),
                                                  ("f32", 3.4028235e38, 3.4028236e38)])
def test_a_finite_number_does_not_become_infinite(dtype: str, largest: float, more: float) -> None:
    node = rmlc.compile(f"node main(x: {dtype}, a: {dtype}[2]) -> (y: {dtype}, b: {dtype}[2])\n  y = x;\n  b = a;\n").node()
    instance = node.start()
    zeros = np.zeros(2, node.inputs[1].numpy_dtype)

    def refused(name: str, call: Any) -> None:
        with pytest.raises(ValueError, match=f"^{name}: .* is larger than any {dtype}$"):
            call()

    for sign in (1, -1):
        number = sign * more
        for value in (number, np.float64(number), np.array(number)):
            refused("x", lambda value=value: instance.step(x=value, a=zeros))
        refused("x", lambda: instance.run(x=number, a=[zeros]))
        refused("x", lambda: instance.run(x=[0.0, number], a=[zeros, zeros]))
        refused("a", lambda: instance.step(x=0.0, a=[0.0, number]))
        refused("a", lambda: instance.run(x=[0.0], a=np.array([[0.0, number]]), copy=True))
        for fits in (sign * largest, sign * np.inf):
            assert np.isinf(fits) == np.isinf(float(instance.step(x=fits, a=zeros).y))
            assert np.isinf(fits) == np.isinf(instance.run(x=[0.0], a=np.array([[0.0, fits]]), copy=True).b[0, 1])
    if dtype == "f16":
        refused("x", lambda: instance.step(x=70000, a=zeros))
        refused("a", lambda: instance.run(x=[0.0], a=np.array([[0, 70000]]), copy=True))
    assert instance.cycle == 8
