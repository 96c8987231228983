"""Makes the sensors of the recordings with an optical reference wrong, and scores the headings that are reported.

usage: score.py BINARY [FAULT...], from the project's folder

A row for each trial and fault: the share of the headings of +Y that are not held and are wrong by more than three times their stated
accuracy, the share that is there at all, and what was told. The magnetometer is taken for calibrated (hard_iron_uT = 0).
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
BINARY = sys.argv[1]
FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
STEP_NS = 7_000_000
HEAD = ("time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,"
        "imu.mx_uT,imu.my_uT,imu.mz_uT")
TRIALS = ("broad05_rotation", "broad07_fast_rotation", "broad11_slow_translation", "broad18_fast_translation",
          "broad31_stationary_magnet", "broad33_attached_magnet")
CLIP = math.radians(100)
LATE_ROWS = 14
# What freezes does so 28 s after the start.
FAILS_ROW = 4000


def scaled(factor):
    return lambda seen, index: seen[index] | {"g": [rate * factor for rate in seen[index]["g"]]}


def clipped(seen, index):
    return seen[index] | {"g": [max(-CLIP, min(CLIP, rate)) for rate in seen[index]["g"]]}


def burst(seen, index):
    return seen[index] | ({"g": [35.0, 0.0, 0.0]} if FAILS_ROW <= index < FAILS_ROW + 14 else {})


def frozen(letter, axes=range(3)):
    def fault(seen, index):
        held = seen[min(index, FAILS_ROW)][letter]
        return seen[index] | {letter: [held[axis] if axis in axes else seen[index][letter][axis] for axis in range(3)]}
    return fault


def late(letter):
    return lambda seen, index: seen[index] | {letter: seen[max(index - LATE_ROWS, 0)][letter]}


def shifted(by, letter="a"):
    return lambda seen, index: seen[index] | {letter: [value + more for value, more in zip(seen[index][letter], by)]}


def limited(least, most):
    return lambda seen, index: seen[index] | {"a": [max(least, min(most, value)) for value in seen[index]["a"]]}


FAULTS = {
    "none": scaled(1), "x 1.5": scaled(1.5), "x 2": scaled(2), "x 57": scaled(180 / math.pi), "clipped 100 deg/s": clipped,
    "burst 35 rad/s": burst, "rate of x frozen": frozen("g", (0,)), "rates 0.1 s late": late("g"),
    "field frozen": frozen("m"), "field of x frozen": frozen("m", (0,)), "field 0.1 s late": late("m"),
    "accel. frozen": frozen("a"), "accel. of x frozen": frozen("a", (0,)), "accel. of z frozen": frozen("a", (2,)),
    "accel. 0.1 s late": late("a"), "accel. within 9": limited(-9, 9), "accel. x + 2": shifted((2, 0, 0)),
    "accel. y + 0.5": shifted((0, 0.5, 0)), "accel. y + 2": shifted((0, 2, 0)), "accel. z + 2": shifted((0, 0, 2)),
    "accel. x - 1": shifted((-1, 0, 0)), "x 0.5": scaled(0.5), "x 1.2": scaled(1.2),
    "rate of y frozen": frozen("g", (1,)), "rate of z frozen": frozen("g", (2,)),
    "iron of a telephone": shifted((-2.1, 0.5, -3.2), "m"), "iron of 30 uT": shifted((20, -10, 20), "m"),
}


def reference(row):
    if "ref_qw" not in row:
        if not row["ref_heading_y_deg"]:
            return None
        return float(row["ref_heading_y_deg"]) if float(row["ref_y_horizontal"]) >= 0.5 else None
    if not row["ref_qw"]:
        return None
    w, x, y, z = (float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz"))
    up = 2 * (y * z + w * x)
    if up * up >= 0.75:
        return None
    return math.degrees(math.atan2(2 * (x * y - w * z), 1 - 2 * (x * x + z * z)))


print(f"{'trial':26} {'fault':18} {'there':>6} {'wrong':>6} {'worst':>6} | told, first at s")
wanted = {name: fault for name, fault in FAULTS.items() if name in (sys.argv[2:] or FAULTS)}
for trial in TRIALS:
    with open(FIXTURES / f"{trial}.csv") as table:
        rows = list(csv.DictReader(table))
    seen = [{letter: [float(row[f"{letter}{axis}"]) for axis in "xyz"] for letter in "gam"} for row in rows]
    truth = [reference(row) for row in rows]
    for name, fault in wanted.items():
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
            print(HEAD, file=trace)
            for index in range(len(rows)):
                sample = fault(seen, index)
                print(index * STEP_NS, *sample["g"], *sample["a"], *sample["m"], sep=",", file=trace)
            trace.flush()
            words = [word for setting in ("heading_filter_deg=0", "upright_axis=none", "hard_iron_uT=0")
                     for word in ("--set", f"north.north.{setting}")]
            said = subprocess.run([BINARY, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
        count = wrong = there = 0
        worst, told = 0.0, {}
        found = {}
        for event in map(json.loads, said.stdout.splitlines()):
            if event["kind"] == "heading" and "age_s" not in event:
                found[event["time_ns"] // STEP_NS] = event
            elif event["kind"] in ("detector.failed", "calibration.needed", "heading.lost", "interference.began"):
                word = event["kind"] + (f" ({event['reason'][:60]})" if "reason" in event else "")
                told.setdefault(word, round(event["time_ns"] * 1e-9, 1))
        for index, degrees in enumerate(truth):
            if degrees is None:
                continue
            count += 1
            event = found.get(index)
            if event is None:
                continue
            there += 1
            off = abs((event["heading_deg"] - degrees + 180) % 360 - 180)
            wrong += off > 3 * event["accuracy_deg"]
            worst = max(worst, off)
        print(f"{trial:26} {name:18} {there / count:6.1%} {wrong / max(there, 1):6.1%} {worst:6.1f} | {told or ''}", flush=True)
