"""Training over a complete data set: epochs, early stopping, the best epoch, checkpoints.

    for epoch in rmlc.training.epochs(instance, {"x": X, "t": T}, most=100, metric="loss", patience=5):
        print(epoch.number, epoch.value)

The program itself defines how it learns. This module runs it over the data repeatedly. At the command line, the options
`--epochs`, `--shuffle`, `--validate`, `--metric` and `--patience` do the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pathlib
import zipfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ._arrays import describe, whole
from ._files import refuse_device, replaced
from ._instance import Instance
from ._node import Node
from ._rows import Rows
from ._sampled import Sampled

if TYPE_CHECKING:
    from ._node import Path

Metric = str | Callable[[Rows], float]


@dataclasses.dataclass(frozen=True)
class Epoch:
    """One pass over the data."""

    number: int  # the number of the epoch, counted from 1
    rows: Rows  # the rows of the learning instance that became known
    validation: Rows | None  # the rows of the validation, if there is one
    value: float | None  # the value of the metric, if there is one
    best: bool  # True if the value is better than in all earlier epochs


def epochs(instance: Instance, data: Any, *, most: int | None = None, until: Callable[[Epoch], bool] | None = None,
           validate: tuple[Node, Any] | None = None, metric: Metric | None = None, goal: str = "least",
           patience: int | None = None, keep_best: bool = True, checkpoint: Path | None = None, every: int = 1,
           resume: bool = False, copy: bool = False) -> Iterator[Epoch]:
    """Runs an instance over the data repeatedly, and yields an `Epoch` for each pass.

    instance: the instance that learns. It continues from epoch to epoch. In a program with segments, the input `end`
    must end the last segment of the data.
    data: inputs by name, or a table, as for `Instance.run`. Or a function that returns them for the number of an epoch
    (from 1), for instance in a new order.
    most: the greatest number of epochs.
    until: a function of an `Epoch`. Training stops after an epoch for which it returns True.
    patience: stops after this number of successive epochs that are not better than the best one. One of `most`, `until`
    and `patience` is required.
    validate: a node and data for it. After each epoch, the node runs over this data from cycle 0, with the parameters
    of the instance, which are matched by path. Its other parameters have their initial values.
    metric: the name of an output, whose mean over all elements is the metric; or a function of rows that returns a
    number. It is computed for the rows of the validation, if there is one, and otherwise for the rows of the epoch.
    goal: "least" or "most", depending on which value of the metric is best. NaN is never better.
    keep_best: whether the instance finally has its state after the best epoch. A `break` prevents this.
    checkpoint: a zip file that is written every `every` epochs and at the end, each time in one step. It contains
    `last.state` and `best.state`, in the format of `Instance.save`, and `epochs.json`.
    every: the number of epochs from one checkpoint to the next.
    resume: whether to continue after the last epoch of the checkpoint, with the same bits, if the file exists.
    copy: as in `Instance.run`.

    Wrong arguments raise TypeError or ValueError immediately. Further errors are those of `Instance.run` and
    `Instance.load`.
    """
    if not isinstance(instance, Instance):
        raise TypeError(f"instance: expected a rmlc.Instance (`node.start()`), got {describe(instance)}")
    if most is None and until is None and patience is None:
        raise ValueError("most, until, patience: training would never end; give one of them")
    if most is not None:
        most = whole(most, "most", 0, 2**63 - 1)
    if patience is not None:
        patience = whole(patience, "patience", 1, 2**63 - 1)
    every = whole(every, "every", 1, 2**63 - 1)
    if goal not in ("least", "most"):
        raise ValueError(f"goal: expected 'least' or 'most', got {goal!r}")
    if metric is None and patience is not None:
        raise ValueError("patience: it needs a metric; give a `metric`")
    if resume and checkpoint is None:
        raise ValueError("resume: it needs a file; give a `checkpoint`")
    if validate is not None and not (isinstance(validate, tuple) and len(validate) == 2
                                     and isinstance(validate[0], Node)):
        raise TypeError(f"validate: expected a rmlc.Node and its data, got {describe(validate)}")
    asked = validate[0] if validate is not None else instance.node
    if isinstance(metric, str):
        names = [port.name for port in asked.outputs]
        if metric not in names:
            raise ValueError(f"metric: '{metric}' is not an output of {asked.name}; the outputs are: "
                             f"{', '.join(names)}")
    elif metric is not None and not callable(metric):
        raise TypeError(f"metric: expected the name of an output or a function of rows, got {describe(metric)}")
    file = pathlib.Path(os.fspath(checkpoint)) if checkpoint is not None else None
    record = _Record(goal == "least")
    if file is not None and resume and file.exists():
        record.read(file)
        if metric is None and None not in record.values or metric is not None and None in record.values:
            raise ValueError(f"checkpoint: {file} was written {'without' if metric is not None else 'with'} a metric; "
                             "resume in the same way, or use another file")
        instance.load(record.last)

    def run() -> Iterator[Epoch]:
        over = record.is_over(most, patience) or (until is not None and record.stopped)
        while not over:
            number = len(record.values) + 1
            rows = instance.run(data(number) if callable(data) else data, copy=copy)
            validation = _validated(instance, *validate, copy) if validate is not None else None
            value = _value(metric, rows if validation is None else validation)
            best = record.add(value)
            if best and (keep_best or file is not None):
                record.best = instance.save()
            epoch = Epoch(number, rows, validation, value, best)
            record.stopped = until is not None and bool(until(epoch))
            over = record.stopped or record.is_over(most, patience)
            if file is not None and (over or number % every == 0):
                record.last = instance.save()
                record.write(file)
            yield epoch
        if keep_best and record.best:
            instance.load(record.best)

    return run()


def order_of_epoch(count: int, seed: int, epoch: int) -> list[int]:
    """The order in which `--shuffle` reads segments: the numbers of `count` segments in epoch `epoch`, counted from 1.

    `data` of `epochs` may be a function of the number of the epoch that returns the data in this order.
    """
    count, epoch = whole(count, "count", 0, 2**63 - 1), whole(epoch, "epoch", 1, 2**63 - 1)
    numbers = _split_mix(next(_split_mix(whole(seed, "seed", 0, 2**64 - 1))) + epoch)
    order = list(range(count))
    for k in range(count - 1, 0, -1):
        other = next(numbers) * (k + 1) >> 64
        order[k], order[other] = order[other], order[k]
    return order


def _split_mix(state: int) -> Iterator[int]:
    """The generator SplitMix64, as runtime/epochs/pass.cc has it."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def _validated(instance: Instance, node: Node, data: Any, copy: bool) -> Rows:
    shared = instance.params
    own = {path: shared[path] for path in node.params if path in shared}
    if node.params and not own:
        raise ValueError(f"validate: {node.name} ({', '.join(node.params)}) and {instance.node.name} "
                         f"({', '.join(shared) or 'no parameters'}) have no parameter in common; parameters are "
                         "matched by path")
    return node.start(seed=instance.seed, params=own).run(data, copy=copy)


