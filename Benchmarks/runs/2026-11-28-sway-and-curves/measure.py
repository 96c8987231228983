#!/usr/bin/env python3
"""Headings of a calibrated compass on recordings that are made here, with their truth: a device that sways gently from the first sample
on, or behind a rest, cars in curves, a magnet that is put beside a device at rest, which has no gyroscope, chips whose accelerometer has an
offset, a gyroscope whose offset moves at rest, and a magnet that passes a device that never turns fast.

Usage: measure.py BINARY; needs numpy. Headings count for the time until the next one."""
import json
import subprocess
import sys
import tempfile

import numpy as np

BINARY = sys.argv[1]
FOLDER = tempfile.mkdtemp()
RADIAN, GRAVITY = np.pi / 180, 9.80665
FIELD = 50 * np.array([0, np.cos(66 * RADIAN), -np.sin(66 * RADIAN)])


def rotations(yaw, pitch, roll):
    """From the device to east, north and up, of degrees; the yaw is the heading of +y."""
    def about(axis, degrees):
        sine, cosine = np.sin(degrees * RADIAN), np.cos(degrees * RADIAN)
        matrix = np.zeros((len(degrees), 3, 3))
        first, second = [(1, 2), (2, 0), (0, 1)][axis]
        matrix[:, axis, axis] = 1
        matrix[:, first, first] = matrix[:, second, second] = cosine
        matrix[:, first, second], matrix[:, second, first] = -sine, sine
        return matrix
    return about(2, -yaw) @ about(0, pitch) @ about(1, roll)


def rates(time, rotation):
    step = np.einsum("nji,njk->nik", rotation[:-1], rotation[1:])
    vector = np.stack([step[:, 2, 1] - step[:, 1, 2], step[:, 0, 2] - step[:, 2, 0], step[:, 1, 0] - step[:, 0, 1]], -1) / 2
    return np.vstack([vector, vector[-1:]]) / (time[1] - time[0])


def smooth(share):
    share = np.clip(share, 0, 1)
    return share**3 * (10 - 15 * share + 6 * share * share)


def wander(time, random, size, period):
    total = np.zeros_like(time)
    for _ in range(8):
        total += np.sin(2 * np.pi * time / period * np.exp(random.normal() * 0.5) + random.uniform(0, 2 * np.pi))
    return size * total / 2


def play(time, rotation, acceleration, random, gyroscope=True, added=0, offset=0, drift=0):
    """Writes a recording of 100, 100 and 25 Hz, plays it, and returns the error and the accuracy over time, and the events."""
    back = np.swapaxes(rotation, 1, 2)
    force = np.einsum("nij,nj->ni", back, acceleration + [0, 0, GRAVITY]) + offset
    field = np.einsum("nij,nj->ni", back, np.broadcast_to(FIELD + added, (len(time), 3)))
    bias = random.normal(size=3)
    every = round(0.01 / (time[1] - time[0]))
    rows = {}

    def add(place, values, step, noise):
        for index in range(0, len(time), step):
            row = rows.setdefault(index, [""] * 9)
            row[place:place + 3] = [f"{value:.6g}" for value in values[index] + random.normal(size=3) * noise]

    add(0, force, every, 0.0104)
    if gyroscope:
        add(3, rates(time, rotation) + bias / np.linalg.norm(bias) * 0.5 * RADIAN + drift * RADIAN, every, 0.057 * RADIAN)
    add(6, field, 4 * every, 0.3)
    names = ["ax_m_s2", "ay_m_s2", "az_m_s2", "gx_rad_s", "gy_rad_s", "gz_rad_s", "mx_uT", "my_uT", "mz_uT"]
    with open(f"{FOLDER}/made.csv", "w", encoding="utf-8") as file:
        kept = [place for place in range(9) if gyroscope or not 3 <= place < 6]
        file.write("time_s," + ",".join(names[place] for place in kept) + "\n")
        for index in sorted(rows):
            file.write(f"{time[index]:.4f}," + ",".join(rows[index][place] for place in kept) + "\n")
    output = subprocess.run(
        [BINARY, "replay", "--json", f"{FOLDER}/made.csv", "--set", "north.north.heading_filter_deg=0.3", "--set",
         "north.north.hard_iron_uT=0"], check=True, capture_output=True, text=True).stdout
    events = [json.loads(line) for line in output.splitlines()]
    heading, accuracy = np.full(len(time), np.nan), np.full(len(time), np.nan)
    begun = time[0]
    for event in events:
        place = int(np.searchsorted(time, event["time_ns"] / 1e9 + begun))
        if event["kind"] == "heading" and "age_s" not in event:
            heading[place:], accuracy[place:] = event["heading_deg"], event["accuracy_deg"]
        elif event["kind"] == "heading.lost":
            heading[place:] = np.nan
    truth = np.arctan2(rotation[:, 0, 1], rotation[:, 1, 1]) / RADIAN
    return np.abs((heading - truth + 180) % 360 - 180), accuracy, [event["kind"] for event in events]


