#!/usr/bin/env python3
"""Runs the notebook docs/tutorial.ipynb, and stores or checks its outputs. Needs rmlc, nbclient and ipykernel.

    tutorial_notebook.py write    runs the cells and stores their outputs in the notebook
    tutorial_notebook.py check    exits with status 1 if the cells give other outputs than the stored ones

The stored outputs contain no times of execution. Pictures are not compared, because processors differ in the order of
additions.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from typing import Any

import nbclient
import nbformat

read: Any = nbformat.read
NOTEBOOK = pathlib.Path(__file__).resolve().parent.parent / "docs/tutorial.ipynb"


def run(file: pathlib.Path) -> Any:
    """The notebook with the output of its cells, run in an empty folder. Raises the exception
    of a cell."""
    book = read(file, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(book, timeout=300, kernel_name="python3", record_timing=False,
                                         coalesce_streams=True, resources={"metadata": {"path": folder}})
        client.execute()
    book.metadata = {"kernelspec": book.metadata["kernelspec"], "language_info": {"name": "python"}}
    for cell in book.cells:
        for output in cell.get("outputs", []):
            # The text of a picture repeats the picture.
            if "image/svg+xml" in output.get("data", {}):
                output["data"].pop("text/plain", None)
    return book


def written(book: Any) -> str:
    """Returns the text of the notebook, as it is written to the file."""
    writes: Any = nbformat.writes
    return str(writes(book)) + "\n"


def without_pictures(book: Any) -> str:
    for cell in book.cells:
        for output in cell.get("outputs", []):
            if "image/svg+xml" in output.get("data", {}):
                output["data"]["image/svg+xml"] = ""
    return written(book)


def main() -> None:
    if sys.argv[1:] not in (["write"], ["check"]):
        sys.exit(__doc__)
    book = run(NOTEBOOK)
    if sys.argv[1] == "write":
        NOTEBOOK.write_text(written(book), encoding="utf-8")
    elif without_pictures(read(NOTEBOOK, as_version=4)) != without_pictures(book):
        sys.exit(f"{NOTEBOOK} differs from the outputs of its cells: run scripts/tutorial_notebook.py write")


if __name__ == "__main__":
    main()
