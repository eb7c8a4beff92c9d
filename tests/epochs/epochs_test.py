"""Training in epochs from the command line: epochs_test.py RMLC, run by ctest.

Rows of several epochs are compared with those of a file that holds them all. The expected order of
`--shuffle`, the means of the metric and the parameters of the best epoch are computed here. A
network learns from 800 sequences of 4 to 30 rows, as a user would train it.
"""

import csv
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

RMLC = str(pathlib.Path(sys.argv[1]).resolve())

COUNTED = """
node main(end: bool, x: f64) -> (y: f64, total: f64, n: i32)
  y = x;
  total = (if true fby end then 0.0 else (0.0 fby total)) + x;
  n = 0 fby n + 1;
"""
LINE = """
import optim;
node line(x: f64) -> (y: f64)
  y = param(0.0) * x;
node main(x: f64, t: f64) -> (loss: f64)
  y, _ = diff[optim.sgd(0.05)] line(x, true, y - t);
  loss = (y - t) * (y - t);
node use(x: f64, t: f64) -> (loss: f64)
  loss = (line(x) - t) * (line(x) - t);
"""
SEQUENCES = """
import nn;
import optim;
import recurrent;
node score(end: bool, x: f32[2]) -> (y)
  y = nn.dense(1, recurrent.gru_end(8, end, x))[0];
node main(end: bool, x: f32[2], label: f32) -> (right: bool when end, loss: f32 when end)
  y, _ = diff[optim.adam(0.01)] score(end, x, end, (sigmoid(y) - label) when end);
  right = ((y > 0.0) == (label > 0.5)) when end;
  loss = (softplus(y) - label * y) when end;
"""


def split_mix(state):
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def order_of_epoch(count, seed, epoch):
    order = list(range(count))
    numbers = split_mix((next(split_mix(seed)) + epoch) % 2**64)
    for k in range(count, 1, -1):
        other = next(numbers) * k >> 64
        order[k - 1], order[other] = order[other], order[k - 1]
    return order


def csv_text(names, rows):
    return "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n"


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


def sequences(count, seed):
    """Rows (sequence, x[0], x[1], label) of sequences of 4 to 30 rows."""
    draw = random.Random(seed)
    for k in range(count):
        level = draw.uniform(-0.6, 0.6)
        for _ in range(draw.randint(4, 30)):
            yield f"s{k}", round(draw.gauss(level, 0.3), 4), round(draw.gauss(0, 0.3), 4), int(level > 0)


class EpochsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("counted.rml", COUNTED), ("line.rml", LINE), ("sequences.rml", SEQUENCES)):
            self.write(name, text)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def run_command(self, *arguments, status=0, **more):
        done = subprocess.run(list(map(str, arguments)), cwd=self.folder, capture_output=True, text=True, check=False,
                              **more)
        self.assertEqual(done.returncode, status, f"{arguments}\n{done.stdout}{done.stderr}")
        return done

    def rows(self, *arguments, **more):
        return read_csv(self.run_command(RMLC, "run", *arguments, **more).stdout)

    def refused(self, *arguments, words, status=2, **more):
        done = self.run_command(RMLC, "run", *arguments, status=status, **more)
        self.assertIn(words, done.stderr)
        return done

    # Segments of 1 to 3 rows; x is unique.
    def segments(self):
        return [[10 * k + i for i in range(1 + k % 3)] for k in range(7)]

    def counted_csv(self, name="in.csv", segments=None):
        rows = [(str(x == s[-1]).lower(), x) for s in segments or self.segments() for x in s]
        return self.write(name, csv_text(("end", "x"), rows))

    def test_epochs_are_rows_of_a_longer_file(self):
        once = self.counted_csv()
        thrice = self.counted_csv("thrice.csv", 3 * self.segments())
        expected = self.rows("counted.rml", "--input", thrice)
        self.assertEqual(self.rows("counted.rml", "--input", once, "--epochs", 3), expected)
        self.assertEqual(self.rows("counted.rml", "--input", once, "--repeat", "--cycles", len(expected)), expected)
        with open(self.folder / once, encoding="utf-8") as file:
            self.assertEqual(self.rows("counted.rml", "--epochs", 3, stdin=file), expected)
        self.run_command("gzip", "-k", once)
        self.assertEqual(self.rows("counted.rml", "--input", once + ".gz", "--epochs", 3), expected)
        self.run_command(RMLC, "build", "counted.rml")
        built = self.run_command("./counted", "--input", once, "--epochs", 3, "--threads", 1)
        self.assertEqual(read_csv(built.stdout), expected)

    def test_a_run_of_epochs_resumes(self):
        self.counted_csv()
        command = ("counted.rml", "--input", "in.csv", "--epochs", 3, "--resume", "r.state", "--output", "out.csv")
        self.run_command(RMLC, "run", *command, "--cycles", 17)
        self.run_command(RMLC, "run", *command)
        self.assertEqual(read_csv((self.folder / "out.csv").read_text()),
                         self.rows("counted.rml", "--input", "in.csv", "--epochs", 3))

    def expected_order(self, segments, seed, epochs):
        return [x for epoch in range(1, epochs + 1) for k in order_of_epoch(len(segments), seed, epoch)
                for x in segments[k]]

    def test_shuffle_moves_whole_segments(self):
        segments = self.segments()
        expected = self.expected_order(segments, 5, 3)
        self.counted_csv()
        (self.folder / "in.jsonl").write_text("".join(
            json.dumps({"end": x == s[-1], "x": x}) + "\n" for s in segments for x in s))
        flat = [x for s in segments for x in s]
        ends = [x == s[-1] for s in segments for x in s]
        np.save(self.folder / "x.npy", np.array(flat, float))
        np.save(self.folder / "end.npy", np.array(ends))
        np.savez(self.folder / "in.npz", x=np.array(flat, float), end=np.array(ends))
        options = ("--epochs", 3, "--shuffle", "--seed", 5)
        for inputs in (["in.csv"], ["in.jsonl"], ["x=x.npy", "end=end.npy"], ["in.npz"], ["x=x.npy", "end=in.jsonl"]):
            arguments = [word for name in inputs for word in ("--input", name)]
            found = self.rows("counted.rml", *arguments, *options)
            self.assertEqual([float(row["y"]) for row in found], expected, inputs)
        # The sums restart with each segment, so segments stay whole.
        total, by_x = 0.0, {s[0] for s in segments}
        for row in self.rows("counted.rml", "--input", "in.csv", *options):
            total = float(row["y"]) + (0.0 if float(row["y"]) in by_x else total)
            self.assertEqual(float(row["total"]), total)
        self.assertNotEqual(expected[:len(flat)], expected[len(flat):2 * len(flat)])

    def test_shuffle_of_a_file_larger_than_a_buffer(self):
        rows = [(k, k * 7919 % 100003) for k in range(60000)]
        self.write("many.csv", csv_text(("x", "t"), rows))
        self.write("copy.rml", "node main(x: i32, t: i32) -> (y: i32, z: i32)\n  y = x;\n  z = t;\n")
        found = self.rows("copy.rml", "--input", "many.csv", "--shuffle", "--seed", 1)
        self.assertEqual([int(row["y"]) for row in found], order_of_epoch(len(rows), 1, 1))
        self.assertTrue(all(int(row["z"]) == rows[int(row["y"])][1] for row in found))

    def test_groups_end_where_the_column_changes(self):
        segments = self.segments()
        expected = self.rows("counted.rml", "--input", self.counted_csv())
        rows = [(f"g{k}", x) for k, s in enumerate(segments) for x in s]
        self.write("groups.csv", csv_text(("g", "x"), rows))
        self.write("groups.jsonl", "".join(json.dumps({"g": g, "x": x}) + "\n" for g, x in rows))
        for name in ("groups.csv", "groups.jsonl"):
            for option in ("g", "end=g"):
                self.assertEqual(self.rows("counted.rml", "--input", name, "--segments-by", option), expected)
        self.assertEqual(self.rows("counted.rml", "--segments-by", "g", input=csv_text(("g", "x"), rows)), expected)
        shuffled = self.rows("counted.rml", "--input", "groups.csv", "--segments-by", "g", "--shuffle", "--epochs", 2,
                             "--seed", 9)
        self.assertEqual([float(row["y"]) for row in shuffled], self.expected_order(segments, 9, 2))
        # A column that is an input, of a value that no text is read for.
        self.write("own.rml", "node main(g: f64, stop: bool) -> (y: f64, end: bool)\n  y = g;\n  end = stop;\n")
        self.write("own.csv", "g\n0.5\n0.5\n-1\n2\n2\n")
        found = self.rows("own.rml", "--input", "own.csv", "--segments-by", "stop=g")
        self.assertEqual([row["end"] for row in found], ["false", "true", "true", "false", "true"])

    def test_last_is_true_at_the_end_of_each_pass(self):
        self.write("last.rml", "node main(x: i32, done: bool) -> (y: i32, end: bool)\n  y = x;\n  end = done;\n")
        self.write("x.csv", "x\n1\n2\n3\n")
        for more, expected in (((), [3]), (("--epochs", 2), [3, 6]), (("--epochs", 2, "--shuffle"), [3, 6])):
            found = self.rows("last.rml", "--input", "x.csv", "--last", "done", *more)
            self.assertEqual([k + 1 for k, row in enumerate(found) if row["end"] == "true"], expected)
        self.assertEqual(self.rows("last.rml", "--last", "done", input="x\n"), [])
        self.assertEqual([row["end"] for row in self.rows("last.rml", "--last", "done", input="x\n7\n")], ["true"])

    # Rows of t = 3 x to learn from. The validation wants less, so it is best after a few epochs.
    def line_csv(self):
        draw = random.Random(3)
        x = [round(draw.uniform(-1, 1), 3) for _ in range(20)]
        self.write("train.csv", csv_text(("x", "t"), [(v, 3 * v) for v in x]))
        self.write("valid.csv", csv_text(("x", "t"), [(v, 2 * v) for v in x[:9]]))
        return x

    def line_by_hand(self, x, epochs):
        """The mean loss of each epoch, that of the validation, and the parameter."""
        w, found = 0.0, []
        for _ in range(epochs):
            losses = []
            for v in x:
                error = w * v - 3 * v
                losses.append(error * error)
                w -= 0.05 * error * v
            found.append((np.mean(losses), np.mean([(w * v - 2 * v) ** 2 for v in x[:9]]), w))
        return found

    def test_validation_stops_and_the_best_state_is_saved(self):
        by_hand = self.line_by_hand(self.line_csv(), 30)
        best = min(range(30), key=lambda k: by_hand[k][1])
        self.assertTrue(0 < best < 20)
        command = ("line.rml", "--input", "train.csv", "--validate", "valid.csv", "--epochs", 30, "--patience", 4)
        found = self.rows(*command, "--save", "best.state")
        self.assertEqual(len(found), best + 1 + 4)
        self.assertEqual([row["best"] for row in found], ["true"] * (best + 1) + ["false"] * 4)
        np.testing.assert_allclose([float(row["loss"]) for row in found], [e[0] for e in by_hand[:len(found)]], 1e-12)
        np.testing.assert_allclose([float(row["validation"]) for row in found],
                                   [e[1] for e in by_hand[:len(found)]], 1e-12)
        # The saved parameter is that of the best epoch.
        again = self.rows("line.rml", "--input", "valid.csv", "--load-params", "best.state", "--output", "-")
        self.assertAlmostEqual(float(again[0]["loss"]), (by_hand[best][2] - 2) ** 2 * self.line_csv()[0] ** 2)
        # Rows go where --output says, and then the lines to standard error.
        both = self.run_command(RMLC, "run", *command, "--output", "-")
        self.assertEqual(read_csv(both.stderr), found)
        self.assertEqual(len(read_csv(both.stdout)), 20 * len(found))
        self.run_command(RMLC, "build", "line.rml")
        built = self.run_command("./line", *command[1:], "--save", "built.state")
        self.assertEqual(read_csv(built.stdout), found)

    def test_without_a_validation_the_rows_of_the_epoch_are_measured(self):
        by_hand = self.line_by_hand(self.line_csv(), 4)
        found = self.rows("line.rml", "--input", "train.csv", "--epochs", 4, "--metric", "loss", "--goal", "most",
                          "--save", "first.state")
        np.testing.assert_allclose([float(row["loss"]) for row in found], [e[0] for e in by_hand], 1e-12)
        self.assertEqual([row["best"] for row in found], ["true", "false", "false", "false"])
        again = self.rows("line.rml", "--input", "train.csv", "--load-params", "first.state")
        self.assertAlmostEqual(float(again[0]["loss"]), (by_hand[0][2] - 3) ** 2 * self.line_csv()[0] ** 2)

    def test_a_network_learns_from_sequences(self):
        names = ("sequence", "x[0]", "x[1]", "label")
        self.write("train.csv", csv_text(names, sequences(800, 1)))
        self.write("valid.csv", csv_text(names, sequences(200, 2)))
        found = self.rows("sequences.rml", "--input", "train.csv", "--segments-by", "sequence", "--shuffle", "--seed",
                          4, "--validate", "valid.csv", "--epochs", 4, "--patience", 2, "--save", "best.state")
        losses = [float(row["validation"]) for row in found]
        self.assertLess(min(losses), 0.35)
        measured = self.rows("sequences.rml", "--input", "valid.csv", "--segments-by", "sequence", "--load-params",
                             "best.state", "--validate", "valid.csv", "--metric", "right", "--goal", "most")
        self.assertEqual(len(measured), 1)
        self.assertGreater(float(measured[0]["right"]), 0.85)

    def test_steps_of_sequences_weigh_by_their_rows(self):
        self.write("steps.rml", """
import nn;
import optim;
import recurrent;
node score(end: bool, x: f64[2]) -> (y)
  y = nn.dense(1, recurrent.gru_end(4, end, x))[0];
node per_row(rows, act, g, p) -> (step)
  step = optim.adam(0.02, act, g / rows, p);
node main(end: bool, x: f64[2] dealt end by 3, label: f64 dealt end by 3)
    -> (loss: f64 when end, rows: f64 when last, last: bool)
  count = 1.0 + fby_end(end, 0.0, count);
  rows, last = all_sum(count when end);
  y, _ = diff[per_row(rows)] score(end, x, true, sigmoid(y) - label);
  loss = (softplus(y) - label * y) when end;
""")
        self.write("train.csv", csv_text(("sequence", "x[0]", "x[1]", "label"), sequences(60, 1)))
        command = ("steps.rml", "--input", "train.csv", "--segments-by", "sequence", "--shuffle", "--epochs", 3)
        self.assertEqual(self.run_command(RMLC, "check", "steps.rml").stderr.count("warning"), 0)
        found = self.rows(*command, "--validate", "train.csv")
        self.assertLess(float(found[2]["validation"]), float(found[0]["validation"]))
        rows = self.rows(*command)
        counts = {}
        for name, *_ in sequences(60, 1):
            counts[name] = counts.get(name, 0) + 1
        order = [k for epoch in (1, 2, 3) for k in order_of_epoch(60, 0, epoch)]
        self.assertEqual([float(row["rows"]) for row in rows if row["rows"]],
                         [sum(counts[f"s{k}"] for k in order[at:at + 3]) for at in range(0, 180, 3)])
        # Two ranks learn the same parameters, to the bit.
        for ranks in (1, 2):
            self.run_command(RMLC, "run", *command, "--ranks", ranks, "--quiet", "--output", f"rows{ranks}.csv", "--save",
                             f"{ranks}.state")
        alone, together = ([row["loss"] for row in read_csv((self.folder / f"rows{k}.csv").read_text()) if row["loss"]]
                           for k in (1, 2))
        self.assertEqual((len(alone), len(together)), (180, 120))
        self.assertLessEqual(set(together), set(alone))
        one, two = (self.rows("steps.rml", "--input", "train.csv", "--segments-by", "sequence", "--load-params", f"{k}.state",
                              "--validate", "train.csv") for k in (1, 2))
        self.assertEqual(one, two)
        self.refused(*command, "--ranks", 2, "--metric", "loss", words="each rank has only a part of the rows")

    def test_the_input_must_be_readable_again(self):
        self.counted_csv()
        for option in (("--epochs", 2), ("--repeat",), ("--shuffle",)):
            self.refused("counted.rml", *option, input="end,x\ntrue,1\n",
                         words=f"{option[0]}: standard input is no regular file, and can be read only once")
            self.refused("counted.rml", *option, "--input", "tcp://localhost:9",
                         words=f"{option[0]}: 'tcp://localhost:9' is a live input, whose rows come once")
        os.mkfifo(self.folder / "pipe.csv")
        self.refused("counted.rml", "--epochs", 2, "--input", "pipe.csv", words="'pipe.csv' is no regular file")
        for option in ("--last", "--segments-by"):
            self.refused("counted.rml", option, "end" if option == "--last" else "g", "--input", "tcp://localhost:9",
                         words=f"{option}: 'tcp://localhost:9' is a live input, and only the next row")
        self.run_command("gzip", "-k", "in.csv")
        self.refused("counted.rml", "--shuffle", "--input", "in.csv.gz", words="can only be read in order")
        self.write("empty.csv", "end,x\n")
        self.refused("counted.rml", "--repeat", "--input", "empty.csv", status=1, words="there are no rows to read again")

    def test_options_that_need_others(self):
        self.line_csv()
        line = ("line.rml", "--input", "train.csv")
        self.refused(*line, "--epochs", 0, words="--epochs: '0': must be 1 or more")
        self.refused(*line, "--epochs", -1, words="--epochs: '-1': must be 0 or more")
        self.refused(*line, "--epochs", 2, "--repeat", words="--repeat: the passes have no end")
        self.refused(*line, "--epochs", 2, "--patience", 1, words="give the rows for it, --validate FILE")
        self.refused(*line, "--validate", "valid.csv", "--patience", 1, words="give the greatest number of epochs")
        self.refused(*line, "--goal", "most", words="--goal: give the metric")
        self.refused(*line, "--metric", "los", words="no output 'los'; did you mean 'loss'?")
        self.refused(*line, "--epochs", 2, "--validate", "-", words="the rows are read after each epoch; give a file")
        self.refused(*line, "--epochs", 2, "--keep", "x", words="--keep x: its cells belong to rows that are read once")
        self.refused(*line, "--epochs", 2, "--key", "k", words="--key: --epochs is for the rows of one instance")
        self.refused(*line, "--validate", "valid.csv", "--save", "valid.csv", words="the file is an input or output")
        self.refused("counted.rml", "--validate", "in.csv", "--input", "in.csv", words="no output 'loss'; name the output")
        for suffix in ("parquet", "arrow", "feather"):
            self.refused("line.rml", "--input", f"x.{suffix}", "--shuffle", "--epochs", 2,
                         words="rows come in their order; convert it, for example in Python: pyarrow.csv")
        self.refused(*line, "--save-params", "p", words="--save FILE writes the parameters")

    def test_wrong_groups(self):
        self.write("back.csv", "g,x\na,1\nb,2\na,3\n")
        self.refused("counted.rml", "--input", "back.csv", "--segments-by", "g", status=1,
                     words="back.csv:4:1: --segments-by g: 'a' comes back after 'b', but the rows of a group must follow "
                           "one another; sort the file by 'g'")
        self.refused("counted.rml", "--input", "back.csv", "--segments-by", "h", status=1,
                     words="back.csv:1: no column 'h' for the groups")
        self.refused("counted.rml", "--input", "back.csv", "--segments-by", "fin=g",
                     words="the node has no input 'fin'; its Boolean inputs are: end")
        self.refused("counted.rml", "--input", "back.csv", "--segments-by", "x=g", words="'x' is f64, clock base; it must")
        self.refused("line.rml", "--input", "back.csv", "--segments-by", "g", words="no Boolean input that could end")
        self.refused("counted.rml", "--input", "back.csv", "--segments-by", "g", "--last", "end",
                     words="--last end: --segments-by computes this input")
        self.refused("counted.rml", "--input", "back.csv", "--last", "done", words="no input 'done'")
        self.write("open.csv", "end,x\nfalse,1\ntrue,2\nfalse,3\n")
        self.refused("counted.rml", "--input", "open.csv", "--shuffle", status=1,
                     words="'end' is false in the last row, so the last segment has no end")

    def test_wide_parameters_are_rounded_only_on_request(self):
        self.write("wide.rml", "node main(x: f64) -> (y: f64)\n  w = param(0.1);\n  y = w * x;\n")
        self.write("huge.rml", "node main(x: f64) -> (y: f64)\n  w = param(1.0e300);\n  y = w * x;\n")
        for type_ in ("f32", "f16", "bf16"):
            self.write(f"{type_}.rml", f"node main(x: f32) -> (y: f32)\n  w = param(cast({type_}, 0.0));\n"
                                       "  y = cast(f32, w) * x;\n")
        self.write("one.csv", "x\n1\n")
        for name in ("wide", "huge"):
            self.run_command(RMLC, "run", name + ".rml", "--input", "one.csv", "--save", name + ".state")
        for type_ in ("f32", "f16", "bf16"):
            command = (type_ + ".rml", "--input", "one.csv", "--load-params")
            self.refused(*command, "wide.state", status=1, words="--cast-params rounds it")
            done = self.run_command(RMLC, "run", *command, "wide.state", "--cast-params")
            self.assertIn("wide.state: 1 parameter is rounded to the types of 'main'", done.stderr)
            self.assertAlmostEqual(float(read_csv(done.stdout)[0]["y"]), 0.1, 3)
            self.refused(*command, "huge.state", "--cast-params", status=1, words="too large for that type")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
