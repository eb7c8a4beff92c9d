"""The controller of examples/pid through its C interface, for comparison with the package."""

import ctypes
import shutil
import subprocess

USE = """#include "pid.h"
static pid_state state;
void begin(void) { pid_init(&state); }
void use(int64_t n, const double* t, const double* m, double* c) { pid_run(&state, n, t, m, c); }
"""


def pid_in_c(node, folder):
    """Returns `pid_run` as a function of the arrays target, measured and command; None if there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        return None
    node.build(folder / "pid.o", emit="lib")
    (folder / "use.c").write_text(USE)
    library = folder / "pid.so"
    subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, folder / "use.c", folder / "pid.o"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.use.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    loaded.use.restype = None
    loaded.begin()
    return lambda *arrays: loaded.use(len(arrays[0]), *(each.ctypes.data for each in arrays))
