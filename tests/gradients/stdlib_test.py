"""Gradients of every node of the standard library, by `rmlc gradcheck`: stdlib_test.py RMLC
STDLIB.

Each node has a case in stdlib_cases.py: its gradient is right, it is refused, or there is
nothing to differentiate. A node without a case fails the test."""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from stdlib_cases import DIFFERENTIABLE, REFUSED, WITHOUT

RMLC, STDLIB = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])


def all_nodes():
    for file in sorted(STDLIB.glob("*.rml")):
        for node in re.findall(r"^node (\w+)", file.read_text(encoding="utf-8"), re.MULTILINE):
            yield node if file.stem == "prelude" else f"{file.stem}.{node}"


def program(inputs, outputs, call):
    modules = sorted(set(re.findall(r"(\w+)\.[a-z]", call)))
    names = ", ".join(o.split(":")[0].strip() for o in outputs.split(","))
    imports = "".join(f"import {m};\n" for m in modules)
    return f"{imports}\nnode f({inputs}) -> ({outputs})\n  {names} = {call};\n"


def gradcheck(text):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "case.rml").write_text(text)
        return subprocess.run([RMLC, "gradcheck", "case.rml", "--node", "f"], cwd=folder, capture_output=True,
                              text=True, check=False)


def check_right(node, inputs, outputs, call):
    text = program(inputs, outputs, call)
    done = gradcheck(text)
    rows = [re.split(r"  +", line) for line in done.stdout.splitlines()[2:]]
    right = rows and all(len(r) == 5 and r[4] == "right" and not r[1].startswith("0 ") for r in rows)
    return "" if done.returncode == 0 and right else f"{node}:\n{text}{done.stdout}{done.stderr}"


def check_refused(node, inputs, outputs, call, words):
    text = program(inputs, outputs, call)
    done = gradcheck(text)
    return "" if done.returncode == 1 and words in done.stderr else f"{node}, not `{words}`:\n{text}{done.stdout}{done.stderr}"


def main():
    problems, tables, nodes = [], (DIFFERENTIABLE, REFUSED, WITHOUT), list(all_nodes())
    for node in nodes:
        if sum(node in table for table in tables) != 1:
            problems.append(f"{node} is in none of the tables of stdlib_cases.py, or in several")
    problems += [f"there is no node {node}" for table in tables for node in table if node not in nodes]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(check_right, node, *case) for node, cases in DIFFERENTIABLE.items() for case in cases]
        jobs += [pool.submit(check_refused, node, *case) for node, cases in REFUSED.items() for case in cases]
        for table in (DIFFERENTIABLE, REFUSED):
            problems += [f"a case of {node} does not call it" for node, cases in table.items() for case in cases
                         if node + "(" not in case[2]]
        problems += [p for p in (job.result() for job in jobs) if p]
    print("\n".join(problems) or f"{len(jobs)} cases of {len(nodes)} nodes")
    sys.exit(1 if problems else 0)


main()
