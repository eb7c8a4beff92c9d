"""The runs whose instructions scripts/counts counts: programs, the compiler, readers and writers, calls from Python.

A program is compiled as a C library for one processor, x86-64-v3. A C program drives it; this module generates that
program from the comment of the library's header, which lists the ports. Inputs are small random numbers, drawn once. A
Boolean input is true in the last of every 64 cycles. A sampled input is present where its clock is.
"""
import re
from dataclasses import dataclass, field

PERIOD = 64  # cycles between two ends
RING = 8     # number of different values of an input, used cyclically
C_TYPES = {"f32": "float", "f64": "double", "i32": "int32_t", "i64": "int64_t", "bool": "uint8_t"}


@dataclass
class Program:
    """A node in a file of benchmarks/. Its instructions in `cycles` steps are counted."""
    name: str
    file: str
    node: str
    cycles: int
    definitions: dict = field(default_factory=dict)
    options: tuple = ()


@dataclass
class Command:
    """A call of rmlc. Paths are relative to the root of the tree. OUT… is a file that the call writes, ROWS.csv is a
    file with rows, and MADE.rml is the program that the script `made_by` writes. `rise` is the allowed increase, as a
    fraction of the committed count."""
    name: str
    arguments: tuple
    made_by: tuple = ()
    rise: float = 0.01


@dataclass
class Calls:
    """Calls that benchmarks/python/calls.py makes. `what` is its first argument; the count is that of `times` calls.
    `most` is the name of another line and the largest allowed ratio to it. `rise` is as in Command."""
    name: str
    what: str
    times: int
    most: tuple = ()
    rise: float = 0.01


