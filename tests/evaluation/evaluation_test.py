"""`rmlc eval --progressive`: evaluation_test.py RMLC, run by ctest.

Predictions are those that `rmlc run` writes. Their metrics are computed here, row by row, from
the definitions. Each metric is compared in every row, over all rows, after a warm-up and over
a window, on both engines. Further tests cover the final table, missing truths, and programs
that must be refused."""

import csv
import io
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

RMLC = sys.argv[1]
ROWS = 60

PROGRAM = """node line(x) -> (y)
  y = param(0.5) * x + param(sum(uniform([1], -0.1, 0.1)));

-- Two learners: what y is, and whether it is more than its mean.
node main(x: f64, y: f64, large: bool) -> (guess: f64, likely: f64, taken: bool, class: i32, whole: i32,
    seen: f64 when large)
  guess, _ = diff line(x, true, -0.05 * (guess - y));
  score, _ = diff line(x, true, -0.3 * (likely - (if large then 1.0 else 0.0)));
  likely = sigmoid(score);
  taken = likely > 0.5;
  class = cast(i32, floor(0.5 * y));
  whole = cast(i32, floor(0.5 * guess));
  seen = guess when large; -- a comment behind the last equation
node other(x: f64) -> (y: f64)
  y = x;
"""

METRICS = ["accuracy:whole:class", "right=accuracy:taken:large", "precision:taken:large", "recall:taken:large",
           "f1:taken:large", "logloss:likely:large", "mae:guess:y", "mse:guess:y", "rmse:guess:y", "r2:guess:y",
           "mae_of_large=mae:seen:y_large"]


def run(*arguments, status=0):
    done = subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != status:
        raise AssertionError(f"{arguments}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def table(text):
    value = {"true": 1.0, "false": 0.0, "": None}
    return [{k: value[v] if v in value else float(v) for k, v in row.items()} for row in csv.DictReader(io.StringIO(text))]


def over(values, warm_up, window):
    """The rows that count for the metric at the last of these values."""
    counted = values[warm_up:]
    return counted[-window:] if window else counted


def ratio(p, q):
    return p / q if q else 0.0


def auc(scores, labels):
    pairs = [(a > b) + 0.5 * (a == b) for a, t in zip(scores, labels) if t for b, u in zip(scores, labels) if not u]
    return sum(pairs) / len(pairs) if pairs else math.nan


def expected(name, p, t):
    p, t = np.array(p), np.array(t)
    hit, wrong, missed = sum(p * t), sum(p * (1 - t)), sum((1 - p) * t)
    errors = p - t
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "accuracy": lambda: np.mean(p == t),
            "precision": lambda: ratio(hit, hit + wrong),
            "recall": lambda: ratio(hit, hit + missed),
            "f1": lambda: ratio(2 * hit, 2 * hit + wrong + missed),
            "auc": lambda: auc(p, t),
            "logloss": lambda: -np.mean(np.log(np.where(t == 1, p, 1 - p))),
            "mae": lambda: np.mean(abs(errors)),
            "mse": lambda: np.mean(errors ** 2),
            "rmse": lambda: math.sqrt(np.mean(errors ** 2)),
            "r2": lambda: 1 - np.mean(errors ** 2) / np.var(t) if np.var(t) > 0 else math.nan,
        }[name]()


def parts(metric):
    column, _, rest = metric.rpartition("=")
    name, prediction, truth = rest.split(":")
    return column or name, name, prediction, truth


