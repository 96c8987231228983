"""Devices that come and go, fall silent, and give more than is read."""

import os
import signal
import time

from harness import expect, note, started, test, wait_for
from played import (HUB, Follower, Play, await_device, descriptors, devices, is_active, middle, read, seconds,
                    stream)

# Devices with one sensor each: while the other is there, what comes after it has another number.
WALK = "/project/Tests/Fixtures/phyphox_walk/Accelerometer.csv"
OTHER = "/project/Tests/Fixtures/phyphox_walk/Magnetometer.csv"


def awaited(play_arguments=("--model", "walk"), configuration=HUB):
    """The service with a hub that it reads: its process, a follower, and the hub."""
    hub = Play(*play_arguments)
    await_device("accel_3d")
    process = started(configuration)
    follower = Follower()
    wait_for("samples", lambda: stream()["samples"] > 0)
    return process, follower, hub


@test
def smoke_what_moves_is_an_event_and_what_is_unplugged_comes_back():
    _, follower, hub = awaited()
    follower.next(1, "motion.began")
    hub.say("unplug", "unplugged")
    follower.next(1, "sensor.inactive")
    hub.say("plug", "plugged in")
    follower.next(1, "sensor.active")
    follower.next(2, "motion.began")


@test
def hub_of_16_bits_with_a_gyroscope_keeps_to_its_interval():
    Play("--model", "walk", "--bits", "16", "--time", "kernel", "--gyroscope")
    folder = await_device("accel_3d")
    await_device("gyro_3d")
    expect(read(folder, "scan_elements/in_accel_x_type") == "le:s16/32>>0", read(folder, "scan_elements/in_accel_x_type"))
    started(HUB.replace("[motion", "rate_hz = 50\n\n[motion"))
    follower = Follower()
    follower.next(1, "motion.began")
    wait_for("samples", lambda: stream()["samples"] > 200)
    found = stream()
    note(f"asked for 50 Hz: {read(folder, 'in_accel_sampling_frequency')} Hz set, {found['rate_hz']} Hz seen")
    expect(45 < found["rate_hz"] < 55, found)


@test
def unplugging_ten_times_is_ten_events_and_leaks_nothing():
    process, follower, hub = awaited(("--trace", WALK, "--loop"))
    # The walk may have begun before the follower came, and goes on for minutes.
    follower.next(1, "motion.moving")
    before, other, folders, times = descriptors(process), None, [], []
    for round in range(1, 11):
        hub.say("unplug", "unplugged")
        gone = follower.next(round, "sensor.inactive")[-1][1]
        # Every other time another device has taken the number meanwhile.
        if round % 2:
            other = Play("--trace", OTHER, "--loop")
            await_device("magn_3d")
        else:
            other.end()
            wait_for("its end", lambda: not devices("magn_3d"))
        hub.say("plug", "plugged in")
        wait_for("the device", lambda: devices("accel_3d"))
        there = time.monotonic_ns()
        folders.append(os.path.basename(devices("accel_3d")[0]))
        arrival, back = follower.next(round, "sensor.active")[-1]
        times.append(seconds(arrival - there))
        expect(back["wall_time"] > gone["wall_time"], f"{gone}, {back}")
        follower.next(len(follower.events("motion.moving")) + 1, "motion.moving")
    after = descriptors(process)
    note(f"{', '.join(folders)}; active {middle(times):.2f} s after the node has come (median), "
         f"{max(times):.2f} s at most; {len(after)} descriptors as before")
    expect(len(set(folders)) > 1, f"it was {folders} all the time")
    expect(len(before) == len(after), f"descriptors: {before} before, {after} after")
    expect(len(follower.events("sensor.inactive")) == 10, "some unplugging is told twice")
    # By udev's report, and not by the next attempt; a busy machine takes its time.
    expect(middle(times) <= 10, f"active after {times} s")


@test
def silence_is_told_and_ends():
    _, follower, hub = awaited()
    follower.next(1, "motion.began")
    # Shorter than two looks: switching the buffer off and on is all that it takes.
    hub.say("gap 1.6", "a gap")
    lost = follower.next(1, "samples.lost")[0][1]
    expect(lost["cause"] == "stall" and "switched off and on" in lost["reason"], lost)
    note(f"a gap of 1.6 s: {lost['reason']}")
    follower.next(len(follower.events("motion.moving")) + 1, "motion.moving")
    expect(stream()["rate_hz"] > 50, stream())
    told = len(follower.events("samples.lost"))
    # It answers no request, and so cannot be switched off and on, nor read singly.
    hub.say("stall 12", "stalled")
    follower.next(told + 1, "samples.lost")
    wait_for("recovery", lambda: is_active() and stream()["last_sample_s"] < 0.5)
    note(f"a stall of 12 s: {[event.get('reason') for _, event in follower.events('samples.lost', 'sensor.inactive')][told:]}")
    # A minute after single values have begun to be read, the buffer is tried again.
    folder = devices("accel_3d")[0]
    wait_for("the buffer", lambda: read(folder, "buffer/enable") == "1", 200)
    seen = stream()["samples"]
    wait_for("every sample", lambda: (now := stream())["samples"] - seen > 300 and now["rate_hz"] > 50)


@test
def what_is_overrun_is_told_with_its_size():
    process, follower, hub = awaited(("--model", "walk", "--rate-hz", "1000"), HUB.replace(
        'match = { name = "accel_3d" }', 'match = { name = "accel_3d" }\nrate_hz = 1000'))
    os.kill(process, signal.SIGSTOP)
    time.sleep(5)
    os.kill(process, signal.SIGCONT)
    follower.next(1, "samples.lost")
    # Nothing comes any more, so that what was sent can be counted.
    hub.say("gap 30", "a gap")
    sent = hub.sent()
    wait_for("silence", lambda: stream()["last_sample_s"] > 0.5)
    seen = stream()["samples"]
    # An overrun that recurred is told before the silence.
    wait_for("the silence told", lambda: "stall" in [event["cause"] for _, event in follower.events("samples.lost")])
    told = sum(event["count"] for _, event in follower.events("samples.lost") if event["cause"] == "overrun")
    note(f"stopped for 5 s at 1 kHz: {sent} sent, {seen} seen, {told} told as lost")
    expect(told > 0, "no overrun is told")
    expect(abs(sent - seen - told) <= max(3, 0.01 * told), f"{sent} sent, {seen} seen, {told} told as lost")
