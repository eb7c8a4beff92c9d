"""The safetensors format, in which states and parameters are saved: tensors by name, as bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from ._arrays import as_float32, numpy


def read(data: bytes) -> dict[str, Any]:
    """Returns the tensors by name, as read-only arrays."""
    np = numpy()
    types = {"BOOL": "bool", "I8": "int8", "U8": "uint8", "I16": "int16", "U16": "uint16", "I32": "int32",
             "U32": "uint32", "I64": "int64", "U64": "uint64", "F16": "float16", "BF16": "uint16", "F32": "float32",
             "F64": "float64"}
    (size,) = struct.unpack_from("<Q", data)
    head = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, about in head.items():
        if name == "__metadata__":
            continue
        begin, end = about["data_offsets"]
        values = np.frombuffer(data[8 + size + begin : 8 + size + end], types[about["dtype"]]).reshape(about["shape"])
        tensors[name] = as_float32(values) if about["dtype"] == "BF16" else values
    return tensors


def write(tensors: Mapping[str, Any]) -> bytes:
    """Returns the bytes that `read` reads, for arrays of Booleans, integers, f32 and f64."""
    head, values = {}, b""
    for path, value in tensors.items():
        kind = {"b": "BOOL", "i": "I", "u": "U", "f": "F"}[value.dtype.kind]
        name = kind if kind == "BOOL" else f"{kind}{8 * value.itemsize}"
        head[path] = {"dtype": name, "shape": value.shape, "data_offsets": [len(values), len(values) + value.nbytes]}
        values += value.tobytes()
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + values
