"""Draws programs over tensors to be exported: sources of R(ML)², and inputs for them.

    program = Program(17)          # program 17 is always the same
    program.source                 # node main(x0: i8[2, 3], …) -> (y0: i8[2, 3], …)
    program.inputs                 # by name, an array whose first axis is the cycle

An equation applies one operator to new inputs, or to earlier results of a suitable type. Some
equations are guarded: they are computed only in a branch of `if` or `merge`, and at other cycles
their divisors are zero and their indices out of bounds. Some are delayed by a `fby`, some are the
body of a `map`. Extents are 0 to 4; element types are all that an operator accepts.
"""

import random
import re

import numpy as np

CYCLES = 3
SIGNED, UNSIGNED = ["i8", "i16", "i32", "i64"], ["u8", "u16", "u32", "u64"]
INTEGERS, FLOATS = SIGNED + UNSIGNED, ["f32", "f64"]
NUMBERS, ANY = INTEGERS + FLOATS, [*INTEGERS, *FLOATS, "bool"]
NUMPY = {"bool": "bool", "f32": "float32", "f64": "float64",
         **{kind + bits: {"i": "int", "u": "uint"}[kind] + bits for kind in "iu" for bits in ("8", "16", "32", "64")}}
UNARY = ["floor", "ceil", "round", "trunc", "exp", "log", "log1p", "expm1", "log2", "log10", "exp2", "sqrt", "rsqrt",
         "reciprocal", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
         "sigmoid", "softplus", "erf"]
# Operators for which ONNX does not define the treatment of NaN: extrema, order, sign.
FINITE = {"relu", "sign", "minimum", "maximum", "clip", "min", "max", "argmax", "argmin", "sort", "argsort", "argtopk",
          "max_pool", "logsumexp", "norm", "softmax", "log_softmax", "det", "conv", "matmul", "einsum", "resize", "grid"}


def typed(dtype, shape):
    return dtype + (f"[{', '.join(map(str, shape))}]" if shape else "")


