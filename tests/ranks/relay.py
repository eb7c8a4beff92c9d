"""Simulates two machines by namespaces, with a wire between them that delays and loses packets,
and runs mpirun over both.

Each machine has a network with one TUN device, which is made here and moved into it. The process
that holds the descriptor is the wire. mpirun runs on the first machine. Processes on the second
machine also have a host name and process numbers of their own. Everything that runs on the
machines ends with them and leaves nothing behind. Needs root, iproute2 and /dev/net/tun.
"""
import collections
import fcntl
import ipaddress
import os
import pathlib
import random
import select
import shutil
import signal
import struct
import subprocess
import threading
import time

NET = ipaddress.ip_network("10.77.0.0/24")
ADDRESSES = [str(NET[1]), str(NET[2])]
DEVICE = "wire"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000

# mpirun openmpi|mpich RANKS COMMAND…, like the script beside this file, but started on the first
# machine, with ranks on both alternately.
MPIRUN = """#!/bin/sh
set -eu
mpi=$1
ranks=$2
shift 2
export TMPDIR={folder}
case $mpi in
  openmpi)
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    exec ip netns exec {machines[0]} mpirun.openmpi --oversubscribe --mca plm_rsh_agent {agent} --mca pml ob1 \\
      --mca btl tcp,self --mca btl_tcp_if_include {net} --mca oob_tcp_if_include {net} --leave-session-attached \\
      --host {addresses[0]}:"$ranks",{addresses[1]}:"$ranks" --map-by node -n "$ranks" "$@"
    ;;
  mpich)
    export UCX_TLS=tcp,self UCX_NET_DEVICES={device}
    exec ip netns exec {machines[0]} mpirun.mpich ${{MPICH_OPTIONS:-}} -launcher rsh -launcher-exec {agent} \\
      -iface {device} -hosts {addresses[0]},{addresses[1]} -n "$ranks" "$@"
    ;;
esac
"""

# agent ADDRESS COMMAND…, in place of ssh. Processes that the command leaves behind end with it.
AGENT = """#!/bin/sh
if [ "$1" != {addresses[1]} ]; then echo "$1 is not the second machine" >&2; exit 1; fi
shift
exec ip netns exec {machines[1]} unshare --uts --pid --fork --kill-child --mount-proc \\
  sh -c "echo {machines[1]} > /proc/sys/kernel/hostname; $*"
"""


class Unavailable(Exception):
    """Raised if a required program or right is missing."""


class Wire(threading.Thread):
    """Forwards packets from either end after `delay` seconds. Drops one packet in `of` from
    each end, drawn by `seed`."""

    def __init__(self, ends, delay, of, seed):
        super().__init__(daemon=True)
        self.ends, self.delay, self.of = ends, delay, of
        self.draws = [random.Random(f"{seed} {end}") for end in range(len(ends))]
        self.taken, self.unlucky = [0] * len(ends), [0] * len(ends)
        self.packets = self.lost = 0
        self.waiting, self.over = collections.deque(), threading.Event()

    def take(self, end):
        packet = os.read(self.ends[end], 65536)
        if packet[0] >> 4 != 4:
            return  # drops IPv6 packets, by which the kernel searches for neighbours
        number = self.taken[end] % self.of
        self.taken[end] += 1
        self.packets += 1
        if number == 0:
            self.unlucky[end] = self.draws[end].randrange(self.of)
        if number == self.unlucky[end]:
            self.lost += 1
        else:
            self.waiting.append((time.monotonic() + self.delay, self.ends[1 - end], packet))

    def run(self):
        while not self.over.is_set():
            patience = self.waiting[0][0] - time.monotonic() if self.waiting else 1
            for ready in select.select(self.ends, [], [], min(max(patience, 0), 0.1))[0]:
                self.take(self.ends.index(ready))
            while self.waiting and self.waiting[0][0] <= time.monotonic():
                _, end, packet = self.waiting.popleft()
                os.write(end, packet)


def _run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


class Machines:
    """A context with `wire`, and `mpirun`, a program in `folder` with the arguments of
    tests/ranks/mpirun."""

    def __init__(self, folder, delay, of, seed):
        self.folder, self.how = pathlib.Path(folder), (delay, of, seed)
        self.names = [f"rml-{os.getpid()}-{k}" for k in range(2)]
        self.made, self.ends, self.wire = [], [], None

    def __enter__(self):
        try:
            if os.geteuid() != 0:
                raise Unavailable("network namespaces need root")
            if not shutil.which("ip"):
                raise Unavailable("ip is not installed (apt install iproute2)")
            _run("unshare", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "true")
            for name, address in zip(self.names, ADDRESSES):
                self.make(name, address)
            self.wire = Wire(self.ends, *self.how)
            self.wire.start()
            words = {"folder": self.folder, "agent": self.folder / "agent", "net": NET, "addresses": ADDRESSES,
                     "machines": self.names, "device": DEVICE}
            for name, text in (("agent", AGENT), ("mpirun", MPIRUN)):
                (self.folder / name).write_text(text.format(**words), encoding="utf-8")
                (self.folder / name).chmod(0o755)
            self.mpirun = self.folder / "mpirun"
            return self
        except BaseException:
            self.__exit__()
            raise

    def make(self, name, address):
        _run("ip", "netns", "add", name)
        self.made.append(name)
        try:
            end = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
            self.ends.append(end)
            fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
        except OSError as error:
            raise Unavailable(f"/dev/net/tun: {error.strerror}") from error
        _run("ip", "link", "set", name, "netns", name, "name", DEVICE)
        _run("ip", "-n", name, "address", "add", f"{address}/{NET.prefixlen}", "dev", DEVICE)
        for device in ("lo", DEVICE):
            _run("ip", "-n", name, "link", "set", device, "up")

    def processes(self):
        """All processes on the machines."""
        return [int(pid) for name in self.made for pid in _run("ip", "netns", "pids", name).split()]

    def __exit__(self, *_):
        end = time.monotonic() + 10
        while (left := self.processes()) and time.monotonic() < end:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)
        if self.wire:
            self.wire.over.set()
            self.wire.join()
        for descriptor in self.ends:
            os.close(descriptor)
        for name in self.made:
            _run("ip", "netns", "delete", name)
        self.made, self.ends = [], []
