"""Reads the fenced blocks of a page, and runs commands as a reader of the page would."""

import os
import re
import subprocess


def blocks(text):
    """Yields (line, fence, text) of every fenced block."""
    fence, start, body = None, 0, []
    for number, line in enumerate(text.split("\n"), 1):
        if fence is None and line.startswith("```"):
            fence, start, body = line[3:].strip(), number, []
        elif fence is not None and line.startswith("```"):
            yield start, fence, "\n".join(body) + "\n"
            fence = None
        elif fence is not None:
            body.append(line)


def saved_name(body):
    """The name in the first line of a block, or None."""
    found = re.match(r"(?:--|//) file: (\S+)\n", body)
    return found.group(1) if found else None


def run(rmlc, command, folder):
    environment = dict(os.environ, PATH=os.path.dirname(rmlc) + ":" + os.environ["PATH"])
    return subprocess.run(
        ["bash", "-c", "set -o pipefail; " + command], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=300, stdin=subprocess.DEVNULL,
    )
