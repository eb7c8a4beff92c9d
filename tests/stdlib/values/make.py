"""Writes the tests of this folder: make.py [MODULE…]. Needs rmlc, PyTorch, SciPy, pandas, River, python-control,
scikit-learn, ONNX and ONNX Runtime; the tests do not."""

import importlib
import sys

from groups import HERE, write_groups

chosen = [f"of_{name}" for name in sys.argv[1:]] or sorted(p.stem for p in HERE.glob("of_*.py"))
for module in chosen:
    write_groups(importlib.import_module(module).GROUPS)
