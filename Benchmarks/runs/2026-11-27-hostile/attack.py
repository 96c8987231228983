#!/usr/bin/env python3
"""Hostile recordings, servers and plotters against a program: attack.py BINARY PYTHON_CLIENT_FOLDER; prints what each came to.

Exit statuses are those of the program, negative ones signals. No figure depends on the machine but the resident memory.
"""

import collections
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading

BINARY, CLIENT = sys.argv[1:3]
NINE = "time_ns,accel_x_mps2,accel_y_mps2,accel_z_mps2,gyro_x_radps,gyro_y_radps,gyro_z_radps,mag_x_ut,mag_y_ut,mag_z_ut\n"
DETECTORS = [
    word for kind in ("tap", "steps", "stationary", "vibration", "orientation", "attitude")
    for word in ("--set", f"{kind}.a_{kind}.accelerometer=accelerometer")]


def status(*words):
    return subprocess.run([BINARY, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=60).returncode


def stamps(count):
    """Nine axes with stamps from both ends of 64 bits, and values up to infinity."""
    chance = random.Random(1)
    values = ["0", "9.8", "-9.8", "1e9", "1e5", "1e-40", "nan", "inf", "2000", "3.4e38"]
    found = collections.Counter()
    for _ in range(count):
        time, rows = chance.choice([0, -(2**63) + 1, 2**63 - 10**10, -(10**18), 17 * 10**17]), []
        for _ in range(chance.choice([3, 50, 400])):
            step = chance.choice([10**7] * 20 + [0, -5 * 10**7, 10**9, 10**15, 10**18, 9 * 10**18, -(10**18)])
            time = max(-(2**63) + 1, min(2**63 - 1, time + step))
            row = "0.1,0.2,9.8,0,0,0,20,0,-40" if chance.random() < 0.8 else ",".join(chance.choice(values) for _ in range(9))
            rows.append(f"{time},{row}\n")
        with open("nine.csv", "w") as file:
            file.write(NINE + "".join(rows))
        words = chance.choice([
            ["replay", *DETECTORS, "nine.csv"], ["plot", "nine.csv", "-o", "x.svg", "--force"], ["plot", "nine.csv", "-o", "x.html", "--force"],
            ["convert", "nine.csv", "-o", "x.arrows", "--force"], ["calibrate", "gyroscope", "--trace", "nine.csv"],
            ["sweep", "--set", "motion.motion.threshold_g=0.1,0.2", "nine.csv"]])
        found[status(*words)] += 1
    return dict(sorted(found.items()))


def catching_up():
    """128 Hz; in second 3 the device stalls and catches up with 130 samples."""
    rows = []
    for index in range(1025):
        late = index - 384
        time = index / 128 if late < 64 else 3.5 + 0.003 * (late - 64) if late < 130 else (index - 2) / 128
        rows.append(f"{round(time * 1e9)},0.1,0.2,9.8\n")
    with open("late.csv", "w") as file:
        file.write("time_ns,accel_x_mps2,accel_y_mps2,accel_z_mps2\n" + "".join(rows))
    return status("replay", "--set", "vibration.x.accelerometer=accelerometer", "late.csv")


def server(name, *pieces):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(name)
    listener.listen()

    def serve():
        connection, _ = listener.accept()
        connection.recv(1 << 16)
        try:
            for piece in pieces:
                connection.sendall(piece)
        except OSError:
            pass
        connection.close()

    threading.Thread(target=serve, daemon=True).start()


def metrics():
    server("hostile", json.dumps({"status": {"state": "ok", "version": "\x1b[31m\x07"}}).encode() + b"\n")
    printed = subprocess.run([BINARY, "metrics", "--socket", "hostile"], capture_output=True).stdout
    return sum(byte < 32 and byte != 10 for byte in printed)


def client():
    """The resident memory in MB of a Python client that a server sends a line of 1 GB."""
    server("endless", *[b"x" * 1_000_000] * 1000)
    code = (
        "import sys, resource; sys.path.insert(0, sys.argv[1]); import binnacle\n"
        "try: binnacle.status('endless')\n"
        "except binnacle.BinnacleError as error: print(type(error).__name__, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)")
    return subprocess.run([sys.executable, "-c", code, CLIENT], capture_output=True, text=True).stdout.strip()


def plotters():
    """The places that the connections of one address get."""
    with open("nmea.toml", "w") as file:
        file.write(
            '[sensor.s]\nsource = "simulated"\nmodel = "turn"\n[north.n]\naccelerometer = "s"\nmagnetometer = "s"\n'
            '[handler.a]\nnmea = "tcp://127.0.0.1:10119"\n')
    daemon = subprocess.Popen([BINARY, "run", "nmea.toml"], stderr=subprocess.PIPE, text=True)
    daemon.stderr.readline()
    connections = []
    for _ in range(40):
        connections.append(socket.create_connection(("127.0.0.1", 10119), 20))
        connections[-1].settimeout(10)
    served = 0
    for connection in connections:
        try:
            served += bool(connection.recv(1))
        except OSError:
            pass
    daemon.terminate()
    daemon.wait()
    return served


with tempfile.TemporaryDirectory() as folder:
    CLIENT = os.path.abspath(CLIENT)
    BINARY = os.path.abspath(BINARY)
    os.chdir(folder)
    print("statuses of 250 recordings with stamps from both ends of 64 bits:", stamps(250))
    print("status of a replay in which a device catches up:", catching_up())
    print("control characters in metrics of a hostile server:", metrics())
    print("Python client, a line of 1 GB, error and MB:", client())
    print("places of 40 plotters of one address:", plotters())
