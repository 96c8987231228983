"""What the tests of the service share: how they are run, and how systemd and the journal are asked."""

import json
import os
import subprocess
import time
import traceback

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
notes = []


class Failed(Exception):
    """A test did not find what it wants."""


def test(function):
    """Makes a function one of the tests, under its own name."""
    tests.append(function)
    return function


def expect(condition, found):
    if not condition:
        raise Failed(found)


def note(text):
    """Puts a figure into the report, below the test that runs."""
    notes.append(text)


def report(line):
    """Puts a line into the report, at once. The file is not kept open, because a test may unmount it."""
    with open("/out/results", "a") as results:
        print(line, file=results)


def remark(text):
    report(f"# {text}")


def keep_errors():
    """What goes wrong with the tests themselves is to be read in the report, too."""
    with open("/out/results", "a") as results:
        os.dup2(results.fileno(), 2)


def run(*words):
    """Runs a program that ends by itself, and returns its status and what it said."""
    ended = subprocess.run(
        words, text=True, errors="replace", capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    return ended.returncode, ended.stdout + ended.stderr


def need(*words):
    """Runs a program that has to succeed, and returns what it said."""
    status, said = run(*words)
    expect(status == 0, f"{' '.join(words)}: status {status}: {said}")
    return said


def systemctl(verb, *words):
    return run("systemctl", verb, *words, UNIT)


def show(name):
    """The value of one of the service's properties."""
    return run("systemctl", "show", "--value", "--property", name, UNIT)[1].strip()


def wait_for(what, answer, seconds=300):
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
    """What was written after a place, as dictionaries of fields.

    With --after-cursor, journalctl 252 skips the first entry that matches when the entry at the cursor does not.
    """
    lines = run("journalctl", "-q", "-o", "json", "--all", "--cursor", since, *matches)[1].splitlines()
    records = [json.loads(line) for line in lines if line.startswith("{")]
    return [record for record in records if record["__CURSOR"] != since]


def messages(since, *matches):
    return [str(record.get("MESSAGE")) for record in journal(since, *matches)]


def outcome(function):
    """None, or why a test has failed."""
    try:
        function()
    except Failed as failure:
        return str(failure)
    except Exception:
        return traceback.format_exc()
    return None


def main(install, names=(), after=lambda: None):
    """Runs the tests, or those whose names begin with one of these or whose file has one, and leaves a line for each, as TAP has it.

    They are in /out/results, and the journal is in /out/journal. Returns what the process ends with: 1 when one has failed.
    """
    failures = 0
    chosen = [function for function in tests
              if not names or function.__name__.startswith(tuple(names)) or function.__module__ in names]
    keep_errors()
    expect(chosen, f"no test has a name that begins with {' or '.join(names)}")
    install()
    remark(run("systemctl", "--version")[1].splitlines()[0])
    report(f"1..{len(chosen)}")
    for number, function in enumerate(chosen, 1):
        began, place = time.monotonic(), now()
        notes.clear()
        why = outcome(function)
        name = function.__name__.replace("_", " ")
        report(f"{'not ok' if why else 'ok'} {number} - {name} ({time.monotonic() - began:.1f} s)")
        for line in notes:
            report(f"#   {line}")
        if why:
            failures += 1
            said = "\n".join(messages(place, "-u", UNIT, "-n", "15"))
            for line in f"{why}\nThe journal's last words:\n{said}".splitlines():
                report(f"#   {line}")
        after()
    systemctl("stop")
    with open("/out/journal", "w") as journal:
        journal.write(run("journalctl", "-b", "-o", "short-monotonic")[1])
    remark(f"{failures} failed" if failures else f"all {len(chosen)} passed")
    return 1 if failures else 0
