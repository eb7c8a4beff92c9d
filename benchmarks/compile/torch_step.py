"""Prints the milliseconds that PyTorch needs from an LSTM to its first result: the trace of torch.jit, freezing, and the
first runs, after which its code generation is complete. The second number is for a second size."""
import time

import torch

RUNS = 3  # number of runs; the first two collect a profile


def compile_and_step(units):
    cell = torch.nn.LSTMCell(units // 2, units).eval()
    x, state = torch.ones(1, units // 2), (torch.zeros(1, units), torch.zeros(1, units))
    begin = time.perf_counter()
    with torch.inference_mode():
        step = torch.jit.freeze(torch.jit.trace(cell, (x, state)))
        for _ in range(RUNS):
            step(x, state)
    return 1e3 * (time.perf_counter() - begin)


torch.set_num_threads(1)
first = compile_and_step(64)
print(f"{first:.1f} {compile_and_step(128):.1f}")
