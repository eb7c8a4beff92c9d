#!/usr/bin/env python3
"""Trains a network from PyTorch further, on a few images of another kind: finetune.py [--images N…]
[--picture FILE.svg] [--onnx FILE.onnx]

The network has learned the digits of MNIST; the new images are scikit-learn's, which other people
wrote. Needs rmlc and scikit-learn (`pip install scikit-learn`), but neither PyTorch nor ONNX."""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import rmlc

try:
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
except ImportError as error:
    raise ImportError("this example needs scikit-learn: `pip install scikit-learn`") from error

HERE = pathlib.Path(__file__).resolve().parent
NETWORK = HERE.parents[1] / "finetune/cnn.onnx"
BATCH, STEPS, TESTED = 50, 400, 550  # images per step; steps of a training; number of test images


def images(seed: int) -> tuple[Any, Any]:
    """The images in the form of MNIST, (1797, 784) with pixels from 0 to 1, and their labels, in
    random order. An image of 8 by 8 pixels becomes one of 24 by 24, with a margin of 2."""
    digits = load_digits()
    order = np.random.default_rng(seed).permutation(len(digits.target))
    small = digits.images[order].astype(np.float32) / 16
    large = np.pad(small.repeat(3, axis=1).repeat(3, axis=2), ((0, 0), (2, 2), (2, 2)))
    return large.reshape(len(large), 784), digits.target[order].astype(np.int32)


def load(folder: pathlib.Path) -> rmlc.Module:
    """Writes the network as a source with parameters into this folder, and loads the program that
    trains it."""
    rmlc.onnx.load(NETWORK, trainable="*").write(folder / "model.rml")
    return rmlc.load(HERE / "tune.rml", import_folders=[folder])


def as_made(node: rmlc.Node, seed: int) -> dict[str, Any]:
    """Initial parameters as in PyTorch: uniform, with a limit that decreases with the size of the
    input."""
    random = np.random.default_rng(seed)
    found = {}
    for path, port in node.params.items():
        weights = node.params[path.replace("_bias", "_weight")].shape
        limit = 1 / np.sqrt(np.prod(weights[1:]))
        found[path] = random.uniform(-limit, limit, port.shape).astype(np.float32)
    return found


def batches(pixels: Any, labels: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    """Yields STEPS batches of images in random order. If there are few images, they are used in
    several passes."""
    random = np.random.default_rng(seed)
    order = np.concatenate([random.permutation(len(labels)) for _ in range(-(-STEPS * BATCH // len(labels)))])
    for part in order[: STEPS * BATCH].reshape(STEPS, BATCH):
        yield np.ascontiguousarray(pixels[part]), np.ascontiguousarray(labels[part])


def trained(node: rmlc.Node, pixels: Any, labels: Any, params: Mapping[str, Any] | None = None) -> rmlc.Instance:
    """Trains from the parameters of the given network, or from `params` if they are given."""
    instance = node.start(params=params)
    for each, label in batches(pixels, labels, seed=1):
        instance.step(each, label)
    return instance


def right(module: rmlc.Module, pixels: Any, labels: Any, learned: rmlc.Instance | None = None) -> float:
    """The share of images that are classified correctly by the learned parameters, or by the
    original ones."""
    node = module.node("classify")
    params = None
    if learned is not None:  # the paths are those of `learn`, below the differentiated node
        params = {path: learned.params[f"criterion.{path}"] for path in node.params}
    scores = node.start(params=params).run(pixels=pixels.reshape(-1, BATCH, 784)).scores
    return float((scores.reshape(-1, 10).argmax(axis=1) == labels).mean())


def export(learned: rmlc.Instance, folder: pathlib.Path, file: str) -> None:
    """Exports the original network with the learned parameters to ONNX, by the command."""
    learned.save(folder / "tuned.safetensors")
    subprocess.run([sys.executable, "-m", "rmlc", "export", folder / "model.rml", "--load-params",
                    folder / "tuned.safetensors", "--map", "criterion.main.*=*", "-o", file], check=True)


def draw(counts: list[int], found: dict[str, list[float]], came: float, file: str) -> None:
    sys.path.append(str(HERE.parents[1]))
    from chart import BLUE, GREY, INK, RED, Panel, Picture

    picture = Picture(760, 430, "A network from PyTorch, trained further",
                      f"Digits of other people: of {TESTED} images, how many are right, by how many were learned from.")
    low = min([came, *map(min, found.values())])
    panel = Panel(picture, (80, 120, 640, 250), (0, max(1, len(counts) - 1)), (np.floor(100 * low), 100), "",
                  "images learned from", "% right", [(k, str(count)) for k, count in enumerate(counts)])
    for colour, (name, shares) in zip((GREY, BLUE, RED), found.items()):
        panel.line([(k, 100 * share) for k, share in enumerate(shares)], colour, 2.0, name)
    panel.line([(0, 100 * came), (len(counts) - 1, 100 * came)], INK, 1.0, "as it came", True)
    picture.save(file)


def main(arguments: list[str] | None = None) -> dict[str, list[float]]:
    parser = argparse.ArgumentParser(description="A network from PyTorch, trained further on few images")
    parser.add_argument("--images", type=int, nargs="+", default=[50, 100, 200, 400, 800, 1200], metavar="N",
                        help="to learn from")
    parser.add_argument("--seed", type=int, default=0, help="which images are learned from, which are for the test")
    parser.add_argument("--picture", metavar="FILE.svg")
    parser.add_argument("--onnx", metavar="FILE.onnx", help="the network as the last training has left it")
    options = parser.parse_args(arguments)
    pixels, labels = images(options.seed)
    test, known = slice(0, TESTED), slice(TESTED, None)
    if not all(0 < count <= len(labels) - TESTED for count in options.images):
        parser.error(f"--images: expected numbers from 1 to {len(labels) - TESTED}")
    found: dict[str, list[float]] = {"logistic regression": [], "from the start": [], "trained further": []}
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        module = load(folder)
        node = module.node("learn")
        came = right(module, pixels[test], labels[test])
        print(f"as it came: {came:.2%} right\n{'images':>8s}" + "".join(f"{name:>22s}" for name in found))
        for count in options.images:
            few = pixels[known][:count], labels[known][:count]
            linear = LogisticRegression(max_iter=1000).fit(*few)
            found["logistic regression"].append(float(linear.score(pixels[test], labels[test])))
            fresh, learned = trained(node, *few, as_made(node, 0)), trained(node, *few)
            found["from the start"].append(right(module, pixels[test], labels[test], fresh))
            found["trained further"].append(right(module, pixels[test], labels[test], learned))
            print(f"{count:8d}" + "".join(f"{shares[-1]:22.2%}" for shares in found.values()))
        if options.onnx:
            export(learned, folder, options.onnx)
    if options.picture:
        draw(options.images, found, came, options.picture)
    return {**found, "as it came": [came]}


if __name__ == "__main__":
    main()
