"""Epochs, compared with the same rule in NumPy, with explicit runs of the instance, and with interrupted runs."""

from __future__ import annotations

import pathlib
import zipfile
from typing import Any

import numpy as np
import pytest
from conftest import Command

import rmlc
import rmlc.training

LINE = """
const rate = 0.05;
node line(x: f64) -> (y: f64)
  y = param(0.0) * x + param(0.0);
node learn(x: f64, t: f64) -> (loss: f64)
  y, _ = diff line(x, true, -rate * (y - t));
  loss = (y - t) * (y - t);
node use(x: f64, t: f64) -> (loss: f64, far: bool)
  error = line(x) - t;
  loss = error * error;
  far = loss > 1.0;
"""
NOISY = """
node learn(x: f64, t: f64) -> (loss: f64)
  w = param(normal([]), true, step);
  step = 0.01 * (t - w * x) * x + 0.1 * normal([]);
  loss = (t - w * x) * (t - w * x);
"""


def data(count: int = 40, seed: int = 0) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    x = random.normal(size=count)
    return {"x": x, "t": 3 * x + 0.5 + 0.1 * random.normal(size=count)}


def by_hand(passes: int) -> tuple[list[float], float, float]:
    """Returns the mean losses of the passes, the slope and the offset."""
    w = b = 0.0
    means = []
    for _ in range(passes):
        losses = []
        for x, t in zip(*data().values()):
            error = w * x + b - t
            losses.append(error * error)
            w, b = w - 0.05 * error * x, b - 0.05 * error
        means.append(float(np.mean(losses)))
    return means, w, b


def test_epochs_are_passes_over_the_data() -> None:
    instance = rmlc.compile(LINE).node("learn").start()
    seen = list(rmlc.training.epochs(instance, data(), most=5, metric="loss"))
    means, w, b = by_hand(5)
    assert [epoch.number for epoch in seen] == [1, 2, 3, 4, 5]
    np.testing.assert_allclose([epoch.value for epoch in seen], means, rtol=1e-12)
    assert all(len(epoch.rows) == 40 and epoch.validation is None for epoch in seen)
    best = int(np.argmin(means)) + 1
    _, w, b = by_hand(best)
    np.testing.assert_allclose(sorted(float(each) for each in instance.params.values()), sorted([w, b]), rtol=1e-12)
    assert instance.cycle == 40 * best


def test_without_keeping_the_best() -> None:
    instance = rmlc.compile(NOISY).node().start(seed=3)
    values = [epoch.value for epoch in rmlc.training.epochs(instance, data(), most=9, metric="loss", keep_best=False)]
    assert instance.cycle == 9 * 40 and int(np.argmin(values)) != 8
    other = rmlc.compile(NOISY).node().start(seed=3)
    for epoch in rmlc.training.epochs(other, data(), most=9, metric="loss"):
        assert epoch.best == (epoch.value == min(values[: epoch.number]))
    third = rmlc.compile(NOISY).node().start(seed=3)
    for _ in range(int(np.argmin(values)) + 1):
        third.run(data())
    assert other.save() == third.save()


def test_validation_uses_the_parameters_by_path() -> None:
    module = rmlc.compile(LINE)
    held_out = data(seed=1)
    instance = module.node("learn").start()
    values = []
    for epoch in rmlc.training.epochs(instance, data(), most=3, validate=(module.node("use"), held_out), metric="loss"):
        values.append(epoch.value)
        assert epoch.validation is not None and epoch.validation.far.dtype == bool
    for passes, value in enumerate(values, 1):
        _, w, b = by_hand(passes)
        assert value == pytest.approx(np.mean((w * held_out["x"] + b - held_out["t"]) ** 2), rel=1e-12)
    share = next(rmlc.training.epochs(instance, data(), most=1, validate=(module.node("use"), held_out), metric="far"))
    assert share.value == 0.0


def test_patience_until_and_goals() -> None:
    node = rmlc.compile(NOISY).node()

    def values_of(**options: Any) -> list[Any]:
        return [epoch.value for epoch in rmlc.training.epochs(node.start(seed=1), data(), **options)]

    every = values_of(most=60, metric="loss")
    stale = [k - int(np.argmin(every[: k + 1])) for k in range(60)]
    assert values_of(most=60, metric="loss", patience=4) == every[: stale.index(4) + 1] != every
    stale = [k - int(np.argmax(every[: k + 1])) for k in range(60)]
    assert values_of(metric="loss", patience=4, goal="most") == every[: stale.index(4) + 1]
    assert len(values_of(until=lambda epoch: epoch.number == 3)) == 3
    assert values_of(most=2, metric=lambda rows: rows.loss.max())[0] > every[0]
    assert values_of(most=0, metric="loss") == []
    # NaN is never better, and does not end the training by itself.
    given = iter([1.0, float("nan"), 2.0, 0.5, float("nan"), float("nan")])
    assert len(values_of(metric=lambda rows: next(given), patience=3, most=6)) == 6


