"""Makes the samples of devices that boats, robots, cars, walkers and hands move, with an exact truth, and scores the headings that are reported.

usage: made.py BINARY [--motion NAME]... [--case NAME]... [--seeds N] [--seconds S] [--jobs N], with numpy

Nothing of it is a recording: angles are sums of sines and smooth steps, rates and accelerations are their exact derivatives, and the sensors'
errors are those of the data sheets of small chips (gyroscope 1 °/s offset, 0.1 °/s noise, axes 0.5 % oblique; accelerometer 20 mg, 5 mg noise;
magnetometer 0.5 µT noise, 20 Hz; gyroscope and accelerometer 100 Hz). A row for each motion, case and seed:

first   when the first heading came, in seconds
valid   the share of the reference's rows after 60 s with a heading that is not held
within  the share of the headings that are off by no more than their stated accuracy, of all; p50, p95, worst of the error; the median that is stated
x 3     the share that is off by more than three times what is stated
told    what was reported, first at s
"""

import argparse
import concurrent.futures
import json
import math
import subprocess
import tempfile

import numpy as np

RATE = 100
G = 9.80665
OFFSET_DEG_S, LEVEL_G = 1.0, 0.02


def smooth_steps(t, steps):
    """Smooth steps: of each (begin, length, size) a part of a cosine."""
    out = np.zeros_like(t)
    for begin, length, size in steps:
        x = np.clip((t - begin) / length, 0, 1)
        out += size * (x - np.sin(2 * np.pi * x) / (2 * np.pi))
    return out


def sines(t, chance, size, lowest, highest, count=5):
    """A sum of sines of random phases, with the standard deviation `size`."""
    out = np.zeros_like(t)
    for _ in range(count):
        out += np.sin(2 * np.pi * chance.uniform(lowest, highest) * t + chance.uniform(0, 2 * np.pi))
    return size * out * math.sqrt(2 / count)


def still(t, chance):
    return [np.full_like(t, chance.uniform(-180, 180)), np.zeros_like(t), np.zeros_like(t)], None


