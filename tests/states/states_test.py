"""States that were saved once can always be loaded: states_test.py RMLC.

PROGRAM.FORMAT.state was saved after SPLIT rows by the version that introduced the format; the
rows that follow are in PROGRAM.csv. Neither is ever written again: a version that does not read
them breaks a promise of the manual. A further format adds files, made by states_test.py RMLC
--make FORMAT.
"""

import pathlib
import subprocess
import sys
import unittest

RMLC, FOLDER = pathlib.Path(sys.argv.pop(1)).resolve(), pathlib.Path(__file__).parent
SPLIT, ROWS = 409, 449
WAYS = {
    "-O0": ["-O0"],
    "-O3": ["-O3"],
    "segments": ["--chunk", "segment"],
    "threads": ["--threads", "2"],
    "stages": ["--engine", "channels"],
    "operators": ["--engine", "channels", "--grain", "op"],
}
OF_ONE_THREAD = {"strides"}


def rows(first, last):
    lines = [f"{'FT'[k % 7 == 0]},{'FT'[k * k % 5 == 1]},{k * 37 % 11 / 4 - 1}\n" for k in range(first, last)]
    return "e,q,x\n" + "".join(lines)


def run(program, first, last, *options):
    done = subprocess.run([RMLC, "run", f"{program}.rml", *options, "--seed", "5", "--quiet"], cwd=FOLDER,
                          input=rows(first, last), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


class States(unittest.TestCase):
    def test_all(self):
        states = sorted(FOLDER.glob("*.state"))
        self.assertGreaterEqual(len(states), 2)
        for state in states:
            program = state.name.split(".")[0]
            expected = (FOLDER / f"{program}.csv").read_text().splitlines()
            ways = {k: v for k, v in WAYS.items() if "--engine" not in v} if program in OF_ONE_THREAD else WAYS
            for way, options in ways.items():
                with self.subTest(state=state.name, way=way):
                    self.assertEqual(run(program, SPLIT, ROWS, "--strict-math", *options, "--load", state.name), expected)

    def test_rows_are_those_of_one_run(self):
        for expected in FOLDER.glob("*.csv"):
            program = expected.stem
            lines = expected.read_text().splitlines()
            whole = run(program, 0, ROWS, "--strict-math")
            self.assertEqual((whole[0], whole[-len(lines) + 1 :]), (lines[0], lines[1:]), program)


def make(version):
    for source in FOLDER.glob("*.rml"):
        state = f"{source.stem}.{version}.state"
        run(source.stem, 0, SPLIT, "--strict-math", "--save", state)
        after = run(source.stem, SPLIT, ROWS, "--strict-math", "--load", state)
        source.with_suffix(".csv").write_text("\n".join(after) + "\n")


if sys.argv[1:2] == ["--make"]:
    make(sys.argv[2])
else:
    unittest.main(verbosity=0)
