"""Calibrates a magnetometer that was turned little or much, and compares the stated error with the true one, and headings with both.

usage: calibrate.py BINARY [FIRST_SEED COUNT] [--headings], from the project's folder; numpy is needed

Cases are drawn by seed: half are windows of 5 to 40 s of the recordings with an optical reference, some of which keep only the rows
whose tilt is small, half are made: yaw alone, a wobble of 30 degrees, a full tumble, a hand that turns to and fro; noise of 0.3 to 1 µT,
and in a third of them a room whose field varies slowly by up to 1 µT. To each hard iron of 0 to 60 µT and soft iron of up to 10 % are
added. Seeds below 10000 were used to choose the estimate, seeds from 10000 on were not.

The true error is that of a calibrated field: the distance of the centres and, on one axis, the root mean square over all directions of
what noise and soft iron leave, as `error_uT` is defined: `field` counts the cases whose stated error is within a factor of 3 of it.
`centre` counts those within a factor of 3 of the distance of the centres alone; in `below 1` both may be below 1 µT as well, because the
recordings' own magnetometer is known to about 0.5 µT, and noise of 1 µT hides a centre that is better known.

With --headings each recording's window is calibrated, and the whole recording replayed with the calibration and without: the headings
of +Y (level by more than a half, from 10 s on), with the gyroscope and without.
"""

import csv
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FIXTURES = pathlib.Path("Tests/Fixtures")
# Step in ns; rows from which it moves.
TRIALS = {"gyroscope/broad05_rotation": 7e6, "gyroscope/broad07_fast_rotation": 7e6, "gyroscope/broad11_slow_translation": 7e6,
          "gyroscope/broad18_fast_translation": 7e6, "gyroscope/broad31_stationary_magnet": 7e6, "gyroscope/vqf_testdata": 3.5e6,
          "broad/broad16_fast_translation": 7e6, "broad/broad25_tapping": 7e6}
MADE = ("yaw", "wobble", "tumble", "hand")


@functools.cache
def trial(name):
    """All rows of a recording, and which of them move."""
    with open(FIXTURES / f"{name}.csv") as table:
        rows = list(csv.DictReader(line for line in table if not line.startswith("#")))
    if "ref_qw" in rows[0]:
        moving = [bool(row["ref_qw"]) for row in rows]
    elif "moving" in rows[0]:
        moving = [row["moving"] == "1" for row in rows]
    else:
        moving = [index > 2000 for index in range(len(rows))]
    return rows, np.array(moving), np.array([[float(row[f"m{axis}"]) for axis in "xyz"] for row in rows]), \
        np.array([[float(row[f"a{axis}"]) for axis in "xyz"] for row in rows])


def turned(vectors, axis, angles):
    """Vectors turned about an axis (Rodrigues)."""
    axis = axis / np.linalg.norm(axis)
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return vectors * c + np.cross(axis, vectors) * s + np.outer(vectors @ axis, axis) * (1 - c)


def made(kind, chance):
    """Directions of the field in a device that is turned."""
    seconds, rate = chance.uniform(8, 40), chance.choice([20.0, 50.0, 100.0])
    t = np.arange(0, seconds, 1 / rate)
    dip = np.radians(chance.uniform(20, 75))
    world = np.tile([np.cos(dip), 0, -np.sin(dip)], (len(t), 1))
    turns = chance.uniform(0.6, 4) * 2 * np.pi
    yaw = turns * t / seconds + 0.3 * np.sin(2 * np.pi * chance.uniform(0.05, 0.3) * t)
    slow = [chance.uniform(0.05, 0.5) for _ in range(3)]
    phase = [chance.uniform(0, 6.28) for _ in range(3)]
    if kind == "yaw":
        tilt = np.radians(chance.uniform(2, 12))
    elif kind == "wobble":
        tilt = np.radians(chance.uniform(20, 35))
    elif kind == "hand":
        tilt = np.radians(chance.uniform(40, 80))
        yaw = np.radians(chance.uniform(60, 170)) * np.sin(2 * np.pi * slow[2] * t + phase[2])
    else:
        tilt = np.radians(180)
    v = turned(world, np.array([0, 0, 1.0]), -yaw)
    v = turned(v, np.array([1.0, 0, 0]), tilt * np.sin(2 * np.pi * slow[0] * t + phase[0]))
    v = turned(v, np.array([0, 1.0, 0]), tilt * np.sin(2 * np.pi * slow[1] * t + phase[1]))
    return v, t


