"""Writes the inputs and the expected rows of case 5: training of pipelines.

Sample m passes stage j in cycle m + j. Its gradient returns through the same stages, and a stage
uses the updated parameters for later samples. Training a pipeline is therefore the same as
training on one sample after the other. While the pipeline fills, stages receive the zeros with
which the delays begin. These are samples of negative number, which enter at a later stage."""

import numpy as np
from common import ABSENT, UNDETERMINED, check_gradient, emitted, generator, write

RATE = 0.1


class Dense:
    def __init__(self, k):
        self.p = np.array([k, 0.1])

    def forward(self, x):
        return self.p[0] * x + self.p[1]

    def backward(self, x, d):
        return self.p[0] * d, np.array([x * d, d])


class Tanh:
    p = np.zeros(0)

    def forward(self, x):
        return np.tanh(x)

    def backward(self, x, d):
        return d * (1 - np.tanh(x) ** 2), np.zeros(0)


def stages_of(count):
    return [Dense(0.5), Tanh(), Dense(0.8), Tanh()][:count]


def forward(stages, x):
    kept = []
    for stage in stages:
        kept.append(x)
        x = stage.forward(x)
    return x, kept


def gradients(stages, kept, d):
    result = []
    for stage, x in zip(stages[::-1], kept[::-1]):
        d, g = stage.backward(x, d)
        result.append(g)
    return result[::-1]


def run(count, inputs, bp, targets):
    stages, cycles = stages_of(count), len(inputs)
    # for each stage: the parameters that it uses for each sample
    used = [{} for _ in stages]
    outputs, updated_until = [], -count
    for m in range(-(count - 1), cycles):
        for j, stage in enumerate(stages):
            used[j][m + j] = stage.p.copy()
        last = m + count - 1  # the cycle at which the sample leaves
        if last >= cycles:
            # the next parameters depend on cycles after the end
            break
        first = max(0, -m)
        o, kept = forward(stages[first:], inputs[m] if first == 0 else 0.0)
        outputs.append(o)
        if bp[last]:
            for stage, g in zip(stages[first:], gradients(stages[first:], kept, o - targets[last])):
                stage.p = stage.p - RATE * g
    rows = {"o": outputs}
    names = [j for j, s in enumerate(stages) if len(s.p)]
    for number, j in enumerate(names, 1):
        suffix = str(number) if len(names) > 1 else ""
        for at, name in enumerate("kb"):
            rows[name + suffix] = [used[j][n][at] if n in used[j] else UNDETERMINED for n in range(cycles)]
    return emitted(rows)


random = generator(5)


def draw(cycles):
    return [round(float(v), 2) for v in random.uniform(-1.5, 1.5, cycles)]


for count in 2, 3, 4:
    stages = stages_of(count)
    o, kept = forward(stages, 0.7)
    check_gradient(
        lambda: 0.5 * (forward(stages, 0.7)[0] - 0.3) ** 2, [s.p for s in stages], gradients(stages, kept, o - 0.3)
    )

inputs = draw(15)
write("case05_infer.in.chron", {"i": inputs})
for count in 2, 3, 4:
    o = [forward(stages_of(count)[max(0, -m) :], inputs[m] if m >= 0 else 0.0)[0] for m in range(1 - count, 16 - count)]
    write(f"case05_infer{count}.out.chron", {"o": o})

for count in 2, 3, 4:
    inputs, targets = draw(50), draw(50)
    write(f"case05_train{count}.in.chron", {"i": inputs, "gt": targets})
    write(f"case05_train{count}.out.chron", run(count, inputs, [True] * 50, targets))

for count in 2, 3:
    inputs, targets = draw(60), draw(60)
    bp = [bool(v) for v in random.integers(0, 2, 60)]
    bp[20:30], bp[30:42], bp[-4:] = [True] * 10, [False] * 12, [True, False, False, False]
    given = [t if here else ABSENT for t, here in zip(targets, bp)]
    write(f"case05_mixed{count}.in.chron", {"bp": bp, "i": inputs, "gt": given})
    rows = run(count, inputs, bp, targets)
    write(f"case05_mixed{count}.out.chron", rows)

    if count == 3:
        inputs = inputs + [0.0] * count  # further inputs, so that the last outputs are known
        rows = run(count, inputs, bp + [False] * count, targets + [0.0] * count)
        write("case05_outputs3.out.chron", {"o": rows["o"][:60]})
