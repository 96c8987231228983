#!/usr/bin/env python3
"""Runs programs in turn, and prints of each the medians: seconds from start to end, seconds of processor (user, system), page faults.

usage: times.py ROUNDS PROGRAM… -- ARGUMENT…"""

import resource
import statistics
import subprocess
import sys
import time

place = sys.argv.index("--")
rounds, programs, arguments = int(sys.argv[1]), sys.argv[2:place], sys.argv[place + 1:]
found = {program: [] for program in programs}
for _ in range(rounds):
    for program in programs:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        found[program].append(
            (seconds, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, after.ru_minflt - before.ru_minflt))
for program, figures in found.items():
    print(program, *(f"{statistics.median(column):.4f}" for column in zip(*figures)))