def test_data_of_each_epoch() -> None:
    def shuffled(number: int) -> dict[str, Any]:
        order = np.random.default_rng(number).permutation(40)
        return {name: values[order] for name, values in data().items()}

    one, other = (rmlc.compile(LINE).node("learn").start() for _ in range(2))
    for _ in rmlc.training.epochs(one, shuffled, most=3):
        pass
    for number in (1, 2, 3):
        other.run(shuffled(number))
    assert one.save() == other.save()


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("broken_at", [3, 7])
def test_resumes_to_the_bit(tmp_path: pathlib.Path, every: int, broken_at: int) -> None:
    node = rmlc.compile(NOISY).node()
    options: dict[str, Any] = {"most": 10, "metric": "loss", "patience": 8}
    whole = node.start(seed=7)
    values = [epoch.value for epoch in rmlc.training.epochs(whole, data(), **options)]

    options |= {"checkpoint": tmp_path / "run.zip", "every": every, "resume": True}
    for epoch in rmlc.training.epochs(node.start(seed=7), data(), **options):
        if epoch.number == broken_at:
            break
    again = node.start(seed=99)
    rest = list(rmlc.training.epochs(again, data(), **options))
    first = rest[0].number
    assert first == broken_at // every * every + 1
    assert [epoch.value for epoch in rest] == values[first - 1 :]
    assert again.save() == whole.save()
    assert [each.name for each in tmp_path.iterdir()] == ["run.zip"]
    # A finished training stays finished. Its states are those of the command.
    third = node.start()
    assert list(rmlc.training.epochs(third, data(), **options)) == []
    assert third.save() == whole.save()
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert archive.read("best.state") == whole.save()
    # Further epochs continue from the last epoch, and not from the best one.
    more = list(rmlc.training.epochs(node.start(), data(), **{**options, "most": 12, "patience": 12}))
    assert [epoch.number for epoch in more] == list(range(len(values) + 1, 13))


def test_stopped_by_until_stays_stopped(tmp_path: pathlib.Path) -> None:
    node = rmlc.compile(NOISY).node()
    options: dict[str, Any] = {"until": lambda epoch: epoch.number == 2, "checkpoint": tmp_path / "a", "resume": True}
    assert len(list(rmlc.training.epochs(node.start(), data(), **options))) == 2
    assert len(list(rmlc.training.epochs(node.start(), data(), **options))) == 0


def test_wrong_checkpoints(tmp_path: pathlib.Path) -> None:
    node = rmlc.compile(LINE).node("learn")
    file = tmp_path / "run.zip"
    file.write_text("nothing")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        rmlc.training.epochs(node.start(), data(), most=1, checkpoint=file, resume=True)
    list(rmlc.training.epochs(node.start(), data(), most=1, metric="loss", checkpoint=file))
    with pytest.raises(ValueError, match="goal='least'"):
        rmlc.training.epochs(node.start(), data(), most=1, metric="loss", goal="most", checkpoint=file, resume=True)
    with pytest.raises(ValueError, match="with a metric"):
        rmlc.training.epochs(node.start(), data(), most=1, checkpoint=file, resume=True)
    with pytest.raises(rmlc.RunError):
        rmlc.training.epochs(rmlc.compile(NOISY).node().start(), data(), most=2, metric="loss", checkpoint=file,
                             resume=True)


SEQUENCES = """
import nn;
import optim;
import recurrent;
node score(end: bool, x: f64[2]) -> (y: f64)
  y = nn.dense(1, recurrent.gru_end(4, end, x))[0];
node learn(end: bool, x: f64[2], t: f64) -> (loss: f64 when end)
  y, _ = diff[optim.adam(0.05)] score(end, x, end, (sigmoid(y) - t) when end);
  loss = (softplus(y) - t * y) when end;
node use(end: bool, x: f64[2], t: f64) -> (loss: f64 when end)
  y = score(end, x);
  loss = (softplus(y) - t * y) when end;
"""


