"""The shell of README.md, docs/ and the DocC articles: every line that changes no machine is run, as a reader would paste it.

It runs in a folder with the recordings and configurations that the pages name, and with a daemon. `binnacle` asks that daemon, and reads
the devices of a tree, where the page means the machine's own. A line that waits for more, such as `binnacle run`, is ended by Ctrl-C
once it has started. A block of text right behind a block of shell is what that prints, unless it has a date.
"""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import zipfile

import harness
from harness import BINARY, ROOT, check, need

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A line with one of them changes the machine, or needs what a check does not have: a bus, a cluster, a network.
OTHERS = {
    "sudo", "systemctl", "journalctl", "apt-get", "make", "modprobe", "busctl", "gdbus", "pip", "spark-submit", "zip", "openssl",
    "dtc", "iio_info", "iio_attr", "iio_readdev", "binnacle-backtest", "binnacle-landing", "laundry-done", "simulate", "--guide"}
if not shutil.which("zstd"):
    OTHERS |= {"zstd", "day.arrows.zst"}
#: Programs of the reader, of which nothing more is asked than to take what they get.
STUBS = {
    "your-program": "cat", "jq": "cat", "notify-send": ":", "duckdb": ":", "curl": ":", "ssh": 'shift; exec "$@"'}
#: Places of the machine that have their like in the folder.
PLACES = ("/recordings", "/etc/binnacle", "/var/lib/prometheus/node-exporter", "/tmp/try")
#: What runs until it is ended, and how long it gets, in seconds: what it refuses, it refuses at once.
WAITING = re.compile(r"binnacle (run|on|samples|serve|watch|web|calibrate(?!.*--trace)|record --for \d+m|doctor --measure \d+s(?!.*--simulate)|\w+.*--follow|replay.*--speed [\d.])")
WAIT = 2


def lines(code):
    """The commands of a block: a line, or several until the shell takes them as whole."""
    command = ""
    for line in code.splitlines():
        command += line + "\n"
        if line.endswith("\\") or subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode != 0:
            continue
        if command.strip() and not command.startswith("#"):
            yield command.strip()
        command = ""
    need(not command, "a block ends within a command:", command)


def words(command):
    """The programs, subcommands and options of a line, and nothing that stands behind #."""
    return {pathlib.PurePath(word).name for word in re.findall(r"[^\s|;&()<>]+", re.sub(r"(^|\s)#.*", "", re.sub(r"'[^']*'", " ", command)))}


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def table(head, row, count=1200):
    return "\n".join([head, *(row(i) for i in range(count))]) + "\n"


