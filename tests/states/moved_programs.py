"""Draws programs, and changes of their text between a save and a load."""

import random

NODES = """
node total(x: f64) -> (y: f64)
  y = (0.0 fby y) + x;
node decay(k: f64, x: f64) -> (y: f64)
  m = 0.0 fby y;
  y = k * m + x;
node pair(x: f64) -> (y: f64)
  near = total(x);
  far = total(2.0 * x);
  y = near - 0.5 * far;
node weigh(x: f64) -> (y: f64)
  w = param(0.5);
  y = w * x;
node loss(x: f64, t: f64) -> (l: f64)
  once = weigh(x);
  twice = weigh(x * x);
  e = once + twice - t;
  l = e * e;
"""
CALLS = ("total({})", "decay(0.5, {})", "pair({})")


def draw_expression(draw, names):
    return f"{draw.choice(['', '2.0 * ', '0.5 * ', '3.0 * '])}{draw.choice(names)}"


class Program:
    """Equations of `main` as pairs of a variable and its text; outputs are o0, o1, …"""

    def __init__(self, draw):
        self.nodes = NODES
        self.equations, names = [], ["x", "z"]
        for k in range(draw.randint(2, 5)):
            form = draw.randrange(6)
            call = draw.choice(CALLS)
            one, two = draw_expression(draw, names), draw_expression(draw, names)
            if form < 3:
                text = call.format(one)
            elif form == 3:
                text = f"{call.format(one)} + {call.format(two)}"
            elif form == 4:
                text = f"(0.0 fby ({one})) + 2.0 * (0.0 fby ({two}))"
            else:
                text = f"0.5 * (1.0 fby v{k}) + {one}"
            self.equations.append((f"v{k}", text))
            names.append(f"v{k}")
        if draw.random() < 0.4:
            self.equations.append(("learned, _, _", "diff loss(x, z, true, -0.001)"))
            names.append("learned")
        self.outputs = {f"o{k}": name for k, name in enumerate(names[2:])}

    def text(self):
        ports = ", ".join(f"{o}: f64" for o in self.outputs)
        body = [f"  {t} = {e};" for t, e in self.equations] + [f"  {o} = {v};" for o, v in self.outputs.items()]
        return f"{self.nodes}node main(x: f64, z: f64) -> ({ports})\n" + "\n".join(body) + "\n"


def whole_words(text, names):
    words, word = [], ""
    for c in text + " ":
        if c.isalnum() or c == "_":
            word += c
        else:
            words += [names.get(word, word), c]
            word = ""
    return "".join(words)[:-1]


def rename(program, names):
    program.equations = [(whole_words(t, names), whole_words(e, names)) for t, e in program.equations]
    program.outputs = {o: names.get(v, v) for o, v in program.outputs.items()}


def locals_of(program):
    return [t.split(",")[0] for t, _ in program.equations]


def reorder(program, draw):
    draw.shuffle(program.equations)


def rename_one(program, draw):
    rename(program, {draw.choice(locals_of(program)): f"n{draw.randrange(10)}"})


def rename_all(program, draw):
    del draw
    rename(program, {name: name + "_" for name in locals_of(program)})


def exchange_names(program, draw):
    names = locals_of(program)
    if len(names) > 1:
        a, b = draw.sample(names, 2)
        rename(program, {a: b, b: a})


def commute(program, draw):
    several = [k for k, (_, e) in enumerate(program.equations) if e.count(" + ") == 1 and ") + " in e]
    if several:
        k = draw.choice(several)
        one, two = program.equations[k][1].split(" + ")
        program.equations[k] = (program.equations[k][0], f"{two} + {one}")


def add_sibling(program, draw):
    program.equations.insert(draw.randrange(len(program.equations) + 1), ("more", draw.choice(CALLS).format("5.0 * x")))
    program.outputs["extra"] = "more"


def remove_one(program, draw):
    used = " ".join(e for _, e in program.equations)
    free = [k for k, (t, _) in enumerate(program.equations) if whole_words(used, {t: "#"}) == used]
    if len(free) > 1:
        name = program.equations.pop(draw.choice(free))[0].split(",")[0]
        program.outputs = {o: v for o, v in program.outputs.items() if v != name}


def inside_a_node(program, draw):
    lines = program.nodes.split("\n")
    for k, line in enumerate(lines):  # the first two equations of both nodes with three or more
        if line.startswith(("node pair", "node loss")) and draw.random() < 0.7:
            lines[k + 1], lines[k + 2] = lines[k + 2], lines[k + 1]
    program.nodes = "\n".join(lines)


def rename_inside(program, draw):
    names = draw.choice([{"near": "close"}, {"once": "first", "twice": "second"}, {"m": "kept"}, {"near": "far", "far": "near"}])
    if not (set(names.values()) - set(names)) or not any(f" {new} =" in program.nodes for new in names.values()):
        program.nodes = whole_words(program.nodes, names)


def rename_parameter(program, draw):
    del draw
    program.nodes = whole_words(program.nodes, {"w": "weight"})


def rename_node(program, draw):
    old = draw.choice(["total", "decay", "pair", "weigh"])
    program.nodes = whole_words(program.nodes, {old: old + "_of"})
    program.equations = [(t, whole_words(e, {old: old + "_of"})) for t, e in program.equations]


ALLOWED = (reorder, rename_one, rename_all, commute, inside_a_node, rename_inside)
DOUBTFUL = (exchange_names, add_sibling, remove_one, rename_parameter, rename_node)


def change(program, draw):
    """Changes the text and returns a description. The rows of the remaining outputs do not
    change."""
    done = []
    for _ in range(draw.randint(1, 3)):
        what = draw.choice(ALLOWED + DOUBTFUL if draw.random() < 0.6 else ALLOWED)
        if what in (add_sibling, inside_a_node, rename_inside, rename_one, rename_all, rename_parameter, rename_node) and what.__name__ in done:
            continue
        if "rename_node" in done and what is add_sibling:
            continue
        what(program, draw)
        done.append(what.__name__)
    return done


def case(number):
    draw = random.Random(f"moved {number}")
    return Program(draw), draw
