#!/usr/bin/env python3
"""What fewer samples a second cost: leaves samples out of recordings with a known truth, and replays them.

Usage: rates.py BINNACLE [OPTION for headings…], from the top folder; --set north.north.hard_iron_uT=0 since a magnetometer without a
calibration has to learn its iron. Whole samples are left out, without the low pass of a device that runs slower."""
import collections
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

binary, *given = sys.argv[1:]
scratch = os.path.join(tempfile.mkdtemp(), "x.csv")
FIXTURES = "Tests/Fixtures/"


def events(*options):
    out = subprocess.run([binary, "replay", "--json", *options, scratch], capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def table(path):
    rows = list(csv.reader(line for line in open(path, encoding="utf-8-sig") if not line.startswith("#")))
    return rows[0], rows[1:]


def thinned(head, rows, keep):
    """Writes each n-th sample of each kind: keep has the letter of a kind and n."""
    place = {name: number for number, name in enumerate(head)}
    lines = [["t_s"] + [kind + axis for kind in keep for axis in "xyz"]]
    for number, row in enumerate(rows):
        line = [row[place["t_s"]]]
        for kind, step in keep.items():
            line += [row[place[kind + axis]] if number % step == 0 else "" for axis in "xyz"]
        if any(line[1:]):
            lines.append(line)
    with open(scratch, "w") as file:
        csv.writer(file).writerows(lines)


def heading_errors(head, rows):
    """The share of the references, from the fifth second on, with a heading that was measured at most 0.25 s before, and the median and
    95 % of the errors of these."""
    found = [(e["time_ns"] * 1e-9, e["heading_deg"]) for e in events(
        *given, "--set", "north.north.heading_filter_deg=0", "--set", "north.north.upright_axis=none")
        if e["kind"] == "heading" and "age_s" not in e]
    place = {name: number for number, name in enumerate(head)}
    errors, count, last, start = [], 0, -1, float(rows[0][0])
    for row in rows:
        time = float(row[0])
        while last + 1 < len(found) and found[last + 1][0] <= time + 1e-6:
            last += 1
        if time - start < 5 or row[place["ref_qw"]] == "":
            continue
        w, x, y, z = (float(row[place["ref_q" + c]]) for c in "wxyz")
        east, north = 2 * (x * y - w * z), 1 - 2 * (x * x + z * z)
        if math.hypot(east, north) <= 0.5:
            continue
        count += 1
        if last >= 0 and time - found[last][0] <= 0.25:
            errors.append(abs((found[last][1] - math.degrees(math.atan2(east, north)) + 180) % 360 - 180))
    errors.sort()
    return [len(errors) / count] + [errors[int(p * (len(errors) - 1))] for p in (0.5, 0.95)]


print("headings: samples a second of the accelerometer, the magnetometer and the gyroscope; the share of the time with a heading, and its error in "
      "degrees, median and 95 %")
for name in "broad05_rotation", "broad07_fast_rotation", "broad18_fast_translation", "broad33_attached_magnet":
    head, rows = table(f"{FIXTURES}gyroscope/{name}.csv")
    rate = (len(rows) - 1) / (float(rows[-1][0]) - float(rows[0][0]))
    print(name)
    for steps in [(1, 1, 0), (3, 3, 0), (6, 6, 0), (14, 14, 0), (1, 1, 1), (1, 6, 1), (1, 14, 1), (3, 6, 1), (6, 6, 1),
                  (3, 6, 2), (3, 6, 3), (6, 6, 6)]:
        if name.startswith("broad33") and steps[2] == 0:
            continue  # The magnet turns with the device: a compass alone has no chance.
        thinned(head, rows, {kind: step for kind, step in zip("amg", steps) if step})
        share, median, most = heading_errors(head, rows)
        rates = " ".join(f"{rate / step:6.0f}" if step else "     -" for step in steps)
        print(f"  {rates}  {share:6.1%} {median:6.2f} {most:6.2f}", flush=True)

print("movements: samples a second, then for each way to begin: events, and when the first motions began and ended")
for name, steps in ("broad/broad05_rotation_breaks", (1, 2, 3, 7)), ("broad/broad25_tapping", (1, 2, 3, 7)), (
        "broad/broad26_phone", (1, 2, 3)), ("broad/broad30_violent", (1, 3, 7)), ("broad/broad16_fast_translation", (1, 2, 3)):
    head, rows = table(f"{FIXTURES}{name}.csv")
    rate = (len(rows) - 1) / (float(rows[-1][0]) - float(rows[0][0]))
    print(name)
    for step in steps:
        for first in range(min(step, 3)):
            thinned(head, rows[first:], {"a": step})
            found = events()
            count = collections.Counter(e["kind"] for e in found)
            times = [f"{e['time_ns'] * 1e-9:.2f}" for e in found if e["kind"].startswith("motion.") and e["kind"][7] in "be"]
            kinds = " ".join(f"{kind} {count[kind]}" for kind in ("motion.began", "shake", "shock", "free_fall"))
            print(f"  {rate / step:6.0f}  {kinds}  {' '.join(times[:8])}", flush=True)