def _value(metric: Metric | None, rows: Rows) -> float | None:
    if metric is None:
        return None
    if not isinstance(metric, str):
        return float(metric(rows))
    import numpy as np

    column = rows[metric]
    values = np.asarray(column.values if isinstance(column, Sampled) else column)
    if not values.size:
        raise ValueError(f"metric: '{metric}' has no value in {len(rows)} rows; it must be present in some rows that "
                         "are known at the end of the data")
    return float(values.mean(dtype=np.float64))


class _Record:
    """The values of the metric so far, which decide whether to continue, and the states of a checkpoint."""

    def __init__(self, least: bool) -> None:
        self.least = least
        self.values: list[float | None] = []
        self.best_at = 0  # the number of the best epoch, 0 if there is none
        self.stopped = False
        self.last = self.best = b""

    def add(self, value: float | None) -> bool:
        self.values.append(value)
        if value is None or math.isnan(value):
            return False
        before = self.values[self.best_at - 1] if self.best_at else None
        better = before is None or (value < before if self.least else value > before)
        if better:
            self.best_at = len(self.values)
        return better

    def is_over(self, most: int | None, patience: int | None) -> bool:
        count = len(self.values)
        return (most is not None and count >= most) or (patience is not None and count - self.best_at >= patience)

    def write(self, file: pathlib.Path) -> None:
        with replaced(file) as beside, zipfile.ZipFile(beside, "w") as archive:
            about = {"values": self.values, "goal": "least" if self.least else "most", "stopped": self.stopped}
            archive.writestr("epochs.json", json.dumps(about))
            archive.writestr("last.state", self.last)
            archive.writestr("best.state", self.best)

    def read(self, file: pathlib.Path) -> None:
        try:
            with open(file, "rb") as opened:
                refuse_device(opened)
                with zipfile.ZipFile(opened) as archive:
                    about = json.loads(archive.read("epochs.json"))
                    self.last, self.best = archive.read("last.state"), archive.read("best.state")
            values, goal, stopped = about["values"], about["goal"], about["stopped"]
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"checkpoint: {file} is not a checkpoint of epochs; give another file: {error}") from error
        if (goal == "least") != self.least:
            raise ValueError(f"checkpoint: {file} was written with goal={goal!r}; resume with the same goal")
        for value in values:
            self.add(value)
        self.stopped = stopped
