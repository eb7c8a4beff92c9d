"""Draws programs with features that wirings lack, for the search `everywhere`: element types,
random numbers, text operators, sizes 0 and 1.

The reference engine gives the expected rows. All programs may be dealt to ranks: memory restarts
where `end` is true.
"""
import random

FLOATS, INTEGERS = ["f32", "f64"], ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
RANDOM = ["sum(uniform([{n}], -1.0, 1.0))", "sum(normal([{n}], 0.0, 1.0))", "param(sum(uniform([{n}], -1.0, 1.0)))"]
TEXTS = ['einsum("i,i->", [{a}, {b}], [{b}, {a}])', 'sum(pad([{a}, {b}], 1, 1, mode="edge"))',
         'sum(scatter_elements([{a}, {b}], [1, 1], [{b}, {a}], reduction="add"))', 'sum(einsum("i,j->ij", [{a}], [{b}, {b}]))']
SIZES = ["sum(concat([{a}, {b}][1:1], [{b}]))", "{a} + sum(zeros([0]))", "sum([{a}])", "max([{a}]) + sum(0.5 * [{b}][0:0])"]


class Mixed:
    """A node `part` of a: f64, b: f64, n: i32, c, end; a node `each` that calls it; and main,
    which calls `each` and maps it."""

    def __init__(self, case, dealt, order):
        """order: how often `each` is differentiated."""
        self.random, self.dealt, self.order = random.Random(f"everywhere {case}"), dealt, order
        self.fresh = 0
        self.floats = ["a", "b"]
        self.equations = []

    def value(self):
        """A float expression of the existing variables."""
        return self.random.choice(self.floats)

    def add(self, right):
        self.fresh += 1
        self.equations.append(f"  v{self.fresh} = {right};")
        self.floats.append(f"v{self.fresh}")

    def typed(self):
        """Memory and arithmetic in an element type, and the conversion back."""
        kind = self.random.choice(FLOATS + INTEGERS + ["f16", "bf16", "bool"])
        self.fresh += 1
        name = f"t{self.fresh}"
        if kind == "bool":
            right = f"fby_end(end, false, {name}) != c"
        elif kind in INTEGERS:
            right = f"fby_end(end, cast({kind}, {self.random.randint(0, 9)}), {name}) * cast({kind}, 3) + cast({kind}, n)"
        elif kind in FLOATS:
            right = f"cast({kind}, 0.5) * fby_end(end, cast({kind}, 1.0), {name}) + cast({kind}, {self.value()})"
        else:
            right = f"cast({kind}, 0.5 * cast(f32, fby_end(end, cast({kind}, 1.0), {name})) + cast(f32, {self.value()}))"
        self.equations.append(f"  {name}: {kind} = {right};")
        back = f"cast(f64, cast(i32, {name}))" if kind == "bool" else f"cast(f64, {name})"
        self.add(f"if {name} then {self.value()} else 0.25" if kind == "bool" else f"0.125 * {back}")

    def step(self):
        r = self.random
        pick = r.random()
        text = lambda forms: r.choice(forms).format(a=self.value(), b=self.value(), n=r.randint(1, 3))
        if pick < 0.4:
            self.typed()
        elif pick < 0.5 and not self.dealt:  # excluded for dealt rows, because numbers drawn in each row would depend
                                             # on the rank
            self.add(text(RANDOM))
        elif pick < 0.65:
            self.add(text(TEXTS))
        elif pick < 0.8:
            self.add(text(SIZES))
        elif pick < 0.85:
            self.equations.append(f'  assert {self.value()} < 1e30, "numbers stay small";')
        elif pick < 0.92 and not self.dealt:
            self.add(f"merge c ({self.value()} when c) ((0.0 fby 0.5 * {self.value()}) when not c)")
        else:
            self.add(f"{self.value()} - 0.5 * {self.value()}")

    def text(self):
        for _ in range(self.random.randint(3, 8)):
            self.step()
        head = "end: bool, c: bool, n: i32, a: f64, b: f64, "
        dealt = head.replace(", ", " dealt end by 2, ")[:-2] if self.dealt else head[:-2]
        ports = "a: f64, b: f64, n: i32, c: bool, end: bool"
        lines = [f"node part({ports}) -> (y)", *self.equations, f"  y = {self.floats[-1]};",
                 f"node each({ports}) -> (y)", "  y = part(b, a, n + 1, not c, end) - a;",
                 f"node slope({ports}) -> (d)", "  _, d, _ = diff each(a, b, n, c, end, true, 0.125);"]
        calls = ["  y = each(a, b, n, c, end);", "  z = map each([a, b], [b, b]; n, c, end);"]
        outputs = "y: f64, z: f64[2]"
        if self.order > 0:
            calls.append("  _, da, db = diff each(a, b, n, c, end, true, 0.125);")
            outputs += ", da: f64, db: f64"
        if self.order > 1:
            calls.append("  _, ha, hb = diff slope(a, b, n, c, end, true, 1.0);")
            outputs += ", ha: f64, hb: f64"
        return "\n".join([*lines[:len(lines) if self.order > 1 else -2], f"node main({dealt}) -> ({outputs})", *calls]) + "\n"


def rows(case, cycles=9):
    r = random.Random(f"rows {case}")
    number = lambda: r.randint(-8, 8) * 0.25
    ends = [r.random() < 0.4 for _ in range(cycles - 1)] + [True]
    return {"end": ends, "c": [r.random() < 0.5 for _ in ends], "n": [r.randint(-5, 9) for _ in ends],
            "a": [number() for _ in ends], "b": [number() for _ in ends]}
