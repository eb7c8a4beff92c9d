"""Writes the inputs and the expected rows of start_on_late_clock.rml: one step for each
segment."""

import pathlib
import random

HERE = pathlib.Path(__file__).parent


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def main():
    draw = random.Random(5)
    rows = {name: [] for name in ("train", "end", "x", "t", "y")}
    w, rate, last = [0.0, 0.0], 0.01, None
    for segment in range(14):
        length = draw.randint(1, 5)
        g, learns = [0.0, 0.0], False
        for n in range(length):
            x = [float(draw.randint(-3, 3)) for _ in range(2)]
            t = 2 * x[0] - x[1] + draw.randint(0, 1)
            train = segment > 1 and draw.random() < 0.5
            y = dot(w, x)
            if train:
                g, learns = [a + (y - t) * v for a, v in zip(g, x)], True
            for name, value in zip(rows, ("FT"[train], "FT"[n == length - 1], f"[{x[0]},{x[1]}]", t, y)):
                rows[name].append(value)
        if learns:
            if last is not None:
                dp, dg = ([a - b for a, b in zip(new, then)] for new, then in zip((w, g), last))
                if dot(dg, dg) > 0:
                    rate = abs(dot(dp, dg)) / dot(dg, dg)
            last = w, g
            w = [a - rate * b for a, b in zip(w, g)]
    for file, names in ("in", ("train", "end", "x", "t")), ("out", ("y",)):
        text = "".join(f"{name} | {' '.join(map(str, rows[name]))}\n" for name in names)
        (HERE / f"start_on_late_clock.{file}.chron").write_text(text)


main()
