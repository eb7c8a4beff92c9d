"""The output of `rmlc diff` must compile again and give the same results.

diff_round_trip_test.py RMLC. A program whose main calls `diff model` runs unchanged, and with
the printed nodes in place of those that `diff` would make."""

import pathlib
import subprocess
import sys
import tempfile

RMLC = sys.argv[1]

MODELS = {
    "layers": (
        """
node dense(x, units) -> (y)
  w = param(full([units, size(x)], 0.1));
  b = param(zeros([units]));
  y = matmul(w, x) + b;

node model(x: f64[2], t: f64[3]) -> (l)
  h = tanh(dense(x, 3));
  l = sum((h - t) * (h - t));
""",
        """
node main(x: f64[2], t: f64[3]) -> (l: f64, dx: f64[2])
  l, dx, _ = diff model(x, t, true, -0.01);
""",
    ),
    # The gradient of the inner call has the name of the gradient of `x` before it.
    "names": (
        """
node square(x: f64[2]) -> (y: f64[2])
  y = x * x;

node model(x: f64[2]) -> (y: f64)
  y = sum(square(square(x)));
""",
        """
node main(x: f64[2]) -> (y: f64, dx: f64[2])
  y, dx = diff model(x, true, 1.0);
""",
    ),
    "infinities": (
        """
node model(x: f64[2], w: f64) -> (y: f64)
  masked = select(x > 0.0, w * x, -inf);
  y = max(pad(masked, 1, 1, value=-inf)) + sum(minimum(x, inf)) + (if x[0] > nan then w else 0.0);
""",
        """
node main(x: f64[2]) -> (y: f64, dx: f64[2], dw: f64)
  y, dx, dw = diff model(x, 2.0, true, 1.0);
""",
    ),
    "recurrence": (
        """
node model(end: bool, c: bool, x: f64) -> (h: f64, y: f64 when c)
  w = param_end(end, param(0.5));
  h = if c then tanh(w * fby_end(end, 0.25, h) + x) else fby_end(end, 0.25, h) * x;
  y = (x when c) * (h when c);
""",
        """
node main(end: bool, c: bool, x: f64) -> (h: f64, y: f64 when c, dx: f64)
  h, y, dx = diff model(end, c, x, end, -0.1, -0.2);
""",
    ),
    "library": (
        """
import recurrent;
import nn;
import loss;

node model(end: bool, x: f64[2], t: f64[3]) -> (l)
  h = recurrent.lstm_end(4, end, x);
  l = loss.mse(nn.dense_end(3, end, h), t);
""",
        """
import optim;
node main(end: bool, x: f64[2], t: f64[3]) -> (l: f64)
  l, _, _ = diff model(end, x, t, true, -0.1);
""",
    ),
}

ROWS = 24


def chronogram(header):
    """Deterministic inputs for the names of the program's main."""
    rows = {
        "end": ["T" if k % 5 == 4 or k == ROWS - 1 else "F" for k in range(ROWS)],
        "c": ["T" if k % 3 != 1 else "F" for k in range(ROWS)],
        "x: f64[2]": [f"[{(k % 7) / 4 - 0.5},{(k % 4) / 2 - 1}]" for k in range(ROWS)],
        "x: f64": [str((k % 7) / 4 - 0.5) for k in range(ROWS)],
        "t: f64[3]": [f"[{k % 2},{k % 3 - 1},0.25]" for k in range(ROWS)],
    }
    lines = []
    for parameter in header:
        key = parameter.strip()
        key = key if key in rows else key.split(":")[0]
        lines.append(f"{key.split(':')[0]} | {' '.join(rows[key])}")
    return "\n".join(lines) + "\n"


def run(folder, *arguments):
    done = subprocess.run([RMLC, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"rmlc {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def imports_first(text):
    lines = text.splitlines()
    imports = [line for line in lines if line.startswith("import")]
    return "\n".join(imports + [line for line in lines if not line.startswith("import")]) + "\n"


def check(name, model, main):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "model.rml").write_text(model)
        (folder / "whole.rml").write_text(imports_first(model + main))
        printed = run(folder, "diff", "model.rml", "--node", "model")
        (folder / "printed.rml").write_text(imports_first(printed + main))
        header = main[main.index("main(") + 5 : main.index(") ->")]
        parameters, depth, current = [], 0, ""
        for character in header:
            depth += (character == "[") - (character == "]")
            if character == "," and depth == 0:
                parameters.append(current)
                current = ""
            else:
                current += character
        parameters.append(current)
        (folder / "in.chron").write_text(chronogram(parameters))
        outputs = {}
        for file in ("whole.rml", "printed.rml"):
            for engine in ("compiled", "reference"):
                outputs[file, engine] = run(
                    folder, "run", file, "--node", "main", "--engine", engine,
                    "--strict-math", "--input", "in.chron", "--format", "chron",
                ).split()
        if len({tuple(o) for o in outputs.values()}) != 1:
            sys.exit(f"{name}: {outputs}")
        if not any(c.isdigit() for c in "".join(outputs["whole.rml", "compiled"])):
            sys.exit(f"{name}: no rows came out")
        if run(folder, "diff", "model.rml", "--node", "model") != printed:
            sys.exit(f"{name}: printed differently the second time")


for model_name, (model_text, main_text) in MODELS.items():
    check(model_name, model_text, main_text)
