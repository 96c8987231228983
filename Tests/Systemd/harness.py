"""What the tests of the service share: how they are run, and how systemd and the journal are asked."""

import json
import os
import subprocess
import time

UNIT = "binnacle.service"
CONFIGURATION = "/etc/binnacle/binnacle.toml"
DROP_IN = "/etc/systemd/system/binnacle.service.d/test.conf"

# A box that is shaken again and again, and everything about it in the journal.
SHAKEN_BOX = """
[sensor.box]
source = "simulated"
model = "shake"

[motion.moved]
accelerometer = "box"

[handler.log]
on = ["shake", "motion.began", "motion.ended"]
log = true
"""

tests = []


class Failed(Exception):
    """A test did not find what it wants."""


def test(function):
    """Makes a function one of the tests, under its own name."""
    tests.append(function)
    return function


def expect(condition, found):
    if not condition:
        raise Failed(found)


def run(*words):
    """Runs a program that ends by itself, and returns its status and what it said."""
    ended = subprocess.run(
        words, text=True, errors="replace", capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    return ended.returncode, ended.stdout + ended.stderr


def systemctl(verb, *words):
    return run("systemctl", verb, *words, UNIT)


def show(name):
    """The value of one of the service's properties."""
    return run("systemctl", "show", "--value", "--property", name, UNIT)[1].strip()


def wait_for(what, answer, seconds=60):
    """Asks until the answer is true, and returns it; the time is an eternity even on a busy machine."""
    end = time.monotonic() + seconds
    while True:
        found = answer()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"waited in vain for {what}")
        time.sleep(0.1)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def start(configuration=SHAKEN_BOX, drop_in=""):
    """Starts the service anew, with a configuration of its own and, where a test needs it, a drop-in."""
    systemctl("stop")
    write(CONFIGURATION, configuration)
    write(DROP_IN, drop_in)
    run("systemctl", "daemon-reload")
    # Starts by hand count, too, and their limit is not what is tested.
    systemctl("reset-failed")
    return systemctl("start")


def started(*arguments):
    """Starts the service, which has to succeed, and returns its process."""
    status, said = start(*arguments)
    expect(status == 0, f"systemctl start: status {status}: {said}")
    return main_process()


def main_process():
    return int(show("MainPID"))


def processes():
    """The processes of the service's account, as pairs of number and command line."""
    account = int(run("id", "-u", "binnacle")[1])
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{name}").st_uid == account:
                with open(f"/proc/{name}/cmdline") as file:
                    found.append((int(name), file.read().replace("\0", " ").strip()))
        except OSError:
            pass  # It has ended meanwhile.
    return found


def now():
    """The place in the journal up to which it has been written."""
    run("journalctl", "--sync")
    said = run("journalctl", "-n", "0", "--show-cursor", "-q")[1]
    return said.split("-- cursor: ")[-1].strip()


def journal(since, *matches):
    """What was written after a place, as dictionaries of fields."""
    lines = run("journalctl", "-q", "-o", "json", "--all", "--after-cursor", since, *matches)[1].splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def messages(since, *matches):
    return [str(record.get("MESSAGE")) for record in journal(since, *matches)]
