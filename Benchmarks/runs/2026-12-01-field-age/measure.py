#!/usr/bin/env python3
"""Made recordings with a known truth: headings without a gyroscope in a steady level turn, by the rates of the sensors, and the tilt that
`calibrate accelerometer` leaves when the six sides were laid askew. Usage: measure.py BINARY"""
import json
import subprocess
import sys
import tempfile

import numpy as np

BINARY = sys.argv[1]
G = 9.80665
TILTS = 0, 0.3, 0.7, 1.5, 2.5


def replay(path):
    command = [BINARY, "replay", "--json", "--set", "north.north.hard_iron_uT=0", "--set", "north.north.heading_filter_deg=0", path]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [event for event in map(json.loads, lines) if event["kind"] == "heading"]


def turn(folder, field_hz, hz, rate_dps, latency, seconds=60):
    """A device that lies level and turns clockwise: x to the right, y forwards, z up."""
    random = np.random.default_rng(7)
    rows = []
    for kind, rate in ("a", hz), ("m", field_hz):
        for time in np.arange(0.003 if kind == "m" else 0, seconds, 1 / rate):
            heading = np.radians(rate_dps * (time - (latency if kind == "m" else 0)))
            if kind == "a":
                values = np.array([0, 0, G]) + random.normal(0, 0.02, 3)
                rows.append((time, "%.9f,%.5f,%.5f,%.5f,,," % (time, *values)))
            else:
                values = 20 * np.array([-np.sin(heading), np.cos(heading), 0]) + [0, 0, -45] + random.normal(0, 0.3, 3)
                rows.append((time, "%.9f,,,,%.5f,%.5f,%.5f" % (time, *values)))
    path = f"{folder}/turn.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("time_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT\n")
        file.writelines(row + "\n" for _, row in sorted(rows))
    headings = [event for event in replay(path) if event["time_ns"] > 5e9]
    if not headings:
        return None
    errors = np.array([abs((event["heading_deg"] - rate_dps * event["time_ns"] * 1e-9 + 180) % 360 - 180) for event in headings])
    stated = np.array([event["accuracy_deg"] for event in headings])
    return np.mean(errors <= stated), np.mean((errors > 20) & (stated <= 20)), np.median(errors), np.median(stated)


def askew(folder, tilt, seed):
    """The tilt's root mean square over all attitudes, before and after, and what is stated, in degrees."""
    random = np.random.default_rng(seed)
    offset = random.normal(0, 0.06, 3)
    axes = np.eye(3) + np.diag(random.normal(0, 0.004, 3)) + random.normal(0, 0.003, (3, 3))
    path = f"{folder}/sides.csv"
    with open(path, "w", encoding="utf-8") as file:
        file.write("time_s,ax_m_s2,ay_m_s2,az_m_s2\n")
        for number in range(6):
            up = np.zeros(3)
            up[number // 2] = 1 - 2 * (number % 2)
            up += np.radians(random.normal(0, tilt, 3)) * (up == 0)
            force = axes @ (G * up / np.linalg.norm(up)) + offset
            for row in range(200):
                values = force + random.normal(0, 0.01, 3)
                file.write("%.3f,%.5f,%.5f,%.5f\n" % (number * 2 + row / 100, *values))
    command = [BINARY, "calibrate", "accelerometer", "--json", "--trace", path]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
    if not found["is_accepted"]:
        return None
    figures = found["figures"]
    ups = random.normal(0, 1, (400, 3))
    ups /= np.linalg.norm(ups, axis=1)[:, None]
    measured = (ups * G) @ axes.T + offset

    def tilts(forces):
        cosines = np.sum(forces * ups, axis=1) / np.linalg.norm(forces, axis=1)
        return np.degrees(np.sqrt(np.mean(np.arccos(np.clip(cosines, -1, 1)) ** 2)))

    after = (measured - np.array(figures["offset_m_s2"])) @ np.array(figures["matrix"]).T
    return tilts(measured), tilts(after), np.degrees(figures["fit_error_m_s2"] / G)


with tempfile.TemporaryDirectory() as folder:
    print("field Hz, acceleration Hz, latency ms, °/s: within what is stated, sure (stated within 20°, off by more), error and stated median")
    for field_hz, hz, latency in (100, 100, 0.02), (50, 100, 0.01), (20, 100, 0.01), (10, 100, 0.01), (20, 20, 0.01), (10, 10, 0.01):
        for rate in 5, 20, 40, 80, 150:
            found = turn(folder, field_hz, hz, rate, latency)
            text = "no heading" if found is None else "%5.1f %%  %5.1f %%  %5.1f°  %5.1f°" % (100 * found[0], 100 * found[1], *found[2:])
            print("%3d %3d %3.0f %4d:  %s" % (field_hz, hz, 1000 * latency, rate, text))
    print("sides askew by, per axis: tilt before, after, stated, of 20 worse than before")
    for tilt in TILTS:
        found = [one for one in (askew(folder, tilt, seed) for seed in range(20)) if one]
        before, after, stated = np.mean(found, axis=0)
        print("%.1f°: %.2f° %.2f° %.2f°, %d of %d" % (tilt, before, after, stated, sum(one[1] > one[0] for one in found), len(found)))
