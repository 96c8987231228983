"""Ends that nobody asked for, and time that stands still."""

import os
import signal
import sqlite3
import subprocess
import time

from harness import expect, main_process, messages, note, now, show, systemctl, test, wait_for
from hotplug import awaited
from played import Follower, put, stored, stream, told
STORE = "/var/lib/binnacle/events.db"



def is_fresh(found):
    """Whether samples come; a service that has just been started has had none yet."""
    return found["last_sample_s"] is not None and found["last_sample_s"] < 0.5


@test
def kill_during_traffic_loses_no_stored_event():
    process, follower, _ = awaited()
    follower.next(20, "motion.moving")
    before = [event["seq"] for event in stored()]
    os.kill(process, signal.SIGKILL)
    wait_for("a restart", lambda: show("NRestarts") == "1" and show("ActiveState") == "active")
    expect(main_process() not in (0, process), f"process {main_process()}")
    Follower().next(1, "motion.began")
    after = [event["seq"] for event in stored()]
    expect(set(before) <= set(after), f"lost: {sorted(set(before) - set(after))}")
    expect(len(after) == len(set(after)), "numbers are used twice")
    systemctl("stop")
    database = sqlite3.connect(STORE)
    found = database.execute("PRAGMA integrity_check").fetchall()
    database.close()
    expect(found == [("ok",)], f"{found}")
    note(f"{len(before)} events before, all there among {len(after)} after; the store is intact")


@test
def watchdog_fires_when_the_sensor_loop_stands_still():
    began = now()
    process, _, _ = awaited()
    # The main thread is the one that reads the sensors.
    helper = subprocess.Popen(["/usr/bin/python3", "-B", "/project/Tests/Systemd/freeze.py", str(process)])
    try:
        wait_for("a restart", lambda: show("NRestarts") == "1" and show("ActiveState") == "active", 90)
    finally:
        helper.kill()
        helper.wait()
    expect(any("Watchdog timeout" in text for text in messages(began, "_PID=1")), "systemd names no watchdog timeout")
    wait_for("samples", lambda: stream()["samples"] > 0)


@test
def freezing_is_told_as_lost_samples():
    process, follower, hub = awaited()
    follower.next(1, "motion.began")
    group = "/sys/fs/cgroup" + show("ControlGroup")
    before = len(follower.events("samples.lost", "gap"))
    put(1, group, "cgroup.freeze")
    time.sleep(8)
    put(0, group, "cgroup.freeze")
    lost = follower.next(before + 1, "samples.lost", "gap")[before:]
    note(f"frozen for 8 s: {'; '.join(told(event) for _, event in lost)}")
    wait_for("samples", lambda: is_fresh(stream()))
    expect(main_process() == process, "it was started again")


@test
def suspend_with_frozen_processes_is_survived():
    process, follower, _ = awaited()
    follower.next(1, "motion.began")
    # This machine's devices do not come back from a whole suspend; the kernel's own test goes as far as freezing all
    # processes, the hub's among them, and wakes after five seconds.
    put("freezer", "/sys/power/pm_test")
    put("freeze", "/sys/power/state")
    put("none", "/sys/power/pm_test")
    wait_for("samples", lambda: is_fresh(stream()))
    said = [told(event) for _, event in follower.events("samples.lost", "gap")]
    note(f"frozen for 5 s with the hub: {'; '.join(said) or 'nothing is lost'}")
    began = len(follower.events("motion.began"))
    follower.next(began + 1, "motion.began")
    expect(main_process() == process, "it was started again")
