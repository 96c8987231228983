#!/usr/bin/env python3
"""Counts the instructions that each detector of one accelerometer costs a sample, which other load on the machine does not change: cost.py BINARY

Run in the project's folder. A walk of the phyphox recording between its samples at 400 Hz is replayed once and twice as long, with a detector of rest
alone and with one detector more; the differences are what a sample costs, and what the further detector adds. Needs numpy, valgrind and objcopy."""
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

RATE, ROWS = 400, 20_000
folder = pathlib.Path(tempfile.mkdtemp())
subprocess.run(["objcopy", "--strip-debug", sys.argv[1], folder / "program"], check=True)
data = np.genfromtxt("Tests/Fixtures/phyphox_walk/Accelerometer.csv", delimiter=",", skip_header=1)[:, :4]
data = data[~np.isnan(data).any(1)]
t = np.arange(2 * ROWS) / RATE
there = data[0, 0] + np.abs(t % (2 * (data[-1, 0] - data[0, 0])))
rows = np.column_stack([t] + [np.interp(there, data[:, 0], data[:, axis]) for axis in (1, 2, 3)])
for times in (1, 2):
    np.savetxt(folder / f"{times}.csv", rows[:times * ROWS], "%.6f", ",", header="t_s,ax_m_s2,ay_m_s2,az_m_s2", comments="")
    subprocess.run([folder / "program", "convert", folder / f"{times}.csv", "-o", folder / f"{times}.arrows"], check=True, capture_output=True)


def instructions(section, times):
    config = folder / "c.toml"
    config.write_text(f'[sensor.w]\nsource = "trace"\nfile = "{folder}/{times}.arrows"\n{section}')
    text = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", folder / "program", "replay", "--json",
                           "--config", config], capture_output=True, text=True, check=True).stderr
    return int(re.search(r"Collected : (\d+)", text)[1])


def cost(section):
    return (instructions(section, 2) - instructions(section, 1)) / ROWS


def section(kind, name):
    return f'[{kind}.{name}]\naccelerometer = "w"\n'


first = section("stationary", "first")
base = cost(first)
print(f"read, and one stationary {base:7.0f} instructions a sample at {RATE} Hz")
for kind in ("motion", "orientation", "tap", "steps", "stationary", "vibration"):
    print(f"another {kind:16} {cost(first + section(kind, 'more')) - base:7.0f}", flush=True)
