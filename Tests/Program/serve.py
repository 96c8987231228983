"""`binnacle serve`, read by iio_info, iio_attr and iio_readdev of libiio and by pylibiio: the samples are those of `convert` and of
`samples`; and what clients may do to it that are slow, are killed, or send what they like."""
import csv
import io
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading
import time

import harness
from harness import BINARY, PATIENCE, ROOT, check

PORT = 30431
WALK = ROOT / "Tests/Fixtures/phyphox_walk"
TRACES = [str(WALK / f"{name}.csv") for name in ("Accelerometer", "Magnetometer", "Gyroscope")]
#: Raw steps in one unit of `convert`: those of µT are hundredths of steps in a Gauss.
STEPS = {"accel": 1e6, "magn": 1e5, "anglvel": 1e7}

# The clients of libiio 0.24 know one port alone: in a network of its own it is free, and nothing else reaches it.
if "BINNACLE_OWN_NETWORK" not in os.environ:
    os.environ["BINNACLE_OWN_NETWORK"] = "yes"
    user = [] if os.geteuid() == 0 else ["-r"]
    inner = ["sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, *sys.argv]
    if subprocess.run(["unshare", *user, "-n", "true"], capture_output=True).returncode == 0:
        os.execvp("unshare", ["unshare", *user, "-n", *inner])
    print("note  this user may make no network: the port has to be free")


def client(*command, status=0, **options):
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE, **options)
    if status is not None and done.returncode != status:
        check(False, " ".join(map(str, command)), f"status {done.returncode}: {done.stderr.decode()[:300]}")
    return done


def read(device, *options, channels=(), status=None):
    return client("iio_readdev", "-u", "ip:127.0.0.1", *options, device, *channels, status=status)


class Server:
    """`binnacle serve`, and what it has written on standard error."""

    def __init__(self, *arguments):
        self.process = harness.start(BINARY, "serve", *arguments, stderr=subprocess.PIPE, text=True)
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stderr), daemon=True).start()
        harness.wait_for("the port", lambda: "IIO clients connect to" in self.text or self.process.poll() is not None)

    text = property(lambda self: "".join(self.lines))

    def memory(self):
        """The greatest resident memory so far in MB."""
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", text)[1]) / 1024

    def end(self):
        return harness.end(self.process)


class Raw:
    """A client that sends what it likes."""

    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", PORT), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)
        return self

    def line(self):
        return self.file.readline().decode().strip()

    def ask(self, text):
        return self.send(text.encode() + b"\r\n").line()

    def close(self):
        self.file.close()
        self.socket.close()


def converted(*traces):
    """The samples of each type as rows of a stamp and three raw values, by way of `binnacle convert`."""
    text = client(BINARY, "convert", *traces, "-o", "-").stdout.decode()
    rows = list(csv.reader(io.StringIO(text)))
    found = {}
    for place, name in enumerate(rows[0]):
        match = re.search(r"\.([agm])x_", name)
        if not match:
            continue
        kind = {"a": "accel", "g": "anglvel", "m": "magn"}[match[1]]
        found[kind] = [
            (int(row[0]), *[raw(v, kind) for v in row[place:place + 3]])
            for row in rows[1:] if row[place]]
    return found


def raw(text, kind):
    """The nearest step of a sample, which is a number of 32 bits; halves are rounded away from zero."""
    value = struct.unpack("<f", struct.pack("<f", float(text)))[0] * STEPS[kind]
    return int(abs(value) + 0.5) * (1 if value >= 0 else -1)


def scans(rows, axes=(0, 1, 2), stamp=True):
    """The bytes that the kernel would have for samples."""
    data = bytearray()
    for time_ns, *values in rows:
        data += struct.pack(f"<{len(axes)}i", *[values[a] for a in axes])
        if stamp:
            data += b"\0" * (-len(data) % 8) + struct.pack("<q", time_ns)
    return bytes(data)


