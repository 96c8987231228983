"""Counts how often a right gyroscope is called wrong: recordings with an optical reference, whole and cut, at several rates, with iron.

usage: blame.py BINARY, from the project's folder

A row for each trial and iron: how many replays, in how many a `detector.failed` came, in how many of them it named the gyroscope's axes,
and in how many `calibration.needed` came. Each trial is replayed from three starts and at three rates; iron in two directions. The
magnetometer has no calibration (`default`), or the settings say that the maker has removed its iron (`hard_iron_uT = 0`). Below it,
gyroscopes that are wrong, without iron: the second in which each is reported, at the full rate.
"""

import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

BINARY = sys.argv[1]
FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
STEP_NS = {"vqf_testdata": 3_500_000}
HEAD = "time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,imu.mx_uT,imu.my_uT,imu.mz_uT"
TRIALS = ("broad05_rotation", "broad07_fast_rotation", "broad11_slow_translation", "broad18_fast_translation",
          "broad31_stationary_magnet", "broad33_attached_magnet", "vqf_testdata")
STARTS = (0, 0.2, 0.45)
SETTINGS = {"default": (), "maker": ("--set", "north.north.hard_iron_uT=0")}


WRONG = {"z reversed": lambda g: (g[0], g[1], -g[2]), "x reversed": lambda g: (-g[0], g[1], g[2]),
         "x, y swapped": lambda g: (g[1], g[0], g[2]), "y, z swapped": lambda g: (g[0], g[2], g[1]),
         "x 2": lambda g: [2 * rate for rate in g], "x 57": lambda g: [math.degrees(rate) for rate in g]}


def told(rows, step, every, iron, words, made_wrong=tuple):
    """The reasons of failures, and whether a calibration was asked for."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print(HEAD, file=trace)
        for index in range(0, len(rows), every):
            row = rows[index]
            field = [float(row[f"m{axis}"]) + added for axis, added in zip("xyz", iron)]
            rates = made_wrong([float(row[f"g{axis}"]) for axis in "xyz"])
            print(index * step, *rates, row["ax"], row["ay"], row["az"], *field, sep=",", file=trace)
        trace.flush()
        said = subprocess.run([BINARY, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in said.stdout.splitlines()]
    failed = [(event["time_ns"] * 1e-9, event.get("reason", "")) for event in found if event["kind"] == "detector.failed"]
    return failed, any(event["kind"] == "calibration.needed" for event in found)


def direction(seed):
    """A direction of the iron, all as probable."""
    chance = random.Random(seed)
    way = [chance.gauss(0, 1) for _ in range(3)]
    size = math.sqrt(sum(part * part for part in way))
    return [part / size for part in way]


print(f"{'trial':26} {'iron':>4} {'setting':8} | {'replays':>7} {'failed':>6} {'axes':>4} {'needed':>6} | failures: start, rows left out, s, reason")
whole = {}
for trial in TRIALS:
    with open(FIXTURES / f"{trial}.csv") as table:
        rows = list(csv.DictReader(table))
    for setting, words in SETTINGS.items():
        for strength in (0, 30, 60):
            count, blamed, axes, needed, notes = 0, 0, 0, 0, []
            for part in STARTS:
                for every in (1, 2, 3):
                    for seed in (1,) if strength == 0 else (1, 2):
                        iron = [strength * value for value in direction(seed)]
                        failed, asked = told(rows[int(part * len(rows)):], STEP_NS.get(trial, 7_000_000), every, iron, words)
                        count += 1
                        blamed += bool(failed)
                        axes += any("ax" in reason for _, reason in failed)
                        needed += asked
                        notes += [f"{part}/{every} {time:.1f} {reason[:90]}" for time, reason in failed[:1]]
            total = whole.setdefault((setting, strength), [0, 0, 0, 0])
            for place, value in enumerate((count, blamed, axes, needed)):
                total[place] += value
            print(f"{trial:26} {strength:4} {setting:8} | {count:7} {blamed:6} {axes:4} {needed:6} | {'; '.join(notes[:3])}", flush=True)
for (setting, strength), total in whole.items():
    print(f"{'all':26} {strength:4} {setting:8} | {total[0]:7} {total[1]:6} {total[2]:4} {total[3]:6}")

print(f"\n{'wrong gyroscope':26} {'setting':8} | seconds until it is reported, in the order {', '.join(TRIALS)}")
for name, made_wrong in WRONG.items():
    for setting, words in SETTINGS.items():
        times = []
        for trial in TRIALS:
            with open(FIXTURES / f"{trial}.csv") as table:
                failed, _ = told(list(csv.DictReader(table)), STEP_NS.get(trial, 7_000_000), 1, (0, 0, 0), words, made_wrong)
            times.append(f"{failed[0][0]:.1f}" if failed else "-")
        print(f"{name:26} {setting:8} | {' '.join(f'{time:>6}' for time in times)}", flush=True)
