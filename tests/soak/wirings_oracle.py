"""Evaluates the programs of wirings_program.py and their derivatives: instance by instance, cycle
by cycle, on demand.

Shares no code with the compiler. A derivative is computed from its definition and not from the
output of `diff`: the sum of the outputs, each times its adjoint, over the cycles at which the
adjoints are present, is evaluated with one infinitesimal for each input at each cycle.
"""
import numpy

import hyper_duals as hd

HUGE = 1e60


class Unanswered(Exception):
    """Raised if a value depends on itself, or on a cycle that is not in the input."""


def library(name, *a):
    """Returns the definition of a function of the library as an expression."""
    if name == "loss.mse":
        return ("square", ("-", *a))
    if name == "activation.softsign":
        return ("/", a[0], ("+", ("k", 1.0), ("abs", a[0])))
    if name == "activation.gelu":
        cube = ("*", ("k", 0.044715), ("*", a[0], ("square", a[0])))
        return ("*", a[0], ("sigmoid", ("*", ("k", 1.5957691216057308), ("+", a[0], cube))))
    # Covers both forms, swish(beta, x) and silu(x).
    return ("*", a[-1], ("sigmoid", ("*", a[0], a[1]) if len(a) == 2 else a[0]))


class Instance:
    """A node at the cycles `clock`. Its arguments are functions of a cycle. `path` identifies
    the instance, but not the element of an iteration, since elements share their parameters.
    `world` contains the values of parameters."""

    def __init__(self, node, flags, arguments, clock, world, path=()):
        self.node, self.flags, self.arguments, self.clock = node, flags, arguments, clock
        self.world, self.path, self.noise = world, path, world.noise
        self.place = {t: k for k, t in enumerate(clock)}
        self.values = {}
        self.definitions = {}
        for e in node.equations:
            names = e[1] if e[0] == "call" else e[2] if e[0] == "over" else [e[1]]
            for output, name in enumerate(names):
                self.definitions[name] = (e, output)
        self.children = {}

    def get(self, name, t):
        if name in self.arguments:
            return self.arguments[name](t)
        key = (name, t)
        if key not in self.values:
            self.values[key] = None
            self.values[key] = self.compute(name, t)
        if self.values[key] is None:
            raise Unanswered(f"{self.node.name}.{name} at {t}")
        return self.values[key]

    def child(self, equation, which, g, arguments, clock):
        key = (id(equation), which)
        if key not in self.children:
            given = {i: (lambda t, a=a: self.evaluate(a, t)) for i, a in zip(g.inputs, arguments)}
            self.children[key] = Instance(g, self.flags, given, clock, self.world, self.path + (key,))
        return self.children[key]

    def element(self, e, index):
        """The instance of one element of an iteration."""
        form, _, g, states, sequences, fixed = e[1:]
        if (id(e), index) in self.children:
            return self.children[id(e), index]
        order = list(range(len(sequences[0])))[::-1 if "reverse" in form else 1]
        place = order.index(index)
        given = {}
        for k, (i, a) in enumerate(zip(g.inputs, states)):
            given[i] = (lambda t, a=a: self.evaluate(a, t)) if place == 0 else \
                (lambda t, k=k: self.element(e, order[place - 1]).get(g.outputs[k], t))
        for i, a in zip(g.inputs[len(states):], [s[index] for s in sequences] + fixed):
            given[i] = lambda t, a=a: self.evaluate(a, t)
        path = self.path + (id(e), index if self.world.expanded else None)
        self.children[id(e), index] = Instance(g, self.flags, given, self.clock, self.world, path)
        return self.children[id(e), index]

    def compute(self, name, t):
        base, _, index = name.partition("[")
        e, output = self.definitions[base]
        kind = e[0]
        if kind == "over":
            # Evaluates all elements: unused ones get an adjoint of 0, and 0 times infinity is
            # NaN.
            for i in range(len(e[5][0])):
                for o in e[3].outputs:
                    self.element(e, i).get(o, t)
            last = 0 if "reverse" in e[1] else len(e[5][0]) - 1
            return self.element(e, int(index[:-1]) if index else last).get(e[3].outputs[output], t)
        if kind == "let":
            return self.evaluate(e[2], t)
        if kind == "param":
            return self.world.parameter(self.path + (name,), e[2], t)
        if kind == "call":
            return self.child(e, 0, e[2], e[3], self.clock).get(e[2].outputs[output], t)
        if kind == "merge":
            taken = self.flags["c"][t]
            g, arguments, wanted = e[3] if taken else e[4]
            clock = [s for s in self.clock if self.flags["c"][s] == taken]
            return self.child(e, taken, g, arguments, clock).get(wanted, t)
        end, at = self.flags[e[4]], self.place[t]
        if kind == "fby":
            first = at == 0 or end[self.clock[at - 1]]
            return self.evaluate(e[2], t) if first else self.evaluate(e[3], self.clock[at - 1])
        if not end[t] and at + 1 == len(self.clock):
            raise Unanswered(f"{name} at {t}")
        return self.evaluate(e[2], t) if end[t] else self.evaluate(e[3], self.clock[at + 1])

    def check_assertions(self):
        """Raises an OverflowError if an asserted input is no number, also of instances whose results are not used: the
        program checks these assertions and stops."""
        for t in self.clock:
            for name in [*self.node.asserts, *filter(None, self.definitions)]:
                try:
                    value = self.get(name, t)
                except Unanswered:
                    continue
                if name in self.node.asserts and value != value:
                    raise OverflowError
        for child in self.children.values():
            child.check_assertions()

    def evaluate(self, e, t):
        value = self.operate(e, t)
        if self.noise and e[0] not in ("v", "k", "c", "not", "<", "if"):
            value = value * self.noise()
        if isinstance(value, numpy.ndarray) and abs(value).max() > HUGE:
            raise OverflowError  # ends the case, because adjoints of such large values are NaN when multiplied by 0
        return value

    def operate(self, e, t):
        kind, *parts = e
        if "." in kind:
            return self.evaluate(library(kind, *parts), t)
        if kind == "v":
            return self.get(parts[0], t)
        if kind == "k":
            return parts[0]
        if kind == "c":
            return self.flags["c"][t]
        if kind == "if":
            return self.evaluate(parts[1] if self.evaluate(parts[0], t) else parts[2], t)
        values = [self.evaluate(p, t) for p in parts]
        if kind == "+":
            return hd.add(*values)
        if kind == "-":
            return hd.add(values[0], -values[1])
        if kind == "*":
            return hd.multiply(*values)
        if kind == "/":
            return hd.divide(*values)
        if kind == "neg":
            return -values[0]
        if kind == "square":
            return hd.multiply(values[0], values[0])
        if kind == "stop_gradient":
            return self.world.stopped(values[0])
        if kind == "not":
            return not values[0]
        if kind == "<":
            return hd.real(values[0]) < hd.real(values[1])
        return hd.function(kind, values[0])


