"""External nodes come from the files of --link, and from nowhere else, on every engine. Run by
ctest: externals_test.py RMLC."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1))
PROGRAM = "node twice(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = twice(x);\n"
TWICE = "void twice(double x, double* y) { *y = 2 * x; }\n"
ENGINES = {"compiled": [], "reference": ["--engine", "reference"], "channels": ["--engine", "channels"]}


class Externals(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.source = self.folder / "sub"
        self.source.mkdir()
        (self.source / "p.rml").write_text(PROGRAM)
        (self.folder / "x.csv").write_text("x\n1.5\n")
        self.compile(TWICE, "libtwice.so")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def compile(self, text, name, *more):
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", name, *more], cwd=self.source, input=text,
                       text=True, check=True)

    def rmlc(self, *arguments, folder=None):
        return subprocess.run([RMLC, *arguments], cwd=folder or self.folder, capture_output=True, text=True)

    def test_a_library_beside_the_source(self):
        for engine, options in ENGINES.items():
            with self.subTest(engine=engine):
                done = self.rmlc("run", "sub/p.rml", "--link", "libtwice.so", *options, "--input", "x.csv")
                self.assertEqual((done.returncode, done.stdout), (0, "y\n3\n"), done.stderr)

    def test_a_library_in_the_current_folder(self):
        for engine, options in ENGINES.items():
            with self.subTest(engine=engine):
                done = self.rmlc("run", "p.rml", "--link", "libtwice.so", *options, "--input", "../x.csv",
                                 folder=self.source)
                self.assertEqual((done.returncode, done.stdout), (0, "y\n3\n"), done.stderr)

    def test_a_program_finds_its_library_from_anywhere(self):
        done = self.rmlc("build", "sub/p.rml", "--link", "libtwice.so", "-o", "p")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([self.folder / "p", "--input", self.folder / "x.csv"], cwd="/", capture_output=True, text=True)
        self.assertEqual(done.stdout, "y\n3\n", done.stderr)

    def test_what_a_library_needs_is_not_what_it_defines(self):
        self.compile("void other(void) {}\n", "libother.so", "-Wl,--no-as-needed,-rpath," + str(self.source), "-L.",
                     "-l:libtwice.so")
        for engine, options in ENGINES.items():
            with self.subTest(engine=engine):
                done = self.rmlc("run", "sub/p.rml", "--link", "libother.so", *options, "--input", "x.csv")
                self.assertEqual(done.returncode, 1)
                self.assertIn("E0805", done.stderr)

    def test_functions_of_the_c_library(self):
        (self.folder / "s.rml").write_text("node system(command: u8[8]) -> (status: i32)\nnode main() -> (o: i32)\n"
                                           "  o = system([116, 111, 117, 99, 104, 32, 97, 0]);\n")
        commands = [["run", "s.rml", "--cycles", "1", *options] for options in ENGINES.values()]
        for command in (*commands, ["build", "s.rml"], ["trace", "s.rml", "--cycles", "1"]):
            with self.subTest(command=command):
                done = self.rmlc(*command)
                self.assertEqual(done.returncode, 1)
                self.assertIn("E0805", done.stderr)
                self.assertFalse((self.folder / "a").exists())

    def build(self, symbol, *options):
        (self.folder / "r.rml").write_text(f"node {symbol}(x: f64) -> (y: f64)\nnode pid(x: f64) -> (y: f64)\n"
                                           f"  y = {symbol}(x) + (0.0 fby y);\n")
        return self.rmlc("build", "r.rml", "--node", "pid", *options)

    def refuse(self, symbol, *options):
        with self.subTest(symbol=symbol, options=options):
            done = self.build(symbol, *options, "--external", symbol)
            self.assertEqual(done.returncode, 1)
            for part in ("E0805", f"external node '{symbol}' has ", "rename the node"):
                self.assertIn(part, done.stderr)

    def accept(self, symbol, *options):
        with self.subTest(symbol=symbol, options=options):
            done = self.build(symbol, *options, "--external", symbol)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_functions_of_the_interface(self):
        for what in ("init", "reset", "seed", "step", "run", "step_many", "lead", "advance", "get_y", "push", "pop", "message",
                     "state", "group", "group_init", "group_put", "group_get", "group_step", "group_lane", "LANES", "H"):
            self.refuse("pid_" + what, "--emit", "lib", "-o", "r.o")
            self.refuse("pid_" + what, "--emit", "c", "-o", "r.c")
        self.refuse("pid_group_step", "--emit", "lib", "--lanes", "-o", "r.o")
        self.refuse("pid_step", "--emit", "header", "-o", "r.h")
        for symbol in ("pid_program", "main", "malloc", "rml_main"):
            self.refuse(symbol, "--emit", "obj", "-o", "r.o")
        for symbol in ("pid_sensor", "pid_get_x", "other_step", "pidstep"):
            self.accept(symbol, "--emit", "lib", "-o", "r.o")
            self.accept(symbol, "--emit", "c", "-o", "r.c")

    def test_names_that_no_function_of_c_can_have(self):
        for symbol in ("switch", "uint8_t", "int32_t", "NULL", "NAN", "INFINITY", "signbit", "isgreater", "M_PI", "EDOM",
                       "fail", "add_i32", "draw_unit"):
            self.refuse(symbol, "--emit", "c", "-o", "r.c")
        for symbol in ("sensor_f32", "draw_line", "state", "order"):
            self.accept(symbol, "--emit", "c", "-o", "r.c")

    def test_a_file_that_is_not_there(self):
        done = self.rmlc("run", "sub/p.rml", "--link", "libthrice.so", "--input", "x.csv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("libthrice.so", done.stderr)


unittest.main()
