"""The pictures of `rmlc show graph` and `rmlc show tasks` must be legible: picture_test.py
RMLC SOURCE.

The file is measured as a browser would show it: a point is 4/3 pixels, and the size of letters
gives the scale of the drawing. The programs are the one of the tutorial and two larger ones."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

RMLC, SOURCE = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
SVG = "{http://www.w3.org/2000/svg}"
NESTED = """
node inner(x) -> (y)
  y = x + (0.0 fby y);
node around(x) -> (y)
  y = inner(2.0 * x);
node main(x: f64) -> (y: f64)
  y = around(x);
"""

WORDS = """
node half(y) -> (o)
  o = (y + 1.0) / y;
node main(e: bool, x: f64) -> (y: f64, total: f64, n: i64)
  first = true fby e;
  p = 0.5 fby (if first then p - 0.1 * (x + w) else p);
  w = if first then p else (0.0 fby w);
  y = w * x;
  total = half(y) + x;
  n = 1 fby n + 1;
"""


def tutorial():
    page = (SOURCE / "docs" / "tutorial.md").read_text()
    return re.search(r"```rml\n-- file: recall\.rml\n(.*?)```", page, re.S).group(1)


class Drawn:
    def __init__(self, text):
        root = ElementTree.fromstring(text)
        self.width, self.height = (float(root.get(side).removesuffix("pt")) * 4 / 3 for side in ("width", "height"))
        graph = root.find(f"{SVG}g")
        scale = float(re.search(r"scale\(([\d.]+)", graph.get("transform")).group(1))
        # Sizes without a unit are in points, the unit of the drawing.
        self.letters = min(float(t.get("font-size")) for t in root.iter(f"{SVG}text")) * scale * 4 / 3
        self.boxes = [g for g in graph.iter(f"{SVG}g") if g.get("class") == "node"]
        self.frames = [g for g in graph.iter(f"{SVG}g") if g.get("class") == "cluster"]
        self.text = "\n".join(t.text or "" for t in root.iter(f"{SVG}text"))

    def corners(self):
        for box in self.boxes:
            shape = box.find(f".//{SVG}polygon")
            if shape is not None:
                points = [tuple(map(float, p.split(","))) for p in shape.get("points").split()]
                yield min(p[0] for p in points), min(p[1] for p in points), max(p[0] for p in points), max(
                    p[1] for p in points)


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_rmlc(self, *arguments):
        return subprocess.run([RMLC, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=120)

    def show(self, phase, text, *options, output="picture.svg"):
        source = text if isinstance(text, pathlib.Path) else self.folder / "program.rml"
        if isinstance(text, str):
            source.write_text(text)
        done = self.run_rmlc("show", phase, source, "-o", output, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return (self.folder / output).read_text()

    def test_pages_can_be_read(self):
        if not shutil.which("dot"):
            self.skipTest("no Graphviz")
        examples = SOURCE / "examples"
        cases = [(tutorial(), ["--node", "learn"]), (examples / "charlm" / "charlm.rml", []),
                 (examples / "digits" / "digits.rml", [])]
        for program, options in cases:
            for phase, more in (("graph", []), ("tasks", []), ("tasks", ["--grain", "op"])):
                with self.subTest(program=str(program)[-20:], phase=phase, more=more):
                    drawn = Drawn(self.show(phase, program, *options, *more))
                    self.assertLessEqual(len(drawn.boxes), 40)
                    self.assertGreaterEqual(len(drawn.boxes), 4)
                    self.assertLessEqual(drawn.width, 1600.5)
                    self.assertLessEqual(drawn.height, 1000.5)
                    self.assertGreaterEqual(drawn.letters, 9)
                    self.assertIn("Legend", drawn.text)
                    corners = list(drawn.corners())
                    for k, (left, top, right, bottom) in enumerate(corners):
                        for l, t, r, b in corners[k + 1:]:
                            self.assertFalse(left < r and l < right and top < b and t < bottom, "boxes overlap")

    def test_closed_instances_say_what_they_hold(self):
        if not shutil.which("dot"):
            self.skipTest("no Graphviz")
        drawn = Drawn(self.show("graph", tutorial(), "--node", "learn"))
        self.assertRegex(drawn.text, r"(?m)^lstm_end: \d{2,} equations$")
        tasks = Drawn(self.show("tasks", tutorial(), "--node", "learn", "--grain", "op"))
        self.assertRegex(tasks.text, r"(?m): \d+ tasks$")

    def test_depth(self):
        # main has x, y; `around` has the product; `inner` has the sum and its memory.
        for depth in range(3):
            dot = self.show("graph", NESTED, "--depth", str(depth), output="picture.dot")
            self.assertEqual(dot.count("subgraph cluster"), depth)
            self.assertEqual("around: 3 equations\\nkeeps 1 value" in dot, depth == 0, dot)
            self.assertEqual("inner: 2 equations\\nkeeps 1 value" in dot, depth == 1, dot)
        self.assertEqual(self.show("graph", NESTED, "--depth", "9", output="picture.dot"), dot)
        # Without a depth, every equation is a box, and instances are frames.
        dot = self.show("graph", NESTED, output="picture.dot")
        boxes = re.findall(r"^ *b\d+ \[label=", dot, re.M)
        self.assertEqual(len(boxes), 5)
        self.assertEqual(dot.count("subgraph cluster"), 2)
        self.assertRegex(dot, r"b\d+ -> b\d+ \[style=dashed, color=\"#0072B2\"\];")

    def test_boxes_have_the_words_of_the_source(self):
        dot = self.show("graph", WORDS, output="picture.dot")
        labels = [label.split("\\n")[0] for label in re.findall(r'^ *b\d+ \[label="([^"]*)"', dot, re.M)]
        for label in ("p = 0.5 fby (if first then p - 0.1 * (x + p) else p)", "w = if first then p else (0 fby w)",
                      "y = w * x", "o = (y + 1) / y", "n = 1 fby n + 1", "first = true fby e", "x"):
            self.assertIn(label, labels)
        # Of other variables, those of the same instance have no path.
        self.assertIn("total = half.o + x", labels)

    def test_schedules_have_the_words_of_the_source(self):
        (self.folder / "program.rml").write_text(WORDS)
        shown = self.run_rmlc("show", "schedule", "program.rml").stdout
        self.assertNotIn("%", shown)
        lines = [line.strip() for line in shown.splitlines()]
        for line in ("forward unit 0: clock base", "reads e", "if first then p - 0.1 * (x + p) else p", "half.o", "n + 1", "total"):
            self.assertIn(line, lines)
        (self.folder / "program.rml").write_text("node main(end: bool, x: f64) -> (y: f64)\n"
                                                 "  y = x + (if end then 0.0 else post post y);\n")
        shown = self.run_rmlc("show", "schedule", "program.rml").stdout
        self.assertIn("\n  y := x + (if end then 0 else post post y)\n", shown)

    def test_legend_tells_of_what_is_there(self):
        causal = self.show("graph", NESTED, output="picture.dot")
        self.assertIn("(fby)", causal)
        self.assertNotIn("(post)", causal)
        looking = self.show("graph", "node main(x: f64) -> (y: f64)\n  y = post x;\n", output="picture.dot")
        self.assertIn("(post)", looking)
        self.assertNotIn("(fby)", looking)

    def test_depth_is_of_pictures(self):
        (self.folder / "program.rml").write_text(NESTED)
        for arguments in (["core"], ["tasks"], ["ast", "-o", "x.svg"]):
            done = self.run_rmlc("show", arguments[0], "program.rml", "--depth", "1", *arguments[1:])
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--depth applies to pictures", done.stderr)
            self.assertEqual([f.name for f in self.folder.iterdir()], ["program.rml"])
        self.assertEqual(self.run_rmlc("show", "graph", "program.rml", "--depth", "-1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
