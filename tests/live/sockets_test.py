"""Rows through named pipes and sockets: order, loss, and peers that come late, leave early, or
never read.

sockets_test.py RMLC [NAME]
"""

import os
import signal
import socket
import sys
import threading
import time

from common import accept, csv, dial, expect, free_port, listener, main, read_all, read_lines, same, until


def sums(values):
    total, lines = 0, []
    for value in values:
        total += value
        lines.append(str(total))
    return lines


# ---- named pipes ----


def test_pipe_by_path_in_any_order(bench):
    for program_first in (True, False):
        for name in ("in", "out"):
            path = bench.place / name
            path.unlink(missing_ok=True)
            os.mkfifo(path)

        def feed():
            (bench.place / "in").write_text(csv("x", range(1000)))

        writer = threading.Thread(target=feed)
        if not program_first:
            writer.start()
            time.sleep(0.3)
        running = bench.start("sum", "--input", "in", "--output", "out")
        if program_first:
            time.sleep(0.3)
            writer.start()
        same((bench.place / "out").read_text(), csv("sum", sums(range(1000))))
        writer.join()
        same(running.end(), (0, "", ""))


def test_pipe_ends_with_its_last_writer(bench):
    os.mkfifo(bench.place / "in")
    running = bench.start("sum", "--input", "in")
    with open(bench.place / "in", "w") as one:
        one.write("x\n1\n")
        one.flush()
        with open(bench.place / "in", "w") as other:
            same(running.line(), "sum")
            same(running.line(), "1")
        one.write("2\n")
    same(running.end(), (0, "3\n", ""))


def test_signal_while_nobody_writes_or_reads(bench):
    for name in ("in", "out"):
        os.mkfifo(bench.place / name)
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        for arguments in (["--input", "in"], ["--input", "fifo://in"], ["--input", "/dev/null", "--output", "out"]):
            program = "count" if "--output" in arguments else "sum"
            arguments = arguments[2:] + ["--cycles", "3"] if program == "count" else arguments
            running = bench.start(program, *arguments)
            running.settle()
            begin = time.monotonic()
            running.signal(number)
            same(running.end()[0], status)
            expect(time.monotonic() - begin < 5, "took", time.monotonic() - begin)


def write_and_go(running, path, text):
    """Writes, closes, and waits until the program has noticed, which it shows by opening the
    pipe again."""
    descriptors = running.holds(path)
    path.write_text(text)
    until(lambda: running.holds(path) not in (descriptors, []), "the writer has gone")


def test_pipe_whose_writers_come_and_go(bench):
    os.mkfifo(bench.place / "in")
    running = bench.start("sum", "--input", "fifo://in?reconnect")
    path = bench.place / "in"
    until(lambda: running.holds(path), "the pipe is open")
    write_and_go(running, path, "x\n1\n2\n")
    same([running.line() for _ in range(3)], ["sum", "1", "3"])
    write_and_go(running, path, "x\n3\n4")  # writes a last row that is incomplete
    same(running.line(), "6")
    path.write_text("x\n4\n")
    same(running.line(), "10")
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)


def test_pipe_whose_writers_come_before_others_go(bench):
    for end in ("\n", "\r\n"):
        path = bench.place / ("in" + str(len(end)))
        os.mkfifo(path)
        running = bench.start("sum", "--input", f"fifo://{path.name}?reconnect")
        with open(path, "wb", buffering=0) as one:
            one.write(f"x{end}1{end}x{end}2{end}".encode())
            same([running.line() for _ in range(3)], ["sum", "1", "3"])
            for rows, sums_of_rows in ((("x", "3"), ["6"]), (("x",), []), (("4", "x", "x", "5", "x"), ["10", "15"])):
                with open(path, "wb", buffering=0) as other:
                    other.write("".join(row + end for row in rows).encode())
                same([running.line() for _ in sums_of_rows], sums_of_rows)
        running.signal(signal.SIGINT)
        same(running.end()[0], 130)


def test_pipe_with_rows_that_look_like_the_header(bench):
    path = bench.place / "in"
    os.mkfifo(path)
    running = bench.start("truth", "--input", "fifo://in?reconnect")
    path.write_text("t\nt\nf\nt\n")
    same([running.line() for _ in range(4)], ["n", "1", "1", "2"])
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)


# ---- sockets ----


