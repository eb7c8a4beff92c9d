"""Reads the undefined symbols of an object file."""

import struct


def undefined(path):
    """The undefined symbols of a 32-bit or 64-bit ELF object."""
    data = path.read_bytes()
    wide = data[4] == 2
    at, entry, count = (struct.unpack_from("<Q", data, 40) + struct.unpack_from("<HH", data, 58) if wide
                        else struct.unpack_from("<I", data, 32) + struct.unpack_from("<HH", data, 46))
    rows = [struct.unpack_from("<IIQQQQIIQQ" if wide else "<10I", data, at + k * entry) for k in range(count)]
    names = set()
    for _, kind, _, _, begin, size, link, *_ in rows:
        if kind != 2:
            continue
        strings = rows[link][4]
        step = 24 if wide else 16
        for symbol in range(begin + step, begin + size, step):
            name, section = struct.unpack_from("<I", data, symbol)[0], struct.unpack_from("<H", data, symbol + (6 if wide else 14))[0]
            if section == 0:
                names.add(data[strings + name:data.index(b"\0", strings + name)].decode())
    return names
