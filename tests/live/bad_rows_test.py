"""Rows that are not valid, with --on-bad-row and --bad-rows: files, peers, messages, keys, full disks.

bad_rows_test.py RMLC [NAME]
"""

import resource
import signal
import subprocess
import sys

from broker import MOSQUITTO, Broker, Client
import common
from common import csv, dial, expect, main, same

BUILD_OPTIONS = ["--mqtt"]
SKIP = ["--on-bad-row", "skip", "--bad-rows", "bad"]
PROGRAMS_OF_TEST = {
    "sampled": "node main(on: bool, x: f64 when on) -> (n: i32) n = 0 fby n + 1;",
    "pair": "node main(x: f64, z: f64) -> (y: f64) y = x + z;",
}


def write(bench, name, text):
    (bench.place / name).write_text(text)
    return name


def bad(bench):
    return (bench.place / "bad").read_text()


def test_csv(bench):
    write(bench, "x.csv", 'x\n1\nten\n2\n3,4\n"5\n\n6"\n\n7\n,\n8\n')
    status, out, err = bench.run("sum", "--input", "x.csv", "--stats", *SKIP)
    same((status, out), (0, csv("sum", [1, 3, 10, 18])))
    same(bad(bench), 'ten\n3,4\n"5\n\n6"\n\n,\n')
    expect("bad rows         5\n" in err, err)
    # Without the option the first of them ends the run.
    status, out, err = bench.run("sum", "--input", "x.csv")
    same((status, out, err), (1, csv("sum", [1]), "x.csv:3:1: cycle 1: column 'x': 'ten' is not an f64\n"))
    # The summary quotes the first.
    running = bench.start("sum", "--input", "x.csv", "--on-bad-row", "skip", quiet=False)
    first = "x.csv:3:1: cycle 1: column 'x': 'ten' is not an f64: the row is 'ten'\n"
    same(running.end(), (0, csv("sum", [1, 3, 10, 18]),
                         f"skipped a bad row: {first}5 bad rows were skipped; the first: {first}"))


def test_jsonl(bench):
    write(bench, "x.jsonl", '{"x": 1}\n{"x": }\n\n{"x": "two"}\nx\n[1]\n{"x": 3}\n{}\n{"x": 4}')
    same(bench.run("sum", "--input", "x.jsonl", *SKIP), (0, csv("sum", [1, 4, 8]), ""))
    same(bad(bench), '{"x": }\n{"x": "two"}\nx\n[1]\n{}\n')


def test_values_against_their_clock(bench):
    write(bench, "x.jsonl", '{"on": true, "x": 1}\n{"on": true}\n{"on": false, "x": 2}\n{"on": false}\n')
    same(bench.run("sampled", "--input", "x.jsonl", *SKIP), (0, csv("n", [0, 1]), ""))
    same(bad(bench), '{"on": true}\n{"on": false, "x": 2}\n')


def test_rows_of_one_cycle_leave_together(bench):
    write(bench, "x.csv", csv("x", [1, "a", 3, 4, "b"]))
    write(bench, "z.jsonl", "".join(f'{{"z": {z}}}\n' for z in (10, 20, '"c"', 40, '"d"')))
    arguments = ["--input", "x=x.csv", "--input", "z=z.jsonl"]
    same(bench.run("pair", *arguments, *SKIP), (0, csv("y", [11, 44]), ""))
    same(bad(bench), 'a\n{"z": "c"}\nb\n{"z": "d"}\n')
    write(bench, "z.jsonl", '{"z": 10}\n')
    status, _, err = bench.run("pair", *arguments, *SKIP)
    same((status, err), (1, "z.jsonl ends after 1 row, but x.csv continues at cycle 1: input files must have "
                            "equally many rows\n"))


def test_kept_cells(bench):
    write(bench, "x.csv", "day,x\nmo,1\ntu,?\nwe,3\n")
    same(bench.run("sum", "--input", "x.csv", "--keep", "day", *SKIP), (0, "day,sum\nmo,1\nwe,4\n", ""))


