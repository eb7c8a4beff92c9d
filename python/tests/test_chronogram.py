"""Chronograms have exactly the characters that the command `rmlc trace` writes."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest
from conftest import Command
from test_language import RUNS, UNTOLD_CYCLES, Run, columns, read_inputs

import rmlc
from rmlc.chronogram import number_text, value_text

# The command traces by the interpreter, whose last digits may differ from those of compiled code.
TRACEABLE = [run for run in RUNS if not (run.links or run.reference_only or run.stops) and "language" in run.file.parts]
# Some programs, and all programs with rows that stay incomplete. For these, both show the known values.
TRACED = [run for k, run in enumerate(TRACEABLE) if k % 9 == 0 or run.file.stem.startswith("backfill")]


def _same(command: Command, run: Run, watch: list[str]) -> None:
    node = rmlc.load(run.file).node(run.node, defines=run.definitions, engine="reference")
    cycles = read_inputs(run, node)
    words = [word for pair in run.options for word in pair] + [word for each in watch for word in ("--watch", each)]
    if node.inputs:
        words += ["--input", str(run.input)]
    elif run.option("--cycles") is None:
        words += ["--cycles", str(UNTOLD_CYCLES)]
    said = command("trace", run.file, "--node", run.node, *words)
    assert said.returncode == 0, said.stderr
    drawn = node.trace(columns(node, cycles), cycles=len(cycles), watch=watch, seed=run.option("--seed") or 0)
    assert str(drawn) == said.stdout


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", TRACED, ids=str)
def test_equal_to_the_command(run: Run, command: Command) -> None:
    _same(command, run, [])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", TRACED[::4], ids=str)
def test_watched_variables_as_well(run: Run, command: Command) -> None:
    _same(command, run, ["*"])


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_random_numbers_as_the_command(dtype: str, command: Command, tmp_path: pathlib.Path) -> None:
    file, rows = tmp_path / "same.rml", tmp_path / "in.npz"
    file.write_text(f"node main(x: {dtype}) -> (y: {dtype}) y = x;\n", encoding="utf-8")
    unsigned, wanted = {"f16": ("u2", "f2"), "f32": ("u4", "f4"), "f64": ("u8", "f8")}[dtype]
    width = 8 * np.dtype(wanted).itemsize
    x = np.random.default_rng(7).integers(0, 2**width, 300, dtype=unsigned, endpoint=False).view(wanted)
    written = np.array([0.0, -0.0, 1, 10, 100, 1e4, 12345, 0.1, 0.001, 1e-4, 65504, np.inf])
    x = np.concatenate([x, written.astype(wanted)])
    np.savez(rows, x=x)
    said = command("trace", file, "--input", rows)
    assert said.returncode == 0, said.stderr
    assert str(rmlc.load(file).node().trace(x)) == said.stdout


def test_numbers_read_back() -> None:
    source = np.random.default_rng(1).integers(0, 2**32, 2000, dtype=np.uint32).view(np.float32)
    for value in source[np.isfinite(source)]:
        assert np.float32(number_text(value)) == value
    assert [number_text(each) for each in (True, 7, 1e5, 1e6, 0.5, -0.0, float("nan"))] == [
        "T", "7", "1e+05", "1e+06", "0.5", "-0", "nan"]


def test_tensors() -> None:
    assert value_text(np.array([1.5, 2])) == "[1.5,2]"
    assert value_text(np.array([[1, 2], [3, 4]])) == "[1,2;3,4]"
    assert value_text(np.zeros((2, 1, 1), int)) == "[[0],[0]]"
    assert value_text(np.zeros((0,))) == "[]"


def test_rows_that_nothing_determines() -> None:
    drawn = rmlc.compile("node main(x: i32) -> (y: i32) y = x + post x;").node().trace(np.array([1, 2, 10], "i4"))
    assert str(drawn) == "x | 1  2 10\ny | 3 12  ?\n"
