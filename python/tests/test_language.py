"""Every program of the language test suite, run by the package. The rows have the same bits as those of the command.

A program runs in one call, in pieces of random lengths, step by step, and with its instance saved and loaded, copied
or pickled between pieces. The expected rows are those that `rmlc run` writes. A program that stops gives the same
message, in the same cycle, after the same rows.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import json
import pathlib
import pickle
import random
import re
import shlex
import subprocess
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Command

import rmlc

UNTOLD_CYCLES = 8  # for a node without inputs, if the test does not give a number
FOLDERS = ["tests/language", "tests/training", "examples/pid"]


# ---- the suite ---------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Run:
    """A directive `-- run:` with the directives that belong to it (docs/manual/tests.md)."""

    file: pathlib.Path
    number: int
    node: str
    input: pathlib.Path
    options: tuple[tuple[str, str], ...]
    links: tuple[pathlib.Path, ...]
    reference_only: bool
    stops: tuple[int, str] | None

    def option(self, name: str) -> int | None:
        return next((int(value) for key, value in self.options if key == name), None)

    @property
    def definitions(self) -> dict[str, str]:
        return dict(value.split("=", 1) for key, value in self.options if key == "-D")

    def __str__(self) -> str:
        name = self.file.relative_to(ROOT).with_suffix("").as_posix()
        return name.removeprefix("tests/language/") + (f"#{self.number}" if self.number else "")


def read_runs(file: pathlib.Path) -> list[Run]:
    directives = re.findall(r"^[ \t]*--[ \t]*([a-z]+(?: only)?)(?::[ \t]*(.*?))?[ \t\r]*$",
                            file.read_text(encoding="utf-8"), re.MULTILINE)
    if any(word == "command" for word, _ in directives):
        return []
    links = tuple(file.parent / value for word, value in directives if word == "link")
    runs: list[Run] = []
    for word, value in directives:
        if word == "run":
            node, *options = shlex.split(value)
            pairs = tuple(zip(options[::2], options[1::2]))
            runs.append(Run(file, len(runs), node, file.with_suffix(".in.chron"), pairs, links,
                            ("reference only", "") in directives, None))
        elif word == "input" and runs:
            runs[-1] = dataclasses.replace(runs[-1], input=file.parent / value)
        elif word == "stops" and runs:
            cycle, _, text = value.partition(" ")
            runs[-1] = dataclasses.replace(runs[-1], stops=(int(cycle), text.strip().strip('"')))
    return runs


def all_runs() -> list[Run]:
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.rml"))
             if "imported" not in file.parts)
    return [run for file in files for run in read_runs(file)]


RUNS = all_runs()


# ---- inputs ------------------------------------------------------------------------------------


def read_value(text: str, port: rmlc.Port) -> Any:
    """Reads a value of a chronogram. Returns None if it is absent."""
    if text == ".":
        return None
    words = [word for word in re.split(r"[\[\],;]", text) if word]
    read: Callable[[str], Any] = float
    if port.dtype == "bool":
        read = lambda word: word in ("T", "true")  # noqa: E731
    elif port.numpy_dtype.kind in "iu":
        read = int
    values = np.array([read(word) for word in words], port.numpy_dtype).reshape(port.shape)
    return values if port.shape else values.item()


def read_inputs(run: Run, node: rmlc.Node) -> list[dict[str, Any]]:
    """Returns a row of inputs for each cycle."""
    streams: dict[str, list[Any]] = {}
    ports = {port.name: port for port in node.inputs}
    if ports:
        for line in run.input.read_text(encoding="utf-8").splitlines():
            name, bar, texts = line.partition("|")
            if bar and not line.lstrip().startswith(("--", "#")) and name.strip() in ports:
                port = ports[name.strip()]
                streams[port.name] = [read_value(text, port) for text in texts.split()]
    cycles = run.option("--cycles")
    if cycles is None:
        cycles = len(next(iter(streams.values()))) if streams else UNTOLD_CYCLES
    return [{name: values[k] for name, values in streams.items()} for k in range(cycles)]


def columns(node: rmlc.Node, cycles: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the inputs of these cycles for `run`."""
    given: dict[str, Any] = {}
    for port in node.inputs:
        values = [cycle[port.name] for cycle in cycles]
        if port.always:
            given[port.name] = np.array(values, port.numpy_dtype).reshape(len(values), *port.shape)
        else:
            at = [k for k, value in enumerate(values) if value is not None]
            there = np.array([values[k] for k in at], port.numpy_dtype).reshape(len(at), *port.shape)
            given[port.name] = rmlc.Sampled(there, at)
    return given


# ---- rows --------------------------------------------------------------------------------------


def bits(value: Any, port: rmlc.Port) -> bytes:
    """Returns the bits of one or many values. All NaNs are equal, and -0.0 differs from 0.0."""
    array = np.asarray(value)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
    return np.ascontiguousarray(array.astype(port.numpy_dtype, casting="safe" if array.size else "unsafe")).tobytes()