def same(a, b):
    return math.isnan(a) and math.isnan(b) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def check_streams(folder, inputs, plain, metrics, warm_up=0, window=0, engine="compiled"):
    options = [word for m in metrics for word in ("--metric", m)]
    options += ["--warm-up", warm_up] if warm_up else []
    options += ["--window", window] if window else []
    said, _ = run("eval", folder / "p.rml", "--progressive", *options, "--engine", engine, "--input", folder / "in.csv",
                  "--output", folder / "out.csv")
    rows = table((folder / "out.csv").read_text())
    assert [{k: row[k] for k in plain[0]} for row in rows] == plain, "the program predicts otherwise than in `rmlc run`"
    told = {line.split()[0]: line.split()[1:] for line in said.splitlines()[1:]}
    for metric in metrics:
        column, name, prediction, truth = parts(metric)
        known = [(plain[n] | inputs[n])[prediction] for n in range(ROWS)], [(plain[n] | inputs[n])[truth] for n in range(ROWS)]
        there = 0
        for n, row in enumerate(rows):
            if known[1][n] is None:
                assert row[column] is None, (metric, n)
                continue
            there += 1
            p, t = ([v for v, of in zip(values[:n + 1], known[1]) if of is not None] for values in known)
            p, t = over(p, warm_up, window), over(t, warm_up, window)
            wanted = expected(name, p, t) if p else math.nan
            assert same(row[column], wanted), (metric, warm_up, window, engine, n, row[column], wanted)
        count, value = told[column]
        assert int(count) == there - warm_up and same(float(value), float(f"{rows[-1 if there == ROWS else last(rows, column)][column]:.6g}"))


def last(rows, column):
    return max(n for n, row in enumerate(rows) if row[column] is not None)


def check_missing(folder):
    """If the truth is missing in some rows, only the others are scored."""
    (folder / "gaps.rml").write_text("""node main(x: f64, given: bool, y: f64 when given) -> (guess: f64)
  error = (guess when given) - y;
  rate = 1.0 fby (rate - (merge given (0.1 * error * (x when given)) (0.0 when not given)));
  guess = rate * x;
""")
    (folder / "gaps.csv").write_text("x,y\n1,2\n2,\n3,5\n1,\n2,4\n")
    said, _ = run("eval", folder / "gaps.rml", "--progressive", "--metric", "mae:guess:y", "--input", folder / "gaps.csv",
                  "--missing", "absent", "--output", folder / "out.csv")
    rows = table((folder / "out.csv").read_text())
    rate, errors = 1.0, []
    for n, (x, y) in enumerate([(1, 2), (2, None), (3, 5), (1, None), (2, 4)]):
        assert same(rows[n]["guess"], rate * x)
        if y is None:
            assert rows[n]["mae"] is None
            continue
        errors.append(abs(rate * x - y))
        assert same(rows[n]["mae"], sum(errors) / len(errors))
        rate -= 0.1 * (rate * x - y) * x
    assert said.split()[:5] == ["metric", "rows", "value", "mae", "3"]


def refused(folder, text, rows, words, *options, status=1):
    (folder / "r.rml").write_text(text)
    (folder / "r.csv").write_text(rows)
    said, error = run("eval", folder / "r.rml", "--progressive", *options, "--input", folder / "r.csv", status=status)
    assert said == "" and all(w in error for w in words), (options, said, error)


