"""Hardware that is played, and what the service says of it."""

import contextlib
import glob
import json
import os
import subprocess
import threading
import time

from harness import Failed, expect, need, run, systemctl, wait_for

BINNACLE = "/usr/local/bin/binnacle"
IIO = "/sys/bus/iio/devices"
# What is played, and who follows; ended when a test is over, however it ends.
running = []

# Where events are asked for, and a sensor with the hub's accelerometer.
OBSERVED = """
[store]
[socket]
"""
HUB = OBSERVED + """
[sensor.box]
source = "iio"
match = { name = "accel_3d" }

[motion.moved]
accelerometer = "box"
"""


class Program:
    """A program that runs beside a test, and its lines with the time at which each came."""

    def __init__(self, *words):
        self.lines = []
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        running.append(self)

    def _read(self):
        for line in self.process.stdout:
            self.lines.append((time.monotonic_ns(), line.rstrip("\n")))

    def text(self):
        return "\n".join(line for _, line in self.lines)

    def wait_for(self, words, since=0, seconds=300):
        """Waits for a line with these words, and returns it."""
        def found():
            return next((line for _, line in self.lines[since:] if words in line), None)
        try:
            return wait_for(f"'{words}'", found, seconds)
        except Failed as failure:
            raise Failed(f"{failure}; there was: {self.text()}") from None

    def say(self, command, answer):
        """Gives a command, and returns the line that answers."""
        since = len(self.lines)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.wait_for(answer, since)

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        if self in running:
            running.remove(self)


class Play(Program):
    """`binnacle simulate`: hardware, as long as it runs."""

    def __init__(self, *arguments):
        super().__init__(BINNACLE, "simulate", *arguments)
        self.wait_for("plugged in")

    def sent(self):
        """How many samples the kernel has taken."""
        return int(self.say("count", "samples sent").split()[0])


class Follower(Program):
    """Events that come through the socket, with the time of their arrival."""

    def __init__(self):
        self.first = status()["seq"]
        super().__init__(BINNACLE, "events", "--follow", "--json", "--kind", "any", "--kind", "motion.moving")

    def events(self, *kinds):
        """Those that were made since, of some kinds or all: pairs of arrival on CLOCK_MONOTONIC in ns, and event."""
        found = []
        for arrival, line in list(self.lines):
            event = json.loads(line) if line.startswith("{") else {}
            if event.get("seq", 0) > self.first and (not kinds or event["kind"] in kinds):
                found.append((arrival, event))
        return found

    def next(self, count, *kinds, seconds=300):
        """The events of some kinds, when there are so many."""
        try:
            return wait_for(
                f"{count} × {' or '.join(kinds)}",
                lambda: (found := self.events(*kinds)) and len(found) >= count and found, seconds)
        except Failed as failure:
            kinds = [event["kind"] for _, event in self.events()]
            raise Failed(f"{failure}; there were {kinds[-20:]}; {self.text()[-300:]}") from None


def end_all():
    systemctl("stop")
    for program in list(running):
        program.end()
    # Until the kernel has taken leave of what was played.
    need("udevadm", "settle")


def status():
    """What the service says of itself, when it answers."""
    def answer():
        code, said = run(BINNACLE, "status", "--json")
        return json.loads(said) if code in (0, 1) and said.startswith("{") else None
    return wait_for("a status", answer)


def stored(*kinds):
    """The events that are kept, of some kinds or all."""
    words = [word for kind in kinds or ("any", "motion.moving") for word in ("--kind", kind)]
    code, said = run(BINNACLE, "events", "--json", *words)
    # There is no store yet.
    expect(code in (0, 66), said)
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def last_number():
    """The number of the last event that is kept; 0 when there is none."""
    return max((event["seq"] for event in stored()), default=0)


def stream(name="box", place=0):
    """What the service says of a stream of a sensor."""
    sensor = next(sensor for sensor in status()["sensors"] if sensor["name"] == name)
    return sensor["streams"][place]


def is_active(name="box"):
    return next(sensor for sensor in status()["sensors"] if sensor["name"] == name)["active"]


def devices(name):
    """The folders of the IIO devices of a name, once udev is done with them."""
    found = []
    for folder in sorted(glob.glob(f"{IIO}/iio:device*")):
        try:
            if read(folder, "name") == name and os.path.exists(f"/dev/{os.path.basename(folder)}"):
                found.append(folder)
        except OSError:
            pass  # It has gone meanwhile.
    return found


def await_device(name, count=1):
    """The folder of a device that is to come, after udev's rules."""
    folders = wait_for(f"{count} × {name}", lambda: len(devices(name)) >= count and devices(name))
    need("udevadm", "settle")
    return folders[0]


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read().strip()


def put(text, *path):
    with open(os.path.join(*path), "w") as file:
        file.write(str(text))


def cost(process):
    """What a process has used: seconds of the processor, how often it went to sleep, and its memory in kB."""
    times = read(f"/proc/{process}/stat").rsplit(")", 1)[1].split()
    seconds = (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")
    sleeps = 0
    for task in os.listdir(f"/proc/{process}/task"):
        # A thread may end meanwhile.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{process}/task/{task}/status") as file:
            sleeps += next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    with open(f"/proc/{process}/status") as file:
        memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
    return seconds, sleeps, memory


def descriptors(process):
    """What a process has open, apart from the store's log, which SQLite opens for each connection when that first needs it."""
    def opened():
        names = []
        for name in os.listdir(f"/proc/{process}/fd"):
            # It may be closed meanwhile.
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(f"/proc/{process}/fd/{name}"))
        return sorted(names)

    def are_logs_of_connections():
        names = opened()
        return all(names.count(name) <= names.count(name.removesuffix("-wal")) for name in names if name.endswith("-wal"))

    wait_for("one log at most for each connection", are_logs_of_connections)
    return [name for name in opened() if not name.endswith("-wal")]


def told(event):
    """An event of lost samples or of a gap, in a few words."""
    return f"{event['kind']} ({event.get('cause', '')} {event.get('count', '')} in {event.get('gap_s')} s)"


def middle(values, share=0.5):
    """The value below which a share of the others lies."""
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def seconds(nanoseconds):
    return nanoseconds / 1e9
