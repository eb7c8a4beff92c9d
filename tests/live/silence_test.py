"""Inputs whose rows may stay away: ?timeout=PERIOD&silent=NAME, and ?silent=NAME beside a timer.

How many cycles without a row a program has between two messages depends on the machine, so the tests read lines until
they find the one that they expect.

silence_test.py RMLC [NAME]
"""

import os
import re
import signal
import subprocess
import sys

from common import PROGRAMS, csv, dial, expect, free_port, main, same, until

PROGRAMS.update({
    "hold": "node main(stale: bool, x: f64 when not stale) -> (quiet: bool, sum: f64) quiet = stale;"
            " sum = merge stale ((0.0 fby sum) when stale) ((0.0 fby sum) when not stale + x);",
    "flag": "node main(stale: bool, m: bool, x: f64 when m) -> (quiet: bool, there: bool, y: f64 when m)"
            " quiet = stale; there = m; y = x;",
    "beat": "node main(tick: bool, stale: bool, x: f64 when not stale) -> (beat: bool, quiet: bool, n: i32)"
            " beat = tick; quiet = stale; n = merge stale ((0 fby n) when stale) ((0 fby n) when not stale + 1);",
    "pair": "node main(a: bool, x: f64 when not a, b: bool, y: f64 when not b) -> (p: bool, q: bool) p = a; q = b;",
})
SHORT = "timeout=20ms&silent=stale"


def find(running, wanted, between):
    """Reads lines up to the wanted one. All lines before it must match."""
    while (line := running.line()) != wanted:
        expect(line and re.fullmatch(between, line), f"got {line!r}, expected {wanted!r}")


def send(running, text):
    running.process.stdin.write(text.encode())
    running.process.stdin.flush()


def test_cycles_without_a_row(bench):
    """Of each kind of input: cycles before, between and after rows, also while a row is incomplete."""
    os.mkfifo(bench.place / "pipe")
    for name, form in (("-", "csv"), ("-", "jsonl"), ("pipe", "csv"), ("fifo://pipe", "jsonl"),
                       ("unix-listen://in", "csv"), ("unix-listen://in", "jsonl")):
        told = [] if "://" in name else ["--format", form]
        address = f"{name}?{SHORT}" + (f"&format={form}" if "://" in name else "")
        running = bench.start("hold", "--input", address, *told, "--output", "-")
        if name == "-":
            put = lambda text: send(running, text)
        elif "pipe" in name:
            pipe = (bench.place / "pipe").open("wb", buffering=0)
            put = lambda text: pipe.write(text.encode())
        else:
            peer = dial(bench.place / "in")
            put = lambda text: peer.sendall(text.encode())
        row = (lambda value: f"{value}\n") if form == "csv" else (lambda value: f'{{"x":{value}}}\n')
        out = (lambda quiet, total: f"{quiet},{total}") if form == "csv" or "://" in name else (
            lambda quiet, total: f'{{"quiet":{quiet},"sum":{total}}}')
        put("x\n" if form == "csv" else "")
        if out(0, 0) == "0,0":
            same(running.line(), "quiet,sum")
        find(running, out("true", 0), "")
        put(row(1) + row(2))
        find(running, out("false", 1), re.escape(out("true", 0)))
        same(running.line(), out("false", 3))
        find(running, out("true", 3), "")
        put(row(45)[:-2])
        for _ in range(2):
            same(running.line(), out("true", 3))
        put(row(45)[-2:])
        find(running, out("false", 48), re.escape(out("true", 3)))
        running.signal(signal.SIGTERM)
        same(running.end()[0::2], (143, ""))


def test_rows_in_time(bench):
    """A long period changes nothing, and the run ends with its input."""
    (bench.place / "rows").write_text(csv("x", range(1, 2001)))
    wanted = "quiet,sum\n" + "".join(f"false,{k * (k + 1) // 2}\n" for k in range(1, 2001))
    running = bench.start("hold", "--input", "unix-listen://in?timeout=1h&silent=stale")
    peer = dial(bench.place / "in")
    peer.sendall((bench.place / "rows").read_bytes())
    peer.close()
    same(running.end(), (0, wanted, ""))
    with (bench.place / "rows").open() as rows:
        done = subprocess.run([bench.program("hold"), "--input", "-?timeout=1h&silent=stale"], cwd=bench.place,
                              stdin=rows, capture_output=True, text=True)
    same((done.returncode, done.stdout, done.stderr), (0, wanted, ""))


