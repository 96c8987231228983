"""The service of desktops on a real bus with a real polkit, by the policy, the action and the rule that are installed."""

import os
import subprocess

from harness import (CONFIGURATION, UNIT, expect, main_process, messages, need, note, now, run, started, systemctl, test,
                     wait_for, write)

CLIENT = "/tests/bus.py"
POLICIES = ("/usr/share/dbus-1/system.d/binnacle.conf", "/etc/dbus-1/system.d/binnacle.conf")
PROXY = "net.hadess.SensorProxy"
OWN = "org.binnacle.Binnacle1"
SCREEN = """
[sensor.box]
source = "simulated"
model = "still"

[orientation.screen]
accelerometer = "box"
frame = "device"

[dbus]
"""


def call(*words, account=None):
    """Calls a method of the bus as an account: the status and what was said."""
    before = ["runuser", "-u", account, "--"] if account else []
    return run(*before, "busctl", "--timeout=20", "call", *words)


def owner(name=PROXY):
    status, said = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", "s", name)
    return said.split('"')[1] if status == 0 else None


def serve(configuration=SCREEN):
    """Starts the bus, which finds the account of its policy then, and the service; returns its process."""
    need("systemctl", "start", "dbus.service")
    need("systemctl", "reload", "dbus.service")
    process = started(configuration)
    wait_for("the name", owner)
    return process


def claim(*before):
    """What a program hears that claims the accelerometer, run by some words; it ends with its claim."""
    with subprocess.Popen([*before, "python3", "-B", CLIENT, "Accelerometer"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as client:
        said = client.stdout.readline()
        # A signal comes before the answer; a refusal is the only line.
        while said and not said.startswith("Accelerometer:"):
            said = client.stdout.readline()
        client.terminate()
    return said.strip()


def account(name):
    if run("id", name)[0] != 0:
        need("useradd", "--system", "--shell", "/bin/sh", name)
    return name


@test
def desktop_claims_are_decided_by_polkit():
    serve()
    refused = claim("runuser", "-u", "nobody", "--")
    expect("org.freedesktop.DBus.Error.AccessDenied: Not Authorized" in refused, refused)
    for name in ("root", account("geoclue")):
        said = claim("runuser", "-u", name, "--")
        expect(said == "Accelerometer: claimed", f"{name}: {said}")
    action = run("pkaction", "--verbose", "--action-id", "org.binnacle.Binnacle1.claim-sensor")[1]
    expect("implicit active:   yes" in action and "implicit any:      no" in action, action)
    note(f"nobody: {refused}; root and geoclue: claimed")


@test
def desktop_claims_of_an_active_session_are_allowed():
    serve()
    seated = account("seated")
    need("systemctl", "start", "systemd-logind.service")
    # Where a seat has no virtual terminals, a new session becomes its active one.
    said = claim("systemd-run", "--quiet", "--pipe", "--wait", "-p", f"User={seated}", "-p", "PAMName=login",
                 "-E", "XDG_SEAT=seat0", "-E", "XDG_SESSION_TYPE=tty", "-E", "XDG_SESSION_CLASS=user", "--")
    sessions = run("loginctl", "list-sessions", "--no-legend")[1]
    expect(said == "Accelerometer: claimed", f"{said}; sessions: {sessions}")
    refused = claim("runuser", "-u", seated, "--")
    expect("AccessDenied" in refused, f"without its session: {refused}")


@test
def desktop_names_are_no_other_accounts():
    serve()
    account("geoclue")
    for name in (PROXY, OWN):
        for who in ("nobody", "geoclue"):
            status, said = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su", name, "2", account=who)
            expect(status != 0 and "Access denied" in said, f"{who} and {name}: {said}")
    first = owner()
    # Root may own it, and does not get it either while the service runs: 3 says that it exists.
    status, said = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su", PROXY, "6")
    expect(said.strip() == "u 3", said)
    expect(owner() == first, "the name has changed hands")
    systemctl("stop")
    status, said = call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "RequestName", "su", PROXY, "0", account="nobody")
    expect(status != 0, f"nobody has the name of the service that is stopped: {said}")


@test
def desktop_values_are_everybodys_and_the_status_is_not():
    serve()
    status, said = call(PROXY, "/net/hadess/SensorProxy", "org.freedesktop.DBus.Properties", "GetAll", "s", PROXY, account="nobody")
    expect(status == 0 and "HasAccelerometer" in said, said)
    status, said = call(OWN, "/org/binnacle/Binnacle1", OWN, "GetStatus", account="nobody")
    expect(status != 0, f"nobody reads the status: {said}")
    status, said = call(OWN, "/org/binnacle/Binnacle1", OWN, "GetStatus")
    expect(status == 0 and "sensors" in said, said)


@test
def desktop_name_comes_when_the_bus_has_read_its_policy():
    need("systemctl", "start", "dbus.service")
    policy = next(path for path in POLICIES if os.path.exists(path))
    os.rename(policy, policy + ".away")
    try:
        need("systemctl", "reload", "dbus.service")
        process = started(SCREEN)
        said = wait_for("a word about the name", lambda: (text := run("journalctl", "-u", "binnacle", "-b", "-o", "cat")[1])
                        and f"does not give it the name {PROXY}" in text and text)
    finally:
        os.rename(policy + ".away", policy)
    expect("systemctl reload dbus" in said, said[-600:])
    expect(owner() is None, owner())
    need("systemctl", "reload", "dbus.service")
    wait_for("the name", owner)
    expect(main_process() == process, "it was started again")


@test
def desktop_reload_keeps_a_claim_and_the_name():
    process = serve()
    with subprocess.Popen(["python3", "-B", CLIENT, "Accelerometer"], stdout=subprocess.PIPE, text=True) as client:
        while client.stdout.readline().strip() != "Accelerometer: claimed":
            pass
        first = owner()
        write(CONFIGURATION, SCREEN + "claims = \"polkit\"\nevents = false\n")
        place = now()
        need("systemctl", "reload", "binnacle.service")
        wait_for("a reload", lambda: [text for text in messages(place, "-u", UNIT) if "configuration reloaded" in text])
        said = call(OWN, "/org/binnacle/Binnacle1", OWN, "GetStatus")[1]
        client.kill()
    expect(owner() == first and main_process() == process, "the name has changed hands")
    expect('\\"claims\\":{\\"accelerometer\\":1' in said, said)
