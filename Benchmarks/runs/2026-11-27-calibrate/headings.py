"""Headings of +Y before and after a calibration from a short window; run by calibrate.py BINARY --headings."""

import json
import math
import pathlib
import subprocess
import tempfile

import numpy as np

import calibrate

TRIALS = ("gyroscope/broad05_rotation", "gyroscope/broad07_fast_rotation", "gyroscope/broad18_fast_translation",
          "gyroscope/broad31_stationary_magnet")
NAMES = {"g": "rad_s", "a": "m_s2", "m": "uT"}


def reference(row):
    """The heading of +Y where it is level by more than a half."""
    if not row["ref_qw"]:
        return None
    w, x, y, z = (float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz"))
    up = 2 * (y * z + w * x)
    return None if up * up >= 0.75 else math.degrees(math.atan2(2 * (x * y - w * z), 1 - 2 * (x * x + z * z)))


def replayed(binary, folder, rows, fields, step, letters, calibration):
    """Share of headings that are there, median error, median stated, share within; from 10 s on."""
    trace = folder / "trace.csv"
    with open(trace, "w") as out:
        print("time_ns", *[f"imu.{letter}{axis}_{NAMES[letter]}" for letter in letters for axis in "xyz"], sep=",", file=out)
        for index, row in enumerate(rows):
            values = {"m": fields[index]}
            print(index * step, *[f"{values[letter][place]:.3f}" if letter == "m" else row[f"{letter}{axis}"]
                                  for letter in letters for place, axis in enumerate("xyz")], sep=",", file=out)
    config = folder / "config.toml"
    named = f'calibration = "{calibration}"\n' if calibration else ""
    gyroscope = 'gyroscope = "imu"\n' if "g" in letters else ""
    config.write_text(f'[sensor.imu]\nsource = "auto"\n{named}[north.north]\naccelerometer = "imu"\nmagnetometer = "imu"\n{gyroscope}'
                      'heading_filter_deg = 0\nupright_axis = "none"\n')
    said = subprocess.run([binary, "replay", "--json", "--config", str(config), str(trace)], capture_output=True, text=True, check=True)
    found = {}
    for event in map(json.loads, said.stdout.splitlines()):
        if event["kind"] == "heading" and "age_s" not in event:
            found[event["time_ns"] // step] = event
    count, errors, stated = 0, [], []
    for index, row in enumerate(rows):
        degrees = reference(row)
        if degrees is None or index * step < 10e9:
            continue
        count += 1
        if index in found:
            errors.append(abs((found[index]["heading_deg"] - degrees + 180) % 360 - 180))
            stated.append(found[index]["accuracy_deg"])
    if not errors:
        return 0, math.nan, math.nan, math.nan
    errors, stated = np.array(errors), np.array(stated)
    return len(errors) / count, np.median(errors), np.median(stated), np.mean(errors <= stated)


def score(binary):
    print(f"{'':26} {'s':>3} {'µT':>3} {'soft':>5} | {'stated':>6} {'true':>5} µT | before: there, median, stated, within | after")
    for trial in TRIALS:
        rows, moving, fields, _ = calibrate.trial(trial)
        moves, step = np.flatnonzero(moving), int(calibrate.TRIALS[trial])
        for number, (seconds, strength, soft) in enumerate(((5, 30, 0), (10, 30, 0.05), (20, 60, 0), (40, 10, 0.05), (40, 30, 0.1))):
            chance = np.random.default_rng(20000 + number)
            q, _ = np.linalg.qr(chance.normal(size=(3, 3)))
            matrix = q @ np.diag(1 + soft * np.array([-0.5, 0, 0.5])) @ q.T
            iron = strength * calibrate.unit(chance)
            measured = fields @ matrix.T + iron
            length = int(seconds * 1e9 / step)
            start = moves[chance.integers(max(1, len(moves) - length))]
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                saved = folder / "imu.toml"
                found = calibrate.run(binary, measured[start:start + length], step, "-o", str(saved))
                figures = found["figures"]
                accepted = found["is_accepted"]
                apart = np.linalg.norm(np.array(figures["hard_iron_uT"]) - iron) if accepted else math.nan
                head = f"{trial.split('/')[1]:26} {seconds:3} {strength:3} {soft:5}"
                for letters in ("gam", "am"):
                    sets = [replayed(binary, folder, rows, measured, step, letters, None)]
                    if accepted:
                        sets.append(replayed(binary, folder, rows, measured, step, letters, saved))
                    text = " | ".join(f"{there:6.1%} {median:5.1f} {said:5.1f} {within:6.1%}" for there, median, said, within in sets)
                    shown = f"{figures['error_uT']:6.2f} {apart:5.2f}   " if accepted else f"refused: {found['refusal']:7}"
                    print(f"{head} | {shown} | {'nine axes' if letters == 'gam' else 'six axes ':9} {text}", flush=True)