def recordings():
    wanted = converted(*TRACES)
    check(set(wanted) == set(STEPS), "convert has three kinds", {k: len(v) for k, v in wanted.items()})
    server = Server("--speed", "max", *TRACES)
    info = client("iio_info", "-u", "ip:127.0.0.1").stdout.decode()
    for kind, owner in [("accel", "accelerometer"), ("anglvel", "gyroscope"), ("magn", "magnetometer")]:
        rows = wanted[kind]
        name = f"{owner}-{kind}"
        check(f"{name} (label: {owner}) (buffer capable)" in info, f"iio_info shows {name}")
        attribute = client("iio_attr", "-u", "ip:127.0.0.1", "-c", name, f"{kind}_x", "raw").stdout.split()
        check(attribute == [str(rows[0][1]).encode()], f"iio_attr reads the first x of {name}", attribute)
        whole = read(name, "-b", "256")
        check(whole.stdout == scans(rows), f"all {len(rows)} scans of {name} are those of convert, to the last byte")
        check(b"No data available" in whole.stderr, "and their end is told")
        part = read(name, "-b", "50", "-s", "200", channels=(f"{kind}_x", f"{kind}_z"), status=0).stdout
        check(part == scans(rows[:200], (0, 2), stamp=False), f"and so are those of two axes of {name}")
        scale = client("iio_attr", "-u", "ip:127.0.0.1", "-c", name, f"{kind}_x", "scale").stdout
        unit = 100 if kind == "magn" else 1
        check(abs(float(scale) * STEPS[kind] * unit - 1) < 1e-12, f"{name} has a scale of IIO's unit", scale.decode().strip())
    for program in (library_polls, library_reads):
        program(wanted["accel"])
    server.end()
    # A stretch of it, at the recording's own pace and at that of 20, for clients at the same time.
    with harness.temporary_folder() as folder:
        short = pathlib.Path(folder, "short.csv")
        short.write_text("".join((WALK / "Accelerometer.csv").read_text().splitlines(True)[:120]))
        rows = converted(short)["accel"]
        for speed in ("1", "20"):
            server = Server("--speed", speed, str(short))
            outputs = []
            threads = [threading.Thread(target=lambda: outputs.append(read("accelerometer-accel", "-b", "30").stdout)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            check(outputs == [scans(rows)] * 3, f"three clients read a recording at {speed} times its speed")
            server.end()
        server = Server("--speed", "max", "--loop", str(short))
        looped = read("accelerometer-accel", "-b", "64", "-s", "640", status=0).stdout
        stamps = [time_ns for *_, time_ns in struct.iter_unpack("<iii4xq", looped)]
        check(looped.startswith(scans(rows)) and len(stamps) == 640 and sorted(set(stamps)) == stamps,
              "a recording in a loop begins again, with stamps that rise")
        server.end()


def packed(data):
    """A frame of zstd with blocks as they are (RFC 8878)."""
    blocks = [data[place:place + 131_072] for place in range(0, len(data), 131_072)]
    heads = [struct.pack("<I", (number == len(blocks)) | len(block) << 3)[:3] for number, block in enumerate(blocks, 1)]
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(head + block for head, block in zip(heads, blocks))


def compressed():
    with harness.temporary_folder() as folder:
        path = pathlib.Path(folder, "Accelerometer.csv.zst")
        path.write_bytes(packed(pathlib.Path(TRACES[0]).read_bytes()))
        rows = converted(TRACES[0])["accel"]
        server = Server("--speed", "max", str(path))
        clients = [Raw() for _ in range(3)]
        for one in clients:
            check(one.ask("OPEN iio:device0 10 0000000f") == "0", "a client opens a compressed recording")
            check(one.ask("READBUF iio:device0 24") == "24" and one.line() == "0000000f" and one.file.read(24) == scans(rows[:1]), "and reads it")
        files = {os.readlink(entry) for entry in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()}
        spools = [name for name in files if name.endswith(" (deleted)") and "/binnacle-" in name]
        check(len(spools) == 1, "it is unpacked once for all clients", spools)
        server.end()


def library_polls(rows):
    import iio
    context = iio.Context("ip:127.0.0.1")
    device = context.find_device("accelerometer-accel")
    for row in rows[:3]:
        values = [int(device.find_channel(f"accel_{axis}").attrs["raw"].value) for axis in "xyz"]
        check(values == list(row[1:]), "pylibiio polls one sample after the other", values)
    rate = float(device.attrs["sampling_frequency"].value)
    check(95 < rate < 105, "the rate is that of the stamps", rate)
    try:
        device.attrs["sampling_frequency"].value = "50"
        check(False, "pylibiio may not write")
    except OSError as error:
        check(error.errno == 30, "what pylibiio writes is refused", str(error))


def library_reads(rows):
    import iio
    context = iio.Context("ip:127.0.0.1")
    device = context.find_device("accelerometer-accel")
    for channel in device.channels:
        channel.enabled = True
    buffer = iio.Buffer(device, 100)
    data = b""
    for _ in range(4):
        buffer.refill()
        data += buffer.read()
    check(data == scans(rows[:400]), "pylibiio refills a buffer")
    z = buffer and device.find_channel("accel_z").read(buffer)
    check(z == scans(rows[300:400], (2,), stamp=False), "and takes an axis out of it")


def library_takes_quaternions():
    import iio
    device = iio.Context("ip:127.0.0.1").find_device("hull-rot")
    for channel in device.channels:
        channel.enabled = True
    buffer = iio.Buffer(device, 5)
    buffer.refill()
    rows = list(struct.iter_unpack("<8s8s", buffer.read()))
    for place, name in enumerate(("rot_quaternion", "timestamp")):
        read = bytes(device.find_channel(name).read(buffer))
        check(len(rows) == 5 and read == b"".join(row[place] for row in rows), f"pylibiio takes {name} out of scans with both", read.hex())


def hostile():
    server = Server("--speed", "max", *TRACES)
    raw = Raw()
    for request, wanted in [
        ("VERSION", "0.24.binnacl"), ("TIMEOUT 2500", "0"), ("timeout 0", "0"), ("TIMEOUT -1", "-22"), ("TIMEOUT 99999999999999999999", "-22"),
        ("SET iio:device0 BUFFERS_COUNT 4", "0"), ("GETTRIG iio:device0", "-19"), ("SETTRIG iio:device0 x", "-30"), ("SETTRIG iio:device0", "-30"),
        ("WRITE iio:device0 sampling_frequency 4\r\n1234", "-30"), ("WRITE iio:device0 INPUT accel_x raw 0", "-30"), ("WRITEBUF iio:device0 100", "-30"),
        ("READ iio:device0 sampling_frequency2", "-2"), ("READ iio:device0 INPUT accel_y scale2", "-2"), ("READ iio:device0 INPUT nothing raw", "-2"),
        ("READ iio:device0 DEBUG direct_reg_access", "-2"), ("READ iio:device0", "-38"), ("READ iio:device9 x", "-19"),
        ("OPEN iio:device9 10 0000000f", "-19"), ("OPEN iio:device0 10 00000000", "-22"), ("OPEN iio:device0 10 00000010", "-22"),
        ("OPEN iio:device0 10 ffffffff", "-22"), ("OPEN iio:device0 10 f", "-22"), ("OPEN iio:device0 10 0000000g", "-22"),
        ("OPEN iio:device0 10 000000010000000f", "-22"), ("OPEN iio:device0 0 0000000f", "-22"), ("OPEN iio:device0 99999999 0000000f", "-22"),
        ("READBUF iio:device0 100", "-9"), ("CLOSE iio:device0", "-9"), ("OPEN iio:device0 10 0000000f", "0"), ("OPEN iio:device0 10 0000000f", "-16"),
    ]:
        if wanted == "-22":
            other = Raw()
            answer = other.ask(request)
            other.close()
        else:
            answer = raw.ask(request)
        check(answer == wanted, f"{request[:60]!r} is answered with {wanted}", answer)
    check(raw.ask("READBUF iio:device0 23") == "-22", "less than one scan is none")
    check(raw.ask("READBUF iio:device0 24") == "24" and raw.line() == "0000000f" and len(raw.file.read(24)) == 24, "one scan is one")
    check(raw.ask("CLOSE iio:device0") == "0" and raw.send(b"EXIT\r\n").line() == "", "EXIT ends the connection")
    raw = Raw()
    for part in (b"\r\n\n  \r\nVER", b"SION\nVERSION\r\nPRI"):
        raw.send(part)
        time.sleep(0.05)  # So that the halves arrive apart; nothing shows that they have.
    check([raw.line(), raw.line()] == ["0.24.binnacl"] * 2, "a request in halves, and two at once")
    xml = raw.send(b"NT\n")
    size = int(xml.line())
    check(raw.file.read(size + 1).endswith(b"</context>\n"), "the context has its length")
    before = server.memory()
    raw = Raw()
    try:
        raw.send(b"A" * 1_000_000)
    except OSError:
        pass  # It is disconnected meanwhile.
    check(raw_end(raw) in ("-7", ""), "a line of 1 MB is refused, and its client disconnected")
    raw = Raw()
    check(raw.ask("WRITE iio:device0 x 2000000000") == "", "so is one that announces 2 GB")
    raw = Raw()
    answers = [ask_or_none(raw, line) or "" for line in ("GET / HTTP/1.1", "Host: localhost", "Origin: http://evil") for _ in range(6)]
    check(answers[:15] == ["-22"] * 15 and answers[-1] == "", "a browser is disconnected", answers[-4:])
    # Killed in the midst of an answer, and with half a request.
    for _ in range(10):
        reader = subprocess.Popen(["iio_readdev", "-u", "ip:127.0.0.1", "-b", "16", "accelerometer-accel"], stdout=subprocess.PIPE)
        reader.stdout.read(100)
        reader.kill()
        reader.wait()
        raw = Raw()
        raw.send(b"OPEN iio:dev")
        raw.close()
    # More clients than there are places: those that have asked keep theirs, and nothing waits for the others.
    crowd = [Raw() for _ in range(60)]
    first = [c for c in crowd if ask_or_none(c, "VERSION") == "0.24.binnacl"]
    check(0 < len(first) <= 32, f"{len(first)} of 60 clients have a place")
    check(all(ask_or_none(c, "VERSION") == "0.24.binnacl" for c in first), "and keep it")
    # Each that still gets a place keeps it, until there is none, which is told.
    late, served = [], []

    def is_refused():
        late.append(Raw())
        if ask_or_none(late[-1], "VERSION"):
            served.append(late[-1])
        return "no place" in server.text

    harness.wait_for("a client without a place", is_refused)
    check(len(first) + len(served) <= 32 and ask_or_none(first[0], "VERSION"), f"after {len(served)} more the next one is refused")
    for c in late:
        c.close()
    for c in crowd:
        c.close()
    harness.wait_for("free places", lambda: ask_or_none(Raw(), "VERSION") == "0.24.binnacl")
    check(read("accelerometer-accel", "-b", "10", "-s", "10").stdout == scans(converted(TRACES[0])["accel"][:10]), "after all that it serves")
    check(server.memory() - before < 24, f"memory: {before:.0f} MB, at most {server.memory():.0f}")
    check(server.end() == 143, "SIGTERM ends it")
    check("requests were not understood" in server.text and "no place" in server.text, "what it closed is told", server.text)


def ask_or_none(raw, request):
    try:
        return raw.ask(request)
    except OSError:
        return None


def raw_end(raw):
    try:
        return raw.line()
    except OSError:
        return ""


def daemon():
    with harness.temporary_folder() as folder:
        path = f"{folder}/s"
        configuration = pathlib.Path(folder, "c.toml")
        configuration.write_text(f"""
            [socket]
            path = "{path}"
            [sensor.lid]
            source = "simulated"
            model = "walk"
            rate_hz = 1000
            [attitude.hull]
            accelerometer = "lid"
            gyroscope = "lid"
            """)
        server = Server("--socket", path)
        away = client("iio_info", "-u", "ip:127.0.0.1", status=None)
        check(away.returncode != 0 and b"Connection refused" in away.stderr, "without a daemon the context is refused", away.stderr.decode().strip())
        harness.wait_for("a message", lambda: "no daemon answers" in server.text)
        process = harness.start_daemon(configuration, path)
        info = client("iio_info", "-u", "ip:127.0.0.1").stdout.decode()
        check(all(f"{name} (label: " in info for name in ("lid-accel", "lid-anglvel", "hull-rot")), "iio_info shows the daemon's sensors")
        lines = []
        samples = harness.start(BINARY, "samples", "--socket", path, "--kind", "accelerometer", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        threading.Thread(target=lambda: lines.extend(samples.stdout), daemon=True).start()
        harness.wait_for("samples", lambda: len(lines) > 100)
        data = read("lid-accel", "-b", "100", "-s", "2000", status=0).stdout
        last = struct.unpack("<q", data[-8:])[0]
        harness.wait_for("the same samples", lambda: len(lines) > 1 and int(lines[-1].split(",")[0]) > last)
        harness.end(samples)
        known = {int(time_ns): [raw(v, "accel") for v in values] for time_ns, _, _, *values in csv.reader(lines[1:-1])}
        rows = [(t, x, y, z) for x, y, z, t in struct.iter_unpack("<iii4xq", data)]
        check(len(rows) == 2000 and all(known.get(t) == axes for t, *axes in rows), "scans of the daemon are its samples")
        gaps = [b[0] - a[0] for a, b in zip(rows, rows[1:])]
        check(max(gaps) <= 2 * min(gaps), "without a loss", f"{min(gaps)} to {max(gaps)} ns")
        quaternions = read("hull-rot", "-b", "5", "-s", "20", status=0).stdout
        lengths = [sum((v / 32000) ** 2 for v in values) for *values, _ in struct.iter_unpack("<hhhhq", quaternions)]
        check(len(lengths) == 20 and all(abs(l - 1) < 1e-4 for l in lengths), "quaternions have the length 1")
        library_takes_quaternions()
        words = client("iio_attr", "-u", "ip:127.0.0.1", "-d", "hull-rot", "frame").stdout
        check(words.strip() == b"ned", "and their frame is told", words)
        # One that asks for nothing for a while, beside one that is stopped, and one that reads.
        slow = Raw()
        index = re.search(r"iio:device(\d+): lid-accel", info)[1]
        check(slow.ask(f"OPEN iio:device{index} 100 0000000f") == "0", "a slow client opens a buffer")
        stopped = subprocess.Popen(["iio_readdev", "-u", "ip:127.0.0.1", "-b", "100", "lid-accel"], stdout=subprocess.PIPE)
        stopped.send_signal(19)
        fast = read("lid-accel", "-b", "500", "-s", "40000", status=0).stdout
        stamps = [t for *_, t in struct.iter_unpack("<iii4xq", fast)]
        check(len(stamps) == 40000 and max(b - a for a, b in zip(stamps, stamps[1:])) <= 2 * min(gaps), "a client beside slow ones loses nothing")
        stopped.kill()
        stopped.wait()
        seen = []
        while len(seen) < 40000 and not gap(seen, gaps):
            count = int(slow.ask(f"READBUF iio:device{index} 24"))
            check(count == 24, "the slow client reads") if count != 24 else None
            slow.line()
            seen.append(struct.unpack("<iii4xq", slow.file.read(24))[3])
        check(gap(seen, gaps) > 10 * max(gaps), f"what a slow client has lost is a gap in its stamps, after {len(seen)} scans")
        check(server.memory() < 80, f"memory: {server.memory():.0f} MB at most")
        # A daemon that ends fails the client, and the next one serves again.
        reader = harness.start("iio_readdev", "-u", "ip:127.0.0.1", "-b", "100", "lid-accel", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        reader.stdout.read(2400)
        harness.end(process)
        reader.stdout.read()
        check(b"Unable to refill buffer" in reader.stderr.read(), "the end of the daemon is that of its clients")
        harness.wait_for("the message", lambda: "closed the connection" in server.text)
        process = harness.start_daemon(configuration, None)
        harness.wait_for("the next daemon", lambda: read("lid-accel", "-b", "10", "-s", "20").returncode == 0)
        slow.close()
        harness.end(process)
        server.end()
        check("not read in time" in server.text, "and told", server.text)


def gap(stamps, gaps):
    distance = stamps[-1] - stamps[-2] if len(stamps) > 1 else 0
    return distance if distance > 10 * max(gaps) else 0


def one_client():
    """As binnacle-serve.socket starts it."""
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([BINARY, "serve", "--stdio", "--speed", "max", TRACES[0]], stdin=theirs, stdout=theirs)
    theirs.close()
    ours.sendall(b"VERSION\r\nEXIT\r\n")
    check(ours.makefile().read() == "0.24.binnacl\n" and process.wait(PATIENCE) == 0, "--stdio serves one client")
    for options, status, words in [
        (("--stdio", "--listen", "127.0.0.1:1"), 64, "--listen"), (("--listen", "x"), 64, "ADDRESS:PORT"), (("--loop",), 64, "--loop"),
        (("--socket", "x", TRACES[0]), 64, "--socket"), (("-",), 64, "name a file"), (("/nothing.csv",), 66, "/nothing.csv"), (("--speed", "0", TRACES[0]), 64, "--speed"),
        (("--listen", "203.0.113.1:1"), None, "203.0.113.1"),
    ]:
        done = client(BINARY, "serve", *options, status=status, stdin=subprocess.DEVNULL)
        check(done.returncode != 0 and words in done.stderr.decode(), f"{' '.join(options)[:40]}: {done.stderr.decode().strip()[:150]}")


for part in (one_client, recordings, compressed, hostile, daemon):
    if len(sys.argv) < 3 or part.__name__ in sys.argv[2:]:
        part()
harness.finish()
