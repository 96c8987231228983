#!/usr/bin/env python3
"""What sensors that are silent, slow or at the end of their range do to attitudes, bearings and machines. Usage: measure.py BINARY...

Trials with an optical reference of Tests/Fixtures/gyroscope: begun in motion, with an accelerometer that is silent for 7 s; with a gyroscope
that is cut off at 100 °/s; and without one, with every 29th row of the magnetometer (5 Hz). A machine runs for two minutes in thirteen; two
samples are lost every 90 s. Errors are those of each reported vertical; "within" is the share within its stated accuracy."""
import csv
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path(__file__).resolve().parents[3] / "Tests/Fixtures/gyroscope"
STEP_NS = 7_000_000
UNITS = {"a": "m_s2", "g": "rad_s", "m": "uT"}
KINDS = {"a": "accelerometer", "g": "gyroscope", "m": "magnetometer"}
SECTIONS = """
[sensor.imu]
source = "trace"
file = "none"
[attitude.body]
accelerometer = "imu"
attitude_filter_deg = 0.5
{more}
[handler.out]
on = ["any"]
stdout = true
"""


def replay(binary, streams, more=""):
    """The events of streams, each a letter with rows of a stamp in seconds and three values."""
    with tempfile.TemporaryDirectory() as folder:
        bindings = []
        for letter, rows in streams.items():
            path = pathlib.Path(folder, f"{letter}.csv")
            names = ",".join(f"{letter}{axis}_{UNITS[letter]}" for axis in "xyz")
            path.write_text(f"time_ns,{names}\n" + "".join(f"{round(time * 1e9)},{','.join(map(str, row))}\n" for time, row in rows))
            bindings += ["--bind", f"imu={path}:{KINDS[letter]}"]
        pathlib.Path(folder, "c.toml").write_text(SECTIONS.format(more=more))
        done = subprocess.run(
            [binary, "replay", "--json", "--config", f"{folder}/c.toml", *bindings], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def trial(name, letters, begin=0):
    with open(next(path for path in FIXTURES.glob(f"{name}_*.csv") if "vqf" not in path.name)) as file:
        rows = list(csv.DictReader(file))[round(begin * 1e9 / STEP_NS):]
    streams = {
        letter: [(index * STEP_NS / 1e9, [float(row[f"{letter}{axis}"]) for axis in "xyz"]) for index, row in enumerate(rows)]
        for letter in letters}
    return rows, streams


def tilts(events, rows, first, last):
    """Errors of verticals and what was stated, in degrees."""
    found = []
    for event in events:
        time = event["time_ns"] / 1e9
        row = rows[min(round(event["time_ns"] / STEP_NS), len(rows) - 1)]
        if event["kind"] != "attitude.changed" or not first <= time <= last or not row["ref_qw"]:
            continue
        w, x, y, z = (float(row[f"ref_q{letter}"]) for letter in "wxyz")
        up = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
        # The body's axes are forward (+Y), right (+X) and down.
        body = (up[1], up[0], -up[2])
        told = [event[f"gravity_{axis}_m_s2"] for axis in "xyz"]
        cosine = sum(a * b for a, b in zip(body, told)) / math.hypot(*told)
        found.append((math.degrees(math.acos(max(-1, min(1, cosine)))), event["tilt_accuracy_deg"]))
    return found


def told(found):
    errors = sorted(error for error, _ in found)
    within = statistics.mean(error <= stated for error, stated in found)
    return f"{len(found):5} verticals, error {statistics.median(errors):5.1f} median, {errors[-1]:5.1f} greatest, within {within:6.1%}"


def machine(every):
    """Rows of an accelerometer on a machine that runs from 60 to 180 s."""
    chance = random.Random(1)
    for index in range(78_000):
        time = index / 100
        if every and time >= 30 and 0.1 <= (time - 30) % every < 0.12:
            continue
        shake = 0.5 * math.sin(2 * math.pi * 12 * time) if 60 <= time < 180 else 0
        yield time, [chance.gauss(0, 0.003), chance.gauss(0, 0.003), 9.80665 + shake + chance.gauss(0, 0.003)]


VIBRATION = '[vibration.drum]\naccelerometer = "imu"\nrunning_g = 0.01\nbands = [{ name = "b", from_hz = 5, to_hz = 38 }]\n'
NORTH = """
[north.bow]
accelerometer = "imu"
magnetometer = "imu"
hard_iron_uT = 0
sectors = [{ name = "east", from_deg = 5, to_deg = 175 }, { name = "west", from_deg = 185, to_deg = 355 }]
"""

for binary in sys.argv[1:]:
    print(binary)
    for name in ("broad05", "broad07", "broad18"):
        rows, streams = trial(name, "ag", begin=20)
        silent = dict(streams, a=[row for row in streams["a"] if not 5 <= row[0] < 12])
        print(f"{name}, begun in motion, no acceleration from 5 to 12 s, then 15 s:", told(tilts(replay(binary, silent), rows, 12, 27)))
    rows, streams = trial("broad07", "ag")
    cut = math.radians(100)
    clipped = dict(streams, g=[(time, [max(-cut, min(cut, value)) for value in row]) for time, row in streams["g"]])
    print("broad07, gyroscope cut off at 100 °/s:", told(tilts(replay(binary, clipped), rows, 0, 1e9)))
    rows, streams = trial("broad05", "am")
    slow = {"a": streams["a"][:4000], "m": streams["m"][:4000:29]}
    kinds = [event["kind"] for event in replay(binary, slow, NORTH)]
    print("magnetometer of 5 Hz, 28 s:", {kind: kinds.count(kind) for kind in ("heading", "sector.entered", "heading.lost")})
    for every in (None, 90):
        events = replay(binary, {"a": list(machine(every))}, VIBRATION)
        times = [event["time_ns"] / 1e9 for event in events if event["kind"] == "machine.finished"]
        print(f"two samples lost every {every} s, finished at:" if every else "nothing lost, finished at:", times)
