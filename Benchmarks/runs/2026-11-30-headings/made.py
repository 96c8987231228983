"""Makes recordings of devices with an exact truth, and scores the headings that a program reports.

usage: made.py BINARY [SEEDS], with numpy; SEEDS is added to each seed, 0 by default

Nothing of it is a recording: a motion is a heading, a pitch, a roll and an acceleration each millisecond, and the sensors' errors are
drawn from what small chips have. The program runs with heading_filter_deg=0, and with hard_iron_uT=0 where the magnetometer is
calibrated. The groups:

magnet    a device is turned for 30 s, then rests; from 60 to 90 s a magnet of 12 to 35 µT at the sensor is beside it
level     robots that turn about the vertical alone, with iron of 35 µT (standard deviation of each axis); scored from 40 s on
offset    three of these robots, whose gyroscope has an offset about z alone that is not known; scored from 30 s on
movement  vehicles with a calibrated magnetometer and a gyroscope without offset, drift and error of scale; scored from 20 s on

The columns, each for the groups that need it:

few     runs that have a heading for less than half of the time
wrong   runs with more than 2 % of the headings stated within 20° and off by more, during the magnet or after it
during, after    the share of the headings that are off by no more than is stated, from 61 to 90 s and from 92 s on; the mean of the runs
        that have headings then (all 40 of both programs)
within  that share of all headings
median  of the error, and the median of what is stated, in degrees
p90     the 90th percentile of error / stated
sure    the share of the headings that are stated within 20° and off by more
"""

import argparse
import json
import math
import pathlib
import subprocess
import tempfile

import numpy as np

STEP = 0.001
G = 9.80665
RADIAN = np.pi / 180
# A step of the gyroscope in rad/s (65.5 to a degree/s) and of the magnetometer in µT.
GYROSCOPE_STEP, MAGNETOMETER_STEP = RADIAN / 65.5, 0.15
# What all chips here have in common: sampling rates in Hz, even stamps, a gyroscope without error of scale; the field in µT.
COMMON = dict(field=50, gyroscope_rate=100, accelerometer_rate=100, magnetometer_rate=50, jitter=0, scale=np.eye(3))
ROBOT_SECONDS = 80
SEEDS = 0
COLUMNS = {"few": "d", "wrong": "d", "during": ".1%", "after": ".1%", "within": ".1%",
           "median": ".1f", "stated": ".1f", "p90": ".2f", "sure": ".1%"}


def times(seconds):
    return np.arange(int(seconds / STEP)) * STEP


def smooth(values, seconds):
    """A mean that is weighted by a Hann window, whose half is `seconds` long."""
    half = max(int(seconds / STEP), 1)
    window = np.hanning(2 * half + 3)
    window /= window.sum()
    padded = np.pad(values, (half + 1, half + 1), mode="edge")
    if len(window) < 400:
        return np.convolve(padded, window, "valid")
    size, first = 2 * len(padded), 2 * (half + 1)
    return np.fft.irfft(np.fft.rfft(padded, size) * np.fft.rfft(window, size))[first:first + len(values)]


def noise(chance, count, seconds, size):
    """Smooth noise: random knots, `seconds` apart."""
    knots = chance.normal(0, 1, int(count * STEP / seconds) + 4)
    between = np.interp(np.arange(count) * STEP, np.arange(len(knots)) * seconds, knots)
    return smooth(between, seconds / 2) * size * 1.3


def turns(chance, count, pause, sizes, rate):
    """A heading with turns of these sizes in degrees, at a rate in degrees/s, and pauses in seconds."""
    heading = np.zeros(count)
    now = chance.uniform(*pause)
    while now < count * STEP - 1:
        size = chance.choice(sizes) * chance.choice([-1, 1])
        length = abs(size) / chance.uniform(*rate)
        begin, end = int(now / STEP), min(int((now + length) / STEP), count)
        heading[begin:end] += size * np.linspace(0, 1, end - begin)
        heading[end:] += size
        now += length + chance.uniform(*pause)
    return smooth(heading, 0.3)


