#!/usr/bin/env python3
"""Where the time of a live delivery of one sample goes: samples of the processor's clock, between the wait and the delegate.

usage: profile.py PROGRAM; needs perf and Swift's `swift demangle`

`perf` interrupts the program 25,000 times a second while it measures deliveries of one sample, and the stacks that are in the pipeline
or in its wait count. What the interruption itself costs is the same everywhere."""
import collections
import re
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as folder:
    data = folder + "/data"
    subprocess.run(["perf", "record", "-F", "25000", "-e", "cpu-clock", "--call-graph", "fp", "-o", data,
                    sys.argv[1], "bench", "--kernel", "live"], check=True, capture_output=True)
    text = subprocess.run(["perf", "script", "-i", data, "-F", "time,sym,ip"], check=True, capture_output=True, text=True).stdout
stacks, stack = [], []
for line in text.splitlines():
    if not line.strip():
        stacks.append(stack)
        stack = []
    elif not re.match(r"\s*[\d.]+:", line):
        stack.append((line.split(None, 1) + ["?"])[1].strip())
counts = collections.Counter()
for stack in stacks:
    # After the deliveries of one sample, the parts are measured by themselves, then deliveries of 16.
    if any("9liveParts" in name for name in stack):
        break
    if not any("10LiveSourceC" in name or "8PipelineC4turn" in name for name in stack):
        continue
    if any("entry_SYSCALL" in name for name in stack):
        counts["kernel: wait" if any("epoll_wait" in name for name in stack) else "kernel: read"] += 1
    elif "clock_gettime" in stack[0] or "SystemClock" in stack[0]:
        counts["the clock"] += 1
    elif re.search(r"swift_retain|swift_release|RefCount", stack[0]):
        counts["counting references"] += 1
    elif any("15IIOBufferReaderC" in name or "11ScanStamper" in name or "10decodeScans" in name for name in stack[:3]):
        counts["reading, decoding, stamping"] += 1
    elif any("13MotionManagerC" in name for name in stack[:4]):
        counts["detecting"] += 1
    else:
        counts["loop, statistics, router"] += 1
total = sum(counts.values())
for part, count in counts.most_common():
    print(f"{part:30} {100 * count / total:5.1f} %")