class World:
    """The values of parameters, which are constant here, and of numbers whose derivatives are
    stopped."""

    def __init__(self, noise=None, expanded=False):
        """expanded: elements of an iteration are calls, which have parameters of their own."""
        self.noise, self.expanded = noise, expanded

    def parameter(self, path, first, t):
        return first

    def stopped(self, number):
        return hd.real(number)


class MovingWorld(World):
    """Parameters move by the gradient of the objective from segment to segment; without memory
    each cycle is a segment.

    Each parameter has a variable of direction 0, from index `first` on, and begins each segment
    as a plain number.
    """

    def __init__(self, segments, shape, first, noise, expanded):
        super().__init__(noise, expanded)
        self.segments, self.shape, self.first = segments, shape, first
        self.indices, self.values = {}, {}
        self.objective = None  # a function whose argument is the list of cycles over which it sums

    def parameter(self, path, first, t):
        index = self.indices.setdefault(path, self.first + len(self.indices))
        return hd.variable(self.value(path, index, first, self.segments[t]), 0, index, self.shape)

    def value(self, path, index, first, segment):
        if segment == 0:
            return first
        if (path, segment) not in self.values:
            objective = self.objective([t for t, of in enumerate(self.segments) if of == segment - 1])
            self.values[path, segment] = self.value(path, index, first, segment - 1) + \
                hd.real(hd.gradient(objective, 0, index))
        return self.values[path, segment]


