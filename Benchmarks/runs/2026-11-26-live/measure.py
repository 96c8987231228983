#!/usr/bin/env python3
"""Compares two builds of binnacle in turns: the live path, decoding, events as text and as JSON, and the start of a replay.

usage: measure.py BEFORE AFTER RECORDING [PASSES]

RECORDING has nine axes. Prints the median of the passes, and the share of the processors that other programs took meanwhile.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

before, after, recording = sys.argv[1:4]
passes = int(sys.argv[4]) if len(sys.argv) > 4 else 5
builds = {"before": before, "after": after}
values = {}


def note(figure, build, value):
    values.setdefault(figure, {}).setdefault(build, []).append(value)


def bench(build, kernel):
    output = subprocess.run(
        [builds[build], "bench", "--quick", "--json", "--kernel", kernel], stdout=subprocess.PIPE, check=True).stdout
    return [json.loads(line) for line in output.splitlines()]


def processor_seconds(command):
    start = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - start.ru_utime - start.ru_stime


def busy():
    with open("/proc/stat", encoding="ascii") as file:
        counts = [int(word) for word in file.readline().split()[1:9]]
    return sum(counts) - counts[3] - counts[4], sum(counts)


start = busy()
own = resource.getrusage(resource.RUSAGE_CHILDREN)
with tempfile.TemporaryDirectory() as folder:
    short = f"{folder}/short.csv"
    with open(short, "w", encoding="ascii") as file:
        file.write("time_s,ax_m_s2,ay_m_s2,az_m_s2\n")
        file.writelines(f"{index / 100:.2f},0.1,0.2,9.8\n" for index in range(100))
    for _ in range(passes):
        for build in builds:
            for row in bench(build, "live"):
                if row["type"] == "live":
                    note(f"live, {row['form']}, deliveries of {row['batch']}, × a bare read", build, row["times_bare_read"])
            for row in bench(build, "decode"):
                if row.get("form") in ("avx2", "avx512"):
                    note(f"decode, {row['level']}, {row['form']}, ns a sample", build, row["ns_per_sample"])
            iron = ["--set", "north.north.hard_iron_uT=0"]
            texts = processor_seconds([builds[build], "replay", recording, *iron])
            objects = processor_seconds([builds[build], "replay", recording, *iron, "--json"])
            quiet = processor_seconds([builds[build], "replay", recording, *iron, "--set", "north.north.heading_filter_deg=180"])
            note("nine axes, headings as JSON, s", build, objects)
            note("nine axes, headings as text, s", build, texts)
            note("nine axes, headings that turn by 180°, s", build, quiet)
            note("text × JSON", build, texts / objects)
            for name, command in (("--version", ["--version"]), ("a replay of 100 rows", ["replay", short])):
                times = []
                for _ in range(40):
                    begin = time.perf_counter()
                    subprocess.run(
                        [builds[build], *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
                    times.append((time.perf_counter() - begin) * 1e3)
                note(f"spawn to end, {name}, ms", build, statistics.median(times))
end = busy()
for figure, found in values.items():
    medians = {build: statistics.median(found[build]) for build in builds if build in found}
    print(f"{figure:55}" + "".join(f"  {build} {value:8.3f}" for build, value in medians.items()))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
mine = (used.ru_utime + used.ru_stime - own.ru_utime - own.ru_stime) * os.sysconf("SC_CLK_TCK")
print(f"others took {max(0, end[0] - start[0] - mine) / (end[1] - start[1]):.0%} of {os.cpu_count()} processors")
