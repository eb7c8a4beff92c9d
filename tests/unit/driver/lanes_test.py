"""NODE_group_step of --lanes says what NODE_step says of each state alone, to the bit.

The oracle is NODE_step itself, whose code knows of no lanes: states are stepped one by one beside a group of the same
ones, on random inputs that differ between them. Programs are those below, and those of the language tests that have a
schedule: a part of them, or all with --all.

    lanes_test.py RMLC LANGUAGE_TESTS [--all] [--cpu NAME]
"""

import ctypes
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ARGUMENTS = [a for a in sys.argv[1:] if not a.startswith("-")]
RMLC, LANGUAGE = pathlib.Path(ARGUMENTS[0]), pathlib.Path(ARGUMENTS[1])
RUNTIME = RMLC.parent.parent / "lib" / "rmlc" / "librmlrt.a"
ALL = "--all" in sys.argv
SHARE = 1 if ALL else 6
sys.argv[1:] = []

PROGRAMS = {
    "online": "node line(x) -> (said)\n  said = dot(param(zeros([8])), x);\n"
    "node main(x: f32[8], y: f32) -> (said: f32)\n  said, _ = diff line(x, true, -0.01 * (said - y));\n",
    "branches": "node main(x: f64, c: bool, d: bool) -> (y: f64, z: f64 when c, n: i32)\n"
    "  n = 0 fby (if c then n + 1 else if d then n - 1 else n);\n  z = tanh((x + 1.0) when c);\n"
    "  up = (0.0 fby up) + sin(x) when c;\n  down = (1.0 fby down) * cos(x) when not c;\n"
    "  y = merge c (up) (down);\n",
    "nested": "node main(x: f32, a: bool, b: bool when a) -> (y: f32)\n  t = x when a;\n"
    "  u = t when b;\n  v = t when not b;\n  sum = (0.0 fby sum) + exp(u);\n  inner = merge b (sum) (v * v);\n"
    "  y = merge a (inner) ((0.5 fby (x when not a)));\n",
    "divides": "node main(a: i32, b: i32) -> (q: i32, s: i32)\n  q = a / b;\n  s = 0 fby s + q;\n",
    "indexes": "node main(x: f32[6], i: i32) -> (y: f32, z: f64)\n  y = x[i];\n  table = cast(f64, iota(90)) / 7.0;\n  z = table[i * i];\n",
    "choices": "node main(x: f64[20], c: bool) -> (y: f64)\n  w = cast(f64, iota(20)) fby w + 0.01 * x;\n"
    "  v = (if c then w else x);\n  y = sum(v * x);\n",
    "restarts": "import metrics;\nnode main(x: f64[18], end: bool) -> (a: f64, v: f64)\n"
    "  average, variance = metrics.moments_end(end, x);\n  a = sum(average);\n  v = sum(variance);\n",
    "drawn": "import nn;\nnode net(x) -> (y)\n  y = dot(tanh(nn.affine(param(glorot_uniform([3, 4])), param(zeros([3])), x)),"
    " param(glorot_uniform([3])));\nnode main(x: f64[4], t: f64) -> (y: f64)\n"
    "  y, _ = diff net(x, true, -0.05 * (y - t));\n",
    "products": "node main(x: f64[7]) -> (y: f64[5])\n  h = zeros([5]) fby y;\n"
    "  w = zeros([5, 7]) fby w + outer(y, x) * 0.01;\n  y = tanh(matmul(w, x) + 0.3 * h + 0.1);\n",
    "windows": "import signal;\nnode main(x: f32) -> (y: f32, old: f32)\n  past = concat((zeros([40]) fby past)[1:], [x]);\n"
    "  y = sum(past);\n  old = signal.delay(25, 0.5, x);\n",
    "halves": "node main(x: f16, n: i8) -> (y: f16, m: i16)\n  s = 0.5 fby 0.5 * s + cast(f32, x);\n  y = cast(f16, s);\n  m = cast(i16, n) * 3;\n",
}
TYPES = {
    "float": ctypes.c_float, "double": ctypes.c_double, "uint8_t": ctypes.c_uint8, "int8_t": ctypes.c_int8,
    "uint16_t": ctypes.c_uint16, "int16_t": ctypes.c_int16, "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64,
}  # fmt: skip


