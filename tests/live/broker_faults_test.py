"""Brokers that refuse, do not answer, answer nonsense, or disconnect: the run ends with a
message, or connects again.

broker_faults_test.py RMLC [NAME]

The test plays the broker, because a real broker would not make these errors.
"""

import json
import signal
import socket
import sys
import time

from broker import Served
from common import expect, listener, main, same

BUILD_OPTIONS = ["--mqtt"]


def value(x):
    return json.dumps({"x": x})


def start(bench, program, *arguments, also=""):
    """Starts a program whose broker is the test. Returns the listening socket, the address,
    and the program."""
    server = listener()
    url = f"mqtt://127.0.0.1:{server.getsockname()[1]}/x"
    option = "--input" if program == "sum" else "--output"
    return server, url, bench.start(program, option, url + also, *arguments)


def quick(running):
    begin = time.monotonic()
    outcome = running.end()
    expect(time.monotonic() - begin < 10, "took", time.monotonic() - begin)
    return outcome


def test_subscription_is_refused(bench):
    server, url, running = start(bench, "sum")
    Served(server).connect().grant(0x80)
    same(quick(running), (1, "", f"{url}: the broker does not allow this topic\n"))


def test_subscription_is_refused_the_next_time(bench):
    server, url, running = start(bench, "sum")
    peer = Served(server).connect().grant(1)
    peer.deliver("x", value(4))
    same([running.line(), running.line()], ["sum", "4"])
    peer.close()
    Served(server).connect().grant(0x80)
    same(quick(running), (1, "", f"{url}: cycle 1: the broker does not allow this topic\n"))


def test_less_is_promised_than_asked_for(bench):
    server, url, running = start(bench, "sum", also="?qos=2")
    Served(server).connect().grant(1)
    same(quick(running), (1, "", f"{url}: the broker grants qos=1 for this topic, not 2; write ?qos=1 if this is enough\n"))
    server, url, running = start(bench, "sum", "--cycles", "1", also="?qos=0")
    Served(server).connect().grant(0).deliver("x", value(4))
    same(quick(running), (0, "sum\n4\n", ""))


def test_connection_is_refused(bench):
    # Temporary refusals are retried, others are not.
    for program, code, lasts in (("sum", 1, True), ("sum", 2, True), ("sum", 3, False), ("sum", 4, True),
                                 ("sum", 5, True), ("count", 0x84, True), ("count", 0x85, True), ("count", 0x86, True),
                                 ("count", 0x87, True), ("count", 0x88, False), ("count", 0x89, False),
                                 ("count", 0x97, False)):
        arguments = ["--cycles", "1"] if program == "count" else []
        also = "?retry=0.3" + ("&version=5" if program == "count" else "")
        server, url, running = start(bench, program, *arguments, also=also)
        Served(server).connect(code)
        server.settimeout(0.1)
        while not lasts and running.process.poll() is None:
            try:
                Served(server).connect(code)
            except TimeoutError:
                pass
        status, out, err = quick(running)
        same((status, out), (1, ""))
        expect(err.startswith(f"{url}: the broker refused the connection: "), err)
        same((code, "tried for 0.3 s" in err), (code, not lasts))


def test_broker_that_says_nothing(bench):
    for program, steps in (("sum", 0), ("sum", 1), ("count", 0), ("count", 1)):
        server, url, running = start(bench, program, *(["--cycles", "3"] if program == "count" else []),
                                     also="?linger=0.5" if program == "count" else "")
        peer = Served(server)
        if steps == 1:
            peer.connect()
        if program == "count" and steps == 1:
            for _ in range(3):
                peer.row()
        running.settle()
        running.signal(signal.SIGTERM)
        status, _, err = quick(running)
        if program == "count" and steps == 1:  # the broker acknowledges three rows that are not outstanding
            same(status, 1)
            expect("did not accept everything within 0.5 s; 0 rows were acknowledged, 3 more were sent" in err, err)
        else:
            same((status, err), (143, ""))
        peer.close()


def test_retry_holds_against_a_broker_that_says_nothing(bench):
    for program, steps in (("sum", 0), ("sum", 1), ("count", 0)):
        server, url, running = start(bench, program, *(["--cycles", "3"] if program == "count" else []), also="?retry=1")
        begin = time.monotonic()
        if steps:
            peer = Served(server).connect()  # connects to a broker that does not answer the subscription
        same(quick(running), (1, "", f"{url}: the broker does not answer (tried for 1 s)\n"))
        expect(0.8 < time.monotonic() - begin < 5, time.monotonic() - begin)
        if steps:
            peer.close()


