"""The command line of rmlc: commands, exit statuses, and files that are complete or absent."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from processes import catches, waits

RMLC = sys.argv.pop(1)
COUNTER = "node main() -> (n: i32)\n  n = 0 fby n + 1;\n"
COMMANDS = ["build", "run", "import", "export", "compare", "check", "show", "diff", "gradcheck", "trace", "test", "fmt", "explain", "completion"]
LATER = ["lsp"]


def rmlc(*arguments, **options):
    return subprocess.run([RMLC, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.file = self.folder / "counter.rml"
        self.file.write_text(COUNTER)

    def tearDown(self):
        self.place.cleanup()

    def test_help_has_examples(self):
        self.assertEqual(rmlc("--help").returncode, 0)
        for command in COMMANDS:
            done = rmlc(command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertIn("Examples:", done.stdout, command)

    def test_conditions_are_followed_through_long_ladders_of_definitions(self):
        rungs = "".join(f"  c{i} = (c{i - 1} and q) or (c{i - 1} and not q);\n" for i in range(1, 3001))
        self.file.write_text(f"node main(p: bool, q: bool) -> (o: i32)\n  c0 = p;\n{rungs}"
                             "  a: i32 = if c3000 then b else 1;\n  b: i32 = if p then 2 else a;\n  o = a + b;\n")
        done = rmlc("run", "--engine", "reference", self.file, input="p,q\ntrue,false\nfalse,true\n")
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["o", "4", "2"]), done.stderr[:2000])

    def test_equations_as_they_were_before_simplification(self):
        self.file.write_text("node main(x: f64) -> (y: f64)\n  y = log(softmax([x, 0.0]))[0];\n")
        for options, row in (([], "-1000"), (["--engine", "reference"], "-1000"),
                             (["--engine", "reference", "--unsimplified"], "-inf")):
            done = rmlc("run", self.file, *options, input="x\n-1000\n")
            self.assertEqual((done.returncode, done.stdout), (0, f"y\n{row}\n"), (options, done.stderr))
        for options in (["--unsimplified"], ["--engine", "channels", "--unsimplified"]):
            done = rmlc("run", self.file, *options, input="x\n-1000\n")
            self.assertEqual(done.returncode, 2)
            self.assertIn("--unsimplified needs --engine reference", done.stderr)

    def test_folders_of_imports(self):
        for folder, value in (("of_path", 1), ("of_option", 2), ("behind", 3)):
            (self.folder / folder / "ears").mkdir(parents=True)
            (self.folder / folder / "ears/levels.rml").write_text(f"const rate = {value};\n")
        self.file.write_text("import ears.levels;\nnode main() -> (n: i32)\n  n = levels.rate;\n")
        path = os.pathsep.join(["", "no/such/folder", str(self.folder / "of_path"), str(self.folder / "behind")])
        environment = dict(os.environ, RMLC_PATH=path)
        run = ["run", self.file, "--cycles", "1"]
        self.assertEqual(rmlc(*run, env=environment).stdout, "n\n1\n")
        self.assertEqual(rmlc(*run, "-I", self.folder / "of_option", env=environment).stdout, "n\n2\n")
        without = rmlc(*run, env=dict(os.environ, RMLC_PATH=""))
        self.assertEqual(without.returncode, 1)
        self.assertIn("searched for `ears/levels.rml` in `" + str(self.folder) + "`", without.stderr)
        self.assertIn("RMLC_PATH", rmlc("run", "--help").stdout)

    def test_limits_have_names_and_numbers(self):
        for limit, said in (("instance=3", "unknown limit 'instance'; did you mean 'instances'?"),
                            ("calls", "'' is not a number from 0 to 18446744073709551615"),
                            ("calls=-1", "'-1' is not a number from 0 to 18446744073709551615"),
                            ("loops=9e9", "'9e9' is not a number from 0 to 18446744073709551615"),
                            ("elements=4294967297", "'4294967297' is not a number from 0 to 4294967296")):
            done = rmlc("check", self.file, "--limit", limit)
            self.assertEqual(done.returncode, 2, limit)
            self.assertIn(f"--limit {limit}: {said}", done.stderr)
        self.assertEqual(rmlc("check", self.file, "--limit", "calls=0", "--limit", "instances=1").returncode, 0)

    def test_malformed_maps_are_wrong_usage(self):
        (self.folder / "none").write_bytes(b"")
        for command in ("build", "export"):
            for text, said in (("x", "x: write OLD=NEW"), ("=x", "=x: write OLD=NEW"), ("a*=b", "OLD and NEW need equally many *")):
                done = rmlc(command, self.file, "--load-params", self.folder / "none", "--map", text)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (command, text))
                self.assertIn(said, done.stderr)

    def test_every_command_refuses_a_value_that_needs_itself(self):
        self.file.write_text("node main(x: f64) -> (y: f64)\n  y = x;\n  a: f64 = b + 1.0;\n  b: f64 = a + x;\n")
        chron = self.folder / "in.chron"
        chron.write_text("x | 1 2\n")
        for command in (["check"], ["run"], ["run", "--engine", "reference"], ["run", "--engine", "channels"],
                        ["build", "-o", self.folder / "program"], ["trace", "--input", chron], ["show", "core"],
                        ["show", "schedule"], ["export", "-o", self.folder / "x.onnx"], ["gradcheck"], ["diff"]):
            done = rmlc(*command, self.file, input="x\n1\n")
            self.assertEqual((done.returncode, done.stdout), (1, ""), command)
            self.assertEqual(done.stderr.count("error[E0501]: `b` needs its own value of the same cycle"), 1, command)

    def test_a_mistake_in_a_node_is_told_once_however_often_it_is_called(self):
        self.file.write_text("node wide(n) -> (o)\n  o = n + 9223372036854775808;\n"
                             "node main(a: i32, b: i32) -> (o: i32)\n  o = wide(a) + wide(b) + wide(wide(a));\n")
        for command in (["check"], ["build", "-o", self.folder / "program"], ["run"], ["show", "core"]):
            done = rmlc(*command, self.file, input="a,b\n1,2\n")
            self.assertEqual(done.stderr.count("does not fit i32"), 1, command)
        # The error is in the called node, which `diff` copies, and is still reported once.
        self.file.write_text("node square(x) -> (y)\n  y = x * x;\n"
                             "node main(x: f64) -> (d: f64)\n  _, d = diff square(x, not x, 1.0);\n")
        self.assertEqual(rmlc("check", self.file).stderr.count("`not` needs bool, found f64"), 1)

    def test_a_cycle_of_one_equation_is_said_once(self):
        self.file.write_text("node main(x: f64) -> (seen)\n  seen = x > 2.0 or seen;\n")
        self.assertEqual(rmlc("check", self.file).stderr.count("`seen` needs `seen`"), 1)

    def test_reference_engine_names_what_needs_itself(self):
        # `da` of cycle 1 needs `w` of cycle 2, which the batch that ends at 1 updates by a value
        # that depends on `da`.
        self.file.write_text("node f(e: bool, be: bool, x: f64) -> (h: f64)\n  w = param_end(be, param(0.5));\n"
                             "  h = tanh(w * fby_end(e, 0.0, h) + x);\n"
                             "node main(e: bool, be: bool, x: f64) -> (h: f64)\n  h, _ = diff f(e, be, x, true, -0.1 * h);\n")
        done = rmlc("run", "--engine", "reference", self.file, input="e,be,x\nF,F,1\nF,T,2\nF,F,3\nT,T,1\nT,T,1\n")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^3 rows are undetermined, from cycle 2 on: '[\w.]+' \(.*\) needs its own value")

    def test_version(self):
        done = rmlc("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Armlc \d+\.\d+\.\d+\nstate format \d+\nstate format of keys \d+\n"
                                      r"C interface \d+\nruntime ABI \d+\nLLVM \d+\.\d+\.\d+\n\Z")

    def test_licenses(self):
        done = rmlc("licenses")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        notice = (pathlib.Path(__file__).resolve().parents[3] / "NOTICE").read_text()
        self.assertTrue(done.stdout.startswith(notice))
        place = done.stdout[len(notice):].strip().split("\n")[-1]
        self.assertRegex(place, r"^Their texts are here in /.*/(PACKAGE|copyright)\.$")
        self.assertEqual(rmlc("licenses", "all").returncode, 2)

    def test_wrong_usage(self):
        for arguments in ([], ["biuld", "x.rml"], ["--nonsense"], ["build"], ["build", self.file, "--emit", "pdf"],
                          ["build", self.file, "-O9"], ["show", "tokens", self.file], ["explain", "E9999"],
                          ["run", self.file, "--engine", "steam"], ["trace", self.file]):
            done = rmlc(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertNotEqual(done.stderr, "", arguments)

    # The arguments of a script in which a variable is not set.
    def test_empty_names_are_wrong_usage(self):
        before = sorted(self.folder.iterdir())
        for command, option in ((["build"], "-o"), (["build"], "--node"), (["build"], "--target"), (["export"], "-o"),
                                (["import"], "-o"), (["show", "core"], "-o"), (["diff"], "-o"), (["check"], "--node"),
                                (["run"], "--save"), (["run"], "--plot")):
            done = rmlc(*command, self.file, option, "", cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (2, ""), command)
            self.assertIn(f"{option}: an empty name", done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_guesses(self):
        self.assertIn("did you mean 'build'", rmlc("biuld", "x.rml").stderr)
        self.assertIn("did you mean 'matmul'", rmlc("explain", "matmull").stderr)

    def test_explains_the_library(self):
        page = rmlc("explain", "signal.hann").stdout
        self.assertIn("node hann(periodic, n) -> (w)", page)
        self.assertIn("The window of von Hann.", page)
        self.assertIn("import signal;", page)
        self.assertEqual(rmlc("explain", "hann").stdout, page)
        self.assertIn("signal.hann", rmlc("explain", "signal").stdout)
        self.assertIn("it needs no import", rmlc("explain", "fby_end").stdout)
        self.assertIn("did you mean 'nn.dense'", rmlc("explain", "nn.dnse").stderr)

    def test_index_of_what_is_explained(self):
        index = rmlc("explain")
        self.assertEqual(index.returncode, 0)
        for topic in ("E0301", "matmul", "signal.hann", "fby_end"):
            self.assertIn(topic, index.stdout)

    def test_not_available_yet(self):
        for command in LATER:
            done = rmlc(command, self.file)
            self.assertEqual(done.returncode, 2, command)
            self.assertIn("not available yet", done.stderr)
            self.assertNotIn(command, rmlc("--help").stdout)
            self.assertNotIn(command, rmlc("completion", "bash").stdout)
        self.assertEqual(rmlc("trace", self.file, "--html", "t.html").returncode, 2)
        self.assertEqual(rmlc("build", self.file, "--chunk", "8").returncode, 2)

    def test_check_is_silent(self):
        done = rmlc("check", self.file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_several_files(self):
        bad = self.folder / "bad.rml"
        bad.write_text("node main() -> (n: i32)\n  n = m;\n")
        done = rmlc("check", self.file, bad)
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0201", done.stderr)

    def test_machine_formats(self):
        bad = self.folder / "bad.rml"
        bad.write_text("node main() -> (n: i32)\n  n = m;\n")
        report = json.loads(rmlc("check", bad, "--error-format", "json").stderr)
        self.assertEqual(report["diagnostics"][0]["code"], "E0201")
        sarif = json.loads(rmlc("check", bad, "--error-format", "sarif").stderr)
        self.assertEqual(sarif["version"], "2.1.0")

    def test_standard_input(self):
        done = rmlc("run", "-", "--cycles", "3", input=COUNTER)
        self.assertEqual(done.stdout, "n\n0\n1\n2\n")
        self.assertIn("E0201", rmlc("check", "-", input="node main() -> (n) n = m;").stderr)

    def test_engines_agree(self):
        for engine in ("compiled", "reference"):
            done = rmlc("run", self.file, "--engine", engine, "--cycles", "3")
            self.assertEqual((done.returncode, done.stdout), (0, "n\n0\n1\n2\n"))

    def test_a_last_cycle_that_does_not_learn(self):
        # tests/language/future/slow_clock_in_a_segment.rml: a static schedule would need a last
        # cycle that learns.
        self.file.write_text("""
