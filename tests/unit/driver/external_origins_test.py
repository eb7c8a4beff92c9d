"""External nodes call the functions of the files of --link, and no others, in every way of
building.

The nodes have names of functions in programs, the runtime, their libraries or the system.
Without --link each is refused. With a file that defines them, the file's own functions are
called, and no other part of the program calls them. Run by ctest: external_origins_test.py RMLC."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

RMLC = pathlib.Path(sys.argv.pop(1)).resolve()

NAMES = """
    abort accept aligned_alloc asctime atexit atoi bind calloc chdir chmod chown clock_gettime close connect
    creat dlopen dlsym dup2 environ_of execl execve exit fclose fdopen fopen fork fprintf fputs fread free fwrite getenv getpid
    getrandom gmtime kill link listen longjmp lseek malloc mcheck memcmp memcpy memmove memset mkdir mmap mprotect munmap
    open openat perror pipe popen posix_spawn printf pthread_create ptrace putenv puts qsort raise read realloc realpath
    remove rename rmdir sbrk setenv setjmp setuid shutdown sigaction signal sleep snprintf socket strcpy strlen
    symlink syscall system tmpfile unlink vfork waitpid write
    gzopen gzwrite deflate inflate crc32_z adler32 zlibVersion
    __cxa_atexit __cxa_throw __cxa_guard_acquire __gxx_personality_v0 _Unwind_Resume _Unwind_RaiseException
    __stack_chk_fail __libc_start_main __popcountdi2 at_quick_exit stat mknod pthread_atfork
    MPI_Init MPI_Abort MPI_File_open mosquitto_new mosquitto_publish
    rml_main rml_parallel rml_limit_threads rml_step_sum rml_broadcast rml_demand_init rml_mqtt_library rml_mpi_library
    dgemm_ dgesv_ dgetrf_ main top_program
