#!/usr/bin/env python3
"""The tilt that is reported in made vehicles, which accelerate, brake and turn, against the truth. Usage: vehicles.py BINARY

A row is a vehicle and a way to measure: the share of verticals within `tilt_accuracy_deg`, the 95th percentile of their errors, and the
median of what is stated, of 4 runs with other offsets, turns and vibrations. East, north, up; the body has x to the right, y forwards."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BINARY = sys.argv[1]
G = 9.80665
STEP = 0.002
EVERY = 5
SECTION = """[sensor.imu]
source = "trace"
file = "trace.csv"
[attitude.body]
accelerometer = "imu"
frame = "enu"
forward_axis = "+x"
attitude_filter_deg = 0.01
gyroscope = "%s"
"""


def smooth(values, seconds):
    reach = int(4 * seconds / STEP)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * STEP / seconds) ** 2)
    padded = np.concatenate([np.full(reach, values[0]), values, np.full(reach, values[-1])])
    return np.convolve(padded, kernel / kernel.sum(), "valid")


def course(knots, seconds, rounding):
    times, values = zip(*knots)
    return smooth(np.interp(np.arange(0, seconds, STEP), times, values), rounding)


def wobble(random, count, seconds, size):
    knots = random.normal(0, 1, int(count * STEP / seconds) + 8)
    values = smooth(np.interp(np.arange(count) * STEP / seconds, np.arange(len(knots)), knots), seconds / 2)
    return values / values.std() * size


def car(random):
    """Parks: seconds of driving to and fro at 1.6 m/s with turns, and stops."""
    speeds, headings, now, heading = [(0, 0), (8, 0)], [(0, 0), (8, 0)], 8, 0
    while now < 80:
        length, pause = random.uniform(3, 6), random.uniform(0.5, 3)
        way = random.choice([-1.6, 1.6])
        speeds += [(now + 0.8, way), (now + length - 0.8, way), (now + length, 0), (now + length + pause, 0)]
        headings.append((now + 0.5, heading))
        heading += random.choice([-90, -60, -35, 35, 60, 90])
        headings += [(now + length, heading), (now + length + pause, heading)]
        now += length + pause
    return course(speeds, 90, 0.25), course(headings, 90, 0.4), 1.5, -1, 0.3


def bicycle(random):
    """Rides at 5.5 m/s and leans into its turns."""
    speed = course([(0, 0), (6, 0), (12, 5.5), (112, 5.5), (117, 0), (120, 0)], 120, 0.6)
    headings, now, heading = [(0, 0), (12, 0)], 12, 0
    while now < 105:
        length, pause = random.uniform(2.5, 6), random.uniform(2, 12)
        heading += random.choice([-90, -60, -30, 30, 60, 90, 180])
        headings += [(now + length, heading), (now + length + pause, heading)]
        now += length + pause
    headings = course(headings, 120, 0.6)
    lean = np.degrees(np.arctan2(speed * np.gradient(np.radians(headings), STEP), G))
    return speed, headings, 0, lean, 0.7


def tram(random):
    """Accelerates and brakes with 1.2 m/s² for ten seconds and runs through curves as long."""
    speed = course([(0, 0), (10, 0), (21, 13), (50, 13), (60, 1), (66, 0), (80, 0), (92, 14), (130, 14), (141, 0), (180, 0)], 180, 0.5)
    turn = random.choice([-80, 80])
    return speed, course([(0, 0), (30, 0), (42, turn), (100, turn), (112, turn / 4), (180, turn / 4)], 180, 1), 0, 0, 0.4


def boat(random):
    """Sails at 3 m/s, heels by 20°, tacks by 95° within eight seconds, in waves."""
    headings, heels, now, side = [(0, 0), (30, 0)], [(0, 18), (30, 18)], 30, 1
    while now < 220:
        length, pause = random.uniform(6, 10), random.uniform(20, 45)
        side = -side
        heading = headings[-1][1] + side * 95
        headings += [(now + length, heading), (now + length + pause, heading)]
        heels += [(now + length, side * 20), (now + length + pause, side * 20)]
        now += length + pause
    headings = course(headings, 240, 1) + wobble(random, int(240 / STEP), 5, 2.5)
    heels = course(heels, 240, 1.5) + wobble(random, int(240 / STEP), 3, 3)
    return np.full(len(headings), 3.0) + wobble(random, len(headings), 4, 0.3), headings, wobble(random, len(headings), 2, 2), heels, 0.3


def about(axis, degrees):
    angle = np.radians(degrees)
    matrices = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrices[:, axis, axis] = 1
    matrices[:, i, i] = matrices[:, j, j] = np.cos(angle)
    matrices[:, j, i], matrices[:, i, j] = np.sin(angle), -np.sin(angle)
    return matrices


def record(path, vehicle, random):
    """Writes the recording and returns the direction of up in the body, sample by sample."""
    speed, heading, pitch, roll, sway = vehicle(random)
    moving = np.abs(speed) > 0.05
    angles = [wobble(random, len(speed), 0.6, sway) * moving + angle for angle in (pitch, roll)]
    rotation = about(2, -heading) @ about(0, angles[0]) @ about(1, angles[1])
    yaw = np.radians(heading)
    velocity = speed[:, None] * np.stack([np.sin(yaw), np.cos(yaw), 0 * yaw], axis=1)
    acceleration = np.gradient(velocity, STEP, axis=0)
    acceleration += np.stack([wobble(random, len(speed), 0.03, 0.3) for _ in range(3)], axis=1) * moving[:, None]
    force = np.einsum("nji,nj->ni", rotation, acceleration + [0, 0, G])
    steps = np.swapaxes(rotation[:-1], 1, 2) @ rotation[1:]
    rates = np.stack([steps[:, 2, 1], steps[:, 0, 2], steps[:, 1, 0]], axis=1) / STEP
    rates = np.vstack([rates[:1], rates])
    # A chip gives the mean of the time before its stamp.
    count = len(speed) // EVERY * EVERY
    force, rates = (one[:count].reshape(-1, EVERY, 3).mean(axis=1) for one in (force, rates))
    force += random.normal(0, 0.06, 3) + random.normal(0, 0.02, force.shape)
    rates += np.radians(random.normal(0, 0.7, 3)) + random.normal(0, 0.001, rates.shape)
    stamps = (np.arange(len(force)) + 1) * round(EVERY * STEP * 1e9)
    with open(path, "w", encoding="utf-8") as file:
        file.write("time_ns,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s\n")
        for stamp, values in zip(stamps, np.hstack([force, rates])):
            file.write("%d,%.5f,%.5f,%.5f,%.6f,%.6f,%.6f\n" % (stamp, *values))
    return rotation[EVERY - 1:count:EVERY, 2]


def score(folder, vehicle, gyroscope):
    errors, stated = [], []
    for seed in range(4):
        ups = record(folder / "trace.csv", vehicle, np.random.default_rng(seed))
        (folder / "binnacle.toml").write_text(SECTION % gyroscope, encoding="utf-8")
        command = [BINARY, "replay", "--json", "--config", folder / "binnacle.toml"]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        for event in map(json.loads, lines):
            if event["kind"] != "attitude.changed":
                continue
            found = np.array([event[f"gravity_{axis}_m_s2"] for axis in "xyz"])
            up = ups[round(event["time_ns"] / (EVERY * STEP * 1e9)) - 1]
            errors.append(np.degrees(np.arccos(np.clip(found @ up / np.linalg.norm(found), -1, 1))))
            stated.append(event["tilt_accuracy_deg"])
    errors, stated = np.array(errors), np.array(stated)
    return 100 * np.mean(errors <= stated), np.percentile(errors, 95), np.median(stated)


with tempfile.TemporaryDirectory() as folder:
    for vehicle in car, bicycle, tram, boat:
        for name, gyroscope in ("gyroscope", "imu"), ("accelerometer alone", "none"):
            print("%-8s %-20s within %5.1f %%, 95 %% of errors %4.1f°, stated %4.1f°"
                  % (vehicle.__name__, name, *score(pathlib.Path(folder), vehicle, gyroscope)), flush=True)
