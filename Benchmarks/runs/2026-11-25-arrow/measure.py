#!/usr/bin/env python3
"""Replays a recording on one processor and on all in turns; prints times, and what other programs took of the processors meanwhile.

usage: measure.py BINARY RECORDING RUNS TRIES [OPTION…]

A pair of runs counts if other programs took less than a tenth of a processor during each; the others are printed with a mark. Ends
after RUNS pairs that count, or after TRIES pairs.
"""

import os
import resource
import statistics
import subprocess
import sys
import time

binary, recording, runs, tries, *options = sys.argv[1:]
everything = os.sched_getaffinity(0)


def busy():
    """Seconds of all processors, idle time and waiting excluded."""
    with open("/proc/stat", encoding="ascii") as file:
        values = [int(word) for word in file.readline().split()[1:9]]
    return (sum(values) - values[3] - values[4]) / os.sysconf("SC_CLK_TCK")


def replay(processors):
    """Wall and processor seconds of a replay, the share of a processor that others took, and the events."""
    own, others = resource.getrusage(resource.RUSAGE_CHILDREN), busy()
    begin = time.monotonic()
    events = b""
    # As often as it takes for the system's clock, which counts in hundredths of a second.
    for _ in range(4):
        events = subprocess.run(
            [binary, "replay", "--json", recording, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            check=True, preexec_fn=lambda: os.sched_setaffinity(0, processors)).stdout
    wall = time.monotonic() - begin
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = now.ru_utime + now.ru_stime - own.ru_utime - own.ru_stime
    return wall / 4, used / 4, max(0, busy() - others - used) / wall, events


ratios = []
for _ in range(int(tries)):
    one, all_ = replay({min(everything)}), replay(everything)
    assert one[3] == all_[3], "other events"
    counts = max(one[2], all_[2]) < 0.1
    if counts:
        ratios.append(one[0] / all_[0])
    print(
        f"one {one[0] * 1e3:6.1f} ms (processor {one[1] * 1e3:6.1f}, others {one[2]:4.2f})   "
        f"all {all_[0] * 1e3:6.1f} ms (processor {all_[1] * 1e3:6.1f}, others {all_[2]:4.2f})   "
        f"{one[0] / all_[0]:4.2f}{'' if counts else '   busy, does not count'}", flush=True)
    if len(ratios) == int(runs):
        break
if ratios:
    print(f"median of {len(ratios)} that count: {statistics.median(ratios):.2f} times as fast on all, the events the same")
