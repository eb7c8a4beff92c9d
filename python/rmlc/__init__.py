"""R(ML)²: a reactive language for machine learning, compiled in process and run over NumPy arrays.

    import rmlc
    node = rmlc.load("denoise.rml").node()
    instance = node.start()
    rows = instance.run(x=array)        # or instance.step(x=frame), a cycle at a time
"""

from __future__ import annotations

import importlib
import os

from . import _arrays, _core
from ._errors import CompileError, CompileWarning, RunError
from ._instance import Instance, UndeterminedWarning
from ._node import Module, Node, compile, load
from ._ports import Port
from ._rows import Rows
from ._sampled import Sampled
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ._diagnostics import Diagnostic, Place
    from ._keyed import Keyed, KeyedRows
    from ._tools import SVG, Chronogram, GradientError

__version__ = "0.1.0"
__all__ = [
    "SVG", "Chronogram", "CompileError", "CompileWarning", "Diagnostic", "GradientError", "Instance", "Keyed", "KeyedRows",
    "Module", "Node", "Place", "Port", "Rows", "RunError", "Sampled", "UndeterminedWarning", "compile", "load",
]

_core.set_installation(os.path.dirname(os.path.abspath(__file__)))
_core.set_helpers(RunError, _arrays.convert)


# Modules that need optional packages are imported on first use. So are the modules that few programs use, because the
# standard modules that they import take as long to load as the compiler.
_MODULES = ("notebook", "online", "onnx", "progress", "sklearn", "spark", "tables", "torch", "training")
_LATER = {"SVG": "_tools", "Chronogram": "_tools", "GradientError": "_tools", "Diagnostic": "_diagnostics",
          "Place": "_diagnostics", "Keyed": "_keyed", "KeyedRows": "_keyed"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _LATER:
        return getattr(importlib.import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module 'rmlc' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_LATER})


def load_ipython_extension(ipython: Any) -> None:
    """Runs on `%load_ext rmlc`: registers the magics `%%rmlc` and `%rmlc_trace`."""
    from .notebook import register

    register(ipython)