def sequences(count: int, seed: int) -> list[dict[str, Any]]:
    """Sequences of 4 to 30 rows; `t` is whether the first column is positive on average."""
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        rows = int(random.integers(4, 31))
        level = random.uniform(-1, 1)
        x = random.normal(size=(rows, 2)) + [level, 0]
        made.append({"end": np.arange(rows) == rows - 1, "x": x, "t": np.full(rows, float(level > 0))})
    return made


def joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def test_the_command_trains_in_the_same_way(command: Command, tmp_path: pathlib.Path) -> None:
    train, valid = sequences(60, 1), sequences(30, 2)
    (tmp_path / "p.rml").write_text(SEQUENCES)
    for name, parts in (("train", train), ("valid", valid)):
        lines = ["sequence,x[0],x[1],t"]
        for k, part in enumerate(parts):
            lines += [f"{k},{a!r},{b!r},{t!r}" for (a, b), t in zip(part["x"].tolist(), part["t"].tolist())]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    done = command("run", "p.rml", "--node", "learn", "--input", "train.csv", "--segments-by", "sequence", "--shuffle",
                   "--seed", "7", "--epochs", "12", "--validate", "valid.csv", "--patience", "3", "--save", "s.state",
                   cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    table = [line.split(",") for line in done.stdout.splitlines()]
    assert table[0] == ["epoch", "loss", "validation", "best"]

    module = rmlc.compile(SEQUENCES)
    instance = module.node("learn").start(seed=7)

    def shuffled(epoch: int) -> dict[str, Any]:
        return joined([train[k] for k in rmlc.training.order_of_epoch(len(train), 7, epoch)])

    seen = list(rmlc.training.epochs(instance, shuffled, most=12, validate=(module.node("use"), joined(valid)),
                                     metric="loss", patience=3, copy=True))
    assert len(seen) == len(table) - 1
    np.testing.assert_allclose([float(line[1]) for line in table[1:]],
                               [float(np.mean(epoch.rows["loss"].values)) for epoch in seen], rtol=1e-9)
    np.testing.assert_allclose([float(line[2]) for line in table[1:]], [epoch.value for epoch in seen], rtol=1e-9)
    assert [line[3] for line in table[1:]] == [str(epoch.best).lower() for epoch in seen]
    saved = module.node("learn").start(load=tmp_path / "s.state")
    for path in instance.params:
        np.testing.assert_allclose(saved.params[path], instance.params[path], rtol=1e-9)


@pytest.mark.parametrize("options, error, says", [
    ({}, ValueError, "would never end; give one of them"),
    ({"most": -1}, ValueError, "most"),
    ({"most": 1.5}, TypeError, "most: expected an integer"),
    ({"most": 1, "every": 0}, ValueError, "every"),
    ({"most": 1, "goal": "max"}, ValueError, "goal: expected 'least' or 'most', got 'max'"),
    ({"most": 1, "metric": "los"}, ValueError, "'los' is not an output of learn; the outputs are: loss"),
    ({"most": 1, "metric": 3}, TypeError, "metric: expected the name"),
    ({"patience": 3}, ValueError, "patience: it needs a metric"),
    ({"most": 1, "resume": True}, ValueError, "resume: it needs a file"),
    ({"most": 1, "validate": data()}, TypeError, "validate: expected a rmlc.Node and its data"),
])
def test_wrong_arguments(options: dict[str, Any], error: type[Exception], says: str) -> None:
    instance = rmlc.compile(LINE).node("learn").start()
    with pytest.raises(error, match=says):
        rmlc.training.epochs(instance, data(), **options)
    assert instance.cycle == 0


def test_other_mistakes() -> None:
    module = rmlc.compile(LINE)
    with pytest.raises(TypeError, match="expected a rmlc.Instance"):
        rmlc.training.epochs(module.node("learn"), data(), most=1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no input 'y'"):
        list(rmlc.training.epochs(module.node("learn").start(), {"y": np.zeros(3)}, most=1))
    other = rmlc.compile("node other(x: f64, t: f64) -> (y: f64)\n  y = param(1.0) * x + t;\n").node()
    with pytest.raises(ValueError, match="matched by path"):
        list(rmlc.training.epochs(module.node("learn").start(), data(), most=1, validate=(other, data())))
    late = rmlc.compile("node main(x: f64) -> (y: f64)\n  y = post x;\n").node().start()
    with pytest.raises(ValueError, match="'y' has no value in 0 rows"):
        list(rmlc.training.epochs(late, {"x": np.zeros(1)}, most=1, metric="y"))