class Port:
    def __init__(self, declared, shapes):
        words = declared.replace("*", " * ").split()
        self.name, self.pointer = words[-1], "*" in words
        self.name = self.name if self.name in shapes else self.name.removesuffix("_")  # `n`, which the functions have
        self.ctype = TYPES[[w for w in words if w != "const"][0]]
        of = self.name.removesuffix("_present")
        flag = self.name != of and of in shapes
        self.input, dtype, self.elements = shapes[self.name if not flag else of]
        self.dtype = "bool" if flag else dtype
        if flag:
            self.elements = 1

    def draw(self, rng):
        if self.dtype == "bool":
            return rng.randint(0, 1)
        if self.dtype in ("f32", "f64"):
            return rng.gauss(0, 2) if rng.random() < 0.9 else rng.choice([0.0, 1.0, -1.0, float("inf"), float("nan")])
        if self.dtype in ("f16", "bf16"):
            return rng.randint(0x3000, 0x4200)
        return rng.randint(0, 5) if rng.random() < 0.95 else rng.randint(0, 100)


class Library:
    def __init__(self, folder, source, options):
        done = subprocess.run([RMLC, "build", source, "--emit", "lib", "--lanes", "-o", "m.o", *options], cwd=folder,
                              capture_output=True, text=True)  # fmt: skip
        self.refused = done.stderr if done.returncode == 1 else None
        if done.returncode not in (0, 1):
            raise AssertionError(f"{source}: {done.stderr}")
        if self.refused is not None:
            return
        text = (folder / "m.h").read_text()
        made = subprocess.run(["cc", "-shared", "-o", "m.so", "m.o", RUNTIME, "-lstdc++", "-lm", "-Wl,--no-undefined"],
                              cwd=folder, capture_output=True, text=True)  # fmt: skip
        if made.returncode != 0:  # it calls nodes that are elsewhere
            self.refused = "cannot be linked alone: " + made.stderr
            return
        own = folder / f"{random.random()}.so"
        (folder / "m.so").rename(own)
        self.library = ctypes.CDLL(str(own))
        self.name = re.search(r"^#ifndef (\w+)_H$", text, re.M)[1]
        self.state_bytes, self.group_bytes = (
            8 * int(re.search(rf"typedef struct {self.name}_{of} {{ uint64_t words\[(\d+)\]", text)[1])
            for of in ("state", "group")
        )
        self.lanes = int(re.search(rf"#define {self.name}_LANES (\d+)", text)[1])
        shapes = {}
        for way, port, dtype, shape in re.findall(r"^ \*   (in|out)\s+(\w+): (\w+)(\[[\d, ]*\])?", text, re.M):
            elements = 1
            for extent in re.findall(r"\d+", shape):
                elements *= int(extent)
            shapes[port] = (way == "in", dtype, elements)
        declared = re.search(rf"{self.name}_step\({self.name}_state\* state(.*?)\);", text, re.S)[1]
        self.ports = [Port(d, shapes) for d in declared.split(",")[1:]]
        self.faults = f"int32_t {self.name}_step(" in text
        self.init = getattr(self.library, re.search(rf'{self.name}_INIT_SYMBOL "(\w+)"', text)[1])
        self.step, self.group_step, self.put, self.get, self.group_init = (
            getattr(self.library, f"{self.name}_{what}")
            for what in ("step", "group_step", "group_put", "group_get", "group_init")
        )


