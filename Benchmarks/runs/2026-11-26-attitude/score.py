"""Scores the attitude that is reported against an optical reference, beside VQF on the same rows.

usage: score.py BINARY [FOLDER], from the project's folder; needs numpy and, for the rows of VQF, vqf of PyPI

FOLDER has recordings in the columns of Tests/Fixtures/gyroscope, which are scored by default. The protocol is that of BROAD (Laidig,
Caruso, Cereatti, Seel, Data 6(7):72, 2021): rows in motion with a reference, the error quaternion in the frame of the Earth, no offset
taken away, as root mean squares: total, inclination, heading. Where yaw is relative, the mean heading error of the first second of
motion is taken away. "tilt in" and "yaw in" are the shares of errors within the stated accuracy, with its median behind them; "north" is
the share of rows whose yaw counts from north. The magnetometer is taken for calibrated (hard_iron_uT = 0), as VQF takes it.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True
BINARY = sys.argv[1]
FOLDER = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "Tests/Fixtures/gyroscope")
STEP_NS = 7_000_000
HEAD = ("time_ns,imu.gx_rad_s,imu.gy_rad_s,imu.gz_rad_s,imu.ax_m_s2,imu.ay_m_s2,imu.az_m_s2,"
        "imu.mx_uT,imu.my_uT,imu.mz_uT")
# The axes of the body are those of the device, so that the quaternion is the reference's.
SECTION = """
[sensor.imu]
source = "trace"
file = "trace.csv"
[attitude.body]
accelerometer = "imu"
frame = "enu"
forward_axis = "+x"
attitude_filter_deg = 0
hard_iron_uT = 0
"""
MODES = {
    "nine axes": 'magnetometer = "imu"\n',
    "six axes": "",
    "no gyroscope": 'magnetometer = "imu"\ngyroscope = "none"\n',
    "accelerometer": 'gyroscope = "none"\n',
}


def product(a, b):
    aw, ax, ay, az = a.T
    bw, bx, by, bz = b.T
    return np.stack([aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
                     aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw], axis=1)


def errors(found, truth):
    error = product(found, truth * [1, -1, -1, -1])
    error /= np.linalg.norm(error, axis=1, keepdims=True)
    w, z = error[:, 0], error[:, 3]
    total = 2 * np.arccos(np.minimum(np.abs(w), 1))
    inclination = 2 * np.arccos(np.minimum(np.hypot(w, z), 1))
    heading = 2 * np.arctan2(z * np.sign(w), np.abs(w))
    return [np.degrees(value) for value in (total, inclination, heading)]


def rms(values):
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def replay(folder, mode):
    configuration = folder / "binnacle.toml"
    configuration.write_text(SECTION + MODES[mode])
    said = subprocess.run([BINARY, "replay", "--json", "--config", configuration], capture_output=True, text=True)
    if said.returncode:
        sys.exit(said.stderr)
    return [event for event in map(json.loads, said.stdout.splitlines()) if event["kind"] == "attitude.changed"]


def score(name, mode, rows, truth, found, reference, tilt_limit=None, yaw_limit=None):
    counted = np.flatnonzero(~np.isnan(truth[:, 0]) & ~np.isnan(found[:, 0]))
    total, inclination, heading = errors(found[counted], truth[counted])
    yaws = reference[counted] >= 0
    relative = reference[counted] == 0
    if relative.any() and relative.sum() == yaws.sum():
        offset = np.mean(heading[: round(1e9 / STEP_NS)])
        heading = (heading - offset + 180) % 360 - 180
        half = np.radians(np.stack([inclination, heading])) / 2
        total = np.degrees(2 * np.arccos(np.cos(half[0]) * np.cos(half[1])))
    fields = [f"{name:26} {mode:20}", f"{rms(total[yaws]):6.2f}", f"{rms(inclination):6.2f}", f"{rms(heading[yaws]):6.2f}",
              f"{np.percentile(np.abs(heading[yaws]), 95) if yaws.any() else float('nan'):6.2f}"]
    if tilt_limit is not None:
        fields += [f"{np.mean(reference[counted] == 1):6.1%}", f"{np.mean(inclination <= tilt_limit[counted]):6.1%}",
                   f"{np.median(tilt_limit[counted]):5.2f}"]
        if yaws.any():
            within = np.abs(heading[yaws]) <= yaw_limit[counted][yaws]
            fields += [f"{np.mean(within):6.1%}", f"{np.median(yaw_limit[counted][yaws]):6.2f}"]
    print(" ".join(fields), flush=True)
    return rms(total[yaws]), rms(inclination), rms(heading[yaws])


def vqf_rows(rates, accelerations, fields, has_field):
    from vqf import VQF

    filter = VQF(STEP_NS * 1e-9)
    if has_field:
        return filter.updateBatch(rates, accelerations, fields)["quat9D"]
    return filter.updateBatch(rates, accelerations)["quat6D"]


def main():
    print(f"{'trial':26} {'mode':20} {'total':>6} {'incl.':>6} {'head.':>6} {'p95':>6} {'north':>6} {'tilt in':>6} {'med.':>5} {'yaw in':>6} "
          f"{'med.':>6}")
    sums = {}
    for path in sorted(FOLDER.glob("broad*.csv")):
        with open(path) as table:
            rows = list(csv.DictReader(table))
        if not {"ref_qw", "gx"} <= rows[0].keys():
            continue
        columns = lambda names: np.array([[float(row[name] or "nan") for name in names] for row in rows])
        truth = columns(["ref_qw", "ref_qx", "ref_qy", "ref_qz"])
        if "moving" in rows[0]:
            truth[[row["moving"] != "1" for row in rows]] = np.nan
        rates, accelerations, fields = (columns([kind + axis for axis in "xyz"]) for kind in "gam")
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            with open(folder / "trace.csv", "w") as trace:
                print(HEAD, file=trace)
                for index, row in enumerate(rows):
                    print(index * STEP_NS, *(row[kind + axis] for kind in "gam" for axis in "xyz"), sep=",", file=trace)
            for mode in MODES:
                found = np.full((len(rows), 4), np.nan)
                # Where yaw counts from: north 1, relative 0, nothing -1.
                reference = np.full(len(rows), -1)
                tilt, yaw = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
                for event in replay(folder, mode):
                    index = event["time_ns"] // STEP_NS
                    found[index] = [event["q" + part] for part in "wxyz"]
                    reference[index] = {"magnetic": 1, "true": 1, "relative": 0}.get(event.get("reference"), -1)
                    tilt[index], yaw[index] = event["tilt_accuracy_deg"], event.get("yaw_accuracy_deg", np.nan)
                # Before north is known yaw is relative; that is no heading.
                if (reference == 1).any():
                    reference[reference == 0] = -1
                sums.setdefault(mode, []).append(score(path.stem, mode, rows, truth, found, reference, tilt, yaw))
        try:
            for mode, has_field in (("VQF, nine axes", True), ("VQF, six axes", False)):
                found = vqf_rows(rates, accelerations, fields, has_field)
                sums.setdefault(mode, []).append(
                    score(path.stem, mode, rows, truth, found, np.full(len(rows), int(has_field))))
        except ImportError:
            print("vqf is not installed: its rows are left out", file=sys.stderr)
    for mode, found in sums.items():
        total, inclination, heading = np.mean(found, axis=0)
        print(f"{'mean of ' + str(len(found)):26} {mode:20} {total:6.2f} {inclination:6.2f} {heading:6.2f}")


main()
