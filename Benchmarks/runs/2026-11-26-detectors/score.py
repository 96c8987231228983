#!/usr/bin/env python3
"""Truth tables of taps, steps, rest and departure: score.py BINARY [FOLDER OF COUNTED WALKS]

Run in the project's folder. Taps are half-sines of 2 to 8 ms and 0.6 to 3 g, laid on recordings at seeded times; "filtered" samples are
means over the sampling period, as a chip with a filter measures, and "points" are not. Needs numpy."""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

G = 9.80665
binary = sys.argv[1]
fixtures = pathlib.Path("Tests/Fixtures")
folder = pathlib.Path(tempfile.mkdtemp())


def events(section, path, more=""):
    config = folder / "c.toml"
    config.write_text(f'[sensor.w]\nsource = "trace"\nfile = "{pathlib.Path(path).resolve()}"\n[{section}.s]\naccelerometer = "w"\n{more}')
    out = subprocess.run([binary, "replay", "--json", "--config", config], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def load(name):
    data = np.genfromtxt(fixtures / name, delimiter=",", names=True, deletechars="")
    names = data.dtype.names
    columns = names[1:4] if "phyphox" in name else ("ax", "ay", "az")
    a = np.stack([data[n] for n in columns], 1)
    keep = ~np.isnan(a).any(1)
    return data[names[0]][keep], a[keep]


def rest():
    t, a = load("gyroscope/broad31_stationary_magnet.csv")
    return t[t < 10], a[t < 10]


def typing(seed=3):
    """Keys of 0.03 g (standard deviation) at 3 to 10 a second beside a device at rest."""
    t0, a0 = rest()
    t = np.arange(0, 10, 0.005)
    a = np.stack([np.interp(t, t0, a0[:, j]) for j in range(3)], 1)
    rng, s = np.random.default_rng(seed), 0
    while (s := s + rng.uniform(0.1, 0.35)) < 9.9:
        i = int(s / 0.005)
        a[i:i + 2] += rng.normal(0, 0.03, 3) * G
    return t, a


def road():
    data = np.genfromtxt(fixtures / "steps/drive_8min.csv", delimiter=",", skip_header=1)[2000:]
    return (data[:, 0] - data[0, 0]) / 1000, data[:, 1:4] * G


def tapped(ground, rate, seed, filtered, count):
    rng = np.random.default_rng(seed)
    t0, a0 = ground
    t = np.arange(int((count * 3 + 3) * rate)) / rate
    span = t0[-1] - t0[0]
    there = np.abs((t + rng.uniform(0, span)) % (2 * span) - span) + t0[0]
    a = np.stack([np.interp(there, t0, a0[:, j]) for j in range(3)], 1)
    a += rng.normal(0, 0.0003 * math.sqrt(rate / 2), a.shape) * G
    truth = []
    for number in range(count):
        taps, s = int(rng.integers(1, 4)), 2 + number * 3 + rng.uniform(0, 0.5)
        axis, sign, peak = rng.integers(3), rng.choice([-1, 1]), rng.uniform(0.6, 3)
        truth.append((s, taps, "xyz"[axis], sign))
        for part in range(taps):
            w, p = rng.uniform(0.002, 0.008), peak * (rng.uniform(0.6, 1) if part else 1)
            near = (t > s - 0.05) & (t < s + 0.05)
            u = t[near] - s

            def integral(v):
                return w / math.pi * (1 - np.cos(math.pi * np.clip(v, 0, w) / w))

            shape = (integral(u + 0.5 / rate) - integral(u - 0.5 / rate)) * rate if filtered else \
                np.where((u > 0) & (u < w), np.sin(math.pi * u / w), 0)
            direction = rng.normal(0, 0.15, 3)
            direction[axis] = sign
            a[near] += shape[:, None] * p * direction * G
            s += rng.uniform(0.12, 0.35)
    path = folder / "taps.csv"
    np.savetxt(path, np.column_stack([t, a]), "%.6f", ",", header="t_s,ax_m_s2,ay_m_s2,az_m_s2", comments="")
    return path, truth


print("taps: found with their count, of about 100 each, 50 at 1,600 Hz; seed 11")
print("ground  samples   Hz     one     two   three  axis and sign  others")
for name, ground in (("rest", rest()), ("typing", typing()), ("road", road()), ("walk", load("phyphox_walk/Accelerometer.csv"))):
    for filtered in (True, False):
        for rate in (50, 100, 200, 400, 800, 1600) if name == "rest" else (400,):
            path, truth = tapped(ground, rate, 11, filtered, 300 if rate <= 800 else 150)
            found = events("tap", path)
            right, whole, axes, used = [0] * 4, [0] * 4, 0, 0
            for s, taps, axis, sign in truth:
                whole[taps] += 1
                hit = [e for e in found if abs(e["onset_ns"] / 1e9 - s) < 0.05]
                used += len(hit)
                right[taps] += bool(hit) and hit[0]["count"] == taps
                axes += bool(hit) and hit[0]["axis"] == ("+" if sign > 0 else "-") + axis
            shares = "  ".join(f"{100 * right[n] / whole[n]:5.1f} %" for n in (1, 2, 3))
            print(f"{name:7} {'filtered' if filtered else 'points':8} {rate:5} {shares}  {axes:5} of {used:4} {len(found) - used:6}")

print("\ntaps in recordings without any")
total = hours = 0
for path in sorted(fixtures.glob("gyroscope/broad??_*.csv")) + sorted(fixtures.glob("broad/*.csv")) + [
        fixtures / "xio/sensor_data.csv", fixtures / "phyphox_walk/Accelerometer.csv"]:
    if any(part in path.name for part in ("vqf", "labels", "tapping")):
        continue
    found = events("tap", path)
    span = np.genfromtxt(path, delimiter=",", skip_header=1, usecols=0)
    hours += (span[-1] - span[0]) / 3600
    total += len(found)
    if found:
        print(f"  {path.name}: {[(round(e['time_ns'] / 1e9, 1), e['count'], e['peak_g']) for e in found]}")
print(f"  {total} in {60 * hours:.1f} minutes; trial 25, which is tapped: {len(events('tap', fixtures / 'broad/broad25_tapping.csv'))}")

print("\nsteps")
errors = []
for path in sorted(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else fixtures / "steps").glob("*.csv")):
    data = np.genfromtxt(path, delimiter=",", skip_header=1)
    data = data[~np.isnan(data).any(1)]
    if np.abs(data[:, 1:]).max() > 1000:
        data[:, 1:] /= 8192
    np.savetxt(folder / "walk.csv", data, "%.5f", ",", header="t_ms,ax_g,ay_g,az_g", comments="")
    count = sum(e["count"] for e in events("steps", folder / "walk.csv"))
    truth = 0 if "drive" in path.name else int(re.match(r"\d+", path.name)[0])
    errors += [abs(count - truth) / truth] if truth else []
    print(f"  {path.name:32} {truth:4} {count:4}  {(data[-1, 0] - data[0, 0]) / 60000:5.1f} min")
print(f"  mean error {100 * np.mean(errors):.1f} %")
lines = (fixtures / "phyphox_walk/Accelerometer.csv").read_text().splitlines()
for part in (1, 2, 4):
    (folder / "walk.csv").write_text("\n".join([lines[0]] + lines[1::part]) + "\n")
    print(f"  phyphox_walk at {100 // part} Hz: {sum(e['count'] for e in events('steps', folder / 'walk.csv'))}")

print("\nrest and departure: onsets in s")
data = np.genfromtxt(fixtures / "broad/broad05_rotation_breaks.csv", delimiter=",", names=True)
edges = np.flatnonzero(np.diff(data["moving"]))
print("  broad05, labels:", [(round(float(data["t_s"][i]), 1), "departed" if data["moving"][i + 1] else "stationary") for i in edges])
for path in ("broad/broad05_rotation_breaks.csv", "gyroscope/broad18_fast_translation.csv", "phyphox_walk/Accelerometer.csv", "steps/drive_8min.csv"):
    print(f"  {path}:", [(round(e["onset_ns"] / 1e9, 1), e["kind"]) for e in events("stationary", fixtures / path)])
