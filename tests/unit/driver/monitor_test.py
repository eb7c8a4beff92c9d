"""Monitoring of a training: pictures, event files, the place of a NaN. monitor_test.py RMLC."""

import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

RMLC = sys.argv.pop(1)

REGRESSION = """
const rate: f64 = 0.05;
node model(x: f64, target: f64) -> (loss: f64)
  w = param(0.0);
  trained = w fby trained - rate * error * x;
  error = trained * x - target;
  loss = error * error;
node main() -> (loss: f64, rows: i64)
  x = uniform([], -1.0, 1.0);
  loss = model(x, 3.0 * x);
  rows = 1 fby rows + 1;
"""


def rmlc(*arguments, **options):
    return subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


class Monitor(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.file = self.folder / "regression.rml"
        self.file.write_text(REGRESSION)

    def tearDown(self):
        self.place.cleanup()

    def run_it(self, *arguments):
        done = rmlc("run", self.file, "--output", self.folder / "o.csv", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_picture_of_a_run_that_goes_on_is_that_of_one_run(self):
        whole, parts = self.folder / "whole.svg", self.folder / "parts.svg"
        self.run_it("--cycles", 5000, "--plot", whole)
        for cycles in (1234, 5000):
            self.run_it("--cycles", cycles, "--plot", parts, "--resume", self.folder / "state")
        self.assertEqual(whole.read_text(), parts.read_text())
        root = xml.etree.ElementTree.parse(whole).getroot()
        texts = [t.text for t in root.iter("{http://www.w3.org/2000/svg}text")]
        for text in (f"main ({self.file})", "cycle", "loss (logarithmic)", "rows", "5k"):
            self.assertIn(text, texts)

    def refused(self, message, *arguments, status=2):
        before = sorted(self.folder.iterdir())
        done = rmlc("run", self.file, "--cycles", 5, "--output", "o.csv", *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (status, message + "\n"))
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_wrong_pictures(self):
        self.refused("--plot p.svg?scale=foo: 'scale=foo': the scale is log or linear", "--plot", "p.svg?scale=foo")
        self.refused("--plot p.svg?size=0x0: 'size=0x0': the size is WIDTHxHEIGHT in pixels, each from 200 to 20000, such as "
                     "size=900x500", "--plot", "p.svg?size=0x0")
        self.refused("--plot p.svg?sacle=log: unknown field 'sacle' (the fields are scale, size and title); "
                     "did you mean 'scale'?", "--plot", "p.svg?sacle=log")
        self.refused("--plot p.jpg: the name of a picture ends with .svg, .png or .pdf", "--plot", "p.jpg")
        self.refused("--plot plot: the name of a picture ends with .svg, .png or .pdf", "--plot", "plot")

    def test_other_pictures_need_a_program(self):
        """A program that stands for rsvg-convert shows how it is called."""
        folder = self.folder / "bin"
        folder.mkdir()
        env = {"PATH": str(folder)}
        command = [RMLC, "run", self.file, "--cycles", "5", "--output", "o.csv", "--plot"]
        for name in ("p.png", "p.PDF"):
            done = subprocess.run([*command, name], cwd=self.folder, env=env, capture_output=True, text=True, check=False)
            suffix = name[-3:].lower()
            self.assertEqual((done.returncode, done.stderr),
                             (2, f"--plot {name}: {suffix} needs the program rsvg-convert, which is not on the PATH; install "
                                 "librsvg (Debian: librsvg2-bin), or write p.svg\n"))
            self.assertFalse((self.folder / "o.csv").exists())
        program = folder / "rsvg-convert"
        program.write_text('#!/bin/sh\necho "$@"\nexec /bin/cat\n')
        program.chmod(0o755)
        subprocess.run([*command, "p.svg"], cwd=self.folder, env=env, check=True)
        subprocess.run([*command, "p.png?size=300x200"], cwd=self.folder, env=env, check=True)
        first, rest = (self.folder / "p.png").read_text().split("\n", 1)
        self.assertEqual(first, "--format=png")
        self.assertIn('width="300.00" height="200.00"', rest)
        program.write_text("#!/bin/sh\necho no font >&2\nexit 1\n")
        done = subprocess.run([*command, "p.png"], cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "cannot write 'p.png': rsvg-convert failed: no font\n"))
        self.assertTrue((self.folder / "p.png").read_text().startswith("--format=png"))

    def test_png_and_pdf(self):
        if not shutil.which("rsvg-convert"):
            self.skipTest("no rsvg-convert")
        program = self.folder / "program"
        done = rmlc("build", self.file, "-o", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name, head in (("p.png", b"\x89PNG"), ("p.pdf", b"%PDF")):
            subprocess.run([program, "--cycles", "50", "--output", self.folder / "o.csv", "--plot",
                            f"{self.folder / name}?size=640x480"], check=True)
            picture = (self.folder / name).read_bytes()
            self.assertTrue(picture.startswith(head))
            if name == "p.png":
                self.assertEqual(struct.unpack(">II", picture[16:24]), (640, 480))

    def test_earlier_runs_in_the_picture(self):
        for suffix in ("csv", "jsonl", "npz", "chron", "csv.gz"):
            done = rmlc("run", self.file, "--cycles", 40, "-D", "rate=0.01", "--output", self.folder / f"old.{suffix}")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        picture = self.folder / "p.svg"
        last = (self.folder / "old.csv").read_text().split()[-1].split(",")[0]
        for suffix in ("csv", "jsonl", "npz", "chron", "csv.gz"):
            done = rmlc("run", self.file, "--cycles", 50, "--output", "o.csv", "--plot", "p.svg?title=Two%20runs",
                        "--plot-also", f"old.{suffix}", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            text = picture.read_text()
            self.assertIn(">Two runs<", text)
            self.assertRegex(text, f">loss of old.{suffix}<tspan[^>]*>{float(last):.4g}<")
        self.run_it("--cycles", 50, "--plot", picture, "--monitor", "rows", "--plot-also", self.folder / "old.csv")
        self.assertNotIn("loss of", picture.read_text())

    def test_wrong_earlier_runs(self):
        (self.folder / "rows.csv").write_text("rows\n1\n2\n")
        (self.folder / "rows.jsonl").write_text('{"rows": 1}\n')
        (self.folder / "bad.csv").write_text("rows,loss\n1,0.5\n2,many\n")
        remedy = "; choose the outputs that the picture shows with --monitor"
        plot = ("--plot", "p.svg", "--plot-also")
        self.refused("--plot-also rows.csv: rows.csv:1: no column 'loss' for output 'loss' (f64)" + remedy, *plot, "rows.csv",
                     status=1)
        self.refused("--plot-also rows.jsonl: no row has a value of output 'loss'" + remedy, *plot, "rows.jsonl", status=1)
        self.refused("--plot-also bad.csv: bad.csv:3:3: cycle 1: column 'loss': 'many' is not an f64", *plot, "bad.csv",
                     status=1)
        self.refused("--plot-also no.csv: cannot open 'no.csv': No such file or directory", *plot, "no.csv", status=1)
        self.refused("--plot-also: give the file of the picture, --plot FILE", "--plot-also", "rows.csv")
        self.refused("--output rows.csv: the file is one that --plot-also reads", "--output", "loss=rows.csv", "--monitor",
                     "rows", *plot, "rows.csv")
        self.refused("--plot rows.csv: the file is one that --plot-also reads", "--monitor", "rows", "--plot", "rows.csv",
                     "--plot-also", "rows.csv")

    def test_monitored_outputs_only(self):
        self.run_it("--cycles", 50, "--plot", self.folder / "p.svg", "--monitor", "rows")
        text = (self.folder / "p.svg").read_text()
        self.assertIn(">rows<", text)
        self.assertNotIn(">loss<", text)

    def test_tensorboard_reads_the_log(self):
        try:
            from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        except ImportError:
            self.skipTest("the Python package tensorboard is not installed")
        log = self.folder / "log"
        # The first run continues after its last state; its later points are dropped.
        self.run_it("--cycles", 100, "--save", self.folder / "state")
        (self.folder / "o.csv").unlink()
        for cycles in (40, 120):
            self.run_it("--cycles", cycles, "--log", log, "--resume", self.folder / "resumed")
        events = EventAccumulator(str(log), size_guidance={"scalars": 0})
        events.Reload()
        self.assertEqual(sorted(events.Tags()["scalars"]), ["loss", "rows"])
        self.assertEqual([e.step for e in events.Scalars("rows")], list(range(120)))
        self.assertEqual([e.value for e in events.Scalars("rows")], [float(n) for n in range(1, 121)])

    def test_where_a_nan_comes_from(self):
        self.file.write_text(
            "node layer(x: f64) -> (y: f64)\n"
            "  w = param(1.0);\n"
            "  moved = w fby moved * x;\n"
            "  y = sqrt(moved);\n"
            "node main(x: f64) -> (z: f64)\n"
            "  z = layer(x) + 1.0;\n"
        )
        rows = self.folder / "x.csv"
        rows.write_text("x\n2\n-3\n5\n1\n")
        done = rmlc("run", self.file, "--input", rows, "--on-nan", "stop")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "z\n2\n2.414213562373095\n")
        self.assertEqual(done.stderr, f"{self.file}:6:7: cycle 2: not a number: z = layer(x) + 1.0\n")
        rows.write_text("x\n2\ninf\n5\n1\n")
        done = rmlc("run", self.file, "--input", rows, "--on-nan", "stop")
        self.assertEqual(done.stderr, f"{self.file}:3:11: cycle 1: infinite: moved = w fby moved * x, in layer\n")
        done = rmlc("run", self.file, "--input", rows, "--on-nan", "continue", "--engine", "reference")
        self.assertEqual((done.returncode, done.stderr), (0, f"{self.file}:6:7: cycle 2: infinite: z\n"))

    LAYER = (
        "node layer(x: f64) -> (y: f64)\n"
        "  w = param(1.0);\n"
        "  moved = w fby moved * x;\n"
        "  y = sqrt(moved);\n"
        "node main(x: f64) -> (z: f64, s: f64)\n"
        "  z = layer(x) + 1.0;\n"
        "  c = x > 4.0;\n"
        "  big = (x * cast(f64, iota(64))) when c;\n"
        "  s = merge c sum(big) 0.0;\n"
    )

    def test_watched_variables(self):
        self.file.write_text(self.LAYER)
        rows = self.folder / "x.csv"
        rows.write_text("x\n2\n5\n")
        expected = (
            "cycle 0: layer.moved = 1\ncycle 0: layer.y = 1\n"
            "cycle 1: layer.moved = 2\ncycle 1: layer.y = 1.4142135623730951\ncycle 1: big = f64[64], from 0 to 315\n"
        )
        for engine in ("compiled", "reference"):
            done = rmlc("run", self.file, "--input", rows, "--output", "z=" + str(self.folder / "z.csv"), "--engine", engine,
                        "--watch", "layer.*o*d", "--watch", "layer.?", "--watch", "big")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(done.stderr.splitlines()),
                             sorted((expected + "cycle 0: layer.w = 1\ncycle 0: layer.x = 2\n"
                                     "cycle 1: layer.w = 1\ncycle 1: layer.x = 5\n").splitlines()))
            self.assertEqual((self.folder / "z.csv").read_text(), "z\n2\n2.414213562373095\n")
        # An executable has the options with which it was built, and prints them on request.
        program = self.folder / "program"
        done = rmlc("build", self.file, "-o", program, "--watch", "layer.*")
        self.assertEqual(done.returncode, 0, done.stderr)
        command = [program, "--input", rows, "--output", "z=" + str(self.folder / "z.csv")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        log = self.folder / "watched.txt"
        done = subprocess.run([*command, "--watch", "*.y", "--watch-file", log], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(log.read_text(), "cycle 0: layer.y = 1\ncycle 1: layer.y = 1.4142135623730951\n")
        done = subprocess.run([*command, "--watch", "big"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--watch big: no watched variable matches", done.stderr)

    def test_watches_that_match_nothing(self):
        self.file.write_text(self.LAYER)
        done = rmlc("run", self.file, "--watch", "layer.z", "--input", "x.csv")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[E0201]: no variable 'layer.z' to watch in 'main'", done.stderr)
        self.assertIn("did you mean 'layer.", done.stderr)
        done = rmlc("run", self.file, "--watch", "y", "--input", "x.csv")
        self.assertIn("did you mean 'layer.y'?", done.stderr)
        done = rmlc("build", self.file, "--emit", "lib", "--watch", "*")
        self.assertEqual((done.returncode, done.stderr), (2, "rmlc: --watch works with programs only, not with --emit lib\n"))

    def test_the_first_equation_that_is_not_finite(self):
        self.file.write_text(self.LAYER)
        rows = self.folder / "x.csv"
        rows.write_text("x\n2\n-3\n1\n1\n")
        for engine in ("compiled", "reference"):
            done = rmlc("run", self.file, "--input", rows, "--on-nan", "stop", "--watch", "*", "--watch-file",
                        self.folder / "log", "--engine", engine, "--output", self.folder / "o.csv")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r":4:7: cycle 2: not a number: (y = sqrt\(moved\), in layer|layer\.y)\n$")

    def test_where_the_time_goes(self):
        self.file.write_text(
            "node layer(x: f64[256]) -> (y: f64[256])\n"
            "  w = normal([256, 256], 0.0, 0.01);\n"
            "  y = matmul(w, x);\n"
            "node main() -> (s: f64)\n"
            "  x = full([256], 1.0) fby layer(x);\n"
            "  s = sum(x);\n"
        )
        trace = self.folder / "trace.json"
        done = rmlc("run", self.file, "--cycles", 200, "--profile", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.splitlines()[0], r"^ *[0-9.]+ %  normal f64\[256, 256\]: w = normal")
        profile = json.loads(trace.read_text())
        totals = profile["otherData"]["totals"]
        self.assertEqual(totals, sorted(totals, key=lambda t: -t["seconds"]))
        self.assertEqual(totals[0]["at"], f"{self.file}:2:7")
        self.assertIn("in layer", totals[0]["name"])
        spans = [e for e in profile["traceEvents"] if e["ph"] == "X"]
        for before, after in zip(spans, spans[1:]):
            self.assertAlmostEqual(before["ts"] + before["dur"], after["ts"], places=2)
        self.assertAlmostEqual(sum(e["dur"] for e in spans) / 1e6, sum(t["seconds"] for t in totals), places=5)
        done = rmlc("run", self.file, "--cycles", 20, "--profile", trace, "--engine", "reference", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("compute", [t["name"] for t in json.loads(trace.read_text())["otherData"]["totals"]])
        done = rmlc("run", self.file, "--cycles", 2, "--profile", self.folder / "no" / "trace.json")
        self.assertEqual(done.returncode, 1)
        self.assertIn("trace.json", done.stderr)

    def test_a_segment_tells_the_cycle_of_the_row(self):
        self.file.write_text(
            "node main(end: bool, x: f64) -> (y: f64)\n"
            "  y = log(x) + (if end then 0.0 else post y);\n"
        )
        rows = self.folder / "x.csv"
        rows.write_text("end,x\nF,1\nT,1\nF,1\nF,-1\nT,1\n")
        done = rmlc("run", self.file, "--input", rows, "--on-nan", "stop")
        self.assertEqual(done.stdout, "y\n0\n0\n")
        self.assertIn("cycle 2: not a number: y = log(x) + (if end then 0.0 else post y)", done.stderr)


unittest.main(verbosity=0)
