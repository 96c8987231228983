#!/usr/bin/env python3
"""Truth table of taps on what moves, and what is taken for a tap: score.py BINARY FOLDER OF COUNTED WALKS

Run in the project's folder. Taps are laid on recordings as ../2026-11-26-detectors/score.py does; "points" are samples without a chip's
filter. The rules were chosen with seeds 21, 35, 135 and 235 and the grounds of seeds 1 to 16, 77 and 78; the seeds here are others. "visible"
is the share of the events of which every tap has a sample above 0.2 g beside a reference that knows the ground. Heels are decaying sines
laid on the walk at each step, keys are half-sines of 4 to 10 ms, 3 to 9 a second, with a pause behind each eighth. Needs numpy."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

G = 9.80665
binary, walks = sys.argv[1], pathlib.Path(sys.argv[2])
fixtures = pathlib.Path("Tests/Fixtures")
folder = pathlib.Path(tempfile.mkdtemp())


def events(t, a):
    path = folder / "taps.csv"
    np.savetxt(path, np.column_stack([t, a]), "%.6f", ",", header="t_s,ax_m_s2,ay_m_s2,az_m_s2", comments="")
    config = folder / "c.toml"
    config.write_text(f'[sensor.w]\nsource = "trace"\nfile = "{path}"\n[tap.s]\naccelerometer = "w"\n')
    out = subprocess.run([binary, "replay", "--json", "--config", config], capture_output=True, text=True, check=True).stdout
    return [event for event in map(json.loads, out.splitlines()) if event["kind"] == "tap"]


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


def typing(seed, deviation=0.03, seconds=10.0, spread=0.0):
    """Keys at 3 to 10 a second beside a device at rest, of two samples of 5 ms."""
    t0, a0 = rest()
    t = np.arange(0, seconds, 0.005)
    there = np.clip(np.abs(t % 19.8 - 9.9), t0[0], t0[-1])
    a = np.stack([np.interp(there, t0, a0[:, j]) for j in range(3)], 1)
    rng, s = np.random.default_rng(seed), 0.0
    while (s := s + rng.uniform(0.1, 0.35)) < seconds - 0.1:
        i = int(s / 0.005)
        a[i:i + 2] += rng.normal(0, deviation, 3) * math.exp(rng.normal(0, spread)) * G
    return t, a


def road():
    data = np.genfromtxt(fixtures / "steps/drive_8min.csv", delimiter=",", skip_header=1)[2000:]
    return (data[:, 0] - data[0, 0]) / 1000, data[:, 1:4] * G


def watch(name):
    data = np.genfromtxt(walks / name, delimiter=",", skip_header=1)
    data = data[~np.isnan(data).any(1)]
    data = data[np.concatenate([[True], np.diff(data[:, 0]) > 0])]
    return (data[:, 0] - data[0, 0]) / 1000, data[:, 1:4] / 8192 * G


def keys(seed, peak, seconds=600.0):
    t0, a0 = rest()
    t = np.arange(0, seconds, 0.0025)
    there = np.clip(np.abs(t % 19.8 - 9.9), t0[0], t0[-1])
    a = np.stack([np.interp(there, t0, a0[:, j]) for j in range(3)], 1)
    rng, s = np.random.default_rng(seed), 0.3
    while (s := s + 1 / rng.uniform(3, 9)) < seconds - 0.1:
        w, direction = rng.uniform(0.004, 0.01), rng.normal(0, 1, 3)
        direction[2] = abs(direction[2]) + 1
        near = (t > s) & (t < s + w)
        wave = np.sin(math.pi * (t[near] - s) / w) * rng.uniform(*peak) * G
        a[near] += wave[:, None] * direction / np.linalg.norm(direction)
        if rng.random() < 0.12:
            s += rng.uniform(0.3, 1.5)
    return t, a


def heels(seed, hertz=25.0, peak=0.5, spread=0.4, apart=0.55):
    t0, a0 = load("phyphox_walk/Accelerometer.csv")
    t = np.arange(0, t0[-1] - t0[0], 1 / 400)
    a = np.stack([np.interp(t + t0[0], t0, a0[:, j]) for j in range(3)], 1)
    rng, s = np.random.default_rng(seed), 1.0
    while s < t[-1] - 1:
        direction = rng.normal(0, 0.3, 3)
        direction[1] = 1
        u = t - s
        near = (u >= 0) & (u < 0.3)
        wave = np.sin(2 * np.pi * hertz * math.exp(rng.normal(0, 0.2)) * u[near]) * np.exp(-u[near] / 0.03)
        a[near] += wave[:, None] * peak * math.exp(rng.normal(0, spread)) * direction * G
        s += rng.normal(apart, 0.02)
    return t, a


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
        first, seen = s, True
        for part in range(taps):
            w, p = rng.uniform(0.002, 0.008), peak * (rng.uniform(0.6, 1) if part else 1)
            near = slice(*np.searchsorted(t, [s - 0.05, s + 0.05]))
            u = t[near] - s

            def integral(v):
                return w / math.pi * (1 - np.cos(math.pi * np.clip(v, 0, w) / w))

            shape = (integral(u + 0.5 / rate) - integral(u - 0.5 / rate)) * rate if filtered else \
                np.where((u > 0) & (u < w), np.sin(math.pi * u / w), 0)
            direction = rng.normal(0, 0.15, 3)
            direction[axis] = sign
            a[near] += shape[:, None] * p * direction * G
            seen &= bool(shape.max() * p > 0.2)
            s += rng.uniform(0.12, 0.35)
        truth.append((first, taps, "xyz"[axis], sign, seen))
    return t, a, truth


def row(name, ground, rate, seed, filtered, count=300):
    t, a, truth = tapped(ground, rate, seed, filtered, count)
    found = events(t, a)
    right, whole, visible, axes, used = [0] * 4, [0] * 4, [0] * 4, 0, 0
    for s, taps, axis, sign, seen in truth:
        whole[taps] += 1
        visible[taps] += seen
        hit = [e for e in found if abs(e["onset_ns"] / 1e9 - s) < 0.05]
        used += len(hit)
        right[taps] += bool(hit) and hit[0]["count"] == taps
        axes += bool(hit) and hit[0]["axis"] == ("+" if sign > 0 else "-") + axis
    shares = "  ".join(f"{100 * right[n] / whole[n]:5.1f} %" for n in (1, 2, 3))
    seen = "  ".join(f"{100 * visible[n] / whole[n]:5.1f} %" for n in (1, 2, 3))
    print(f"{name:26} {'filtered' if filtered else 'points':8} {rate:5} {shares}   {seen}  {axes:5} of {used:4} {len(found) - used:6}", flush=True)


print("ground                     samples     Hz     one     two   three   visible                     axis and sign  others")
walk = load("phyphox_walk/Accelerometer.csv")
grounds = (("rest", rest()), ("typing, seed 93", typing(93)), ("keys of 0.03 to 0.1 g", keys(94, (0.03, 0.1), 60)),
           ("keys of 0.05 to 0.2 g", keys(95, (0.05, 0.2), 60)), ("road", road()), ("walk", walk), ("walk, watch", watch("150.csv")),
           ("walk, watch, other", watch("100_6.csv")))
for filtered in (True, False):
    for name, ground in grounds:
        for rate in (400, 800, 1600) if name == "rest" else (400,):
            row(name, ground, rate, 401, filtered, 600 if rate < 1600 else 150)
print("lower rates, at rest")
for filtered in (True, False):
    for rate in (50, 100, 200):
        row("rest", rest(), rate, 402, filtered)

print("\nfalse taps")
total = hours = 0.0
for path in sorted(fixtures.glob("gyroscope/broad??_*.csv")) + sorted(fixtures.glob("broad/*.csv")) + [fixtures / "phyphox_walk/Accelerometer.csv"]:
    if "vqf" in path.name or "tapping" in path.name or "labels" in path.name:
        continue
    t, a = load(str(path.relative_to(fixtures)))
    found = events(t, a)
    hours += (t[-1] - t[0]) / 3600
    total += len(found)
    if found:
        print(f"  {path.name}: {[(round(e['time_ns'] / 1e9, 1), e['count'], e['peak_g']) for e in found]}")
print(f"  recordings without a tap: {total:.0f} in {60 * hours:.1f} minutes")
print(f"  trial 25 of BROAD at 71 Hz, which is tapped: {len(events(*load('broad/broad25_tapping.csv')))} found")
for name, ground in (
        ("typing of 0.03 g, ten minutes", typing(405, 0.03, 600)), ("typing of 0.1 g, ten minutes", typing(406, 0.1, 600)),
        ("typing of 0.1 g, keys by a factor of e^0.6 unlike, ten minutes", typing(407, 0.1, 600, 0.6)),
        ("keys of 0.05 to 0.2 g, ten minutes", keys(408, (0.05, 0.2))), ("keys of 0.05 to 0.5 g, ten minutes", keys(409, (0.05, 0.5))),
        ("keys of 0.2 to 1 g, ten minutes", keys(410, (0.2, 1))), ("heels of 15 Hz, 104 s", heels(411, 15)),
        ("heels of 25 Hz, 104 s", heels(412)), ("heels of 40 Hz, 104 s", heels(413, 40)),
        ("heels of 60 Hz and 1.5 g, 104 s", heels(414, 60, 1.5, 0.5, 0.6)), ("heels of 30 Hz and 0.25 g, 104 s", heels(415, 30, 0.25, 0.5, 0.6))):
    print(f"  made: {name}: {len(events(*ground))}", flush=True)
for path in sorted(walks.glob("*.csv")):
    found = events(*watch(path.name))
    if found:
        print(f"  {path.name}: {len(found)}")
