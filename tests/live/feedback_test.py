"""Programs that feed each other: a row that needs no input of its cycle is written before these
inputs are read.

feedback_test.py RMLC [NAME]
"""

import itertools
import json
import os
import subprocess
import sys

from broker import MOSQUITTO, Broker
from common import BUILD_OPTIONS as OPTIONS_OF, PROGRAMS, Running, accept, expect, free_port, listener, main, read_all, same

BUILD_OPTIONS = ["--mqtt"]
CYCLES = 50
PROGRAMS.update({
    "plant": """node main(u: f64) -> (y: f64, seen: f64)
  v = 0.0 fby v + 0.1 * u;
  y = 1.0 fby y + 0.1 * v;
  seen = u;""",
    "controller": "node main(y: f64) -> (u: f64) u = -2.0 * y - 3.0 * (y - (y fby y));",
    "delayed": "node main(y: f64) -> (u: f64) u = 0.5 fby -2.0 * y;",
    # In odd cycles y is known before u; in the others it is not.
    "turns": """node main(u: f64) -> (y: f64)
  mine = false fby not mine;
  y = if mine then 2.0 * (0.0 fby u) else u;""",
    # The end of a segment looks ahead: y is written early, the rest at the end.
    "learner": """node main(u: f64, end: bool) -> (y: f64, rest: f64)
  y = 0.0 fby u + 1.0;
  rest = u + post_end(end, 0.0, rest);""",
    "risky": "node main(k: i32) -> (y: i32) d = 2 fby k; y = 12 / d;",
    # A parameter, memories on a slower clock, and a computed initial value.
    "gains": """node main(u: f64) -> (y: f64, seen: f64)
  gain = param(0.5);
  n = 0 fby n + 1;
  even = n % 2 == 0;
  v = 0.0 fby v + u;
  a = (0.0 fby a) + (v when even);
  y = (merge even a (-(v when not even))) + (exp(gain - 0.5) fby y) * gain;
  seen = u;""",
    # With --grain op, the memory is a ring between two tasks.
    "ring": """node main(u: f64) -> (y: f64, seen: f64)
  m = [[0.5, 0.25], [-0.25, 0.5]];
  v = zeros([2]) fby matmul(m, v) + [u, 1.0];
  y = sum(v);
  seen = u;""",
})
# The programs are also run as networks, in both grains.
NETWORKS = {"tasks": ["--grain", "stage"], "equations": ["--grain", "op"]}
for program in ("plant", "controller", "delayed", "gains", "ring", "risky", "learner"):
    for kind, options in NETWORKS.items():
        PROGRAMS[f"{program}_{kind}"] = PROGRAMS[program]
        OPTIONS_OF[f"{program}_{kind}"] = options
KINDS = ["", *("_" + kind for kind in NETWORKS)]


def closed_loop(control):
    y, v, rows = 1.0, 0.0, []
    for _ in range(CYCLES):
        rows.append(control(y))
        y, v = y + 0.1 * v, v + 0.1 * rows[-1]
    return rows


def controller():
    before = []

    def control(y):
        before.append(y)
        return -2.0 * y - 3.0 * (y - before[max(len(before) - 2, 0)])
    return control


def delayed():
    last = [0.5]

    def control(y):
        u, last[0] = last[0], -2.0 * y
        return u
    return control


def close_to(text, wanted):
    got = [float(row) for row in text.split()[1:]]
    same(len(got), len(wanted))
    expect(all(abs(a - b) < 1e-9 for a, b in zip(got, wanted)), got, wanted)


def circle(bench, plant_in, plant_out, control_in, control_out, name="controller", plant="plant", control_kind=""):
    """The side that leads ends after a number of cycles, then the other side ends. Both must
    report the same values."""
    other = bench.start(name + control_kind, "--input", control_in, "--output", control_out, "--cycles", CYCLES)
    running = bench.start(plant, "--input", plant_in, "--output", "y=" + plant_out, "--output", "seen=seen.csv")
    same(running.end(), (0, "", ""))
    same(other.end(), (0, "", ""))
    close_to((bench.place / "seen.csv").read_text(), closed_loop({"controller": controller, "delayed": delayed}[name]()))


def test_unix(bench):
    for name in ("controller", "delayed"):
        circle(bench, "unix-listen://u?format=jsonl", "unix://y?format=jsonl", "unix-listen://y?format=jsonl",
               "unix://u?format=jsonl", name)


def test_tcp(bench):
    to, back = free_port(), free_port()
    circle(bench, f"tcp-listen://:{back}?format=jsonl", f"tcp://127.0.0.1:{to}?format=jsonl",
           f"tcp-listen://:{to}?format=jsonl", f"tcp://127.0.0.1:{back}?format=jsonl")


def test_pipes(bench):
    for name in ("u", "y"):
        os.mkfifo(bench.place / name)
    circle(bench, "fifo://u?format=jsonl", "fifo://y?format=jsonl", "fifo://y?format=jsonl", "fifo://u?format=jsonl")


