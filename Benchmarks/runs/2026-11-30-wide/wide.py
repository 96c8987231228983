"""Times the opening of CSV files with many sensors, by two programs in turn.

usage: wide.py BEFORE AFTER

Each row of a file has one sample of each sensor, three axes in g; there are 100 rows. A row for each number of sensors, with the least
processor time of five replays.
"""

import pathlib
import resource
import subprocess
import sys
import tempfile

RUNS = 5
ROWS = 100


def seconds(binary, path):
    """The processor time of a replay."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([binary, "replay", "--json", path], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


binaries = sys.argv[1:3]
print("sensors  before, s  after, s")
with tempfile.TemporaryDirectory() as folder:
    for count in (30, 100, 300, 1000, 1500):
        path = pathlib.Path(folder, "wide.csv")
        names = ",".join(f"s{place}.ax_g,s{place}.ay_g,s{place}.az_g" for place in range(count))
        path.write_text(f"t_ms,{names}\n" + "".join(f"{row}{',0,0,1' * count}\n" for row in range(ROWS)))
        times = [[], []]
        for _ in range(RUNS):
            for place, binary in enumerate(binaries):
                times[place].append(seconds(binary, path))
        print(f"{count:7}  {min(times[0]):9.3f}  {min(times[1]):8.3f}")
