"""States of programs that were changed afterwards: moved.py FROM COUNT RMLC.

Each case is a program, some rows and a state. Then the equations are reordered, variables are
renamed, calls are added or removed, and the program continues with the state. It must write the
rows that the old program would have written, or refuse the state with a name. The last line
contains the counts.
"""

import copy
import pathlib
import subprocess
import sys
import tempfile

import moved_programs

FIRST, ROWS = 7, 12
# Messages that name the instance or variable whose state is refused.
NAMES = ("is not in the file", "only in the file", "differs in")


def table(first, last):
    return "x,z\n" + "".join(f"{k * 37 % 11 / 4 - 1},{k * k % 5 + 0.5}\n" for k in range(first, last))


def columns(text):
    lines = [line.split(",") for line in text.splitlines()]
    return {name: [line[k] for line in lines[1:]] for k, name in enumerate(lines[0])} if lines else {}


class Search:
    def __init__(self, rmlc):
        self.rmlc = rmlc
        self.place = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.place.name)

    def run(self, text, first, last, *options):
        (self.folder / "p.rml").write_text(text)
        return subprocess.run([self.rmlc, "run", "p.rml", "-O0", "--strict-math", *options], input=table(first, last),
                              cwd=self.folder, capture_output=True, text=True, timeout=120)

    def case(self, number):
        """Returns "same", "refused", or the error."""
        before, draw = moved_programs.case(number)
        after = copy.deepcopy(before)
        done = moved_programs.change(after, draw)
        whole = self.run(before.text(), 0, ROWS)
        first = self.run(before.text(), 0, FIRST, "--save", "state")
        if whole.returncode or first.returncode:
            return f"case {number}: {whole.stderr}{first.stderr}"
        expected = columns(whole.stdout)
        again = self.run(after.text(), FIRST, ROWS, "--load", "state")
        if again.returncode:
            named = any(name in again.stderr for name in NAMES)
            return "refused" if again.returncode == 1 and named else f"case {number} {done}: {again.stderr}"
        for name, values in columns(again.stdout).items():
            if name in expected and values != expected[name][FIRST:]:
                return f"case {number} {done}: {name} is {values}, not {expected[name][FIRST:]}\n{before.text()}\n{after.text()}"
        if "extra" in after.outputs:
            return f"case {number} {done}: what is new has no state, and was not refused"
        return "same"


def main():
    first, count, rmlc = int(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3]).resolve()
    search, counts = Search(rmlc), {"same": 0, "refused": 0, "wrong": 0}
    for number in range(first, first + count):
        found = search.case(number)
        counts[found if found in counts else "wrong"] += 1
        if found not in counts:
            print(found)
    print(f"cases={count} " + " ".join(f"{key}={value}" for key, value in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
