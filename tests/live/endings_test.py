"""The ends of runs with live streams: received rows are computed, sent rows are with the peer,
and the state is saved.

endings_test.py RMLC [NAME]
"""

import signal
import sys
import threading
import time

from common import accept, csv, dial, expect, free_port, listener, listens, main, same, until


def test_who_was_let_in_is_served(bench):
    """The second peer connects before the first one is handled; its rows follow."""
    header = listener()
    port = free_port()
    running = bench.start("two", "--input", f"k=tcp://127.0.0.1:{header.getsockname()[1]}?format=jsonl", "--input",
                          f"x=tcp-listen://:{port}")
    numbers = accept(header)
    until(lambda: listens(port), "listens")
    # Then both peers are connected when the program continues, however slow this test is.
    running.signal(signal.SIGSTOP)
    for rows in ("1\n2\n", "3\n"):
        peer = dial(port=port)
        peer.sendall(("x\n" + rows).encode())
        peer.close()
    running.signal(signal.SIGCONT)
    numbers.sendall(b'{"k": [1, 2]}\n' * 3)
    numbers.close()
    same(running.end(), (0, "y,m[0],m[1]\n2,2,3\n4,2,3\n6,2,3\n", ""))


def test_signal_reads_what_has_come(bench):
    for kind in ("tcp", "unix"):
        port = free_port()
        place = None if kind == "tcp" else bench.place / "in"
        address = f"tcp-listen://:{port}?reconnect" if kind == "tcp" else "unix-listen://in?reconnect"
        running = bench.start("sum", "--input", address)
        first = dial(place, port)
        first.sendall(b"x\n1\n")
        same([running.line(), running.line()], ["sum", "1"])
        running.signal(signal.SIGSTOP)
        first.sendall(b"2\n3")  # sends a last row that is incomplete
        for k in (10, 20):
            peer = dial(place, port)
            peer.sendall(f"x\n{k}\n".encode())
            peer.close()
        running.signal(signal.SIGTERM)
        running.signal(signal.SIGCONT)
        same(running.end(10), (143, "3\n13\n33\n", ""))
        first.close()


def test_signal_while_a_peer_sends_for_ever(bench):
    port = free_port()
    running = bench.start("sum", "--input", f"tcp-listen://:{port}", "--output", "/dev/null")
    peer = dial(port=port)

    def feed():
        try:
            peer.sendall(b"x\n" + b"1\n" * 100_000_000)
        except OSError:
            peer.close()  # the program learns that not all rows were read

    feeder = threading.Thread(target=feed)
    feeder.start()
    time.sleep(0.5)
    begin = time.monotonic()
    running.signal(signal.SIGTERM)
    same(running.end(10)[0], 143)
    expect(time.monotonic() - begin < 8, time.monotonic() - begin)
    feeder.join()


def test_rows_that_the_peer_never_looked_at(bench):
    """The system accepts rows for a program that then ends without reading them. The sender
    must not end with success."""
    server = listener()
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    running = bench.start("count", "--cycles", "3", "--output", name)
    running.settle()
    same(running.process.poll(), None)
    server.close()
    same(running.end(), (1, "", f"{name}: the peer closed the connection before it had read everything: Connection reset by peer; "
                                "3 rows were sent, the rest was not\n"))
    # A peer that neither closes nor reads is waited for as long as the address says.
    server = listener()
    begin = time.monotonic()
    same(bench.run("count", "--cycles", "3", "--output", f"tcp://127.0.0.1:{server.getsockname()[1]}?linger=0.5"),
         (0, "", ""))
    expect(time.monotonic() - begin > 0.5, time.monotonic() - begin)


def test_hangup_saves(bench):
    for number in (signal.SIGHUP, signal.SIGTERM):
        (bench.place / "state").unlink(missing_ok=True)
        running = bench.start("sum", "--input", "unix-listen://in", "--save", "state")
        peer = dial(bench.place / "in")
        peer.sendall(b"x\n4\n")
        same([running.line(), running.line()], ["sum", "4"])
        running.signal(number)
        same(running.end(10), (128 + number, "", ""))
        peer.close()
        (bench.place / "more.csv").write_text("x\n5\n")
        same(bench.run("sum", "--input", "more.csv", "--load", "state"), (0, "sum\n9\n", ""))


def test_source_that_goes_on_is_no_source_to_resume_with(bench):
    """--resume reads a live source again from its first row. A different source is noticed
    before anything is changed."""
    arguments = ["--input", "unix-listen://in", "--output", "out.csv", "--resume", "state", "--save-every", "2"]
    for rows, outcome in (("1,2,3", (0, "1,3,6")), ("4,5,6", (1, "1,3,6")), ("1,2,3,4", (0, "1,3,6,10"))):
        running = bench.start("sum", *arguments)
        peer = dial(bench.place / "in")
        peer.sendall(csv("x", rows.split(",")).encode())
        peer.close()
        status, _, err = running.end()
        same((status, (bench.place / "out.csv").read_text()), (outcome[0], csv("sum", outcome[1].split(","))))
        expect(status == 0 or "the first 3 rows of unix-listen://in are not those that 'state' was saved after" in err, err)
    # The message about the state names these options as the alternative.
    running = bench.start("sum", "--input", "unix-listen://in", "--load", "state", "--save", "state", "--save-every", "1")
    peer = dial(bench.place / "in")
    peer.sendall(b"x\n5\n")
    same([running.line(), running.line()], ["sum", "15"])
    before = (bench.place / "state").read_bytes()
    peer.sendall(b"6\n")
    until(lambda: (bench.place / "state").read_bytes() != before, "the state is saved")
    time.sleep(0.1)
    running.kill()
    peer.close()
    (bench.place / "more.csv").write_text("x\n5\n")
    same(bench.run("sum", "--input", "more.csv", "--load", "state"), (0, "sum\n26\n", ""))


def test_closed_pipe_ends_silently(bench):
    for program, more in (("count", ["--cycles", "100000000"]), ("wide", ["--cycles", "100000000", "--threads", "1"]),
                          ("count", ["--cycles", "100000000", "--format", "jsonl", "--save", "state"])):
        running = bench.start(program, *more)
        running.line()
        running.process.stdout.close()
        running.process.stdout = None
        same(running.end(), (128 + signal.SIGPIPE, "", ""))
    expect((bench.place / "state").exists(), "no state is saved")


main(sys.modules[__name__])