""".split()

# C functions with the names in NAMES, to be linked into a program. An object file made from
# another language is like one made from C with the same symbols.
DEFINITIONS = "".join(f'void f{k}(double* y) __asm__("{name}");\nvoid f{k}(double* y) {{ *y = {k}; }}\n'
                      for k, name in enumerate(NAMES))


def program(names, inputs=""):
    """A program of these external nodes, whose outputs are their results."""
    declared = "".join(f"node {name}() -> (y: f64)\n" for name in names)
    outputs = ", ".join(f"y{k}: f64" for k in range(len(names)))
    return f"{declared}node top({inputs}) -> ({outputs})\n" + "".join(f"  y{k} = {n}();\n" for k, n in enumerate(names))


HALVES = NAMES[::2], NAMES[1::2]  # names for two programs, because at most a hundred messages are shown
ROW = ",".join(str(k) for k in range(len(NAMES)))

ENGINES = [["run", "p.rml", "--node", "top", "--cycles", "1", *more] for more in
           ([], ["-O", "0"], ["--engine", "reference"], ["--engine", "channels"], ["--threads", "2"])]
PROGRAMS = [["build", "p.rml", "--node", "top", "-o", "p", *more] for more in
            ([], ["-O", "0"], ["--parallel"], ["--grain", "op"], ["--threads", "2"], ["--mqtt"])]
FORMS = [["build", "p.rml", "--node", "top", "--emit", form, "-o", "p." + suffix] for form, suffix in
         (("obj", "o"), ("asm", "s"), ("llvm", "ll"), ("bc", "bc"), ("lib", "o"), ("header", "h"), ("c", "c"))]
TRACE = ["trace", "p.rml", "--node", "top", "--cycles", "1"]


class Origins(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.write("p.rml", program(NAMES))

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def call(self, *command):
        return subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def rmlc(self, *arguments):
        return self.call(RMLC, *arguments)

    def compile(self):
        self.write("f.c", DEFINITIONS)
        for command in (["cc", "-c", "-fPIC", "f.c"], ["ar", "rcs", "libf.a", "f.o"], ["ar", "rcsT", "libthin.a", "f.o"],
                        ["cc", "-shared", "-nostdlib", "-o", "libf.so", "f.o"]):
            done = self.call(*command)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_names(self):
        self.assertGreater(len(NAMES), 111)
        self.assertEqual(len(NAMES), len(set(NAMES)))

    def refused(self, command):
        with self.subTest(command=command):
            before = {p.name for p in self.folder.iterdir()}
            done = self.rmlc(*command)
            self.assertEqual(done.returncode, 1, done.stderr)
            # If no program is built, some are refused for their names, with the same code.
            named = re.findall(r"error\[E0805\]: external (?:function|node) '(\w+)'", done.stderr)
            self.assertEqual({p.name for p in self.folder.iterdir()}, before)
            return set(named)

    def test_no_file(self):
        for names in HALVES:
            self.write("p.rml", program(names))
            for command in (*ENGINES, *PROGRAMS, TRACE):
                self.assertEqual(self.refused(command), set(names))
            done = self.rmlc("build", "p.rml", "--node", "top", "--mpi", "-o", "p")
            self.assertEqual(done.returncode, 1)
            self.assertIn("E0805", done.stderr)

    def test_no_file_of_dealt_rows(self):
        for names in HALVES:
            self.write("p.rml", program(names, "end: bool, x: f64 dealt end by 2"))
            self.assertEqual(self.refused(["build", "p.rml", "--node", "top", "--ranks", "-o", "p"]), set(names))

    def test_no_file_each(self):
        """Each name in a program of its own, because names are refused before links are checked."""
        for name in NAMES[::7] + ["gzopen", "atexit", "dgemm_", "MPI_Init"]:
            self.write("p.rml", f"node {name}() -> (y: f64)\nnode top() -> (y: f64)\n  y = {name}();\n")
            for command in FORMS if name in ("gzopen", "atexit") else FORMS[4:5]:
                self.assertEqual(self.refused(command), {name})

    def test_a_file_that_defines_something_else(self):
        self.write("g.c", "void g(double* y) { *y = 1; }\ndouble table = 1;\n")
        self.assertEqual(self.call("cc", "-shared", "-fPIC", "g.c", "-o", "libg.so").returncode, 0)
        self.assertEqual(self.call("cc", "-c", "g.c").returncode, 0)
        for file in ("libg.so", "g.o"):
            for names in HALVES:
                self.write("p.rml", program(names))
                for command in (ENGINES[0], PROGRAMS[0]):
                    self.assertEqual(self.refused([*command, "--link", file]), set(names))
        # A data symbol is not a function.
        self.write("p.rml", "node table() -> (y: f64)\nnode top() -> (y: f64)\n  y = table();\n")
        for file in ("libg.so", "g.o"):
            for command in (ENGINES[0], ENGINES[2], PROGRAMS[0]):
                self.assertEqual(self.refused([*command, "--link", file]), {"table"})

    def test_the_files_own_functions_are_called(self):
        self.compile()
        for file in ("f.o", "libf.a", "libthin.a", "libf.so"):
            for command in ENGINES:
                if "reference" in command and not file.endswith(".so"):
                    continue  # skips object files, because the reference engine calls shared libraries only
                with self.subTest(file=file, command=command):
                    done = self.rmlc(*command, "--link", file)
                    self.assertEqual((done.returncode, done.stdout.splitlines()[1:]), (0, [ROW]), done.stderr)
            for command in PROGRAMS:
                with self.subTest(file=file, command=command):
                    done = self.rmlc(*command, "--link", file)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    # The runtime's calls of zlib reach zlib itself.
                    done = self.call("./p", "--cycles", "1", "--output", "rows.csv.gz")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    rows = self.call("gzip", "-dc", "rows.csv.gz").stdout
                    self.assertEqual(rows.splitlines()[1:], [ROW])

    def test_an_object_that_needs_a_library(self):
        self.write("low.c", "double low(double x) { return 3 * x; }\n")
        self.write("high.c", "double low(double);\nvoid high(double x, double* y) { *y = low(x); }\n")
        self.write("p.rml", "node high(x: f64) -> (y: f64)\nnode main() -> (y: f64)\n  y = high(14.0);\n")
        self.assertEqual(self.call("cc", "-shared", "-fPIC", "low.c", "-o", "liblow.so").returncode, 0)
        self.assertEqual(self.call("cc", "-c", "-fPIC", "high.c").returncode, 0)
        for links in (["--link", "high.o", "--link", "liblow.so"], ["--link", "liblow.so", "--link", "high.o"]):
            self.assertEqual(self.rmlc("run", "p.rml", "--cycles", "1", *links).stdout, "y\n42\n")
            done = self.rmlc("build", "p.rml", "-o", "p", *links)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(self.call("./p", "--cycles", "1").stdout, "y\n42\n")

    def test_a_library_that_is_gone(self):
        self.write("p.rml", "node twice(x: f64) -> (y: f64)\nnode main() -> (y: f64)\n  y = twice(2.0);\n")
        self.write("t.c", "void twice(double x, double* y) { *y = 2 * x; }\n")
        self.assertEqual(self.call("cc", "-shared", "-fPIC", "t.c", "-o", "libt.so").returncode, 0)
        self.assertEqual(self.rmlc("build", "p.rml", "--link", "libt.so", "-o", "p").returncode, 0)
        self.assertEqual(self.call("./p", "--cycles", "1").stdout, "y\n4\n")
        (self.folder / "libt.so").rename(self.folder / "libu.so")
        done = self.call("./p", "--cycles", "1")
        self.assertEqual(done.returncode, 127)
        self.assertIn("libt.so", done.stderr)

    def test_functions_that_the_user_links_later(self):
        self.write("p.rml", "node sensor(x: f64) -> (y: f64)\nnode pid(x: f64) -> (y: f64)\n  y = sensor(x);\n")
        for form in ("obj", "lib", "c", "header"):
            command = ["build", "p.rml", "--node", "pid", "--emit", form, "-o", "r." + {"c": "c", "header": "h"}.get(form, "o")]
            done = self.rmlc(*command)
            self.assertEqual(done.returncode, 1)
            self.assertIn("--external sensor", done.stderr)
            done = self.rmlc(*command, "--external", "sensor")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        done = self.rmlc("build", "p.rml", "--node", "pid", "--external", "sensor")
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main()