Streams = dict[str, list[tuple[int, bytes]]]  # for each output, the cycle and the bits of every value


class Log:
    """The rows of a run in their order, and the error that ended it."""

    def __init__(self, node: rmlc.Node) -> None:
        self.ports = node.outputs
        self.streams: Streams = {port.name: [] for port in self.ports}
        self.count = 0
        self.error: rmlc.RunError | None = None

    def add(self, rows: rmlc.Rows) -> None:
        assert rows.cycles == range(self.count, self.count + len(rows))
        for port in self.ports:
            column = rows[port.name]
            if port.always:
                assert column.shape == (len(rows), *port.shape) and column.dtype == port.numpy_dtype
            else:
                assert column.values.shape == (len(column.at), *port.shape)
                assert all(k in rows.cycles for k in column.at)
            for k, value in zip(rows.cycles, column) if port.always else column:
                self.streams[port.name].append((int(k), bits(value, port)))
        self.count += len(rows)

    def add_row(self, row: Any) -> None:
        """Adds the row of a step, whose scalars are Python numbers."""
        values = row if len(self.ports) != 1 else (row,)
        assert len(values) == len(self.ports)
        for port, value in zip(self.ports, values):
            assert value is not None or not port.always
            if value is None:
                continue
            if port.shape:
                assert value.shape == port.shape
            else:
                kinds = {"b": bool, "i": int, "u": int, "f": float}
                assert type(value) is kinds[port.numpy_dtype.kind]
                narrow = np.array(value, port.numpy_dtype)
                assert narrow.item() == value or value != value  # the value is one of the narrow type
                value = narrow
            if port.dtype == "bf16" and np.asarray(value).dtype == np.uint16:
                value = (value.astype(np.uint32) << 16).view(np.float32)
            self.streams[port.name].append((self.count, bits(value, port)))
        self.count += 1


def in_pieces(node: rmlc.Node, cycles: list[dict[str, Any]], instance: rmlc.Instance, lengths: list[int],
              between: Callable[[rmlc.Instance], rmlc.Instance]) -> Log:
    log = Log(node)
    first = 0
    try:
        for length in lengths:
            piece = cycles[first : first + length]
            log.add(instance.run(columns(node, piece), cycles=len(piece)))
            first += length
            assert instance.cycle == first
            instance = between(instance)
        log.add(instance.finish())
    except rmlc.RunError as error:
        log.error = error
        if error.rows is not None:
            log.add(error.rows)
    return log


def by_steps(node: rmlc.Node, cycles: list[dict[str, Any]], instance: rmlc.Instance) -> Log:
    log = Log(node)
    try:
        for cycle in cycles:
            rows = instance.step(**cycle)
            for row in [rows] if node.immediate else rows:
                log.add_row(row)
        log.add(instance.finish())
    except rmlc.RunError as error:
        log.error = error
    return log


def random_lengths(total: int, source: random.Random) -> list[int]:
    """Returns random lengths of pieces. Some are 0."""
    lengths: list[int] = []
    while sum(lengths) < total:
        lengths.append(source.randint(0, min(4, total - sum(lengths))))
    return lengths


