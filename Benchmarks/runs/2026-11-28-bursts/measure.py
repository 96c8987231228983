#!/usr/bin/env python3
"""Headings of recordings whose rows have stamps in bursts, as a program writes them that stamps lines when it reads them.

The trials with a gyroscope and their optical reference, with the rows of each n stamped microseconds apart, when the last of them was
measured; in the rows "1 to n" each burst has a length of its own. Usage: measure.py BINARY. Errors are those of each heading beside the reference at its row."""
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


def truth(row):
    """The heading of +Y; nothing where it is not known or +Y is not level."""
    if "ref_qw" not in row:
        if not row["ref_heading_y_deg"] or float(row["ref_y_horizontal"]) < 0.5:
            return None
        return float(row["ref_heading_y_deg"])
    if not row["ref_qw"]:
        return None
    w, x, y, z = (float(row[f"ref_q{letter}"]) for letter in "wxyz")
    east, north, up = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)
    return None if up * up >= 0.75 else math.degrees(math.atan2(east, north))


def bursts(size, count):
    """The first and the last row of each burst; of random lengths up to -count."""
    chance, begin = random.Random(1), 0
    while begin < size:
        length = count if count > 0 else chance.randint(1, -count)
        yield begin, begin + length - 1
        begin += length


def play(binary, rows, count, distance_us):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print("time_ns,gx_rad_s,gy_rad_s,gz_rad_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT", file=trace)
        stamps = {}
        for begin, end in bursts(len(rows), count):
            for index, row in enumerate(rows[begin:end + 1], begin):
                stamp = end * STEP_NS + (index - begin) * distance_us * 1000
                stamps[stamp] = index
                print(stamp, *(row[letter + axis] for letter in "gam" for axis in "xyz"), sep=",", file=trace)
        trace.flush()
        output = subprocess.run(
            [binary, "replay", "--json", "--set", "north.north.heading_filter_deg=0", "--set", "north.north.hard_iron_uT=0",
             "--set", "north.north.upright_axis=none", trace.name],
            check=True, capture_output=True, text=True).stdout
    pairs, told = [], set()
    for event in map(json.loads, output.splitlines()):
        told.add(event["kind"])
        reference = truth(rows[stamps[event["time_ns"]]]) if event["kind"] == "heading" and "age_s" not in event else None
        if reference is not None:
            pairs.append((abs((event["heading_deg"] - reference + 180) % 360 - 180), event["accuracy_deg"]))
    return pairs, sorted(told & {"detector.failed", "calibration.needed"})


for count, distance_us in ((1, 0), (2, 20), (3, 20), (4, 20), (4, 300), (8, 20), (16, 20), (-4, 20), (-8, 100), (-16, 20)):
    shown = str(count) if count > 0 else f"1 to {-count}"
    for path in sorted(FIXTURES.glob("*.csv")):
        with open(path, encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
        if "gx" not in rows[0] or not {"ref_qw", "ref_heading_y_deg"} & set(rows[0]):
            continue
        pairs, told = play(sys.argv[1], rows, count, distance_us)
        level = sum(truth(row) is not None for row in rows)
        if not pairs:
            print(f"{shown:7} x {distance_us:3} us  {path.stem:28} no heading  {' '.join(told)}", flush=True)
            continue
        print(
            f"{shown:7} x {distance_us:3} us  {path.stem:28} headings {len(pairs) / level:6.1%}  within "
            f"{sum(error <= stated for error, stated in pairs) / len(pairs):6.1%}  beyond 3 x "
            f"{sum(error > 3 * stated for error, stated in pairs) / len(pairs):6.1%}  median "
            f"{statistics.median(error for error, _ in pairs):5.1f}  worst {max(error for error, _ in pairs):5.1f}  stated "
            f"{statistics.median(stated for _, stated in pairs):5.1f}  {' '.join(told)}", flush=True)
