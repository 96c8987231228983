"""What may not be done, and what is done then."""

import glob
import os

from harness import UNIT, expect, messages, need, note, now, run, start, started, test, wait_for
from played import BINNACLE, HUB, Follower, Play, await_device, last_number, read, stored


@test
def single_values_are_read_where_the_buffer_is_refused():
    Play("--model", "walk")
    folder = await_device("accel_3d")
    # As it is where the rule is not installed: the node and its values may be read, the buffer may not be switched on.
    for path in glob.glob(f"{folder}/buffer*/*"):
        os.chmod(path, 0o444)
    place = now()
    started(HUB)
    follower = Follower()
    follower.next(1, "motion.began")
    said = messages(place, "-u", UNIT)
    words = [text for text in said if "single" in text or "buffer" in text]
    note(f"it says: {words}")
    expect(any("single values are read instead" in text and "70-binnacle.rules" in text for text in words), said)
    expect(read(folder, "buffer/enable") == "0", "the buffer is on")


@test
def what_somebody_else_reads_is_waited_for():
    Play("--model", "walk")
    node = "/dev/" + os.path.basename(await_device("accel_3d"))
    file = os.open(node, os.O_RDONLY | os.O_NONBLOCK)
    try:
        before = last_number()
        started(HUB)
        said = wait_for("a word about it", lambda: [
            event["reason"] for event in stored("sensor.inactive") if event["seq"] > before])
        note(f"it says: {said[0]}")
        expect(node in said[0] and "another program reads it" in said[0], said)
    finally:
        os.close(file)
    Follower().next(1, "motion.began")


@test
def without_device_allow_it_reports_permission():
    Play("--model", "walk")
    await_device("accel_3d")
    place = now()
    start(HUB, "[Service]\nDeviceAllow=\nDeviceAllow=char-input r\n")
    said = wait_for("a word about it", lambda: [
        text for text in messages(place, "-u", UNIT) if "DeviceAllow=char-iio" in text])
    note(f"it says: {said[0]}")


@test
def shipped_rule_account_and_unit_are_enough():
    hub = Play("--model", "walk")
    folder = await_device("accel_3d")
    process = started(HUB)
    follower = Follower()
    follower.next(1, "motion.began")
    with open(f"/proc/{process}/status") as file:
        fields = dict(line.rstrip("\n").split(":", 1) for line in file)
    account = int(need("id", "-u", "binnacle"))
    expect(fields["Uid"].split() == [str(account)] * 4 and account != 0, fields["Uid"])
    expect(int(fields["CapEff"], 16) == 0, fields["CapEff"])
    expect(read(folder, "buffer/enable") == "1", "it does not read the buffer")
    said = need("systemd-analyze", "security", "--no-pager", UNIT)
    note(said.strip().splitlines()[-1].strip())
    hub.end()


@test
def nobody_may_play_hardware_without_leave():
    for kind, node in (("hub", "/dev/uhid"), ("evdev", "/dev/uinput")):
        code, said = run("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                         BINNACLE, "simulate", "--model", "walk", "--as", kind)
        expect(code == 77 and node in said, f"status {code}: {said}")
        os.rename(node, f"{node}-away")
        try:
            code, said = run(BINNACLE, "simulate", "--model", "walk", "--as", kind)
        finally:
            os.rename(f"{node}-away", node)
        expect(code == 69 and os.path.basename(node) in said, f"status {code}: {said}")
        note(f"without {node}: {said.splitlines()[0]}")
