"""Puts made devices down beside a magnet, and scores the headings that a program reports.

usage: magnet.py BINARY [SEEDS] [--runs N], with numpy; SEEDS is added to each seed, 0 by default

Motions and sensors are those of 2026-11-30-headings/made.py and 2026-11-30-rooms/rooms.py: a device is carried for 40 s, without a rest before,
and lies still from then on; within two seconds it comes to a magnet of 10 to 50 µT at the sensor, which stays. The kinds are a calibrated
magnetometer and one with iron of 35 µT (standard deviation of each axis). The columns are those of rooms.py, for the time from 25 to 40 s, for the
minute behind the putting down (42 to 102 s), and from then on until 159 s.
"""

import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "2026-11-30-rooms"))
import rooms  # noqa: E402
made = rooms.made

SECONDS = 160
PHASES = {"carried": (25, 40), "minute": (42, 102), "later": (102, 159)}


def put_down(chance):
    time = made.times(SECONDS)
    moves = made.smooth((time < 40) * 1.0, 0.5)
    turned = made.turns(chance, len(time), (1, 6), [30, 45, 90, 90, 180], (40, 120))
    heading = chance.uniform(0, 360) + np.cumsum(np.gradient(turned) * moves)
    pitch, roll = (1 + (chance.uniform(-10, 10) + made.noise(chance, len(time), 2, 12)) * moves for _ in range(2))
    sways = np.stack([made.noise(chance, len(time), 0.25, size) for size in (0.7, 0.7, 1)], -1) * moves[:, None]
    return made.Motion(heading, pitch, roll, sways)


def run(binary, calibrated, seed):
    chance = np.random.default_rng(seed)
    motion = put_down(chance)
    magnet = chance.normal(0, 1, 3)
    magnet *= chance.uniform(10, 50) / np.linalg.norm(magnet)
    near = made.smooth((motion.time > 41) * 1.0, 1)[:, None] * magnet
    made_chip = made.chip(chance, calibrated, dip=66, **({} if calibrated else dict(iron=chance.normal(0, 35, 3))))
    return made.replayed(binary, chance, motion, made_chip, calibrated, near)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("seeds", type=int, nargs="?", default=0)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    print(f"{'kind':10} {'phase':7} {'runs':>4}", *(f"{column:>6}" for column in ("valid", "within", "median", "stated", "sure")))
    for calibrated in (True, False):
        found = [run(arguments.binary, calibrated, arguments.seeds + 11_000 + number) for number in range(arguments.runs)]
        rooms.print_phases(f"{'calibrated' if calibrated else 'iron':10}", found, PHASES)


if __name__ == "__main__":
    main()