def furnish(root):
    """The files that the pages name."""
    work, walk = root / "fresh", (ROOT / "Tests/Fixtures/broad/broad05_rotation_breaks.csv").read_text().splitlines()
    for name in "walk.csv", "trace.csv", "wash.csv":
        write(work / name, "\n".join(walk[:6000]) + "\n")
    # It is as long as the stretches that the pages take of it, and its magnetometer is turned through all directions.
    first, period = float(walk[1].split(",")[0]), 210
    rows = [line.split(",") for line in walk[1::4]]
    sphere = (ROOT / "Tests/Fixtures/calibration/synth_full_sphere_400.csv").read_text().split()[1:]
    places = [walk[0].split(",").index(f"m{axis}") for axis in "xyz"]
    day = [walk[0]]
    for turn in range(6):
        for number, row in enumerate(rows):
            row = [f"{float(row[0]) - first + period * turn:.3f}", *row[1:]]
            for column, value in zip(places, sphere[number % len(sphere)].split(",")):
                row[column] = value
            day.append(",".join(row))
    write(work / "day.csv", "\n".join(day) + "\n")
    for name, unit, y in ("Accelerometer", "m/s²", 9.81), ("accelerometer", "m/s²", 9.81), ("a", "m/s²", 9.81), ("phone", "g", 1):
        write(work / f"{name}.csv", table(
            "seconds_elapsed,X,Y,Z" if unit == "g" else f"time_s,ax ({unit}),ay ({unit}),az ({unit})", lambda i: f"{i / 100},0,0,{y}"))
    for name in "Magnetometer", "b":
        write(work / f"{name}.csv", table("time_s,mx (µT),my (µT),mz (µT)", lambda i: f"{i / 100},20,{i % 7 / 10},-40"))
    noise = random.Random(1)
    write(work / "night.csv", table(
        "time_s,gx (rad/s),gy (rad/s),gz (rad/s)", lambda i: f"{i / 100}," + ",".join(f"{noise.gauss(0, 0.001):.6f}" for _ in range(3))))
    write(work / "odd.csv", table("when,a,b,c", lambda i: f"{10 * i},0,0,1"))
    write(work / "linear.csv", table("time_s,x,y,z", lambda i: f"{i / 100},{i % 50 / 10},0.1,0"))
    write(work / "fall.txt", table("0 0 256", lambda i: "0 1 256"))
    for name, source in ("moves.csv", "broad05_rotation_breaks.csv"), ("labels.csv", "broad05_labels.csv"):
        shutil.copy(ROOT / "Tests/Fixtures/broad" / source, work / name)
    subprocess.run(["gzip", "-k", work / "Magnetometer.csv"], check=True)
    (work / "Magnetometer.csv.gz").rename(work / "gyroscope.csv.gz")
    with zipfile.ZipFile(work / "export.zip", "w") as archive:
        for name in "Accelerometer", "Magnetometer":
            write(work / "export" / f"{name}.csv", (work / f"{name}.csv").read_text())
            archive.write(work / f"{name}.csv", f"{name}.csv")
    run = subprocess.run([BINARY, "convert", "walk.csv", "-o", "walk.arrows"], cwd=work, capture_output=True, text=True)
    need(run.returncode == 0, run.stderr)
    run = subprocess.run([BINARY, "convert", "walk.csv", "-o", "rosbag.mcap"], cwd=work, capture_output=True, text=True)
    need(run.returncode == 0, run.stderr)
    write(work / "web-token", "0123456789abcdef0123456789abcdef\n", 0o600)
    for name in work / "day.arrows", root / "recordings/one.arrows", root / "recordings/two.arrows":
        name.parent.mkdir(exist_ok=True)
        name.write_bytes((work / "walk.arrows").read_bytes())
    (work / "lid.evemu").write_bytes((ROOT / "Tests/Golden/simulated-evemu.evemu").read_bytes())
    sensor = '[sensor.lid]\nsource = "simulated"\nmodel = "shake"\n[motion.moved]\naccelerometer = "lid"\n[handler.log]\n'
    write(work / "my.toml", sensor + 'on = ["motion.*"]\nlog = true\n')
    write(work / "lines.toml", sensor + 'on = ["any"]\nstdout = true\n')
    fleet = '[motion.moved]\naccelerometer = "accelerometer"\n[sensor.accelerometer]\nsource = "auto"\n'
    write(work / "fleet.toml", fleet)
    write(work / "binnacle.toml", fleet)
    write(root / "etc/binnacle/binnacle.toml", sensor + 'on = ["shake"]\nlog = true\n')
    write(root / "etc/binnacle/web-token", "0123456789abcdef0123456789abcdef\n", 0o600)
    (root / "var/lib/prometheus/node-exporter").mkdir(parents=True)
    (root / "tmp").mkdir()
    for number, (name, channel, values) in enumerate((("accel_3d", "accel", (0, 0, 981)), ("magn_3d", "magn", (20, 0, -40)))):
        device = root / f"machine/sys/bus/iio/devices/iio:device{number}"
        write(device / "name", name + "\n")
        write(device / f"in_{channel}_scale", "0.01\n")
        for axis, value in zip("xyz", values):
            write(device / f"in_{channel}_{axis}_raw", f"{value}\n")


