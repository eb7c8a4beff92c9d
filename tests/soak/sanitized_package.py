"""The Python package with its extension built for a sanitizer, linked with the compiler's
archives as they are.

It is run by the interpreter that `ctest -R python` has made beside BUILD, with the sanitizer
loaded first.
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _interpreter(build, name):
    python = os.path.join(build, "python", name, "bin", "python")
    return python if os.access(python, os.X_OK) else sys.executable


def _link(place, target):
    if os.path.islink(place) or os.path.exists(place):
        os.remove(place)
    os.symlink(target, place)


def built(build, sanitizer):
    """A folder with the package, its extension built with `-fsanitize=SANITIZER`."""
    place = os.path.join(build, "python", "sanitized-" + sanitizer.split(",")[0])
    package = os.path.join(place, "site", "rmlc")
    os.makedirs(os.path.join(package, "lib"), exist_ok=True)
    subprocess.run(["cmake", "-S", os.path.join(ROOT, "python"), "-B", place, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DRMLC_BUILD=" + build, "-DRMLC_SANITIZE=" + sanitizer,
                    "-DPython_EXECUTABLE=" + _interpreter(build, "tools")], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", place, "_core"], check=True, stdout=subprocess.DEVNULL)
    for name in os.listdir(os.path.join(ROOT, "python/rmlc")):
        if name.endswith(".py"):
            _link(os.path.join(package, name), os.path.join(ROOT, "python/rmlc", name))
    _link(os.path.join(package, "_core.abi3.so"), os.path.join(place, "_core.abi3.so"))
    _link(os.path.join(package, "lib", "rmlc"), os.path.join(build, "lib", "rmlc"))
    return os.path.dirname(package)


def run(build, sanitizer, program, *arguments):
    """Runs a Python program with that package. Returns the ended process with its output."""
    name = "asan" if "address" in sanitizer else "tsan"
    # The library that throws exceptions must be loaded before the sanitizer searches for it,
    # which precedes Python's own loads.
    libraries = [subprocess.run(["g++", "-print-file-name=" + file], check=True, capture_output=True, text=True).stdout
                 for file in (f"lib{name}.so", "libstdc++.so.6")]
    environment = {**os.environ, "PYTHONPATH": built(build, sanitizer), "LD_PRELOAD": " ".join(libraries).replace("\n", ""),
                   # Python keeps much memory to its end, so the test looks for growth and not for
                   # leaks.
                   "ASAN_OPTIONS": "detect_leaks=0:quarantine_size_mb=16:detect_stack_use_after_return=1:"
                                   "allocator_may_return_null=1",
                   "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
                   "TSAN_OPTIONS": "exitcode=66:report_signal_unsafe=0", "PYTHONMALLOC": "malloc"}
    # The kernel must not map a library where ThreadSanitizer has its own memory.
    words = ["setarch", "--addr-no-randomize"] if name == "tsan" else []
    return subprocess.run([*words, _interpreter(build, "fresh"), program, *arguments], env=environment,
                          capture_output=True, text=True, errors="replace", check=False)
