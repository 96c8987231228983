"""Makes the sensors of the recordings with an optical reference wrong, and scores the headings that are reported.

usage: table.py BINARY [--group NAME]... [--trial NUMBER]... [--seeds N] [--mount SEED] [--start SECONDS] [--list], from the project's folder

A row for each trial and case. Headings count at rows with a reference in which +Y is level by more than a half. The columns:

valid   the share of these rows with a heading that is not held, from the first heading on, or after 40 s of movement in the group "iron"
within  the share of the headings that are off by no more than their stated accuracy; rows of "iron" have it from the first heading on, too
median, p95, worst    of the error, and the median of what is stated, in degrees
x 3     the share that is off by more than three times what is stated
sure    the share that is stated within 20° and off by more
told    what was reported, first at s

Groups: iron (a magnetometer without calibration), scale, lurch (starts at other times), gyroscope, both (that with 30 µT of iron and no calibration), other (faults
of accelerometer and magnetometer) and lasting (iron that comes to a calibrated magnetometer). --mount turns the device in its case: all vectors and the reference
by one rotation, in trial 11 about +Y, because its reference has that axis alone. --start leaves the first seconds out.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

FIXTURES = pathlib.Path("Tests/Fixtures/gyroscope")
STEP_NS = 7_000_000
HEAD = ("time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,"
        "imu.mx_uT,imu.my_uT,imu.mz_uT")
TRIALS = {"05": "broad05_rotation", "07": "broad07_fast_rotation", "11": "broad11_slow_translation", "18": "broad18_fast_translation",
          "31": "broad31_stationary_magnet", "33": "broad33_attached_magnet"}
CLIP = math.radians(100)
LATE_ROWS = 14
# What freezes does so 28 s after the start.
FAILS_ROW = 4000


def direction(seed):
    """A direction, all as probable."""
    chance = random.Random(seed)
    z, turn = chance.uniform(-1, 1), chance.uniform(0, 2 * math.pi)
    level = math.sqrt(1 - z * z)
    return level * math.cos(turn), level * math.sin(turn), z


def changed(letter, change):
    """A fault that changes one sensor's samples, each by itself."""
    return lambda seen, index: seen[index] | {letter: change(seen[index][letter])}


def scaled(factor):
    return changed("g", lambda rate: [part * factor for part in rate])


def ordered(x, y, z, signs=(1, 1, 1)):
    return changed("g", lambda rate: [rate[axis] * sign for axis, sign in zip((x, y, z), signs)])


def clipped(letter, limit):
    return changed(letter, lambda value: [max(-limit, min(limit, part)) for part in value])


def shifted(letter, by):
    return changed(letter, lambda value: [part + more for part, more in zip(value, by)])


def stretched(letter, by):
    return changed(letter, lambda value: [part * factor for part, factor in zip(value, by)])


def frozen(letter, axes=(0, 1, 2), row=FAILS_ROW):
    def fault(seen, index):
        held = seen[min(index, row)][letter]
        return seen[index] | {letter: [held[axis] if axis in axes else seen[index][letter][axis] for axis in range(3)]}
    return fault


def late(letter):
    return lambda seen, index: seen[index] | {letter: seen[max(index - LATE_ROWS, 0)][letter]}


def burst(seen, index):
    return seen[index] | ({"g": [35.0, 0.0, 0.0]} if FAILS_ROW <= index < FAILS_ROW + 14 else {})


def from_row(row, fault):
    return lambda seen, index: fault(seen, index) if index >= row else seen[index]


def times(size, seed):
    return [size * part for part in direction(seed)]


