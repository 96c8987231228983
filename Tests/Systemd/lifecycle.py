"""Starting, staying alive, coming back, ending."""

import os
import signal
import subprocess
import time

from harness import (SHAKEN_BOX, expect, main_process, messages, now, processes, show, start, started,
                     systemctl, test, wait_for)

# Commands that neither end nor react to signals, each with a child in a session of its own.
HANGING_COMMANDS = SHAKEN_BOX + """
[handler.hang]
on = ["shake"]
command = ["/bin/sh", "-c", "trap '' TERM; setsid /bin/sleep 1000 & /bin/sleep 1000; /bin/sleep 1000"]
"""

END = "/run/binnacle-test-end"


@test
def start_returns_when_the_service_is_ready():
    began = now()
    process = started()
    expect(show("ActiveState") == "active" and show("SubState") == "running", show("ActiveState"))
    expect(show("Type") == "notify", show("Type"))
    expect(show("WatchdogUSec") == "30s", show("WatchdogUSec"))
    expect(process > 0 and [process] == [number for number, _ in processes()], f"{process}, {processes()}")
    expect(any("Started" in text for text in messages(began, "_PID=1")), "systemd does not say that it has started")


@test
def stop_takes_less_than_a_second_and_is_no_failure():
    times = []
    # The best of three, because the machine may be busy with something else.
    for _ in range(3):
        # systemd counts an end by SIGTERM as one without a fault, and forgets both; so the end is written down here.
        words = "$SERVICE_RESULT $EXIT_CODE $EXIT_STATUS"
        started(SHAKEN_BOX, f"[Service]\nExecStopPost=+/bin/sh -c 'echo {words} >{END}'\n")
        began = time.monotonic()
        status, said = systemctl("stop")
        times.append(time.monotonic() - began)
        expect(status == 0, said)
        with open(END) as file:
            expect(file.read().split() == ["success", "exited", "0"], "it did not end by itself with 0")
    expect(min(times) < 1, f"it took {times} s")


@test
def stop_leaves_no_process_although_commands_hang():
    started(HANGING_COMMANDS)
    wait_for("commands", lambda: sum("sleep 1000" in words for _, words in processes()) >= 2)
    began = time.monotonic()
    systemctl("stop")
    taken = time.monotonic() - began
    expect(processes() == [], f"left: {processes()}")
    expect(show("Result") == "success", show("Result"))
    expect(taken < 5, f"it took {taken} s, which is the time after which systemd kills")


@test
def kill_brings_it_back_and_leaves_no_process():
    first = started(HANGING_COMMANDS)
    wait_for("commands", lambda: sum("sleep 1000" in words for _, words in processes()) >= 2)
    old = [number for number, _ in processes()]
    os.kill(first, signal.SIGKILL)
    wait_for("a restart", lambda: show("NRestarts") == "1" and show("ActiveState") == "active")
    expect(main_process() not in (0, first), f"process {main_process()}")
    expect(not set(old) & {number for number, _ in processes()}, f"left: {processes()}")


@test
def watchdog_ends_it_when_its_main_thread_stands_still():
    began = now()
    first = started(SHAKEN_BOX, "[Service]\nWatchdogSec=2\n")
    # The watchdog does not end a daemon that is alive, also when its other threads do nothing.
    time.sleep(6)
    expect(main_process() == first and show("NRestarts") == "0", f"{show('NRestarts')} restarts of a living service")
    helper = subprocess.Popen(["/usr/bin/python3", "-B", "/tests/freeze.py", str(first)])
    try:
        wait_for("a restart", lambda: show("NRestarts") == "1" and show("ActiveState") == "active")
    finally:
        helper.kill()
        helper.wait()
    expect(main_process() not in (0, first), f"process {main_process()}")
    expect(any("Watchdog timeout" in text for text in messages(began, "_PID=1")), "systemd names no watchdog timeout")


@test
def wrong_configuration_is_not_tried_again():
    status, _ = start("[sensor.box]\nsource = \"imaginary\"\n")
    expect(status != 0, "systemctl start succeeds")
    expect_given_up("78")


@test
def wrong_arguments_are_not_tried_again():
    status, _ = start(SHAKEN_BOX, "[Service]\nExecStart=\nExecStart=/usr/bin/binnacle run --frobnicate\n")
    expect(status != 0, "systemctl start succeeds")
    expect_given_up("64")


def expect_given_up(status):
    state, restarts, found = show("SubState"), show("NRestarts"), show("ExecMainStatus")
    expect(state == "failed" and restarts == "0", f"{state}, {restarts} restarts")
    expect(found == status, f"status {found}")