def read_decimals(value: Any, port: rmlc.Port) -> Any:
    """Returns the nearest numbers of the port's type. bf16 has fewer digits than the float32 that stores it."""
    array = np.asarray(value.astype(port.numpy_dtype))
    if port.dtype != "bf16":
        return array
    word = array.view(np.uint32)
    nearest = (((word + 0x7FFF + ((word >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(np.float32)
    return np.where(np.isfinite(array), nearest, array)


def nearest_bf16(values: Any) -> Any:
    """Rounds float32 values to bf16, by a comparison of both neighbours."""
    below = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    above = (below.view(np.uint32) + 0x10000).view(np.float32)
    nearer = abs(values.astype(float) - below) <= abs(above.astype(float) - values)
    return np.where(np.isfinite(values) & ~nearer, above, below)


def expected_streams(file: pathlib.Path, node: rmlc.Node) -> tuple[int, Streams]:
    """Reads the rows of the command, from an .npz file or JSON lines. An .npz file has no bf16."""
    streams: Streams = {}
    if file.suffix == ".jsonl":
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for port in node.outputs:
            values = [np.array(row[port.name], object) if row[port.name] is not None else None for row in rows]
            streams[port.name] = [(k, bits(read_decimals(value, port).reshape(port.shape), port))
                                  for k, value in enumerate(values) if value is not None]
        return len(rows), streams
    counts = set()
    with np.load(file) as written:
        for port in node.outputs:
            values = written[port.name]
            present = written[port.name + ".present"] if not port.always else np.ones(len(values), bool)
            counts.add(len(present))
            streams[port.name] = [(int(k), bits(value, port)) for k, value in zip(np.flatnonzero(present), values)]
            assert len(streams[port.name]) == len(values) == int(present.sum())
    assert len(counts) <= 1
    return counts.pop() if counts else 0, streams


def without_folders(text: str) -> str:
    """Removes the folders of the standard library, of which the package and the command have separate copies."""
    return re.sub(r"\S*/(?=stdlib/)", "", text)


# ---- the test ----------------------------------------------------------------------------------


Library = Callable[[tuple[pathlib.Path, ...]], list[str]]
Said = Callable[[Run], tuple[rmlc.Node, pathlib.Path, "subprocess.CompletedProcess[str]"]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """Compiles the C sources of external nodes to a shared library."""
    folder = tmp_path_factory.mktemp("linked")

    def build(sources: tuple[pathlib.Path, ...]) -> list[str]:
        if not sources:
            return []
        output = folder / ("-".join(source.stem for source in sources) + ".so")
        if not output.exists():
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", output, *sources], check=True)
        return [str(output)]

    return build


@pytest.fixture(scope="module")
def said(request: pytest.FixtureRequest, command: Command, library: Library,
         tmp_path_factory: pytest.TempPathFactory) -> Iterator[Said]:
    """Gives the compiled program and the output of the command. Threads prepare both before the tests need them."""
    folder = tmp_path_factory.mktemp("written")

    def prepare(run: Run) -> tuple[rmlc.Node, pathlib.Path, subprocess.CompletedProcess[str]]:
        node = rmlc.load(run.file).node(run.node, defines=run.definitions, libraries=library(run.links),
                                        engine="reference" if run.reference_only else "compiled")
        ending = ".jsonl" if any(port.dtype == "bf16" for port in node.outputs) else ".npz"
        output = folder / (str(run).replace("/", ".") + ending)
        words = ["--engine", "reference"] if run.reference_only else []
        words += [word for each in library(run.links) for word in ("--link", each)]
        words += [word for key, value in run.definitions.items() for word in ("-D", f"{key}={value}")]
        words += [word for pair in run.options if pair[0] != "-D" for word in pair]
        if node.inputs:
            words += ["--input", str(run.input)]
        elif run.option("--cycles") is None:
            words += ["--cycles", str(UNTOLD_CYCLES)]
        return node, output, command("run", run.file, "--node", run.node, *words, "--output", output, "--quiet")

    chosen: set[Any] = {item.callspec.params["run"] for item in request.session.items
              if isinstance(item, pytest.Function) and "run" in getattr(item, "fixturenames", ())
              and item.module is request.module}
    for run in chosen:
        library(run.links)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        coming = {run: pool.submit(prepare, run) for run in RUNS if run in chosen}
        yield lambda run: coming[run].result()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Ignores warnings about unknown rows and about programs of the suite. The command gives the same warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rmlc.UndeterminedWarning)
        warnings.simplefilter("ignore", rmlc.CompileWarning)
        yield


def test_the_suite_is_there() -> None:
    assert len(RUNS) > 200
    assert sum(run.stops is not None for run in RUNS) >= 10
    assert any(run.links for run in RUNS)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_rows_are_those_of_the_command(run: Run, said: Said) -> None:
    node, output, done = said(run)
    cycles = read_inputs(run, node)
    seed, horizon = run.option("--seed") or 0, run.option("--horizon") or 0
    count, expected = expected_streams(output, node)

    def check(log: Log, how: str) -> None:
        for name, stream in expected.items():
            assert log.streams[name] == stream, f"{how}: {name} differs from the command's"
        assert log.count == count or not expected, how
        if run.stops is None:
            assert log.error is None, how
            return
        assert log.error is not None, f"{how}: it does not stop"
        assert log.error.cycle == run.stops[0], how
        text, told = without_folders(str(log.error)), without_folders(done.stderr)
        if text.startswith("argument: "):  # the command names a place in a file instead
            assert text.removeprefix("argument: ") in told, how
        else:
            assert run.stops[1] in text and text in told, how

    def start() -> rmlc.Instance:
        return node.start(seed=seed, horizon=horizon)

    def saved_and_loaded(instance: rmlc.Instance) -> rmlc.Instance:
        return node.start(load=instance.save(), horizon=horizon)

    def pickled(instance: rmlc.Instance) -> rmlc.Instance:
        again: rmlc.Instance = pickle.loads(pickle.dumps(instance))
        return again

    assert (done.returncode == 0) == (run.stops is None), done.stderr
    source = random.Random(str(run))
    every = [1] * len(cycles)
    check(in_pieces(node, cycles, start(), [len(cycles)], lambda instance: instance), "in one call")
    for _ in range(2):
        check(in_pieces(node, cycles, start(), random_lengths(len(cycles), source), lambda instance: instance),
              "in pieces")
    check(by_steps(node, cycles, start()), "step by step")
    if run.reference_only:  # the interpreter cannot save states
        return
    check(in_pieces(node, cycles, start(), every, saved_and_loaded), "saved and loaded after each cycle")
    # A pickled node is compiled again from its text.
    between = source.choice([pickled, rmlc.Instance.copy, rmlc.Instance.copy])
    check(in_pieces(node, cycles, start(), random_lengths(len(cycles), source), between), between.__name__)
