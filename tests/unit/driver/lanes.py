"""A library built with --lanes. States are stepped one by one, in groups, and separately by
NODE_step_many.

The reference is NODE_step, whose code has no lanes. Inputs are drawn and differ between states;
all outputs must be equal to the bit.
"""

import ctypes
import random
import re
import subprocess

TYPES = {
    "float": ctypes.c_float, "double": ctypes.c_double, "uint8_t": ctypes.c_uint8, "int8_t": ctypes.c_int8,
    "uint16_t": ctypes.c_uint16, "int16_t": ctypes.c_int16, "uint32_t": ctypes.c_uint32, "int32_t": ctypes.c_int32,
    "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64,
}  # fmt: skip


class Port:
    """A parameter of NODE_step."""

    def __init__(self, declared, shapes):
        words = declared.replace("*", " * ").split()
        self.name, self.pointer = words[-1], "*" in words
        # `n` is a name that the generated functions use.
        self.name = self.name if self.name in shapes else self.name.removesuffix("_")
        self.ctype = TYPES[[w for w in words if w != "const"][0]]
        of = self.name.removesuffix("_present")
        flag = self.name != of and of in shapes
        self.input, dtype, self.elements, clock = shapes[self.name if not flag else of]
        self.dtype = "bool" if flag else dtype
        # Flags only: the conditions of the port's clock with their required values.
        self.clock = clock if flag else None
        if flag:
            self.elements = 1

    def draw(self, rng):
        if self.dtype == "bool":
            return rng.randint(0, 1)
        if self.dtype in ("f32", "f64"):
            return rng.gauss(0, 2) if rng.random() < 0.9 else rng.choice([0.0, 1.0, -1.0, float("inf"), float("nan")])
        if self.dtype in ("f16", "bf16"):
            return rng.randint(0x3000, 0x4200)
        return rng.randint(0, 5) if rng.random() < 0.95 else rng.randint(0, 100)


def equal(port, a, b):
    # Compares bits; NaNs never compare equal by value.
    return bytes(port.ctype(a)) == bytes(port.ctype(b)) or (a != a and b != b)


class Library:
    """The library that `--emit lib --lanes` makes of a source, loaded; or the reason in
    `refused`."""

    def __init__(self, rmlc, folder, source, options):
        done = subprocess.run([rmlc, "build", source, "--emit", "lib", "--lanes", "-o", "m.o", *options], cwd=folder,
                              capture_output=True, text=True)  # fmt: skip
        self.refused = done.stderr if done.returncode == 1 else None
        if done.returncode not in (0, 1):
            raise AssertionError(f"{source}: {done.stderr}")
        if self.refused is not None:
            return
        text = (folder / "m.h").read_text()
        runtime = rmlc.parent.parent / "lib" / "rmlc" / "librmlrt.a"
        made = subprocess.run(["cc", "-shared", "-o", "m.so", "m.o", runtime, "-lstdc++", "-lm", "-Wl,--no-undefined"],
                              cwd=folder, capture_output=True, text=True)  # fmt: skip
        if made.returncode != 0:  # the build fails if the node calls external nodes
            self.refused = "cannot be linked alone: " + made.stderr
            return
        own = folder / f"{random.random()}.so"
        (folder / "m.so").rename(own)
        self.library = ctypes.CDLL(str(own))
        self.name = re.search(r"^#ifndef (\w+)_H$", text, re.M)[1]
        self.state_bytes, self.group_bytes = (
            8 * int(re.search(rf"typedef struct {self.name}_{of} {{ uint64_t words\[(\d+)\]", text)[1])
            for of in ("state", "group")
        )
        self.lanes = int(re.search(rf"#define {self.name}_LANES (\d+)", text)[1])
        shapes = {}
        declared = re.findall(r"^ \*   (in|out)\s+(\w+): (\w+)(\[[\d, ]*\])?, base(.*)$", text, re.M)
        for way, port, dtype, shape, clock in declared:
            elements = 1
            for extent in re.findall(r"\d+", shape):
                elements *= int(extent)
            on = [(name, not negated) for negated, name in re.findall(r" on (not )?(\w+)", clock)]
            shapes[port] = (way == "in", dtype, elements, on)
        declared = re.search(rf"{self.name}_step\({self.name}_state\* state(.*?)\);", text, re.S)[1]
        self.ports = [Port(d, shapes) for d in declared.split(",")[1:]]
        self.faults = f"int32_t {self.name}_step(" in text
        self.init = getattr(self.library, re.search(rf'{self.name}_INIT_SYMBOL "(\w+)"', text)[1])
        self.step, self.group_step, self.put, self.get, self.group_init = (
            getattr(self.library, f"{self.name}_{what}")
            for what in ("step", "group_step", "group_put", "group_get", "group_init")
        )
        # If the node has no lanes, NODE_step_many is a loop in the header, not a symbol.
        self.step_many = getattr(self.library, f"{self.name}_step_many", None)


