"""Tries, as a command of the service, what a command must not be able to do, and what it must.

What came of it is the JSON object in /var/lib/binnacle/probe.json, which is complete when it is there.
"""

import errno
import json
import mmap
import os
import socket
import subprocess
import sys


def attempt(action):
    """The name of the error with which an action is refused, or "done"."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    return "done"


def write(folder):
    path = f"{folder}/binnacle-probe"
    with open(path, "w"):
        pass
    os.unlink(path)


def words(path):
    with open(path) as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file if ":" in line)


def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", ("127.0.0.1", 9))


found = {
    "event": json.loads(sys.stdin.readline()),
    "folders": {folder: attempt(lambda: write(folder)) for folder in sys.argv[1].split(",")},
    "devices": {path: attempt(lambda: os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK)))
                for path in sys.argv[2].split(",")},
    "network": attempt(send),
    "tunable": attempt(lambda: os.close(os.open("/proc/sys/kernel/hostname", os.O_WRONLY))),
    "sethostname": attempt(lambda: socket.sethostname("probe")),
    "writable code": attempt(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close()),
    "set-user-ID": attempt(lambda: os.close(os.open("/tmp/set-user-ID", os.O_CREAT | os.O_WRONLY, 0o4700))),
    "status": words("/proc/self/status"),
    "others": [name for name in os.listdir("/proc") if name.isdigit()
               and os.stat(f"/proc/{name}").st_uid != os.getuid()],
    "shell": subprocess.run(["/bin/sh", "-c", "echo 1 2 | awk '{ print $1 + $2 }'; nice -n 5 nice; ulimit -n 100; echo $?"],
                          capture_output=True, text=True).stdout.split(),
}
with open("/var/lib/binnacle/probe.new", "w") as file:
    json.dump(found, file)
os.rename("/var/lib/binnacle/probe.new", "/var/lib/binnacle/probe.json")
