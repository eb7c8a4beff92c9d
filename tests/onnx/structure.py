"""Random models, and structural mutants of them. The number of a case determines it.

A model is a tree of dictionaries until `written` encodes it: graphs contain nodes, nodes contain
graphs, functions contain nodes. Models are valid, have a few nodes, and use everything with
structure: If, Loop, Scan, calls of the model's own functions. A mutant has one to three
structural changes: nodes, edges, graphs and functions are duplicated, removed, renamed,
exchanged, or moved to wrong places.
"""

import copy
import random

import numpy as np
from model_writer import (BOOL, FLOAT, INT64, as_graph, attribute, field, graph, node, tensor, value)

SHAPE = [2, 3]
UNARY = ["Relu", "Abs", "Neg", "Sigmoid", "Tanh", "Identity", "Softplus"]
BINARY = ["Add", "Sub", "Mul", "Max"]


def a_step(op, ins, outs, domain="", name="", **attrs):
    return {"op": op, "domain": domain, "name": name, "ins": ins, "outs": outs, "attrs": attrs}


class Maker:
    """Makes a valid model. Values are f32[2, 3], except conditions and numbers of rounds."""

    def __init__(self, rng):
        self.rng = rng
        self.names = 0
        self.functions = []

    def fresh(self, near="v"):
        self.names += 1
        return f"{near}{self.names}"

    def model(self):
        for k in range(self.rng.randrange(4)):
            self.functions.append(self.function(k))
        conditions = ["c"]
        made = self.graph(["x"], conditions, depth=0, inputs=[("x", FLOAT, SHAPE), ("c", BOOL, [])])
        made["inits"] += [("w", np.array([[1, 2, 3], [4, 5, 6]], "f4")), ("n", np.array(self.rng.randrange(5))),
                          ("yes", np.array(True))]
        return {"graph": made, "functions": self.functions, "opset": self.rng.choice([13, 17, 18, 21]), "ir": 8}

    def function(self, k):
        nodes = self.nodes(["a"], ["p"], depth=1, of_model=False)
        last = nodes[-1]["outs"][-1]
        if self.rng.random() < 0.5:
            nodes.append(a_step("LeakyRelu", [last], [self.fresh()], alpha=("ref", "slope")))
            last = nodes[-1]["outs"][0]
        return {"domain": "f", "name": f"f{k}", "ins": ["a", "p"], "outs": [last], "nodes": nodes, "attrs": ["slope"],
                "opset": None, "overload": ""}

    def graph(self, values, conditions, depth, inputs=(), count=1):
        values, conditions = list(values), list(conditions)
        nodes = self.nodes(values, conditions, depth)
        outputs = []
        for _ in range(count):
            out = self.fresh("out")
            nodes.append(a_step("Identity", [self.rng.choice(values)], [out]))
            outputs.append((out, FLOAT, SHAPE))
        return {"name": "g", "nodes": nodes, "inputs": list(inputs), "outputs": outputs, "inits": []}

    def nodes(self, values, conditions, depth, of_model=True):
        """Appends the outputs of the nodes to `values`."""
        made = []
        for _ in range(self.rng.randrange(2, 7)):
            made += self.step(values, conditions, depth, of_model)
        return made

    def step(self, values, conditions, depth, of_model):
        out = self.fresh()
        kind = self.rng.randrange(10 if depth < 3 else 4)
        pick = lambda: self.rng.choice(values)
        if kind < 2:
            made = [a_step(self.rng.choice(UNARY), [pick()], [out])]
        elif kind < 4:
            made = [a_step(self.rng.choice(BINARY), [pick(), pick()], [out])]
        elif kind == 4:
            moved, product = self.fresh(), self.fresh()
            made = [a_step("Transpose", [pick()], [moved], perm=[1, 0]), a_step("MatMul", [pick(), moved], [product]),
                    a_step("MatMul", [product, pick()], [out])]
        elif kind == 5 and self.functions:
            f = self.rng.choice(self.functions)
            name = self.fresh("call") if self.rng.random() < 0.5 else ""
            made = [a_step(f["name"], [pick(), self.rng.choice(conditions)], [out], "f", name, slope=0.5)]
        elif kind < 8:
            made = [a_step("If", [self.rng.choice(conditions)], [out],
                           then_branch=self.graph(values, conditions, depth + 1),
                           else_branch=self.graph(values, conditions, depth + 1))]
        elif kind == 8:
            made = self.loop(values, conditions, depth, out)
        else:
            made = self.scan(values, conditions, depth, out)
        values.append(out)
        return made

    def loop(self, values, conditions, depth, out):
        trips, go, i, c, s, next_c = (self.fresh(k) for k in ("trips", "go", "i", "c", "s", "next"))
        body = self.graph([*values, s], [*conditions, c], depth + 1,
                          [(i, INT64, []), (c, BOOL, []), (s, FLOAT, SHAPE)])
        body["nodes"].append(a_step("Identity", [c], [next_c]))
        body["outputs"].insert(0, (next_c, BOOL, []))
        return [a_step("Constant", [], [trips], value=np.array(self.rng.randrange(1, 5))),
                a_step("Constant", [], [go], value=np.array(True)),
                a_step("Loop", [trips, go, self.rng.choice(values)], [out], body=body)]

    def scan(self, values, conditions, depth, out):
        row, state, begin, row_out, state_out = (self.fresh(k) for k in ("row", "s", "begin", "r", "t"))
        body = {"name": "g", "inits": [], "inputs": [(state, FLOAT, [3]), (row, FLOAT, [3])],
                "outputs": [(state_out, FLOAT, [3]), (row_out, FLOAT, [3])],
                "nodes": [a_step("Add", [state, row], [state_out]), a_step("Relu", [state_out], [row_out])]}
        return [a_step("Constant", [], [begin], value=np.zeros(3, "f4")),
                a_step("Scan", [begin, self.rng.choice(values)], [self.fresh(), out], body=body, num_scan_inputs=1)]