def test_keys(bench):
    write(bench, "x.csv", "m,x\na,1\nb,?\n,2\na,3\nb,4\n")
    for key in ("m", "m:text"):
        same(bench.run("sum", "--key", key, "--input", "x.csv", *SKIP), (0, "m,sum\na,1\na,4\nb,4\n", ""))
        same(bad(bench), "b,?\n,2\n")
    write(bench, "x.jsonl", '{"m": "a", "x": 1}\n{"m": "b"}\n{"m": "c", "x": 2}\n{"m": "b", "x": 3}\n')
    same(bench.run("sum", "--key", "m", "--input", "x.jsonl", "--format", "csv", *SKIP),
         (0, "m,sum\na,1\nc,2\nb,3\n", ""))
    # A key that only bad rows have is no key.
    write(bench, "x.csv", "m,x\n" + "".join(f"k{k},{k if k % 3 == 0 else '?'}\n" for k in range(20_000)) + "k1,5\n")
    status, out, err = bench.run("sum", "--key", "m", "--input", "x.csv", "--stats", "--save", "s", *SKIP)
    same((status, out), (0, "m,sum\n" + "".join(f"k{k},{k}\n" for k in range(0, 20_000, 3)) + "k1,5\n"))
    expect("keys             6668\n" in err, err)
    write(bench, "x.csv", "m,x\nk2,1\nk3,1\nk1,1\n")
    same(bench.run("sum", "--key", "m", "--input", "x.csv", "--load", "s"), (0, "m,sum\nk2,1\nk3,4\nk1,6\n", ""))
    write(bench, "x.csv", "m,x\n1,1\ntwo,2\n1,3\n")
    status, out, err = bench.run("sum", "--key", "m:i32", "--input", "x.csv", "--stats", *SKIP)
    same((status, out, bad(bench)), (0, "m,sum\n1,1\n1,4\n", "two,2\n"))
    expect("bad rows         1\n" in err, err)


def test_resumed_run_has_the_same_files(bench):
    rows = [str(k) if k % 7 else f"bad {k}" for k in range(1, 200)]
    write(bench, "all.csv", csv("x", rows))
    same(bench.run("sum", "--input", "all.csv", "--output", "all.out.csv", *SKIP), (0, "", ""))
    expected, every = (bench.place / "all.out.csv").read_text(), bad(bench)
    same(every, "".join(row + "\n" for row in rows if row.startswith("bad")))
    for first in (1, 7, 8, 60, 199):
        resume = ["--input", "all.csv", "--output", f"{first}.csv", "--resume", f"{first}.state", *SKIP]
        (bench.place / "bad").write_text("an earlier run\n")
        same(bench.run("sum", "--cycles", str(first), *resume), (0, "", ""))
        same(bench.run("sum", *resume), (0, "", ""))
        same(((bench.place / f"{first}.csv").read_text(), bad(bench)), (expected, every))
    # The file of bad rows must have those before the state.
    resume = ["--input", "all.csv", "--output", "60.csv", "--resume", "60.state", *SKIP]
    (bench.place / "bad").write_text("")
    status, _, err = bench.run("sum", *resume)
    expect(status == 1 and err.startswith("cannot continue 'bad': it has 0 bytes, but "), err)


def test_loaded_run_appends(bench):
    write(bench, "x.csv", csv("x", [1, "a"]))
    same(bench.run("sum", "--input", "x.csv", "--save", "s", *SKIP), (0, csv("sum", [1]), ""))
    write(bench, "x.csv", csv("x", [2, "b"]))
    same(bench.run("sum", "--input", "x.csv", "--load", "s", *SKIP), (0, csv("sum", [3]), ""))
    same(bad(bench), "a\nb\n")
    same(bench.run("sum", "--input", "x.csv", *SKIP), (0, csv("sum", [2]), ""))
    same(bad(bench), "b\n")


def limited(command, cwd, bytes_of_file):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_of_file, bytes_of_file))

    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, preexec_fn=limit, timeout=60)
    return done.returncode, done.stdout, done.stderr


def test_full_disk_saves_the_state(bench):
    """The limit of file sizes takes the place of a full disk: the file holds 81 rows of 100 bytes."""
    rows = [k if k % 2 else "?" * 99 for k in range(1, 301)]
    write(bench, "x.csv", csv("m,x", [f"a,{row}" for row in rows]))
    for key in ([], ["--key", "m"]):
        command = [bench.program("sum"), "--quiet", "--input", "x.csv", "--save", "s", *SKIP, *key]
        (bench.place / "bad").unlink(missing_ok=True)
        status, out, err = limited(command, bench.place, 8192)
        row = "a," + "?" * 99
        taken = 8192 // (len(row) + 1)
        same((status, bad(bench)), (1, (row + "\n") * taken))
        expect(err.startswith("cannot write 'bad': File too large; the run stops after the bad row '" + row), err)
        total = sum(range(1, 2 * taken + 2, 2))
        same(out.splitlines()[-1].split(",")[-1], str(total))
        write(bench, "rest.csv", "m,x\na,1000\n")
        status, out, _ = bench.run("sum", "--input", "rest.csv", "--load", "s", *key)
        same((status, out.splitlines()[-1].split(",")[-1]), (0, str(total + 1000)))


