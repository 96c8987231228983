"""Adds hard iron and an error of the gyroscope's scale to the recordings with an optical reference, and scores what is reported.

usage: score.py BINARY [SEEDS] [--no-gyroscope], from the project's folder

A row for each trial, iron and scale: over the headings of +Y where it is level by more than a half, from the first one on and after 40 s
of movement. The magnetometer has no calibration. Each seed has another direction of the iron.
"""

import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

WITHOUT_GYROSCOPE = "--no-gyroscope" in sys.argv
BINARY, *OTHERS = [word for word in sys.argv[1:] if word != "--no-gyroscope"]
SEEDS = int(OTHERS[0]) if OTHERS else 1
FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
HEAD = ("time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,"
        "imu.mx_uT,imu.my_uT,imu.mz_uT")
STEP_NS = 7_000_000
TRIALS = ("broad05_rotation", "broad07_fast_rotation", "broad11_slow_translation", "broad18_fast_translation",
          "broad31_stationary_magnet", "broad33_attached_magnet")
CASES = [(iron, 1.0) for iron in (0, 10, 30, 60)]
if not WITHOUT_GYROSCOPE:
    CASES += [(0, scale) for scale in (0.97, 0.99, 1.01, 1.03)] + [(30, 1.02)]
RATES = HEAD.split(",")[1:4]


def direction(seed):
    """A direction of the iron, all as probable."""
    chance = random.Random(seed)
    z, turn = chance.uniform(-1, 1), chance.uniform(0, 2 * math.pi)
    level = math.sqrt(1 - z * z)
    return level * math.cos(turn), level * math.sin(turn), z


def replay(rows, iron, scale):
    """The headings that are not held, by their row, and what else was told."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print(HEAD.replace(",".join(RATES) + ",", "") if WITHOUT_GYROSCOPE else HEAD, file=trace)
        for index, row in enumerate(rows):
            rates = [float(row[f"g{axis}"]) * scale for axis in "xyz"]
            field = [float(row[f"m{axis}"]) + added for axis, added in zip("xyz", iron)]
            print(index * STEP_NS, *([] if WITHOUT_GYROSCOPE else rates), row["ax"], row["ay"], row["az"], *field, sep=",", file=trace)
        trace.flush()
        words = [word for setting in ("heading_filter_deg=0", "upright_axis=none")
                 for word in ("--set", f"north.north.{setting}")]
        said = subprocess.run([BINARY, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in said.stdout.splitlines()]
    headings = {event["time_ns"] // STEP_NS: event for event in found if event["kind"] == "heading" and "age_s" not in event}
    told = {}
    for event in found:
        if event["kind"] in ("detector.failed", "calibration.needed", "calibration.restored", "heading.lost"):
            name = event["kind"] + (f" ({event['reason']})" if "reason" in event else "")
            told.setdefault(name, round(event["time_ns"] * 1e-9, 1))
    return headings, told


def reference(row):
    """The heading of +Y and whether it is level enough; nothing where the cameras did not see the sensor."""
    if "ref_qw" not in row:
        if not row["ref_heading_y_deg"]:
            return None
        return float(row["ref_heading_y_deg"]), float(row["ref_y_horizontal"]) >= 0.5
    if not row["ref_qw"]:
        return None
    w, x, y, z = (float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz"))
    east, north, up = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)
    return math.degrees(math.atan2(east, north)), up * up < 0.75


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else math.nan


def line(pairs, count):
    errors = [error for error, _ in pairs]
    within = sum(error <= limit for error, limit in pairs) / len(pairs) if pairs else math.nan
    stated = share([limit for _, limit in pairs], 0.5)
    return (f"{len(pairs) / max(count, 1):6.1%} {share(errors, 0.5):6.2f} {share(errors, 0.95):6.2f} {stated:5.1f} "
            f"{within:6.1%}")


print(f"{'':26} {'iron':>4} {'scale':>5} | from the first heading on         | after 40 s of movement")
print(f"{'trial':26} {'µT':>4} {'':>5} |  valid median    p95 stated within |  valid median    p95 stated within | told, first at s")
for trial in TRIALS:
    with open(FIXTURES / f"{trial}.csv") as table:
        rows = list(csv.DictReader(table))
    references = [reference(row) for row in rows]
    for iron, scale in CASES:
        for seed in range(1, (SEEDS if iron else 1) + 1):
            headings, told = replay(rows, [iron * part for part in direction(seed)], scale)
            first = min(headings, default=len(rows))
            moved, pairs, late, level, late_level = 0.0, [], [], 0, 0
            for index, seen in enumerate(references):
                if seen is None:
                    continue
                moved += STEP_NS * 1e-9
                if not seen[1]:
                    continue
                level += index >= first
                late_level += moved > 40
                if index not in headings:
                    continue
                off = headings[index]["heading_deg"] - seen[0]
                pair = (abs((off + 180) % 360 - 180), headings[index]["accuracy_deg"])
                pairs.append(pair)
                if moved > 40:
                    late.append(pair)
            print(f"{trial:26} {iron:4} {scale:5} | {line(pairs, level)} | {line(late, late_level)} | {told or ''}", flush=True)