class Both:
    """n states one by one, and the same in groups."""

    def __init__(self, library, n, rng):
        self.of, self.n, self.rng = library, n, rng
        align = 64
        self.memory = ctypes.create_string_buffer(n * (library.state_bytes + align) + align)
        first = -(-ctypes.addressof(self.memory) // align) * align
        self.states = [first + k * -(-library.state_bytes // align) * align for k in range(n)]
        self.groups = ctypes.create_string_buffer(-(-n // library.lanes) * library.group_bytes)
        for state in self.states:
            library.init(ctypes.c_void_p(state))
        library.group_init(self.groups, ctypes.c_int64(n))
        # By state and by element; outputs keep what they had where nothing is written.
        self.own = [(p.ctype * (p.elements * n))() for p in library.ports]
        self.side = [(p.ctype * (p.elements * n))() for p in library.ports]
        self.faulted = [0] * n

    def cycle(self):
        n, ports = self.n, self.of.ports
        for p, own, side in zip(ports, self.own, self.side):
            for k in range(n if p.input else 0):
                for e in range(p.elements):
                    own[k * p.elements + e] = side[e * n + k] = p.draw(self.rng)
        for k, state in enumerate(self.states):
            arguments = [ctypes.c_void_p(state)]
            for p, own in zip(ports, self.own):
                at = ctypes.addressof(own) + k * p.elements * ctypes.sizeof(p.ctype)
                arguments.append(ctypes.c_void_p(at) if p.pointer else p.ctype(own[k]))
            code = self.of.step(*arguments)
            self.faulted[k] = code if self.of.faults else 0
        code = self.of.group_step(self.groups, ctypes.c_int64(n), *self.side)
        first = next((f for f in self.faulted if f), 0)
        return (code if self.of.faults else 0) == first and self.same()

    def same(self):
        for p, own, side in zip(self.of.ports, self.own, self.side):
            for k in range(0 if p.input else self.n):
                for e in range(0 if self.faulted[k] else p.elements):
                    a, b = own[k * p.elements + e], side[e * self.n + k]
                    if bytes(p.ctype(a)) != bytes(p.ctype(b)) and (a == a or b == b):  # no NaN is another's
                        return False
        return True

    def exchange(self):
        """The states become those of the group, and the group is made of them."""
        for k, state in enumerate(self.states):
            self.of.get(self.groups, ctypes.c_int64(k), ctypes.c_void_p(state))
        self.groups = ctypes.create_string_buffer(len(self.groups))
        for k, state in enumerate(self.states):
            self.of.put(self.groups, ctypes.c_int64(k), ctypes.c_void_p(state))


class Lanes(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.rng = random.Random(0)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def compare(self, source, options, cycles=12):
        library = Library(self.folder, source, options)
        if library.refused is not None:
            return library.refused
        for n in (1, library.lanes, 2 * library.lanes + 3):
            both = Both(library, n, self.rng)
            for cycle in range(cycles):
                self.assertTrue(both.cycle(), f"{source} {options}: {n} states, cycle {cycle}")
                if cycle == cycles // 2:
                    both.exchange()
        return None

    def test_programs(self):
        for name, text in PROGRAMS.items():
            (self.folder / f"{name}.rml").write_text(text)
            for options in ([], ["--cpu", "native"], ["-O0"], ["--strict-math"]):
                with self.subTest(name=name, options=options):
                    self.assertIsNone(self.compare(f"{name}.rml", options))

    def test_language(self):
        """Whatever has lanes has the right ones; most that has a schedule does."""
        found, refused = 0, []
        runs = {file: re.search(r"^-- run: (\w+)", file.read_text(), re.M) for file in sorted(LANGUAGE.rglob("*.rml"))}
        files = [(file, run[1]) for file, run in runs.items() if run]
        for file, node in files[::SHARE]:
            why = self.compare(file, ["--cpu", "native", "--node", node], cycles=5)
            if why is None:
                found += 1
            else:
                refused.append((file.name, why.split("\n")[0]))
        if ALL:
            for name, why in refused:
                print(name, why)
            print(f"{found} of {found + len(refused)} have lanes")
        self.assertGreater(found, len(files) // SHARE // 3, refused)


    def test_refused(self):
        """By the equation and the reason; nothing is written."""
        for text, place, reason in (
            ("node main(x: f32) -> (y: f32)\n  y = x + normal([1], 0.0, 1.0)[0];\n", "2:3", "rml_random_normal is called"),
            ("node f(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = f(x);\n", "3:3", "f is called"),
            ("node main(x: f64) -> (y: f64)\n  w = zeros([90, 90]) fby w + x;\n  y = sum(w);\n", None, "64808 bytes"),
        ):
            with self.subTest(reason=reason):
                (self.folder / "m.rml").write_text(text)
                done = subprocess.run([RMLC, "build", "m.rml", "--emit", "lib", "--lanes"], cwd=self.folder,
                                      capture_output=True, text=True)  # fmt: skip
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("error[E0903]: --lanes: 'main' has no lanes: ", done.stderr)
                self.assertIn(reason, done.stderr)
                self.assertIn(f"m.rml:{place}" if place else "", done.stderr)
                self.assertEqual([p.name for p in self.folder.iterdir()], ["m.rml"])


if __name__ == "__main__":
    unittest.main()
