#!/usr/bin/env python3
"""What a turn of a daemon is made of: inclusive instructions a sample of each part, by program, with one motion detector, no client and
a recording at 100 Hz that gives a sample at each turn. Differences of two lengths, so that start and end cancel out.

Usage: profile.py PROGRAM…; needs valgrind (callgrind_annotate), objcopy and swift demangle."""
import os
import random
import re
import subprocess
import sys
import tempfile

SHOWN = re.compile(r"^(SampleLoop\.run\(\)|Pipeline\.turn\(\)|StationSource\.(fill|wait)\(.*|static LiveValuesRequest\.joined.*|"
                   r"protocol witness for (DaemonPart\.\S+|SampleLoopDelegate\.\S+) in conformance \w+|swift_beginAccess)$")


def profile(folder, program, seconds):
    path = f"{folder}/{seconds}.csv"
    numbers = random.Random(3)
    with open(path, "w", encoding="utf-8") as file:
        file.write("time_s,ax_m_s2,ay_m_s2,az_m_s2\n")
        for index in range(100 * seconds):
            file.write(f"{index / 100}," + ",".join(f"{numbers.gauss(rest, 0.02):.5f}" for rest in (0, 0, 9.81)) + "\n")
    with open(f"{folder}/b.toml", "w", encoding="utf-8") as file:
        file.write('[sensor.chassis]\nsource = "auto"\n[motion.moved]\naccelerometer = "chassis"\n'
                   '[handler.log]\non = ["motion.began"]\nlog = true\n')
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, "run", "--trace", path,
                    f"{folder}/b.toml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=99.99", f"{folder}/out"], capture_output=True,
                          text=True, check=True).stdout
    found = {}
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) \([^)]*\)\s+(?:\?\?\?|\S+?):(.*?)(?: \[.*\])?$", line)
        if match:
            found[match.group(2)] = found.get(match.group(2), 0) + int(match.group(1).replace(",", ""))
    names = list(found)
    words = subprocess.run(["swift", "demangle", "--compact", "--simplified"], input="\n".join(names), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    shown = {}
    for name, word in zip(names, words):
        shown[word] = shown.get(word, 0) + found[name]
    return shown


with tempfile.TemporaryDirectory() as folder:
    columns = []
    for number, program in enumerate(sys.argv[1:]):
        binary = f"{folder}/binnacle{number}"
        subprocess.run(["objcopy", "--strip-debug", program, binary], check=True)
        short, long = (profile(folder, binary, seconds) for seconds in (4, 12))
        columns.append({name: (count - short.get(name, 0)) / 800 for name, count in long.items()})
    names = {name for column in columns for name in column if SHOWN.match(name)}
    for name in sorted(names, key=lambda name: -max(column.get(name, 0) for column in columns)):
        values = [column.get(name, 0) for column in columns]
        if max(values) >= 100:
            print("".join(f"{value:8.0f}" for value in values), "", name)
