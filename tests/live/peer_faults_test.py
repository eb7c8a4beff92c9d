"""Peers that vanish, stop within a row, or send a wrong row, and full disks: each ends the run
with a place.

peer_faults_test.py RMLC [NAME]
"""

import signal
import socket
import sys
import threading
import time

from common import accept, csv, expect, listener, main, read_all, read_lines, reset, same


def send_until_refused(peer, data):
    try:
        peer.sendall(data)
    except OSError:
        pass
    peer.close()


def test_input_peer_vanishes(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    running = bench.start("sum", "--input", name)
    peer = accept(server)
    peer.sendall(b"x\n1\n2\n")
    same([running.line() for _ in range(3)], ["sum", "1", "3"])
    reset(peer)
    same(running.end(), (1, "", f"{name}: cycle 2: the connection to the peer was lost: Connection reset by peer\n"))


def test_peer_vanishes_within_a_row(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    for format, rows, half in (("csv", b"x\n1\n2\n", b"3"), ("jsonl", b'{"x": 1}\n{"x": 2}\n', b'{"x": 3')):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        peer.sendall(rows)
        same([running.line() for _ in range(3)], ["sum", "1", "3"])
        peer.sendall(half)
        time.sleep(0.2)  # waits until the incomplete row is read, before the connection breaks
        reset(peer)
        same(running.end(10), (1, "", f"{name}: cycle 2: the connection to the peer was lost: Connection reset by peer\n"))
    # With `reconnect` the incomplete row is dropped, and the next peer starts a new row.
    running = bench.start("sum", "--input", f"{name}?reconnect")
    for k in range(3):
        peer = accept(server)
        peer.sendall(b"x\n1\n")
        same([running.line() for _ in range(1 if k else 2)][-1], str(k + 1))
        peer.sendall(b"700")
        time.sleep(0.2)
        reset(peer)
    server.close()
    running.signal(signal.SIGINT)
    same(running.end(10)[0], 130)


def test_peers_without_a_word(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    for format, text, wanted in (
        ("csv", b"", (1, "", f"{name}: empty; expected a header of column names\n")),
        ("csv", b"x", (1, "", f"{name}: the peer closed the connection in the middle of a row\n")),
        ("csv", b"x\n", (0, "sum\n", "")),
        ("jsonl", b"", (0, "sum\n", "")),
    ):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        peer.sendall(text)
        peer.close()
        same(running.end(10), wanted)


def test_half_a_row_at_the_end(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    for format, text in (("csv", "x\n1\n12"), ("jsonl", '{"x": 1}\n{"x": 12}')):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        peer.sendall(text.encode())
        peer.close()
        same(running.end(), (1, "sum\n1\n", f"{name}: cycle 1: the peer closed the connection in the middle of a row\n"))


def test_half_closed_input(bench):
    """A peer that has sent everything but remains connected."""
    server = listener()
    running = bench.start("sum", "--input", f"tcp://127.0.0.1:{server.getsockname()[1]}")
    peer = accept(server)
    peer.sendall(b"x\n1\n2\n")
    peer.shutdown(socket.SHUT_WR)
    same(running.end(10), (0, "sum\n1\n3\n", ""))
    peer.close()


def test_half_closed_output(bench):
    """A peer that stops sending still receives all rows; a peer that stops receiving counts as
    gone."""
    for kind in ("tcp", "unix"):
        server = listener(bench.place / "out" if kind == "unix" else None)
        name = "unix://out" if kind == "unix" else f"tcp://127.0.0.1:{server.getsockname()[1]}"
        running = bench.start("count", "--cycles", "200000", "--output", name)
        peer = accept(server)
        peer.shutdown(socket.SHUT_WR)
        same(read_all(peer), csv("n", range(200000)))
        peer.close()  # closes the connection, which answers the end that the program has announced
        same(running.end(10), (0, "", ""))
    running = bench.start("wide", "--cycles", "1000000", "--output", "unix://out?retry=0")
    peer = accept(server)
    read_lines(peer, 10)
    peer.shutdown(socket.SHUT_RD)
    status, out, err = running.end(10)
    same((status, out), (1, ""))
    expect(err.startswith("unix://out: the peer closed the connection: Broken pipe; ") and " sent, " in err, err)


def test_malformed_row_among_many(bench):
    """All rows before it are written, whatever follows."""
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    good, before = 5000, csv("sum", range(1, 5001))
    for format, head, row, bad, problem in (
        ("csv", b"x\n", b"1\n", b"\x00\x1b\n", f":{good + 2}:1: cycle {good}: column 'x': '\\u{{0}}\\u{{1b}}' is not an f64\n"),
        ("csv", b"x\n", b"1\n", b"1,2\n", f":{good + 2}: cycle {good}: the row has 2 fields, the header 1 (a comma separates columns: a number has a "
         "decimal point, and --delimiter ';' reads columns separated by semicolons)\n"),
        ("jsonl", b"", b'{"x":1}\n', b'{"x":1\n', f":{good + 1}:6: cycle {good}: not valid JSON: "),
        ("jsonl", b"", b'{"x":1}\n', b'{"x":1}\x00}\n', f":{good + 1}:8: cycle {good}: not valid JSON: a zero byte\n"),
    ):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        peer.sendall(head + good * row + bad + 100 * row)
        status, out, err = running.end(10)
        peer.close()
        same((status, out), (1, before))
        expect(err.startswith(name + problem), err)


def test_malformed_row(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    for format, text, problem in (
        ("csv", "x\n1\n2\nthree\n4\n", ":4:1: cycle 2: column 'x': 'three' is not a number"),
        ("jsonl", '{"x": 1}\n{"x": 2}\n{"x": "three"}\n{"x": 4}\n', ":3: cycle 2: 'x': a string is not f64"),
    ):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        peer.sendall(text.encode())
        status, out, err = running.end()
        peer.close()
        same((status, out), (1, "sum\n1\n3\n"))
        expect(err.startswith(name + problem.split(" is not a number")[0]), err)


def test_line_without_end(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    for format, begin, rest in (("csv", b"x\n1\n", b"1"), ("csv", b'x\n1\n"', b"\n"), ("jsonl", b'{"x":1}\n{"x":', b"1")):
        running = bench.start("sum", "--input", f"{name}?format={format}&line=2000")
        peer = accept(server)
        peer.sendall(begin)
        same([running.line(), running.line()], ["sum", "1"])
        feeder = threading.Thread(target=lambda: send_until_refused(peer, rest * 4_000_000))
        feeder.start()
        status, _, err = running.end(10)
        same(status, 1)
        if rest == b"1":
            same(err, f"{name}: cycle 1: a line of more than 2000 bytes (?line=BYTES raises the limit)\n")
        else:
            same(err, f"{name}: cycle 1: a row of more than 2000 bytes (?line=BYTES raises the limit)\n")
        feeder.join()
    # The default limit is 16 MiB.
    for count, outcome in ((16 << 20, 1), (15 << 20, 0)):
        running = bench.start("sum", "--input", f"{name}?format=jsonl")
        peer = accept(server)
        feeder = threading.Thread(target=lambda: send_until_refused(peer, b'{"x":1,"s":"' + b"a" * count + b'"}\n'))
        feeder.start()
        status, _, err = running.end(20)
        same((status, "a line of more than 16777216 bytes" in err), (outcome, outcome == 1))
        feeder.join()


def test_long_token_is_quoted_short(bench):
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    long = b"9" * 3_000_000
    for format, text in (("jsonl", b'{"x":' + long + b"x}"), ("jsonl", b'{"x":"' + long), ("jsonl", b'{"x":tru' + long),
                         ("jsonl", '{"x":"'.encode() + "ü".encode() * 1_000_000 + b"\n"),
                         ("jsonl", b'{"' + long + b'":1}'), ("csv", b"x\n" + long + b"x"), ("csv", long + b"a"),
                         ("csv", b"x[" + long + b"]")):
        running = bench.start("sum", "--input", f"{name}?format={format}")
        peer = accept(server)
        feeder = threading.Thread(target=lambda: send_until_refused(peer, text + b"\n"))
        feeder.start()
        status, _, err = running.end(10)
        same(status, 1)
        expect(err.startswith(name) and len(err) < 600, format, text[:20], len(err), err[:700])
        feeder.join()


def test_full_disk_behind_a_slow_writer(bench):
    server = listener()
    running = bench.start("sum", "--input", f"tcp://127.0.0.1:{server.getsockname()[1]}", "--output", "/dev/full")
    peer = accept(server)
    peer.sendall(b"x\n1\n")
    status, out, err = running.end(10)
    same((status, out, err), (1, "", "cannot write '/dev/full': No space left on device\n"))
    peer.close()
    # JSON lines, one of two outputs, and a peer that continues to send.
    numbers, pairs = listener(), listener()
    running = bench.start("two", "--input", f"x=tcp://127.0.0.1:{numbers.getsockname()[1]}", "--input",
                          f"k=tcp://127.0.0.1:{pairs.getsockname()[1]}", "--output", "y=y.jsonl", "--output", "m=/dev/full",
                          "--format", "jsonl")
    first, second = accept(numbers), accept(pairs)
    first.sendall(b'{"x":0.5}\n')
    second.sendall(b'{"k":[1,2]}\n')
    same(running.end(10), (1, "", "cannot write '/dev/full': No space left on device\n"))
    same((bench.place / "y.jsonl").read_text(), '{"y":1}\n')
    first.close()
    second.close()
    # The program writes to /dev/full as its standard output, which lags far behind the input.
    with open("/dev/full", "wb") as full:
        running = bench.start("sum", "--input", f"tcp://127.0.0.1:{server.getsockname()[1]}", stdout=full)
        peer = accept(server)
        feeder = threading.Thread(target=lambda: send_until_refused(peer, b"x\n" + b"1\n" * 1000000))
        feeder.start()
        same(running.end(10), (1, "", "cannot write standard output: No space left on device\n"))
        feeder.join()


main(sys.modules[__name__])
