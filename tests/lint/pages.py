"""The pages must be true: their R(ML)² blocks compile, and their commands run.

Run by ctest: pages.py RMLC REPOSITORY PAGE. In a page,

    ```rml              is a program (`-- file: NAME` on its first line saves it under that
                        name for the commands below); a block that shows a mistake is fenced
                        ```rml wrong and must be rejected, one that `rmlc check` needs
                        options for ```rml -I FOLDER
    ```sh               are commands, each line run in an empty folder that contains the saved
                        files, and must succeed; `rmlc` is the tested compiler. A line that
                        begins with `# ` is a remark; blocks fenced ```sh not-run are not run,
                        those fenced ```sh needs TOOL… only if these are in the PATH: a line
                        reports a missing tool, and exit status 77 a skipped part
    ```output           is the output of the last command
    ```chron, ```csv    are files for the commands (first line `-- file: NAME`, not part of a csv)
    ```c                as well, if its first line is `// file: NAME`
"""

import pathlib
import shutil
import sys
import tempfile

from blocks import blocks, run, saved_name

RMLC, ROOT, PAGE = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def check_program(body, folder, options, expect_failure):
    name = saved_name(body) or "block.rml"
    write(folder / name, body)
    done = run(RMLC, f"rmlc check {name} {options}", folder)
    if (done.returncode == 1) != expect_failure or done.returncode not in (0, 1):
        return f"rmlc check: exit status {done.returncode}\n{body}{done.stderr}"
    return None


def check_commands(body, folder):
    """Returns the errors, and the output of the last command."""
    printed = ""
    for line in body.split("\n"):
        if not line.strip() or line.startswith("#"):
            continue
        done = run(RMLC, line, folder)
        printed = done.stdout
        if done.returncode != 0:
            return f"{line}: exit status {done.returncode}\n{done.stdout}{done.stderr}", printed
    return None, printed


def save(body, folder, kind):
    name = saved_name(body)
    if name:
        content = body if kind == "chron" else body.split("\n", 1)[1]
        write(folder / name, content)


def main():
    problems, printed, missing = [], "", set()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        (folder / "examples").symlink_to(ROOT / "examples")
        for line, fence, body in blocks(PAGE.read_text(encoding="utf-8")):
            problem = None
            if fence in ("rml", "rml wrong") or fence.startswith("rml -"):
                options = "" if fence == "rml wrong" else fence.removeprefix("rml")
                problem = check_program(body, folder, options, fence == "rml wrong")
            elif fence == "sh" or fence.startswith("sh needs "):
                absent = {tool for tool in fence.split()[2:] if shutil.which(tool) is None}
                missing |= absent
                problem, printed = (None, None) if absent else check_commands(body, folder)
            elif fence == "output":
                problem = None if printed in (body, None) else f"the last command prints\n{printed}"
            elif fence in ("chron", "csv", "c"):
                save(body, folder, fence)
            if problem:
                problems.append(f"{PAGE}:{line}: {problem}")
    for problem in problems:
        print(problem)
    if missing:
        print(f"some blocks were skipped, because these programs are not in the PATH: {', '.join(sorted(missing))}")
    sys.exit(1 if problems else 77 if missing else 0)


main()
