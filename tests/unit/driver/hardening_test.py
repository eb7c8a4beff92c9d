"""Programs built by rmlc, and rmlc itself, have no fixed address, tables that are read-only
before the first cycle, no executable stack, and no shared libraries except the system's.

Read by readelf from the files, and from /proc of a running program. Run by ctest:
hardening_test.py RMLC."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1))
RUNNER = RMLC.parent.parent / "lib" / "rmlc" / "runner"
PROGRAM = "node main(x: f64) -> (y: f64)\n  y = exp(x) + (0.0 fby y);\n"
EXTERNAL = "node twice(x: f64) -> (y: f64)\nnode main(x: f64) -> (y: f64)\n  y = twice(x);\n"
C = "double twice(double x) { return 2 * x; }\n"


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@unittest.skipUnless(sys.platform == "linux" and shutil.which("readelf"), "reads ELF files")
class Hardening(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        (self.folder / "p.rml").write_text(PROGRAM)

    def tearDown(self):
        shutil.rmtree(self.folder)

    def build(self, *arguments, environment=None):
        return subprocess.run([RMLC, "build", *arguments], cwd=self.folder, capture_output=True, text=True, env=environment)

    def linked(self):
        """A program that was built with a linker."""
        (self.folder / "e.rml").write_text(EXTERNAL)
        (self.folder / "twice.c").write_text(C)
        subprocess.run(["cc", "-c", "-fPIC", "twice.c"], cwd=self.folder, check=True)
        done = self.build("e.rml", "--link", "./twice.o", "-o", "e")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "e"

    def attached(self):
        done = self.build("p.rml", "-o", "p")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "p"

    def check_file(self, file):
        self.assertRegex(readelf("-h", file), r"Type: +DYN")
        segments = readelf("-l", file)
        self.assertIn("GNU_RELRO", segments)
        stack = re.search(r"GNU_STACK.*", segments).group(0)
        self.assertNotRegex(stack, r"R?WE")
        for load in re.findall(r"^ +LOAD .*", segments, re.MULTILINE):
            self.assertNotRegex(load, r"W +?E|WE")
        self.assertIn("NOW", readelf("-d", file))

    def test_files(self):
        for file in (RMLC, self.attached(), self.linked()):
            with self.subTest(file=file.name):
                self.check_file(file)

    def test_shared_libraries(self):
        """Other libraries are loaded on demand (libmosquitto), or are archives."""
        loader = r"ld-linux.*|ld\.so.*"
        named = re.findall(r"\(NEEDED\) +Shared library: \[(.*)\]", readelf("-d", RMLC))
        self.assertIn("libc.so.6", named)
        for name in named:
            self.assertRegex(name, rf"^(libc|libm|libstdc\+\+)\.so\.\d+$|^{loader}$")
        listed = subprocess.run(["ldd", RMLC], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            self.assertRegex(line.strip(), rf"^(linux-vdso|libc|libm|libstdc\+\+)\.so\.|^/\S*/({loader}) ")

    def test_objects(self):
        done = self.build("p.rml", "--emit", "lib", "-o", "p.o")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(".note.GNU-stack", readelf("-S", self.folder / "p.o"))
        for name, flags in re.findall(r"\] (\S+) +\w+ +[0-9a-f]+ [0-9a-f]+ (?!000000)[0-9a-f]+ [0-9a-f]+ +([A-Z]*) ",
                                      readelf("-S", self.folder / "p.o")):
            self.assertFalse("W" in flags and "X" in flags, name)
            self.assertFalse("W" in flags and not name.startswith(".data.rel.ro"), name)

    def rights(self, program, symbol):
        """The rights of the page that contains a symbol, and the program's address, after a
        row was written."""
        with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as running:
            running.stdin.write("x\n1\n")
            running.stdin.flush()
            self.assertEqual(running.stdout.readline(), "y\n")
            running.stdout.readline()
            maps = pathlib.Path(f"/proc/{running.pid}/maps").read_text()
            running.stdin.close()
        address = int(re.search(rf"([0-9a-f]{{16}}).* {symbol}$", readelf("-s", program), re.MULTILINE).group(1), 16)
        pages = [line.split() for line in maps.splitlines() if line.endswith(str(program))]
        base = int(pages[0][0].split("-")[0], 16)
        for line in maps.splitlines():
            begin, end = (int(word, 16) for word in line.split()[0].split("-"))
            self.assertNotIn("wx", line.split()[1])
            if begin <= base + address < end:
                return line.split()[1], base
        return self.fail("the symbol is in no page")

    def test_tables_are_sealed(self):
        for program, symbol in ((self.attached(), "main_program"), (self.linked(), "main_program")):
            with self.subTest(program=program.name):
                self.assertEqual(self.rights(program, symbol)[0], "r--p")

    @unittest.skipUnless(RUNNER.exists(), "this machine's rmlc uses a linker")
    def test_places_differ(self):
        if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
            self.skipTest("the system puts all programs at one place")
        program = self.attached()
        self.assertGreater(len({self.rights(program, "main_program")[1] for _ in range(4)}), 1)

    def test_where_the_linker_was_looked_for(self):
        """The linker is not taken from the current folder either, whatever PATH contains."""
        (self.folder / "cc").write_text("#!/bin/sh\ntouch called\n")
        os.chmod(self.folder / "cc", 0o755)
        self.linked()
        done = self.build("e.rml", "--link", "./twice.o", "-o", "f", environment={"PATH": ":.:/nowhere:/nothing"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("looked in /nowhere, /nothing", done.stderr)
        self.assertFalse((self.folder / "called").exists())


unittest.main()
