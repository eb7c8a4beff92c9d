"""Passes over forms in text: `rmlc opt`, `rmlc show --after`. Run by ctest: opt_test.py RMLC.

For each pass, the output of `show --after`, given to the next pass, must become the same as in
the compiler.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1))
PROGRAM = """node main(end: bool, x: f64) -> (y: f64)
  sum   = fby_end(end, 0.0, sum) + x;
  count = fby_end(end, 0.0, count) + 1.0;
  mean  = backfill(sum / count, end);
  y     = x - mean;
"""
# No schedule of this program is exact, and no components can share a window.
ON_DEMAND = """
node main(x: f64) -> (y: f64)
  v = post (x * 2.0);
  y = 0.0 fby (x + v);
"""
# The passes from a causal core to steps; `sink` is repeated later.
IN_ORDER = """simplify stabilise expand flatten_convolutions simplify prune_undemanded undo_delays give_constants_streams
check_order retime prune_undemanded group_units absorb split_units sort_units complete_units order_values look_back mark_straight
add_zeros add_cuts validate_schedule check_exactness plan_segments stand_still defer sink batch_in_time sink assign_homes verify_segments build_steps
drop_unused add_in_place fuse group_loops fuse_pools lower_bodies find_windows find_packs make_leader find_watches""".split()


class Opt(unittest.TestCase):
    def rmlc(self, *arguments, text=""):
        return subprocess.run([RMLC, *arguments], input=text, capture_output=True, text=True)

    def after(self, name, program=PROGRAM):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "p.rml"
            file.write_text(program)
            done = self.rmlc("show", "--after", name, str(file))
        self.assertEqual((done.returncode, done.stderr), (0, ""), name)
        return done.stdout

    def test_each_pass_goes_on_from_the_text_of_the_one_before(self):
        text = self.after("instantiate")
        last = {name: k for k, name in enumerate(IN_ORDER)}
        for k, name in enumerate(IN_ORDER):
            done = self.rmlc("opt", name, text=text)
            self.assertEqual((done.returncode, done.stderr), (0, ""), name)
            text = done.stdout
            if last[name] == k:
                self.assertEqual(text, self.after(name), name)

    def test_attempts_at_a_schedule_that_come_to_nothing(self):
        self.assertTrue(self.after("group_units", ON_DEMAND).startswith("form schedule 1\n"))
        self.assertTrue(self.after("build_on_demand", ON_DEMAND).startswith("form steps 1\n"))

    def test_derived_nodes_are_shown(self):
        text = self.after("differentiate", "node f(x) -> (y) y = 2.0 * x;\n"
                          "node main(x: f64) -> (y: f64, dx: f64) y, dx = diff f(x, true, 1.0);\n")
        self.assertEqual(re.findall("^(.*node .*)", text, re.MULTILINE), ["node f", "node main", "derived node diff_f"])
        self.assertIn("target dx", text)

    def test_all_at_once(self):
        self.assertEqual(self.rmlc("opt", *IN_ORDER, text=self.after("instantiate")).stdout, self.after(IN_ORDER[-1]))

    def test_a_check_says_what_is_wrong(self):
        core = "core main\nclock base\n%0: f64 = add %1 %1  y @1:5-9\n%1: f64 = add %0 %0  z @7:5-9\noutput y = %0\n"
        done = self.rmlc("opt", "check_causality", text=core)
        self.assertEqual(done.returncode, 1)
        self.assertIn("E0501", done.stderr)

    def test_a_schedule_that_is_wrong_is_refused(self):
        text = self.after("add_cuts")
        swapped = re.sub(r"(    value %13 .*\n|  value %13 .*\n)", "", text, count=1)
        self.assertNotEqual(swapped, text)
        done = self.rmlc("opt", "validate_schedule", text=swapped)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("%13", done.stderr)

    def test_malformed_texts(self):
        for text in ("nonsense", "form core 1\ncore main\n%0: f64 = no_operator\n", "form steps 1\n", "\0\xff"):
            with self.subTest(text=text):
                done = self.rmlc("opt", "simplify", text=text)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^rmlc: standard input, line \d+, column \d+: .")

    def test_wrong_usage(self):
        for arguments, said in ((["simplifi"], "did you mean 'simplify'?"), (["simplify", "absorb"], "takes schedule"),
                                (["parse"], "not read from texts"), ([], "name a pass")):
            with self.subTest(arguments=arguments):
                done = self.rmlc("opt", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)

    def test_passes_that_do_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "p.rml"
            file.write_text(PROGRAM)
            self.assertIn("does not run", self.rmlc("show", "--after", "partition", str(file)).stderr)
            file.write_text(ON_DEMAND)
            done = self.rmlc("show", "--after", "plan_segments", str(file))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("does not run", done.stderr)
            self.assertEqual(self.rmlc("show", "--after", "nothing", str(file)).returncode, 2)
            self.assertIn("did you mean 'expand'?", self.rmlc("show", "--after", "expnd", str(file)).stderr)
            self.assertEqual(self.rmlc("show", "--after", "expand", "core", str(file)).returncode, 2)


unittest.main()
