"""Parameters that are given, renamed, loaded in part, and frozen: parameters_test.py RMLC.

NumPy computes the expected values here.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

RMLC = sys.argv.pop(1)

NET = """
node dense(x: f64[2]) -> (y: f64[2])
  kernel = param([[1.0, 2.0], [3.0, 4.0]]);
  bias = param([0.5, -0.5]);
  y = matmul(kernel, x) + bias;
node head(h: f64[2]) -> (y: f64)
  w = param([1.0, -1.0]);
  y = sum(w * h);
node net(x: f64[2]) -> (y: f64)
  y = head(dense(x));
"""
TRAINED = NET + """
node crit(x: f64[2], t: f64) -> (l: f64)
  y = net(x);
  l = (y - t) * (y - t);
node main(x: f64[2], t: f64) -> (l: f64)
  l, _, _ = diff crit(x, t, true, -0.01);
"""
ROWS = [([1.0, 2.0], 1.0), ([-1.0, 0.5], 0.0), ([0.25, -2.0], -1.0)]


class Parameters:
    """The learned parameters of the network, by the same descent written by hand."""

    def __init__(self, frozen=()):
        self.kernel, self.bias = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -0.5])
        self.w = np.array([1.0, -1.0])
        self.frozen = frozen

    def output(self, x):
        return self.w @ (self.kernel @ x + self.bias)

    def train(self, rows):
        losses = []
        for x, t in rows:
            x = np.array(x)
            h = self.kernel @ x + self.bias
            error = self.w @ h - t
            losses.append(error * error)
            by_y = -0.01 * 2 * error
            steps = {"kernel": by_y * np.outer(self.w, x), "bias": by_y * self.w, "w": by_y * h}
            for name, step in steps.items():
                if name not in self.frozen:
                    setattr(self, name, getattr(self, name) + step)
        return losses


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack("<Q", data[:8])
    types = {"F64": "<f8", "F32": "<f4"}
    return {name: np.frombuffer(data[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]],
                                types[t["dtype"]]).reshape(t["shape"])
            for name, t in json.loads(data[8:8 + length]).items() if name != "__metadata__" and t["dtype"] in types}


def write(path, values):
    head, body = {}, b""
    for name, value in values.items():
        head[name] = {"dtype": {"f8": "F64", "f4": "F32"}[value.dtype.str[1:]], "shape": list(value.shape),
                      "data_offsets": [len(body), len(body) + value.nbytes]}
        body += value.tobytes()
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


class Given(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        (self.folder / "net.rml").write_text(NET)
        (self.folder / "trained.rml").write_text(TRAINED)
        self.rows = "x[0],x[1],t\n" + "".join(f"{x[0]},{x[1]},{t}\n" for x, t in ROWS)
        self.learned = Parameters()
        losses = self.learned.train(ROWS)
        done = self.right("run", "trained.rml", "--save", "trained.state", text=self.rows)
        self.assertEqual(self.values(done), np.array(losses).round(12).tolist())

    def rmlc(self, *arguments, text="x[0],x[1]\n1,2\n-1,0.5\n"):
        return subprocess.run([RMLC, *map(str, arguments)], input=text, capture_output=True, text=True, timeout=60,
                              cwd=self.folder)

    def right(self, *arguments, **more):
        done = self.rmlc(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def wrong(self, *arguments, status=1):
        done = self.rmlc(*arguments)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        return done.stderr

    def infer(self, *arguments):
        return self.right("run", "net.rml", "--node", "net", "--strict-math", *arguments)

    def values(self, done):
        return np.array([float(line) for line in done.stdout.split("\n")[1:-1]]).round(12).tolist()

    def expected(self, of):
        return np.array([of.output(np.array(x)) for x in ([1, 2], [-1, 0.5])]).round(12).tolist()

    # ---- names

    def test_a_pattern(self):
        for engine in ("compiled", "reference"):
            done = self.infer("--load-params", "trained.state", "--map", "crit.net.*=*", "--engine", engine)
            self.assertEqual(self.values(done), self.expected(self.learned))
            self.assertEqual(done.stderr, "")

    def test_several_patterns(self):
        values = tensors(self.folder / "trained.state")
        write(self.folder / "other", {"enc_dense_weight": values["crit.net.dense.kernel"],
                                      "enc_dense_b": values["crit.net.dense.bias"], "head.w": values["crit.net.head.w"]})
        done = self.infer("--load-params", "other", "--map", "enc_*_weight=*.kernel", "--map", "enc_*_b=*.bias")
        self.assertEqual(self.values(done), self.expected(self.learned))
        # A rule without a pattern has priority, wherever it is in the list.
        done = self.infer("--load-params", "other", "--map", "enc_*_*=*.*", "--map", "enc_dense_weight=dense.kernel",
                          "--map", "enc_dense_b=dense.bias")
        self.assertEqual(self.values(done), self.expected(self.learned))

    def test_a_pattern_for_a_state(self):
        renamed = TRAINED.replace("crit", "judge")
        (self.folder / "judge.rml").write_text(renamed)
        done = self.right("run", "judge.rml", "--load", "trained.state", "--map", "crit.*=judge.*", text=self.rows)
        again = Parameters()
        again.train(ROWS)
        self.assertEqual(self.values(done), np.array(again.train(ROWS)).round(12).tolist())

    def test_patterns_that_are_wrong(self):
        load = ("run", "net.rml", "--node", "net", "--load-params", "trained.state", "--map")
        self.assertIn("--map 'crit.net.*=x': OLD and NEW need equally many *", self.wrong(*load, "crit.net.*=x", status=2))
        self.assertIn("OLD and NEW need equally many *", self.wrong(*load, "crit=*", status=2))
        self.assertIn("--map 'cirt.*=*': no name in trained.state matches 'cirt.*'", self.wrong(*load, "cirt.*=*"))
        self.assertIn("--map gives both", self.wrong(*load, "crit.net.dense.kernel=dense.k", "--map", "crit.net.dense.bias=dense.k"))
        said = self.wrong(*load, "crit.net.*=*", "--map", "crit.*=a.*")
        self.assertIn("by --map 'crit.net.*=*', but 'a.net.", said)
        write(self.folder / "abab", {"a.b.a.b.c": np.zeros(2)})
        said = self.wrong("run", "net.rml", "--node", "net", "--load-params", "abab", "--map", "*.b*=*_*")
        self.assertIn("--map '*.b*=*_*': it matches 'a.b.a.b.c' in several ways, which give 'a_.a.b.c' and 'a.b.a_.c'", said)

    def test_what_is_missing_comes_with_a_way(self):
        said = self.wrong("run", "net.rml", "--node", "net", "--load-params", "trained.state")
        self.assertIn("not the parameters of 'net':", said)
        self.assertIn("no parameter 'dense.kernel' (f64[2,2]) in the file", said)
        self.assertIn("--map 'crit.net.*=*' finds most of the missing parameters", said)
        write(self.folder / "flat", {"kernel": np.eye(2), "bias": np.zeros(2)})
        said = self.wrong("run", "net.rml", "--node", "net", "--load-params", "flat")
        self.assertIn("--map '*=dense.*' finds", said)

    # ---- in part

    def test_in_part(self):
        write(self.folder / "some", {"dense.kernel": np.eye(2, dtype=np.float32), "dense.bias": np.zeros(3),
                                     "dense.scale": np.ones(2)})
        for engine in ("compiled", "reference"):
            done = self.infer("--load-params", "some", "--partial", "--engine", engine)
            some = Parameters()
            some.kernel = np.eye(2)
            self.assertEqual(self.values(done), self.expected(some))
            self.assertEqual(sorted(done.stderr.splitlines()[1:]), sorted([
                "  loaded: 'dense.kernel' (f64[2,2])",
                "  not loaded: 'dense.bias' is f64[2] here, f64[3] in the file",
                "  not loaded: no parameter 'head.w' (f64[2]) in the file",
                "  only in the file: 'dense.scale' (f64[2])"]))
            self.assertEqual(done.stderr.splitlines()[0], "some: 1 of the 3 parameters of 'net' are loaded")
            self.assertEqual(self.infer("--load-params", "some", "--partial", "--quiet", "--engine", engine).stderr, "")
        said = self.wrong("run", "net.rml", "--node", "net", "--load-params", "some")
        self.assertIn("--partial loads the 1 that fit, and lists them", said)

    def test_nothing_in_part(self):
        write(self.folder / "none", {"dense.scale": np.ones(2)})
        self.assertIn("none: nothing in it is a parameter of 'net':",
                      self.wrong("run", "net.rml", "--node", "net", "--load-params", "none", "--partial"))
        self.assertIn("--partial requires --load-params", self.wrong("run", "net.rml", "--node", "net", "--partial", status=2))

    # ---- baked in

    def test_a_library(self):
        self.right("build", "net.rml", "--node", "net", "--emit", "lib", "--strict-math", "--load-params",
                   "trained.state", "--map", "crit.net.*=*")
        (self.folder / "use.c").write_text("""