def check_refusals(folder):
    mean = "node main(x: f64, y: f64, t: bool) -> (guess: f64, sure: bool)\n  guess = 0.0 fby y;\n  sure = x > 0.0;\n"
    rows = "x,y,t\n1,2,T\n2,3,F\n"
    for metric, words in {
        "mae:gues:y": ["E0904", "no output `gues`", "did you mean `guess`?"],
        "mae:guess:z": ["E0904", "no input or output `z`"],
        "mae:guess:t": ["E0904", "takes two floats", "f64 and bool"],
        "f1:guess:t": ["E0904", "takes two Booleans"],
        "logloss:sure:t": ["E0904", "the probability of `true`"],
        "accuracy:guess:t": ["E0904", "of one type"],
        "auc:guess:t": ["E0904", "--window N"],
        "guess=mae:guess:y": ["E0904", "the name `guess` is already used", "--metric NAME=mae:guess:y"],
    }.items():
        refused(folder, mean, rows, words, "--metric", metric)
    refused(folder, mean, rows, ["the name `mae` is already used"], "--metric", "mae:guess:y", "--metric", "mae:guess:y")
    refused(folder, mean, rows, ["--metric", "unknown metric 'mea'"], "--metric", "mea:guess:y", status=2)
    refused(folder, mean, rows, ["does not have the form [COLUMN=]NAME:PREDICTION:TRUTH"], "--metric", "mae", status=2)
    refused(folder, mean, rows, ["cannot be the name of a column"], "--metric", "a b=mae:guess:y", status=2)
    refused(folder, mean, rows, ["--metric is required"], status=2)
    refused(folder, mean, rows, ["--window"], "--metric", "mae:guess:y", "--window", "1", status=2)
    refused(folder, mean, rows, ["unknown option", "--nonsense"], "--metric", "mae:guess:y", "--nonsense", status=2)
    refused(folder, mean, "x,y,t\n", ["mae has no rows to measure"], "--metric", "mae:guess:y")
    refused(folder, mean, rows, ["all 2 belong to the warm-up"], "--metric", "mae:guess:y", "--warm-up", "5")
    refused(folder, mean, "x,y,t\n1,2,T\n2,nan,F\n", ["the truth 'y' is NaN in cycle 1"], "--metric", "mae:guess:y")
    refused(folder, mean, "x,t\n1,T\n", ["y"], "--metric", "mae:guess:y")
    same_row = "node main(x: f64, y: f64) -> (guess: f64)\n  rate = 0.5 * (0.0 fby rate) + y;\n  guess = rate * x;\n"
    refused(folder, same_row, "x,y\n1,2\n",
            ["the prediction `guess` depends on the truth `y` of the same row", "`guess` depends on `rate`",
             "`rate` depends on `y`"], "--metric", "mae:guess:y")
    for ahead in ("post y", "0.0 fby post post y", "backfill(y, x > 0.0)", "(0.0 fby 1.0 fby y) + post (0.0 fby y)"):
        text = f"node main(x: f64, y: f64) -> (guess: f64)\n  guess = {ahead};\n"
        refused(folder, text, "x,y\n1,2\n", ["depends on the truth `y`"], "--metric", "mae:guess:y")
    refused(folder, "node main(x: f64, y: f64) -> (guess: f64)\n  guess = y fby 1.0;\n", "x,y\n1,2\n",
            ["of the same row"], "--metric", "mae:guess:y")
    # A computed truth: the prediction must not depend on its operands.
    made = "node main(x: f64, y: f64) -> (large: bool, guess: bool)\n  large = y > 1.0;\n  guess = {};\n"
    refused(folder, made.format("x + y > 2.0"), "x,y\n1,2\n", ["depends on the truth `y`"], "--metric", "f1:guess:large")
    (folder / "r.rml").write_text(made.format("false fby large"))
    run("eval", folder / "r.rml", "--progressive", "--metric", "f1:guess:large", "--input", folder / "r.csv")
    # A value that looks ahead and is then delayed is known in time.
    (folder / "r.rml").write_text("node main(x: f64, y: f64) -> (guess: f64)\n  guess = 0.0 fby 0.0 fby post y;\n")
    run("eval", folder / "r.rml", "--progressive", "--metric", "mae:guess:y", "--input", folder / "r.csv")


# Learners at the ends of segments, and a program that uses a segment before its end.
BY_SEGMENTS = """import recurrent;
import nn;
import optim;
node model(end: bool, x) -> (score)
  score = nn.dense(1, recurrent.gru_end(4, end, x))[0];
node main(end: bool, x: f32[2], y: f32) -> (guess: f32)
  guess, _ = diff[optim.adam(0.1)] model(end, x, end, (sigmoid(guess) - y) when end);
"""
OF_ENDED = [BY_SEGMENTS, BY_SEGMENTS.replace(", end, (sigmoid(guess) - y) when end)", ", true, sigmoid(guess) - y)"),
            """node main(end: bool, x: f32[2], y: f32) -> (guess: f32)
  to_end = if end then y else y + post to_end;
  first = true fby end;
  begun = if first then to_end else 0.0 fby begun;
  guess = 0.0 fby (if end then begun else guess);
"""]
OF_OPEN = ["  guess = 0.0 fby (if first then ahead else guess);", "  guess = 0.0 fby post post (if end then y else 0.0);",
           "  guess = if end then 0.0 fby ahead else 0.0;", "  guess = 0.0 fby (if end then post ahead else guess);",
           "  guess = 0.0 fby (if other then ahead else guess);"]