# ---- writing
def written_attribute(name, a):
    if isinstance(a, dict):
        return attribute(name, as_graph(written_graph(a)))
    if isinstance(a, np.ndarray):
        return attribute(name, b"\0\4" + tensor(a))
    if isinstance(a, tuple):
        return field(1, name) + field(21, a[1]) + field(20, 1)
    return attribute(name, a)


def written_node(n):
    made = node(n["op"], n["ins"], n["outs"], n["name"], n["domain"])
    return made + b"".join(field(5, written_attribute(k, a)) for k, a in n["attrs"].items())


def written_graph(g):
    return graph([written_node(n) for n in g["nodes"]], [value(*v) for v in g["inputs"]],
                 [value(*v) for v in g["outputs"]], [tensor(t, name) for name, t in g["inits"]], g["name"])


def written(m):
    made = field(1, m["ir"]) + field(7, written_graph(m["graph"])) + field(8, field(1, "") + field(2, m["opset"]))
    made += field(8, field(1, "f") + field(2, 1))
    for f in m["functions"]:
        made += field(25, field(1, f["name"]) + b"".join(field(4, i) for i in f["ins"]) +
                      b"".join(field(5, o) for o in f["outs"]) + b"".join(field(6, a) for a in f["attrs"]) +
                      b"".join(field(7, written_node(n)) for n in f["nodes"]) + field(10, f["domain"]) +
                      field(9, field(1, "") + field(2, f["opset"] or m["opset"])) + field(13, f["overload"]))
    return made


# ---- changing
def graphs_of(nodes):
    for n in nodes:
        for a in n["attrs"].values():
            if isinstance(a, dict):
                yield a
                yield from graphs_of(a["nodes"])


