"""Calibrates the magnetometer of the recordings with an optical reference from short windows, and compares the stated error.

usage: calibrate.py BINARY, from the project's folder

A row for each trial, soft iron and length: how many windows of movement gave a calibration, the share whose stated error is within a
factor of 3 of the true one, and the share that states more than three times too much. The true error is the distance of the found
hard iron from the one that was added, 0, 30 or 60 µT; the recordings' own magnetometer is calibrated to about 0.5 µT. Soft iron is a
symmetric matrix whose six elements have that standard deviation.
"""

import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
TRIALS = ("broad05_rotation", "broad07_fast_rotation", "broad18_fast_translation", "broad31_stationary_magnet")
STEP_NS = 7_000_000
ROWS_A_SECOND = 1000 / 7


def calibrated(fields):
    """What the program finds of fields: hard iron and stated error; nothing where it refuses."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print("time_ns,imu.mx_uT,imu.my_uT,imu.mz_uT", file=trace)
        for index, field in enumerate(fields):
            print(index * STEP_NS, *field, sep=",", file=trace)
        trace.flush()
        said = subprocess.run([BINARY, "calibrate", "--json", "--trace", trace.name], capture_output=True, text=True, check=False)
    found = json.loads(said.stdout)
    if not found["is_accepted"]:
        return None
    return found["figures"]["hard_iron_uT"], found["figures"]["error_uT"]


def distorted(fields, stretch, strength, seed):
    """The fields with soft and hard iron, and the hard iron."""
    chance = random.Random(seed)
    m = [chance.gauss(0, stretch) for _ in range(6)]
    matrix = ((1 + m[0], m[3], m[4]), (m[3], 1 + m[1], m[5]), (m[4], m[5], 1 + m[2]))
    way = [chance.gauss(0, 1) for _ in range(3)]
    size = sum(part * part for part in way) ** 0.5
    iron = [strength * part / size for part in way]
    return [[sum(a * b for a, b in zip(row, field)) + add for row, add in zip(matrix, iron)] for field in fields], iron


def median(values):
    return sorted(values)[len(values) // 2] if values else float("nan")


print(f"{'trial':26} {'soft':>5} {'s':>3} | {'saved':>5} {'refused':>7} | {'factor 3':>8} {'more':>5} {'less':>5} | {'true':>5} {'stated':>6} µT, medians")
whole = {}
for trial in TRIALS:
    with open(FIXTURES / f"{trial}.csv") as table:
        moving = [[float(row[f"m{axis}"]) for axis in "xyz"] for row in csv.DictReader(table) if row["ref_qw"]]
    for stretch in (0, 0.02, 0.05):
        for seconds in (10, 20, 40):
            length, pairs, refused, seed = round(seconds * ROWS_A_SECOND), [], 0, 0
            for start in range(0, len(moving) - length, round(10 * ROWS_A_SECOND)):
                for strength in (0, 30, 60):
                    seed += 1
                    fields, iron = distorted(moving[start:start + length], stretch, strength, seed)
                    found = calibrated(fields)
                    if found is None:
                        refused += 1
                        continue
                    off = sum((a - b) ** 2 for a, b in zip(found[0], iron)) ** 0.5
                    pairs.append((off, found[1]))
            whole.setdefault(stretch, []).extend(pairs)
            near = sum(off / 3 <= stated <= off * 3 for off, stated in pairs) / max(len(pairs), 1)
            more = sum(stated > off * 3 for off, stated in pairs) / max(len(pairs), 1)
            print(f"{trial:26} {stretch:5} {seconds:3} | {len(pairs):5} {refused:7} | {near:8.0%} {more:5.0%} {1 - near - more:5.0%} | "
                  f"{median([off for off, _ in pairs]):5.2f} {median([stated for _, stated in pairs]):6.2f}", flush=True)
for stretch, pairs in whole.items():
    near = sum(off / 3 <= stated <= off * 3 for off, stated in pairs) / len(pairs)
    more = sum(stated > off * 3 for off, stated in pairs) / len(pairs)
    print(f"{'all':26} {stretch:5} {'':3} | {len(pairs):5} {'':7} | {near:8.0%} {more:5.0%} {1 - near - more:5.0%}")
