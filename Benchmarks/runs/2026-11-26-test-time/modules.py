"""modules.py MODULE...: compiles modules of .build/tests again, by files and as a whole, and prints the seconds of processor.

It runs in the project's folder after `make build-tests`, with the commands of that build, and removes the modules' objects."""
import glob
import json
import os
import re
import resource
import subprocess
import sys

plan = open(".build/tests/debug.yaml").read()


def command(module):
    part = plan[plan.index(f'"C.{module}-x86_64-unknown-linux-gnu-debug.module":'):]
    return json.loads(re.search(r"^    args: (\[.*\])$", part, re.MULTILINE)[1])


def compile(module, label, more):
    folder = f".build/tests/x86_64-unknown-linux-gnu/debug/{module}.build"
    for file in glob.glob(folder + "/*.swiftdeps") + glob.glob(folder + "/*.priors") + glob.glob(folder + "/*.o"):
        os.remove(file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = subprocess.run(command(module) + more, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{module} {label} cpu {seconds:.1f} rc {result.returncode} objects {len(glob.glob(folder + '/*.o'))} "
        f"maxrss {after.ru_maxrss // 1024} MB", flush=True)


for name in sys.argv[1:]:
    compile(name, "default", [])
    compile(name, "wmo", ["-whole-module-optimization", "-num-threads", "1"])
    compile(name, "no -g", ["-gnone"])
    compile(name, "j1 batch1", ["-driver-batch-count", "1"])
