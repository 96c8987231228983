"""The same work by binnacle and by what people use instead, side by side: on one processor, or with --all-processors those
parts that binnacle does on several, where everybody has as many threads as it takes by itself.

usage: compare.py COMPAREBENCH FOLDER [--quick] [--all-processors] [PART...]
"""

import os
import sys

TAKES_ALL = "--all-processors" in sys.argv
# Before anything is imported that would start threads.
for variable in ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    if TAKES_ALL:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = "1"

import importlib
import platform

import duckdb
import numpy
import pandas
import polars
import pyarrow

import contest
from ours import Ours
import table

PARTS = {"threshold": (32_000_000, 4_000_000), "facing": (16_000_000, 4_000_000),
         "csv_reading": (5_000_000, 500_000), "arrow_reading": (20_000_000, 2_000_000),
         "nine_axes": (30, 3)}
ON_ALL_PROCESSORS = ["csv_reading"]


def machine():
    with open("/proc/cpuinfo") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return f"{models[0] if models else platform.machine()}, {os.cpu_count()} processors"


def main():
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    is_quick = "--quick" in sys.argv
    if len(words) < 2:
        raise SystemExit(__doc__.strip().splitlines()[-1])
    contest.takes_all_processors = TAKES_ALL
    if not TAKES_ALL:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        pyarrow.set_cpu_count(1)
        pyarrow.set_io_thread_count(1)
    binary, folder, parts = words[0], words[1], words[2:] or list(PARTS)
    if TAKES_ALL:
        parts = [part for part in parts if part in ON_ALL_PROCESSORS]
        if not parts:
            return
    os.makedirs(folder, exist_ok=True)
    versions = ", ".join(f"{tool.__name__} {tool.__version__}" for tool in (numpy, pandas, polars, duckdb, pyarrow))
    share = "all of them, each with its own default of threads, the time until the end" if TAKES_ALL else (
        "one of them for everybody, one thread each")
    print(f"machine: {machine()}; {share}\nPython {platform.python_version()}, {versions}")
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
