"""Events that are kept, and those who ask for them."""

import grp
import json
import os
import pwd
import signal
import stat
import subprocess

from harness import SHAKEN_BOX, expect, journal, now, run, show, started, systemctl, test, wait_for, write

STORE = "/var/lib/binnacle/events.db"
SOCKET = "/run/binnacle/binnacle.sock"
KEPT_BOX = SHAKEN_BOX + """
[store]
[socket]
"""
USER_UNIT = "/etc/systemd/system/follower.service"


def account(name):
    """Makes an account where there is none."""
    run("useradd", "--system", "--shell", "/bin/sh", name)
    return pwd.getpwnam(name).pw_uid


def as_user(name, *words, group=None):
    """Runs the program as somebody else, with the group that is theirs, or one more."""
    groups = [f"--groups={group}"] if group else ["--clear-groups"]
    return run("setpriv", f"--reuid={name}", f"--regid={name}", *groups, "/usr/bin/binnacle", *words)


def shakes():
    said = run("/usr/bin/binnacle", "events", "--kind", "shake", "--json")
    expect(said[0] == 0, f"events: {said}")
    return [json.loads(line)["seq"] for line in said[1].splitlines() if line.startswith("{")]


@test
def events_outlive_a_kill_and_go_on_being_numbered():
    process = started(KEPT_BOX)
    before = wait_for("a stored shake", shakes)
    os.kill(process, signal.SIGKILL)
    wait_for("a restart", lambda: show("NRestarts") == "1" and show("ActiveState") == "active")
    after = wait_for("another shake", lambda: [number for number in shakes() if number > before[-1]])
    expect(set(before) <= set(shakes()), f"lost: {set(before) - set(shakes())}")
    expect(len(set(after)) == len(after), f"twice: {after}")


@test
def store_and_socket_are_for_the_group_alone():
    started(KEPT_BOX)
    wait_for("the socket", lambda: os.path.exists(SOCKET))
    group = grp.getgrnam("binnacle").gr_gid
    for path, kind, mode in ((STORE, stat.S_ISREG, 0o640), (SOCKET, stat.S_ISSOCK, 0o660)):
        found = os.stat(path)
        expect(kind(found.st_mode), f"{path}: mode {found.st_mode:o}")
        expect(stat.S_IMODE(found.st_mode) == mode and found.st_gid == group, f"{path}: {found}")


@test
def socket_is_for_members_and_says_who_comes():
    began = now()
    number = account("sailor")
    started(KEPT_BOX)
    wait_for("an answer", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    status, said = as_user("sailor", "status")
    expect(status == 77, f"somebody else: {status}, {said}")
    status, said = as_user("sailor", "status", group="binnacle")
    expect(status == 0 and "sensor box: active" in said, f"a member: {status}, {said}")
    status, said = as_user("sailor", "events", "--json", group="binnacle")
    expect(status == 0, f"a member: {status}, {said}")
    wait_for(
        "the journal to name the account",
        lambda: any(f"{number}" in record.get("MESSAGE", "") for record in journal(began, "-u", "binnacle.service")))


@test
def socket_may_be_for_named_people_alone():
    account("sailor")
    account("stowaway")
    started(KEPT_BOX.replace("[socket]", "[socket]\nmode = \"0666\"\nusers = [\"sailor\"]"))
    wait_for("an answer", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    expect(as_user("sailor", "status")[0] == 0, "who is named may not")
    status, said = as_user("stowaway", "status")
    expect(status == 77, f"who is not named: {status}, {said}")


@test
def socket_may_be_given_to_another_group():
    run("groupadd", "--system", "sailors")
    run("usermod", "--append", "--groups", "sailors", "binnacle")
    started(KEPT_BOX.replace("[socket]", "[socket]\ngroup = \"sailors\""))
    wait_for("the socket", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    found = os.stat(SOCKET)
    expect(found.st_gid == grp.getgrnam("sailors").gr_gid, f"{found}")
    account("deckhand")
    expect(as_user("deckhand", "status", group="sailors")[0] == 0, "a member may not")
    run("gpasswd", "--delete", "binnacle", "sailors")


@test
def on_runs_a_command_as_another_account():
    account("sailor")
    mark = "/tmp/binnacle-follower"
    if os.path.exists(mark):
        os.unlink(mark)
    write(USER_UNIT, f"""[Service]
User=sailor
SupplementaryGroups=binnacle
ExecStart=/usr/bin/binnacle on shake -- /bin/sh -c 'id -un >{mark}; cat >>{mark}'
""")
    run("systemctl", "daemon-reload")
    # It waits for the daemon, which comes later, and stays when the daemon is restarted.
    systemctl("stop")
    expect(run("systemctl", "start", "follower.service")[0] == 0, "the follower does not start")
    try:
        for _ in range(2):
            started(KEPT_BOX)
            wait_for("the follower's command", lambda: os.path.exists(mark) and os.path.getsize(mark) > 10)
            with open(mark) as file:
                lines = file.read().splitlines()
            expect(lines[0] == "sailor" and json.loads(lines[1])["kind"] == "shake", f"{lines}")
            os.unlink(mark)
        expect(run("systemctl", "is-active", "follower.service")[1].strip() == "active", "the follower has ended")
    finally:
        run("systemctl", "stop", "follower.service")


@test
def status_tells_a_monitor_that_a_sensor_is_missing():
    started(KEPT_BOX)
    wait_for("all to be well", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    started("""
[sensor.lid]
source = "iio"
match = { name = "there is none" }
[motion.moved]
accelerometer = "lid"
[socket]
""")
    wait_for("an answer", lambda: run("/usr/bin/binnacle", "status")[0] == 1)
    found = json.loads(run("/usr/bin/binnacle", "status", "--json")[1])
    expect(found["state"] == "degraded" and "lid" in str(found["problems"]), f"{found}")
    systemctl("stop")
    expect(run("/usr/bin/binnacle", "status")[0] == 69, "a daemon that is not there has a status")


@test
def full_state_folder_stops_nothing():
    folder = "/var/lib/binnacle"
    systemctl("stop")
    owner = pwd.getpwnam("binnacle")
    options = f"size=200k,mode=0750,uid={owner.pw_uid},gid={owner.pw_gid}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
    try:
        with open(f"{folder}/ballast", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                pass
        began = now()
        started(SHAKEN_BOX.replace('"motion.ended"', '"motion.ended", "store.failed", "store.recovered"')
                + "[store]\n[socket]\n")
        wait_for("store.failed", lambda: journal(began, "BINNACLE_KIND=store.failed"))
        wait_for("shakes", lambda: journal(began, "BINNACLE_KIND=shake"))
        expect(run("/usr/bin/binnacle", "status")[0] == 1, "a full disk is no problem")
        os.truncate(f"{folder}/ballast", 0)
        wait_for("store.recovered", lambda: journal(began, "BINNACLE_KIND=store.recovered"), seconds=90)
        wait_for("stored shakes", shakes)
    finally:
        systemctl("stop")
        run("umount", folder)
