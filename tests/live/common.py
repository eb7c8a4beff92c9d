"""Runs programs with live streams, and peers for them. Tests are functions whose names begin with
test_.

Tests mostly wait, so several of them run at the same time.
"""

import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from processes import catches, waits

# Seconds for every wait of a test; generous, because the machine may be busy.
PATIENCE = 60
# Number of tests that run at the same time.
BESIDE = 8
PROGRAMS = {
    "sum": "node main(x: f64) -> (sum: f64) sum = (0.0 fby sum) + x;",
    "two": "node main(x: f64, k: i32[2]) -> (y: f64, m: i32[2]) y = 2.0 * x; m = k + 1;",
    "count": "node main() -> (n: i32) n = 0 fby n + 1;",
    "truth": "node main(t: bool) -> (n: i32) n = (0 fby n) + (if t then 1 else 0);",
    "forth": "node main(n: i32) -> (m: i32) m = n + 1;",
    "back": "node main(m: i32) -> (n: i32) n = m - 1;",
    "wide": "node main() -> (n: i32, x: f64[100]) n = 0 fby n + 1; x = broadcast_to(cast(f64, n), [100]);",
    "two_inputs": "node main(n: i32, x: f64) -> (y: f64) y = cast(f64, n) + x;",
    "ticks": "node main(t: bool, x: f64) -> (n: i32) n = (0 fby n) + (if t then 1 else 0);",
    "maybe": "node main(x: f64) -> (high: bool, y: f64 when high) high = x > 2.0; y = x when high;",
}
# Options for single programs, besides those of the bench.
BUILD_OPTIONS = {}


class Running:
    """A running program, which is killed when the test ends."""

    def __init__(self, command, cwd, env, stdout):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(part) for part in command], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=stdout,
            stderr=self.errors)

    def line(self):
        return self.process.stdout.readline().decode().rstrip("\n")

    def end(self, patience=PATIENCE):
        """Returns exit status, standard output and standard error."""
        out, _ = self.process.communicate(timeout=patience)
        self.errors.seek(0)
        return self.process.returncode, (out or b"").decode(), self.errors.read().decode()

    def signal(self, number):
        """Sends a signal once the program handles it; an earlier signal would end the program."""
        if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            until(lambda: self.process.poll() is not None or catches(self.process.pid, number), "signals are caught")
        self.process.send_signal(number)

    def settle(self):
        """Waits until the program itself waits for input or a peer."""
        until(lambda: waits(self.process.pid), "the program waits")

    def holds(self, path):
        """Returns the program's descriptors of the file."""
        file, found = path.stat(), []
        for one in sorted(pathlib.Path(f"/proc/{self.process.pid}/fd").iterdir()):
            with contextlib.suppress(FileNotFoundError):  # the descriptor may be closed meanwhile
                if os.path.samestat(one.stat(), file):
                    found.append(one.name)
        return found

    def resident_mib(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().split("\n"):
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) / 1024
        return 0.0

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Bench:
    """The folder of one test, next to the folder of programs that all tests share."""

    building = threading.Lock()

    def __init__(self, rmlc, folder, place, build_options):
        self.rmlc, self.folder, self.place = pathlib.Path(rmlc).resolve(), folder, place
        self.running = []
        self.env = dict(os.environ)
        self.build_options = build_options

    def program(self, name):
        """Builds the program at the first request."""
        binary = self.folder / name
        with self.building:
            if not binary.exists():
                source = self.folder / (name + ".rml")
                source.write_text(PROGRAMS[name])
                subprocess.run([self.rmlc, "build", source, "-o", binary, *self.build_options,
                                *BUILD_OPTIONS.get(name, [])], check=True)
        return binary

    def start(self, name, *arguments, env=None, stdout=subprocess.PIPE, quiet=True):
        told = ["--quiet"] if quiet else []
        running = Running([self.program(name), *told, *arguments], self.place, dict(self.env, **(env or {})), stdout)
        self.running.append(running)
        return running

    def run(self, name, *arguments, env=None):
        running = self.start(name, *arguments, env=env)
        return running.end()

    def stop(self):
        for running in self.running:
            running.kill()
        self.running = []


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(w) for w in what))


def same(got, wanted):
    expect(got == wanted, f"got\n{str(got)[:2000]!r}\nexpected\n{str(wanted)[:2000]!r}")


def until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not condition():
        expect(time.monotonic() < end, "never:", what)
        time.sleep(0.02)


PORTS = itertools.count(13 * os.getpid())


def free_port():
    """Returns a port outside of the range for outgoing connections. Otherwise a client that
    connects before the server listens could connect to itself or to another process."""
    for number in itertools.islice(PORTS, 100):
        port = 20_000 + number % 12_000
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass
    raise RuntimeError("no free port below those of peers")


def listener(place=None, port=0):
    """Listens at a path, or on loopback."""
    server = socket.socket(socket.AF_UNIX if place else socket.AF_INET)
    if place:
        server.bind(str(place))
    else:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
    server.listen(4)
    server.settimeout(PATIENCE)
    return server


def listens(port):
    """True if a process listens there over IPv4. The listener does not notice the check."""
    sockets = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(fields[1].endswith(f":{port:04X}") and fields[3] == "0A" for fields in sockets)


def accept(server):
    peer, _ = server.accept()
    peer.settimeout(PATIENCE)
    return peer


def dial(place=None, port=0):
    """Connects as soon as a process listens."""
    end = time.monotonic() + PATIENCE
    while True:
        peer = socket.socket(socket.AF_UNIX if place else socket.AF_INET)
        peer.settimeout(PATIENCE)
        try:
            peer.connect(str(place) if place else ("127.0.0.1", port))
            return peer
        except OSError:
            peer.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def read_all(peer):
    parts = []
    while part := peer.recv(1 << 16):
        parts.append(part)
    return b"".join(parts).decode()


def read_lines(peer, count):
    """Reads a number of lines. Returns them, and the bytes after them."""
    data = b""
    while data.count(b"\n") < count:
        part = peer.recv(1 << 16)
        expect(part, "the stream ends after", data)
        data += part
    lines = data.decode().split("\n")
    return lines[:count], "\n".join(lines[count:])


def csv(name, values):
    return "".join(line + "\n" for line in [name, *map(str, values)])


def reset(peer):
    """Closes the connection with an error instead of an end."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def passes(name, test, bench):
    """Runs the test and prints its result."""
    begin = time.monotonic()
    try:
        test(bench)
        print(f"{name}: {time.monotonic() - begin:.1f} s\n", end="", flush=True)
        return True
    except Exception:  # reports any exception, so that the other tests continue
        said = []
        for running in bench.running:
            running.kill()
            running.errors.seek(0)
            said.append("its program said: " + running.errors.read().decode() + "\n")
        print(f"FAILED {name}\n{traceback.format_exc()}{''.join(said)}", end="", flush=True)
        return False
    finally:
        bench.stop()


def run_tests(module, folder, only):
    def run(name):
        with tempfile.TemporaryDirectory() as place:
            bench = Bench(sys.argv[1], folder, pathlib.Path(place), getattr(module, "BUILD_OPTIONS", []))
            return passes(name, getattr(module, name), bench)

    names = [name for name in sorted(vars(module)) if name.startswith("test_") and only in name]
    with concurrent.futures.ThreadPoolExecutor(BESIDE) as pool:
        results = list(pool.map(run, names))
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    sys.exit(0 if all(results) else 1)


def main(module):
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with tempfile.TemporaryDirectory() as folder:
        run_tests(module, pathlib.Path(folder), sys.argv[2] if len(sys.argv) > 2 else "")
