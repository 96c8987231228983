"""Folders and zip archives as apps export them: which files are played as one recording, which are left out, and what is refused."""

import json
import os
import pathlib
import subprocess
import zipfile

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

    def pack(name, top=""):
        with zipfile.ZipFile(root / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted((root / "logger").iterdir()):
                archive.write(file, top + file.name)

    def events(run):
        return [line for line in run.stdout.splitlines() if "replayed" not in line]

    pack("logger.zip")
    pack("top.zip", "export 1/")
    for file in "logger.zip", "top.zip":
        run = replay(file, cwd=root)
        check(run.returncode == 0 and "replayed 1500 samples" in run.stdout and events(run) == [
            line.replace("logger/", f"{file}/export 1/" if file == "top.zip" else f"{file}/") for line in events(named)],
              f"{file} is the folder that it has", run.stdout + run.stderr[-1500:])
        check(run.stderr.count("left out") == 1 and f"binnacle: {file}: left out: Accelerometer.csv, Gravity.csv, " in run.stderr,
              "what is left out of it is said once", run.stderr)
    for command, *options in ("convert", "-o", "out.arrows"), ("plot", "-o", "out.html"):
        run = subprocess.run([BINARY, command, *options, "logger.zip"], cwd=root, capture_output=True, text=True)
        check(run.returncode == 0 and (run.stdout + run.stderr).count("left out") == 1, f"{command} takes it", run.stderr[-1500:])
    run = replay("--each", cwd=root, input="logger.zip\nlogger.zip/Gyroscope.csv\ntop.zip\n")
    ends = [json.loads(line) for line in run.stdout.splitlines()]
    ends = [(end["recording"], end["status"], end["samples"]) for end in ends if end["kind"].startswith("recording.")]
    check(ends == [("logger.zip", 0, 1500), ("logger.zip/Gyroscope.csv", 64, 0), ("top.zip", 0, 1500)],
          "each archive by itself", run.stdout[-1500:])
    run = subprocess.run([BINARY, "convert", "--force", "-o", "logger.zip", "logger.zip"], cwd=root, capture_output=True, text=True)
    check(run.returncode == 64 and "would be written over" in run.stderr, "an archive that is read is not written over", run.stderr)

    # A pattern of the shell finds pipes and devices, too.
    os.symlink("/dev/zero", root / "pipe/Magnetometer.csv")
    for stray in "Gyroscope", "Magnetometer":
        run = replay("pipe/Accelerometer.csv", f"pipe/{stray}.csv", cwd=root)
        check(run.returncode == 64 and f"pipe/{stray}.csv: is a pipe or a device among files" in run.stderr,
              "none among files is waited for", run.stderr)
    run = subprocess.run(
        ["bash", "-c", f"{BINARY} replay logger/TotalAcceleration.csv <(cat logger/Gyroscope.csv) --map gx=x:rad/s "
         "--map gy=y:rad/s --map gz=z:rad/s; " + f"cat logger/TotalAcceleration.csv | {BINARY} replay two/a.csv - || true"],
        cwd=root, capture_output=True, text=True, timeout=harness.PATIENCE)
    check("among files" not in run.stderr, "what the shell makes is played beside files", run.stderr[-1500:])
harness.finish()