class Both:
    """n states one by one, the same states in groups, and the same states separately."""

    def __init__(self, library, n, rng):
        self.of, self.n, self.rng = library, n, rng
        align = 64
        self.memory = ctypes.create_string_buffer(2 * n * (library.state_bytes + align) + align)
        first = -(-ctypes.addressof(self.memory) // align) * align
        places = [first + k * -(-library.state_bytes // align) * align for k in range(2 * n)]
        self.groups = ctypes.create_string_buffer(-(-n // library.lanes) * library.group_bytes)
        for state in places:
            library.init(ctypes.c_void_p(state))
        self.states = places[:n]
        self.apart = (ctypes.c_void_p * n)(*rng.sample(places[n:], n))
        library.group_init(self.groups, ctypes.c_int64(n))
        # Buffers by state and by element. Outputs keep their old values where nothing is written.
        self.own = [(p.ctype * (p.elements * n))() for p in library.ports]
        self.side = [(p.ctype * (p.elements * n))() for p in library.ports]
        self.many = [(p.ctype * (p.elements * n))() for p in library.ports]
        self.faulted = [0] * n

    def draw(self):
        """Flags mostly agree with the clocks. Otherwise there is a fault, and lanes continue
        one by one."""
        for p, own, side, many in zip(self.of.ports, self.own, self.side, self.many):
            for k in range(self.n if p.input else 0):
                for e in range(p.elements):
                    own[k * p.elements + e] = side[e * self.n + k] = many[k * p.elements + e] = p.draw(self.rng)
        by_name = {p.name: own for p, own in zip(self.of.ports, self.own)}
        for p, own, side, many in zip(self.of.ports, self.own, self.side, self.many):
            for k in range(self.n if p.input and p.clock else 0):
                if self.rng.random() < 0.98:
                    present = all(by_name[c][k] == value for c, value in p.clock if c in by_name)
                    own[k] = side[k] = many[k] = present

    def cycle(self):
        n, ports = self.n, self.of.ports
        self.draw()
        for k, state in enumerate(self.states):
            arguments = [ctypes.c_void_p(state)]
            for p, own in zip(ports, self.own):
                at = ctypes.addressof(own) + k * p.elements * ctypes.sizeof(p.ctype)
                arguments.append(ctypes.c_void_p(at) if p.pointer else p.ctype(own[k]))
            code = self.of.step(*arguments)
            self.faulted[k] = code if self.of.faults else 0
        first = next((f for f in self.faulted if f), 0)
        ways = [self.of.group_step(self.groups, ctypes.c_int64(n), *self.side)]
        if self.of.step_many is not None:
            ways.append(self.of.step_many(self.apart, ctypes.c_int64(n), *self.many))
        return all(not self.of.faults or code == first for code in ways) and self.same()

    def same(self):
        for p, own, side, many in zip(self.of.ports, self.own, self.side, self.many):
            for k in range(0 if p.input else self.n):
                for e in range(0 if self.faulted[k] else p.elements):
                    a, b = own[k * p.elements + e], side[e * self.n + k]
                    c = a if self.of.step_many is None else many[k * p.elements + e]
                    if not equal(p, a, b) or not equal(p, a, c):
                        return False
        return True

    def exchange(self):
        """Copies the states from the group, and makes the group from them again."""
        for k, state in enumerate(self.states):
            self.of.get(self.groups, ctypes.c_int64(k), ctypes.c_void_p(state))
        self.groups = ctypes.create_string_buffer(len(self.groups))
        for k, state in enumerate(self.states):
            self.of.put(self.groups, ctypes.c_int64(k), ctypes.c_void_p(state))


def differs(rmlc, folder, source, options, rng, cycles):
    """Returns the reason why the source has no lanes, or None. Raises AssertionError if
    results differ."""
    library = Library(rmlc, folder, source, options)
    if library.refused is not None:
        return library.refused
    for n in (1, library.lanes, 2 * library.lanes + 3):
        both = Both(library, n, rng)
        for cycle in range(cycles):
            if not both.cycle():
                raise AssertionError(f"{source} {options}: {n} states, cycle {cycle}")
            if cycle == cycles // 2:
                both.exchange()
    return None
