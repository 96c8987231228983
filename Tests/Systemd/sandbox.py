"""What the service and its commands cannot do, tried in the service itself."""

import json
import os
import stat

from harness import SHAKEN_BOX, Failed, expect, run, started, systemctl, test, wait_for, write

REFUSED_FOLDERS = ["/usr", "/usr/local/bin", "/etc", "/etc/binnacle", "/home", "/root", "/var", "/var/log", "/boot",
                   "/sys", "/run"]
OPEN_FOLDERS = ["/tmp", "/var/lib/binnacle", "/run/binnacle"]
OPEN_DEVICES = ["/dev/null", "/dev/zero", "/dev/urandom"]
RESULT = "/var/lib/binnacle/probe.json"


def strange_devices():
    """Makes device nodes that anybody may open by their mode.

    Those that cannot be opened outside the sandbox either are left out, because they would show nothing.
    """
    found = []
    for name, major, minor in [("kmsg", 1, 11), ("port", 1, 4), ("console", 5, 1), ("tun", 10, 200), ("fuse", 10, 229),
                               ("rtc", 10, 135), ("loop-control", 10, 237)]:
        path = f"/dev/probe-{name}"
        if not os.path.exists(path):
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(major, minor))
            os.chmod(path, 0o666)
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
            found.append(path)
        except OSError:
            pass
    if not found:
        raise Failed("there is no device that could be opened outside the sandbox, so there is nothing to test")
    return found


def probed(devices, drop_in=""):
    """What the probe found as a command of the service."""
    # What runs still may write another result.
    systemctl("stop")
    if os.path.exists(RESULT):
        os.unlink(RESULT)
    started(SHAKEN_BOX + f"""
[handler.probe]
on = ["shake"]
command = ["/usr/bin/python3", "-B", "/tests/probe.py", "{','.join(REFUSED_FOLDERS + OPEN_FOLDERS)}",
    "{','.join(devices + OPEN_DEVICES)}"]
""", drop_in)
    wait_for("the probe's result", lambda: os.path.exists(RESULT))
    with open(RESULT) as file:
        return json.load(file)


def status_of(process):
    with open(f"/proc/{process}/status") as file:
        return dict(line.rstrip("\n").split(":", 1) for line in file if ":" in line)


def expect_no_rights(status):
    for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        expect(int(status[key], 16) == 0, f"{key} is {status[key].strip()}")
    expect(status["NoNewPrivs"].strip() == "1", "it could come by new rights")
    expect(status["Seccomp"].strip() == "2", "its system calls are not filtered")


@test
def command_has_no_right_that_it_does_not_need():
    devices = strange_devices()
    # The same folders can be written by others, so it is the sandbox that refuses them.
    expect(os.access("/usr", os.W_OK) and os.access("/home", os.W_OK), "this container's /usr is read-only")
    found = probed(devices)
    for folder in REFUSED_FOLDERS:
        expect(found["folders"][folder] in ("EROFS", "EACCES", "ENOENT"), f"{folder}: {found['folders'][folder]}")
    expect(found["folders"]["/usr"] == "EROFS", f"/usr: {found['folders']['/usr']}")
    for device in devices:
        expect(found["devices"][device] == "EPERM", f"{device}: {found['devices'][device]}")
    expect(found["network"] in ("EAFNOSUPPORT", "EPERM"), f"network: {found['network']}")
    for key in ("tunable", "sethostname", "writable code", "set-user-ID"):
        expect(found[key] in ("EPERM", "EACCES", "EROFS"), f"{key}: {found[key]}")
    expect_no_rights(found["status"])
    expect(found["others"] == [], f"it sees the processes {found['others']}")


@test
def command_can_do_what_ordinary_programs_do():
    found = probed([])
    for folder in OPEN_FOLDERS:
        expect(found["folders"][folder] == "done", f"{folder}: {found['folders'][folder]}")
    for device in OPEN_DEVICES:
        expect(found["devices"][device] == "done", f"{device}: {found['devices'][device]}")
    expect(found["shell"] == ["3", "5", "0"], f"sh, awk, nice, ulimit: {found['shell']}")
    expect(found["event"]["kind"] == "shake", f"event: {found['event']}")


@test
def drop_in_gives_commands_the_network():
    found = probed([], """
[Service]
RestrictAddressFamilies=AF_INET AF_INET6
IPAddressDeny=
""")
    expect(found["network"] == "done", f"network: {found['network']}")


@test
def command_starts_a_unit_of_roots():
    """The recipe of docs/install.md: a command leaves a file, and a path unit of the administrator's does the rest."""
    write("/etc/systemd/system/binnacle-alarm.path", "[Path]\nPathExists=/run/binnacle/alarm\n")
    write("/etc/systemd/system/binnacle-alarm.service", """
[Service]
Type=oneshot
ExecStart=/bin/rm /run/binnacle/alarm
ExecStart=/bin/sh -c 'id -u >>/root/alarm'
""")
    run("systemctl", "start", "binnacle-alarm.path")
    try:
        # systemd refuses a unit that is started more than five times in ten seconds.
        started(SHAKEN_BOX + """
[handler.alarm]
on = ["shake"]
command = ["/bin/touch", "/run/binnacle/alarm"]
decorate = [{ rate_limit = { per_minute = 4 } }]
""")
        wait_for("root's unit", lambda: os.path.exists("/root/alarm") and os.path.getsize("/root/alarm"))
        with open("/root/alarm") as file:
            expect(set(file.read().split()) == {"0"}, "it is not root who does it")
    finally:
        run("systemctl", "stop", "binnacle-alarm.path")


@test
def command_starts_a_unit_of_somebody_elses():
    """A variant of that recipe: somebody who may not remove the file has a unit started whenever it is touched."""
    write("/etc/systemd/system/binnacle-person.path", "[Path]\nPathChanged=/run/binnacle/alarm\n")
    write("/etc/systemd/system/binnacle-person.service", """
[Service]
Type=oneshot
User=nobody
ExecStart=/bin/sh -c 'id -un >>/tmp/person'
""")
    started(SHAKEN_BOX + """
[handler.alarm]
on = ["motion.began"]
command = ["/bin/touch", "/run/binnacle/alarm"]
""")
    run("systemctl", "start", "binnacle-person.path")
    try:
        # The mark is there after the first motion; the second one only touches it.
        wait_for("two starts", lambda: os.path.exists("/tmp/person") and os.path.getsize("/tmp/person") >= 14)
        with open("/tmp/person") as file:
            expect(set(file.read().split()) == {"nobody"}, "it is somebody else who does it")
    finally:
        run("systemctl", "stop", "binnacle-person.path")


@test
def service_itself_is_in_the_same_sandbox():
    process = started()
    status = status_of(process)
    expect_no_rights(status)
    account = run("id", "-u", "binnacle")[1].strip()
    expect(status["Uid"].split() == [account] * 4, f"Uid {status['Uid']}")
    for device in strange_devices():
        expect(open_in_cgroup(process, device) == "refused", f"{device} can be opened")
    expect(open_in_cgroup(process, "/dev/null") == "opened", "/dev/null cannot be opened")


def open_in_cgroup(process, device):
    """Whether root may open a device in the control group of a process, which is what systemd's device policy is of."""
    with open(f"/proc/{process}/cgroup") as file:
        group = next(line for line in file if line.startswith("0::")).strip().removeprefix("0::")
    script = f'echo $$ >"/sys/fs/cgroup{group}/cgroup.procs" && echo moved && exec 3<"{device}" && echo opened'
    said = run("/bin/sh", "-c", script)[1]
    expect("moved" in said, said)
    return "opened" if "opened" in said else "refused"