class Motion:
    """A device with x to the right, y ahead and z up: clockwise heading, pitch up and roll to the right in degrees, acceleration of its
    centre to east, north and up in m/s², and where the sensors are from the centre, in m."""

    def __init__(self, heading, pitch, roll, acceleration=0, lever=None):
        self.time = np.arange(len(heading)) * STEP
        self.turn = matrices(-heading * RADIAN, pitch * RADIAN, roll * RADIAN)
        step = np.swapaxes(self.turn[:-1], 1, 2) @ self.turn[1:]
        rate = np.stack([step[:, 2, 1] - step[:, 1, 2], step[:, 0, 2] - step[:, 2, 0], step[:, 1, 0] - step[:, 0, 1]], -1) / 2 / STEP
        self.rate = np.vstack([rate, rate[-1:]])
        total = acceleration + np.zeros((len(heading), 3))
        if lever is not None:
            of_lever = np.gradient(np.gradient(self.turn @ np.array(lever), STEP, axis=0), STEP, axis=0)
            # The differences are wrong at the ends.
            of_lever[:5] = of_lever[-5:] = 0
            total = total + of_lever
        self.force = np.einsum("nji,nj->ni", self.turn, total + [0, 0, G])
        self.heading = np.degrees(np.arctan2(self.turn[:, 0, 1], self.turn[:, 1, 1]))

    def field(self, size, dip):
        return np.swapaxes(self.turn, 1, 2) @ np.array([0, size * np.cos(dip * RADIAN), -size * np.sin(dip * RADIAN)])


def matrices(yaw, pitch, roll):
    """From the device's axes to east, north and up."""
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)

    def matrix(*cells):
        return np.stack(cells, -1).reshape(-1, 3, 3)

    about_z = matrix(np.cos(yaw), -np.sin(yaw), zero, np.sin(yaw), np.cos(yaw), zero, zero, zero, one)
    about_x = matrix(one, zero, zero, zero, np.cos(pitch), -np.sin(pitch), zero, np.sin(pitch), np.cos(pitch))
    about_y = matrix(np.cos(roll), zero, np.sin(roll), zero, one, zero, -np.sin(roll), zero, np.cos(roll))
    return about_z @ about_x @ about_y


def turned(chance, seconds):
    """Turned for 30 s, then at rest."""
    time = times(seconds)
    early = time < 30
    heading = chance.uniform(0, 360) + smooth(np.where(time > 30, 0, np.sin(time * 0.6) * 120), 0.5)
    return Motion(heading, *(1 + noise(chance, len(time), 3, 20) * early for _ in range(2)))


def robot(chance, seconds):
    count = len(times(seconds))
    heading = chance.uniform(0, 360) + turns(chance, count, (2, 10), [30, 45, 90, 90, 180], (20, 90))
    speed = smooth(0.5 * (noise(chance, count, 3, 1) > 0), 0.4)
    velocity = np.stack([np.sin(heading * RADIAN) * speed, np.cos(heading * RADIAN) * speed], -1)
    moves = speed > 0.05
    shakes = noise(chance, count, 0.02, 0.3) * moves
    pitch, roll = (chance.uniform(-2, 2) + noise(chance, count, 0.2, 0.1) * moves for _ in range(2))
    return Motion(heading, pitch, roll, np.column_stack([np.gradient(velocity, STEP, axis=0), shakes]))


def car(chance, seconds):
    count = len(times(seconds))
    speed = smooth(np.clip(8 + noise(chance, count, 15, 6), 0, 25) * (times(seconds) > 6), 1)
    rate, now = np.zeros(count), 9.0
    while now < seconds - 8:
        length, size = chance.uniform(3, 9), chance.choice([45, 90, 90, 180])
        rate[int(now / STEP):int((now + length) / STEP)] = chance.choice([-1, 1]) * size / length
        now += length + chance.uniform(4, 25)
    rate = smooth(rate, 0.8)
    # Tyres hold 4 m/s² to the side.
    rate = rate * np.minimum(1, 4 / np.maximum(abs(speed * rate * RADIAN), 1e-9))
    heading = chance.uniform(0, 360) + np.cumsum(rate) * STEP
    velocity = np.stack([np.sin(heading * RADIAN), np.cos(heading * RADIAN)], -1) * speed[:, None]
    moves = speed > 1
    shakes = noise(chance, count, 0.05, 0.4) * moves
    pitch = chance.uniform(-5, 5) + noise(chance, count, 10, 1.5) + noise(chance, count, 0.3, 0.2) * moves
    # In curves the body leans outwards by 1° for each m/s².
    roll = chance.uniform(-5, 5) - speed * rate * RADIAN + noise(chance, count, 0.4, 0.3) * moves
    return Motion(heading, pitch, roll, np.column_stack([np.gradient(velocity, STEP, axis=0), shakes]))


