"""What the checks of the program share. `scripts/check NAME BINARY` runs one; the path of the program is its argument."""
import atexit
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAME = pathlib.Path(sys.argv[0]).stem.replace("_", "-")
BINARY = str(pathlib.Path(sys.argv[1]).resolve())
#: How long anything may take before it has failed, in seconds. No assertion is about time: only a machine that hangs takes this long.
PATIENCE = 120

faults = []
#: How many conditions `need` has looked at.
needed = 0
started = []


def check(is_fine, what, more=""):
    """Prints a line with what was found. A fault lets the check go on, and fail at its end."""
    print(("ok    " if is_fine else "FAULT ") + what + (f": {more}" if more != "" else ""), flush=True)
    if not is_fine:
        faults.append(what)


def need(is_fine, *what):
    """Ends the check when this does not hold; prints nothing otherwise. It is for conditions of which there are thousands."""
    global needed
    needed += 1
    if not is_fine:
        fail(*what)


def fail(*what):
    sys.exit(f"check {NAME}: " + " ".join(map(str, what)))


def finish():
    """The last line of a check that uses `check`."""
    sys.exit(f"check {NAME}: {len(faults)} faults" if faults else 0)


def temporary_folder():
    return tempfile.TemporaryDirectory(prefix=f"binnacle-{NAME}-")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(holds, seconds=PATIENCE, pause=0.05):
    """Asks until the answer is true, and returns it; the last answer when it never is."""
    end = time.monotonic() + seconds
    while not (answer := holds()) and time.monotonic() < end:
        time.sleep(pause)
    return answer


def wait_for(what, holds):
    """Asks until the answer is true, and returns it; ends the check when it never is."""
    return until(holds) or fail("waited in vain for", what)


def run(*arguments, status=0):
    """Runs the program to its end, which has to have a status."""
    result = subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
    need(result.returncode == status, arguments, "ended with", result.returncode, result.stderr)
    return result


def start(*command, **options):
    """Starts a program, which is killed at the end of the check when it still runs."""
    process = subprocess.Popen(command, **options)
    started.append(process)
    return process


def start_daemon(configuration, address=None, **options):
    """Starts `binnacle run` with a configuration file, and waits for its socket when it has one."""
    daemon = start(BINARY, "run", "--config", configuration, **{"stderr": subprocess.DEVNULL, **options})
    if address:
        wait_for(f"the socket {address}", lambda: os.path.exists(address))
    return daemon


def start_shaken_daemon(folder):
    """Starts a daemon with a store, whose one motion detector reads a model that is shaken; returns it and its socket's path."""
    address = f"{folder}/s"
    pathlib.Path(folder, "c.toml").write_text(f"""
        [socket]
        path = "{address}"
        [store]
        path = "{folder}/events.db"
        [sensor.lid]
        source = "simulated"
        model = "shake"
        [motion.moved]
        accelerometer = "lid"
        """)
    return start_daemon(f"{folder}/c.toml", address), address


def end(process, number=signal.SIGTERM):
    """Ends a program with a signal, and returns its status."""
    process.send_signal(number)
    return process.wait(PATIENCE)


@atexit.register
def end_all():
    for process in started:
        if process.poll() is None:
            process.kill()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