def test_connects_to_who_listens(bench):
    values = list(range(3000))
    for place in (None, bench.place / "in"):
        sources = listener(place)
        results = listener(place and bench.place / "out")
        address = "unix://in", "unix://out"
        if not place:
            address = tuple(f"tcp://localhost:{s.getsockname()[1]}" for s in (sources, results))
        running = bench.start("sum", "--input", address[0], "--output", address[1])
        peer = accept(sources)
        peer.sendall(csv("x", values).encode())
        peer.close()
        same(read_all(accept(results)), csv("sum", sums(values)))
        same(running.end(), (0, "", ""))


def test_row_by_row(bench):
    server, back = listener(), listener()
    running = bench.start(
        "sum", "--input", f"tcp://127.0.0.1:{server.getsockname()[1]}?format=jsonl", "--output",
        f"tcp://127.0.0.1:{back.getsockname()[1]}?format=jsonl")
    peer, answers = accept(server), accept(back)
    for k in range(1, 50):
        peer.sendall(b'{"x": 1}\n')
        same(read_lines(answers, 1), ([f'{{"sum":{k}}}'], ""))
    peer.close()
    same(read_all(answers), "")
    same(running.end(), (0, "", ""))


def test_listens(bench):
    values = list(range(3000))
    for place in ("", "in"):
        port, other = free_port(), free_port()
        addresses = ("unix-listen://in", "unix-listen://out") if place else (
            f"tcp-listen://:{port}", f"tcp-listen://127.0.0.1:{other}")
        running = bench.start("sum", "--input", addresses[0], "--output", addresses[1])
        peer = dial(place and bench.place / "in", port)
        peer.sendall(csv("x", values).encode())
        peer.close()
        result = dial(place and bench.place / "out", other)
        same(read_all(result), csv("sum", sums(values)))
        same(running.end(), (0, "", ""))
        expect(not (bench.place / "in").exists() and not (bench.place / "out").exists(), "sockets are left")


def test_several_peers(bench):
    numbers, pairs = listener(), listener()
    running = bench.start(
        "two", "--input", f"x=tcp://localhost:{numbers.getsockname()[1]}", "--input",
        f"k=tcp://localhost:{pairs.getsockname()[1]}?format=jsonl", "--output", "unix-listen://out?format=jsonl")
    first, second = accept(numbers), accept(pairs)
    second.sendall(b'{"k": [1, 2]}\n{"k": [3, 4]}\n')
    second.close()
    first.sendall(b"x\n0.5\n1.5\n")
    first.close()
    same(read_all(dial(bench.place / "out")), '{"y":1,"m":[2,3]}\n{"y":3,"m":[4,5]}\n')
    same(running.end(), (0, "", ""))


def test_second_peer_is_refused(bench):
    port = free_port()
    running = bench.start("sum", "--input", f"tcp-listen://:{port}")
    first = dial(port=port)
    first.sendall(b"x\n1\n")
    same([running.line(), running.line()], ["sum", "1"])
    with socket.socket() as second:
        same(second.connect_ex(("127.0.0.1", port)) != 0, True)
    first.sendall(b"2\n")
    first.close()
    same(running.end(), (0, "3\n", ""))


def test_one_peer_after_the_other(bench):
    port = free_port()
    running = bench.start("sum", "--input", f"tcp-listen://:{port}?reconnect")
    same(running.process.poll(), None)
    total = 0
    for k in range(1, 4):
        peer = dial(port=port)
        peer.sendall(f"x\n{k}\n7".encode())  # sends a last row that is incomplete
        total += k
        if k == 1:
            same(running.line(), "sum")
        same(running.line(), str(total))
        peer.close()
    peer = dial(port=port)
    peer.sendall(b"y\n1\n")
    status, out, err = running.end()
    same((status, out), (1, ""))
    expect(f"tcp-listen://:{port}: cycle 3: the next peer begins with 'y', not with the header of the first, 'x'" in err,
           err)


def test_left_socket_is_taken_over(bench):
    path = bench.place / "in"
    left = listener(path)
    status, _, err = bench.run("sum", "--input", "unix-listen://in")
    same((status, err), (1, "unix-listen://in: another program is listening there\n"))
    # The refused program did not count as a peer.
    left.settimeout(0.2)
    try:
        left.accept()
        expect(False, "the question was a connection")
    except TimeoutError:
        pass
    left.close()
    running = bench.start("sum", "--input", "unix-listen://in")
    peer = dial(path)
    peer.sendall(b"x\n1\n")
    peer.close()
    same(running.end(), (0, "sum\n1\n", ""))