def drone(size):
    """A drone that accelerates to the sides by `size` (standard deviation, m/s²), along the thrust of its rotors."""
    def motion(chance, seconds):
        time = times(seconds)
        flies = smooth((time > 8) * 1.0, 1)
        east, north, up = (flies * noise(chance, len(time), 3, part) for part in (size, size, size / 4))
        heading = chance.uniform(0, 360) + np.cumsum(smooth(flies * noise(chance, len(time), 4, 25), 0.5)) * STEP
        sine, cosine = np.sin(heading * RADIAN), np.cos(heading * RADIAN)
        pitch = -np.degrees(np.arctan2(east * sine + north * cosine, G))
        roll = np.degrees(np.arctan2(east * cosine - north * sine, G))
        rotors = np.stack([flies * 2 * np.sin(2 * np.pi * chance.uniform(70, 140) * time + axis) for axis in range(3)], -1)
        return Motion(heading, pitch, roll, np.stack([east, north, up], -1) + rotors)
    return motion


def boat(chance, seconds):
    time = times(seconds)
    count, roll_period, period = len(time), chance.uniform(3, 8), chance.uniform(4, 9)
    roll = chance.uniform(4, 15) * np.sin(2 * np.pi * time / roll_period + chance.uniform(0, 6)) * (1 + noise(chance, count, 20, 0.3))
    pitch = chance.uniform(2, 6) * np.sin(2 * np.pi * time / period) * (1 + noise(chance, count, 20, 0.3))
    heading = chance.uniform(0, 360) + noise(chance, count, 6, 4) + turns(chance, count, (20, 50), [40, 90, 120, 180], (3, 10))
    sideways = [noise(chance, count, 2, 0.3) for _ in range(2)]
    heave = chance.uniform(0.3, 1) * np.sin(2 * np.pi * time / period + 1)
    return Motion(heading, pitch, roll, np.stack([*sideways, heave], -1), [1, 0.5, 2.0])


def chip(chance, calibrated, **given):
    """A chip and its place on the Earth. All is drawn, also what `given` replaces: what follows of a seed does not depend on it."""
    drawn = dict(
        field=chance.uniform(25, 65), dip=chance.choice([chance.uniform(0, 80), chance.uniform(50, 72)]) * chance.choice([1, 1, -1]),
        gyroscope_rate=chance.choice([50, 100, 100, 200, 400]), accelerometer_rate=chance.choice([50, 100, 100, 200]),
        magnetometer_rate=chance.choice([10, 20, 50, 100]), jitter=chance.choice([0, 0, 0.3, 0.8]),
        # Noise in units/√Hz.
        gyroscope_noise=chance.uniform(0.004, 0.02) * RADIAN, accelerometer_noise=chance.uniform(0.0001, 0.0004) * G,
        magnetometer_noise=chance.uniform(0.03, 0.12),
        offset=chance.normal(0, 1.0, 3) * RADIAN, drift=chance.normal(0, 0.05, 3) * RADIAN / 60,
        scale=np.eye(3) * (1 + chance.uniform(-0.03, 0.03)) @ (np.eye(3) + chance.normal(0, 0.003, (3, 3))),
        accelerometer_offset=chance.normal(0, 0.01, 3) * G, accelerometer_scale=1 + chance.normal(0, 0.005, 3),
        iron=chance.normal(0, 1, 3), soft=chance.normal(0, 0.012, (3, 3)), delays=chance.uniform(0, 0.012, 3))
    drawn["soft"] = np.eye(3) + (drawn["soft"] + drawn["soft"].T) / 2
    drawn["iron"] = drawn["iron"] / np.linalg.norm(drawn["iron"]) * chance.uniform(0, 60)
    if calibrated:
        drawn["iron"] = chance.normal(0, 0.3, 3)
    return drawn | COMMON | given


