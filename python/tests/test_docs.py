"""The examples on the manual's page about Python print the output that the page shows."""

import doctest
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "docs/manual/python.md"


@pytest.mark.filterwarnings("ignore::rmlc.UndeterminedWarning")
def test_examples_of_the_manual():
    if not PAGE.exists():
        pytest.skip("the manual is not beside the package")
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    assert blocks
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", str(PAGE), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(examples, out=report.append)
    assert not report, "".join(report)