def case(seed):
    """Measured fields, the step in ns, and the truth: hard iron, soft iron, strength, noise; with the name of its kind."""
    chance = np.random.default_rng(seed)
    iron = chance.choice([0.0, 10, 30, 60]) * unit(chance)
    most = chance.choice([0.0, 0.03, 0.05, 0.1])
    q, _ = np.linalg.qr(chance.normal(size=(3, 3)))
    soft = q @ np.diag(1 + chance.uniform(-most / 2, most / 2, 3)) @ q.T
    if seed % 2:
        name = list(TRIALS)[chance.integers(len(TRIALS))]
        _, moving, fields, acceleration = trial(name)
        rows = np.flatnonzero(moving)
        length = int(chance.choice([5, 10, 20, 40]) * 1e9 / TRIALS[name])
        start = chance.integers(max(1, len(rows) - length))
        rows = rows[start:start + length]
        if chance.random() < 0.4:
            up = acceleration[rows] / np.linalg.norm(acceleration[rows], axis=1)[:, None]
            mean = up.mean(axis=0) / np.linalg.norm(up.mean(axis=0))
            part = rows[up @ mean > np.cos(np.radians(chance.choice([20, 40, 60])))]
            rows = part if len(part) > 200 else rows
        true, noise, step, kind = fields[rows], 0.35, TRIALS[name], name.split("/")[1]
        strength = 44.4
    else:
        kind = MADE[chance.integers(4)]
        way, t = made(kind, chance)
        strength, noise = chance.uniform(25, 65), chance.choice([0.3, 0.5, 1.0])
        true, step = strength * way + noise * chance.normal(size=way.shape), 1e9 * (t[1] - t[0])
        if chance.random() < 1 / 3:
            for _ in range(3):
                wave = np.sin(2 * np.pi * chance.uniform(0.02, 0.2) * t + chance.uniform(0, 6.28))
                true = true + chance.uniform(0, 0.6) * wave[:, None] * unit(chance)
    return true @ soft.T + iron, int(step), {"iron": iron, "soft": soft, "most": most, "strength": strength, "noise": noise, "kind": kind}


def unit(chance):
    way = chance.normal(size=3)
    return way / np.linalg.norm(way)


def fibonacci(count=400):
    z = 1 - 2 * (np.arange(count) + 0.5) / count
    turn = np.pi * (3 - 5 ** 0.5) * np.arange(count)
    return np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)


def true_error(truth, centre, matrix):
    """How wrong a calibrated field is, and how far the centres are apart."""
    apart = float(np.linalg.norm(np.asarray(centre) - truth["iron"]))
    way = truth["strength"] * fibonacci()
    made_of = way @ truth["soft"].T @ np.asarray(matrix).T
    scale = np.sum(made_of * way) / np.sum(way * way)
    rest = np.mean(np.sum((made_of / scale - way) ** 2, axis=1)) / 3 + truth["noise"] ** 2
    return float((apart ** 2 + rest) ** 0.5), apart


def run(binary, fields, step, *options):
    """What the program finds; nothing where it refuses."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print("time_ns,imu.mx_uT,imu.my_uT,imu.mz_uT", file=trace)
        np.savetxt(trace, np.column_stack([np.arange(len(fields)) * step, fields]), fmt=["%d", "%.3f", "%.3f", "%.3f"], delimiter=",")
        trace.flush()
        said = subprocess.run([binary, "calibrate", "--json", "--trace", trace.name, *options], capture_output=True, text=True, check=False)
    return json.loads(said.stdout)


def near(stated, true):
    return true / 3 <= stated <= 3 * true


def row(name, found):
    if not found:
        return
    stated, error, apart = (np.array([one[place] for one in found]) for place in range(3))
    whole = np.mean([near(s, e) for s, e in zip(stated, error)])
    centre = np.mean([near(s, a) for s, a in zip(stated, apart)])
    below = np.mean([near(s, a) or max(s, a) <= 1 for s, a in zip(stated, apart)])
    more, less = np.mean(stated > 3 * apart), np.mean(3 * stated < apart)
    print(f"{name:28} {len(found):5} | {whole:7.1%} | {centre:7.1%} {below:7.1%} {more:6.1%} {less:6.1%} | "
          f"{np.median(apart):6.2f} {np.median(error):6.2f} {np.median(stated):6.2f}")


def score(binary, first, count):
    groups, refused = {}, {}
    for seed in range(first, first + count):
        fields, step, truth = case(seed)
        found = run(binary, fields, step)
        if not found["is_accepted"]:
            refused[found["refusal"]] = refused.get(found["refusal"], 0) + 1
            continue
        figures = found["figures"]
        result = (figures["error_uT"], *true_error(truth, figures["hard_iron_uT"], figures["soft_iron"]))
        for group in (truth["kind"], f"soft iron {truth['most']}", figures["model"], "all"):
            groups.setdefault(group, []).append(result)
    print(f"{'':28} {'cases':>5} | {'field':>7} | {'centre':>7} {'below 1':>7} {'more':>6} {'less':>6} | {'centre':>6} {'field':>6} {'stated':>6} µT, medians")
    for group in sorted(groups, key=lambda name: (name == "all", name)):
        row(group, groups[group])
    print("refused:", dict(sorted(refused.items())))


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--headings" in sys.argv:
        import headings
        headings.score(words[0])
    else:
        score(words[0], int(words[1]) if len(words) > 1 else 10000, int(words[2]) if len(words) > 2 else 600)
