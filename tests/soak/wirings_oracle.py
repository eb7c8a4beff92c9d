"""Evaluates the programs of wirings_program.py, with their derivatives: instance by instance, cycle by cycle, on demand.

Shares nothing with the compiler. A derivative is not what `diff` writes but what it means: the sum of the outputs, each
times its adjoint, over the cycles where the adjoints are, is evaluated with one infinitesimal for each input at each
cycle.
"""
import hyper_duals as hd


class Unanswered(Exception):
    """A value needs itself, or a cycle that does not come."""


class Instance:
    """A node at the cycles `clock`. Its arguments are functions of a cycle."""

    def __init__(self, node, flags, arguments, clock, noise=None):
        self.node, self.flags, self.arguments, self.clock, self.noise = node, flags, arguments, clock, noise
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
            self.children[key] = Instance(g, self.flags, given, clock, self.noise)
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
        self.children[id(e), index] = Instance(g, self.flags, given, self.clock, self.noise)
        return self.children[id(e), index]

    def compute(self, name, t):
        base, _, index = name.partition("[")
        e, output = self.definitions[base]
        kind = e[0]
        if kind == "over":
            last = 0 if "reverse" in e[1] else len(e[5][0]) - 1
            return self.element(e, int(index[:-1]) if index else last).get(e[3].outputs[output], t)
        if kind == "let":
            return self.evaluate(e[2], t)
        if kind == "param":
            return e[2]
        if kind == "call":
            return self.child(e, 0, e[2], e[3], self.clock).get(e[2].outputs[output], t)
        if kind == "merge":
            taken = self.flags["c"][t]
            g, arguments, wanted = e[3] if taken else e[4]
            clock = [s for s in self.clock if self.flags["c"][s] == taken]
            return self.child(e, taken, g, arguments, clock).get(wanted, t)
        end, at = self.flags["end"], self.place[t]
        if kind == "fby":
            first = at == 0 or end[self.clock[at - 1]]
            return self.evaluate(e[2], t) if first else self.evaluate(e[3], self.clock[at - 1])
        if not end[t] and at + 1 == len(self.clock):
            raise Unanswered(f"{name} at {t}")
        return self.evaluate(e[2], t) if end[t] else self.evaluate(e[3], self.clock[at + 1])

    def evaluate(self, e, t):
        value = self.operate(e, t)
        if self.noise and e[0] not in ("v", "k", "c", "not", "<", "if"):
            value = value * self.noise()
        return value

    def operate(self, e, t):
        kind, *parts = e
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
        if kind == "not":
            return not values[0]
        if kind == "<":
            return hd.real(values[0]) < hd.real(values[1])
        return hd.function(kind, values[0])


class Evaluation:
    """All results of a program over rows: flags and inputs are lists by cycle."""

    def __init__(self, program, rows, noise=None):
        self.program, self.noise = program, noise
        self.flags = {"end": rows["end"], "c": rows["c"], "true": [True] * len(rows["end"])}
        self.rows = [rows[i] for i in program.inputs]
        self.cycles = range(len(rows["end"]))

    def outputs(self, streams):
        """What f yields, a list of streams."""
        given = {i: (lambda t, s=s: s[t]) for i, s in zip(self.program.inputs, streams)}
        f = Instance(self.program.f, self.flags, given, list(self.cycles), self.noise)
        return [[f.get(o, t) for t in self.cycles] for o in self.program.f.outputs]

    def gradients(self, k, streams, axes):
        """The gradients that `diff` of node k - 1 yields, a stream for each input, and the outputs of that node."""
        level = self.program.levels[k - 1]
        shape = (1 + len(streams) * len(self.cycles),) * axes
        index = lambda i, t: 1 + i * len(self.cycles) + t
        moved = [[hd.variable(s[t], k - 1, index(i, t), shape) for t in self.cycles] for i, s in enumerate(streams)]
        outputs = self.outputs(moved) if k == 1 else [self.yielded(k - 1, moved, axes)]
        given = {i: (lambda t, s=s: s[t]) for i, s in zip(self.program.inputs, streams)}
        scope = Instance(self.program.f, self.flags, given, list(self.cycles))
        total = 0.0
        for adjoint, stream in zip(level["adjoints"], outputs):
            for t in self.cycles:
                if self.flags[level["where"]][t]:
                    total = hd.add(total, hd.multiply(scope.evaluate(adjoint, t), stream[t]))
        return [[hd.gradient(total, k - 1, index(i, t)) for t in self.cycles] for i in range(len(streams))]

    def yielded(self, k, streams, axes):
        """The stream d of node k."""
        parts = self.gradients(k, streams, axes)
        weights = self.program.levels[k - 1]["weights"]
        result = []
        for t in self.cycles:
            d = 0.0
            for w, part in zip(weights, parts):
                d = hd.add(d, part[t] if w == 1.0 else w * part[t])
            result.append(d)
        return result

    def results(self):
        """{name: stream of floats}, the names being those of program.results()."""
        found = dict(zip(self.program.f.outputs, self.outputs(self.rows)))
        for k in range(1, self.program.order + 1):
            for i, stream in zip(self.program.inputs, self.gradients(k, self.rows, k)):
                found[f"d{k}{i}"] = stream
        return {name: [hd.real(v) for v in stream] for name, stream in found.items()}
