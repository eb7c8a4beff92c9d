"""Draws programs of small nodes with random connections, for the searches `wirings` and
`iterations`. wirings_text.py prints them.

A program is a list of nodes, the last being `f`; a node calls only nodes before it. Expressions
are tuples: ("v", name), ("k", number), (operator, parts…). Equations are tuples too:
  ("let", name, expression)                        name = expression
  ("call", names, node, arguments)                 names = node(arguments); a name may be None, arguments are expressions
  ("merge", name, condition, call, call)           a call (node, arguments, output) at the cycles of either branch
  ("fby", name, first, next, end), ("post", name, last, next, end)
  ("param", name, number)
  ("over", form, names, node, states, sequences, fixed)  map, fold, scan or scan[reverse]; a sequence is a list of expressions,
                                                   and the elements of a stacked result are variables called name[0], …
A node is drawn step by step. A call is opened, and its arguments are filled in later with
variables that are known by then. Its outputs become known as soon as the arguments that they need
are. So outputs return as inputs of the same instance, and of others, but no value needs itself.
"""
import random

from wirings_text import print_expression, print_node, print_turned

FUNCTIONS = ["sin", "tanh", "exp"]
LIBRARY = {"activation.silu": 1, "activation.softsign": 1, "activation.gelu": 1, "activation.swish": 2, "loss.mse": 2}
LEVELS = ["f", "slope", "curve", "twist"]  # name of the node for each order of differentiation


class Node:
    def __init__(self, name):
        self.name = name
        self.flags = []  # names of Boolean inputs, some of "end" and "c"; they precede the others
        self.inputs = []
        self.outputs = []
        self.equations = []
        self.asserts = []  # names of inputs for which the node asserts that they are numbers
        self.needs = {}  # for each output, the inputs that it needs within the cycle, and in any cycle
        self.typed = False
        self.layer = None  # the weights, two rows and biases, if it is a layer of the library
        self.stack = 0  # number of leading inputs that are elements of one tensor
        self.plain = True  # true if the node has no memory, parameters or assertions, and calls only such nodes


