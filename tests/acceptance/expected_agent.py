"""Writes the inputs and the expected rows of case 10: an agent that learns at the end of each
episode."""

import numpy as np
from common import ABSENT, UNDETERMINED, emitted, generator, write

random = generator(10)
CYCLES = 200
wind = [round(float(v), 2) for v in random.uniform(-0.5, 0.5, CYCLES)]
noise = [round(float(v), 2) for v in random.uniform(-3, 3, CYCLES)]
bp = [bool(v < 0.7) for v in random.uniform(0, 1, CYCLES)]
bp[60:100] = [False] * 40

rows = {name: [] for name in ["force", "reward", "to_go", "end", "w"]}
w, n = np.zeros(3), 0
lengths = []
while n < CYCLES:
    position, speed, first, seen = 0.5, 0.0, n, []
    end = False
    while n < CYCLES and not end:
        seen.append(np.array([position, speed, 1.0]))
        force = w @ seen[-1] + (noise[n] if bp[n] else 0.0)
        end = n - first + 1 == 20 or abs(position) > 0.7 or abs(position) < 0.02
        rows["force"].append(force)
        rows["reward"].append(-(position**2) - 0.01 * force**2)
        rows["end"].append(end)
        rows["w"].append(w)
        position, speed = position + 0.1 * speed, speed + 0.1 * (force + wind[n])
        n += 1
    lengths.append(n - first)
    if not end:
        rows["to_go"] += [UNDETERMINED] * (n - first)
        break
    for k in range(first, n):
        rows["to_go"].append(sum(0.9 ** (m - k) * rows["reward"][m] for m in range(k, n)))
    for k in range(first, n):
        if bp[k]:
            w = w + 0.05 * rows["to_go"][k] * noise[k] * seen[k - first]
print("episodes", lengths, "parameters", w)
given = [v if b else ABSENT for v, b in zip(noise, bp)]
write("case10_agent.in.chron", {"wind": wind, "bp": bp, "noise": given})
write("case10_agent.out.chron", {"force": rows["force"], "end": rows["end"]})
write("case10_watched.out.chron", emitted(rows))
