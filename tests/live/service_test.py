"""A run that is watched while it continues: --stats-every, SIGUSR1, --metrics, and states that are saved
after a time.

service_test.py RMLC [NAME]
"""

import http.client
import os
import re
import signal
import subprocess
import sys
import time

from common import csv, dial, expect, free_port, listens, main, same, until
from processes import catches

LINE = re.compile(r"^rows (\d+), rows/s \d+\.\d, lag (\d+), idle \d+\.\d s(, keys (\d+))?(, bad rows (\d+))?$", re.MULTILINE)


def said(running):
    """Standard error so far. The program writes to the same open file, so its offset is not moved."""
    return os.pread(running.errors.fileno(), 1 << 20, 0).decode()


def serves(bench, *arguments, rows=("x", "1", "2"), answers=("sum", "1", "3")):
    """Starts a program that has answered these rows and waits for more."""
    running = bench.start("sum", "--input", "unix-listen://in", *arguments)
    peer = dial(bench.place / "in")
    peer.sendall("".join(row + "\n" for row in rows).encode())
    same([running.line() for _ in answers], list(answers))
    return running, peer


def test_signal_prints_a_line(bench):
    for arguments, rows, answers, keys, bad in (
            ([], ("x", "1", "2"), ("sum", "1", "3"), None, None),
            (["--key", "m", "--on-bad-row", "skip"], ("m,x", "a,1", "b,2", "c", "a,3"), ("m,sum", "a,1", "b,2", "a,4"),
             "2", "1")):
        running, peer = serves(bench, *arguments, rows=rows, answers=answers)
        for count in (1, 2):
            expect(catches(running.process.pid, signal.SIGUSR1))
            running.process.send_signal(signal.SIGUSR1)
            until(lambda: len(LINE.findall(said(running))) == count, "the line is printed")
        found = LINE.search(said(running))
        same((found[1], found[2], found[4], found[6]), (str(len(answers) - 1), "0", keys, bad))
        peer.close()
        same(running.end()[0], 0)


def test_line_is_printed_periodically(bench):
    running, peer = serves(bench, "--stats-every", "20ms")
    until(lambda: len(LINE.findall(said(running))) > 3, "lines are printed while the program waits")
    peer.sendall(b"4\n")
    same(running.line(), "7")
    until(lambda: "\nrows 3, " in said(running), "the line has the new row")
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)


def test_state_is_saved_after_a_time(bench):
    """The source falls silent, and the program is killed: the saved state has all its rows."""
    (bench.place / "sum.rml").write_text("node main(x: f64) -> (sum: f64) sum = (0.0 fby sum) + x;")
    subprocess.run([bench.rmlc, "build", "sum.rml", "--parallel", "-o", "tasks"], cwd=bench.place, check=True)
    for kind, more in (("peer", []), ("peer", ["--key", "m"]), ("stdin", []), ("tasks", [])):
        keyed = bool(more)
        state = ["--save", "s", "--save-every", "20ms", *more]
        (bench.place / "s").unlink(missing_ok=True)
        header, key = ("m,x", "a,") if keyed else ("x", "")
        rows = [header, *(f"{key}{k}" for k in range(1, 101))]
        answers = ["m,sum" if keyed else "sum", *(f"{key}{k * (k + 1) // 2}" for k in range(1, 101))]
        if kind == "peer":
            running, peer = serves(bench, *state, rows=rows, answers=answers)
        else:
            name = "./tasks" if kind == "tasks" else bench.program("sum")
            with (bench.place / "rows").open("w") as to:
                process = subprocess.Popen([name, "--quiet", *state], cwd=bench.place, stdin=subprocess.PIPE, stdout=to)
            process.stdin.write("".join(row + "\n" for row in rows).encode())
            process.stdin.flush()
        (bench.place / "rest.csv").write_text(f"{header}\n{key}0\n")

        def complete():
            status, out, _ = bench.run("sum", "--load", "s", "--input", "rest.csv", *more)
            return status == 0 and out.splitlines()[-1] == f"{key}5050"

        until(lambda: (bench.place / "s").exists() and complete(), f"the state of {kind} has all rows")
        if kind == "peer":
            running.kill()
            peer.close()
        else:
            process.kill()
            process.wait()


def get(connection, method, path):
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Content-Type"), answer.read().decode()


def samples(text):
    """The values of OpenMetrics text by name. Each has a type and an explanation."""
    lines = text.split("\n")
    same(lines[-2:], ["# EOF", ""])
    found = {}
    for about, kind, sample in zip(*(iter(lines[:-2]),) * 3):
        name = about.split()[2]
        expect(about.startswith(f"# HELP {name} ") and kind in (f"# TYPE {name} counter", f"# TYPE {name} gauge"), about)
        sample_name, value = sample.split(" ")
        same(sample_name, name + ("_total" if kind.endswith("counter") else ""))
        found[name] = float(value)
    return found


