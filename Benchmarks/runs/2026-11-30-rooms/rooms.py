"""Drives and carries made devices from one room into another and back, and scores the headings that a program reports.

usage: rooms.py BINARY [SEEDS] [--runs N] [--within SECONDS], with numpy; SEEDS is added to each seed, 0 by default

Motions and sensors are those of 2026-11-30-headings/made.py. A room adds a field that does not turn with the device, of 5 to 20 µT in any
direction; the device comes to it within two seconds at 60 s and leaves it at 110 s; with `--within 0.02` a current is switched on. True is the north
of the first room. The kinds:

robot   turns about the vertical alone
hand    is carried: heading, pitch and roll change
iron    without a calibration, iron of 35 µT (standard deviation of each axis); else with one

The columns, for the time before the room (30 to 60 s), in it (62 to 110 s) and after it (113 to 180 s):

valid   the share of the samples of the gyroscope that have a heading
within  the share of the headings that are off by no more than is stated, the mean of the runs
median  of the error, and the median of what is stated, in degrees
sure    the share of the headings that are stated within 20° and off by more
"""

import argparse
import importlib.util
import pathlib

import numpy as np

MADE = pathlib.Path(__file__).resolve().parent.parent / "2026-11-30-headings" / "made.py"
SPEC = importlib.util.spec_from_file_location("made", MADE)
made = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(made)

SECONDS = 180
PHASES = {"before": (30, 60), "in it": (62, 110), "after": (113, 180)}


def hand(chance, seconds):
    count = len(made.times(seconds))
    heading = chance.uniform(0, 360) + made.turns(chance, count, (1, 6), [30, 45, 90, 90, 180], (40, 120))
    pitch, roll = (chance.uniform(-10, 10) + made.noise(chance, count, 2, 12) for _ in range(2))
    sways = np.stack([made.noise(chance, count, 0.25, size) for size in (0.7, 0.7, 1)], -1)
    return made.Motion(heading, pitch, roll, sways)


KINDS = {"robot": made.robot, "hand": hand}


def run(binary, kind, calibrated, seed, within):
    """The headings of a run, and the share of samples that have one, by phases."""
    chance = np.random.default_rng(seed)
    motion = KINDS[kind](chance, SECONDS)
    field = chance.normal(0, 1, 3)
    field *= chance.uniform(5, 20) / np.linalg.norm(field)
    there = made.smooth(((motion.time > 60) & (motion.time < 110)) * 1.0, within / 2)
    room = np.einsum("nji,nj->ni", motion.turn, there[:, None] * field)
    made_chip = made.chip(chance, calibrated, dip=66, **({} if calibrated else dict(iron=chance.normal(0, 35, 3))))
    return made.replayed(binary, chance, motion, made_chip, calibrated, room)


def print_phases(name, found, phases):
    """A row for each phase of the runs, which are those of one kind."""
    for phase, (begin, end) in phases.items():
        parts = [made.between(run, begin, end) for run in found]
        valid = np.mean([part.shape[1] for part in parts]) / (end - begin) / made.COMMON["gyroscope_rate"]
        within = np.nanmean([made.share_within(*part) for part in parts if part.shape[1]])
        errors, stated = np.concatenate(parts, axis=1)
        sure = np.mean([made.share_sure(*part) for part in parts])
        print(f"{name} {phase:7} {len(found):4} {valid:6.1%} {within:6.1%} {np.median(errors):6.1f} {np.median(stated):6.1f} {sure:6.1%}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("seeds", type=int, nargs="?", default=0)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--within", type=float, default=2)
    arguments = parser.parse_args()
    print(f"{'kind':12} {'phase':7} {'runs':>4}", *(f"{column:>6}" for column in ("valid", "within", "median", "stated", "sure")))
    for kind in KINDS:
        for calibrated in (False, True):
            seeds = [arguments.seeds + 7000 + number for number in range(arguments.runs)]
            found = [run(arguments.binary, kind, calibrated, seed, arguments.within) for seed in seeds]
            name = f"{kind} {'' if calibrated else 'iron'}"
            print_phases(f"{name:12}", found, PHASES)


if __name__ == "__main__":
    main()
