"""Gives the magnetometer of made devices other axes than the gyroscope and the accelerometer have, and scores what a program says.

usage: axes.py BINARY [SEEDS] [--runs N], with numpy; SEEDS is added to each seed, 0 by default

Motions and sensors are those of 2026-11-30-headings/made.py and 2026-11-30-rooms/rooms.py; the magnetometer is calibrated. A row for each
motion and each kind of axes: "right", a matrix in words, or the gyroscope's own axes that are wrong. The columns:

gyroscope, magnetometer   runs in which that sensor's axes were reported to be wrong
valid   the share of the samples of the gyroscope that have a heading
sure    the share of the samples that have one which is stated within 20° and off by more
"""

import argparse
import importlib.util
import pathlib

import numpy as np

RUNS = pathlib.Path(__file__).resolve().parent.parent


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


rooms = module(RUNS / "2026-11-30-rooms" / "rooms.py")
made = rooms.made
SECONDS = 90
EYE = np.eye(3)
AXES = {"right": EYE, "x reversed": np.diag([-1, 1, 1]), "z reversed": np.diag([1, 1, -1]), "x and y swapped": EYE[[1, 0, 2]],
        "turned by 180°": np.diag([-1, -1, 1]), "as the AK8963": np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])}
RATES = {"gyroscope: z reversed": np.diag([1, 1, -1]), "gyroscope: y and z swapped": EYE[[0, 2, 1]]}
MOTIONS = {"hand": rooms.hand, "robot": made.robot, "car": made.car, "boat": made.boat}


def run(binary, kind, matrix, scale, seed):
    chance = np.random.default_rng(seed)
    motion = MOTIONS[kind](chance, SECONDS)
    chip = made.chip(chance, True, dip=66)
    chip["soft"] = matrix @ chip["soft"]
    chip["scale"] = scale @ chip["scale"]
    failures = []
    return made.replayed(binary, chance, motion, chip, True, failures=failures), failures


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("binary")
    parser.add_argument("seeds", type=int, nargs="?", default=0)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    print(f"{'motion':6} {'axes':27} {'runs':>4} gyroscope magnetometer {'valid':>6} {'sure':>6}")
    for kind in MOTIONS:
        for name in AXES | RATES if kind == "hand" else ("right", "x and y swapped"):
            found = [run(arguments.binary, kind, AXES.get(name, EYE), RATES.get(name, EYE), arguments.seeds + 9000 + number)
                     for number in range(arguments.runs)]
            told = [sum(any(text.startswith(f"the {sensor} turns otherwise") for text in failures) for _, failures in found)
                    for sensor in ("gyroscope", "magnetometer")]
            samples = SECONDS * made.COMMON["gyroscope_rate"]
            valid = np.mean([len(headings) for headings, _ in found]) / samples
            sure = np.mean([((headings[:, 2] <= 20) & (headings[:, 1] > 20)).sum() for headings, _ in found]) / samples
            print(f"{kind:6} {name:27} {len(found):4} {told[0]:9} {told[1]:12} {valid:6.1%} {sure:6.1%}", flush=True)


if __name__ == "__main__":
    main()
