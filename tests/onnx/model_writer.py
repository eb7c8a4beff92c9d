"""Writes ONNX models as bytes, without the onnx package, for the tests of the importer.

    model([node("Add", ["x", "y"], ["z"])], [value("x", 1, [2]), value("y", 1, [2])], [value("z", 1, [2])])

A message is the concatenation of its fields; `field(number, value)` writes one. The numbers of
fields are those of onnx.proto3.
"""

import struct

import numpy as np

FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
ELEMENT_TYPES = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "uint16": UINT16, "int16": INT16, "int32": INT32,
                 "int64": INT64, "bool": BOOL, "float16": FLOAT16, "float64": DOUBLE, "uint32": UINT32,
                 "uint64": UINT64}


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while True:
        number, low = number >> 7, number & 0x7F
        out.append(low | (0x80 if number else 0))
        if not number:
            return bytes(out)


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, (int, np.integer)):
        return varint(number << 3) + varint(int(value))
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(array, name=""):
    """A TensorProto with raw data."""
    array = np.asarray(array)
    message = b"".join(field(1, extent) for extent in array.shape)
    message += field(2, ELEMENT_TYPES[str(array.dtype)])
    return message + field(8, name) + field(9, np.ascontiguousarray(array).tobytes())


def attribute(name, value):
    message = field(1, name)
    if isinstance(value, bytes) and value[:1] == b"\0":  # a message marked as a graph or tensor
        kind = value[1]
        return message + field({4: 5, 5: 6}[kind], value[2:]) + field(20, kind)
    if isinstance(value, float):
        return message + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return message + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return message + field(4, value) + field(20, 3)
    kind, number = {float: (6, 7), int: (7, 8), str: (8, 9)}[type(value[0])]
    return message + b"".join(field(number, v) for v in value) + field(20, kind)


def as_graph(message):
    return b"\0\5" + message


def as_tensor(array):
    return b"\0\4" + tensor(array)


def node(op, inputs, outputs, name="", domain="", **attributes):
    message = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    message += field(3, name) + field(4, op)
    message += b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
    return message + (field(7, domain) if domain else b"")


def value(name, element_type=FLOAT, shape=None):
    """A ValueInfoProto. Extents that are texts are free dimensions; if shape is None, it is
    not declared."""
    of_tensor = field(1, element_type)
    if shape is not None:
        extents = (field(2, e) if isinstance(e, str) else field(1, e) for e in shape)
        of_tensor += field(2, b"".join(field(1, e) for e in extents))
    return field(1, name) + field(2, field(1, of_tensor))


def graph(nodes, inputs, outputs, initializers=(), name="g"):
    message = b"".join(field(1, n) for n in nodes) + field(2, name)
    message += b"".join(field(5, t) for t in initializers)
    return message + b"".join(field(11, v) for v in inputs) + b"".join(field(12, v) for v in outputs)


def model(nodes, inputs, outputs, initializers=(), opset=17, functions=(), domains=()):
    message = field(1, 8) + field(2, "tests") + field(7, graph(nodes, inputs, outputs, initializers))
    message += field(8, field(1, "") + field(2, opset))
    message += b"".join(field(8, field(1, d) + field(2, 1)) for d in domains)
    return message + b"".join(field(25, f) for f in functions)


def function(domain, name, inputs, outputs, nodes, attributes=(), opset=17):
    message = field(1, name) + b"".join(field(4, i) for i in inputs) + b"".join(field(5, o) for o in outputs)
    message += b"".join(field(6, a) for a in attributes) + b"".join(field(7, n) for n in nodes)
    return message + field(9, field(1, "") + field(2, opset)) + field(10, domain)