node main(end: bool, learn: bool, x: f64) -> (o: f64)
  p = 0.5 fby (p + merge learn g 0.0);
  start = true fby end;
  o = x + if start then p else (0.0 fby o);
  late = end when learn;
  d = (-0.1 * o when learn) + merge late 0.0 ((post d) when not late);
  first = start when learn;
  g = merge first (d when first) 0.0;
""")
        self.assertIn("runs on demand", rmlc("check", self.file).stdout)
        rows = "end,learn,x\nF,T,1\nT,T,2\nF,T,3\nT,F,4\n"
        for engine in "reference", "compiled":
            done = rmlc("run", self.file, "--engine", engine, input=rows)
            self.assertEqual((done.returncode, done.stdout), (0, "o\n1.5\n3.5\n3\n7\n"))

    def test_program_options(self):
        self.assertEqual(rmlc("run", self.file, "--cycles", "x").returncode, 2)
        self.assertIn("Runs node", rmlc("run", self.file, "--", "--help").stdout)

    def test_options_of_models_say_nothing_of_sources(self):
        for option in ("--dim", "N=1"), ("--fix", "n=2"), ("--state", "a=b"), ("--stream", "1"), ("--trainable", "*"):
            for command in ("run", "check", "build", "export"):
                done = rmlc(command, self.file, *option)
                self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                                 (2, f"rmlc {command}: {option[0]}: '{self.file}' is not an ONNX model"))
        # The option applies to one of the files.
        done = rmlc("check", self.file, self.folder / "none.onnx", "--dim", "N=1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.onnx", done.stderr)

    def test_numbers_that_are_too_large(self):
        """2^63 and 2^64 are not taken for the largest value of an option."""
        done = rmlc("build", self.file, "-o", "counter", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        program = [str(self.folder / "counter")]
        for command in (program, ["run", self.file], ["trace", self.file]):
            for option, most in (("--seed", 2**64 - 1), ("--cycles", 2**63 - 1), ("--horizon", 2**63 - 1)):
                if command[0] == "trace" and option == "--horizon":
                    continue
                with self.subTest(command=command, option=option):
                    words = [*command, option, str(most + 1)]
                    done = subprocess.run(words, capture_output=True, text=True) if command is program else rmlc(*words)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"'{most + 1}': must be at most {most}", done.stderr)
        done = subprocess.run([*program, "--cycles", "1", "--seed", str(2**64 - 1)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "n\n0\n"), done.stderr)

    def test_results_to_standard_output(self):
        smooth = self.folder / "smooth.rml"
        smooth.write_text("node main(x: f64) -> (y: f64)\n  y = x * x;\n")
        for command in (["show", "core"], ["diff"]):
            printed, to = rmlc(*command, smooth, cwd=self.folder), rmlc(*command, smooth, "-o", "-", cwd=self.folder)
            self.assertEqual((to.returncode, to.stdout), (0, printed.stdout))
        for command in "build", "export":
            done = rmlc(command, smooth, "-o", "-", cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr.splitlines()[0]),
                             (2, f"rmlc {command}: -o: '-': the output is a file; './-' is a file of this name"))
        self.assertFalse((self.folder / "-").exists())

    def test_every_product(self):
        for emit, name in (("exe", "counter"), ("obj", "counter.o"), ("asm", "counter.s"), ("llvm", "counter.ll"),
                           ("bc", "counter.bc"), ("lib", "main.h"), ("header", "main.h")):
            done = rmlc("build", self.file, "--emit", emit, cwd=self.folder)
            self.assertEqual((done.returncode, done.stderr), (0, ""), emit)
            self.assertTrue((self.folder / name).is_file(), name)
        done = subprocess.run([self.folder / "counter", "--cycles", "2"], capture_output=True, text=True)
        self.assertEqual(done.stdout, "n\n0\n1\n")
        leftovers = [p.name for p in self.folder.iterdir() if p.name.startswith(".")]
        self.assertEqual(leftovers, [])

    def test_never_over_the_source(self):
        bare = self.folder / "counter"
        bare.write_text(COUNTER)
        self.assertEqual(rmlc("build", bare, cwd=self.folder).returncode, 1)
        self.assertEqual(bare.read_text(), COUNTER)

    def test_output_that_cannot_be_written(self):
        done = rmlc("build", self.file, "--emit", "llvm", "-o", self.folder / "no" / "x.ll")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0804", done.stderr)
        smooth = self.folder / "smooth.rml"
        smooth.write_text("node main(x: f64) -> (y: f64)\n  y = x * x;\n")
        for command in (["show", "core", self.file], ["gradcheck", smooth], ["completion", "bash"], ["--help"],
                        ["run", "--help"], ["--version"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([RMLC, *command], stdout=full, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 1, command)
            self.assertEqual(done.stderr.count("error[E0804]: cannot write to standard output"), 1, done.stderr)

    # If a standard stream is closed, the next opened file must not take its place.
    def test_standard_streams_that_are_closed(self):
        def without(streams, *command):
            return subprocess.run(["bash", "-c", f'exec "$@" {streams}', "bash", *map(str, command)], timeout=120,
                                  capture_output=True, text=True)

        add = self.folder / "add.rml"
        add.write_text("node main(x: f64) -> (y: f64)\n  y = x + 1.0;\n")
        for source, name in ((self.file, "count"), (add, "add")):
            done = without("<&- >&- 2>&-", RMLC, "build", source, "-o", self.folder / name)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for command in ([RMLC, "run", add], [self.folder / "add"]):
            done = without("<&-", *command)
            self.assertEqual((done.returncode, done.stdout), (1, ""), command)
            self.assertIn("cannot read '<stdin>': Bad file descriptor", done.stderr)
        for command in ([RMLC, "run", self.file, "--cycles", "3"], [self.folder / "count", "--cycles", "3"]):
            done = without(">&-", *command)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "cannot write standard output: Bad file descriptor\n"), command)
            done = without("<&- 2>&-", *command)
            self.assertEqual((done.returncode, done.stdout), (0, "n\n0\n1\n2\n"), command)
        done = without("<&-", RMLC, "check", "-")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read standard input: Bad file descriptor", done.stderr)
        done = without(">&-", RMLC, "show", "core", self.file)
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0804", done.stderr)

    def test_show(self):
        for phase in ("ast", "core", "clocks", "schedule", "steps", "loops", "llvm", "asm", "graph"):
            done = rmlc("show", phase, self.file)
            self.assertEqual(done.returncode, 0, phase)
            self.assertNotEqual(done.stdout, "", phase)

    def test_format(self):
        messy = self.folder / "messy.rml"
        messy.write_text("node main()->(n:i32)\nn=0 fby n+1; -- kept\n")
        self.assertEqual(rmlc("fmt", "--check", messy).returncode, 1)
        self.assertEqual(rmlc("fmt", messy).returncode, 0)
        self.assertIn("-- kept", messy.read_text())
        self.assertEqual(rmlc("fmt", "--check", messy).returncode, 0)

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            done = rmlc("completion", shell)
            self.assertEqual(done.returncode, 0)
            self.assertIn("--emit" if shell != "fish" else "emit", done.stdout)
        script = rmlc("completion", "bash").stdout
        self.assertEqual(subprocess.run(["bash", "-n"], input=script, text=True).returncode, 0)

    def test_test_command(self):
        good = self.folder / "good.rml"
        good.write_text("-- run: main --cycles 3\n" + COUNTER)
        (self.folder / "good.out.chron").write_text("-- a remark\nn | 0 1 2\n")
        self.assertEqual(rmlc("test", good).stdout, "1 passed, 0 failed\n")
        (self.folder / "good.out.chron").write_text("-- a remark\nn | 0 1 5\n")
        done = rmlc("test", good)
        self.assertEqual(done.returncode, 1)
        self.assertIn("^ cycle 2", done.stdout)
        self.assertTrue(done.stdout.endswith("0 passed, 1 failed\n"))
        self.assertEqual(rmlc("test", good, "--bless").returncode, 0)
        self.assertEqual((self.folder / "good.out.chron").read_text(), "-- a remark\nn | 0 1 2\n")

    def test_a_crash_is_told(self):
        environment = dict(os.environ, ASAN_OPTIONS="handle_segv=0:allow_user_segv_handler=1")
        process = subprocess.Popen([RMLC, "check", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment)
        while not (catches(process.pid, signal.SIGSEGV) and waits(process.pid)):
            pass
        process.send_signal(signal.SIGSEGV)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 70)
        self.assertIn("rmlc: internal error in parse (-):", errors)


unittest.main(verbosity=0)