def lstm(units):
    return {"units": units, "inputs": units // 2}


PROGRAMS = [
    Program("sync/counter", "sync/counter.rml", "counter", 100000),
    Program("sync/fir", "sync/fir.rml", "fir_f32", 100000),
    Program("sync/fir_array", "sync/fir_array.rml", "fir_array_f32", 100000),
    Program("sync/pid", "sync/pid.rml", "pid_f32", 100000),
    Program("sync/pid_f64", "sync/pid.rml", "pid_f64", 100000),
    Program("sync/stopwatch", "sync/stopwatch.rml", "stopwatch", 100000),
    Program("sync/kalman", "sync/kalman.rml", "kalman_f32", 100000),
    Program("sync/gated", "sync/gated.rml", "gated_f32", 100000),
    Program("ml/online", "ml/online.rml", "online", 20000),
    Program("ml/lstm_infer/64", "ml/lstm_infer.rml", "lstm_infer", 1000, lstm(64)),
    Program("ml/lstm_train/64", "ml/lstm_train.rml", "lstm_train", 4 * PERIOD, lstm(64)),
    Program("ml/lstm_train/64/segment", "ml/lstm_train.rml", "lstm_train", 4 * PERIOD, lstm(64), ("--chunk", "segment")),
    Program("ml/lstm_dealt/64", "ml/lstm_dealt.rml", "lstm_dealt", 4 * PERIOD, {"units": 64, "inputs": 32}),
    Program("ml/lstm_train_rows/64/32", "ml/lstm_train_rows.rml", "lstm_train_rows", PERIOD,
            {**lstm(64), "batch": 32}),
    Program("ml/mlp_train/1", "ml/mlp_train.rml", "mlp_train", 20, {"batch": 1}),
    Program("ml/mlp_train/64", "ml/mlp_train.rml", "mlp_train", 4, {"batch": 64}),
    Program("ml/mlp_per_sample/64", "ml/mlp_per_sample.rml", "mlp_per_sample", 2 * PERIOD, {"batch": 64}),
    Program("ml/bilstm/64/64", "ml/bilstm.rml", "bilstm", 4 * PERIOD, lstm(64)),
    Program("ml/bn/64", "ml/bn.rml", "bn", 16 * PERIOD, {"features": 64}),
    Program("ml/lenet_infer/1", "ml/lenet.rml", "lenet_infer", 10, {"batch": 1}),
    Program("ml/lenet_train/64", "ml/lenet.rml", "lenet_train", 1, {"batch": 64}),
    Program("ml/moe", "ml/moe.rml", "moe", 200),
]

COMMANDS = [
    Command("rmlc/check/lstm_train", ("check", "benchmarks/ml/lstm_train.rml")),
    Command("rmlc/check/charlm", ("check", "examples/charlm/charlm.rml")),
    Command("rmlc/check/cartpole", ("check", "examples/cartpole/cartpole.rml")),
    Command("rmlc/steps/bilstm", ("show", "steps", "benchmarks/ml/bilstm.rml", "-o", "OUT")),
    Command("rmlc/steps/cartpole", ("show", "steps", "examples/cartpole/cartpole.rml", "-o", "OUT")),
    Command("rmlc/build/pid", ("build", "examples/pid/pid.rml", "--cpu", "x86-64-v3", "--emit", "obj", "-o", "OUT")),
    Command("rmlc/build/lstm_infer",
            ("build", "benchmarks/ml/lstm_infer.rml", "--cpu", "x86-64-v3", "--emit", "obj", "-o", "OUT")),
    # Collisions in LLVM's sets of pointers depend on addresses: a longer name of the same file takes 1.8 % less.
    Command("rmlc/build/backward", ("build", "MADE.rml", "--cpu", "x86-64-v3", "--emit", "obj", "-O2", "-o", "OUT"),
            ("benchmarks/growth/backward.py", "200"), rise=0.02),
    Command("rmlc/check/equations", ("check", "MADE.rml"), ("benchmarks/growth/equations.py", "5000")),
    Command("rmlc/import/gru", ("import", "examples/finetune/gru.onnx", "-o", "OUT.rml")),
    # In one thread, because the machine determines whether reading gets a thread of its own.
    Command("run/csv", ("run", "benchmarks/stream_io/copy.rml", "--input", "ROWS.csv", "--output", "OUT.csv", "--",
                        "--threads", "1")),
]

# The order matters: a line follows the line that it is compared with.
CALLS = [
    # The addresses of names determine which of them share a line of Python's cache of methods. So the same wheel takes
    # 2.8 % less in one run and 1.2 % more in another.
    Calls("python/step", "step", 500_000, rise=0.04),
    Calls("python/run_in_c", "run_in_c", 5_000_000),
    Calls("python/run", "run", 5_000_000, ("python/run_in_c", 1.05)),
]


@dataclass
class Port:
    kind: str   # direction: "in" or "out"
    name: str
    dtype: str
    elements: int | None  # number of elements; None: a scalar
    clock: list           # conditions of the clock, outermost first: (name, whether it must hold)

    @property
    def c_type(self):
        return C_TYPES[self.dtype]


def ports(header):
    """Returns the ports that the comment of a header lists, inputs first."""
    found = []
    pattern = r"^ \*   (in |out) *(\w+): (\w+)(?:\[([\d, ]+)\])?, base((?: on (?:not )?\w+)*)$"
    for kind, name, dtype, shape, clock in re.findall(pattern, header, re.MULTILINE):
        elements = None
        if shape:
            elements = 1
            for extent in shape.split(","):
                elements *= int(extent)
        conditions = [(c, not n) for n, c in re.findall(r" on (not )?(\w+)", clock)]
        found.append(Port(kind.strip(), name, dtype, elements, conditions))
    return found


def declaration(port):
    size = (port.elements or 1) * (RING if port.kind == "in" else 1)
    flag = f"static uint8_t has_{port.name};\n" if port.kind == "out" else ""
    return f"static {port.c_type} v_{port.name}[{size}];\n{flag}"


def filling(port):
    size = (port.elements or 1) * RING
    value = "draw()" if port.dtype.startswith("f") else "(int32_t)(100 * draw()) & 1"
    return f"  for (int i = 0; i < {size}; i++) v_{port.name}[i] = ({port.c_type})({value});\n"


def argument(port):
    """Returns the arguments of a step for a port at cycle n, as C text."""
    flag = ""
    if port.clock:
        held = " && ".join(("" if holds else "!") + f"b_{c}" for c, holds in port.clock)
        flag = f"&has_{port.name}, " if port.kind == "out" else f"(uint8_t)({held}), "
    if port.kind == "out":
        return f"{flag}v_{port.name}" if port.elements else f"{flag}&v_{port.name}[0]"
    if port.dtype == "bool" and port.elements is None:
        return f"{flag}b_{port.name}"
    if port.elements:
        return f"{flag}v_{port.name} + n % {RING} * {port.elements}"
    return f"{flag}v_{port.name}[n % {RING}]"


def driver(node, header, cycles):
    """Returns the C program that calls the steps. The instructions of its function `measured` are counted."""
    found = ports(header)
    inputs, outputs = ([p for p in found if p.kind == kind] for kind in ("in", "out"))
    conditions = "".join(f"    const uint8_t b_{p.name} = n % {PERIOD} == {PERIOD - 1}; (void)b_{p.name};\n"
                         for p in inputs if p.dtype == "bool" and p.elements is None)
    given, taken = ", ".join(map(argument, inputs)), ", ".join(map(argument, outputs))
    buffered = f"{node}_push(" in header
    if buffered:
        step = (f"    if ({node}_push(&state{', ' if given else ''}{given}) != 0) return 1;\n"
                f"    while ({node}_pop(&state, {taken}) == 1) rows++;\n")
        size = f"{node}_BYTES({4 * PERIOD})"
        start = f"  if ({node}_init(&state, aligned_alloc(64, ({size} + 63) / 64 * 64), {size}) != 0) return 1;\n"
    else:
        step = f"    {node}_step(&state{', ' if given else ''}{given}{', ' if taken else ''}{taken});\n"
        start = f"  {node}_init(&state);\n"
    return f"""#include <stdlib.h>
#include "{node}.h"
static {node}_state state;
static long rows;
static unsigned long seed = 1;
static double draw(void) {{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return ((double)(seed >> 33) / 4294967296.0 - 0.25) / 5;
}}
{''.join(map(declaration, found))}
__attribute__((noinline)) int measured(void) {{
  for (long n = 0; n < {cycles}; n++) {{
{conditions}{step}  }}
  return 0;
}}
int main(void) {{
{''.join(filling(p) for p in inputs)}{start}  return measured();
}}
"""
