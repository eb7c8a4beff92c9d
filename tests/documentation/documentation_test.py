"""A library of a user gets a page from its comments, and its examples are run.

Run by ctest: documentation_test.py RMLC. A folder with modules, one of them in a folder below it, is documented; the page has the
signatures of the compiler, the text and the examples. An example with a wrong row, or a node without an example where
examples are required, ends with exit status 1 and writes nothing.
"""

import pathlib
import subprocess
import sys
import tempfile

RMLC = str(pathlib.Path(sys.argv[1]).resolve())

FILTERS = """-- Filters for slow sensors.

-- Goes the fraction `a` of the way to `x` at each cycle.
--
--     node main(x: f64) -> (y: f64)
--       y = filters.smooth(0.5, x);
--
--     x | 4 0 0
--     y | 2 1 0.5
node smooth(a, x) -> (y)
  before = zeros_like(x) fby y;
  y = before + a * (x - before);

-- No example yet.
node twice(x: i32)
    -> (y: i32)
  y = 2 * x;

node main(x: f64) -> (y: f64)
  y = smooth(0.1, x);
"""

GAIN = """import filters;

-- The gain, of a smoothed input.
--
--     node main(x: f64) -> (y: f64)
--       y = gain.amplified(2.0, x);
--
--     x | 4
--     y | 4
node amplified(k, x) -> (y)
  y = k * filters.smooth(0.5, x);
"""

problems = []


def expect(condition, *about):
    if not condition:
        problems.append("\n".join(str(a) for a in about))


def run(folder, *arguments):
    return subprocess.run([RMLC, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def write(folder):
    (folder / "lib/parts").mkdir(parents=True)
    (folder / "lib/filters.rml").write_text(FILTERS, encoding="utf-8")
    (folder / "lib/gain.rml").write_text(GAIN, encoding="utf-8")
    (folder / "lib/parts/odd.rml").write_text("-- One more.\n\n-- Its last result is `x`.\nnode last(x) -> (y)\n  y = x;\n",
                                              encoding="utf-8")


def test_page(folder):
    done = run(folder, "doc", "lib", "-o", "page.md", "--title", "My library")
    expect(done.returncode == 0, "rmlc doc:", done.stderr)
    page = (folder / "page.md").read_text(encoding="utf-8")
    for text in ("# My library\n", "## filters\n\n`import filters;`\n\nFilters for slow sensors.\n",
                 "### filters.smooth\n", "Goes the fraction `a` of the way",
                 "```rml\nimport filters;\n\nnode main(x: f64) -> (y: f64)\n  y = filters.smooth(0.5, x);\n```\n",
                 "```chron\nx | 4 0 0\ny | 2 1 0.5\n```\n", "`twice(x: i32) -> (y: i32)`", "## parts.odd\n\n`import parts.odd;`",
                 "### odd.last\n", "```rml\nimport gain;\n"):
        expect(text in page, f"the page lacks {text!r}:", page)
    expect("### filters.main" not in page, "main without a comment is on the page")
    one = run(folder, "doc", "lib/gain.rml")
    expect(one.returncode == 0 and one.stdout.startswith("# gain\n"), "one file:", one.stdout, one.stderr)


def test_wrong_rows(folder):
    (folder / "lib/filters.rml").write_text(FILTERS.replace("y | 2 1 0.5", "y | 2 1 0.25"), encoding="utf-8")
    done = run(folder, "doc", "lib", "-o", "wrong.md")
    expect(done.returncode == 1 and "filters.smooth" in done.stderr and "1 of 2 examples" in done.stderr,
           "wrong rows:", done.returncode, done.stderr)
    expect(not (folder / "wrong.md").exists(), "a page with a wrong example was written")
    (folder / "lib/filters.rml").write_text(FILTERS, encoding="utf-8")


def test_refusals(folder):
    done = run(folder, "doc", "lib", "--require-examples")
    expect(done.returncode == 1 and "filters.twice has no example" in done.stderr, "--require-examples:", done.stderr)
    (folder / "empty").mkdir()
    done = run(folder, "doc", "empty")
    expect(done.returncode == 1 and "no modules" in done.stderr, "an empty folder:", done.returncode, done.stderr)
    (folder / "broken.rml").write_text("node f(x) -> (y)\n  y = z;\n", encoding="utf-8")
    done = run(folder, "doc", "broken.rml")
    expect(done.returncode == 1 and "E0201" in done.stderr and not done.stdout, "errors:", done.stdout, done.stderr)
    done = run(folder, "doc", "nowhere")
    expect(done.returncode == 2, "a path that is not there:", done.returncode)
    done = run(folder, "doc", "lib/gain.rml", "-o", "lib/gain.rml")
    expect(done.returncode == 1 and (folder / "lib/gain.rml").read_text(encoding="utf-8") == GAIN,
           "the source as output:", done.returncode, done.stderr)


def test_explain(folder):
    lib = folder / "lib"
    for arguments, text in ((["filters.smooth"], "Goes the fraction"), (["filters"], "Filters for slow sensors."),
                            (["smooth"], "filters.smooth"), (["parts.odd.last"], "Its last result is `x`."),
                            (["twice"], "node twice(x: i32) -> (y: i32)"), (["-k", "SLOW"], "filters  Filters for slow"),
                            ([], "filters.smooth")):
        done = run(lib, "explain", *arguments)
        expect(done.returncode == 0 and text in done.stdout, f"explain {arguments} lacks {text!r}:", done.stdout, done.stderr)
    done = run(folder, "explain", "filters.smooth", "-I", "lib")
    expect(done.returncode == 0, "explain -I:", done.stderr)
    done = run(folder, "explain", "lib/gain.rml")
    expect("gain.amplified" in done.stdout, "explain of a file:", done.stdout, done.stderr)
    done = run(folder, "explain", "filters.smoth", "-I", "lib")
    expect(done.returncode == 2 and "did you mean 'filters.smooth'" in done.stderr, "a near name:", done.stderr)
    done = run(folder, "explain", "-k", "zyzzyva")
    expect(done.returncode == 2 and "no topic mentions 'zyzzyva'" in done.stderr, "a word nowhere:", done.stderr)
    for sign in ("->", "==", "-", "fby"):
        done = run(folder, "explain", sign)
        expect(done.returncode == 0 and done.stdout.startswith("# "), f"explain {sign}:", done.stdout, done.stderr)


def main():
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        write(folder)
        for test in (test_page, test_wrong_rows, test_refusals, test_explain):
            test(folder)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


main()