def report(name, runs):
    errors = np.concatenate([error for error, _, _ in runs])
    accuracies = np.concatenate([accuracy for _, accuracy, _ in runs])
    valid = ~np.isnan(errors)
    alarms = sum("calibration.needed" in kinds or "detector.failed" in kinds for _, _, kinds in runs)
    if not valid.any():
        print(f"{name:46} no heading")
        return
    error, accuracy = errors[valid], accuracies[valid]
    print(f"{name:46} valid {valid.mean():6.1%}  within {(error <= accuracy).mean():6.1%}  beyond 2.5 x "
          f"{(error > 2.5 * accuracy).mean():6.2%}  worst {error.max():6.1f}  stated {np.median(accuracy):5.1f}  alarms {alarms} of {len(runs)}",
          flush=True)


def sway(size, period, yaw, seed):
    random = np.random.default_rng(seed)
    time = np.arange(0, 180, 0.005)
    rotation = rotations(20 + wander(time, random, yaw, period), wander(time, random, size, period), wander(time, random, size, period))
    return play(time, rotation, np.zeros((len(time), 3)), random)


def boat(size, period, yaw, surge, seed):
    random = np.random.default_rng(seed)
    time = np.arange(0, 240, 0.005)
    on = smooth((time - 14) / 6)
    rotation = rotations(
        20 + on * wander(time, random, yaw, 2 * period), on * wander(time, random, size, period), on * wander(time, random, size, period))
    return play(time, rotation, np.stack([on * wander(time, random, surge, period) for _ in range(3)], -1), random)


def car(sideways, forward, seed):
    random = np.random.default_rng(seed)
    time = np.arange(0, 150, 0.005)
    rest, speed, yaw, begin, curves = 12, 10, np.zeros_like(time) + random.uniform(0, 360), 20.0, []
    while begin < 140:
        length = random.uniform(3, 10)
        angle = min(random.uniform(30, 100), sideways / speed * length / 1.875 / RADIAN) * random.choice([-1, 1])
        yaw += angle * smooth((time - begin) / length)
        curves.append((begin, length))
        begin += length + random.uniform(5, 30)
    going = speed * smooth((time - rest) / (1.875 * speed / forward))
    on = smooth((time - rest) / 4)
    rotation = rotations(yaw, on * wander(time, random, 0.7, 6), on * wander(time, random, 0.7, 3))
    zero = np.zeros_like(time)
    ahead = np.stack([np.sin(yaw * RADIAN), np.cos(yaw * RADIAN), zero], -1)
    right = np.stack([np.cos(yaw * RADIAN), -np.sin(yaw * RADIAN), zero], -1)
    turning = np.gradient(yaw, time) * RADIAN
    acceleration = ahead * np.gradient(going, time)[:, None] + right * (going * turning)[:, None]
    return play(time, rotation, acceleration, random)


def magnet(low, high, seed):
    random = np.random.default_rng(seed)
    time = np.arange(0, 120, 0.005)
    level = np.full(len(time), random.uniform(0, 360))
    rotation = rotations(level, level * 0 + random.uniform(-20, 20), level * 0 + random.uniform(-20, 20))
    direction = random.normal(size=3)
    size = np.exp(random.uniform(np.log(low), np.log(high)))
    added = direction / np.linalg.norm(direction) * size * np.clip((time - 20) / random.uniform(0.3, 2), 0, 1)[:, None]
    return play(time, rotation, np.zeros((len(time), 3)), random, gyroscope=False, added=added)


