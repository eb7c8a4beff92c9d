"""A mosquitto on loopback for one test, and a client that shares no code with the tested
program."""

import getpass
import shutil
import signal
import socket
import struct
import subprocess


from common import PATIENCE, expect, free_port, until

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")


class Broker:
    """Keeps its sessions in a file, so that it can be stopped and started again."""

    def __init__(self, place, *settings, port=None):
        self.place = place / "broker"
        self.place.mkdir()
        self.port = port or free_port()
        self.log = self.place / "log"
        self.settings = settings or ("allow_anonymous true",)
        self.process = None
        self.start()

    def start(self):
        (self.place / "conf").write_text("\n".join([
            f"listener {self.port} 127.0.0.1", f"user {getpass.getuser()}", "persistence true",
            f"persistence_location {self.place}/", "max_queued_messages 0", "set_tcp_nodelay true", "connection_messages true", "log_type all",
            f"log_dest file {self.log}", *self.settings, ""]))
        self.process = subprocess.Popen([MOSQUITTO, "-c", self.place / "conf"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)

        def answers():
            expect(self.process.poll() is None, "the broker ends:", self.log.read_text() if self.log.exists() else "")
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        until(answers, "the broker answers")

    def stop(self, number=signal.SIGTERM):
        if self.process:
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
            self.process = None

    def has_said(self, text, times=1):
        until(lambda: self.log.read_text().count(text) >= times, f"the broker says {text}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGKILL)


class Packets:
    """Reads and writes the packets of an MQTT connection."""

    @staticmethod
    def text(value):
        data = value.encode()
        return struct.pack(">H", len(data)) + data

    def send(self, kind, body):
        length, size = b"", len(body)
        while True:
            size, digit = divmod(size, 128)
            length += bytes([digit | (0x80 if size else 0)])
            if not size:
                break
        self.socket.sendall(bytes([kind]) + length + body)

    def take(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            expect(part, "the peer went")
            data += part
        return data

    def packet(self):
        kind, length, shift = self.take(1)[0], 0, 0
        while True:
            digit = self.take(1)[0]
            length |= (digit & 127) << shift
            shift += 7
            if digit < 128:
                return kind, self.take(length)


class Client(Packets):
    """MQTT 3.1.1, as far as the tests need it."""

    def __init__(self, port, name="tester", keep=False, user=None, password=None):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = 0
        flags = (0 if keep else 2) | (0x80 if user else 0) | (0x40 if password else 0)
        body = self.text("MQTT") + bytes([4, flags]) + struct.pack(">H", 0) + self.text(name)
        for part in (user, password):
            body += self.text(part) if part else b""
        self.send(0x10, body)
        kind, answer = self.packet()
        expect(kind == 0x20 and answer[1] == 0, "the broker refuses:", answer)

    def subscribe(self, topic, qos=1):
        self.number += 1
        self.send(0x82, struct.pack(">H", self.number) + self.text(topic) + bytes([qos]))
        kind, _ = self.packet()
        expect(kind == 0x90, "no answer to a subscription, but", kind)

    def publish(self, topic, payload, retain=False):
        self.number = self.number % 65535 + 1
        payload = payload.encode() if isinstance(payload, str) else payload
        self.send(0x32 | (1 if retain else 0), self.text(topic) + struct.pack(">H", self.number) + payload)
        kind, _ = self.packet()
        expect(kind == 0x40, "no acknowledgement, but", kind)

    def receive(self):
        """Returns topic, payload, and whether the broker stored the message for this session."""
        while True:
            kind, body = self.packet()
            if kind & 0xF0 != 0x30:
                continue
            length = struct.unpack(">H", body[:2])[0]
            topic, rest = body[2:2 + length].decode(), body[2 + length:]
            if kind & 6:
                self.send(0x40, rest[:2])
                rest = rest[2:]
            return topic, rest.decode(), bool(kind & 1)

    def close(self):
        self.send(0xE0, b"")
        self.socket.close()


class Served(Packets):
    """A connection of a program to a fake broker, whose answers the test chooses."""

    def __init__(self, server):
        self.socket, _ = server.accept()
        self.socket.settimeout(PATIENCE)

    def connect(self, refusal=0):
        kind, body = self.packet()
        expect(kind == 0x10, "no connection, but", kind)
        self.version = body[6]
        self.send(0x20, bytes([0, refusal]) + (b"\0" if self.version == 5 else b""))
        return self

    def grant(self, qos):
        kind, body = self.packet()
        expect(kind == 0x82, "no subscription, but", kind)
        self.send(0x90, body[:2] + bytes([qos]))
        return self

    def deliver(self, topic, payload, number=1):
        self.send(0x32, self.text(topic) + struct.pack(">H", number) + payload.encode())

    def row(self):
        """A row of an output, with quality of service 1: its number, the payload, and whether
        it is a repetition."""
        kind, body = self.packet()
        expect(kind & 0xF6 == 0x32, "no row, but", kind)
        begin = 2 + struct.unpack(">H", body[:2])[0]
        return body[begin:begin + 2], body[begin + (3 if self.version == 5 else 2):].decode(), bool(kind & 8)

    def acknowledge(self, number, refusal=None):
        self.send(0x40, number + (b"" if refusal is None else bytes([refusal, 0])))

    def close(self):
        self.socket.close()
