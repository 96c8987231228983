#!/usr/bin/env python3
"""How good the choice of the constants of [steps.NAME] is on a recording that was not looked at: leave_one_out.py FOLDER

FOLDER has the recordings of dariosalvi78/banglejs-algos-tester 58fdae33 (named by their count). The counter is that of StepDetector.swift,
written again with its constants as parameters. 1,500 sets of them are drawn around the shipped ones (seed 1); for each recording, the
set that is best on all others counts it. Best is the least mean error of the walks with 5 % for each false step a minute. Needs numpy, scipy."""
import pathlib
import re
import sys

import numpy as np
from scipy.signal import butter, sosfilt

SHIPPED = dict(low=0.9, high=3.2, threshold=0.08, regular=8, least=0.05, share=0.2, alike=4.0, even=0.17, soonest=0.28,
               end=1 / 3)
BEFORE = dict(SHIPPED, regular=7, least=0.06, end=0.5)


def samples(path):
    """The stamps in seconds and the total acceleration in g."""
    data = np.genfromtxt(path, delimiter=",", skip_header=1)
    data = data[~np.isnan(data).any(1)]
    t, g = data[:, 0] / 1000, np.linalg.norm(data[:, 1:4] / 8192, axis=1)
    keep = np.concatenate([[True], np.diff(t) > 0])
    return t[keep], g[keep]


def bins(t, g):
    """The total acceleration, joined by lines, as means of 40 ms."""
    whole = np.concatenate([[0], np.cumsum((g[1:] + g[:-1]) / 2 * np.diff(t))])
    edges = np.arange(t[0], t[-1], 0.04)
    place = np.clip(np.searchsorted(t, edges, side="right") - 1, 0, len(t) - 2)
    u = edges - t[place]
    slope = (g[place + 1] - g[place]) / (t[place + 1] - t[place])
    return np.diff(whole[place] + g[place] * u + slope * u * u / 2) / 0.04 - g[0]


def count(raw, p):
    swings = sosfilt(butter(2, [p["low"], p["high"]], "band", fs=25, output="sos"), raw).tolist()
    square = usual = extreme = valley = 0.0
    rising, walking, steps, times, heights, peak = True, False, 0, [], [], 0.0
    for place, swing in enumerate(swings):
        now = 0.04 * (place + 1)
        square += (swing * swing - square) * 0.04 / 2.04
        if times and now - times[-1] > 1.5:
            times, heights, usual, walking = [], [], 0.0, False
        limit = max(p["least"], p["share"] * usual)
        if not rising:
            extreme = min(extreme, swing)
            if swing - extreme > limit:
                rising, valley, extreme, peak = True, extreme, swing, now
            continue
        if swing > extreme:
            extreme, peak = swing, now
            continue
        if extreme - swing <= limit:
            continue
        rising, height, extreme = False, extreme - valley, swing
        if height <= limit or times and peak - times[-1] < p["soonest"] - 1e-9:
            continue
        times, heights = (times + [peak])[-p["regular"]:], (heights + [height])[-p["regular"]:]
        usual = height if usual == 0 else usual + (height - usual) * 0.2
        if walking:
            if square ** 0.5 < p["threshold"] * p["end"]:
                times, heights, usual, walking = [], [], 0.0, False
            else:
                steps += 1
        elif len(times) == p["regular"] and square ** 0.5 >= p["threshold"] and max(heights) <= p["alike"] * min(heights):
            gaps = np.diff(times)
            if gaps.std() <= p["even"] * gaps.mean():
                steps, walking = steps + p["regular"], True
    return steps


files = sorted(pathlib.Path(sys.argv[1]).glob("*.csv"))
data = [bins(*samples(path)) for path in files]
truth = np.array([0 if "drive" in path.name else int(re.match(r"\d+", path.name)[0]) for path in files])
minutes = np.array([0.04 / 60 * len(raw) for raw in data])
rng, sets = np.random.default_rng(1), [SHIPPED, BEFORE]
while len(sets) < 1500:
    sets.append(dict(
        low=rng.uniform(0.5, 1.2), high=rng.uniform(2.6, 4), threshold=rng.uniform(0.05, 0.11), regular=int(rng.integers(4, 11)),
        least=rng.uniform(0.02, 0.12), share=rng.uniform(0.05, 0.5), alike=rng.uniform(2, 6), even=rng.uniform(0.08, 0.3),
        soonest=rng.uniform(0.2, 0.4), end=rng.uniform(0.2, 0.6)))
counts = np.array([[count(raw, p) for raw in data] for p in sets])
walks = truth > 0


def cost(used):
    w, rest = used & walks, used & ~walks
    error = np.abs(counts[:, w] - truth[w]) / truth[w]
    return error.mean(1) + 0.05 * counts[:, rest].sum(1) / minutes[rest].sum()


def errors(found):
    return 100 * np.abs(found[walks] - truth[walks]) / truth[walks]


everything = np.ones(len(files), bool)
best = int(np.argmin(cost(everything)))
held = np.zeros(len(files), int)
for place in range(len(files)):
    used = everything.copy()
    used[place] = False
    held[place] = counts[int(np.argmin(cost(used))), place]
print("recording                        truth  before  shipped  best of all  chosen on the others  minutes")
for place, path in enumerate(files):
    print(f"{path.name:32} {truth[place]:5} {counts[1, place]:7} {counts[0, place]:8} {counts[best, place]:12} {held[place]:21} {minutes[place]:8.1f}")
for name, found in (("before", counts[1]), ("shipped", counts[0]), ("best of all", counts[best]), ("chosen on the others", held)):
    false = found[~walks].sum() / minutes[~walks].sum()
    print(f"{name:22} mean error {errors(found).mean():4.1f} %, greatest {errors(found).max():4.1f} %, {false:.2f} false steps a minute")
# How far the constants are from their limits: the walks weaker and stronger, slower and faster, and the drive as that of a harder car.
drive = next(place for place, path in enumerate(files) if "drive" in path.name)
recordings = [samples(path) for path in files]
for name, p in (("before", BEFORE), ("shipped", SHIPPED)):
    found = [errors(np.array([count(bins(t * pace, g.mean() + (g - g.mean()) * strength), p) for t, g in recordings]))
             for strength in (0.8, 1, 1.25) for pace in (0.88, 1, 1.12)]
    t, g = recordings[drive]
    false = {strength: sum(count(bins(t * pace, g.mean() + (g - g.mean()) * strength), p) for pace in (0.8, 1, 1.25)) for strength in (1, 1.5, 2)}
    minutes = 3.05 * (t[-1] - t[0]) / 60
    print(f"{name:8} walks x 0.8 to 1.25, at 0.88 to 1.12 of their time: mean error {np.mean(found):.1f} %, of the worst {max(e.mean() for e in found):.1f} %;"
          f" false steps a minute of the drive x " + ", ".join(f"{strength}: {steps / minutes:.2f}" for strength, steps in false.items()))
print("best of all:", {key: round(value, 3) for key, value in sets[best].items()})
