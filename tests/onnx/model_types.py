"""Checks the types of an ONNX model's values with ONNX's schemas, without the package onnx.

    faults(read("m.onnx"))     the errors as a text; "" for a valid model

operator_types.json contains the schemas of the exported operators. To write it again, where onnx
is installed: model_types.py > operator_types.json
"""

import json
import pathlib
import struct
import sys

ROWS = pathlib.Path(__file__).resolve().parent / "operator_types.json"
OPSET = 17
NAMES = {1: "float", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
         11: "double", 12: "uint32", 13: "uint64", 16: "bfloat16"}


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """The fields of a message by number, each a list of integers or bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        else:
            length = 4 if key & 7 == 5 else 8
            value, at = struct.unpack("<f" if length == 4 else "<d", data[at:at + length])[0], at + length
        fields.setdefault(key >> 3, []).append(value)
    return fields


def text(fields, number):
    return fields[number][0].decode() if number in fields else ""


def texts(fields, number):
    return [value.decode() for value in fields.get(number, [])]


def read(path):
    return message(message(pathlib.Path(path).read_bytes())[7][0])


def ports(graph, number):
    """Names and element types of a graph's inputs (11) or outputs (12)."""
    for port in map(message, graph.get(number, [])):
        yield text(port, 1), NAMES[message(message(port[2][0])[1][0])[1][0]]


def states(graph):
    """The inputs that keep the value of an output NAME_next."""
    results = {name for name, _ in ports(graph, 12)}
    return [name for name, _ in ports(graph, 11) if f"{name}_next" in results]


def node_faults(node, types, rows):
    op = text(node, 4)
    if op not in rows:
        return f"{op} has no schema at operator set {OPSET}"
    row, bound = rows[op], {}
    attributes = {text(a, 1): a for a in map(message, node.get(5, []))}
    for k, name in enumerate(texts(node, 1)):
        if not name:
            continue
        if name not in types:
            return f"{op}: nothing defines {name}"
        formal = row["inputs"][min(k, len(row["inputs"]) - 1)]
        allowed = row["types"].get(formal, [formal])
        if types[name] not in allowed:
            return f"{op}: operand {k} is {types[name]}, not one of {allowed}"
        if formal in row["types"] and op != "Scan" and bound.setdefault(formal, types[name]) != types[name]:
            return f"{op}: operands of one type are {bound[formal]} and {types[name]}"
    inner = message(attributes["body"][6][0]) if "body" in attributes else None
    if inner is not None and (said := faults(inner, rows, types)):
        return f"in the body of {op}: {said}"
    of_body = [kind for _, kind in ports(inner, 12)] if inner is not None else []
    for k, name in enumerate(texts(node, 2)):
        formal = row["outputs"][min(k, len(row["outputs"]) - 1)]
        if inner is not None:
            types[name] = of_body[k]
        elif op == "Cast":
            types[name] = NAMES[attributes["to"][3][0]]
        elif formal not in row["types"]:
            types[name] = formal
        else:
            types[name] = bound[formal] if formal in bound else row["types"][formal][0]
    return ""


def faults(graph, rows=None, around=None):
    rows = rows or json.loads(ROWS.read_text())
    types = dict(around or {})
    types.update(ports(graph, 11))
    for tensor in map(message, graph.get(5, [])):
        types[text(tensor, 8)] = NAMES[tensor[2][0]]
    for node in map(message, graph.get(1, [])):
        if said := node_faults(node, types, rows):
            return said
    for name, kind in ports(graph, 12):
        if types.get(name) != kind:
            return f"output {name} is said to be {kind}, and is {types.get(name)}"
    return ""


def schemas(names):
    import onnx
    for name in names:
        schema = onnx.defs.get_schema(name, OPSET, "")
        plain = lambda kind: kind[7:-1] if kind.startswith("tensor(") else kind
        yield name, {"inputs": [plain(i.type_str) for i in schema.inputs], "outputs": [plain(o.type_str) for o in schema.outputs],
                     "types": {c.type_param_str: [plain(k) for k in c.allowed_type_strs if k.startswith("tensor(") and k[7:-1] in NAMES.values()]
                               for c in schema.type_constraints}}


if __name__ == "__main__":
    table = dict(schemas(sys.argv[1:] or json.loads(ROWS.read_text())))
    print("{\n" + ",\n".join(f" {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(table.items())) + "\n}")