def bare(sigma, gyroscope, seed):
    """A device that is held in one attitude after the other, by a chip whose accelerometer has an offset of sigma g on each axis."""
    random = np.random.default_rng(seed)
    time = np.arange(0, 60, 0.005)
    yaw, pitch, roll = np.zeros((3, len(time)))
    for begin in range(8, 60, 8):
        share = smooth((time - begin) / 5)
        yaw = yaw + share * random.uniform(-90, 90)
        pitch = pitch * (1 - share) + share * random.uniform(-40, 40)
        roll = roll * (1 - share) + share * random.uniform(-40, 40)
    rotation = rotations(yaw, pitch, roll)
    return play(
        time, rotation, np.zeros((len(time), 3)), random, gyroscope, offset=random.normal(size=3) * sigma * GRAVITY)


def warming(rate, total, seed):
    """A device that lies still while the offset of its gyroscope moves, in °/s a second, up to a total in °/s."""
    random = np.random.default_rng(seed)
    time = np.arange(0, 240, 0.005)
    direction = random.normal(size=3)
    zero = np.zeros_like(time)
    rotation = rotations(40 + zero, zero + random.uniform(-20, 20), zero + random.uniform(-20, 20))
    drift = np.clip((time - 60) * rate, 0, total)[:, None] * direction / np.linalg.norm(direction)
    return play(time, rotation, np.zeros((len(time), 3)), random, drift=drift)


def passed(size, seconds, roll, seed):
    """A device that never turns fast, by which a magnet passes at 20 s."""
    random = np.random.default_rng(seed)
    time = np.arange(0, 240, 0.005)
    on = smooth((time - 12) / 4)
    yaw = random.uniform(0, 360) + np.zeros_like(time)
    for begin in np.arange(60, 230, 12):
        yaw += random.choice([-1, 1]) * 60 * smooth((time - begin) / 8)
    rotation = rotations(yaw, on * wander(time, random, roll, 3), on * wander(time, random, roll, 3))
    direction = random.normal(size=3)
    added = (smooth((time - 20) / 2) - smooth((time - 20 - seconds) / 2))[:, None] * direction / np.linalg.norm(direction) * size
    return play(time, rotation, np.zeros((len(time), 3)), random, added=added)


if __name__ == "__main__":
    for size, period, yaw in ((0.3, 5, 0.3), (0.5, 5, 0.5), (0.7, 6, 1), (1, 8, 2), (1, 4, 1), (0.1, 8, 1)):
        report(f"sway of {size}° in {period} s, yaw {yaw}°", [sway(size, period, yaw, seed) for seed in range(6)])
    for size, period, yaw, surge in ((0.5, 5, 1, 0), (1, 6, 2, 0.2), (3, 6, 4, 0.5), (8, 7, 8, 1)):
        report(f"boat behind a rest, {size}° in {period} s, {surge} m/s²", [boat(size, period, yaw, surge, seed) for seed in range(4)])
    for sideways, forward in ((1.5, 1), (2.5, 1.5), (3.5, 2.5)):
        report(f"car, {sideways} m/s² in curves, {forward} ahead", [car(sideways, forward, seed) for seed in range(12)])
    for low, high in ((8, 20), (20, 80)):
        report(f"magnet of {low} to {high} µT beside a rest", [magnet(low, high, seed) for seed in range(20)])
    for sigma in (0, 0.01, 0.02):
        for gyroscope in (False, True):
            report(
                f"accelerometer off by {sigma} g, {'with' if gyroscope else 'no'} gyroscope",
                [bare(sigma, gyroscope, seed) for seed in range(24)])
    for rate, total in ((0.01, 0.6), (0.02, 1), (10, 0.4), (10, 2)):
        report(f"at rest, offset moves by {rate}°/s a second to {total}°/s", [warming(rate, total, seed) for seed in range(6)])
    for size, seconds, roll in ((5, 18, 0.7), (6, 5, 3), (12, 18, 1.5)):
        report(f"magnet of {size} µT passes in {seconds} s, roll {roll}°", [passed(size, seconds, roll, seed) for seed in range(4)])
