#!/usr/bin/env python3
"""What sensors that repeat a sample, and a gyroscope that warms, do to the vertical. Usage: measure.py BINARY...

Trials with an optical reference of Tests/Fixtures/gyroscope, in which the accelerometer repeats a sample for 4 and for 20 s, or the
gyroscope for 20 s. A device that is turned twice and then lies for 15 minutes, while the offset of its gyroscope moves by 0.6, 0.4 and
-0.9 °/s with a time constant of 300 s. Errors are those of each reported vertical; "within" is the share within its stated accuracy."""
import importlib.util
import math
import pathlib
import random
import sys

binaries, sys.argv = sys.argv[1:], sys.argv[:1]
path = pathlib.Path(__file__).parents[1] / "2026-11-29-silences/measure.py"
spec = importlib.util.spec_from_file_location("silences", path)
silences = importlib.util.module_from_spec(spec)
spec.loader.exec_module(silences)


def frozen(rows, first, last):
    """Rows that repeat the one at the first of two times until the other."""
    held = next(row for time, row in rows if time >= first)
    return [(time, held if first <= time < last else row) for time, row in rows]


def warming():
    """Samples at 25 Hz of a device that lies tilted by 3°, turned about the vertical from 8 to 28 s."""
    chance = random.Random(3)
    noise = lambda sigma: chance.gauss(0, sigma)
    tilt = math.radians(3)
    down = (9.80665 * math.sin(tilt), 0, 9.80665 * math.cos(tilt))
    streams = {"a": [], "g": []}
    for index in range(25 * 900):
        time = index / 25
        speed = 33 if 8 <= time < 14 else -45 if 20 <= time < 28 else 0
        share = 1 - math.exp(-max(time - 30, 0) / 300)
        offset = [math.radians(at + share * by) for at, by in ((0.8, 0.6), (-1.2, 0.4), (0.5, -0.9))]
        turn = (-math.radians(speed) * math.sin(tilt), 0, -math.radians(speed) * math.cos(tilt))
        streams["a"].append((time, [value + noise(0.03) for value in down]))
        streams["g"].append((time, [turn[axis] + offset[axis] + noise(0.001) for axis in range(3)]))
    return streams, down


for binary in binaries:
    print(binary)
    for name in ("broad05", "broad07", "broad18"):
        rows, streams = silences.trial(name, "ag", begin=20)
        for letter, sensor, seconds in (("a", "accelerometer", 4), ("a", "accelerometer", 20), ("g", "gyroscope", 20)):
            shown = dict(streams, **{letter: frozen(streams[letter], 10, 10 + seconds)})
            found = silences.tilts(silences.replay(binary, shown), rows, 10, 20 + seconds)
            print(f"{name}, {sensor} repeats for {seconds} s, and 10 s after:", silences.told(found))
    streams, down = warming()
    found = []
    for event in silences.replay(binary, streams):
        if event["kind"] == "attitude.changed" and event["time_ns"] > 60e9:
            told = [event[f"gravity_{axis}_m_s2"] for axis in "xyz"]
            # The body's axes are forward (+Y), right (+X) and down.
            cosine = (down[1] * told[0] + down[0] * told[1] - down[2] * told[2]) / math.hypot(*down) / math.hypot(*told)
            found.append((math.degrees(math.acos(max(-1, min(1, cosine)))), event["tilt_accuracy_deg"]))
    print("a gyroscope that warms, at rest:", silences.told(found) if found else "no vertical that differs by 0.5°")