class Changer:
    """Makes one to three changes of a model; with more, most models are refused because of the
    first."""

    def __init__(self, rng):
        self.rng = rng

    def changed(self, m):
        self.model = m
        for _ in range(self.rng.choice([1, 1, 1, 2, 3])):
            change = self.rng.choice([self.nodes_of_a_list, self.edges, self.operator, self.attribute_of_a_node,
                                      self.subgraph, self.function, self.interface, self.initializer, self.version,
                                      self.number, self.growth])
            change()
        return m

    def graphs(self):
        m = self.model
        return [m["graph"], *graphs_of(m["graph"]["nodes"])] + [g for f in m["functions"] for g in graphs_of(f["nodes"])]

    def lists(self):
        return [g["nodes"] for g in self.graphs()] + [f["nodes"] for f in self.model["functions"]]

    def a_list(self):
        return self.rng.choice(self.lists())

    def a_node(self, of=lambda n: True):
        return self.rng.choice([n for nodes in self.lists() for n in nodes if of(n)] or
                               [a_step("Relu", ["x"], ["y"])])

    def a_name(self):
        names = [o for nodes in self.lists() for n in nodes for o in [*n["outs"], *n["ins"]]]
        return self.rng.choice([*names, "x", "c", "", "nothing"])

    def nodes_of_a_list(self):
        nodes, other = self.a_list(), self.a_list()
        if not nodes:
            return
        at = self.rng.randrange(len(nodes))
        kind = self.rng.randrange(5)
        if kind == 0:
            nodes.insert(self.rng.randrange(len(nodes) + 1), copy.deepcopy(nodes[at]))
        elif kind == 1:
            del nodes[at]
        elif kind == 2:
            to = self.rng.randrange(len(nodes))
            nodes[at], nodes[to] = nodes[to], nodes[at]
        elif kind == 3:
            other.insert(self.rng.randrange(len(other) + 1), copy.deepcopy(nodes[at]))
        else:
            self.rng.shuffle(nodes)

    def edges(self):
        n = self.a_node()
        ends = n[self.rng.choice(["ins", "ins", "outs"])]
        kind = self.rng.randrange(5)
        if kind == 0 or not ends:
            ends.append(self.a_name())
        elif kind == 1:
            ends.pop(self.rng.randrange(len(ends)))
        elif kind == 2:
            ends *= self.rng.randrange(2, 5)
        else:
            ends[self.rng.randrange(len(ends))] = self.a_name()

    def operator(self):
        n, other = self.a_node(), self.a_node()
        if self.rng.random() < 0.5:
            n["op"], n["domain"] = other["op"], other["domain"]
        else:
            n["op"] = self.rng.choice([*UNARY, "If", "Loop", "Scan", "Concat", "Split", "Shape", "Reshape", "Unsqueeze",
                                       "Sum", "ConstantOfShape", "Expand", "Tile", "NonZero", "LSTM", "Trilu", "Gather",
                                       "Range", "Cast", "Pad", "TopK", "Dropout", "Size", "Where", "f0", "f1", "f2"])
            n["domain"] = self.rng.choice(["", "", "f", "ai.onnx", "g"])

    def attribute_of_a_node(self):
        n, other = self.a_node(), self.a_node(lambda n: n["attrs"])
        if not other["attrs"]:
            return
        name = self.rng.choice(list(other["attrs"]))
        kind = self.rng.randrange(4)
        if kind == 0:
            n["attrs"][name] = copy.deepcopy(other["attrs"][name])
        elif kind == 1:
            del other["attrs"][name]
        elif kind == 2:
            other["attrs"][self.rng.choice(["body", "then_branch", "value", "axis", "slope"])] = other["attrs"].pop(name)
        else:
            other["attrs"][name] = self.rng.choice([("ref", "slope"), ("ref", "none"), 3, -1, 1.5, [1, 0], "text",
                                                    np.zeros((0,), "f4"), np.zeros((2, 3), "i8"), 1 << 40])

    def subgraph(self):
        holders = [n for nodes in self.lists() for n in nodes if any(isinstance(a, dict) for a in n["attrs"].values())]
        if not holders:
            return
        n = self.rng.choice(holders)
        name = self.rng.choice([k for k, a in n["attrs"].items() if isinstance(a, dict)])
        n["attrs"][name] = copy.deepcopy(self.rng.choice(self.graphs()))

    def function(self):
        functions = self.model["functions"]
        if not functions:
            return
        f, other = self.rng.choice(functions), self.rng.choice(functions)
        kind = self.rng.randrange(7)
        if kind == 0:
            functions.append(copy.deepcopy(f))
        elif kind == 1:
            functions.remove(f)
        elif kind == 2:
            f["name"] = self.rng.choice([other["name"], "Relu", "If", "", "f9"])
        elif kind == 3:
            # Each function also calls the next one in the file, so functions may call themselves.
            f["outs"] = [f"again{len(f['nodes'])}"]
            f["nodes"].append(a_step(other["name"], ["a", "p"], list(f["outs"]), "f", slope=0.5))
        elif kind == 4:
            ends = f[self.rng.choice(["ins", "outs"])]
            ends[:] = ends[1:] if self.rng.random() < 0.5 else ends + [self.a_name()]
        elif kind == 5:
            f["opset"] = self.rng.choice([1, 9, 13, 17, 99])
        else:
            f["domain"] = self.rng.choice(["", "g", "ai.onnx"])

    def interface(self):
        g = self.rng.choice(self.graphs())
        ports = g[self.rng.choice(["inputs", "outputs"])]
        kind = self.rng.randrange(4)
        if kind == 0:
            ports.append((self.a_name(), self.rng.choice([FLOAT, BOOL, INT64, 0, 8, 99]), self.rng.choice([SHAPE, [], None])))
        elif not ports:
            return
        elif kind == 1:
            ports.pop(self.rng.randrange(len(ports)))
        elif kind == 2:
            ports.append(self.rng.choice(ports))
        else:
            at = self.rng.randrange(len(ports))
            name, kind, shape = ports[at]
            ports[at] = self.rng.choice([(self.a_name(), kind, shape), (name, BOOL, shape), (name, INT64, []),
                                         (name, kind, [3, 2]), (name, kind, ["n", 3]), (name, kind, [1 << 40] * 3)])

    def initializer(self):
        g = self.rng.choice(self.graphs())
        name = self.rng.choice(["w", "x", "n", self.a_name()])
        g["inits"].append((name, self.rng.choice([np.array(True), np.array(3), np.zeros((2, 3), "f4"), np.zeros(0, "f4"),
                                                  np.ones((3, 3), "f4"), np.array([True, False])])))

    def version(self):
        if self.rng.random() < 0.7:
            self.model["opset"] = self.rng.choice([0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 20, 21, 25, 27, 28, 99])
        else:
            self.model["ir"] = self.rng.choice([0, 1, 2, 3, 4, 7, 10, 14, 15])

    def number(self):
        n = self.a_node(lambda n: n["op"] == "Constant")
        n["attrs"]["value"] = self.rng.choice([
            np.array(k) for k in (0, 1, -1, 7, 300, 1999, 2000, 2001, 10**6, 2**62, -2**63, True, False, 1.5)] + [
            np.zeros(0, "i8"), np.array([5]), np.array([2, 3]), np.array([[9]], "i4"), np.array([True])])

    def growth(self):
        """Functions that call functions repeatedly, graphs within graphs, long lists."""
        kind, times = self.rng.randrange(4), self.rng.choice([2, 3, 10, 40])
        functions, g = self.model["functions"], self.rng.choice(self.graphs())
        if kind == 0 and functions:
            inner = functions[0]["name"]
            for k in range(times):
                functions.append({**copy.deepcopy(functions[0]), "name": f"grown{k}", "outs": ["b"], "nodes": [
                    a_step(inner, ["a", "p"], ["t"], "f", slope=0.5), a_step(inner, ["t", "p"], ["b"], "f", slope=0.5)]})
                inner = f"grown{k}"
            g["nodes"].append(a_step(inner, [self.a_name(), "c"], ["grown"], "f", slope=0.5))
        elif kind == 1 and g["nodes"]:
            inner = {"name": "g", "nodes": [copy.deepcopy(self.rng.choice(g["nodes"]))], "inputs": [], "inits": [],
                     "outputs": list(g["outputs"])[:1]}
            for _ in range(times):
                inner = {**inner, "nodes": [a_step("If", ["c"], [f"deep{times}"], then_branch=inner,
                                                    else_branch={**inner, "nodes": []})]}
            g["nodes"].extend(inner["nodes"])
        elif kind == 2 and g["nodes"]:
            last = g["nodes"][-1]
            for k in range(times * times):
                g["nodes"].insert(len(g["nodes"]) - 1, {**copy.deepcopy(last), "outs": [f"{o}_{k}" for o in last["outs"]]})
        else:
            self.a_node()["ins"] *= times


def case(number):
    """The bytes of model `number`; every tenth is unchanged."""
    rng = random.Random(number)
    made = Maker(rng).model()
    return written(made if number % 10 == 0 else Changer(rng).changed(made))