class Program:
    def __init__(self, case):
        self.draw = random.Random(f"export {case}")
        self.numbers = np.random.default_rng(case)
        self.inputs, self.ports, self.equations, self.nodes = {}, [], [], []
        self.outputs, self.values = [], []  # each value is (name, dtype, shape)
        makers = [self.elementwise, self.elementwise, self.floats, self.conversion, self.comparison, self.product,
                  self.shaped, self.shaped, self.reduction, self.reduction, self.indexed, self.indexed, self.ordered,
                  self.window, self.guarded, self.guarded, self.held, self.mapped, self.bits]
        for _ in range(self.draw.randint(1, 4)):
            text, dtype, shape = self.draw.choice(makers)()
            name = f"y{len(self.outputs)}"
            self.equations.append(f"  {name} = {text};")
            self.outputs.append((name, dtype, shape))
            self.values.append((name, dtype, shape))
        ports = ", ".join(f"{name}: {typed(dtype, shape)}" for name, dtype, shape in self.ports)
        results = ", ".join(f"{name}: {typed(dtype, shape)}" for name, dtype, shape in self.outputs)
        self.source = "\n".join([*self.nodes, f"node main({ports}) -> ({results})", *self.equations]) + "\n"

    # ---- operands

    def shape(self, least=0, most=3, empty=True):
        extents = [1, 2, 3, 4] + ([0] if empty and self.draw.random() < 0.15 else [])
        return tuple(self.draw.choice(extents) for _ in range(self.draw.randint(least, most)))

    def array(self, dtype, shape, plain=False):
        whole = (CYCLES, *shape)
        if dtype == "bool":
            return self.numbers.random(whole) < 0.5
        if dtype[0] == "f":
            values = self.numbers.normal(size=whole) * self.draw.choice([1, 3])
            if not plain:
                strange = np.array([0, -0.0, 0.5, 1e9, -1e20, 300, np.inf, -np.inf, np.nan])
                values = np.where(self.numbers.random(whole) < 0.2, self.numbers.choice(strange, whole), values)
            return values.astype(NUMPY[dtype])
        limits = np.iinfo(NUMPY[dtype])
        small = self.numbers.integers(-4 if dtype[0] == "i" else 0, 9, whole)
        low, high = np.array(limits.min, NUMPY[dtype]), np.array(limits.max, NUMPY[dtype])
        ends = np.where(self.numbers.random(whole) < 0.5, low, high)
        return np.where(self.numbers.random(whole) < 0.2, ends, small.astype(NUMPY[dtype])).astype(NUMPY[dtype])

    def given(self, array, dtype):
        name = f"x{len(self.ports)}"
        self.ports.append((name, dtype, array.shape[1:]))
        self.inputs[name] = array
        return name

    def fresh(self, dtype, shape, plain=False):
        return self.given(self.array(dtype, shape, plain), dtype)

    def operand(self, dtypes, least=0, most=3, plain=False, empty=True):
        """An earlier value, or an input: name, dtype, shape."""
        fitting = [v for v in self.values if v[1] in dtypes and least <= len(v[2]) <= most]
        if fitting and not plain and self.draw.random() < 0.5:
            found = self.draw.choice(fitting)
            if empty or 0 not in found[2]:
                return found
        dtype, shape = self.draw.choice(dtypes), self.shape(least, most, empty)
        return self.fresh(dtype, shape, plain), dtype, shape

    def beside(self, shape):
        """A shape that broadcasts with another."""
        cut = shape[self.draw.randint(0, len(shape)):]
        return tuple(1 if self.draw.random() < 0.3 else extent for extent in cut)

    def nonzero(self, dtype, shape):
        array = self.array(dtype, shape)
        return np.where(array == 0, 1, array).astype(array.dtype)

    # ---- equations: text, dtype, shape

    def elementwise(self):
        op = self.draw.choice(["add", "sub", "mul", "div", "mod", "floor_mod", "minimum", "maximum", "abs", "sign", "negate",
                               "square", "relu", "clip", "pow", "select"])
        a, dtype, shape = self.operand(ANY if op == "select" else NUMBERS, plain=op in FINITE)
        other = self.beside(shape)
        if op in ("abs", "sign", "negate", "square", "relu"):
            return f"{op}({a})", dtype, shape
        if op in ("div", "mod", "floor_mod"):
            # The C libraries differ in fmod by infinities.
            b = self.nonzero(dtype, other)
            return f"{op}({a}, {self.given(b, dtype)})", dtype, shape
        if op == "clip":
            return f"clip({a}, {self.fresh(dtype, (), True)}, {self.fresh(dtype, (), True)})", dtype, shape
        if op == "pow":
            return f"pow({a}, {self.draw.randint(0, 6)}{'.0' if dtype[0] == 'f' else ''})", dtype, shape
        if op == "select":
            return f"select({self.fresh('bool', other)}, {a}, {self.fresh(dtype, shape)})", dtype, shape
        return f"{op}({a}, {self.fresh(dtype, other, op in FINITE)})", dtype, shape

    def floats(self):
        op = self.draw.choice(UNARY)
        x, dtype, shape = self.operand(FLOATS)
        return f"{op}({x})", dtype, shape

    def conversion(self):
        to = self.draw.choice(ANY)
        x, _, shape = self.operand(ANY)
        if self.draw.random() < 0.3:
            like = self.beside(shape)
            return f"cast_like({x}, {self.fresh(to, like)})", to, shape
        return f"cast({to}, {x})", to, shape

    def comparison(self):
        op = self.draw.choice(["eq", "ne", "lt", "le", "gt", "ge", "isnan", "isinf", "isfinite", "and", "or", "xor", "not"])
        if op.startswith("is"):
            x, _, shape = self.operand(FLOATS)
            return f"{op}({x})", "bool", shape
        if op in ("and", "or", "xor", "not"):
            x, _, shape = self.operand(["bool"])
            more = "" if op == "not" else f", {self.fresh('bool', self.beside(shape))}"
            return f"logical_{op}({x}{more})", "bool", shape
        x, dtype, shape = self.operand(ANY if op in ("eq", "ne") else NUMBERS)
        return f"{op}({x}, {self.fresh(dtype, self.beside(shape))})", "bool", shape

    def bits(self):
        x, dtype, shape = self.operand(INTEGERS)
        op = self.draw.choice(["left_shift", "right_shift"])
        return f"{op}({x}, {self.fresh(dtype, self.beside(shape))})", dtype, shape

    def product(self):
        dtype = self.draw.choice(NUMBERS)
        kind = self.draw.choice(["matmul", "outer", "dot", "einsum", "vector", "batch"])
        n, m, k = (self.draw.choice([1, 2, 3] + ([0] if self.draw.random() < 0.1 else [])) for _ in range(3))
        a = lambda *shape: self.fresh(dtype, shape, True)
        if kind == "matmul":
            return f"matmul({a(n, k)}, {a(k, m)})", dtype, (n, m)
        if kind == "vector":
            return f"matmul({a(n, k)}, {a(k)})", dtype, (n,)
        if kind == "batch":
            return f"matmul({a(2, n, k)}, {a(k, m)})", dtype, (2, n, m)
        if kind == "outer":
            return f"outer({a(n)}, {a(m)})", dtype, (n, m)
        if kind == "dot":
            return f"dot({a(k)}, {a(k)})", dtype, ()
        return f'einsum("ij,kj->ik", {a(n, k)}, {a(m, k)})', dtype, (n, m)

    def shaped(self):
        x, dtype, shape = self.operand(ANY, 1, 3)
        op = self.draw.choice(["reshape", "expand", "squeeze", "transpose", "broadcast", "concat", "array", "slice", "pad",
                               "tile", "flip", "full"])
        count = int(np.prod(shape))
        if op == "reshape":
            return f"reshape([{count}], {x})", dtype, (count,)
        if op == "expand":
            return f"expand_dims({x}, 0)", dtype, (1, *shape)
        if op == "squeeze":
            return f"squeeze({x})", dtype, tuple(e for e in shape if e != 1)
        if op == "transpose":
            axes = list(range(len(shape)))
            self.draw.shuffle(axes)
            return f"transpose({x}, {axes})", dtype, tuple(shape[axis] for axis in axes)
        if op == "broadcast":
            return f"broadcast_to({x}, {[2, *shape]})", dtype, (2, *shape)
        if op == "full":
            return f"full({list(shape)}, {self.fresh(dtype, ())})", dtype, shape
        if op == "concat":
            axis = self.draw.randrange(len(shape))
            more = (*shape[:axis], self.draw.randint(0, 2), *shape[axis + 1:])
            result = (*shape[:axis], shape[axis] + more[axis], *shape[axis + 1:])
            return f"concat({x}, {self.fresh(dtype, more)}, axis={axis})", dtype, result
        if op == "array":
            return f"[{x}, {self.fresh(dtype, shape)}]", dtype, (2, *shape)
        if op == "slice":
            start = self.draw.randint(0, shape[0])
            stop = self.draw.randint(start, shape[0])
            return f"{x}[{start}:{stop}]", dtype, (stop - start, *shape[1:])
        if op == "pad":
            mode = self.draw.choice(["constant", "edge", "reflect"])
            if 0 in shape or (mode == "reflect" and min(shape) < 3):
                mode = "constant"
            return f'pad({x}, 1, 2, mode="{mode}")', dtype, tuple(e + 3 for e in shape)
        if op == "tile":
            return f"tile({x}, [2])", dtype, (*shape[:-1], 2 * shape[-1])
        return f"flip({x})", dtype, shape

    def reduction(self):
        op = self.draw.choice(["sum", "prod", "min", "max", "mean", "all", "any", "norm", "logsumexp", "softmax",
                               "log_softmax", "argmax", "argmin", "cumsum", "one_hot", "sum_to"])
        dtypes = {"all": ["bool"], "any": ["bool"], "one_hot": [d for d in INTEGERS if d != "u64"]}.get(
            op, FLOATS if op in ("mean", "norm", "logsumexp", "softmax", "log_softmax") else NUMBERS)
        x, dtype, shape = self.operand(dtypes, 1, 3, plain=dtypes is not INTEGERS, empty=op not in ("argmax", "argmin"))
        axis = self.draw.randrange(len(shape))
        without = (*shape[:axis], *shape[axis + 1:])
        if op == "one_hot":
            to = self.draw.choice(["i32", "f32"])
            return f"cast({to}, one_hot({x}, 4))", to, (*shape, 4)
        if op in ("softmax", "log_softmax"):
            axes = [axis] if self.draw.random() < 0.5 else sorted({0, len(shape) - 1})
            return f"{op}({x}, axis={axes})", dtype, shape
        if op == "cumsum":
            return f"cumsum({x}, {axis}, exclusive={self.draw.randint(0, 1)})", dtype, shape
        if op == "sum_to":
            return f"sum_to({x}, {list(shape[1:])})", dtype, shape[1:]
        if op in ("argmax", "argmin"):
            return f"{op}({x}, {axis}, last={self.draw.randint(0, 1)})", "i32", without
        if self.draw.random() < 0.3:
            return f"{op}({x})", dtype, ()
        if self.draw.random() < 0.3:
            return f"{op}({x}, {axis}, keepdims=1)", dtype, (*shape[:axis], 1, *shape[axis + 1:])
        return f"{op}({x}, {axis})", dtype, without

    def places(self, extent, shape, negative=True):
        dtype = self.draw.choice(["i32", "i64", "i8", "u8", "u16"])
        low = -extent if negative and dtype[0] == "i" else 0
        return self.numbers.integers(low, extent, (CYCLES, *shape)).astype(NUMPY[dtype]), dtype

    def indexed(self, guard=None):
        """An application that stops the program if an index is out of bounds. If `guard` is given,
        indices may be out of bounds only where it is false."""
        x, dtype, shape = self.operand(ANY, 1, 3, empty=False)
        op = self.draw.choice(["index", "take", "gather", "gather_nd", "scatter", "scatter_nd"])
        axis = 0 if op in ("index", "gather_nd", "scatter_nd") else self.draw.randrange(len(shape))
        n = self.draw.randint(1, 3)
        wanted = {"index": (), "take": (n,), "gather_nd": (n, 1), "scatter_nd": (n, 1)}.get(
            op, (*shape[:axis], n, *shape[axis + 1:]))
        at, kind = self.places(shape[axis], wanted, op != "index")
        if op.startswith("scatter"):  # draws distinct indices, because the order of two writes to an element would
                                      # matter
            n = self.draw.randint(1, shape[axis])
            wanted = (n, 1) if op == "scatter_nd" else (*shape[:axis], n, *shape[axis + 1:])
            at, kind = np.zeros((CYCLES, *wanted), "int32"), "i32"
            for cycle in range(CYCLES):
                order = self.numbers.permutation(shape[axis])[:n]
                at[cycle] = order.reshape([n if k == axis else 1 for k in range(len(wanted))])
        if guard is not None:
            at = at.copy()
            at[~guard] = 100
        i = self.given(at, kind)
        result = {"index": shape[1:], "take": (*shape[:axis], n, *shape[axis + 1:]), "gather": wanted,
                  "gather_nd": (n, *shape[1:])}.get(op, shape)
        if op == "index":
            return f"{x}[{i}]", dtype, result
        if op in ("take", "gather"):
            return f"{op}{'' if op == 'take' else '_elements'}({x}, {i}, {axis})", dtype, result
        if op == "gather_nd":
            return f"gather_nd({x}, {i})", dtype, result
        updates = self.fresh(dtype, wanted if op == "scatter" else (n, *shape[1:]))
        name = f"scatter_elements({x}, {i}, {updates}, axis={axis}" if op == "scatter" else f"scatter_nd({x}, {i}, {updates}"
        return name + ")", dtype, shape

    def ordered(self):
        x, dtype, shape = self.operand(NUMBERS, 1, 3, plain=True, empty=False)
        axis = self.draw.randrange(len(shape))
        op = self.draw.choice(["sort", "argsort", "argtopk"])
        if op == "argtopk":
            k = self.draw.randint(1, shape[axis])
            return f"argtopk({x}, {k}, {axis})", "i32", (*shape[:axis], k, *shape[axis + 1:])
        return (f"{op}({x}, {axis}, descending={self.draw.randint(0, 1)})", dtype if op == "sort" else "i32", shape)

    def window(self):
        op = self.draw.choice(["conv", "conv_transpose", "max_pool", "average_pool", "resize", "det", "grid"])
        dtype = self.draw.choice(FLOATS if op in ("average_pool", "det", "grid") or self.draw.random() < 0.6 else NUMBERS)
        a = lambda *shape: self.fresh(dtype, shape, True)
        if op == "conv":
            stride, pad = self.draw.randint(1, 2), self.draw.randint(0, 1)
            extent = (5 + 2 * pad - 2) // stride + 1
            return f"conv({a(1, 2, 5)}, {a(3, 2, 2)}, strides={stride}, padding={pad})", dtype, (1, 3, extent)
        if op == "conv_transpose":
            return f"conv_transpose({a(1, 2, 3)}, {a(2, 3, 2)}, strides=2)", dtype, (1, 3, 6)
        if op == "max_pool":
            pad = self.draw.randint(0, 1)
            return f"max_pool({a(1, 2, 5)}, 2, strides=1, padding={pad})", dtype, (1, 2, 4 + 2 * pad)
        if op == "average_pool":
            return f"average_pool({a(1, 2, 4, 4)}, 2)", dtype, (1, 2, 2, 2)
        if op == "resize":
            mode = self.draw.choice(["linear", "nearest"]) if dtype[0] == "f" else "nearest"
            return f'resize({a(1, 1, 4)}, 2, 8, mode="{mode}")', dtype, (1, 1, 8)
        if op == "det":
            return f"det({a(3, 3)})", dtype, ()
        return f"grid_sample({a(1, 1, 3, 3)}, {a(1, 2, 2, 2)})", dtype, (1, 1, 2, 2)

    def guarded(self):
        """A division or an index within a branch only; its operands are invalid when the other
        branch is taken."""
        truth = self.numbers.random(CYCLES) < 0.5
        condition = self.given(truth, "bool")
        if self.draw.random() < 0.5:
            text, dtype, shape = self.indexed(truth)
        else:
            a, dtype, shape = self.operand(INTEGERS)
            divisor = self.nonzero(dtype, shape)
            divisor[~truth] = 0
            op = self.draw.choice(["div", "mod", "floor_mod"])
            b = self.given(divisor, dtype)
            text = f"{op}({a}, {b})"
            if self.draw.random() < 0.3 and shape and 0 not in shape:  # writes the operation within the body of an
                                                                       # iteration
                node = f"divided{len(self.nodes)}"
                inner = typed(dtype, shape[1:])
                self.nodes.append(f"node {node}(a: {inner}, b: {inner}) -> (q: {inner})\n  q = {op}(a, b);")
                text = f"map {node}({a}, {b})"
        other = self.fresh(dtype, shape)
        if "map" not in text and self.draw.random() < 0.5:
            return f"if {condition} then {text} else {other}", dtype, shape
        node = f"branch{len(self.nodes)}"
        read = [port for port in [*self.ports, *self.values] if re.search(rf"\b{port[0]}\b", text)]
        taken = ", ".join(f"{name}: {typed(kind, extents)}" for name, kind, extents in read)
        self.nodes.append(f"node {node}({taken}) -> (q: {typed(dtype, shape)})\n  q = {text};")
        sampled = ", ".join(f"{name} when {condition}" for name, _, _ in read)
        return f"merge {condition} ({node}({sampled})) ({other} when not {condition})", dtype, shape

    def held(self):
        x, dtype, shape = self.operand(NUMBERS, plain=True)
        start = self.array(dtype, shape)[0]
        name = f"h{len(self.equations)}"
        if self.draw.random() < 0.5:
            self.equations.append(f"  {name} = {constant(start, dtype)} fby add({name}, {x});")
        else:
            self.equations.append(f"  {name} = {x} fby {name};")
        return name, dtype, shape

    def mapped(self):
        x, dtype, shape = self.operand(NUMBERS, 1, 3, plain=True, empty=False)
        node, inner = f"body{len(self.nodes)}", typed(dtype, shape[1:])
        kind = self.draw.choice(["map", "fold", "scan"])
        if kind == "map":
            self.nodes.append(f"node {node}(a: {inner}) -> (q: {inner})\n  q = add(mul(a, a), a);")
            return f"map {node}({x})", dtype, shape
        start = self.fresh(dtype, shape[1:], True)
        if kind == "fold":
            self.nodes.append(f"node {node}(s: {inner}, a: {inner}) -> (q: {inner})\n  q = sub(a, s);")
            return f"fold {node}({start}; {x})", dtype, shape[1:]
        self.nodes.append(f"node {node}(s: {inner}, a: {inner}) -> (q: {inner}, r: {inner})\n  q = sub(a, s);\n  r = mul(q, a);")
        self.equations.append(f"  _, t{len(self.nodes)} = scan {node}({start}; {x});")
        return f"t{len(self.nodes)}", dtype, shape


def constant(array, dtype):
    """A literal of the array."""
    if array.ndim:
        return f"full({list(array.shape)}, {constant(array.flat[0] if array.size else np.array(1, array.dtype), dtype)})"
    value = array.item()
    if dtype[0] == "f":
        value = value if np.isfinite(value) else 1.5
        return f"cast({dtype}, {value!r})" if value >= 0 else f"cast({dtype}, -{-value!r})"
    return f"cast({dtype}, {min(max(value, -100), 100)})"