def cases(group, seeds):
    """The cases of a group: name, fault, seconds left out at the start."""
    if group == "none":
        return [("none", scaled(1), 0)]
    if group == "iron":
        return [(f"{size} uT, direction {seed}", shifted("m", times(size, seed)), 0) for size in (10, 30, 60) for seed in range(1, seeds + 1)]
    if group == "scale":
        return [(f"x {factor}", scaled(factor), 0) for factor in (0.97, 0.99, 1, 1.01, 1.03)]
    if group == "lurch":
        return [(f"from {start} s", scaled(1), start) for start in range(0, 64, 8)]
    if group == "gyroscope":
        return [("x 57 (deg/s)", scaled(180 / math.pi), 0), ("x 1/57", scaled(math.pi / 180), 0), ("x 0.5", scaled(0.5), 0),
                ("x 1.2", scaled(1.2), 0), ("x 1.5", scaled(1.5), 0), ("x 2", scaled(2), 0),
                ("x and y swapped", ordered(1, 0, 2), 0), ("y and z swapped", ordered(0, 2, 1), 0), ("x and z swapped", ordered(2, 1, 0), 0),
                ("x reversed", ordered(0, 1, 2, (-1, 1, 1)), 0), ("y reversed", ordered(0, 1, 2, (1, -1, 1)), 0),
                ("z reversed", ordered(0, 1, 2, (1, 1, -1)), 0), ("all reversed", scaled(-1), 0),
                ("clipped 100 deg/s", clipped("g", CLIP), 0), ("burst 35 rad/s", burst, 0),
                ("x frozen", frozen("g", (0,)), 0), ("y frozen", frozen("g", (1,)), 0), ("z frozen", frozen("g", (2,)), 0),
                ("0.1 s late", late("g"), 0)]
    if group == "other":
        return ([(f"accel. + 2, direction {seed}", shifted("a", times(2, seed)), 0) for seed in range(1, 3 + 1)] +
                [("accel. x + 2", shifted("a", (2, 0, 0)), 0), ("accel. y + 2", shifted("a", (0, 2, 0)), 0),
                 ("accel. z + 2", shifted("a", (0, 0, 2)), 0), ("accel. x - 1", shifted("a", (-1, 0, 0)), 0),
                 ("accel. y + 0.5", shifted("a", (0, 0.5, 0)), 0), ("accel. x 1.05", stretched("a", (1.05,) * 3), 0),
                 ("accel. of z x 1.1", stretched("a", (1, 1, 1.1)), 0), ("accel. frozen", frozen("a"), 0),
                 ("accel. of x frozen", frozen("a", (0,)), 0), ("accel. of y frozen", frozen("a", (1,)), 0),
                 ("accel. of z frozen", frozen("a", (2,)), 0), ("accel. 0.1 s late", late("a"), 0),
                 ("accel. within 9", clipped("a", 9), 0), ("field frozen", frozen("m"), 0), ("field of x frozen", frozen("m", (0,)), 0),
                 ("field of y frozen", frozen("m", (1,)), 0), ("field of z frozen", frozen("m", (2,)), 0),
                 ("field 0.1 s late", late("m"), 0), ("field of x x 1.1", stretched("m", (1.1, 1, 1)), 0)])
    if group == "both":
        wanted = ("x 57 (deg/s)", "x 0.5", "x 1.5", "x 2", "x and y swapped", "y and z swapped", "x reversed", "z reversed", "z frozen")
        iron = shifted("m", times(30, 1))
        return [(name, lambda seen, index, fault=fault: fault(seen, index) | {"m": iron(seen, index)["m"]}, 0)
                for name, fault, _ in cases("gyroscope", seeds) if name in wanted]
    if group == "lasting":
        return ([(f"{size} uT, direction {seed}", shifted("m", times(size, seed)), 0) for size in (3, 6, 30) for seed in range(1, seeds + 1)] +
                [(f"6 uT from 42 s, direction {seed}", from_row(6000, shifted("m", times(6, seed))), 0) for seed in range(1, seeds + 1)])
    raise ValueError(group)


GROUPS = ("none", "iron", "scale", "lurch", "gyroscope", "both", "other", "lasting")


def conjugate(q):
    return q[0], -q[1], -q[2], -q[3]


def product(a, b):
    return (a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0])


def matrix(q):
    w, x, y, z = q
    return ((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)))


def reference(row, mount):
    """The heading of +Y; nothing where it is not known or +Y is not level."""
    if "ref_qw" not in row:
        if not row["ref_heading_y_deg"]:
            return None
        return float(row["ref_heading_y_deg"]) if float(row["ref_y_horizontal"]) >= 0.5 else None
    if not row["ref_qw"]:
        return None
    turned = product([float(row[column]) for column in ("ref_qw", "ref_qx", "ref_qy", "ref_qz")], conjugate(mount))
    (_, east, _), (_, north, _), (_, up, _) = matrix(turned)
    return None if up * up >= 0.75 else math.degrees(math.atan2(east, north))


def mounted(trial, seed):
    """How the device is turned in its case."""
    if seed is None:
        return 1.0, 0.0, 0.0, 0.0
    chance = random.Random(seed)
    parts = [chance.gauss(0, 1) for _ in range(4)]
    if trial == "11":
        parts[1] = parts[3] = 0.0
    size = math.sqrt(sum(part * part for part in parts))
    return tuple(part / size for part in parts)