def test_networks(bench):
    """Networks on one side and on both, whichever leads."""
    for plant in KINDS:
        for control in KINDS:
            for name in ("controller", "delayed"):
                circle(bench, "unix-listen://u?format=jsonl", "unix://y?format=jsonl", "unix-listen://y?format=jsonl",
                       "unix://u?format=jsonl", name, "plant" + plant, control)
    to, back = free_port(), free_port()
    circle(bench, f"tcp-listen://:{back}?format=jsonl", f"tcp://127.0.0.1:{to}?format=jsonl",
           f"tcp-listen://:{to}?format=jsonl", f"tcp://127.0.0.1:{back}?format=jsonl", plant="plant_equations",
           control_kind="_equations")
    for name in ("u", "y"):
        os.mkfifo(bench.place / (name + "_pipe"))
    circle(bench, "fifo://u_pipe?format=jsonl", "fifo://y_pipe?format=jsonl", "fifo://y_pipe?format=jsonl",
           "fifo://u_pipe?format=jsonl", plant="plant_tasks", control_kind="_tasks")


def test_every_memory_is_found(bench):
    """The early rows are worked out here: on a slower clock, with a computed initial value, in
    a ring."""
    def of_gains():
        y = v = a = 0.0
        for cycle in range(13):
            a += v if cycle % 2 == 0 else 0.0
            y = (a if cycle % 2 == 0 else -v) + 0.5 * (y if cycle > 0 else 1.0)
            yield y
            v += cycle % 3 - 0.5

    def of_ring():
        p = q = 0.0
        for cycle in range(13):
            yield p + q
            p, q = 0.5 * p + 0.25 * q + cycle % 3 - 0.5, -0.25 * p + 0.5 * q + 1.0

    for (name, wanted), kind in itertools.product((("gains", list(of_gains())), ("ring", list(of_ring()))), KINDS):
        peer = Peer(bench, name + kind, "--output", "seen=seen.csv")
        for cycle in range(12):
            expect(abs(peer.receive() - wanted[cycle]) < 1e-9, name + kind, cycle)
            if cycle == 3:
                peer.nothing_comes()
            peer.send(u=cycle % 3 - 0.5)
        expect(abs(peer.receive() - wanted[12]) < 1e-9, name + kind)
        same(peer.end(), (0, "", ""))


def test_broker(bench):
    if not MOSQUITTO:
        return
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/"
        other = bench.start("controller", "--input", url + "y", "--output", url + "u", "--cycles", CYCLES)
        broker.has_said("Sending SUBACK")
        running = bench.start("plant", "--input", url + "u", "--output", "y=" + url + "y", "--output", "seen=seen.csv",
                              "--cycles", CYCLES)
        same(running.end(), (0, "", ""))
        same(other.end(), (0, "", ""))
        close_to((bench.place / "seen.csv").read_text(), closed_loop(controller()))


class Peer:
    """The other side of a program: it sends rows and checks the time at which rows arrive."""

    def __init__(self, bench, name, *arguments, ports=None, run=False, quiet=True):
        self.servers = [listener(port=port) for port in ports or (0, 0)]
        self.ports = [server.getsockname()[1] for server in self.servers]
        there, back = (f"tcp://127.0.0.1:{port}?format=jsonl" for port in self.ports)
        output = back if name.split("_")[0] in ("controller", "delayed", "turns", "risky") else "y=" + back
        command = ["--input", there, "--output", output, *arguments]
        if run:
            source = bench.place / (name + ".rml")
            source.write_text(PROGRAMS[name])
            command += ["--quiet"] if quiet else []
            self.running = Running([bench.rmlc, "run", source, *command], bench.place, bench.env, -1)
            bench.running.append(self.running)
        else:
            self.running = bench.start(name, *command, quiet=quiet)
        self.to, self.back = (accept(server) for server in self.servers)
        self.more = ""

    def send(self, **row):
        self.to.sendall((json.dumps(row) + "\n").encode())

    def receive(self):
        while "\n" not in self.more:
            part = self.back.recv(1 << 16).decode()
            expect(part, "the stream ends after", self.more)
            self.more += part
        line, self.more = self.more.split("\n", 1)
        return json.loads(line)["y"]

    def nothing_comes(self):
        same(self.more, "")
        self.back.settimeout(0.3)
        try:
            got = self.back.recv(1)
        except TimeoutError:
            got = b""
        self.back.settimeout(60)
        same(got, b"")

    def end(self):
        self.to.close()
        same(self.more + read_all(self.back), "")
        self.back.close()
        ended = self.running.end()
        for server in self.servers:
            server.close()
        return ended


def plants():
    """The plant as built, as run in memory, and as a network."""
    return [("plant", False), ("plant", True), *(("plant" + kind, False) for kind in KINDS[1:])]