def count_parameters(node, expanded):
    """The number of parameters of an instance."""
    count = 0
    for e in node.equations:
        callees = e[2:3] if e[0] == "call" else e[3:4] if e[0] == "over" else \
            [call[0] for call in e[3:5]] if e[0] == "merge" else []
        times = len(e[5][0]) if e[0] == "over" and expanded else 1
        count += (e[0] == "param") + times * sum(count_parameters(g, expanded) for g in callees)
    return count


class Evaluation:
    """All results of a program over rows: flags and inputs are lists by cycle."""

    def __init__(self, program, rows, expanded=False, noise=None):
        self.program, self.expanded, self.noise = program, expanded, noise
        self.flags = {"end": rows["end"], "halt": rows["halt"], "c": rows["c"], "true": [True] * len(rows["end"])}
        self.rows = [rows[i] for i in program.inputs]
        self.cycles = range(len(rows["end"]))

    def instance(self, streams, world):
        """An instance of f."""
        given = {i: (lambda t, s=s: s[t]) for i, s in zip(self.program.inputs, streams)}
        return Instance(self.program.f, self.flags, given, list(self.cycles), world)

    def world(self, shape):
        if not self.program.moves:
            return World(self.noise)
        segments = [sum(self.flags["end"][:t]) for t in self.cycles] if self.program.style["memory"] else list(self.cycles)
        return MovingWorld(segments, shape, 1 + len(self.rows) * len(self.cycles), self.noise, self.expanded)

    def gradients(self, k, streams, axes):
        """The outputs of `diff` of node k - 1: those of f or of node k - 1, and a gradient for
        each input, as streams."""
        level = self.program.levels[k - 1]
        parameters = count_parameters(self.program.f, self.expanded) if self.program.moves else 0
        shape = (1 + len(streams) * len(self.cycles) + parameters,) * axes
        index = lambda i, t: 1 + i * len(self.cycles) + t
        moved = [[hd.variable(s[t], k - 1, index(i, t), shape) for t in self.cycles] for i, s in enumerate(streams)]
        world = self.world(shape)
        if k == 1:
            f = self.instance(moved, world)
            outputs = [lambda t, o=o: f.get(o, t) for o in self.program.f.outputs]
        else:
            outputs = [self.yielded(k - 1, moved, axes).__getitem__]
        scope = self.instance(streams, World())  # the scope in which adjoints are evaluated

        def objective(cycles):
            total = 0.0
            for adjoint, output in zip(level["adjoints"], outputs):
                for t in cycles:
                    if self.flags[level["where"]][t]:
                        total = hd.add(total, hd.multiply(scope.evaluate(adjoint, t), output(t)))
            return total
        world.objective = objective
        total = objective(self.cycles)
        gradients = [[hd.gradient(total, k - 1, index(i, t)) for t in self.cycles] for i in range(len(streams))]
        return [[output(t) for t in self.cycles] for output in outputs], gradients

    def yielded(self, k, streams, axes):
        """The output d of node k: a weighted sum of the gradients by its inputs."""
        _, parts = self.gradients(k, streams, axes)
        weights = self.program.levels[k - 1]["weights"]
        result = []
        for t in self.cycles:
            d = 0.0
            for w, part in zip(weights, parts):
                d = hd.add(d, part[t] if w == 1.0 else w * part[t])
            result.append(d)
        return result

    def results(self):
        """{name: stream of floats}: the outputs of f, and gradients of each order by each
        input."""
        found = {}
        if self.program.style["assert"]:
            self.instance(self.rows, World()).check_assertions()
        if self.program.order == 0:
            f = self.instance(self.rows, World(self.noise))
            found = {o: [f.get(o, t) for t in self.cycles] for o in self.program.f.outputs}
        for k in range(1, self.program.order + 1):
            outputs, gradients = self.gradients(k, self.rows, k)
            if k == 1:
                found.update(zip(self.program.f.outputs, outputs))
            found.update((f"d{k}{i}", stream) for i, stream in zip(self.program.inputs, gradients))
        return {name: [hd.real(v) for v in stream] for name, stream in found.items()}
