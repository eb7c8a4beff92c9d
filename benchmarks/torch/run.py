#!/usr/bin/env python3
"""A training step of an LSTM of 64 units over 64 cycles on one thread: rmlc.torch beside PyTorch's own.

  OMP_NUM_THREADS=1 benchmarks/torch/run.py [STEPS]

Forward, backward to the parameters and, in `rmlc, inputs too`, to the inputs; in turn, so that all meet the same
machine. `LSTMCell` is PyTorch's cell in a loop over the cycles, `LSTM` its whole layer. Prints milliseconds, and how
many times longer than `rmlc` each takes, by the best and by the median. Python needs the package rmlc, and torch.
"""

import statistics
import sys
import time

import rmlc
import rmlc.torch
import torch

CYCLES = UNITS = 64
SOURCE = f"""
import recurrent;
node model(end: bool, x: f32[{UNITS}]) -> (h: f32[{UNITS}])
  h = recurrent.lstm_end({UNITS}, end, x);
"""


def main():
    torch.set_num_threads(1)
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    layer = rmlc.torch.Module(rmlc.compile(SOURCE), "model")
    cell, whole = torch.nn.LSTMCell(UNITS, UNITS), torch.nn.LSTM(UNITS, UNITS)

    def loop(x):
        h = c = torch.zeros(1, UNITS)
        rows = []
        for each in x:
            h, c = cell(each[None], (h, c))
            rows.append(h[0])
        return torch.stack(rows)

    x, weight = torch.randn(CYCLES, UNITS), torch.randn(CYCLES, UNITS)
    runs = {"rmlc": (layer, layer, x), "rmlc, inputs too": (layer, layer, x.clone().requires_grad_()),
            "LSTMCell": (loop, cell, x), "LSTM": (lambda x: whole(x)[0], whole, x)}
    times = {name: [] for name in runs}
    for _ in range(steps + 3):
        for name, (forward, module, inputs) in runs.items():
            begin = time.perf_counter()
            module.zero_grad()
            (forward(inputs) * weight).sum().backward()
            times[name].append(1e3 * (time.perf_counter() - begin))
    best = {name: min(each[3:]) for name, each in times.items()}
    middle = {name: statistics.median(each[3:]) for name, each in times.items()}
    for name in runs:
        print(f"{name:17} {best[name]:7.2f} ms {best[name] / best['rmlc']:5.1f} x    median {middle[name]:7.2f} ms "
              f"{middle[name] / middle['rmlc']:5.1f} x")


main()