def sampled(chance, motion, values, sensor, made_chip, delay):
    """The times, the stamps and the means over most of a sample's time, with noise."""
    rate = made_chip[f"{sensor}_rate"]
    count = int((motion.time[-1] - 0.1) * rate)
    time = 0.02 + np.arange(count) / rate
    sums = np.vstack([np.zeros(3), np.cumsum(values, 0) * STEP])
    length = min(1 / rate, 0.02) * 0.8

    def sum_until(end):
        return np.stack([np.interp(end, np.arange(len(sums)) * STEP, sums[:, axis]) for axis in range(3)], -1)

    means = (sum_until(time + length / 2) - sum_until(time - length / 2)) / length
    stamps = time + delay + chance.uniform(-0.5, 0.5, count) * made_chip["jitter"] / rate
    stamps = np.maximum.accumulate(stamps) + np.arange(count) * 1e-9
    return time, stamps, means + chance.normal(0, 1, means.shape) * made_chip[f"{sensor}_noise"] * np.sqrt(rate)


def replayed(binary, chance, motion, made_chip, calibrated, magnet=0, failures=None):
    """Plays the made recording: the time, the error and the stated accuracy of each heading that is not held.

    What is said of detectors that fail is added to `failures`."""
    gyroscope_delay, accelerometer_delay, magnetometer_delay = made_chip["delays"]
    time, rate_stamps, rate = sampled(chance, motion, motion.rate, "gyroscope", made_chip, gyroscope_delay)
    rate = rate @ made_chip["scale"].T + made_chip["offset"] + time[:, None] * made_chip["drift"]
    _, force_stamps, force = sampled(chance, motion, motion.force, "accelerometer", made_chip, accelerometer_delay)
    force = force * made_chip["accelerometer_scale"] + made_chip["accelerometer_offset"]
    field = motion.field(made_chip["field"], made_chip["dip"]) + magnet
    _, field_stamps, field = sampled(chance, motion, field, "magnetometer", made_chip, magnetometer_delay)
    field = field @ made_chip["soft"].T + made_chip["iron"]
    rate = np.round(rate / GYROSCOPE_STEP) * GYROSCOPE_STEP
    field = np.round(field / MAGNETOMETER_STEP) * MAGNETOMETER_STEP
    with tempfile.TemporaryDirectory() as folder:
        traces = []
        streams = [("a", "m_s2", force_stamps, force), ("m", "uT", field_stamps, field), ("g", "rad_s", rate_stamps, rate)]
        for letter, unit, stamps, values in streams:
            traces.append(pathlib.Path(folder, f"{letter}.csv"))
            head = ",".join(["t_s"] + [f"{letter}{axis}_{unit}" for axis in "xyz"])
            np.savetxt(traces[-1], np.column_stack([stamps, values]), fmt="%.6f", delimiter=",", header=head, comments="")
        settings = ["heading_filter_deg=0"] + (["hard_iron_uT=0"] if calibrated else [])
        words = [word for setting in settings for word in ("--set", f"north.north.{setting}")]
        said = subprocess.run([binary, "replay", "--json", *words, *traces], capture_output=True, text=True, check=True)
    said_events = [json.loads(line) for line in said.stdout.splitlines()]
    if failures is not None:
        failures += [event["reason"] for event in said_events if event["kind"] == "detector.failed"]
    # A device that is held upright has the heading of another axis: none is upright while headings are scored.
    events = [event for event in said_events
              if event["kind"] == "heading" and "age_s" not in event and event["axis"] == "+y"]
    found = np.array([(event["time_ns"] / 1e9, event["heading_deg"], event["accuracy_deg"]) for event in events]).reshape(-1, 3)
    at = np.clip(((found[:, 0] - gyroscope_delay) / STEP).round().astype(int), 0, len(motion.time) - 1)
    found[:, 1] = abs((found[:, 1] - motion.heading[at] + 180) % 360 - 180)
    return found