def check_segments(folder):
    """The predictions of accepted learners do not change with the truths of their own or later
    rows."""
    random = np.random.default_rng(3)
    rows = [(int(random.random() < 0.3), *random.normal(size=2), int(random.random() < 0.5)) for _ in range(60)]
    for text in OF_ENDED:
        (folder / "s.rml").write_text(text)
        found = []
        for changed in (60, 31, 32, 33, 34, 35, 36):
            (folder / "s.csv").write_text("end,x[0],x[1],y\n" + "".join(
                f"{'FT'[end]},{a},{b},{1 - y if k >= changed else y}\n" for k, (end, a, b, y) in enumerate(rows)))
            run("eval", folder / "s.rml", "--progressive", "--metric", "mae:guess:y", "--input", folder / "s.csv",
                "--output", folder / "out.csv")
            found.append([row["guess"] for row in table((folder / "out.csv").read_text())])
            assert found[0][:changed + 1] == found[-1][:changed + 1] and (changed == 60 or found[0] != found[-1]), text
    # The ends of sequences may also come from a column of the file.
    sequences = np.cumsum([0, *(end for end, *_ in rows[:-1])])
    (folder / "g.csv").write_text("sequence,x[0],x[1],y\n" + "".join(
        f"{sequence},{a},{b},{y}\n" for sequence, (_, a, b, y) in zip(sequences, rows)))
    by_column = run("eval", folder / "s.rml", "--progressive", "--metric", "mae:guess:y", "--input", folder / "g.csv",
                    "--segments-by", "sequence", "--output", folder / "by_column.csv")
    by_flag = "end,x[0],x[1],y\n" + "".join(f"{'FT'[end or k == 59]},{a},{b},{y}\n" for k, (end, a, b, y) in enumerate(rows))
    (folder / "f.csv").write_text(by_flag)
    assert by_column == run("eval", folder / "s.rml", "--progressive", "--metric", "mae:guess:y", "--input",
                            folder / "f.csv", "--output", folder / "by_flag.csv")
    assert (folder / "by_column.csv").read_bytes() == (folder / "by_flag.csv").read_bytes()
    _, error = run("eval", folder / "s.rml", "--progressive", "--metric", "mae:guess:y", "--input", folder / "s.csv",
                   "--epochs", "2", status=2)
    assert "--epochs: each prediction is scored once" in error
    for equation in OF_OPEN:
        refused(folder, "node main(end: bool, other: bool, y: f64) -> (guess: f64)\n  first = true fby end;\n"
                f"  ahead = if end then y else post ahead;\n{equation}\n", "end,other,y\n",
                ["depends on the truth `y`"], "--metric", "mae:guess:y")


def main():
    random = np.random.default_rng(5)
    inputs = []
    for _ in range(ROWS):
        x = random.normal()
        y = 3 * x + 1 + 0.3 * random.normal()
        inputs.append({"x": x, "y": y, "large": float(y + random.normal() > 1)})
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        # A truth on a clock of its own is an output here: it is present where the prediction is.
        text = PROGRAM.replace("seen: f64 when large)", "seen: f64 when large, y_large: f64 when large)")
        text = text.replace("  seen = guess", "  y_large = y when large;\n  seen = guess")
        (folder / "p.rml").write_text(text)
        (folder / "in.csv").write_text("x,y,large\n" + "".join(
            f"{row['x']:.17g},{row['y']:.17g},{'FT'[int(row['large'])]}\n" for row in inputs))
        out, _ = run("run", folder / "p.rml", "--input", folder / "in.csv")
        plain = table(out)
        for warm_up, window in ((0, 0), (7, 0), (0, 10), (4, 15), (0, 2)):
            metrics = METRICS + (["auc:likely:large"] if window else [])
            check_streams(folder, inputs, plain, metrics, warm_up, window)
        out, _ = run("run", folder / "p.rml", "--input", folder / "in.csv", "--engine", "reference")
        check_streams(folder, inputs, table(out), METRICS, 3, 0, "reference")
        check_missing(folder)
        check_refusals(folder)
        check_segments(folder)
    print("all metrics are as expected")


main()