def test_a_row_before_its_inputs(bench):
    for plant, run in plants():
        peer = Peer(bench, plant, "--output", "seen=seen.csv", run=run)
        same(peer.receive(), 1)
        peer.nothing_comes()
        peer.send(u=1)
        same(peer.receive(), 1)
        peer.send(u=1)
        expect(abs(peer.receive() - 1.01) < 1e-9)
        same(peer.end(), (0, "", ""))
        same((bench.place / "seen.csv").read_text(), "seen\n1\n1\n")


def test_no_row_more_than_cycles(bench):
    for kind in KINDS:
        peer = Peer(bench, "plant" + kind, "--output", "seen=seen.csv", "--cycles", "1")
        same(peer.receive(), 1)
        peer.send(u=1)
        same(peer.back.recv(1), b"")
        same(peer.end(), (0, "", ""))


def test_known_in_some_cycles(bench):
    peer = Peer(bench, "turns", run=True)
    for cycle in range(6):
        if cycle % 2 == 0:
            peer.nothing_comes()
            peer.send(u=cycle)
            same(peer.receive(), cycle)
        else:
            same(peer.receive(), 2 * (cycle - 1))
            peer.send(u=cycle)
    same(peer.end(), (0, "", ""))


def test_a_program_says_what_comes_late(bench):
    """Rows that are known early in some cycles only. Networks and executables do not write
    them early and report it."""
    for peer in (Peer(bench, "turns", "--parallel", run=True, quiet=False), Peer(bench, "turns", quiet=False)):
        peer.nothing_comes()
        peer.send(u=3)
        same(peer.receive(), 3)
        peer.nothing_comes()
        status, out, err = peer.end()
        same((status, out), (0, ""))
        expect(err.startswith("output 'y' may be known before the inputs of its cycle, but is written after them"), err)


def test_only_what_a_peer_may_wait_for_is_late(bench):
    """Nothing is reported if y goes to a file, is known from its inputs alone, or is written
    early."""
    source = "unix-listen://u?format=jsonl"
    for name, output in (("turns", "y.csv"), ("controller", "unix-listen://y?format=jsonl"),
                         ("delayed", "unix-listen://y?format=jsonl")):
        running = bench.start(name, "--input", source, "--output", output, "--cycles", 0, quiet=False)
        same(running.end(), (0, "", ""))


def test_show_lists_what_leads(bench):
    source = bench.place / "plant.rml"
    source.write_text(PROGRAMS["plant"])
    shown = subprocess.run([bench.rmlc, "show", "steps", source, "--parallel"], capture_output=True, text=True)
    expect(shown.stdout.endswith("\nbefore the inputs of a cycle\n  y\n"), shown.stdout, shown.stderr)


def test_what_waits_for_an_end_holds_nothing_back(bench):
    """Rows are written in order: y is early only if all rows before are complete, including
    `rest` of the segment."""
    for kind in ("run", *KINDS):
        run = kind == "run"
        peer = Peer(bench, "learner" + ("" if run else kind), "--output", "rest=rest.csv", run=run)
        same(peer.receive(), 0)
        peer.send(u=1, end=True)
        same(peer.receive(), 2)
        peer.send(u=2, end=True)
        same(peer.receive(), 3)
        peer.send(u=5, end=False)
        peer.nothing_comes()
        peer.send(u=6, end=True)
        same([peer.receive(), peer.receive()], [6, 7])
        same(peer.end(), (0, "", ""))
        same((bench.place / "rest.csv").read_text(), "rest\n1\n2\n11\n6\n")


def test_the_state_knows_what_has_left(bench):
    for plant, run in plants():
        peer = Peer(bench, plant, "--output", "seen=seen.csv", "--save", "state", run=run)
        same(peer.receive(), 1)
        peer.send(u=1)
        same(peer.receive(), 1)
        same(peer.end(), (0, "", ""))
        peer = Peer(bench, plant, "--output", "seen=seen.csv", "--load", "state", ports=peer.ports, run=run)
        peer.nothing_comes()
        peer.send(u=1)
        expect(abs(peer.receive() - 1.01) < 1e-9)
        same(peer.end(), (0, "", ""))
        # Other outputs have not received the row.
        peer = Peer(bench, plant, "--output", "seen=seen.csv", "--load", "state", run=run)
        same(peer.receive(), 1)
        same(peer.end(), (0, "", ""))
        same((bench.place / "seen.csv").read_text(), "seen\n1\n")


def test_what_fails_fails_in_its_cycle(bench):
    """Division by zero in the next cycle, which is not requested, or is."""
    for comes, kind in itertools.product((False, True), KINDS):
        peer = Peer(bench, "risky" + kind)
        same(peer.receive(), 6)
        peer.send(k=0)
        peer.nothing_comes()
        if comes:
            peer.send(k=1)
        status, out, err = peer.end()
        same((status, out), (1 if comes else 0, ""))
        expect(("division by zero" in err) == comes, err)


if __name__ == "__main__":
    main(sys.modules[__name__])