def between(found, begin, end=math.inf):
    """The errors and the stated accuracies of a time."""
    return found[(found[:, 0] >= begin) & (found[:, 0] < end), 1:].T


def share_within(errors, stated):
    return (errors <= stated).mean() if len(errors) else math.nan


def share_sure(errors, stated):
    return ((stated <= 20) & (errors > 20)).mean() if len(errors) else 0


def magnet(binary):
    for name, calibrated in (("calibrated", True), ("iron", False)):
        during, after = [], []
        for seed in range(20):
            chance = np.random.default_rng(SEEDS + 4000 + seed)
            motion = turned(chance, 150)
            field = chance.normal(0, 1, 3)
            field *= chance.uniform(12, 35) / np.linalg.norm(field)
            field = smooth(((motion.time > 60) & (motion.time < 90)) * 1.0, 1)[:, None] * field
            made_chip = chip(chance, calibrated, offset=chance.normal(0, 0.3, 3) * RADIAN, dip=65)
            found = replayed(binary, chance, motion, made_chip, calibrated, field)
            during.append(between(found, 61, 90))
            after.append(between(found, 92))
        wrong = sum(max(share_sure(*one), share_sure(*other)) > 0.02 for one, other in zip(during, after))
        yield name, len(during), dict(
            wrong=wrong, during=np.nanmean([share_within(*run) for run in during]), after=np.nanmean([share_within(*run) for run in after]))


def robot_with_iron(binary, seed, offset_axes=(1, 1, 1)):
    chance = np.random.default_rng(SEEDS + 300 + seed)
    motion = robot(chance, ROBOT_SECONDS)
    made_chip = chip(chance, False, iron=chance.normal(0, 35, 3), dip=68)
    made_chip["offset"] = made_chip["offset"] * offset_axes
    return replayed(binary, chance, motion, made_chip, False), made_chip


def level(binary):
    found = [between(robot_with_iron(binary, seed)[0], 40) for seed in range(24)]
    # A heading comes with each sample of the gyroscope.
    most = (ROBOT_SECONDS - 40) * COMMON["gyroscope_rate"]
    yield "robots", len(found), dict(few=sum(len(errors) < 0.5 * most for errors, _ in found))


def offset(binary):
    for seed in (0, 5, 18):
        found, made_chip = robot_with_iron(binary, seed, (0, 0, 1))
        errors, stated = between(found, 30)
        name = f"robot {seed}, {made_chip['offset'][2] / RADIAN:+.2f} deg/s"
        yield name, 1, dict(within=share_within(errors, stated), median=np.median(errors), stated=np.median(stated))


def movement(binary):
    for name, make in (("car", car), ("drone 0.5 m/s2", drone(0.5)), ("drone 1 m/s2", drone(1)), ("boat", boat)):
        runs = []
        for seed in range(5):
            chance = np.random.default_rng(SEEDS + 60 + seed)
            motion = make(chance, 150)
            made_chip = chip(chance, True, offset=np.zeros(3), drift=np.zeros(3), dip=64)
            runs.append(between(replayed(binary, chance, motion, made_chip, True), 20))
        errors, stated = np.concatenate(runs, axis=1)
        yield name, len(runs), dict(
            within=share_within(errors, stated), p90=np.percentile(errors / stated, 90), sure=np.mean([share_sure(*run) for run in runs]))


def main():
    global SEEDS
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("seeds", type=int, nargs="?", default=0)
    arguments = parser.parse_args()
    binary, SEEDS = arguments.binary, arguments.seeds
    print(f"{'group':8}  {'case':22} {'runs':>4}", *(f"{column:>6}" for column in COLUMNS))
    for group in (magnet, level, offset, movement):
        for name, runs, row in group(binary):
            cells = [f"{format(row[column], form) if column in row else '-':>6}" for column, form in COLUMNS.items()]
            print(f"{group.__name__:8}  {name:22} {runs:4}", *cells, flush=True)


if __name__ == "__main__":
    main()
