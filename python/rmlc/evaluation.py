"""Scores of predictions that a program makes for each row before it learns from the row: `Module.evaluate`.

    scores = rmlc.load("mail.rml").evaluate({"x": X, "spam": y}, metrics=["accuracy:guess:spam", "f1:guess:spam"])
    scores["accuracy"].value, scores["accuracy"].over_time

The command `rmlc eval` computes the scores. CompileError is raised if a prediction may depend on the truth of its row
or of a later row.
"""

from __future__ import annotations

import csv
import dataclasses
import math
import pathlib
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ._arrays import as_float32, describe, numpy, whole
from ._errors import RunError
from ._inputs import columns, gather
from ._sampled import Sampled
from ._tools import _checked, _Files

if TYPE_CHECKING:
    from ._node import Module, Node


@dataclasses.dataclass(frozen=True)
class Score:
    """A metric over all scored rows, or over the last ones if a window was given."""

    value: float  # the metric after the last row
    rows: int  # the number of rows that had a truth, without the warm-up
    over_time: Any  # the metric after each row, as a Sampled: present where there was a truth, NaN in the warm-up

    def __float__(self) -> float:
        return self.value


class Scores(dict[str, Score]):
    """The scores by the names of the metrics. The text of this mapping is the table that the command prints."""

    def __str__(self) -> str:
        return _table([(name, str(score.rows), f"{score.value:.6g}") for name, score in self.items()])


def _table(lines: list[tuple[str, str, str]]) -> str:
    lines = [("metric", "rows", "value"), *lines]
    name, rows = (max(len(line[k]) for line in lines) for k in (0, 1))
    return "\n".join(f"{line[0]:{name}s}  {line[1]:>{rows}s}  {line[2]}" for line in lines)


def evaluate(module: Module, inputs: Any, named: Mapping[str, Any], metrics: Iterable[str], name: str,
             defines: Mapping[str, Any] | None, window: int | None, warm_up: int, seed: int, cycles: int | None,
             copy: bool, missing: str, options: Iterable[str]) -> Scores:
    """See `Module.evaluate`."""
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    if not wanted:
        raise ValueError("metrics: give at least one NAME:PREDICTION:TRUTH, for instance accuracy:guess:label")
    for each in wanted:
        if not isinstance(each, str):
            raise TypeError(f"metrics: expected texts like 'accuracy:guess:label', got {describe(each)}")
    if isinstance(options, str):
        options = shlex.split(options)
    words = [word for each in wanted for word in ("--metric", each)]
    words += ["--seed", str(whole(seed, "seed", 0, 2**64 - 1))]
    words += ["--warm-up", str(whole(warm_up, "warm_up", 0, 2**31 - 1))]
    if window is not None:
        words += ["--window", str(whole(window, "window", 2, 2**20))]
    # Only the ports of this node are needed, and the interpreter needs no time to compile.
    node = module.node(name, defines=defines, engine="reference")
    values, present, count = gather(node, columns(node, inputs, named, missing), cycles, copy, missing)
    with _Files(node._request) as files:
        if node.inputs:
            table = files.path / ("inputs.csv" if _needs_text(node, present) else "inputs.npz")
            (_write_csv if table.suffix == ".csv" else _write_npz)(table, node, values, present)
            words += ["--input", str(table)]
        else:
            words += ["--cycles", str(count)]
        output = files.path / "values.csv"
        shown = _run(files, "--progressive", *words, "--output", str(output), *options)
        return _read(shown, output)


def _run(files: _Files, *words: str) -> str:
    try:
        return _checked(files, "eval", *words)
    except RunError as error:
        usage = re.fullmatch(r"(?:rmlc eval: )?(--metric: )?(.*)\nsee .*--help", str(error), re.S)
        if usage:
            raise ValueError(f"{'metrics' if usage[1] else 'options'}: {usage[2]}") from None
        raise


def _needs_text(node: Node, present: list[Any]) -> bool:
    """Returns whether the inputs need a text file, because NumPy's files have no absent values and no bf16."""
    return any(mask is not None for mask in present) or any(port.dtype == "bf16" for port in node.inputs)


def _write_npz(file: pathlib.Path, node: Node, values: list[Any], _: list[Any]) -> None:
    numpy().savez(file, **{port.name: value for port, value in zip(node.inputs, values)})


def _write_csv(file: pathlib.Path, node: Node, values: list[Any], present: list[Any]) -> None:
    from .tables import element_names

    columns: list[Iterable[str]] = []
    names: list[str] = []
    for port, value, mask in zip(node.inputs, values, present):
        numbers = as_float32(value) if port.dtype == "bf16" else value
        flat = numbers.reshape(len(numbers), math.prod(port.shape))
        for k, column in enumerate(element_names(port)):
            names.append(column)
            texts = map(_text, flat[:, k].tolist())
            columns.append(texts if mask is None else
                           (text if there else "" for text, there in zip(texts, mask.tolist())))
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(names)
        writer.writerows(zip(*columns))


def _text(value: Any) -> str:
    return "FT"[value] if isinstance(value, bool) else repr(value)


def _read(shown: str, output: pathlib.Path) -> Scores:
    """Reads the scores: numbers of rows from the table, and values from the rows, because the table rounds them."""
    np = numpy()
    lines = [line.split() for line in shown.splitlines()[1:]]
    counts = {name: int(rows) for name, rows, _ in lines}
    found: dict[str, tuple[list[float], list[int]]] = {name: ([], []) for name in counts}
    cycles = 0
    with open(output, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        places = {name: k for k, name in enumerate(next(reader)) if name in counts}
        for cycle, row in enumerate(reader):
            cycles = cycle + 1
            for name, place in places.items():
                if row[place]:
                    found[name][0].append(float(row[place]))
                    found[name][1].append(cycle)
    return Scores({name: Score(values[-1], counts[name],
                               Sampled(np.array(values), np.array(at, np.int64), range(cycles), name))
                   for name, (values, at) in found.items()})