def test_metrics(bench):
    port = free_port()
    running, peer = serves(bench, "--metrics", f"127.0.0.1:{port}", "--on-bad-row", "skip", rows=("x", "1", "?", "2"))
    expect(listens(port))
    idle = dial(port=port)  # a client that sends nothing keeps no other client from its answer
    status, kind, text = get(http.client.HTTPConnection("127.0.0.1", port, timeout=60), "GET", "/metrics")
    same((status, kind), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
    values = samples(text)
    expect(values.pop("rml_start_time_seconds") > 1.7e9 and values.pop("rml_idle_seconds") >= 0)
    same(values, {"rml_rows_read": 2, "rml_rows_written": 2, "rml_lag_rows": 0, "rml_bad_rows": 1})
    for method, path, status in (("GET", "/", 404), ("POST", "/metrics", 405), ("GET", "/metrics?x=1", 200)):
        same(get(http.client.HTTPConnection("127.0.0.1", port, timeout=60), method, path)[0], status)
    idle.close()
    peer.close()
    same(running.end()[0], 0)


def test_metrics_on_a_unix_socket(bench):
    running, peer = serves(bench, "--metrics", "unix-listen://m", "--key", "m", rows=("m,x", "a,1"),
                           answers=("m,sum", "a,1"))
    client = dial(bench.place / "m")
    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
    text = b""
    while part := client.recv(4096):
        text += part
    same(samples(text.decode().split("\r\n\r\n")[1])["rml_keys"], 1)
    peer.close()
    same(running.end()[0], 0)
    expect(not (bench.place / "m").exists(), "the socket remains")


def test_timer(bench):
    same(bench.run("truth", "--input", "timer://2ms", "--cycles", "5"), (0, csv("n", range(1, 6)), ""))
    # A signal ends the wait for a tick.
    running = bench.start("truth", "--input", "t=timer://1h")
    running.settle()
    running.signal(signal.SIGINT)
    same(running.end(), (130, "n\n", ""))
    # With other inputs, a cycle waits for the tick and for their row, and they end the run. Ticks that pass meanwhile
    # are counted.
    running = bench.start("ticks", "--input", "t=timer://1ms", "--input", "x=unix-listen://in", "--stats", quiet=False)
    peer = dial(bench.place / "in")
    peer.sendall(b"x\n1\n2\n")
    same([running.line() for _ in range(3)], ["n", "1", "2"])
    time.sleep(0.1)
    peer.sendall(b"3\n4\n")
    same([running.line() for _ in range(2)], ["3", "4"])
    peer.close()
    status, _, err = running.end()
    counted = re.search(r"^missed ticks     (\d+)\n(\d+) ticks of the timer were missed: ", err, re.MULTILINE)
    expect(status == 0 and counted and counted[1] == counted[2] and int(counted[1]) > 10, err)
    for address, text in (("timer://0s", "timer://0s: the period '0s': must be from 1ms to 365d"),
                          ("timer://10", "timer://10: the period '10' is not a duration"),
                          ("timer://1s?format=csv", "'format' has no meaning here"),
                          ("timer://-1s", "the period '-1s': must be from 1ms to 365d")):
        status, _, err = bench.run("truth", "--input", address)
        expect(status == 2 and text in err, err)
    status, _, err = bench.run("sum", "--input", "timer://1s")
    expect(status == 2 and "a timer gives one Boolean input that is present at every cycle, not 'x', which is f64" in err, err)
    status, _, err = bench.run("truth", "--input", "timer://1s", "--cycles", "1", "--output", "timer://1s")
    expect(status == 2 and "a timer is an input" in err, err)


def test_refused_options(bench):
    (bench.place / "x.csv").write_text(csv("x", [1]))
    port = free_port()
    for arguments, text in (
            (["--stats-every", "0s"], "--stats-every: '0s': must be from 1ms to 365d"),
            (["--stats-every", "-5s"], "--stats-every: '-5s': must be from 1ms to 365d"),
            (["--stats-every", "366d"], "--stats-every: '366d': must be from 1ms to 365d"),
            (["--stats-every", "10"], "--stats-every: '10' is not a duration: give a number and a unit, such as 500ms"),
            (["--save", "s", "--save-every", "0"], "--save-every: '0': must be 1 or more"),
            (["--save", "s", "--save-every", "0s"], "--save-every: '0s': must be from 1ms to 365d"),
            (["--save", "s", "--save-every", "5 s"], "--save-every: '5 s' is not a duration"),
            (["--save-every", "5s"], "--save-every: give the file to save to"),
            (["--metrics", f"0.0.0.0:{port}"], f"--metrics 0.0.0.0:{port}: metrics are served to this machine only"),
            (["--metrics", f"tcp://localhost:{port}"], f"--metrics tcp://localhost:{port}: expected [HOST]:PORT or unix"),
            (["--metrics", f":{port}?format=csv"], f"--metrics :{port}?format=csv: the address takes no parameters"),
            (["--metrics", "localhost"], "--metrics tcp-listen://localhost: the port is missing"),
            (["--metrics", "unix-listen://x.csv"], "unix-listen://x.csv: a file that is not a socket has this name")):
        status, out, err = bench.run("sum", "--input", "x.csv", "--output", "y.csv", *arguments)
        expect(status in (1, 2) and err.startswith(text) and out == "", arguments, status, err)
        expect(not (bench.place / "y.csv").exists(), arguments)


main(sys.modules[__name__])