class Drawing:
    """Draws the equations of one node."""

    def __init__(self, r, node, callees, style):
        self.r, self.node, self.callees, self.style = r, node, callees, style
        self.now = {i: {i} for i in node.inputs}  # known variables, with the inputs that each needs within the cycle
        self.pending = []  # arguments that wait: (function that takes a variable, variables that will depend on it)
        self.fresh = 0
        self.used = set()

    def name(self):
        self.fresh += 1
        return f"v{self.fresh}"

    def known(self):
        names = list(self.now)
        # Recent variables are read more often; otherwise most of a node would be dead code.
        name = names[-1 - int(len(names) * self.r.random() ** 2)] if names else None
        self.used.add(name)
        return name

    def leaf(self):
        if not self.now or self.r.random() < 0.12:
            return ("k", self.r.choice([0.5, 2.0, -1.0, 0.25, 1.5, -0.75]))
        return ("v", self.known())

    def condition(self):
        if "c" in self.node.flags and self.r.random() < 0.6:
            return ("c",) if self.r.random() < 0.7 else ("not", ("c",))
        return ("<", self.leaf(), ("k", self.r.choice([0.3, -0.4, 0.9])))

    def expression(self, depth):
        r = self.r
        if depth == 0:
            return self.leaf()
        sub = lambda: self.expression(depth - 1)
        kind = r.random()
        if kind < 0.3:
            return ("*", sub(), sub())
        if kind < 0.5:
            return (r.choice("+-"), sub(), sub())
        if kind < 0.62:
            return ("*", ("k", r.choice([0.5, 2.0, -1.5])), sub())
        if kind < 0.82:
            name = r.choice(FUNCTIONS)
            return (name, ("*", ("k", 0.5), sub())) if name == "exp" else (name, sub())
        if kind < 0.87:
            return ("/", sub(), ("+", ("k", 1.5), ("square", sub())))
        if kind < 0.94:
            return ("if", self.condition(), sub(), sub())
        if kind < 0.955:
            return ("neg", sub())
        if kind < 0.965:
            return ("stop_gradient", sub())
        if kind < 0.985 and self.style["library"]:
            name = r.choice(list(LIBRARY))
            self.node.plain &= name != "loss.mse"  # loss.mse asserts that shapes are equal
            return (name, *(sub() for _ in range(LIBRARY[name])))
        return self.leaf()

    def needed(self, expression):
        """The inputs that an expression needs within the cycle."""
        if expression[0] == "v":
            return self.now[expression[1]]
        return set().union(*(self.needed(p) for p in expression[1:] if isinstance(p, tuple)))

    def let(self, expression):
        name = self.name()
        self.node.equations.append(("let", name, expression))
        self.now[name] = self.needed(expression)

    def callee(self):
        """A node that may be called here; later ones are more frequent."""
        return self.callees[-1 - int(len(self.callees) * self.r.random() ** 2)] if self.callees else None

    def call(self):
        g = self.callee()
        self.node.plain &= g.plain
        names = [self.name() for _ in g.outputs]
        arguments = [None] * len(g.inputs)
        shown = [n if self.r.random() < 0.9 or len(names) == 1 else None for n in names]
        self.node.equations.append(("call", shown, g, arguments))
        outputs = [(n, set(g.needs[o])) for n, o in zip(shown, g.outputs) if n]
        order = list(range(len(arguments)))
        self.r.shuffle(order)
        state = {"filled": {}}

        def known_now():
            """Marks outputs as known whose arguments are known."""
            for n, inputs in outputs:
                places = [g.inputs.index(i) for i in inputs]
                if n not in self.now and all(p in state["filled"] for p in places):
                    self.now[n] = set().union(*(state["filled"][p] for p in places)) if places else set()

        def fill(place):
            def put(expression):
                arguments[place] = expression
                state["filled"][place] = self.needed(expression)
                known_now()
            return put
        known_now()
        self.pending += [fill(place) for place in order]

    def memory(self):
        kind = self.r.choice(self.style["memory"])
        name = self.name()
        first = self.leaf()
        end = self.r.choice([flag for flag in self.node.flags if flag != "c"])
        equation = [kind, name, first, None, end]
        self.node.plain = False
        self.node.equations.append(equation)
        self.now[name] = self.needed(first)

        def put(expression):
            equation[3] = expression
        self.pending.append(put)

    def settle(self, all_of_them):
        """Fills waiting arguments, the oldest or any."""
        while self.pending:
            put = self.pending.pop(self.r.randrange(len(self.pending)))
            put(self.expression(1) if self.r.random() < 0.25 else self.leaf())
            if not all_of_them:
                return

    def merge(self):
        g, h = self.callee(), self.callee()
        name = self.name()
        calls = [(x, [self.leaf() for _ in x.inputs], self.r.choice(x.outputs)) for x in (g, h)]
        self.node.equations.append(("merge", name, ("c",), *calls))
        self.node.plain &= g.plain and h.plain
        self.now[name] = set().union(*(self.needed(a) for _, arguments, _ in calls for a in arguments))

    def over(self):
        """An iteration over drawn elements. The results of folds are variables, and so is each
        element of a stacked result."""
        r, form = self.r, self.r.choice(["map", "map", "fold", "scan", "scan[reverse]"])
        callees = [g for g in self.callees if g.plain or form == "map"]
        if form != "map":
            callees = [g for g in callees if len(g.inputs) >= 2]
        if not callees:
            return
        g = r.choice(callees)
        states = 0 if form == "map" else r.randint(1, min(len(g.outputs), len(g.inputs) - 1))
        if form == "fold":
            states = len(g.outputs) if len(g.inputs) > len(g.outputs) else 0
            if not states:
                return
        sequences = r.randint(1, len(g.inputs) - states)
        length = r.choice([1, 2, 2, 3, 3, 4])
        given = [self.leaf() for _ in range(states)]
        stacks = self.sequences(sequences, length)
        fixed = [self.leaf() for _ in range(len(g.inputs) - states - sequences)]
        names = [self.name() for _ in g.outputs]
        self.node.equations.append(("over", form, names, g, given, stacks, fixed))
        self.node.plain &= g.plain
        needed = set().union(*(self.needed(e) for e in given + sum(stacks, []) + fixed))
        for k, n in enumerate(names):
            for variable in [n] if k < states else [f"{n}[{i}]" for i in range(length)]:
                self.now[variable] = needed

    def sequences(self, count, length):
        """Lists of elements; sometimes a complete stacked result, if one has that length."""
        stacked = {}
        for e in self.node.equations:
            if e[0] == "over":
                for n in e[2]:
                    if f"{n}[{length - 1}]" in self.now and f"{n}[{length}]" not in self.now:
                        stacked[n] = [("v", f"{n}[{i}]") for i in range(length)]
        whole = list(stacked.values())
        if self.node.stack == length:
            whole.append([("v", i) for i in self.node.inputs[:length]])
        return [self.r.choice(whole) if whole and self.r.random() < 0.5 else
                [self.expression(1) if self.r.random() < 0.3 else self.leaf() for _ in range(length)] for _ in range(count)]

    def step(self):
        r = self.r
        pick = r.random()
        if self.style["over"] and self.callees and r.random() < self.style["over"]:
            self.over()
        elif self.pending and pick < 0.45:
            self.settle(False)
        elif pick < 0.7 and self.callees:
            self.call()
        elif pick < 0.78 and self.style["memory"] and "end" in self.node.flags:
            self.memory()
        elif pick < 0.84 and "c" in self.node.flags and self.callees:
            self.merge()
        elif pick < 0.88 and self.style["param"]:
            name = self.name()
            self.node.plain = False
            self.node.equations.append(("param", name, r.choice([0.5, -0.5, 1.25, 2.0])))
            self.now[name] = set()
        else:
            self.let(self.expression(r.randint(1, 2)))

    def finish(self, outputs):
        self.settle(True)
        for o in outputs:
            pick = self.r.random()
            expression = ("k", 1.5) if pick < 0.03 else self.leaf() if pick < 0.3 else self.expression(1)
            self.node.equations.append(("let", o, expression))
            self.node.needs[o] = self.needed(expression)
            self.node.outputs.append(o)