def test_refused_options(bench):
    write(bench, "x.csv", "x\n1\n")
    for arguments, text in (
            (["--bad-rows", "b"], "--bad-rows: add --on-bad-row skip; otherwise the run stops"),
            (["--on-bad-row", "drop"], "--on-bad-row: drop not in {stop,skip}"),
            (["--on-bad-row", "skip", "--bad-rows", "x.csv"], "--bad-rows x.csv: the file is an input"),
            (["--on-bad-row", "skip", "--bad-rows", "/dev/null"], "--bad-rows /dev/null: not a regular file"),
            (["--on-bad-row", "skip", "--bad-rows", "no/b"], "cannot write 'no/b'"),
            (["--on-bad-row", "skip", "--format", "chron"], "--on-bad-row skip: no input is CSV or JSON lines")):
        source = [] if "chron" in arguments else ["--input", "x.csv"]
        status, out, err = bench.run("sum", *source, *arguments)
        expect(status in (1, 2) and err.startswith(text) and out == "", arguments, err)
    expect(not (bench.place / "b").exists())


def test_socket(bench):
    """A bad line, a line that is too long, a peer with another header: the peers after them are served."""
    running = bench.start("sum", "--input", "unix-listen://x?reconnect&line=1024", *SKIP)
    for lines, sums in ((["x", "1", "two", "3"], ["sum", "1", "4"]), (["z", "5"], []),
                        (["x", "?" * 100_000, "6"], ["10"])):
        peer = dial(bench.place / "x")
        peer.sendall("".join(line + "\n" for line in lines).encode())
        peer.close()
        same([running.line() for _ in sums], sums)
    running.signal(signal.SIGINT)
    same(running.end(), (130, "", ""))
    lines = bad(bench).splitlines()
    same(lines[:2], ["two", "z"])
    expect(len(lines) == 3 and set(lines[2]) == {"?"} and len(lines[2]) >= 1024, lines)
    # Without the option each of them ends the run.
    for line, text in (("two", "x:3:1: cycle 1: column 'x': 'two' is not an f64"),
                       ("?" * 100_000, "unix-listen://x: cycle 1: a line of more than 1024 bytes")):
        running = bench.start("sum", "--input", "unix-listen://x?line=1024")
        peer = dial(bench.place / "x")
        peer.sendall(f"x\n1\n{line}\n".encode())
        status, out, err = running.end()
        expect((status, out) == (1, "sum\n1\n") and text in err, err)
        peer.close()


def test_network_of_tasks(bench):
    binary = bench.place / "tasks"
    write(bench, "sum.rml", "node main(x: f64) -> (sum: f64) sum = (0.0 fby sum) + x;")
    subprocess.run([bench.rmlc, "build", "sum.rml", "--parallel", "-o", binary], cwd=bench.place, check=True)
    write(bench, "x.csv", csv("x", [1, "a", 2, "b", 3]))
    done = subprocess.run([binary, "--quiet", "--input", "x.csv", *SKIP], cwd=bench.place, capture_output=True, text=True)
    same((done.returncode, done.stdout, done.stderr, bad(bench)), (0, csv("sum", [1, 3, 6]), "", "a\nb\n"))


def test_messages(bench):
    if MOSQUITTO is None:
        return  # there is no mosquitto on this machine
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/x"
        for form, good, wrong in (("jsonl", '{"x": %d}', ['{"x": 1', "", "[]", "?" * 3000]),
                                  ("csv", "%d", ["one", "1,2", "?" * 3000, '"'])):
            running = bench.start("sum", "--input", f"{url}?format={form}&line=2000", "--cycles", "4", *SKIP)
            broker.has_said("Sending SUBACK", 1 if form == "jsonl" else 2)
            client = Client(broker.port)
            for k, message in enumerate(wrong):
                client.publish("x", message)
                client.publish("x", good % (k + 1))
            same(running.end(), (0, csv("sum", [1, 3, 6, 10]), ""))
            same(bad(bench), "".join(message[:4096] + "\n" for message in wrong))
            client.close()


common.PROGRAMS.update(PROGRAMS_OF_TEST)
main(sys.modules[__name__])
