"""The same work by binnacle and by what people use instead, side by side on one processor.

usage: compare.py COMPAREBENCH FOLDER [--quick]
"""

import os

# Before anything is imported that would start threads.
for variable in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import importlib
import platform
import sys

import duckdb
import numpy
import pandas
import polars
import pyarrow

from ours import Ours
import table

PARTS = {"threshold": (32_000_000, 4_000_000), "facing": (16_000_000, 4_000_000),
         "csv_reading": (5_000_000, 500_000), "arrow_reading": (20_000_000, 2_000_000)}


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} processors"


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    is_quick = "--quick" in sys.argv
    if len(words) < 2:
        raise SystemExit(__doc__.strip().splitlines()[-1])
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    binary, folder, parts = words[0], words[1], words[2:] or list(PARTS)
    os.makedirs(folder, exist_ok=True)
    versions = ", ".join(f"{tool.__name__} {tool.__version__}" for tool in (numpy, pandas, polars, duckdb, pyarrow))
    print(f"machine: {machine()}; one of them for everybody, one thread each\nPython {platform.python_version()}, {versions}")
    ours = Ours(binary)
    passes = 3 if is_quick else 7
    for part in parts:
        count = PARTS[part][is_quick]
        for title, head, rows in importlib.import_module(part).run(ours, folder, count, passes):
            print(f"\n{title}")
            for line in table.lines(head, rows):
                print(line, flush=True)
    ours.close()


main()
