#!/usr/bin/env python3
"""Draws the picture at the top of the README: picture.py RMLC PICTURE.svg

On the left is the chronogram of the README's first program, on the right the learning curve of
the tutorial's LSTM. Both programs are run here. Colours follow the reader's choice of light or
dark."""
import csv
import math
import pathlib
import re
import subprocess
import sys
import tempfile

DOCS = pathlib.Path(__file__).resolve().parent
STYLE = """text { font-family: Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif; fill: #24292f }
.code { font-family: 'DejaVu Sans Mono', Menlo, Consolas, monospace; font-size: 14px }
.faint { fill: #6b7280; font-size: 12px } .title { font-size: 15px; font-weight: 600 }
.grid { stroke: #9ca3af; stroke-opacity: 0.35 } .cut { stroke: #9ca3af; stroke-dasharray: 4 3 }
.back { fill: #d9480f } .ahead { stroke: #d9480f; fill: none; stroke-width: 1.5 }
.line { stroke: #2b7cc0; fill: none; stroke-width: 1.8; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .faint { fill: #9ca3af } .back { fill: #ff9b6b } .ahead { stroke: #ff9b6b } .line { stroke: #6cb6ff }
}"""


def block(page, name):
    """Returns the block of a page that is saved under this name."""
    text = page.read_text(encoding="utf-8")
    return re.search(rf"^```\w+\n(-- file: {re.escape(name)}\n.*?)^```", text, re.M | re.S).group(1)


def run(folder, *command):
    return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=True).stdout


def text(x, y, words, kind, anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{words}</text>'


def chronogram(rmlc, folder):
    """Draws the trace of the first program, with marks on the values that depend on a later
    cycle."""
    for name in "center.rml", "batches.chron":
        pathlib.Path(folder, name).write_text(block(DOCS.parent / "README.md", name), encoding="utf-8")
    trace = run(folder, rmlc, "trace", "center.rml", "--input", "batches.chron", "--watch", "sum", "--watch", "mean")
    out = [text(30, 36, "Streams: a value per cycle", "title")]
    lines = [(name.strip(), cells.split()) for name, cells in (line.split("|") for line in trace.splitlines())]
    for row, (name, cells) in enumerate(lines):
        y = 78 + 34 * row
        out.append(text(30, y, name, "code"))
        out.append(f'<path class="grid" d="M90 {y + 12}h330"/>')
        out += [text(140 + 62 * k, y, cell, "code back" if name == "mean" else "code", "end") for k, cell in enumerate(cells)]
    ends = [k for k, cell in enumerate(lines[0][1]) if cell == "T"]
    out += [f'<path class="cut" d="M{153 + 62 * k} 60v{34 * len(lines)}"/>' for k in ends]
    mean = next(row for row, (name, _) in enumerate(lines) if name == "mean")
    y = 78 + 34 * mean
    for begin, end in zip([0, *(k + 1 for k in ends)], ends):
        for k in range(begin, end):
            out.append(f'<path class="ahead" d="M{128 + 62 * (k + 1)} {y - 14}q-28 -10 -54 0m7 -6l-7 6l8 3"/>')
    out.append(text(30, 78 + 34 * len(lines) + 8, "mean is known at a batch’s end, and flows back to its beginning", "faint"))
    return out


def curve(rmlc, folder):
    """Draws the cross entropy of the tutorial's LSTM, averaged over forty sequences."""
    pathlib.Path(folder, "recall.rml").write_text(block(DOCS / "tutorial.md", "recall.rml"), encoding="utf-8")
    run(folder, rmlc, "run", "recall.rml", "--node", "learn", "--cycles", 24000, "--output", "rows.csv")
    with open(pathlib.Path(folder, "rows.csv"), newline="", encoding="utf-8") as file:
        losses = [float(row["surprise"]) for row in csv.DictReader(file) if row["surprise"]]
    means = [sum(losses[k : k + 40]) / 40 for k in range(0, len(losses) - 39, 40)]
    left, top, width, height, low = 520, 66, 410, 170, -4
    x = lambda k: left + width * k / (len(means) - 1)
    y = lambda v: top - height * math.log10(max(v, 10**low)) / -low
    out = [text(left - 40, 36, "Learning: gradients are streams, too", "title")]
    for power in range(low, 1):
        at = y(10**power)
        out += [f'<path class="grid" d="M{left} {at:.1f}h{width}"/>', text(left - 8, at + 4, f"{10**power:g}", "faint", "end")]
    points = "L".join(f"{x(k):.1f} {y(v):.1f}" for k, v in enumerate(means))
    out.append(f'<path class="line" d="M{points}"/>')
    for count in 0, 800, 1600, 2400:
        out.append(text(left + width * count / len(losses), top + height + 20, f"{count:,}", "faint", "middle"))
    out.append(text(left, top + height + 42, "cross entropy of an LSTM that recalls a bit, by sequences", "faint"))
    return out


def main():
    rmlc, path = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        body = chronogram(rmlc, folder) + curve(rmlc, folder)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 300" width="960" height="300">\n<style>{STYLE}</style>'
    pathlib.Path(path).write_text("\n".join([head, *body, "</svg>"]) + "\n", encoding="utf-8")


main()