def read(trial, mount_seed):
    mount = mounted(trial, mount_seed)
    turn = matrix(mount)
    with open(FIXTURES / f"{TRIALS[trial]}.csv") as table:
        rows = list(csv.DictReader(table))
    seen = []
    for row in rows:
        sample = {}
        for letter in "gam":
            value = [float(row[f"{letter}{axis}"]) for axis in "xyz"]
            sample[letter] = value if mount_seed is None else [sum(a * b for a, b in zip(line, value)) for line in turn]
        seen.append(sample)
    truth = [reference(row, mount) for row in rows]
    known = [bool(row.get("ref_qw") or row.get("ref_heading_y_deg")) for row in rows]
    return seen, truth, known


def share(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else math.nan


def part(pairs, test):
    return sum(test(error, stated) for error, stated in pairs) / len(pairs) if pairs else math.nan


def line(pairs, count):
    errors = [error for error, _ in pairs]
    return (f"{len(pairs) / max(count, 1):6.1%} {part(pairs, lambda error, stated: error <= stated):6.1%} {share(errors, 0.5):6.2f} "
            f"{share(errors, 0.95):6.1f} {max(errors, default=math.nan):6.1f} {share([stated for _, stated in pairs], 0.5):6.1f} "
            f"{part(pairs, lambda error, stated: error > 3 * stated):6.1%} {part(pairs, lambda error, stated: stated <= 20 < error):6.1%}")


def score(arguments):
    binary, group, trial, number, options = arguments
    name, fault, start = cases(group, options["seeds"])[number]
    seen, truth, known = read(trial, options["mount"])
    first_row = round((start + options["start"]) * 1e9 / STEP_NS)
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as trace:
        print(HEAD, file=trace)
        for index in range(first_row, len(seen)):
            sample = fault(seen, index)
            print(index * STEP_NS, *sample["g"], *sample["a"], *sample["m"], sep=",", file=trace)
        trace.flush()
        settings = ["heading_filter_deg=0", "upright_axis=none"] + ([] if group in ("iron", "both") else ["hard_iron_uT=0"])
        words = [word for setting in settings for word in ("--set", f"north.north.{setting}")]
        said = subprocess.run([binary, "replay", "--json", *words, trace.name], capture_output=True, text=True, check=True)
    found, told = {}, {}
    for event in map(json.loads, said.stdout.splitlines()):
        if event["kind"] == "heading":
            if "age_s" not in event:
                found[event["time_ns"] // STEP_NS] = event["heading_deg"], event["accuracy_deg"]
        elif event["kind"] in ("detector.failed", "calibration.needed", "calibration.restored", "heading.lost", "interference.began"):
            word = event["kind"] + (f": {event['reason'][:90]}" if "reason" in event else "")
            told.setdefault(word, round(event["time_ns"] * 1e-9, 1))
    first = min(found, default=len(seen)) if group == "iron" else first_row
    moved, pairs, later, level, late_level = 0.0, [], [], 0, 0
    for index in range(first_row, len(seen)):
        moved += known[index] * STEP_NS * 1e-9
        if truth[index] is None:
            continue
        level += index >= first
        late_level += moved > 40
        if index not in found:
            continue
        degrees, stated = found[index]
        pair = abs((degrees - truth[index] + 180) % 360 - 180), stated
        pairs.append(pair)
        if moved > 40:
            later.append(pair)
    words = "; ".join(f"{second} {word}" for word, second in told.items())
    if group == "iron":
        early = f"{part(pairs, lambda error, stated: error <= stated):6.1%}"
        return f"{group:9} {trial} {name:30} {line(later, late_level)} | first {early} | {words}"
    return f"{group:9} {trial} {name:30} {line(pairs, level)} | {words}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("--group", action="append", choices=GROUPS)
    parser.add_argument("--trial", action="append", choices=TRIALS)
    parser.add_argument("--case", action="append")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--mount", type=int)
    parser.add_argument("--start", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = [(options.binary, group, trial, number, vars(options)) for group in options.group or GROUPS for trial in options.trial or TRIALS
            for number, (name, *_) in enumerate(cases(group, options.seeds)) if not options.case or name in options.case]
    print(f"{'group':9} {'':2} {'case':30} {'valid':>6} {'within':>6} {'median':>6} {'p95':>6} {'worst':>6} {'stated':>6} {'x 3':>6} {'sure':>6}")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for row in pool.map(score, work):
            print(row, flush=True)


main()