def test_peers_that_come_and_go(bench):
    """Without a peer, too, nothing comes. Silence does not lengthen the time for a connection."""
    running = bench.start("hold", "--input", f"unix-listen://in?reconnect&{SHORT}")
    for before, after in ((0, 1), (1, 3)):
        peer = dial(bench.place / "in")
        peer.sendall(f"x\n{after - before}\n".encode())
        if before == 0:
            same(running.line(), "quiet,sum")
        find(running, f"false,{after}", f"true,{before}")
        peer.close()
        find(running, f"true,{after}", "")
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)
    port = free_port()
    running = bench.start("hold", "--input", f"tcp://127.0.0.1:{port}?reconnect&retry=0.2&{SHORT}", "--output", "y.csv")
    status, _, err = running.end()
    expect(status == 1 and "cannot connect" in err and "(tried for 0.2 s)" in err, err)


def test_damage_and_silence(bench):
    """Silence within a record with a line end, after a blank line, and beside rows that are not valid."""
    running = bench.start("hold", "--input", f"-?{SHORT}", "--on-bad-row", "skip", "--bad-rows", "bad")
    send(running, 'x,note\n1,a\n2,"b')
    same(running.line(), "quiet,sum")
    find(running, "false,1", "true,0")
    find(running, "true,1", "")
    send(running, '\nc"\n')
    find(running, "false,3", "true,1")
    send(running, "\n")
    for _ in range(2):
        same(running.line(), "true,3")
    send(running, "4,d\n?\n")
    find(running, "false,7", "true,3")
    find(running, "true,7", "")
    running.process.stdin.close()
    running.process.stdin = None
    same(running.end()[0], 0)
    same((bench.place / "bad").read_text(), "\n?\n")
    running = bench.start("hold", "--input", f"-?{SHORT}")
    send(running, "x\n")
    for line in ("quiet,sum", "true,0", "true,0"):
        same(running.line(), line)
    send(running, "?\n")
    status, out, err = running.end()
    cycle = out.count("true,0") + 2
    expect(status == 1 and f"<stdin>:2:1: cycle {cycle}: column 'x': '?' is not an f64" in err, out, err)


def test_kept_cells_and_flags(bench):
    """The cells of --keep are empty, and flags that --missing absent derives are false."""
    absent = ["--missing", "absent", "--keep", "day", "--keep", "at"]
    running = bench.start("flag", "--input", f"-?{SHORT}", *absent)
    send(running, "day,x,at\nmo,1,8\n")
    same(running.line(), "day,at,quiet,there,y")
    find(running, "mo,8,false,true,1", ",,true,false,")
    find(running, ",,true,false,", "")
    send(running, "tu,,9\n")
    find(running, "tu,9,false,false,", ",,true,false,")
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)
    running = bench.start("flag", "--input", f"-?{SHORT}", "--format", "jsonl", *absent)
    nothing = '{"day":null,"at":null,"quiet":true,"there":false,"y":null}'
    send(running, '{"x":1,"day":"mo","at":8}\n')
    find(running, '{"day":"mo","at":8,"quiet":false,"there":true,"y":1}', re.escape(nothing))
    find(running, nothing, "")
    running.signal(signal.SIGINT)
    same(running.end()[0], 130)
    # With nan, a missing value of a row that came is NaN.
    for form, row in (("csv", "x,z\n,1\n"), ("jsonl", '{"x":null}\n')):
        running = bench.start("hold", "--input", "-?timeout=1h&silent=stale", "--format", form, "--missing", "nan")
        running.process.stdin.write(row.encode())
        status, out, err = running.end()
        expect(status == 0 and "nan" in out.lower(), out, err)


def test_state_in_silence(bench):
    """A state that is saved in silence continues, --stats-every and --cycles count the cycles, tasks do the same."""
    (bench.place / "hold.rml").write_text(PROGRAMS["hold"])
    subprocess.run([bench.rmlc, "build", "hold.rml", "--parallel", "-o", "tasks"], cwd=bench.place, check=True)
    for name in ("hold", "tasks"):
        command = [bench.program(name) if name == "hold" else "./tasks", "--quiet", "--input", f"-?{SHORT}",
                   "--save-every", "20ms", "--save", "s", "--stats-every", "20ms"]
        with (bench.place / "rows").open("w") as to, (bench.place / "said").open("w") as errors:
            process = subprocess.Popen(command, cwd=bench.place, stdin=subprocess.PIPE, stdout=to, stderr=errors)
        process.stdin.write(b"x\n5\n")
        process.stdin.flush()
        until(lambda: "false,5" in (bench.place / "rows").read_text(), "the row is written")

        def is_saved():
            if not (bench.place / "s").exists():
                return False
            done = subprocess.run([bench.program("hold"), "--load", "s", "--input", "unix-listen://no?format=jsonl&" + SHORT,
                                   "--cycles", "1"], cwd=bench.place, capture_output=True, text=True)
            return done.returncode == 0 and done.stdout == "quiet,sum\ntrue,5\n"

        until(is_saved, "the state has the row")
        until(lambda: re.search(r"^rows [1-9]\d*, ", (bench.place / "said").read_text(), re.MULTILINE), "cycles count")
        process.kill()
        process.wait()
        process.stdin.close()
        (bench.place / "s").unlink()


