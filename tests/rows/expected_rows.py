#!/usr/bin/env python3
"""Writes expected_rows.txt: generated programs, inputs, and the outputs that another evaluator
determines for them.

  expected_rows.py EVALUATOR ROWS_FUZZ > expected_rows.txt

EVALUATOR is a folder with an independent evaluator in Python: the modules syntax (parser,
clocks), program (a flat program) and reference (the value of a variable at an instant, on
demand). It has neither types nor `diff`.
"""
import re
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import program  # noqa: E402
import reference  # noqa: E402
import syntax  # noqa: E402

PROGRAMS, ROWS = 160, 9
TYPE = re.compile(r"\s*:\s*(bool|f64|i32)(\s+when\s+\w+)?")


def flat(text):
    nodes = syntax.Parser(syntax.PRELUDE + TYPE.sub("", text)).program()
    instances = syntax.Flat(nodes)
    main = nodes["main"]
    outputs = instances.inst("main", main["ins"], "")
    return program.Program(instances.core, main["ins"], list(zip(main["outs"], outputs)))


def number(word):
    return word == "T" if word in "TF" else float(word)


def show(value):
    if value == reference.ABSENT:
        return "."
    return f"{value:.12g}"


def main():
    seed = written = 0
    while written < PROGRAMS:
        printed = subprocess.run([sys.argv[2], "--print", str(seed), "--count", str(ROWS)], stdout=subprocess.PIPE,
                                 text=True, check=True).stdout
        seed += 1
        # The compiler treats a sampled constant as a constant, which is present at every request.
        if "(1.0) when" in printed:
            continue
        text, inputs = printed.rstrip("*)\n").split("(*\n")
        data = {line.split()[0]: [number(w) for w in line.split()[2:]] for line in inputs.splitlines() if line}
        try:
            p = flat(text)
        except syntax.ClockError:
            continue
        after, knots = [], False
        for n in range(1, ROWS + 1):
            rows, knot = reference.rows(p, {name: values[:n] for name, values in data.items()}, n)
            after.append(len(rows))
            knots = bool(knot)
        # Of programs that determine nothing, a few are enough.
        if not rows and seed % 4:
            continue
        written += 1
        print(f"=== {'needs itself' if knots else 'determined'}\n{text}--- in\n{inputs.rstrip()}\n--- out")
        print("-- after |", *after)
        for k, (name, _) in enumerate(p.out):
            print(name, "|", *(show(rows[n][k]) if n < len(rows) else "?" for n in range(ROWS)))


main()
