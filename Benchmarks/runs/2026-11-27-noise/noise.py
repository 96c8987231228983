#!/usr/bin/env python3
"""Noise that is known: how near `calibrate --noise` comes to it, and what share of headings lies within the accuracy that they state,
with and without the kept noise. The device lies flat and points north; the noise is white.

Usage: noise.py PROGRAM"""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])
AXES = ["ax_m_s2", "ay_m_s2", "az_m_s2", "mx_uT", "my_uT", "mz_uT", "gx_rad_s", "gy_rad_s", "gz_rad_s"]
REST = [0, 0, 9.81, 0, 20, -45, 0, 0, 0]


def write(path, seed, rate, seconds, deviations, gyroscope=True):
    numbers = random.Random(seed)
    count = 9 if gyroscope else 6
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(["time_s"] + AXES[:count]) + "\n")
        for index in range(int(rate * seconds) + 1):
            values = (REST[axis] + numbers.gauss(0, deviations[axis // 3]) for axis in range(count))
            file.write(f"{index / rate:.6f}," + ",".join(f"{value:.7g}" for value in values) + "\n")


def found(path, kind):
    made = subprocess.run([PROGRAM, "calibrate", kind, "--noise", "--trace", path, "--json"], capture_output=True, text=True)
    figures = json.loads(made.stdout)["figures"]
    return next(value for key, value in figures.items() if key.startswith("noise_"))


def densities(folder):
    print("found / true, of 20 recordings each: mean, least, greatest; on the noisiest axis, which is above the true one")
    for rate, seconds in [(10, 60), (50, 60), (100, 10), (100, 60), (400, 60)]:
        root = math.sqrt(rate / 2)
        true = {"accelerometer": 0.02 / root / 9.80665 * 1e6, "magnetometer": 600 / root, "gyroscope": math.degrees(0.001) / root}
        for kind, density in true.items():
            ratios = []
            for seed in range(20):
                write(f"{folder}/a.csv", seed, rate, seconds, (0.02, 0.6, 0.001))
                ratios.append(found(f"{folder}/a.csv", kind) / density)
            print(f"  {kind:14} {rate:4} Hz {seconds:3} s  {statistics.mean(ratios):.3f}  {min(ratios):.3f}  {max(ratios):.3f}")


def headings(folder):
    print("headings of 20 recordings of 60 s at 50 Hz, in a level field of 20 uT: share within the stated accuracy, its median, the")
    print("error that nine of ten stay within; without and with the kept noise")
    for gyroscope in [False, True]:
        for deviation in [0.5, 2, 5, 10]:
            cells = []
            for keeps in [False, True]:
                errors, within, stated = [], 0, []
                for seed in range(20):
                    write(f"{folder}/h.csv", 100 + seed, 50, 60, (0.02, deviation, 0.001), gyroscope)
                    with open(f"{folder}/c.toml", "w", encoding="utf-8") as file:
                        file.write(f"[magnetometer_noise]\nnoise_nT_rthz = {1000 * deviation / 5}\n")
                    with open(f"{folder}/b.toml", "w", encoding="utf-8") as file:
                        file.write(f'[sensor.box]\nsource = "trace"\nfile = "{folder}/h.csv"\n')
                        file.write('calibration = "c.toml"\n' if keeps else "")
                        file.write('[north.bow]\naccelerometer = "box"\nmagnetometer = "box"\nhard_iron_uT = 0\nheading_filter_deg = 0\n')
                        file.write('gyroscope = "box"\n' if gyroscope else "")
                    lines = subprocess.run([PROGRAM, "replay", "--json", "--config", f"{folder}/b.toml"], capture_output=True, text=True).stdout
                    for event in map(json.loads, lines.splitlines()):
                        if event["kind"] != "heading" or "accuracy_deg" not in event:
                            continue
                        error = abs((event["heading_deg"] + 180) % 360 - 180)
                        errors.append(error)
                        stated.append(event["accuracy_deg"])
                        within += error <= event["accuracy_deg"]
                if errors:
                    errors.sort()
                    cells.append(f"{100 * within / len(errors):3.0f} %  {statistics.median(stated):5.1f}  {errors[int(0.9 * len(errors))]:5.1f}")
                else:
                    cells.append("no heading")
            print(f"  {'gyroscope' if gyroscope else 'compass':10} {deviation:4} uT a sample   {cells[0]}   {cells[1]}", flush=True)


with tempfile.TemporaryDirectory() as folder:
    headings(folder)
    densities(folder)
