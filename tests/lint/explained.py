"""The wrong example of a page of `rmlc explain` must give the page's code, and the right one must
pass.

Run by ctest: explained.py RMLC PAGE. A page has a part that begins with "Wrong" and one that
begins with "Right". In each,

    ```rml, ```c        is a file (`-- file: NAME` on its first line names it); those of the
                        wrong part remain for the right one
    ```sh               are commands, one per line; without any, the last program is checked
                        by `rmlc check`

The last command of the wrong part must report the page's code and no other. The right part must
pass without output.
"""

import pathlib
import re
import sys
import tempfile

from blocks import blocks, run, saved_name

RMLC, PAGE = sys.argv[1], pathlib.Path(sys.argv[2])
CODE = PAGE.stem


def long_chain(program):
    """The program that the page of E0104 shows in part, in its stated length."""
    return program.replace("a + a + a + a", " + ".join(["a"] * 10_001))


def perform(part, folder):
    """Runs the part; returns its last command, the exit status and the output."""
    commands = []
    for _, fence, body in blocks(part):
        if fence == "sh":
            commands += [line for line in body.split("\n") if line]
        elif fence in ("rml", "c"):
            name = saved_name(body) or "example.rml"
            (folder / name).write_text(long_chain(body) if CODE == "E0104" else body, encoding="utf-8")
            checked = f"rmlc check {name}"
    for command in commands or [checked]:
        done = run(RMLC, command, folder)
    return command, done.returncode, done.stderr


def problems(text):
    wrong, right = re.split(r"\n(?=Right)", text)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        command, status, said = perform(wrong[wrong.index("\nWrong"):], folder)
        codes = re.findall(r"\b(?:error|warning)\[(\w+)\]", said)
        if set(codes) != {CODE} or status != (1 if CODE.startswith("E") else 0):
            yield f"the wrong example: {command}: exit status {status}, codes {codes}\n{said}"
        command, status, said = perform(right, folder)
        if status != 0 or said:
            yield f"the right example: {command}: exit status {status}\n{said}"


found = [f"{PAGE}: {problem}" for problem in problems(PAGE.read_text(encoding="utf-8"))]
print("\n".join(found))
sys.exit(1 if found else 0)
