"""Runs programs for the tests of the examples and reads their output."""

import csv
import io
import subprocess
import sys


def output_of(command, text=""):
    """The output of `command`; fails the test if the command fails."""
    command = [str(word) for word in command]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def rows(text):
    """The rows of a CSV file: numbers by column, None for an absent value."""
    def value(field):
        return {"": None, "true": 1.0, "false": 0.0}[field] if field in ("", "true", "false") else float(field)

    return [{name: value(field) for name, field in row.items()} for row in csv.DictReader(io.StringIO(text))]
