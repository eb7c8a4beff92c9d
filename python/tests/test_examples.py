"""Short runs of examples/python.

Each example is better than the baseline on its page, and computes the same as NumPy or ONNX's reference.
"""

from __future__ import annotations

import importlib.util
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import rmlc

EXAMPLES = ROOT / "examples/python"
pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not beside the package")


def example(name: str) -> Any:
    file = EXAMPLES / name / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_picture(file: pathlib.Path, words: str) -> bool:
    source = file.read_text(encoding="utf-8")
    text = "".join(xml.etree.ElementTree.fromstring(source).itertext())
    return words in text and re.search(r"\b(nan|inf)\b", source) is None


# ---- forecaster ----------------------------------------------------------------------------------


def test_the_forecaster_beats_least_squares(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    losses = example("forecaster").main(["--epochs", "40", "--picture", str(tmp_path / "f.svg")])
    memory, linear, now = losses["memory (GRU)"], losses["linear"], losses["number of now"]
    assert (memory[2:] < 0.95 * linear[2:]).all() and (memory < now).all(), losses
    assert "40 epochs" in capsys.readouterr().out
    assert is_picture(tmp_path / "f.svg", "A year ahead")


def test_losses_and_gradients_of_the_forecaster() -> None:
    """The program's loss equals that of NumPy, and its hand-written gradient is the gradient of this loss."""
    forecaster = example("forecaster")
    record = forecaster.Record()
    module = rmlc.load(EXAMPLES / "forecaster/forecaster.rml")
    columns = record.up_to(300)
    rows = module.node("forecast").start(seed=3).run(columns)
    above = columns["truth"][:, :, None] - rows.quantiles
    levels = np.array([0.1, 0.5, 0.9])
    losses = np.where(above > 0, levels * above, (levels - 1) * above).sum(axis=2)
    np.testing.assert_allclose(rows.loss, losses, rtol=1e-12)
    # The training data contain nothing from 1900 or later.
    last = record.truth[forecaster.VALIDATED - forecaster.LAST - 1]
    assert last[-1] == record.z[forecaster.VALIDATED - 1]
    assert len(record.to_learn(1)["x"]) == forecaster.VALIDATED - forecaster.LAST
    gradient = rmlc.compile("""
import "forecaster.rml";
node main(q: f64[5, 3], truth: f64[5]) -> (loss: f64[5], gradient: f64[5, 3])
  loss, gradient = pinball(q, truth);
""", name=str(EXAMPLES / "forecaster/test.rml")).node("main").start()
    random = np.random.default_rng(0)
    q, truth = random.normal(size=(5, 3)), random.normal(size=5)
    _, found = gradient.step(q, truth)
    found = found.copy()
    for place in np.ndindex(5, 3):
        moved = [q.copy(), q.copy()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        up, down = (gradient.step(each, truth)[0].sum() for each in moved)
        assert found[place] == pytest.approx((up - down) / 2e-6, abs=1e-6)


# ---- online ---------------------------------------------------------------------------------------


def test_the_learner_beats_those_of_river(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("river")
    online = example("online")
    right = online.main(["--rows", "1500", "--picture", str(tmp_path / "o.svg")])
    others = {name: share for name, share in right.items() if name.startswith("River") and "Phishing" not in name}
    assert len(others) == 4 and right["rmlc, kernel.rml"] > max(others.values()), right
    assert right["in one call"] == pytest.approx(right["rmlc, kernel.rml"], abs=0.01)
    assert right["rmlc, logistic regression, Phishing"] == pytest.approx(
        right["River, logistic regression, Phishing"], abs=0.002)
    assert is_picture(tmp_path / "o.svg", "5 of 500 neighbours")


def test_the_kernel_is_least_squares() -> None:
    """After each row, the weights are those of ridge regression over all rows so far, computed by NumPy's solver."""
    random = np.random.default_rng(1)
    x, y = random.normal(size=(60, 2)), (random.uniform(size=60) < 0.5).astype(float)
    learn = random.uniform(size=60) < 0.8
    module = rmlc.load(EXAMPLES / "online/kernel.rml")
    instance = module.node(defines={"features": 2, "waves": 20, "doubt": 0.3}).start()
    p = instance.run(x=x, y=y, learn=learn).p
    directions, phases = (np.array(value) for value in instance.params.values())
    waves = np.sqrt(2 / 20) * np.cos(x @ (directions / 0.5).T + phases)
    for k in range(60):
        known = waves[:k][learn[:k]]
        weights = np.linalg.solve(known.T @ known + 0.3 * np.eye(20), known.T @ (y[:k][learn[:k]] - 0.5))
        assert p[k] == pytest.approx(0.5 + waves[k] @ weights, abs=1e-9)


# ---- finetune -------------------------------------------------------------------------------------


def test_what_was_learned_elsewhere_helps(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("sklearn")
    finetune = example("finetune")
    found = finetune.main(["--images", "100", "--onnx", str(tmp_path / "tuned.onnx"),
                           "--picture", str(tmp_path / "t.svg")])
    further = found["trained further"][0]
    assert further > found["from the start"][0] + 0.02 and further > found["logistic regression"][0] + 0.02, found
    assert further > found["as it came"][0] + 0.3
    assert is_picture(tmp_path / "t.svg", "trained further")
    reference = pytest.importorskip("onnx.reference")
    pixels, labels = finetune.images(0)
    evaluator = reference.ReferenceEvaluator(str(tmp_path / "tuned.onnx"))
    right = 0
    for k in range(0, finetune.TESTED, finetune.BATCH):
        scores = evaluator.run(None, {evaluator.input_names[0]: pixels[k : k + finetune.BATCH]})[0]
        right += int((scores.argmax(axis=1) == labels[k : k + finetune.BATCH]).sum())
    assert right / finetune.TESTED == pytest.approx(further, abs=1e-9)


def test_wrong_numbers_of_images_are_refused() -> None:
    pytest.importorskip("sklearn")
    done = subprocess.run([sys.executable, EXAMPLES / "finetune/finetune.py", "--images", "5000"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "from 1 to 1247" in done.stderr
