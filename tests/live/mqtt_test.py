"""Rows through a broker: order, acknowledgement, restarts, refusals, TLS.

mqtt_test.py RMLC [NAME]
"""

import json
import signal
import subprocess
import sys
import time

from broker import MOSQUITTO, Broker, Client
from common import PATIENCE, PROGRAMS, accept, expect, free_port, listener, main, same

BUILD_OPTIONS = ["--mqtt"]
PROGRAMS["stale"] = ("node main(stale: bool, x: f64 when not stale, m: i32 when not stale)"
                     " -> (quiet: bool, k: i32 when not stale, y: f64 when not stale) quiet = stale; k = m; y = x;")


def value(x):
    return json.dumps({"x": x})


def test_messages_are_rows(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/"
        running = bench.start("sum", "--input", url + "plant/x", "--output", url + "plant%20two/sum")
        broker.has_said("Sending SUBACK")
        client = Client(broker.port)
        client.subscribe("plant two/sum")
        total = 0
        for k in range(200):
            client.publish("plant/x", value(k))
            total += k
            same(client.receive(), ("plant two/sum", f'{{"sum":{total}}}', False))
        running.signal(signal.SIGINT)
        same(running.end(), (130, "", ""))


def test_rows_without_header(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/"
        running = bench.start("two", "--input", url + "in?format=csv", "--output", url + "out?format=csv&retain&qos=2&client=two",
                              "--cycles", "2")
        broker.has_said("Sending SUBACK")
        client = Client(broker.port)
        client.publish("in", "0.5,1,2")
        client.publish("in", "1.5, 3, 4\n")
        same(running.end(), (0, "", ""))
        client.subscribe("out")
        same(client.receive(), ("out", "3,4,5", True))
        running = bench.start("two", "--input", url + "in?format=csv")
        broker.has_said("Sending SUBACK", 3)
        client.publish("in", "1,2")
        status, _, err = running.end()
        same((status, err), (1, f"{url}in:1: cycle 0: the row has 2 fields, expected 3\n"))


def test_silence(bench):
    """Cycles without a message, also while the broker is away. A later message arrives all the same."""
    with Broker(bench.place) as broker:
        address = f"mqtt://localhost:{broker.port}/plant/+/x?timeout=20ms&silent=stale&client=silent&topic_key=m"
        running = bench.start("stale", "--input", address)
        broker.has_said("Sending SUBACK")
        client = Client(broker.port)
        same([running.line() for _ in range(2)], ["quiet,k,y", "true,,"])
        for text in ("7", "8"):
            client.publish(f"plant/{text}/x", value(2))
            while (line := running.line()) != f"false,{text},2":
                same(line, "true,,")
        broker.stop()
        broker.start()
        client = Client(broker.port)
        broker.has_said("Sending SUBACK", 2)
        client.publish("plant/9/x", value(3))
        while (line := running.line()) != "false,9,3":
            same(line, "true,,")
        running.signal(signal.SIGINT)
        same(running.end()[0], 130)


def test_several_topics(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/"
        running = bench.start("sum", "--input", url + "plant/+/x?qos=0", "--cycles", "3")
        broker.has_said("Sending SUBACK")
        client = Client(broker.port)
        for k, topic in enumerate(["plant/1/x", "plant/1/y", "plant/2/x", "plant/x", "plant/3/x"]):
            client.publish(topic, value(k))
        same(running.end(), (0, "sum\n0\n2\n6\n", ""))


def test_key_of_the_topic(bench):
    """The level of the topic at the wildcard is the key, or the value of an input."""
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/"
        client = Client(broker.port)
        for count, (topics, form, key) in enumerate((
                ("plant/+/x?key=m", "jsonl", "m"), ("plant/+/x?topic_key=m", "csv", "m"), ("plant/%23?topic_key=m", "jsonl", "m"),
                ("plant/+/x?key=m", "jsonl", "m:i64"))):
            levels = ["7", "-12", "7"] if ":" in key else ["7", 'a b,"c', "7", "x1", "007", "true", "0"]
            running = bench.start("sum", "--key", key, "--input", f"{url}{topics}&format={form}", "--output", "-", "--format",
                                  "jsonl", "--cycles", str(len(levels)))
            broker.has_said("Sending SUBACK", count + 1)
            sums, expected = {}, []
            for k, level in enumerate(levels):
                client.publish(f"plant/{level}/x", "%d" % k if form == "csv" else ' { "x": %d }' % k)
                name = level + ("/x" if "%23" in topics else "")
                sums[name] = sums.get(name, 0) + k
                expected.append({"m": int(name) if ":" in key else name, "sum": sums[name]})
            status, out, err = running.end()
            same((status, [json.loads(line) for line in out.splitlines()], err), (0, expected, ""))
        running = bench.start("two_inputs", "--input", url + "plant/+/x?key=n", "--cycles", "1")
        broker.has_said("Sending SUBACK", 5)
        client.publish("plant/30/x", '{"x": 0.5}')
        same(running.end(), (0, "y\n30.5\n", ""))
        for topics, text in (
                ("plant/x?key=m", "'topic_key' needs a topic with one wildcard"),
                ("+/+/x?topic_key=m", "'topic_key' needs a topic with one wildcard"),
                ("plant/+/x?key=k", "topic_key=k: this address has no input 'k'")):
            status, _, err = bench.run("sum", "--key", "m", "--input", url + topics)
            expect(status == 2 and text in err, err)


def test_malformed_message(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/x"
        for k, (payload, problem) in enumerate((
                ('{"x": 1', ":3:7: cycle 2: not valid JSON"), ('{"y": 1}', ":3: cycle 2: no value for 'x'"),
                ("", ": cycle 2: message 3 is empty"), ('{\n "x": "one"\n}', ":3: cycle 2: 'x': a string is not f64"))):
            running = bench.start("sum", "--input", url)
            broker.has_said("Sending SUBACK", k + 1)
            client = Client(broker.port)
            for text in (value(1), '{\n "x": 2\n}', payload, value(3)):
                client.publish("x", text)
            client.close()
            status, out, err = running.end()
            same((status, out), (1, "sum\n1\n3\n"))
            expect(err.startswith(url + problem), err)


def test_nothing_is_lost_behind_a_slow_consumer(bench):
    cycles = 100000
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/n"
        results = listener()
        consumer = bench.start("forth", "--input", url + "?client=consumer", "--output",
                               f"tcp://localhost:{results.getsockname()[1]}", "--cycles", str(cycles))
        peer = accept(results)
        broker.has_said("Sending SUBACK")
        producer = bench.start("count", "--cycles", str(cycles), "--output", url)
        time.sleep(2)  # waits while no peer reads rows
        rest, expected, largest = b"", -1, 0.0
        while part := peer.recv(4096):
            lines = (rest + part).split(b"\n")
            rest = lines.pop()
            for line in lines:
                same(line, b"m" if expected < 0 else str(expected + 1).encode())
                expected += 1
            if expected % 50 == 0:
                largest = max([largest, *(p.resident_mib() for p in (producer, consumer) if p.process.poll() is None)])
                time.sleep(0.001)
        same((expected, rest), (cycles, b""))
        expect(largest < 64, largest, "MiB")
        same((producer.end(), consumer.end()), ((0, "", ""), (0, "", "")))


def test_broker_stops_and_starts_again(bench):
    cycles = 8000
    for qos in (1, 2):
        place = bench.place / str(qos)
        place.mkdir()
        with Broker(place) as broker:
            url = f"mqtt://localhost:{broker.port}/n?qos={qos}"
            consumer = bench.start("forth", "--input", url + "&client=consumer")
            broker.has_said("Sending SUBACK")
            producer = bench.start("count", "--cycles", str(cycles), "--output", url + "&client=producer")
            seen = []
            same(consumer.line(), "m")
            for limit in (1000, 3000, cycles):
                while len(set(seen)) < limit:
                    line = consumer.line()
                    expect(line, "the consumer ends")
                    seen.append(int(line))
                if limit < cycles:
                    broker.stop()
                    time.sleep(0.3)
                    broker.start()
            same(sorted(set(seen)), list(range(1, cycles + 1)))
            same(producer.end(), (0, "", ""))
            consumer.signal(signal.SIGTERM)
            same(consumer.end()[0], 143)


def test_broker_is_killed_and_comes_back(bench):
    """Without a session, messages that are published while the broker is down are lost; later
    ones are not."""
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/x"
        running = bench.start("sum", "--input", url)
        broker.has_said("Sending SUBACK")
        same(running.process.poll(), None)
        total = 0
        for k in range(1, 4):
            client = Client(broker.port)
            client.publish("x", value(k))
            total += k
            if k == 1:
                same(running.line(), "sum")
            same(running.line(), str(total))
            broker.stop(signal.SIGKILL)
            client.socket.close()
            time.sleep(0.3)
            broker.start()
            broker.has_said("Sending SUBACK", k + 1)
        running.signal(signal.SIGTERM)
        same(running.end(10), (143, "", ""))


def test_rows_without_acknowledgement(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/n?qos=0"
        client = Client(broker.port)
        client.subscribe("n", 0)
        producer = bench.start("count", "--cycles", "2000", "--output", url)
        same([client.receive()[1] for _ in range(2000)], [f'{{"n":{k}}}' for k in range(2000)])
        same(producer.end(), (0, "", ""))


def test_broker_goes_for_good(bench):
    broker = Broker(bench.place)
    url = f"mqtt://localhost:{broker.port}/x"
    consumer = bench.start("sum", "--input", url + "?retry=0.5")
    producer = bench.start("count", "--cycles", "100000000", "--output", f"{url}2?retry=0.5")
    broker.has_said("Sending SUBACK")
    broker.has_said("'x2'")
    client = Client(broker.port)
    client.publish("x", value(4))
    same([consumer.line(), consumer.line()], ["sum", "4"])
    broker.stop(signal.SIGKILL)
    status, out, err = consumer.end()
    same((status, out), (1, ""))
    expect(err.startswith(f"{url}: cycle 1: ") and "(tried for 0.5 s)" in err, err)
    status, _, err = producer.end()
    expect(status == 1 and err.startswith(f"{url}2: ") and "(tried for 0.5 s); " in err and " acknowledged, " in err, err)
    status, _, err = bench.run("sum", "--input", url + "?retry=0")
    expect(status == 1 and err.startswith(url + ": ") and "refused" in err, err)


def test_signal_while_waiting(bench):
    with Broker(bench.place) as broker:
        running = bench.start("sum", "--input", f"mqtt://localhost:{broker.port}/x")
        broker.has_said("Sending SUBACK")
        running.signal(signal.SIGINT)
        same(running.end(10)[0], 130)
        # The URL of a broker that has stopped answering.
        url = f"mqtt://localhost:{broker.port}/x2"
        running = bench.start("count", "--cycles", "100000000", "--output", url + "?linger=0.5")
        broker.has_said("'x2'")
        broker.process.send_signal(signal.SIGSTOP)
        running.settle()
        running.signal(signal.SIGINT)
        status, _, err = running.end(10)
        broker.process.send_signal(signal.SIGCONT)
        expect(status == 1 and "interrupted, and the broker did not accept everything within 0.5 s; " in err, err)
    running = bench.start("sum", "--input", f"mqtt://localhost:{free_port()}/x")
    running.settle()
    running.signal(signal.SIGTERM)
    same(running.end(10)[0], 143)


def test_passwords(bench):
    secrets = bench.place / "passwords"
    secrets.write_text("me:the secret\n")
    subprocess.run(["mosquitto_passwd", "-U", secrets], check=True)
    secrets.chmod(0o600)
    (bench.place / "acl").write_text("user me\ntopic read in\ntopic write out\n")
    with Broker(bench.place, "allow_anonymous false", f"password_file {secrets}",
                f"acl_file {bench.place / 'acl'}") as broker:
        (bench.place / "right").write_text("the secret\n")
        (bench.place / "wrong").write_text("a guess\n")
        url = f"mqtt://me@localhost:{broker.port}/"
        rows = ("count", "--cycles", "3", "--output")
        same(bench.run(*rows, url + "out?password_file=right"), (0, "", ""))
        same(bench.run(*rows, url + "out?password_env=WORD", env={"WORD": "the secret"}), (0, "", ""))
        same(bench.run(*rows, url + "out", env={"RML_MQTT_PASSWORD": "the secret"}), (0, "", ""))
        begin = time.monotonic()
        for address in ("out?password_file=wrong", "out", "out?version=3"):
            status, _, err = bench.run(*rows, url + address)
            expect(status == 1 and err.startswith(url + "out: the broker refused the connection: "), err)
        status, _, err = bench.run("sum", "--input", url + "in?password_file=wrong")
        expect(status == 1 and "the broker refused the connection: " in err, err)
        expect(time.monotonic() - begin < 10, "a refusal took", time.monotonic() - begin)
        status, _, err = bench.run(*rows, url + "other?password_file=right&version=5")
        expect(status == 1 and err.startswith(url + "other: the broker rejected a row: Not authorized; 0 rows were ack"),
               err)
        status, _, err = bench.run(*rows, url + "out?password_file=none")
        same((status, err), (1, url + "out: cannot read the password from 'none': No such file or directory\n"))


def make_certificates(place):
    """Two certificate authorities. The first has signed the certificates of a broker and of a
    client."""

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=place, check=True, capture_output=True)

    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout",
                f"{name}.key", "-out", f"{name}.crt")
    for name, subject in (("server", "localhost"), ("client", "me")):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject}", "-keyout", f"{name}.key", "-out",
                f"{name}.csr")
        (place / "names").write_text(f"subjectAltName=DNS:{subject}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days",
                "2", "-extfile", "names", "-out", f"{name}.crt")


def test_tls(bench):
    place = bench.place
    make_certificates(place)
    settings = (f"cafile {place}/ca.crt", f"certfile {place}/server.crt", f"keyfile {place}/server.key",
                "allow_anonymous true")
    (place / "plain").mkdir()
    with Broker(place, *settings) as broker, Broker(place / "plain") as plain:
        url = f"mqtts://localhost:{broker.port}/n"
        consumer = bench.start("forth", "--input", url + "?cafile=ca.crt", "--cycles", "500")
        broker.has_said("Sending SUBACK")
        same(bench.run("count", "--cycles", "500", "--output", url + "?cafile=ca.crt"), (0, "", ""))
        same(consumer.end(), (0, "m\n" + "".join(f"{k + 1}\n" for k in range(500)), ""))
        begin = time.monotonic()
        for address in (url + "?cafile=other.crt", url, f"mqtts://127.0.0.1:{broker.port}/n?cafile=ca.crt"):
            status, _, err = bench.run("count", "--cycles", "3", "--output", address)
            expect(status == 1 and ("certificate verify failed" in err or "verification" in err), address, err)
        status, _, err = bench.run("sum", "--input", url + "?cafile=other.crt")
        expect(status == 1 and err.startswith(url + ": ") and "certificate verify failed" in err, err)
        # A client without TLS on a TLS port, and a client with TLS on a plain port.
        for address in (url.replace("mqtts", "mqtt"), f"mqtts://localhost:{plain.port}/n?cafile=ca.crt"):
            status, out, err = bench.run("sum", "--input", address + ("&" if "?" in address else "?") + "retry=0")
            same((status, out), (1, ""))
            expect(err.startswith(address.split("?")[0] + ": "), address, err)
        expect(time.monotonic() - begin < 10, "a refusal took", time.monotonic() - begin)
        same(bench.run("count", "--cycles", "3", "--output",
                       f"mqtts://127.0.0.1:{broker.port}/n?cafile=ca.crt&insecure"), (0, "", ""))
        status, _, err = bench.run("count", "--cycles", "3", "--output", url + "?cafile=none.crt")
        same((status, err), (1, f"{url}: cannot read 'none.crt': No such file or directory\n"))
    (place / "strict").mkdir()
    with Broker(place / "strict", *settings, "require_certificate true") as broker:
        url = f"mqtts://localhost:{broker.port}/n?cafile=ca.crt"
        same(bench.run("count", "--cycles", "3", "--output", url + "&cert=client.crt&key=client.key"), (0, "", ""))
        status, _, err = bench.run("count", "--cycles", "3", "--output", url + "&retry=0.5")
        same(status, 1)
        expect("certificate" in err or "alert" in err, err)


def test_run_in_memory(bench):
    with Broker(bench.place) as broker:
        url = f"mqtt://localhost:{broker.port}/n"
        client = Client(broker.port)
        client.subscribe("n")
        bench.program("count")
        subprocess.run([bench.rmlc, "run", bench.folder / "count.rml", "--cycles", "3", "--output", url], check=True)
        same([client.receive()[1] for _ in range(3)], [f'{{"n":{k}}}' for k in range(3)])


def test_a_name_of_two_families(bench):
    """`localhost` is ::1 first on most machines, and many brokers listen at 127.0.0.1 only."""
    hosts = bench.place / "hosts"
    hosts.write_text("::1 localhost\n127.0.0.1 localhost\n")
    inside = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"',
              str(hosts)]
    if subprocess.run([*inside, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        print("left out: names cannot be given other addresses here")
        return
    bench.program("count")
    with Broker(bench.place) as broker:
        client = Client(broker.port)
        client.subscribe("n")
        for retry in "", "?retry=0":
            url = f"mqtt://localhost:{broker.port}/n{retry}"
            subprocess.run([*inside, bench.folder / "count", "--cycles", "3", "--output", url], check=True, env=bench.env,
                           timeout=PATIENCE)
            same([client.receive()[1] for _ in range(3)], [f'{{"n":{k}}}' for k in range(3)])
        broker.stop()
        url = f"mqtt://localhost:{broker.port}/n?retry=0"
        done = subprocess.run([*inside, bench.folder / "count", "--cycles", "3", "--output", url], env=bench.env,
                              capture_output=True, text=True, timeout=PATIENCE)
        same((done.returncode, done.stderr.count("Connection refused")), (1, 1))


def test_no_library(bench):
    """Without libmosquitto, the message appears only if a stream needs it; everything else
    works."""
    bench.program("count")
    (bench.place / "libmosquitto.so.1").write_text("no library")
    env = dict(bench.env, LD_LIBRARY_PATH=str(bench.place))
    url = "mqtt://localhost/n"
    for command in ([bench.folder / "count"], [bench.rmlc, "run", bench.folder / "count.rml"]):
        done = subprocess.run([*command, "--quiet", "--cycles", "1"], env=env, capture_output=True, text=True)
        same((done.returncode, done.stdout, done.stderr), (0, "n\n0\n", ""))
        done = subprocess.run([*command, "--quiet", "--cycles", "1", "--output", url], env=env, capture_output=True,
                              text=True)
        same((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))
        expect(done.stderr.startswith(f"{url}: MQTT needs the library libmosquitto, 1.6 or later, which cannot be "
                                      f"used: {bench.place}/libmosquitto.so.1: "), done.stderr)
        expect(done.stderr.endswith("; install it (Debian: the package libmosquitto1)\n"), done.stderr)


def test_program_without_mqtt(bench):
    source = bench.folder / "plain.rml"
    source.write_text("node main() -> (n: i32) n = 0 fby n + 1;")
    subprocess.run([bench.rmlc, "build", source, "-o", bench.folder / "plain"], check=True)
    done = subprocess.run([bench.folder / "plain", "--cycles", "1", "--output", "mqtt://localhost/n"],
                          capture_output=True, text=True)
    same((done.returncode, done.stderr), (2, "'mqtt://localhost/n': this program was built without MQTT; rmlc build "
                                             "--mqtt adds it\n"))


if not MOSQUITTO:
    print("skipped: there is no mosquitto on this machine")
    sys.exit(77)
main(sys.modules[__name__])
