"""Trains two small networks of digits in PyTorch and exports them, cnn.onnx and gru.onnx.

  train.py MNIST [FOLDER]     MNIST: the folder with its four files; FOLDER: the folder for the
models (default: this one)

Needs torch, onnx and onnxscript. The training is short and uses only a part of the images, so
that the networks can still improve. Prints how many of the test images each network classifies
correctly."""

import gzip
import pathlib
import sys

import numpy as np
import onnx
import torch
from torch import nn

BATCH = 50
mnist = pathlib.Path(sys.argv[1])
out = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else pathlib.Path(__file__).parent
torch.manual_seed(0)


def forget_places(path):
    """Removes from a model the lines and the folder of this file, which the exporter records for
    each operator."""
    model = onnx.load(path)
    for node in model.graph.node:
        node.ClearField("doc_string")
        node.ClearField("metadata_props")
    onnx.save(model, path)


def read(name, head, shape):
    with gzip.open(mnist / f"{name}-ubyte.gz") as file:
        return np.frombuffer(file.read(), np.uint8, offset=head).reshape(shape)


def images(part):
    pixels = read(f"{part}-images-idx3", 16, (-1, 784)).astype(np.float32) / 255
    return torch.from_numpy(pixels), torch.from_numpy(read(f"{part}-labels-idx1", 8, -1).astype(np.int64))


class Convolutional(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 5),
                                    nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 10))

    def forward(self, pixels):
        return self.layers(pixels.reshape(BATCH, 1, 28, 28))


class Recurrent(nn.Module):
    """A recurrent network that reads the rows of an image one after the other."""

    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(28, 48, batch_first=True)
        self.scores = nn.Linear(48, 10)

    def forward(self, pixels):
        return self.scores(self.gru(pixels.reshape(BATCH, 28, 28))[1][0])


learn, test = images("train"), images("t10k")
for name, model, count, rate in (("cnn", Convolutional(), 10_000, 0.001), ("gru", Recurrent(), 60_000, 0.003)):
    optimiser = torch.optim.Adam(model.parameters(), rate)
    for k in range(0, count, BATCH):
        optimiser.zero_grad()
        nn.functional.cross_entropy(model(learn[0][k:k + BATCH]), learn[1][k:k + BATCH]).backward()
        optimiser.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for k in range(0, 10_000, BATCH):
            right += (model(test[0][k:k + BATCH]).argmax(1) == test[1][k:k + BATCH]).sum().item()
    torch.onnx.export(model, (learn[0][:BATCH],), out / f"{name}.onnx", input_names=["pixels"],
                      output_names=["scores"], dynamo=True, external_data=False)
    forget_places(out / f"{name}.onnx")
    print(f"{name}: {right / 100:.2f} % of the test images right in PyTorch")