def test_second_program_at_an_address(bench):
    for address in ("unix-listen://in", "unix-listen://in?reconnect"):
        first = bench.start("sum", "--input", address)
        until((bench.place / "in").exists, "a socket")
        same(bench.run("sum", "--input", address), (1, "", "unix-listen://in: another program is listening there\n"))
        peer = dial(bench.place / "in")
        peer.sendall(b"x\n1\n")
        peer.close()
        same([first.line(), first.line()], ["sum", "1"])
        first.signal(signal.SIGTERM)
        first.end()
    (bench.place / "in").write_text("not to be lost")
    same(bench.run("sum", "--input", "unix-listen://in"),
         (1, "", "unix-listen://in: a file that is not a socket has this name\n"))
    same((bench.place / "in").read_text(), "not to be lost")


def test_without_host_from_this_machine_only(bench):
    for host, wanted in (("", "0100007F"), ("0.0.0.0", "00000000")):
        port = free_port()
        running = bench.start("sum", "--input", f"tcp-listen://{host}:{port}")
        listening = lambda: [line.split()[1] for name in ("tcp", "tcp6") for line in open(f"/proc/net/{name}")
                             if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
        until(listening, "somebody listens")
        same(listening(), [f"{wanted}:{port:04X}"])
        running.signal(signal.SIGINT)
        running.end()


def test_waits_for_who_comes_late(bench):
    port = free_port()
    running = bench.start("sum", "--input", f"tcp://localhost:{port}")
    time.sleep(0.7)  # waits long enough for some attempts
    peer = accept(listener(port=port))
    peer.sendall(b"x\n5\n")
    peer.close()
    same(running.end(), (0, "sum\n5\n", ""))


def test_nobody_there(bench):
    port = free_port()
    address = f"tcp://127.0.0.1:{port}"
    same(bench.run("sum", "--input", address + "?retry=0"),
         (1, "", f"{address}: cannot connect: Connection refused\n"))
    same(bench.run("count", "--cycles", "3", "--output", address + "?retry=0.3"),
         (1, "", f"{address}: cannot connect: Connection refused (tried for 0.3 s)\n"))
    same(bench.run("sum", "--input", "unix://none?retry=0"),
         (1, "", "unix://none: cannot connect: No such file or directory\n"))
    status, _, err = bench.run("sum", "--input", "tcp://no-such-host.invalid:1?retry=0")
    expect(status == 1 and "tcp://no-such-host.invalid:1: " in err, err)


def test_signal_while_waiting_for_peers(bench):
    port = free_port()
    for address in (f"tcp://127.0.0.1:{port}", f"tcp-listen://:{port}", "unix-listen://in"):
        running = bench.start("sum", "--input", address)
        running.settle()
        running.signal(signal.SIGINT)
        same(running.end(10)[0], 130)
    server = listener()
    running = bench.start("sum", "--input", f"tcp://127.0.0.1:{server.getsockname()[1]}")
    peer = accept(server)
    peer.sendall(b"x\n4\n")
    same([running.line(), running.line()], ["sum", "4"])
    running.signal(signal.SIGTERM)
    same(running.end(10), (143, "", ""))


def test_slow_consumer_holds_up_the_program(bench):
    cycles = 100000
    for kind in ("tcp", "unix", "fifo"):
        server = listener(bench.place / "out") if kind == "unix" else listener()
        address = {"tcp": f"tcp://localhost:{server.getsockname()[1]}", "unix": "unix://out", "fifo": "fifo://pipe"}[kind]
        if kind == "fifo":
            os.mkfifo(bench.place / "pipe")
        # Rows of 600 bytes, more than any buffer of the system holds.
        running = bench.start("wide", "--cycles", str(cycles), "--output", address)
        peer = open(bench.place / "pipe", "rb", buffering=0) if kind == "fifo" else accept(server)
        receive = peer.read if kind == "fifo" else peer.recv
        running.settle()
        same(running.process.poll(), None)
        expect(running.resident_mib() < 64, running.resident_mib(), "MiB")
        rest, rows, largest = b"", -1, 0.0
        while part := receive(1 << 20):
            lines = (rest + part).split(b"\n")
            rest = lines.pop()
            for line in lines:
                if rows >= 0:
                    expect(line.startswith(b"%d," % rows), rows, line[:40])
                rows += 1
            largest = max(largest, running.resident_mib())
            time.sleep(0.005)
        same((rows, rest), (cycles, b""))
        expect(largest < 64, largest, "MiB")
        same(running.end(), (0, "", ""))


def test_fast_producer_is_held_up(bench):
    server, results = listener(), listener()
    running = bench.start("sum", "--input", f"tcp://localhost:{server.getsockname()[1]}", "--output",
                          f"tcp://localhost:{results.getsockname()[1]}")
    peer = accept(server)
    count = 3000000
    done = []

    def feed():
        peer.sendall(b"x\n" + b"1\n" * count)
        peer.close()
        done.append(True)

    feeder = threading.Thread(target=feed)
    feeder.start()
    result = accept(results)
    running.settle()
    same(done, [])  # the feeder is not done, since the rows before its last ones still fill the buffers
    expect(running.resident_mib() < 64, running.resident_mib(), "MiB")
    lines = read_all(result).split("\n")
    same((len(lines), lines[-2]), (count + 2, "3e+06"))
    feeder.join()
    same(running.end(), (0, "", ""))


def test_output_goes_on_with_the_next_peer(bench):
    cycles = 100000
    for kind in ("unix-listen", "unix"):
        server = listener(bench.place / "out") if kind == "unix" else None
        path = bench.place / ("out" if kind == "unix" else "own")
        running = bench.start("wide", "--cycles", str(cycles), "--output", f"{kind}://{path.name}")
        # Each peer reads some rows and leaves; rows that it received but did not read are lost.
        last = -1
        for _ in range(3):
            peer = accept(server) if server else dial(path)
            lines, rest = read_lines(peer, 100)
            same(lines[0].split(",")[0], "n")
            numbers = [int(line.split(",")[0]) for line in lines[1:]]
            same(numbers, list(range(numbers[0], numbers[0] + 99)))
            expect(numbers[0] > last, numbers[0], last)
            expect(numbers[0] - last < 4000, "rows lost beyond the buffers:", last, numbers[0])
            last = numbers[-1]
            peer.close()
        peer = accept(server) if server else dial(path)
        rows = read_all(peer).split("\n")[1:-1]
        numbers = [int(row.split(",")[0]) for row in rows]
        same(numbers, list(range(numbers[0], cycles)))
        expect(all(row.count(",") == 100 for row in rows), "a row is not whole")
        same(running.end(), (0, "", ""))


def test_output_peer_goes_for_good(bench):
    server = listener(bench.place / "out")
    running = bench.start("wide", "--cycles", "100000", "--output", "unix://out?retry=0")
    peer = accept(server)
    read_lines(peer, 10)
    peer.close()
    status, _, err = running.end()
    same(status, 1)
    expect(err.startswith("unix://out: the peer closed the connection: Broken pipe; ") and
           err.endswith(" sent, the rest was not\n"), err)


def test_peer_that_does_not_read(bench):
    server = listener()
    # A buffer without a fixed size may grow at any time, and then the program may be computing
    # when the signal comes.
    server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    name = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    running = bench.start("wide", "--cycles", "1000000", "--output", name + "?linger=0.5")
    peer = accept(server)
    running.settle()
    begin = time.monotonic()
    running.signal(signal.SIGINT)
    status, _, err = running.end(10)
    expect(time.monotonic() - begin < 8, time.monotonic() - begin)
    same(status, 1)
    expect(err.startswith(f"{name}: interrupted, and the peer did not read everything within 0.5 s; "), err)
    peer.close()
    # At the end of a run, data that the system could not send are also waited for.
    server = listener(bench.place / "out")
    running = bench.start("count", "--cycles", "1000", "--output", "unix://out?linger=0.5")
    peer = accept(server)
    status, _, err = running.end(10)
    same(status, 1)
    expect("unix://out: the peer did not read the last " in err and "1000 rows were sent" in err, err)
    # A pipe that is full, so that a write to it waits.
    os.mkfifo(bench.place / "pipe")
    running = bench.start("wide", "--cycles", "1000000", "--output", "pipe")
    with open(bench.place / "pipe", "rb"):
        running.settle()
        running.signal(signal.SIGTERM)
        status, _, err = running.end(30)
    same((status, err), (1, "cannot write 'pipe': interrupted, and no reader takes the output\n"))


def test_signal_while_no_reader_has_come(bench):
    running = bench.start("sum", "--output", "unix-listen://out")
    running.process.stdin.write(b"x\n")
    running.process.stdin.flush()
    running.settle()
    running.signal(signal.SIGINT)
    same(running.end(10), (130, "", ""))
    running = bench.start("sum", "--output", "unix-listen://out")
    running.process.stdin.write(b"x\n1\n")
    running.process.stdin.flush()
    running.settle()
    running.signal(signal.SIGINT)
    same(running.end(10), (1, "", "unix-listen://out: interrupted while no client was connected; 0 rows were sent, "
                                  "the rest was not\n"))


def test_from_program_to_program(bench):
    port = free_port()
    first = bench.start("count", "--cycles", "20000", "--output", f"n=tcp-listen://:{port}?format=csv")
    second = bench.start("forth", "--input", f"tcp://localhost:{port}", "--output", "unix://last?format=jsonl")
    third = bench.start("back", "--input", "unix-listen://last?format=jsonl")
    same(third.end(), (0, csv("n", range(20000)), ""))
    same((first.end(), second.end()), ((0, "", ""), (0, "", "")))


def test_addresses_that_make_no_sense(bench):
    cases = (
        ("--input", "udp://a:1", "unknown kind of address 'udp'"),
        ("--input", "tcp://a", "the port is missing"),
        ("--input", "tcp://:5", "the host is missing"),
        ("--input", "tcp://a:0", "'port=0' is not a number from 1 to 65535"),
        ("--input", "tcp://[::1:5", "']' is missing"),
        ("--input", "tcp://a:5?rety=3", "unknown parameter 'rety'; did you mean 'retry'?"),
        ("--input", "tcp://a:5?retry=nan", "'retry=nan' is not a number"),
        ("--input", "tcp://a:5?retry", "'retry' needs a value"),
        ("--input", "tcp://a:5?reconnect=1", "'reconnect' takes no value"),
        ("--input", "tcp://a:5?linger=1", "'linger' has no meaning here"),
        ("--output", "tcp://a:5?reconnect", "'reconnect' has no meaning here"),
        ("--input", "tcp://a:5?qos=1", "'qos' has no meaning here"),
        ("--output", "tcp://a:5?line=5000", "'line' has no meaning here"),
        ("--input", "tcp://a:5?line=5", "'line=5' is not a number from 1024 to 1073741824"),
        ("--input", "tcp://a:5?format=npy", "'format' is csv or jsonl"),
        ("--input", "unix://", "the path is missing"),
        ("--input", "unix://a%2", "'%' needs two hexadecimal digits"),
        ("--input", "mqtt://a", "the topic is missing"),
        ("--input", "mqtt://a/t?qos=3", "'qos=3' is not a number from 0 to 2"),
        ("--input", "mqtt://a/t?cafile=x", "'cafile' has no meaning here: it needs mqtts://"),
        ("--input", "mqtts://a/t?cert=x", "'cert' and 'key' must be given together"),
        ("--input", "mqtt://a/t?password_env=x", "a password needs a user"),
        ("--input", "mqtt://u@a/t?password_env=x&password_file=y", "not both"),
        ("--output", "mqtt://a/t?qos=2", "'qos=2' needs 'client=ID'"),
        ("--output", "mqtt://a/t?qos=2&client=me&version=5", "'qos=2' needs version=3"),
        ("--output", "mqtt://a/t/+/x", "rows are written to one topic"),
        ("--output", "mqtt://a/t/%23", "rows are written to one topic"),
    )
    for option, address, problem in cases:
        status, _, err = bench.run("sum", option, address)
        same(status, 2)
        expect(err.startswith(f"{option} {address}: ") and problem in err, address, err)
    status, _, err = bench.run("sum", "--input", "mqtt://me:secret@a/t")
    expect(status == 2 and "secret" not in err and "password_file" in err, err)
    status, _, err = bench.run("sum", "--input", "tcp://a:1", "--format", "npy")
    expect(status == 2 and "rows of a live stream are csv or jsonl, not npy" in err, err)
    for arguments, problem in (
        (["x=tcp-listen://:5", "k=tcp-listen://:5"], "it can be given once only"),
        (["x=mqtt://a/t", "k=mqtt://a/t"], "a topic can be given once only"),
        (["x=mqtt://a/t?client=me", "k=mqtt://a/u?client=me"], "a broker serves one connection for each client"),
    ):
        status, _, err = bench.run("two", *[part for a in arguments for part in ("--input", a)])
        expect(status == 2 and problem in err, err)
    status, _, err = bench.run("sum", "--resume", "state", "--output", "tcp://a:1")
    expect(status == 2 and "cannot be removed after a crash" in err, err)


main(sys.modules[__name__])
