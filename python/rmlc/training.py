"""Training over data that is there as a whole: epochs, early stopping, the best epoch, checkpoints.

    for epoch in rmlc.training.epochs(instance, {"x": X, "t": T}, most=100, metric="loss", patience=5):
        print(epoch.number, epoch.value)

The program itself says how it learns; here it is run over the data again and again.
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
from ._files import replaced
from ._instance import Instance
from ._node import Node
from ._rows import Rows, Sampled

if TYPE_CHECKING:
    from ._node import Path

Metric = str | Callable[[Rows], float]


@dataclasses.dataclass(frozen=True)
class Epoch:
    """One pass over the data."""

    number: int  # from 1
    rows: Rows  # of the instance that learns, as far as they are known
    validation: Rows | None
    value: float | None  # of the metric
    best: bool  # better than all epochs before


def epochs(instance: Instance, data: Any, *, most: int | None = None, until: Callable[[Epoch], bool] | None = None,
           validate: tuple[Node, Any] | None = None, metric: Metric | None = None, goal: str = "least",
           patience: int | None = None, keep_best: bool = True, checkpoint: Path | None = None, every: int = 1,
           resume: bool = False, copy: bool = False) -> Iterator[Epoch]:
    """Runs an instance over the data again and again, and yields an `Epoch` for each time.

    data: inputs by name, or a table, as `Instance.run` takes them; or a function that makes them of the number of the
    epoch (from 1), in another order say. The instance goes on from epoch to epoch: a program with segments ends the
    last one of the data by its `end`.
    most: so many epochs in all.  until: stops behind an epoch for which it is true.  One of these two, or patience.
    validate: a node and data for it. After each epoch it is run over them from cycle 0, with the parameters of the
    instance, found by path; others begin as its program says.
    metric: an output, of which the mean over its elements counts; or a function of rows that returns a number. It is
    asked of the rows of the validation, if there is one, else of the epoch's own.
    goal: "least" or "most": which metric is best. NaN is never better.  patience: stops when so many epochs in turn
    have not been better than the best.
    keep_best: when this ends, not by a `break`, the instance is as it was behind the best epoch.
    checkpoint: a zip file that is written every `every` epochs and at the end, always as a whole. It holds `last.state`
    and `best.state` (states as `Instance.save` writes them) and `epochs.json`.
    resume: goes on, to the bit, behind the last epoch of the checkpoint if that file exists, else begins.
    copy: as in `Instance.run`.

    Raises TypeError and ValueError for wrong arguments, at once, and what `Instance.run` and `Instance.load` raise.
    """
    if not isinstance(instance, Instance):
        raise TypeError(f"instance: expected a rmlc.Instance (`node.start()`), got {describe(instance)}")
    if most is None and until is None and patience is None:
        raise ValueError("most, until, patience: none is given, so it would never end")
    if most is not None:
        most = whole(most, "most", 0, 2**63 - 1)
    if patience is not None:
        patience = whole(patience, "patience", 1, 2**63 - 1)
    every = whole(every, "every", 1, 2**63 - 1)
    if goal not in ("least", "most"):
        raise ValueError(f"goal: 'least' or 'most', not {goal!r}")
    if metric is None and patience is not None:
        raise ValueError("patience: what should get better? give a `metric`")
    if resume and checkpoint is None:
        raise ValueError("resume: from which file? give a `checkpoint`")
    if validate is not None and not (isinstance(validate, tuple) and len(validate) == 2
                                     and isinstance(validate[0], Node)):
        raise TypeError(f"validate: expected a rmlc.Node and its data, got {describe(validate)}")
    asked = validate[0] if validate is not None else instance.node
    if isinstance(metric, str):
        names = [port.name for port in asked.outputs]
        if metric not in names:
            raise ValueError(f"metric: '{metric}' is no output of {asked.name}; those are: {', '.join(names)}")
    elif metric is not None and not callable(metric):
        raise TypeError(f"metric: expected the name of an output or a function of rows, got {describe(metric)}")
    file = pathlib.Path(os.fspath(checkpoint)) if checkpoint is not None else None
    record = _Record(goal == "least")
    if file is not None and resume and file.exists():
        record.read(file)
        if metric is None and None not in record.values or metric is not None and None in record.values:
            raise ValueError(f"checkpoint: {file} was written {'without' if metric is not None else 'with'} a metric")
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


def _validated(instance: Instance, node: Node, data: Any, copy: bool) -> Rows:
    shared = instance.params
    own = {path: shared[path] for path in node.params if path in shared}
    if node.params and not own:
        raise ValueError(f"validate: no parameter of {node.name} ({', '.join(node.params)}) is one of "
                         f"{instance.node.name} ({', '.join(shared) or 'it has none'}): they are matched by path")
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
        raise ValueError(f"metric: '{metric}' has no value in {len(rows)} rows: are they known at the end of the data, "
                         "and is it present?")
    return float(values.mean(dtype=np.float64))


class _Record:
    """What decides whether to go on, and what a checkpoint holds."""

    def __init__(self, least: bool) -> None:
        self.least = least
        self.values: list[float | None] = []
        self.best_at = 0  # the number of the best epoch
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
            with zipfile.ZipFile(file) as archive:
                about = json.loads(archive.read("epochs.json"))
                self.last, self.best = archive.read("last.state"), archive.read("best.state")
                values, goal, stopped = about["values"], about["goal"], about["stopped"]
        except (zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"checkpoint: {file} is no checkpoint of epochs: {error}") from error
        if (goal == "least") != self.least:
            raise ValueError(f"checkpoint: {file} was written with goal={goal!r}")
        for value in values:
            self.add(value)
        self.stopped = stopped