def install(root, address):
    """`binnacle` as a package installs it, with its examples; it asks the daemon of the check, and looks at its devices."""
    share = root / "usr/share/doc/binnacle"
    share.mkdir(parents=True)
    (share / "examples").symlink_to(ROOT / "config/examples")
    write(root / "usr/bin/binnacle", f"""#!/bin/sh
command=$1
[ $# -eq 0 ] || shift
case "$command $*" in
*--simulate* | *--trace* | *--kinds* | *walk.*) ;;
status* | events* | on* | samples* | serve* | watch* | web* | metrics*) set -- --socket {address} "$@" ;;
devices* | doctor* | record* | run* | calibrate*) set -- --root {root}/machine "$@" ;;
check\\ | check\\ --set*) set -- {root}/etc/binnacle "$@" ;;
esac
case $command in
serve | web) set -- --listen 127.0.0.1:0 "$@" ;;
esac
exec {BINARY} $command "$@"
""", 0o755)
    # The one that runs this check has pyarrow and rosbags.
    write(root / "usr/bin/python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o755)
    for name, body in STUBS.items():
        write(root / "usr/bin" / name, f"#!/bin/sh\n{body}\n", 0o755)


def run_line(root, command, environment, *, waits):
    """Runs a line; returns its status, None when it was waiting and Ctrl-C ended it, and its output and errors."""
    command = re.sub(rf"(?<![\w.])(?={'|'.join(PLACES)})", str(root), command)
    # What several blocks write, as a reader does another day.
    for output in re.findall(r" -o (\S+)", command):
        (root / "work" / output).unlink(missing_ok=True)
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=root / "work", env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=WAIT if waits else harness.PATIENCE)
        return process.returncode, out, errors
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, errors = process.communicate(timeout=harness.PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, errors = process.communicate()
            return -signal.SIGKILL, out, errors
        return None if waits else -signal.SIGINT, out, errors


with harness.temporary_folder() as name:
    root = pathlib.Path(name)
    furnish(root)
    shutil.copytree(root / "fresh", root / "work")
    address = f"{root}/socket"
    write(root / "daemon.toml", f'[socket]\npath = "{address}"\n[store]\npath = "{root}/events.db"\n' + "".join(
        f'[sensor.{sensor}]\nsource = "simulated"\nmodel = "shake"\n[motion.{sensor}]\naccelerometer = "{sensor}"\n'
        for sensor in ("lid", "box")))
    harness.start_daemon(root / "daemon.toml", address)
    install(root, address)
    # Events to be listed, and to be waited for.
    harness.wait_for("an event", lambda: "shake" in subprocess.run(
        [BINARY, "events", "--socket", address], capture_output=True, text=True).stdout)
    environment = {"PATH": f"{root}/usr/bin:/usr/bin:/bin", "HOME": str(root / "work"), "LC_ALL": "C.UTF-8"}
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "Sources").rglob("*.docc/*.md"))]
    count = left = 0
    for document in documents:
        place = document.relative_to(ROOT)
        text = document.read_text()
        blocks = list(BLOCK.finditer(text))
        for block, following in zip(blocks, [*blocks[1:], None]):
            if block[1] not in ("sh", "bash"):
                continue
            printed, ran = "", True
            subprocess.run(["rm", "-rf", "--one-file-system", root / "work"], check=True)
            subprocess.run(["cp", "-a", root / "fresh", root / "work"], check=True)
            for command in lines(block[2]):
                if command.startswith("#!"):
                    ran = False
                    break
                if words(command) & OTHERS:
                    left, ran = left + 1, False
                    continue
                count += 1
                status, out, errors = run_line(root, command, environment, waits=bool(WAITING.search(command)))
                printed += out
                check(status in (0, None), f"{place}: {command.splitlines()[0]}", "" if status in (0, None) else f"status {status}, {errors[-900:]}")
            expected = following[2] if following and following[1] == "text" and not text[block.end():following.start()].strip() else None
            if expected and ran and not re.search(r"\b20\d\d-\d\d-\d\d", expected):
                check(printed == expected, f"{place}: it prints what stands behind it", "" if printed == expected else printed)
    check(count > 80, f"{count} lines were run, and {left} are for other machines", "")
harness.finish()
