#!/usr/bin/env python3
"""Draws the results of cartpole.rml: plot.py TABLE.csv PICTURE.svg

The upper panel shows the length of each episode; below are the pole and the cart in the first and
in the last test."""
import csv
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from picture import Panel, picture, steps

LEARNING, TEST, EARLY = "#8db4d6", "#1f5a8c", "#d9480f"
LONGEST, CYCLE = 500, 0.02


def read(table):
    """Returns the episodes as (number, length, is test), and the states of each test."""
    lengths, tests, states = [], [], []
    with open(table, newline="") as file:
        for row in csv.DictReader(file):
            if row["test"] == "true":
                states.append([float(row[f"state[{k}]"]) for k in range(4)])
            if row["steps"]:
                lengths.append((len(lengths) + 1, int(row["steps"]), row["test"] == "true"))
                if states:
                    tests.append(states)
                    states = []
    return lengths, tests


def draw_lengths(out, lengths):
    panel = Panel(out, (70, 132, 900, 220), (0, len(lengths) + 1), (0, LONGEST + 20), "Every episode",
                  f"Cycles until the pole leans by 12 degrees or the cart leaves the track; {LONGEST} at most.")
    panel.axes([(k, str(k)) for k in steps(0, len(lengths), 12)], steps(0, LONGEST, 5), "cycles")
    for chosen, colour, radius in ((False, LEARNING, 2.2), (True, TEST, 2.8)):
        for episode, length, test in lengths:
            if test == chosen:
                out.append(f'<circle cx="{panel.x(episode):.1f}" cy="{panel.y(length):.1f}" r="{radius}" fill="{colour}"/>')
    panel.legend([("learning", LEARNING, "dot"), ("test", TEST, "dot")])


def draw_state(out, box, tests, name, unit, limit, part, about):
    longest = max(len(test) for test in (tests[0], tests[-1])) * CYCLE
    panel = Panel(out, box, (0, longest), (-1.1 * limit, 1.1 * limit), name, about)
    panel.axes([(t, f"{t:g} s") for t in steps(0, longest, 6)], steps(-limit, limit, 5), unit)
    for test, colour in ((tests[-1], TEST), (tests[0], EARLY)):
        panel.line([(k * CYCLE, part(state)) for k, state in enumerate(test)], colour, 1.4)
    return panel


def main():
    table, file = sys.argv[1:]
    lengths, tests = read(table)
    out = []
    draw_lengths(out, lengths)
    draw_state(out, (70, 448, 400, 170), tests, "The pole", "lean, degrees", 12, lambda s: math.degrees(s[2]),
               "Limits: 12 degrees to either side.")
    draw_state(out, (570, 448, 400, 170), tests, "The cart", "position, m", 2.4, lambda s: s[0],
               "Limits: 2.4 m to either side.").legend([("first test", EARLY, "line"), ("last test", TEST, "line")])
    picture(file, 1000, 660, "A pole on a cart, balanced by trial and error",
            f"{len(lengths)} episodes; the agent learns after each but the tests, every fifth.", out)


main()
