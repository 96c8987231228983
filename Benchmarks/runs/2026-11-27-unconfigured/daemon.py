#!/usr/bin/env python3
"""What a daemon costs whose configuration has no watch = "chip", by program: instructions for a sample at 100 Hz (callgrind; two recordings
of another length, so that start and end cancel out), instructions from the start to the end of a short one, and, of a run without
valgrind, system and user time, voluntary context switches and the greatest resident size.

Usage: daemon.py PROGRAM…; needs valgrind and objcopy."""
import os
import random
import re
import subprocess
import sys
import tempfile

ROUNDS = 3
SECONDS = (4, 12)
DETECTORS = {
    "motion": '[motion.moved]\naccelerometer = "chassis"\n',
    "motion and north": '[motion.moved]\naccelerometer = "chassis"\n[north.bow]\naccelerometer = "chassis"\nmagnetometer = "chassis"\n',
}
HEAD = '[sensor.chassis]\nsource = "auto"\n'
HANDLER = '[handler.log]\non = ["motion.began"]\nlog = true\n'


def record(path, seconds):
    numbers = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        file.write("time_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT\n")
        for index in range(100 * seconds):
            values = [numbers.gauss(rest, noise) for rest, noise in
                      [(0, 0.02), (0, 0.02), (9.81, 0.02), (0, 0.3), (20, 0.3), (-45, 0.3)]]
            file.write(f"{index / 100}," + ",".join(f"{value:.5f}" for value in values) + "\n")


def counted(folder, *command):
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *command],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"]})
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def resources(*command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"]})
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime * 1000, used.ru_stime * 1000, used.ru_nvcsw, used.ru_maxrss


def main():
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{seconds}.csv" for seconds in SECONDS]
        for path, seconds in zip(paths, SECONDS):
            record(path, seconds)
        programs = []
        for number, program in enumerate(sys.argv[1:]):
            programs.append(f"{folder}/binnacle{number}")
            # Valgrind does not read this compiler's debugging information.
            subprocess.run(["objcopy", "--strip-debug", program, programs[-1]], check=True)
        for name, detectors in DETECTORS.items():
            with open(f"{folder}/b.toml", "w", encoding="utf-8") as file:
                file.write(HEAD + detectors + HANDLER)
            print(f"{name}: each round, program by program")
            for _ in range(ROUNDS):
                for number, program in enumerate(programs):
                    short, long = (counted(folder, program, "run", "--trace", path, f"{folder}/b.toml") for path in paths)
                    user, system, switches, size = resources(program, "run", "--trace", paths[1], f"{folder}/b.toml")
                    print(f"  program {number + 1}: {(long - short) / (100 * (SECONDS[1] - SECONDS[0])):7.0f} instructions a sample, "
                          f"{short / 1e6:.1f} million for {SECONDS[0]} s; {SECONDS[1]} s take {user:.0f} ms of user and {system:.0f} ms of "
                          f"system time, {switches} switches, {size / 1024:.1f} MiB", flush=True)


main()
