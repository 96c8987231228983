"""Nine axes: a recording of the BROAD set again and again, as headings by binnacle and as attitudes by VQF's C++ on the same rows.

VQF updates its filter for all rows in one call and tells nothing on the way; binnacle reads the recording from its file, watches
field, gyroscope and gravity, and decides what to tell.
"""

import os
import resource
import subprocess
import time

import numpy as np
from vqf import VQF

import contest

RECORDING = "Tests/Fixtures/gyroscope/broad07_fast_rotation.csv"
SECONDS = 0.007
COLUMNS = ["gx", "gy", "gz", "ax", "ay", "az", "mx", "my", "mz"]
HEADER = "time_s,gx_rad_s,gy_rad_s,gz_rad_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT"


def write(rows, binary, folder):
    """Writes the rows as an Arrow stream, by `binnacle convert`, and returns its path."""
    csv, path = f"{folder}/nine_axes.csv", f"{folder}/nine_axes.arrows"
    stamps = np.arange(len(rows)) * SECONDS
    np.savetxt(csv, np.column_stack([stamps, rows]), delimiter=",", header=HEADER, comments="", fmt="%.9g")
    subprocess.run([binary, "convert", csv, "--force", "-o", path], check=True, capture_output=True)
    os.unlink(csv)
    return path


def replay(binary, path, *options):
    """Makes the work of a replay in a process of its own; returns its processor time, or with all processors the time it took."""

    def run():
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter_ns()
        # The sensor's iron was calibrated away when the set was recorded.
        command = [binary, "replay", path, "--set", "north.north.hard_iron_uT=0", *options]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        used, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter_ns() - start
        nanoseconds = round((used.ru_utime - before.ru_utime + used.ru_stime - before.ru_stime) * 1e9)
        return (took if contest.takes_all_processors else nanoseconds), True

    return run


def run(ours, folder, copies, passes):
    binary = os.path.join(os.path.dirname(ours.path), "binnacle")
    with open(RECORDING, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    one = np.loadtxt(RECORDING, delimiter=",", skiprows=1, usecols=[names.index(name) for name in COLUMNS])
    rows = np.tile(one, (copies, 1))
    gyroscope, acceleration, field = (np.ascontiguousarray(rows[:, first:first + 3]) for first in (0, 3, 6))
    path = write(rows, binary, folder)

    def with_vqf():
        VQF(SECONDS).updateBatch(gyroscope, acceleration, field)
        return True

    times = contest.measure({
        "binnacle, headings as JSON": replay(binary, path, "--json"),
        "binnacle, headings as text": replay(binary, path),
        "binnacle, headings that turn by 90°": replay(binary, path, "--json", "--set", "north.north.heading_filter_deg=90"),
        "VQF, attitudes": contest.timed(with_vqf),
    }, passes)
    os.unlink(path)
    yield (f"nine axes, {len(rows)} samples of three sensors", ["", "ns a sample", "spread", "× binnacle"],
           list(contest.rows(times, len(rows), 1)))
