"""Plays the recordings with an optical reference with and without their gyroscope: a heading at each sample, beside the reference.

usage: score.py BINARY [KEY=VALUE …] from the project's folder; the keys are those of the detector, such as hard_iron_uT=0 since a
magnetometer without a calibration has to learn its iron
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

BINARY, *SETTINGS = sys.argv[1:]
FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
COLUMNS = ("gx", "gy", "gz", "ax", "ay", "az", "mx", "my", "mz")
HEAD = ("time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,"
        "imu.mx_uT,imu.my_uT,imu.mz_uT")
STEP_NS = 7_000_000


def events(rows, has_gyroscope):
    """The headings that are not held, by their row."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print(HEAD, file=trace)
        for index, row in enumerate(rows):
            print(index * STEP_NS, *(row[column] for column in COLUMNS), sep=",", file=trace)
        trace.flush()
        settings = ["heading_filter_deg=0", "upright_axis=none", *SETTINGS] + ([] if has_gyroscope else ["gyroscope=none"])
        words = [word for setting in settings for word in ("--set", f"north.north.{setting}")]
        said = subprocess.run([BINARY, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
    found = map(json.loads, said.stdout.splitlines())
    return {event["time_ns"] // STEP_NS: event for event in found if event["kind"] == "heading" and "age_s" not in event}


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


for name in ("broad05_rotation", "broad07_fast_rotation", "broad18_fast_translation", "broad31_stationary_magnet",
             "broad33_attached_magnet"):
    with open(FIXTURES / f"{name}.csv") as table:
        rows = list(csv.DictReader(table))
    for has_gyroscope in (False, True):
        headings = events(rows, has_gyroscope)
        level, errors, stated = 0, [], []
        for index, row in enumerate(rows):
            if not row["ref_qw"]:
                continue
            w, x, y, z = (float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz"))
            # Where +Y points; a heading of an axis that is level by less than a half says little.
            east, north, up = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)
            if up * up >= 0.75:
                continue
            level += 1
            if index in headings:
                off = headings[index]["heading_deg"] - math.degrees(math.atan2(east, north))
                errors.append(abs((off + 180) % 360 - 180))
                stated.append(headings[index]["accuracy_deg"])
        within = sum(error <= limit for error, limit in zip(errors, stated)) / len(errors)
        print(f"{name:26} {'with' if has_gyroscope else 'without':8} a heading at {len(errors) / level:6.1%} of {level}, "
              f"error median {share(errors, 0.5):.2f}, 95 % {share(errors, 0.95):.2f}, "
              f"stated {share(stated, 0.5):.1f}, within {within:.1%}", flush=True)
