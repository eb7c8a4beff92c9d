"""Prints the nodes of wirings_program.py as R(ML)²."""

def print_expression(e, prefix=""):
    kind, *parts = e
    if kind == "v":
        return parts[0]
    if kind == "k":
        return repr(parts[0]) if parts[0] >= 0 else f"({parts[0]!r})"
    if kind == "c":
        return "c"
    inner = [print_expression(p, prefix) for p in parts]
    if kind in ("+", "-", "*", "/", "<"):
        return f"({inner[0]} {kind} {inner[1]})"
    if kind == "neg":
        return f"(-{inner[0]})"
    if kind == "not":
        return f"(not {inner[0]})"
    if kind == "if":
        return f"(if {inner[0]} then {inner[1]} else {inner[2]})"
    return f"{kind}({', '.join(inner)})"


def bare(e, prefix):
    text = print_expression(e, prefix)
    return text[1:-1] if e[0] in ("+", "-", "*", "/", "if") else text


def sampled(text, condition):
    return f"{text} when {condition}" if text.replace(".", "").isalnum() else f"({text}) when {condition}"


def print_call(g, arguments, prefix, condition=None):
    texts = g.flags + [print_expression(a, prefix) for a in arguments]
    if condition:
        texts = [sampled(t, condition) for t in texts]
    return f"{prefix}{g.name}({', '.join(texts)})"


def print_branch(call, prefix, number, name, condition, lines):
    """A call at some cycles; if its node has several outputs, a separate equation takes the
    wanted one."""
    g, arguments, output = call
    text = print_call(g, arguments, prefix, condition)
    if len(g.outputs) == 1:
        return f"({text})"
    part = f"{name}_{number}"
    names = ", ".join(part if o == output else "_" for o in g.outputs)
    lines.append(f"  {names} = {text};")
    return part


def print_sequence(elements, node, prefix):
    """The name of a tensor if these are all of its elements, else a list."""
    names = [e[1] for e in elements if e[0] == "v"]
    base = names[0].split("[")[0] if names else ""
    lengths = {n: len(e[5][0]) for e in node.equations if e[0] == "over" for n in e[2]}
    lengths[node.inputs[0].split("[")[0]] = node.stack
    if lengths.get(base) == len(elements) and names == [f"{base}[{i}]" for i in range(len(elements))]:
        return base
    return f"[{', '.join(print_expression(e, prefix) for e in elements)}]"


def print_over(e, node, prefix):
    form, names, g, states, sequences, fixed = e[1:]
    parts = [[print_expression(s, prefix) for s in states], [print_sequence(s, node, prefix) for s in sequences],
             [print_expression(s, prefix) for s in fixed] + g.flags]
    text = "; ".join(", ".join(part) for part in parts if part)
    return f"  {', '.join(names)} = {form} {prefix}over_{g.name}({text});"


def print_expanded(e, prefix):
    """An iteration as calls, one for each element, and the tensors of their results."""
    form, names, g, states, sequences, fixed = e[1:]
    lines, length = [], len(sequences[0])
    before = [print_expression(s, prefix) for s in states]
    for i in range(length)[::-1 if "reverse" in form else 1]:
        given = before + [print_expression(s[i], prefix) for s in sequences] + [print_expression(s, prefix) for s in fixed]
        yields = [f"{n}_{i}" for n in names]
        before = yields[:len(states)]
        lines.append(f"  {', '.join(yields)} = {prefix}{g.name}({', '.join(g.flags + given)});")
    for k, n in enumerate(names):
        right = before[k] if k < len(states) else f"[{', '.join(f'{n}_{i}' for i in range(length))}]"
        lines.append(f"  {n} = {right};")
    return "\n".join(lines)


def print_turned(g, prefix):
    """A node for iterations: it calls the node with the flags as last arguments, since they
    are fixed."""
    inputs = ", ".join(g.inputs + g.flags)
    return f"node {prefix}over_{g.name}({inputs}) -> ({', '.join(g.outputs)})\n" \
        f"  {', '.join(g.outputs)} = {prefix}{g.name}({', '.join(g.flags + g.inputs)});\n"


def print_layer(node, prefix):
    first, second, bias = node.layer
    held = lambda w: f"param_end(end, param({w}))" if "end" in node.flags else f"param({w})"
    return f"node {prefix}{node.name}({', '.join(node.flags + node.inputs)}) -> (b1, b2)\n" \
        f"  b = nn.affine({held([first, second])}, {held(bias)}, [a1, a2]);\n  b1 = b[0];\n  b2 = b[1];\n"


def print_node(node, prefix, expanded=False):
    if node.layer:
        return print_layer(node, prefix)
    flags = [f"{flag}: bool" if node.typed else flag for flag in node.flags]
    kind = ": f64" if node.typed else ""
    tensor = [f"{node.inputs[0].split('[')[0]}: f64[{node.stack}]"] if node.stack else []
    inputs = flags + tensor + [i + kind for i in node.inputs[node.stack:]]
    lines = [f"node {prefix}{node.name}({', '.join(inputs)}) -> ({', '.join(node.outputs)})"]
    lines += [f'  assert {i} == {i}, "{i} of {node.name} is a number";' for i in node.asserts]
    for e in node.equations:
        if e[0] == "let":
            lines.append(f"  {e[1]} = {bare(e[2], prefix)};")
        elif e[0] == "call":
            lines.append(f"  {', '.join(n or '_' for n in e[1])} = {print_call(e[2], e[3], prefix)};")
        elif e[0] == "over":
            lines.append(print_expanded(e, prefix) if expanded else print_over(e, node, prefix))
        elif e[0] in ("fby", "post"):
            lines.append(f"  {e[1]} = {e[0]}_end({e[4]}, {print_expression(e[2], prefix)}, {print_expression(e[3], prefix)});")
        elif e[0] == "param":
            held = f"param_end(end, param({e[2]}))" if "end" in node.flags else f"param({e[2]})"
            lines.append(f"  {e[1]} = {held};")
        else:
            branches = [print_branch(call, prefix, number, e[1], condition, lines)
                        for number, call, condition in ((1, e[3], "c"), (2, e[4], "not c"))]
            lines.append(f"  {e[1]} = merge c {branches[0]} {branches[1]};")
    return "\n".join(lines) + "\n"
