"""Checks structure.py on sources written for it: it must find what it should and nothing else."""

import pathlib
import subprocess
import sys
import tempfile

CHECKER = pathlib.Path(__file__).with_name("structure.py")
LINES = "".join(f"  a += {k};\n" for k in range(57))  # body of a function of 60 lines, together with `int f(int a) {`,
                                                      # `return a;` and `}`

# Path and text, and the expected findings.
FUNCTIONS = {
    "semantics/fits.cc": "namespace rml {\nint sixty(int a) {\n" + LINES + "  return a;\n}\n}\n",
    "semantics/long.cc": "namespace rml {\nint one_more(int a) {\n" + LINES + "\n  return a;\n}\n}\n",
    # 1 + if + 2 && + ? + for + case, each four times, is 25. The comment, the text and `auto&&`
    # do not count.
    "semantics/busy.cc": "struct S {\n  S(int a) : a_{a}, b_(a) {\n"
    + "    if (a && a && a) a = a ? 1 : 2;  // if && ? for\n" * 4
    + "    for (auto&& x : list) switch (x) { case 'a': say(\"if && ?\"); }\n" * 4
    + "  }\n  int more(int a) const {\n    return [&] { "
    + "if (a) ++a; " * 25
    + "return a; }();\n  }\n  int a_, b_ = {1};\n};\n",
}
CLASSES = {
    "semantics/a.h": "namespace rml {\nclass A {\n public:\n  int f();\n  int g();\n  struct Inner {};\n};\nclass B { int f(); };\n}\n",
    "semantics/a.cc": "#include \"semantics/a.h\"\nnamespace rml {\nint A::f() { return 1; }\nint B::f() { return 1; }\n}\n",
    "semantics/a_more.cc": "#include \"semantics/a.h\"\nnamespace rml {\nstd::vector<int> A::g() const { return {}; }\n}\n",
    "compiler/a.h": "namespace other {\nstruct A {\n  int h();\n};\n}\n",
    "compiler/a.cc": '#include "compiler/a.h"\nint A::h() { return 1; }\n',
    # Separate classes with the same names as others.
    "semantics/own.cc": "namespace {\nstruct B { int f(); };\nint B::f() { return 1; }\n}\n",
    "semantics/inner.cc": "namespace {\nstruct Inner { int f(); };\nint Inner::f() { return 1; }\n}\n",
}
MODULES = {
    "semantics/x.h": '#include "semantics/y.h"\nint x();\n',
    "semantics/x.cc": '#include "semantics/x.h"\nint x() { return 1; }\n',
    "semantics/y.h": "int y();\n",
    "semantics/y.cc": '#include "semantics/y.h"\n#include "semantics/z.h"\nint y() { return 1; }\n',
    "semantics/z.h": '#include "semantics/x.h"\n',
    "semantics/user.cc": '#include "semantics/x.h"\nint user() { return 1; }\n',
}
IMPORTS = {
    "python/rmlc/__init__.py": "from .a import f\n\n\ndef g():\n    from . import _core\n",
    "python/rmlc/a.py": "def f():\n    from . import b\n",
    "python/rmlc/b.py": "import rmlc.c\nfrom . import _core\n",
    "python/rmlc/c.py": "class C:\n    def f(self):\n        from .a import f\n",
    # Only a type checker follows the import of `e`.
    "python/rmlc/d.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from .e import E\nelse:\n    from .c import C\n",
    "python/rmlc/e.py": "from .d import C\n",
}
FOLDERS = {f"lowering/full/f{k}.cc": "int f() { return 1; }\n" for k in range(41)} | {
    f"lowering/fits/f{k}.h": "int f() { return 1; }\n" for k in range(40)
}
CASES = [
    ("functions", FUNCTIONS, "semantics/busy.cc:12: more has complexity 26, more than 25\n"
                             "semantics/long.cc:2: one_more has 61 lines, more than 60\n"),
    ("classes", CLASSES, "the class A is defined in 3 files, more than 2: semantics/a.cc, semantics/a.h, semantics/a_more.cc\n"),
    ("modules", MODULES, "5 files include each other in a ring: semantics/x.cc, semantics/x.h, semantics/y.cc, "
                         "semantics/y.h, semantics/z.h\n"),
    ("imports", IMPORTS, "3 modules import each other in a ring: rmlc.a, rmlc.b, rmlc.c\n"),
    ("folders", FOLDERS, "lowering/full: 41 sources, more than 40\n"),
]


def said(rule, files):
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            place = pathlib.Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        done = subprocess.run([sys.executable, CHECKER, folder, rule], capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr


def main():
    failures = 0
    for rule, files, expected in CASES:
        got = said(rule, files)
        if got != (1, expected, ""):
            failures += 1
            print(f"{rule}: expected\n{expected}got\n{got}")
    code, _, error = said("functions", {"semantics/empty.h": "int a;\n"})
    if code != 1 or "no functions found" not in error:
        failures += 1
        print("a tree without functions passes")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
