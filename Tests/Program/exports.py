"""Folders as apps export them: which files are played as one recording, which are left out, and what is refused."""

import json
import os
import pathlib
import subprocess

import harness
from harness import BINARY, check


def write(path, head, row, count=500):
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([head, *(row(i) for i in range(count))]) + "\n")


def vector(x, y, z, order="{x},{y},{z}"):
    return lambda i: f"{1679068247354694100 + i * 10**7},{i / 100:.4f}," + order.format(x=x, y=y, z=z)


def replay(*arguments, **options):
    return subprocess.run(
        [BINARY, "replay", *arguments], capture_output=True, text=True, timeout=harness.PATIENCE, **options)


with harness.temporary_folder() as name:
    root = pathlib.Path(name)
    head = "time,seconds_elapsed,z,y,x"
    logger = root / "logger"
    for file, values in {
        "Accelerometer": (0, 0.01, 0), "TotalAcceleration": (9.81, 0.01, 0), "Gravity": (9.81, 0, 0),
        "Gyroscope": (0.01, 0, 0), "GyroscopeUncalibrated": (0.03, 0, 0), "Magnetometer": (-40, 20, 0),
        "MagnetometerUncalibrated": (-70, 50, 90),
    }.items():
        write(logger / f"{file}.csv", head, vector(*values))
    write(logger / "Metadata.csv", "version,device name", lambda i: "3,Phone", 1)
    run = replay("logger", cwd=root)
    left = [line for line in run.stderr.splitlines() if line.startswith("binnacle: logger: left out: ")]
    check(run.returncode == 0 and "replayed 1500 samples" in run.stdout, "one file of each kind is played", run.stderr[-1500:])
    check(left == ["binnacle: logger: left out: Accelerometer.csv, Gravity.csv, GyroscopeUncalibrated.csv, "
                   "MagnetometerUncalibrated.csv, Metadata.csv"], "the others are listed", left)
    named = replay(*(f"logger/{file}.csv" for file in ("Gyroscope", "Magnetometer", "TotalAcceleration")), cwd=root)
    check([line for line in named.stdout.splitlines() if "replayed" not in line and "left out" not in line]
          == [line for line in run.stdout.splitlines() if "replayed" not in line and "left out" not in line],
          "the events are those of the files by their names")
    write(root / "two/a.csv", "time_s,accel_x_g,accel_y_g,accel_z_g", lambda i: f"{i / 100},0,0,1")
    write(root / "two/b.csv", "time_s,accel_x_g,accel_y_g,accel_z_g", lambda i: f"{i / 100},0,0,1")
    write(root / "none/list.csv", "a,b", lambda i: "x,y", 3)
    write(root / "pipe/Accelerometer.csv", "time_s,accel_x_g,accel_y_g,accel_z_g", lambda i: f"{i / 100},0,0,1")
    os.mkfifo(root / "pipe/Gyroscope.csv")
    run = replay("--each", cwd=root, input="logger\ntwo\nnone\npipe\npipe/Gyroscope.csv\n")
    ends = [json.loads(line) for line in run.stdout.splitlines()]
    ends = [(end["recording"], end["status"]) for end in ends if end["kind"].startswith("recording.")]
    check(ends == [("logger", 0), ("two", 65), ("none", 65), ("pipe", 0), ("pipe/Gyroscope.csv", 65)],
          "each folder by itself, and no pipe is waited for", ends)
harness.finish()