def draw_node(r, name, callees, style, inputs, outputs, steps, stack=0):
    node = Node(name)
    node.stack = stack
    if style["memory"]:
        node.flags += ["end", "halt"] if style["ends"] else ["end"]
    if style["clock"]:
        node.flags.append("c")
    node.inputs = inputs
    node.typed = r.random() < 0.3
    drawing = Drawing(r, node, callees, style)
    for _ in range(steps):
        drawing.step()
    drawing.finish(outputs)
    if style["assert"]:
        node.asserts, node.plain = [r.choice(inputs)], False
    return node


def dependences(node, path, graph):
    """Adds the dependences of an instance's variables to the graph {variable: [(variable, -1,
    0 or 1 cycles later)]}."""
    def leaves(e):
        return [e[1]] if e[0] == "v" else [v for p in e[1:] if isinstance(p, tuple) for v in leaves(p)]

    def needs(name, expressions, offset=0):
        graph.setdefault(path + (name,), []).extend((path + (v,), offset) for e in expressions for v in leaves(e))

    def call(names, number, g, arguments):
        inner = path + (number,)
        for i, a in zip(g.inputs, arguments):
            graph.setdefault(inner + (i,), []).extend((path + (v,), 0) for v in leaves(a))
        for name, o in names:
            graph.setdefault(path + (name,), []).append((inner + (o,), 0))
        dependences(g, inner, graph)
    for number, e in enumerate(node.equations):
        if e[0] == "let":
            needs(e[1], [e[2]])
        elif e[0] == "call":
            call([(n, o) for n, o in zip(e[1], e[2].outputs) if n], number, e[2], e[3])
        elif e[0] == "merge":
            for branch in (3, 4):
                g, arguments, output = e[branch]
                call([(e[1], output)], (number, branch), g, arguments)
        elif e[0] == "over":
            # Treats all elements together, as a schedule does.
            names, g, states, sequences, fixed = e[2:]
            inner = path + (number,)
            arguments = [[a] for a in states] + sequences + [[a] for a in fixed]
            for i, parts in zip(g.inputs, arguments):
                graph.setdefault(inner + (i,), []).extend((path + (v,), 0) for a in parts for v in leaves(a))
            for k, (name, o) in enumerate(zip(names, g.outputs)):
                if k < len(states):
                    graph[inner + (g.inputs[k],)].append((inner + (o,), 0))
                elements = [name] if k < len(states) else [f"{name}[{i}]" for i in range(len(sequences[0]))]
                for element in elements:
                    graph.setdefault(path + (element,), []).append((inner + (o,), 0))
            dependences(g, inner, graph)
        elif e[0] in ("fby", "post"):
            needs(e[1], [e[2]])
            needs(e[1], [e[3]], -1 if e[0] == "fby" else 1)


def goes_both_ways(f):
    """True if some value needs itself through the past and through the future; such a program
    may have no solution."""
    graph = {}
    dependences(f, (), graph)
    reached = {}  # for each variable: the variables that it reaches
    for start in graph:
        seen, rest = set(), [start]
        while rest:
            for v, _ in graph.get(rest.pop(), []):
                if v not in seen:
                    seen.add(v)
                    rest.append(v)
        reached[start] = seen
    for v, needs in graph.items():
        cycle = {w for w in reached[v] if v in reached.get(w, ())} | {v}
        offsets = {offset for w in cycle for u, offset in graph.get(w, []) if u in cycle}
        if -1 in offsets and 1 in offsets:
            return True
    return False


