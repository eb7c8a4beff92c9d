"""Reads and writes saved states without any library."""

import json
import struct
import zlib


def take_apart(state):
    """Returns the header, and the bytes after it."""
    (length,) = struct.unpack("<Q", state[:8])
    return json.loads(state[8 : 8 + length]), bytearray(state[8 + length :])


def put_together(header, data):
    """Joins a header and the bytes after it, with a correct checksum."""
    header["__metadata__"]["checksum"] = "0" * 8
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    whole = struct.pack("<Q", len(text)) + text + bytes(data)
    at = whole.find(b'"checksum":"') + 12
    return whole[:at] + f"{zlib.crc32(whole):08x}".encode() + whole[at + 8 :]
