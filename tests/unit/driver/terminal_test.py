"""No input may control the terminal, and messages quote little of it: terminal_test.py RMLC."""

import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import unittest

RMLC = sys.argv.pop(1)

# Clears the screen, sets the title (also by a single character), reverses the reading order,
# rings the bell.
EVIL = "\x1b[2J\x1b]0;title\x07\u009b2J\u202egnp\u2066\r"
PLAIN = "node main(x: f64) -> (y: f64)\n  y = x + 1.0;\n"


def harmless(data, colour=False):
    text = data.decode()
    if colour:
        for code in ("0", "1", "1;31", "1;33", "1;34", "1;32"):
            text = text.replace(f"\x1b[{code}m", "")
    return not any(c in text for c in EVIL if not c.isprintable()) and "\x1b" not in text


class Terminal(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)
        self.write("a.rml", PLAIN)

    def tearDown(self):
        self.place.cleanup()

    def write(self, name, content):
        (self.folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    # The error is reported on stderr, harmlessly and briefly.
    def complaint(self, *arguments, status=1, say="\\u{1b}[2J", text=None):
        done = subprocess.run([RMLC, *arguments], cwd=self.folder, capture_output=True, timeout=120,
                              input=text.encode() if text is not None else None)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertTrue(harmless(done.stderr, "--color" in arguments), done.stderr)
        self.assertIn(say, done.stderr.decode())
        if "sarif" not in arguments:  # skips SARIF, whose files list all codes
            self.assertLess(len(done.stderr), 5000)
        return done.stderr.decode()

    def test_sources(self):
        for content in (f"node main() -> (y: f64)\n  y = {EVIL};\n", f'import "{EVIL}";\n{PLAIN}',
                        f"node main() -> (y: f64) -- {EVIL}\n  y = z;\n", f"node main() -> (y: f64)\n  y = \"{EVIL}\";\n",
                        f'node main() -> (y: f64)\n  y = load("{EVIL}", "x");\n'):
            self.write("b.rml", content)
            # The error E0201 needs no text of the comment; the others quote the text.
            say = "E0201" if "y = z" in content else "\\u{1b}[2J"
            for color in ("never", "always"):
                self.complaint("check", "b.rml", "--color", color, say=say)
            for form in ("json", "sarif"):
                errors = self.complaint("check", "b.rml", "--error-format", form, say="")
                self.assertTrue(errors.isascii())
                json.loads(errors)

    def test_names_of_files(self):
        self.write(EVIL + ".rml", "node main() -> (y: f64)\n  y = z;\n")
        self.complaint("check", EVIL + ".rml")
        for command in ("check", "build", "run", "fmt"):
            self.complaint(command, "none" + EVIL + ".rml")
        self.complaint("import", "none" + EVIL + ".onnx")
        self.complaint("import", "none" + EVIL, status=2)
        self.complaint("explain", "none" + EVIL, status=2)
        self.complaint(EVIL, status=2)
        self.complaint("build", "a.rml", "-o", f"none{EVIL}/a")
        self.complaint("run", "a.rml", "--input", f"none{EVIL}.csv")
        self.complaint("run", "a.rml", "--" + EVIL, status=2)
        self.complaint("run", "a.rml", "--save", f"none{EVIL}/a", text="x\n1\n")
        message = self.complaint("check", "two\nerror[E0101]: lines.rml", say="\\u{a}")
        self.assertNotIn("\nerror[E0101]", message)

    def test_rows(self):
        for name, content in {
            "cell.csv": f"x\n{EVIL}\n",
            "header.csv": f"{EVIL[:-1]},{EVIL[:-1]}\n1,2\n",
            "value.jsonl": '{"x": "' + EVIL + '"}\n',
            "key.jsonl": '{"' + EVIL + '": 1}\n',
            "none.jsonl": EVIL + "\n",
            "cell.chron": f"x | {EVIL}\n",
            "name.chron": f"{EVIL[:-1]} | 1\n",
        }.items():
            self.write(name, content)
            say = "U+001B" if "jsonl" in name else "no " if name in ("header.csv", "name.chron") else "\\u{"
            self.complaint("run", "a.rml", "--input", name, say=say)

    def test_arrays_and_tensors(self):
        head = "{'descr': '" + EVIL + "', 'fortran_order': False, 'shape': (1,)}\n"
        encoded = head.encode("latin-1", "replace")
        self.write("x.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(encoded)) + encoded)
        self.complaint("run", "a.rml", "--input", "x.npy")
        self.write("p.rml", "node main(x: f64) -> (y: f64)\n  y = param(1.0) * x;\n")
        header = json.dumps({EVIL: {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}}).encode()
        self.write("p.safetensors", struct.pack("<Q", len(header)) + header + bytes(8))
        self.complaint("run", "p.rml", "--load-params", "p.safetensors", text="x\n1\n", say="")
        header = json.dumps({"w": {"dtype": EVIL, "shape": [], "data_offsets": [0, 8]}}).encode()
        self.write("p.safetensors", struct.pack("<Q", len(header)) + header + bytes(8))
        self.complaint("run", "p.rml", "--load-params", "p.safetensors", text="x\n1\n", say="")
        self.write("l.rml", 'node main() -> (y: f64)\n  y = load("p.safetensors", "w");\n')
        self.complaint("check", "l.rml")

    def test_messages_quote_little(self):
        long = "x" * 1_000_000
        for source in (f"node main() -> (y: f64)\n  y = {long};\n", f"node main() -> (y: f64)\n  y = {'1' * 1_000_000};\n",
                       f'import "{long}";\n{PLAIN}', f'node main() -> (y: f64)\n  y = load("{long}", "x");\n'):
            self.write("b.rml", source)
            self.complaint("check", "b.rml", say="error")
            errors = subprocess.run([RMLC, "check", "b.rml", "--error-format", "json"], cwd=self.folder,
                                    capture_output=True, timeout=120).stderr
            self.assertLess(len(json.loads(errors)["diagnostics"][0]["message"]), 400)
        for name, content in {
            "cell.csv": f"x\n{long}\n",
            "header.csv": f"{long},{long}\n1,2\n",
            "spaces.csv": "x\n" + "' a" * 100_000 + "\n",
            "value.jsonl": '{"x": "' + long + '"}\n',
            "key.jsonl": '{"' + long + '": 1}\n',
            "cell.chron": f"x | {long}\n",
        }.items():
            self.write(name, content)
            self.complaint("run", "a.rml", "--input", name, say="")

    def test_passes_and_forms(self):
        name = EVIL[:-1]
        self.complaint("opt", name, status=2)
        self.complaint("opt", "simplify", text=f"{name} x")
        self.complaint("opt", "simplify", text=f"form core 1\ncore {name}\n")
        self.complaint("show", "--after", name, "a.rml", status=2)

    # Characters that change the display order of a comment or text are escaped in C.
    def test_generated_c(self):
        for text in ("\u202egnp\u2066", "\x1b[2J"):
            self.write("c.rml", f"node main(x: f64) -> (y: f64)\n  y = (0.0 fby y) + x (* {text} *) * 3.0;\n")
            done = subprocess.run([RMLC, "build", "c.rml", "--emit", "c"], cwd=self.folder, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            for name in ("main.c", "main.h"):
                self.assertTrue(harmless((self.folder / name).read_bytes()), name)
        self.assertIn(b"\\u{1b}[2J", (self.folder / "main.c").read_bytes())

    # A source may import any file. If a file elsewhere is not a source, none of it is quoted.
    def test_imports_from_elsewhere(self):
        (self.folder / "of").mkdir()
        secret = "root:$6$salt$hash:19000:0:99999:7:::\ndaemon:*:19000:0:99999:7:::\n"
        self.write("shadow", secret)
        self.write("of/shadow", secret)
        for place in ("../shadow", str(self.folder / "shadow")):
            self.write("of/p.rml", f'import "{place}";\n{PLAIN}')
            for more in ((), ("--error-format", "json"), ("--error-format", "sarif")):
                said = self.complaint("check", "of/p.rml", *more, say=": line 1 has an error")
                for word in ("root", "salt", "hash", "19000", "daemon"):
                    self.assertNotIn(word, said)
        # Lines of files are quoted if the files are in the program's folder or in a folder of -I.
        self.write("of/p.rml", f'import "shadow";\n{PLAIN}')
        self.complaint("check", "of/p.rml", say="root:$6$salt")
        self.write("of/p.rml", f'import "../shadow";\n{PLAIN}')
        self.complaint("check", "of/p.rml", "-I", ".", say="root:$6$salt")
        # Sources elsewhere may be imported.
        self.write("twice.rml", "node twice(x: f64) -> (y: f64)\n  y = 2.0 * x;\n")
        self.write("of/p.rml", 'import "../twice.rml";\nnode main(x: f64) -> (y: f64)\n  y = twice(x);\n')
        done = subprocess.run([RMLC, "check", "of/p.rml"], cwd=self.folder, capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Errors in tensor files never quote content.
        for place in ("shadow", "../shadow"):
            self.write("of/p.rml", f'node main() -> (y: f64)\n  y = load("{place}", "w");\n')
            said = self.complaint("check", "of/p.rml", say="shadow")
            for word in ("root", "salt", "19000"):
                self.assertNotIn(word, said)

    # Results are written to files unchanged, and made safe for a terminal.
    def test_results(self):
        source = f"-- {EVIL[:-1]} é\n{PLAIN}"
        self.write("c.rml", source)
        piped = subprocess.run([RMLC, "fmt", "-"], input=source.encode(), capture_output=True, timeout=120)
        self.assertEqual((piped.returncode, piped.stdout), (0, source.encode()))
        ours, theirs = pty.openpty()
        with open(self.folder / "c.rml", "rb") as stdin:
            done = subprocess.run([RMLC, "fmt", "-"], stdin=stdin, stdout=theirs, timeout=120)
        os.close(theirs)
        seen = b""
        while not seen.endswith(b";\r\n"):
            seen += os.read(ours, 1 << 16)
        os.close(ours)
        self.assertEqual(done.returncode, 0)
        seen = seen.replace(b"\r\n", b"\n")
        self.assertTrue(harmless(seen), seen)
        self.assertTrue(seen.startswith("-- \\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{9b}2J\\u{202e}gnp\\u{2066} é\n".encode()))


if __name__ == "__main__":
    unittest.main()