def has_equation(node, holds):
    """Whether an equation of the node, or of a node that it calls or iterates, is as `holds` says."""
    for e in node.equations:
        callees = e[2:3] if e[0] == "call" else e[3:4] if e[0] == "over" else [call[0] for call in e[3:5]] if e[0] == "merge" else []
        if holds(e) or any(has_equation(g, holds) for g in callees):
            return True
    return False


def draw_layer(r, name, style):
    """A layer of the library with given weights; its equations define it by single numbers."""
    node = Node(name)
    node.flags = (["end"] + ["halt"] * style["ends"] if style["memory"] else []) + ["c"] * style["clock"]
    node.inputs, node.plain = ["a1", "a2"], False
    number = lambda: r.choice([0.5, -0.25, 1.0, 0.75, -1.0])
    node.layer = [[number(), number()], [number(), number()], [number(), number()]]
    for row in range(2):
        for column, weight in enumerate(node.layer[row]):
            node.equations.append(("param", f"w{row}{column}", weight))
        node.equations.append(("param", f"w2{row}", node.layer[2][row]))
        products = [("*", ("v", f"w{row}{k}"), ("v", f"a{k + 1}")) for k in range(2)]
        node.equations.append(("let", f"b{row + 1}", ("+", ("+", *products), ("v", f"w2{row}"))))
    node.outputs = ["b1", "b2"]
    node.needs = {o: {"a1", "a2"} for o in node.outputs}
    return node