#include <stdio.h>
#include "net.h"
int main(void) {
  static net_state state;
  const double x[2][2] = {{1, 2}, {-1, 0.5}};
  double y;
  net_init(&state);
  for (int k = 0; k < 2; ++k) {
    net_step(&state, x[k], &y);
    printf("%.17g\\n", y);
  }
  return 0;
}
""")
        built = subprocess.run(["cc", "-o", "use", "use.c", "net.o", "-lm"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        found = subprocess.run([self.folder / "use"], capture_output=True, text=True).stdout.split()
        run = self.infer("--load-params", "trained.state", "--map", "crit.net.*=*")
        self.assertEqual([float(y) for y in found], [float(y) for y in run.stdout.split()[1:]])
        self.assertEqual(np.array(found, float).round(12).tolist(), self.expected(self.learned))

    def test_a_program(self):
        """A program that is built with parameters begins with them, and can still load others."""
        self.right("build", "net.rml", "--node", "net", "-o", "net", "--load-params", "trained.state", "--map",
                   "crit.net.*=*")
        self.assertEqual(self.program(), self.expected(self.learned))
        write(self.folder / "other", {"dense.kernel": np.eye(2), "dense.bias": np.zeros(2), "head.w": np.ones(2)})
        self.assertEqual(self.program("--load-params", "other"), [3.0, -0.5])

    def test_a_state_of_a_caller(self):
        """The state of a caller stores the parameters of a node under the node's name: run,
        build and export find them in the same way."""
        (self.folder / "calls.rml").write_text("import net;\nnode main(x: f64[2]) -> (y: f64)\n  y = 2.0 * net.net(x);\n")
        self.right("run", "calls.rml", "--load-params", "trained.state", "--map", "crit.*=*", "--save", "called.state")
        self.assertEqual(self.values(self.infer("--load-params", "called.state")), self.expected(self.learned))
        net = ["net.rml", "--node", "net", "--load-params", "called.state", "-o"]
        self.right("build", *net, "net")
        self.assertEqual(self.program(), self.expected(self.learned))
        self.right("export", *net, "net.onnx")
        self.right("import", "net.onnx", "-o", "again.rml")
        self.assertEqual(self.values(self.right("run", "again.rml")), self.expected(self.learned))

    def program(self, *options):
        done = subprocess.run([self.folder / "net", *options], input="x[0],x[1]\n1,2\n-1,0.5\n", capture_output=True,
                              text=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.values(done)

    def test_a_program_in_part(self):
        write(self.folder / "some", {"dense.kernel": np.eye(2)})
        done = self.right("build", "net.rml", "--node", "net", "-o", "net", "--load-params", "some", "--partial")
        self.assertIn("some: 1 of the 3 parameters of 'net' are loaded", done.stderr)
        some = Parameters()
        some.kernel = np.eye(2)
        self.assertEqual(self.program(), self.expected(some))

    def test_what_cannot_be_baked_in(self):
        for command in (["build", "--emit", "lib"], ["build"], ["export"]):
            say = [command[0], "net.rml", "--node", "net", *command[1:], "-o", "made", "--load-params"]
            said = self.wrong(*say, "trained.state")
            self.assertIn("error[E0806]", said)
            self.assertIn("note: --map 'crit.net.*=*' finds most of the missing parameters\n", said)
            self.assertIn("No such file", self.wrong(*say, "nowhere"))
            write(self.folder / "shape", {"dense.kernel": np.eye(3), "dense.bias": np.zeros(2), "head.w": np.ones(2)})
            self.assertIn("'dense.kernel' is f64[2,2] here, f64[3,3] in the file", self.wrong(*say, "shape"))
            self.assertFalse((self.folder / "made").exists())
            self.assertIn("--map requires --load-params",
                          self.wrong(command[0], "net.rml", "--map", "a=b", status=2))
        self.assertIn("E0804", self.wrong("build", "net.rml", "--node", "net", "-o", "trained.state", "--load-params",
                                          "trained.state", "--map", "crit.net.*=*"))

    # ---- frozen

    def test_frozen(self):
        for patterns, frozen in ((["crit.net.dense.*"], ("kernel", "bias")), (["*.kernel", "*.w"], ("kernel", "w")),
                                 (["*"], ("kernel", "bias", "w"))):
            by_hand = Parameters(frozen)
            losses = by_hand.train(ROWS * 3)
            text = self.rows + "\n".join(self.rows.split("\n")[1:]) * 2
            for options in (["--strict-math"], ["-O0"], ["--engine", "reference"], ["--engine", "channels"]):
                said = [x for p in patterns for x in ("--freeze", p)]
                save = [] if "reference" in options else ["--save", "frozen.state"]
                done = self.right("run", "trained.rml", *options, *said, *save, text=text)
                self.assertEqual(self.values(done), np.array(losses).round(12).tolist())
                if not save:
                    continue
                found = tensors(self.folder / "frozen.state")
                for path, name in (("dense.kernel", "kernel"), ("dense.bias", "bias"), ("head.w", "w")):
                    want = getattr(by_hand, name)
                    if name in frozen:  # frozen parameters keep all their bits
                        self.assertEqual(found["crit.net." + path].tolist(), want.tolist())
                    else:
                        np.testing.assert_allclose(found["crit.net." + path], want, rtol=1e-12)

    def test_frozen_as_loaded(self):
        self.right("run", "trained.rml", "--load-params", "trained.state", "--freeze", "*dense*", "--save", "more.state",
                   text=self.rows)
        before, after = tensors(self.folder / "trained.state"), tensors(self.folder / "more.state")
        for name in before:
            if name.startswith("crit.net.dense"):
                self.assertEqual(before[name].tobytes(), after[name].tobytes())
        self.assertNotEqual(before["crit.net.head.w"].tobytes(), after["crit.net.head.w"].tobytes())

    def test_the_gradient_is_not_computed(self):
        def steps(*options):
            return self.right("show", "steps", "trained.rml", *options).stdout
        trained, frozen = steps(), steps("--freeze", "*.dense.*")
        self.assertIn("crit.net.dense.dy_part", trained)
        self.assertNotIn("crit.net.dense.d", frozen)

    def test_nothing_to_freeze(self):
        for command in ("run", "build", "show core"):
            said = self.wrong(*command.split(), "trained.rml", "--freeze", "crit.net.dense.kernal")
            self.assertIn("no parameter 'crit.net.dense.kernal' to freeze in 'main'", said)
            self.assertIn("did you mean 'crit.net.dense.kernel'?", said)
        (self.folder / "none.rml").write_text("node main(x: f64) -> (y: f64)\n  y = x;\n")
        self.assertIn("has no parameters", self.wrong("run", "none.rml", "--freeze", "*"))


unittest.main(verbosity=0)
