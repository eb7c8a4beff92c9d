"""The manual must describe everything in `--help`: help.py RMLC REPOSITORY, run by ctest.

Every command must be on the page of commands, and every option of a command or of a program on
some page."""

import pathlib
import re
import subprocess
import sys

RMLC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
MANUAL = {page.name: page.read_text(encoding="utf-8") for page in (ROOT / "docs/manual").glob("*.md")}


def help_of(*command):
    return subprocess.run([RMLC, *command], capture_output=True, text=True, check=True).stdout


def options(text):
    return set(re.findall(r"^ +(?:-\w,)?(--[a-z][a-z-]+)", text, re.M))


def main():
    listed = help_of("--help").split("Subcommands:")[1].split("\n\n")[0]
    commands = re.findall(r"^  ([a-z]+) ", listed, re.M)
    texts = [help_of("--help"), *(help_of(command, "--help") for command in commands)]
    texts.append(help_of("run", str(ROOT / "examples/pid/pid.rml"), "--", "--help"))
    written = "\n".join(MANUAL.values())
    problems = [f"commands.md does not mention rmlc {c}" for c in commands
                if not re.search(rf"`(?:rmlc )?{c}`", MANUAL["commands.md"])]
    problems += [f"docs/manual does not mention {option}" for option in sorted(set().union(*map(options, texts)))
                 if not re.search(rf"{option}(?![a-z-])", written)]
    if len(commands) < 10:
        problems.append(f"only {len(commands)} commands were found in the help")
    sys.exit("\n".join(problems) or 0)


main()
