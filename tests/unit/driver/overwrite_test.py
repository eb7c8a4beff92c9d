"""No output may overwrite an input or another output: overwrite_test.py RMLC."""

import os
import resource
import shutil
import subprocess
import sys
import unittest

from in_folder import InFolder

RMLC = sys.argv.pop(1)

COUNT = """node main() -> (y: f64)
  y = 0.0 fby y + 1.0;
"""
SUM = """node main(x: f64) -> (y: f64)
  y = x + (0.0 fby y);
"""
HELPER = "node twice(x: f64) -> (y: f64)\n  y = 2.0 * x;\n"


class Overwrite(InFolder):
    files = {"count.rml": COUNT, "sum.rml": SUM, "x.csv": "x\n1\n2\n3\n"}

    def call(self, *arguments, **options):
        return subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True, timeout=120, **options)

    def content(self):
        return {p.name: p.read_bytes() for p in self.folder.iterdir() if p.is_file()}

    # The command must be refused with this status and text, and no file may change.
    def refused(self, status, words, *arguments, **options):
        before = self.content()
        done = self.call(*arguments, **options)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual(self.content(), before)

    def test_commands_and_the_sources_they_read(self):
        self.write("helper.rml", HELPER)
        self.write("user.rml", 'import "helper.rml";\nnode main(x: f64) -> (y: f64)\n  y = twice(x);\n')
        (self.folder / "alias.rml").symlink_to("user.rml")
        os.link(self.folder / "user.rml", self.folder / "same.rml")
        for target in ("user.rml", "./user.rml", "alias.rml", "same.rml", "helper.rml"):
            for command in (("show", "ast"), ("show", "core"), ("show", "asm"), ("build",), ("export",), ("diff",)):
                self.refused(1, ["E0804", f"cannot write '{target}'"], RMLC, *command, "user.rml", "-o", target)
        self.refused(1, ["E0804"], RMLC, "build", "user.rml", "--emit", "header", "-o", "helper.rml")
        self.write("main.h", "node main() -> (y: i32)\n  y = 1;\n")
        self.refused(1, ["main.h"], RMLC, "build", "main.h", "--emit", "lib", "-o", "main.o")

    # A library and its header, or a C source and its header: both are written or neither.
    def test_two_files_or_none(self):
        for place in ("folder", "folder/", "."):
            (self.folder / "folder").mkdir(exist_ok=True)
            for emit in ("lib", "c"):
                self.refused(1, ["E0804", f"cannot write '{place}': Is a directory"], RMLC, "build", "sum.rml", "--emit",
                             emit, "-o", place)
        self.assertEqual(list((self.folder / "folder").iterdir()), [])
        (self.folder / "taken.h").mkdir()
        for emit in ("lib", "c"):
            self.refused(1, ["cannot write 'taken.h': Is a directory"], RMLC, "build", "sum.rml", "--emit", emit, "-o",
                         "taken.o")
        os.mkfifo(self.folder / "pipe")
        self.refused(1, ["cannot write 'pipe': it is not a regular file"], RMLC, "build", "sum.rml", "--emit", "lib", "-o",
                     "pipe")
        self.refused(2, ["-o names the object"], RMLC, "build", "sum.rml", "--emit", "lib", "-o", "sum.h")
        self.refused(2, ["-o names the C source"], RMLC, "build", "sum.rml", "--emit", "c", "-o", "sum.h")

    # Files that may not grow simulate a full disk: the larger of two does not fit, and the other
    # one must stay unchanged.
    def test_two_files_or_none_where_a_disk_is_full(self):
        for emit, product in (("c", "main.c"), ("lib", "main.o")):
            build = [RMLC, "build", "sum.rml", "--emit", emit, "-o", product]
            self.assertEqual(self.call(*build).returncode, 0)
            for name in (product, "main.h"):
                os.chmod(self.folder / name, 0o640)
            sizes = {name: (self.folder / name).stat().st_size for name in (product, "main.h")}
            larger, limit = max(sizes, key=sizes.get), sum(sizes.values()) // 2
            self.write("sum.rml", SUM.replace("x +", "2.0 * x -"))
            self.refused(1, ["E0804", f"cannot write '{larger}': File too large"], *build,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            before = self.content()
            self.assertEqual(self.call(*build).returncode, 0)
            self.assertNotEqual(self.content()[product], before[product])
            self.assertEqual([(self.folder / name).stat().st_mode & 0o777 for name in sizes], [0o640, 0o640])
            self.write("sum.rml", SUM)

    def test_runs_whose_rows_do_not_fit(self):
        done = self.call(RMLC, "run", "count.rml", "--cycles", "10000", "--output", "o.csv",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)))
        self.assertEqual((done.returncode, done.stderr), (1, "cannot write 'o.csv': File too large\n"))

    def test_runs_and_what_they_are_made_of(self):
        self.write("helper.rml", HELPER)
        self.write("user.rml", 'import "helper.rml";\nnode main(x: f64) -> (y: f64)\n  y = twice(0.0 fby x);\n')
        for target in ("user.rml", "helper.rml", "x.csv"):
            for option in ("--save", "--plot", "--profile", "--resume"):
                more = ["--output", "o.csv"] if option == "--resume" else []
                self.refused(2, [f"{option} {target}: the file is"], RMLC, "run", "user.rml", "--input", "x.csv",
                             *more, option, target)
        self.refused(2, ["--output user.rml"], RMLC, "run", "user.rml", "--input", "x.csv", "--output", "user.rml",
                     "--format", "csv")

    def test_a_program_and_itself(self):
        self.assertEqual(self.call(RMLC, "build", "count.rml", "-o", "count").returncode, 0)
        for option in ("--save", "--plot", "--profile"):
            self.refused(2, [f"{option} count: the file is the program itself"], "./count", "--cycles", "3", option,
                         "count")
            self.refused(2, [f"{option} count.rml: the file is the program's source"], "./count", "--cycles", "3",
                         option, "count.rml")

    def test_two_outputs(self):
        options = ["--save", "--plot", "--profile", "--log"]
        (self.folder / "dangling").symlink_to("q")
        for first in options:
            for second in options:
                for other in ("q", "./q", "dangling"):
                    if first != second:
                        self.refused(2, ["the file is that of --"], RMLC, "run", "count.rml", "--cycles", "3", first,
                                     "q", second, other)
        for other in ("o.csv", "./o.csv"):
            self.refused(2, ["an input or output"], RMLC, "run", "count.rml", "--cycles", "3", "--output", "o.csv",
                         "--save", other)
        self.write("two.rml", "node main() -> (a: i32, b: i32)\n  a = 1;\n  b = 2;\n")
        self.refused(2, ["two outputs"], RMLC, "run", "two.rml", "--cycles", "3", "--output", "a=o.csv", "--output",
                     "b=./o.csv")

    def test_standard_output_that_is_a_file(self):
        with open(self.folder / "rows", "w") as out:
            done = subprocess.run([RMLC, "run", "count.rml", "--cycles", "3", "--save", "rows"], cwd=self.folder,
                                  stdout=out, stderr=subprocess.PIPE, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (2, "--save rows: the file is an input or output of this run\n"))

    # A state may replace the one with which the run began.
    def test_a_state_goes_on(self):
        for more in ([], ["--load", "state"], ["--load", "state"]):
            done = self.call(RMLC, "run", "sum.rml", "--input", "x.csv", "--save", "state", *more)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "y\n13\n15\n18\n")

    def test_what_cannot_be_written_is_said_before_the_first_cycle(self):
        endless = ["run", "count.rml", "--output", "o.csv", "--cycles", "100000000000"]
        for option in ("--save", "--plot", "--profile", "--log"):
            target = "count.rml/state" if option == "--log" else "nowhere/state"
            self.refused(1, [target], RMLC, *endless, option, target)
        self.assertFalse((self.folder / "nowhere").exists())

    # The picture cannot be written, because its folder is removed during the run.
    def test_the_state_is_there_whatever_happens_to_pictures(self):
        (self.folder / "gone").mkdir()
        process = subprocess.Popen([RMLC, "run", "sum.rml", "--plot", "gone/p.svg", "--save", "state"],
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        process.stdin.write("x\n1\n")
        process.stdin.flush()
        process.stdout.readline()
        (self.folder / "gone").rmdir()
        _, errors = process.communicate("2\n", timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(errors, "cannot write 'gone/p.svg': No such file or directory\n")
        self.assertTrue((self.folder / "state").exists())

    def test_names_that_somebody_could_have_foreseen(self):
        self.write("precious", "precious")
        (self.folder / "state.part").symlink_to("precious")
        self.assertEqual(self.call(RMLC, "run", "count.rml", "--cycles", "3", "--save", "state").returncode, 0)
        self.assertEqual((self.folder / "precious").read_text(), "precious")
        for command in (["build", "count.rml"], ["build", "count.rml", "--emit", "obj"], ["export", "count.rml"],
                        ["show", "graph", "count.rml", "-o", "g.svg" if shutil.which("dot") else "g.dot"]):
            before = set(self.content())
            self.assertEqual(self.call(RMLC, *command).returncode, 0, command)
            left = [name for name in set(self.content()) - before if name.startswith(".")]
            self.assertEqual((left, [p for p in self.folder.iterdir() if p.is_dir()]), ([], []))


if __name__ == "__main__":
    unittest.main()
