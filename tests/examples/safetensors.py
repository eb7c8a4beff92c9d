"""Reads the files that compiled programs save. parameters(path) returns a dictionary from path
to a flat list of numbers and their shape."""

import json
import struct

KINDS = {"F32": "f", "F64": "d"}


def parameters(path):
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] in KINDS:
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            kind = KINDS[entry["dtype"]]
            values = struct.unpack(f"<{(end - begin) // struct.calcsize(kind)}{kind}", content[begin:end])
            found[name] = (list(values), entry["shape"])
    return found


def matrix(entry):
    """Returns the rows of a tensor with two axes."""
    values, (rows, columns) = entry
    return [values[k * columns : (k + 1) * columns] for k in range(rows)]
