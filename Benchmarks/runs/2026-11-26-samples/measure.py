#!/usr/bin/env python3
"""How long a sample takes to a client, beside a bare socket pair in the same run: measure.py BINARY [SAMPLES]

A daemon reads an IIO device that is played by a FIFO (`--root`). One process writes, in turn, a scan into the FIFO and a line of the
same length into a socket pair, each with its time on CLOCK_MONOTONIC. A reader of each takes the time when recv(2) returns. The client of
Integrations/python is measured at the same time, where it gives the batch. Nothing is left out but the first tenth of the samples.

Then the daemon's processor time without clients, with ten, and without them again.
"""
import json
import os
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

root = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(root / "Integrations/python/src"))
import binnacle  # noqa: E402

binary = str(pathlib.Path(sys.argv[1]).resolve())
count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000


def play(folder):
    """A device with three 16-bit axes and a stamp, whose node is a FIFO."""
    device = pathlib.Path(folder, "sys/bus/iio/devices/iio:device0")
    files = {"name": "played", "in_accel_scale": "0.01", "sampling_frequency": "1000", "current_timestamp_clock": "monotonic"}
    for index, axis in enumerate("xyz"):
        files |= {
            f"in_accel_{axis}_raw": "1", f"buffer0/in_accel_{axis}_en": "0", f"buffer0/in_accel_{axis}_type": "le:s16/16>>0",
            f"buffer0/in_accel_{axis}_index": str(index)}
    files |= {
        "buffer0/in_timestamp_en": "0", "buffer0/in_timestamp_type": "le:s64/64>>0", "buffer0/in_timestamp_index": "3",
        "buffer0/enable": "0", "buffer0/length": "2", "buffer0/watermark": "1"}
    for name, text in files.items():
        path = device / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    os.makedirs(f"{folder}/dev")
    os.mkfifo(f"{folder}/dev/iio:device0")
    return os.open(f"{folder}/dev/iio:device0", os.O_RDWR | os.O_NONBLOCK)


def read_lines(connection, wanted, find):
    """The time from a line's stamps to the return of the recv(2) that brought its end, of so many stamps, in ns."""
    found, rest = [], b""
    while len(found) < wanted:
        bytes_ = connection.recv(1 << 16)
        now = time.monotonic_ns()
        *lines, rest = (rest + bytes_).split(b"\n")
        for line in lines:
            found += [now - stamp for stamp in find(json.loads(line))]
    return found


def stamps(message):
    return message["samples"]["time_ns"] if "samples" in message else []


def child(body):
    """Runs a function in a process of its own, which says when it has begun; gives the end of a pipe with its result."""
    end, write = os.pipe()
    if os.fork() == 0:
        os.close(end)
        os.write(write, json.dumps(body()).encode())
        os._exit(0)
    os.close(write)
    return end


def result(end):
    with os.fdopen(end, "rb") as pipe:
        return json.loads(pipe.read())


def client(address):
    found = []
    for batch in binnacle.samples(["lid"], path=address):
        now = time.monotonic_ns()
        found += [now - stamp for stamp in batch.time_ns]
        if len(found) >= count:
            return found


def raw(address):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    connection.sendall(b'{"subscribe":{"kinds":[],"samples":{"sensors":["lid"]}}}\n')
    return read_lines(connection, count, stamps)


def run(rate):
    with tempfile.TemporaryDirectory() as folder:
        node = play(f"{folder}/root")
        pathlib.Path(folder, "c.toml").write_text(f"""
            [socket]
            path = "{folder}/s"
            [sensor.lid]
            source = "iio"
            match = {{ name = "played" }}
            rate_hz = {rate}
            latency_s = 0
            [motion.moved]
            accelerometer = "lid"
            """)
        daemon = subprocess.Popen(
            [binary, "run", "--config", f"{folder}/c.toml", "--root", f"{folder}/root"], stderr=subprocess.DEVNULL)
        address = f"{folder}/s"
        while not os.path.exists(address) and daemon.poll() is None:
            time.sleep(0.05)
        ours, theirs = socket.socketpair()
        results = [child(lambda: raw(address)), child(lambda: client(address)), child(lambda: read_lines(theirs, count, stamps))]
        while len(binnacle.status(address)["socket"]["subscribers"]) < 2:
            time.sleep(0.05)
        # The devices are open then.
        time.sleep(1)
        period = 10**9 // rate
        due = time.monotonic_ns() + period
        for number in range(count + count // 20):
            for turn in range(2):
                time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
                due += period // 2
                now = time.monotonic_ns()
                if turn == 0:
                    os.write(node, struct.pack("<hhhxxq", number % 1000, 5, 981, now))
                elif number < count:
                    body = {
                        "sensor": "lid", "kind": "accelerometer", "unit": "m/s²", "frame": "device", "raw": False, "lost": 0,
                        "time_ns": [now], "x": [9.99], "y": [0.049999997], "z": [9.809999]}
                    ours.sendall(json.dumps({"samples": body}, separators=(",", ":")).encode() + b"\n")
        names = ("client, recv(2)", "client, Integrations/python", "bare socket pair")
        print(f"{rate} samples a second, {count} samples; microseconds")
        for name, end in zip(names, results):
            values = sorted(value / 1000 for value in result(end)[count // 10 :])
            print(
                f"  {name:28} median {statistics.median(values):7.1f}   p90 {values[int(0.9 * len(values))]:7.1f}   "
                f"p99 {values[int(0.99 * len(values))]:7.1f}", flush=True)
        daemon.terminate()
        daemon.wait()


def cost(rate, seconds=20):
    """The daemon's processor time without a client, with ten that read all samples of one stream, and without them again."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "c.toml").write_text(f"""
            [socket]
            path = "{folder}/s"
            [sensor.lid]
            source = "simulated"
            rate_hz = {rate}
            [motion.moved]
            accelerometer = "lid"
            """)
        daemon = subprocess.Popen([binary, "run", "--config", f"{folder}/c.toml"], stderr=subprocess.DEVNULL)
        address = f"{folder}/s"
        while not os.path.exists(address) and daemon.poll() is None:
            time.sleep(0.05)
        readers = []
        for what in ("no client", "ten clients", "no client any more"):
            if what == "ten clients":
                program = "import sys, binnacle; [None for _ in binnacle.samples(path=sys.argv[1])]"
                path = {**os.environ, "PYTHONPATH": str(root / "Integrations/python/src")}
                readers = [subprocess.Popen([sys.executable, "-c", program, address], env=path) for _ in range(10)]
            else:
                for reader in readers:
                    reader.kill()
                    reader.wait()
            time.sleep(2)
            used = [sum(map(int, pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().split()[13:15]))]
            time.sleep(seconds)
            used.append(sum(map(int, pathlib.Path(f"/proc/{daemon.pid}/stat").read_text().split()[13:15])))
            share = (used[1] - used[0]) / os.sysconf("SC_CLK_TCK") / seconds
            print(f"{rate} samples a second, {what}: {100 * share:.2f} % of one core", flush=True)
        daemon.terminate()
        daemon.wait()


for rate in (100, 1000):
    run(rate)
for rate in (100, 1000):
    cost(rate)