class Program:
    """The program of a case. `order` is how often it is differentiated."""

    def __init__(self, case, size=1.0, over=None, order=None):
        """over: how often a step is an iteration. order: how often it is differentiated; None:
        drawn."""
        self.case, self.over, self.wanted = case, over, order
        for attempt in range(50):
            self.draw(random.Random(f"wirings {case} {attempt}"), size)
            if len(self.style["memory"]) < 2 or not goes_both_ways(self.f):
                return
        raise RuntimeError(f"case {case}: no program without cycles through past and future")

    def draw(self, r, size):
        self.random = r
        self.order = r.choice([1, 1, 2, 2, 2, 2, 2, 3])
        self.order = self.order if self.wanted is None else self.wanted
        memory = r.choice([[], [], [], ["fby"], ["fby"], ["post"], ["fby", "post"]])
        over = self.over if self.over is not None else r.choice([0.0, 0.0, 0.0, 0.25])
        self.style = {"memory": memory, "clock": r.random() < 0.4, "param": r.random() < 0.35, "over": over,
                      "library": r.random() < 0.3, "assert": r.random() < 0.1, "ends": bool(memory) and r.random() < 0.15}
        # Parameters that are updated: at each cycle, or for each segment if there is memory.
        self.moves = self.style["param"] and self.order == 1 and not (memory and (self.style["clock"] or self.style["ends"])) and r.random() < 0.6
        self.nodes = [draw_layer(r, "g0", self.style)] if self.style["param"] and r.random() < 0.4 else []
        for k in range(r.randint(1, max(1, int(4 * size)))):
            inputs = [f"a{i + 1}" for i in range(r.choice([1, 2, 2, 3]))]
            outputs = [f"b{i + 1}" for i in range(r.choice([1, 1, 2, 2, 3]))]
            self.nodes.append(draw_node(r, f"g{k + 1}", self.nodes[:], self.style, inputs, outputs,
                                        r.randint(0, max(1, int(5 * size)))))
        self.inputs = r.choice([["x"], ["x"], ["x", "u"]])
        length = r.randint(1, 2 if self.order > 2 else 4) if over and r.random() < 0.6 else 0
        if length:
            self.inputs = [f"s{length}[{i}]" for i in range(length)] + self.inputs[1:]
        self.f = draw_node(r, "f", self.nodes[:], self.style, self.inputs[:], r.choice([["y"], ["y"], ["y", "z"]]),
                           r.randint(2, max(3, int(8 * size))), length)
        self.f.typed = True
        self.levels = [self.draw_level(k) for k in range(1, self.order + 1)]

    def draw_level(self, k):
        """How node k differentiates the node below: at which cycles, with which adjoints, and
        with which outputs."""
        r = self.random
        where = "c" if self.style["clock"] and r.random() < 0.25 else "end" if self.style["memory"] and r.random() < 0.2 else "true"
        outputs = len(self.f.outputs) if k == 1 else 1
        adjoints = []
        for _ in range(outputs):
            pick = r.random()
            adjoints.append(("k", 0.125) if self.moves else ("k", 1.0) if pick < 0.6 else ("k", r.choice([0.5, -2.0])) if pick < 0.8 else
                            ("v", r.choice(self.inputs)) if pick < 0.9 else ("sin", ("v", r.choice(self.inputs))))
        return {"where": where, "adjoints": adjoints, "weights": [r.choice([1.0, 1.0, 0.5, -2.0]) for _ in self.inputs]}

    def rows_known(self, rows):
        """How many rows must be written: all, except where a parameter may wait for its own next value.

        A parameter moves where `end` holds, also by a rate of 0, by a gradient through memory that only `halt` ends. Where
        `end` holds alone, that gradient needs values of later cycles, which the parameter is part of. Then rows are
        written up to the last cycle where both have held. On a sampled clock the two may never hold together.
        """
        alone = [t for t, (end, halt) in enumerate(zip(rows["end"], rows["halt"])) if end and not halt]
        waits = self.style["ends"] and self.order > 0 and has_equation(self.f, lambda e: e[0] == "param") and \
            has_equation(self.f, lambda e: e[0] in ("fby", "post") and e[4] == "halt")
        if not alone or not waits:
            return len(rows["end"])
        both = [t for t in range(alone[0]) if rows["end"][t] and rows["halt"][t]]
        return both[-1] + 1 if both and not self.style["clock"] else 0

    # ---- text

    def text(self, prefix="", expanded=False):
        """The nodes; `expanded` writes iterations as calls."""
        nodes = self.nodes + [self.f]
        iterated = [] if expanded else sorted({e[3].name for n in nodes for e in n.equations if e[0] == "over"})
        return "".join(print_node(n, prefix, expanded) for n in nodes) + \
            "".join(print_turned(n, prefix) for n in self.nodes if n.name in iterated) + \
            "".join(self.print_level(k, prefix) for k in range(1, self.order))

    def ports(self):
        """The float inputs, with tensors as a whole: {name: its type}."""
        return {i.split("[")[0]: f"f64[{self.f.stack}]" if "[" in i else "f64" for i in self.inputs}

    def heads(self):
        flags = [f"{flag}: bool" for flag in self.f.flags]
        return ", ".join(flags + [f"{i}: {kind}" for i, kind in self.ports().items()])

    def diff(self, k, prefix):
        """The call that differentiates node k - 1: the text before and after the names that it
        defines."""
        level = self.levels[k - 1]
        where = level["where"]
        adjoints = [print_expression(a, prefix) for a in level["adjoints"]]
        if where != "true":
            adjoints = [f"{a} when {where}" if a.replace(".", "").isalnum() else f"({a}) when {where}" for a in adjoints]
        optimiser = "[optim.sgd(0.0)]" if self.style["param"] and not self.moves else ""
        arguments = ", ".join(self.f.flags + list(self.ports()) + [where] + adjoints)
        return f"diff{optimiser} {prefix}{LEVELS[k - 1]}({arguments})"

    def print_level(self, k, prefix):
        name, below = LEVELS[k], LEVELS[k - 1]
        ignored = len(self.f.outputs) if k == 1 else 1
        names = ", ".join(["_"] * ignored + [f"d{i}" for i in self.ports()])
        terms = [f"d{i}" if w == 1.0 else f"{w} * d{i}" for i, w in zip(self.inputs, self.levels[k - 1]["weights"])]
        lines = [f"node {prefix}{name}({self.heads()}) -> (d)", f"  {names} = {self.diff(k, prefix)};"]
        return "\n".join(lines + [f"  d = {' + '.join(terms)};"]) + "\n"

    def results(self):
        """The outputs of main: {name: type}."""
        gradients = {f"d{k}{i}": kind for k in range(1, self.order + 1) for i, kind in self.ports().items()}
        return {**{o: "f64" for o in self.f.outputs}, **gradients}

    def calls(self, prefix=""):
        """The equations of main."""
        lines = []
        if self.order == 0:
            outputs = ", ".join(prefix + o for o in self.f.outputs)
            lines.append(f"  {outputs} = {prefix}f({', '.join(self.f.flags + list(self.ports()))});\n")
        for k in range(1, self.order + 1):
            yields = [f"{prefix}d{k}{i}" for i in self.ports()]
            values = [prefix + o for o in self.f.outputs] if k == 1 else ["_"]
            lines.append(f"  {', '.join(values + yields)} = {self.diff(k, prefix)};\n")
        return "".join(lines)