def boat(t, chance):
    turns = [(10 + 40 * k + chance.uniform(0, 10), chance.uniform(8, 25), chance.uniform(-120, 120)) for k in range(int(t[-1] // 40))]
    yaw = chance.uniform(-180, 180) + smooth_steps(t, turns) + sines(t, chance, 3, 0.1, 0.25)
    return [yaw, sines(t, chance, 3, 0.15, 0.3), sines(t, chance, 7, 0.1, 0.3)], [sines(t, chance, 0.4, 0.1, 0.3) for _ in range(3)]


def robot(t, chance):
    turns, moves, now = [], [], 3.0
    while now < t[-1]:
        turns.append((now, chance.uniform(0.8, 2.5), chance.choice([-180, -90, -45, 45, 90, 90])))
        now += chance.uniform(4, 9)
        moves.append((now - 2, 0.7, chance.uniform(0.2, 0.8)))
    yaw = chance.uniform(-180, 180) + smooth_steps(t, turns)
    forward = np.gradient(smooth_steps(t, moves) - smooth_steps(t, [(begin + 1, 0.7, size) for begin, _, size in moves]), t)
    return [yaw, sines(t, chance, 0.3, 5, 12), sines(t, chance, 0.3, 5, 12)], [None, forward, sines(t, chance, 0.3, 15, 40)]


def car(t, chance):
    curves = [(8 + 15 * k + chance.uniform(0, 6), chance.uniform(3, 9), chance.choice([-90, -90, -45, 30, 90, 180])) for k in range(int(t[-1] // 15))]
    yaw = chance.uniform(-180, 180) + smooth_steps(t, curves)
    speed = 10 + sines(t, chance, 3, 0.02, 0.06)
    # Clockwise turns need a force to the right.
    aside = speed * np.radians(np.gradient(yaw, t))
    return [yaw, sines(t, chance, 2, 0.02, 0.1), sines(t, chance, 1.5, 0.1, 1)], [aside, np.gradient(speed, t), sines(t, chance, 0.5, 1, 8)]


def walker(t, chance):
    turns = [(5 + 9 * k + chance.uniform(0, 4), chance.uniform(0.8, 2), chance.choice([-90, 90, 45, 180])) for k in range(int(t[-1] // 9))]
    yaw = chance.uniform(-180, 180) + smooth_steps(t, turns) + 4 * np.sin(2 * np.pi * 0.95 * t)
    return ([yaw, 25 + 6 * np.sin(2 * np.pi * 0.95 * t + 1), 5 * np.sin(2 * np.pi * 0.95 * t + 2)],
            [1.2 * np.sin(2 * np.pi * 0.95 * t), 1.5 * np.sin(2 * np.pi * 1.9 * t), 2.5 * np.sin(2 * np.pi * 1.9 * t + 0.5)])


def hand(t, chance):
    return ([chance.uniform(-180, 180) + sines(t, chance, 60, 0.05, 0.3), sines(t, chance, 25, 0.1, 0.4), sines(t, chance, 30, 0.1, 0.4)],
            [sines(t, chance, 0.6, 0.3, 1.5) for _ in range(3)])


def drone(t, chance):
    turns = [(4 + 8 * k + chance.uniform(0, 3), chance.uniform(1, 4), chance.uniform(-200, 200)) for k in range(int(t[-1] // 8))]
    pitch, roll = sines(t, chance, 7, 0.1, 0.5), sines(t, chance, 7, 0.1, 0.5)
    # In flight what is felt is along the rotors' axis: the sideways acceleration is that of the tilt.
    return ([chance.uniform(-180, 180) + smooth_steps(t, turns), pitch, roll],
            ["flight", sines(t, chance, 1.5, 30, 49), sines(t, chance, 2, 30, 49)])


def bench(t, chance):
    turns = [(12 + 25 * k, 1.5, chance.uniform(-150, 150)) for k in range(int(t[-1] // 25))]
    lifts = [(begin - 1, 1, 1) for begin, _, _ in turns]
    lift = smooth_steps(t, lifts) - smooth_steps(t, [(begin + 2.5, 1, 1) for begin, _, _ in lifts])
    return [chance.uniform(-180, 180) + smooth_steps(t, turns), chance.uniform(-40, 40) * lift, chance.uniform(-40, 40) * lift], None


MOTIONS = {motion.__name__: motion for motion in (still, boat, robot, car, walker, hand, drone, bench)}
# Hard iron in µT, soft iron, what is said of the calibration, the gyroscope's fault, the dip.
CASES = {
    "calibrated": (0, 0.0, True, None, 66), "bought": (30, 0.02, False, None, 66), "bought, 60 uT": (60, 0.03, False, None, 66),
    "bought, dip 20": (30, 0.02, False, None, 20), "bought, dip -60": (30, 0.02, False, None, -60), "scale + 2 %": (0, 0.0, True, "scale", 66),
    "no gyroscope": (30, 0.02, False, "none", 66), "z reversed": (0, 0.0, True, "reversed", 66), "x and y swapped": (0, 0.0, True, "swapped", 66),
    "x 2": (0, 0.0, True, "double", 66), "bought, z reversed": (30, 0.02, False, "reversed", 66), "deg/s": (0, 0.0, True, "degrees", 66),
}


def matrices(yaw, pitch, roll):
    """From the device's axes (x right, y ahead, z up) to east, north, up, for a heading, a pitch up and a roll to the right, in radians."""
    cy, sy, cp, sp, cr, sr = np.cos(-yaw), np.sin(-yaw), np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)
    turn = lambda rows: np.stack([np.stack(row, -1) for row in rows], -2)
    about_z = turn([[cy, -sy, zero], [sy, cy, zero], [zero, zero, one]])
    about_x = turn([[one, zero, zero], [zero, cp, -sp], [zero, sp, cp]])
    about_y = turn([[cr, zero, sr], [zero, one, zero], [-sr, zero, cr]])
    return about_z @ about_x @ about_y


def made(motion, case, seed, seconds):
    chance = np.random.default_rng(seed)
    iron, soft, _, fault, dip = CASES[case]
    t = np.arange(int(seconds * RATE)) / RATE
    fine = np.arange(int(seconds * RATE * 4)) / (RATE * 4)
    angles, forces = MOTIONS[motion](fine, chance)
    turn = matrices(*(np.radians(angle) for angle in angles))
    # The rate in the device's axes is the turn from one to the next.
    step = np.swapaxes(turn[:-1], -1, -2) @ turn[1:]
    rate = np.stack([step[:, 2, 1] - step[:, 1, 2], step[:, 0, 2] - step[:, 2, 0], step[:, 1, 0] - step[:, 0, 1]], -1) / 2 * RATE * 4
    rate = np.concatenate([rate, rate[-1:]])
    up = np.array([0, 0, G])
    felt = np.einsum("nji,j->ni", turn, up)
    if forces is not None and isinstance(forces[0], str):
        felt = np.stack([np.zeros(len(fine)), np.zeros(len(fine)), np.full(len(fine), G)], -1)
        felt[:, 1] += forces[1]
        felt[:, 2] += forces[2]
    elif forces is not None:
        for axis, force in enumerate(forces):
            if force is not None:
                felt[:, axis] += force
    radians = math.radians(dip)
    field = 49 * np.array([0, math.cos(radians), -math.sin(radians)])
    seen = np.einsum("nji,j->ni", turn, field)
    at = slice(None, None, 4)
    rate, felt, seen, turn = rate[at], felt[at], seen[at], turn[at]
    direction = lambda: (lambda v: v / np.linalg.norm(v))(chance.normal(size=3))
    rate = rate @ (np.eye(3) + chance.normal(0, 0.005, (3, 3)) * (1 - np.eye(3))) + np.radians(chance.normal(0, OFFSET_DEG_S, 3)) + np.radians(chance.normal(0, 0.1, rate.shape))
    felt = felt + G * chance.normal(0, LEVEL_G, 3) / math.sqrt(3) + G * chance.normal(0, 0.005, felt.shape)
    part = chance.normal(0, soft, (3, 3)) if soft else np.zeros((3, 3))
    seen = seen @ (np.eye(3) + (part + part.T) / 2) + iron * direction() + chance.normal(0, 0.5, seen.shape)
    if fault == "scale":
        rate *= 1.02
    elif fault == "reversed":
        rate[:, 2] *= -1
    elif fault == "swapped":
        rate = rate[:, [1, 0, 2]]
    elif fault == "double":
        rate *= 2
    elif fault == "degrees":
        rate = np.degrees(rate)
    heading = np.degrees(np.arctan2(turn[:, 0, 1], turn[:, 1, 1])) % 360
    return t, rate, felt, seen, heading


def score(work):
    binary, motion, case, seed, seconds = work
    t, rate, felt, seen, heading = made(motion, case, seed, seconds)
    _, _, is_calibrated, fault, _ = CASES[case]
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        kinds = [("a", "m_s2", felt, 1), ("m", "uT", seen, 5)] + ([] if fault == "none" else [("g", "rad_s", rate, 1)])
        print("time_ns", *(f"imu.{letter}{axis}_{unit}" for letter, unit, _, _ in kinds for axis in "xyz"), sep=",", file=trace)
        for index in range(len(t)):
            cells = [f"{value:.7g}" if index % every == 0 else "" for _, _, values, every in kinds for value in values[index]]
            print(index * 10_000_000, *cells, sep=",", file=trace)
        trace.flush()
        settings = ["heading_filter_deg=0", "upright_axis=none"] + (["hard_iron_uT=0"] if is_calibrated else [])
        words = [word for setting in settings for word in ("--set", f"north.north.{setting}")]
        said = subprocess.run([binary, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
    errors, stated, late, told, first = [], [], 0, {}, math.nan
    wanted = len(t) - 60 * RATE
    for event in map(json.loads, said.stdout.splitlines()):
        if event["kind"] == "heading" and "age_s" not in event:
            index = round(event["time_ns"] / 1e7)
            if math.isnan(first):
                first = event["time_ns"] * 1e-9
            errors.append(abs((event["heading_deg"] - heading[index] + 180) % 360 - 180))
            stated.append(event["accuracy_deg"])
            late += index >= 60 * RATE
        elif event["kind"] in ("detector.failed", "calibration.needed", "calibration.restored", "heading.lost", "interference.began"):
            word = event["kind"] + (f": {event['reason'][:70]}" if "reason" in event else "")
            told.setdefault(word, round(event["time_ns"] * 1e-9, 1))
    errors, stated = np.array(errors), np.array(stated)
    figures = "no heading"
    if len(errors):
        figures = (f"{first:6.1f} {late / wanted:6.1%} {np.mean(errors <= stated):6.1%} {np.median(errors):6.2f} {np.quantile(errors, 0.95):6.1f} {errors.max():6.1f} "
                   f"{np.median(stated):6.1f} {np.mean(errors > 3 * stated):6.1%}")
    return f"{motion:7} {case:19} {seed:2} {figures} | " + "; ".join(f"{second} {word}" for word, second in told.items())


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--motion", action="append", choices=MOTIONS)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = [(options.binary, motion, case, seed, options.seconds) for motion in options.motion or MOTIONS for case in options.case or CASES
            for seed in range(1, options.seeds + 1)]
    print(f"{'motion':7} {'case':19} {'':2} {'first':>6} {'valid':>6} {'within':>6} {'p50':>6} {'p95':>6} {'worst':>6} {'stated':>6} {'x 3':>6} | told")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(score, work):
            print(row, flush=True)


if __name__ == "__main__":
    main()
