#!/usr/bin/env python3
"""Counts the instructions that programs execute for the same work, which other load on the machine does not change: nine axes, a replay
of a short file, and the live path of `binnacle bench`. System calls count with what the process itself executes around them.

Usage: measure.py PROGRAM…, from the repository's root; needs valgrind, objcopy and nm."""
import os
import re
import subprocess
import sys
import tempfile

RECORDING = "Tests/Fixtures/gyroscope/broad07_fast_rotation.csv"
COLUMNS = ["gx", "gy", "gz", "ax", "ay", "az", "mx", "my", "mz"]
HEADER = "time_s,gx_rad_s,gy_rad_s,gz_rad_s,ax_m_s2,ay_m_s2,az_m_s2,mx_uT,my_uT,mz_uT"
NORTH = ["--set", "north.north.hard_iron_uT=0"]


def recordings(binary, folder):
    """Writes a recording once and twice as Arrow streams, and 100 rows of it as CSV; returns the number of its rows."""
    with open(RECORDING, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
        places = [names.index(name) for name in COLUMNS]
        rows = [",".join(line.split(",")[place].strip() for place in places) for line in file]
    for name, chosen in ("1", rows), ("2", rows * 2), ("short", rows[:100]):
        with open(f"{folder}/{name}.csv", "w", encoding="utf-8") as file:
            file.write(HEADER + "\n")
            file.writelines(f"{number * 0.007:.9g},{row}\n" for number, row in enumerate(chosen))
        subprocess.run([binary, "convert", f"{folder}/{name}.csv", "-o", f"{folder}/{name}.arrows", "--force"],
                       check=True, capture_output=True)
    return len(rows)


def counted(folder, *command):
    """The instructions of a command."""
    run = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *command],
                         check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def live(folder, binary):
    """The instructions for a delivery of 1, 16 and 128 samples, from the wait to the delegate: means over motion by total and by user
    acceleration, and the turn after each that finds nothing."""
    names = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout
    # A profile is written each time the parts are about to be measured, after the whole of a size was.
    mark = re.search(r"(\S*9liveParts_4read5wholeSay\w+KF)$", names, re.MULTILINE).group(1)
    subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/live", f"--dump-before={mark}", binary, "bench",
                    "--kernel", "live"], check=True, capture_output=True)
    return [delivery(f"{folder}/live.{number}") for number in (1, 2, 3)]


def delivery(profile):
    names, instructions, deliveries, called = {}, 0, 0, None
    with open(profile, encoding="utf-8") as file:
        for line in file:
            if line.startswith(("fn=", "cfn=")):
                number, name = re.match(r"c?fn=\((\d+)\)(?: (.*))?", line).groups()
                names[number] = name or names[number]
                called = names[number] if line.startswith("c") else None
            elif line.startswith("calls="):
                count = int(line[6:].split()[0])
            elif called and line[0] in "+-*0123456789":
                if "8PipelineC5offer" in called:
                    deliveries += count
                if "8PipelineC4turn" in called or "10LiveSourceC4wait" in called:
                    instructions += int(line.split()[-1])
                called = None
    return instructions / deliveries


def main():
    table = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate(sys.argv[1:]):
            binary = f"{folder}/binnacle{number}"
            # Valgrind does not read this compiler's debugging information.
            subprocess.run(["objcopy", "--strip-debug", program, binary], check=True)
            count = recordings(binary, folder)

            def each(*options):
                once, twice = (counted(folder, binary, "replay", f"{folder}/{name}.arrows", *NORTH, *options) for name in "12")
                return (twice - once) / count

            few = ["--json", "--set", "north.north.heading_filter_deg=90"]
            found = {
                "nine axes, a sample of three sensors, headings as JSON": each("--json"),
                "nine axes, headings as text": each(),
                "nine axes, headings that turn by 90°": each(*few),
                "--version": counted(folder, binary, "--version"),
                "a replay of 100 rows of CSV": counted(folder, binary, "replay", f"{folder}/short.csv"),
                "a replay of 100 rows of Arrow": counted(folder, binary, "replay", f"{folder}/short.arrows"),
            }
            for size, instructions in zip((1, 16, 128), live(folder, binary)):
                found[f"live, a delivery of {size}"] = instructions
            for name, instructions in found.items():
                table.setdefault(name, []).append(instructions)
    heads = [os.path.basename(program) for program in sys.argv[1:]]
    print(f"{'instructions':56}" + "".join(f"{head:>14}" for head in heads) + "   last / first")
    for name, values in table.items():
        print(f"{name:56}" + "".join(f"{value:14,.0f}" for value in values) + f"{values[-1] / values[0]:15.2f}")


main()
