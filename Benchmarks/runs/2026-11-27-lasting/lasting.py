"""Looks for errors that last: the share of headings within the stated accuracy in each stretch of 10 s of the recordings.

usage: lasting.py BINARY, from the project's folder

A row for each trial, iron beside the sensor (none, that of a telephone) and setting (no calibration; hard_iron_uT = 0): over the headings
of +Y that are there while it is level by more than a half, from 10 s on; and the worst stretch.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BINARY = sys.argv[1]
FIXTURES = pathlib.Path("Tests/Fixtures")
STEP_NS = 7_000_000
TRIALS = ("gyroscope/broad05_rotation", "gyroscope/broad07_fast_rotation", "gyroscope/broad11_slow_translation",
          "gyroscope/broad18_fast_translation", "gyroscope/broad31_stationary_magnet", "gyroscope/broad33_attached_magnet",
          "broad/broad26_phone", "broad/broad25_tapping", "broad/broad16_fast_translation")
IRON = {"none": (0, 0, 0), "telephone": (-2.1, 0.5, -3.2), "other": (1.5, 3, -1)}
SETTINGS = {"default": (), "maker": ("--set", "north.north.hard_iron_uT=0")}
UNITS = {"g": "rad_s", "a": "m_s2", "m": "uT"}


def reference(row):
    if "ref_qw" in row:
        if not row["ref_qw"]:
            return None
        w, x, y, z = (float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz"))
        up = 2 * (y * z + w * x)
        return None if up * up >= 0.75 else math.degrees(math.atan2(2 * (x * y - w * z), 1 - 2 * (x * x + z * z)))
    return float(row["ref_heading_y_deg"]) if row["ref_heading_y_deg"] and float(row["ref_y_horizontal"]) >= 0.5 else None


print(f"{'trial':26} {'iron':9} {'setting':8} | {'there':>6} {'median':>6} {'stated':>6} {'within':>6} | worst 10 s: from, median, stated, within")
for trial in TRIALS:
    with open(FIXTURES / f"{trial}.csv") as table:
        rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    letters = "gam" if "gx" in rows[0] else "am"
    for name, iron in IRON.items():
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
            print("time_ns", *[f"imu.{letter}{axis}_{UNITS[letter]}" for letter in letters for axis in "xyz"], sep=",", file=trace)
            for index, row in enumerate(rows):
                values = [float(row[f"{letter}{axis}"]) + (iron[place] if letter == "m" else 0)
                          for letter in letters for place, axis in enumerate("xyz")]
                print(index * STEP_NS, *values, sep=",", file=trace)
            trace.flush()
            for setting, words in SETTINGS.items():
                options = [word for key in ("heading_filter_deg=0", "upright_axis=none") for word in ("--set", f"north.north.{key}")]
                said = subprocess.run([BINARY, "replay", "--json", *options, *words, trace.name], capture_output=True, text=True, check=True)
                found = {event["time_ns"] // STEP_NS: event for event in map(json.loads, said.stdout.splitlines())
                         if event["kind"] == "heading" and "age_s" not in event}
                count, seen = 0, []
                for index, row in enumerate(rows):
                    degrees = reference(row)
                    if degrees is None or index * STEP_NS < 10e9:
                        continue
                    count += 1
                    if index in found:
                        off = abs((found[index]["heading_deg"] - degrees + 180) % 360 - 180)
                        seen.append((index * STEP_NS * 1e-9, off, found[index]["accuracy_deg"]))
                head = f"{trial.split('/')[1]:26} {name:9} {setting:8}"
                if not seen:
                    print(f"{head} | {0:6.1%}", flush=True)
                    continue
                seen = np.array(seen)
                within = seen[:, 1] <= seen[:, 2]
                stretches = [seen[(seen[:, 0] >= start) & (seen[:, 0] < start + 10)] for start in np.arange(10, seen[-1, 0], 5)]
                worst = min((part for part in stretches if len(part) > 100), key=lambda part: np.mean(part[:, 1] <= part[:, 2]), default=seen)
                print(f"{head} | {len(seen) / count:6.1%} {np.median(seen[:, 1]):6.1f} {np.median(seen[:, 2]):6.1f} {np.mean(within):6.1%} | "
                      f"{worst[0, 0]:5.0f} {np.median(worst[:, 1]):5.1f} {np.median(worst[:, 2]):5.1f} {np.mean(worst[:, 1] <= worst[:, 2]):6.1%}", flush=True)