def test_two_inputs(bench):
    """Each input has its own period; a cycle has the rows that came."""
    running = bench.start("pair", "--input", "x=unix-listen://x?timeout=20ms&silent=a&format=jsonl",
                          "--input", "y=unix-listen://y?timeout=20ms&silent=b&format=jsonl")
    same([running.line() for _ in range(2)], ["p,q", "true,true"])
    peer = dial(bench.place / "x")
    peer.sendall(b'{"x":1}\n')
    find(running, "false,true", "true,true")
    other = dial(bench.place / "y")
    other.sendall(b'{"y":1}\n')
    find(running, "true,false", "true,true")
    peer.close()
    other.close()
    running.kill()


def test_timer_between_messages(bench):
    """A message begins a cycle, and so does a tick."""
    running = bench.start("beat", "--input", "-?silent=stale", "--input", "tick=timer://20ms", "--stats")
    send(running, "x\n")
    same(running.line(), "beat,quiet,n")
    find(running, "true,true,0", "")
    send(running, "1\n2\n")
    count = 0
    while count < 2:
        line = running.line()
        tick, quiet, number = line.split(",")
        # A cycle has a tick, a message or both.
        expect((tick, quiet) != ("false", "true"), line)
        count += quiet == "false"
        same(number, str(count))
    find(running, "true,true,2", "")
    running.process.stdin.close()
    running.process.stdin = None
    status, _, err = running.end()
    expect(status == 0 and re.search(r"^missed ticks     \d+$", err, re.MULTILINE), err)
    # With a slow timer, each message is a cycle. After a signal, rows that have arrived are still computed.
    running = bench.start("beat", "--input", "unix-listen://in?silent=stale", "--input", "tick=timer://1h")
    peer = dial(bench.place / "in")
    peer.sendall(b"x\n1\n2\n")
    same([running.line() for _ in range(3)], ["beat,quiet,n", "false,false,1", "false,false,2"])
    peer.sendall(b"3\n")
    peer.close()
    same(running.end(), (0, "false,false,3\n", ""))


def test_refused(bench):
    (bench.place / "x.csv").write_text(csv("x", [1]))
    listen = "unix-listen://in?"
    for program, arguments, text in (
            ("hold", [f"{listen}timeout=0s&silent=stale"], "the timeout '0s': must be from 1ms to 365d"),
            ("hold", [f"{listen}timeout=5&silent=stale"], "the timeout '5' is not a duration: give a number and a unit"),
            ("hold", [f"{listen}timeout&silent=stale"], "'timeout' needs a value"),
            ("hold", [f"{listen}timeout=5s"], "timeout: add silent=NAME, the Boolean input that is true when nothing"),
            ("hold", [f"{listen}silent=stale"], "silent=stale: the time after which a cycle begins without a row is missing"),
            ("hold", [f"{listen}timeout=5s&silent=stal"], "the node has no input 'stal'; did you mean 'stale'?"),
            ("hold", [f"{listen}timeout=5s&silent=x"], "'x' is f64 (clock base on not stale); it must be a bool"),
            ("hold", ["x.csv?timeout=5s&silent=stale"], "the rows of a file are all there"),
            ("hold", ["x.csv?timeout=5s"], "the rows of a file are all there"),
            ("hold", [f"x={listen}timeout=5s&silent=stale", "stale=x.csv"], "another --input gives 'stale'"),
            ("hold", [f"{listen}timeout=5s&silent=stale", "--key", "m"], "--key: 'unix-listen://in' has silent=stale: "),
            ("hold", [f"{listen}timeout=5s&silent=stale", "--resume", "s", "--output", "y.csv"], "--resume: 'unix-listen://in' has"),
            ("hold", ["-?timeout=5s&silent=stale", "--format", "chron"], "only rows of CSV and JSON lines are waited for"),
            ("hold", ["-?timeout=5s&silent=stale", "--epochs", "2"], "'-' is a live input, whose rows come once"),
            ("sum", ["timer://1s?silent=x"], "'silent' has no meaning here"),
            ("flag", [f"{listen}timeout=5s&silent=stale"],
             "'m' (clock base) would have no value in a cycle in which nothing came; declare it `m: bool when not stale`"),
            ("beat", [f"{listen}timeout=5s&silent=stale", "tick=timer://1s"], "a timer begins cycles without a row already"),
            ("pair", ["x=unix-listen://x?timeout=5s&silent=a", "y=unix-listen://y?silent=b"], "silent=b: the time after which")):
        told = []
        for argument in arguments:
            told += [argument] if argument.startswith("--") or (told and told[-1].startswith("--") and told[-1] != "--input"
                                                               ) else ["--input", argument]
        status, out, err = bench.run(program, *told)
        expect(status == 2 and text in err and out == "", arguments, status, err)
        expect(not (bench.place / "in").exists() and not (bench.place / "y.csv").exists(), arguments)


main(sys.modules[__name__])