def test_signal_reads_what_has_come(bench):
    for also in ("", "?client=me"):
        server, _, running = start(bench, "sum", also=also)
        peer = Served(server).connect().grant(1)
        peer.deliver("x", value(1))
        same([running.line(), running.line()], ["sum", "1"])
        running.signal(signal.SIGSTOP)
        for x in (2, 3, 4):
            peer.deliver("x", value(x))
        running.signal(signal.SIGTERM)
        running.signal(signal.SIGCONT)
        same(quick(running), (143, "3\n6\n10\n", ""))


def test_broker_that_speaks_another_language(bench):
    for program in ("sum", "count"):
        server, url, running = start(bench, program, *(["--cycles", "3"] if program == "count" else []), also="?retry=0")
        peer = Served(server)
        peer.packet()
        peer.socket.sendall(bytes(8))
        status, out, err = quick(running)
        same((status, out), (1, ""))
        expect(err.startswith(url + ": "), err)


def test_broker_goes_in_the_middle_of_a_message(bench):
    # A damaged message also counts as a broken connection.
    for rest in (b"\x32\x0c\0\x01x", b"\xf3\xff\xff\xff\xff\xff\xff"):
        server, url, running = start(bench, "sum")
        peer = Served(server).connect().grant(1)
        peer.deliver("x", value(1))
        same([running.line(), running.line()], ["sum", "1"])
        peer.socket.sendall(rest)
        peer.close()
        peer = Served(server).connect().grant(1)
        peer.deliver("x", value(2))
        same(running.line(), "3")
        peer.deliver("x", '{"x":2}\0{')
        status, _, err = quick(running)
        same((status, err), (1, f"{url}:3:8: cycle 2: not valid JSON: a zero byte\n"))


def test_rows_without_acknowledgement_are_sent_again(bench):
    for also in ("?version=3", "?version=5"):
        server, _, running = start(bench, "count", "--cycles", "3", also=also)
        peer = Served(server).connect()
        first = [peer.row() for _ in range(3)]
        same([(row, again) for _, row, again in first], [(f'{{"n":{k}}}', False) for k in range(3)])
        peer.acknowledge(first[0][0])
        peer.acknowledge(b"\x7f\x7f")  # the broker acknowledges a message that was not sent
        running.settle()
        same(running.process.poll(), None)
        peer.close()
        peer = Served(server).connect()
        for k in (1, 2):
            number, row, again = peer.row()
            same((row, again), (f'{{"n":{k}}}', True))
            peer.acknowledge(number)
        same(quick(running), (0, "", ""))


def test_row_is_refused(bench):
    server, url, running = start(bench, "count", "--cycles", "3", also="?version=5")
    peer = Served(server).connect()
    peer.acknowledge(peer.row()[0])
    peer.acknowledge(peer.row()[0], 0x97)
    status, _, err = quick(running)
    same(status, 1)
    expect(err.startswith(f"{url}: the broker rejected a row: Quota exceeded; 1 row was acknowledged, "), err)


def test_packets_of_the_other_protocol(bench):
    """Packets with an MQTT 5 property that no version defines. libmosquitto 2.0.11 aborts on
    them when it speaks MQTT 5."""
    for packet in (b"\x20\x05\0\0\x02\x7c\0", b"\xe0\x04\0\x02\x7c\0"):
        server, url, running = start(bench, "count", "--cycles", "3", also="?retry=1&linger=1")
        peer = Served(server)
        peer.socket.recv(4096)
        peer.socket.sendall(packet)
        status, _, err = quick(running)
        same(status, 1)
        expect(err.startswith(f"{url}: "), err)


def test_broker_goes_for_good_after_some_rows(bench):
    server, url, running = start(bench, "count", "--cycles", "3", also="?retry=0")
    peer = Served(server).connect()
    peer.acknowledge(peer.row()[0])
    peer.row()
    server.close()
    peer.socket.shutdown(socket.SHUT_RDWR)
    peer.close()
    status, _, err = quick(running)
    same(status, 1)
    expect(err.startswith(url + ": ") and "; 1 row was acknowledged, " in err, err)


main(sys.modules[__name__])
