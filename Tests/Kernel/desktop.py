"""The service of desktops on the system bus, with a screen that is unplugged."""

import fcntl
import os
import struct
import time

from harness import expect, main_process, need, note, run, started, test, wait_for
from played import OBSERVED, Follower, Play, Program, await_device, descriptors, devices, middle, read, seconds

CLIENT = "/project/Tests/Systemd/bus.py"
TURNED = "/tmp/turned.csv"
# Whom polkit would let in is tested in a container; here root claims. No detector and no handler: only a claim wants a device.
CONFIGURATION = """
[dbus]
claims = "group"
"""
ORIENTATION = "AccelerometerOrientation="


def make_turns():
    """A screen that stands upright and on its side for two seconds each; y is then -g and x is g, as desktops have it."""
    with open(TURNED, "w") as file:
        print("t_s,ax,ay,az", file=file)
        for sample in range(200):
            values = (0, -9.80665, 0) if sample < 100 else (9.80665, 0, 0)
            print(sample / 50, *values, sep=",", file=file)


def is_read():
    return [read(folder, "buffer/enable") == "1" for folder in devices("accel_3d")]


@test
def claim_is_held_while_a_screen_is_unplugged_ten_times():
    make_turns()
    hub = Play("--trace", TURNED, "--loop")
    await_device("accel_3d")
    started(CONFIGURATION)
    need("busctl", "--timeout=20", "call", "net.hadess.SensorProxy", "/net/hadess/SensorProxy",
         "org.freedesktop.DBus.Peer", "Ping")
    # It is looked at when it appears, and then left alone.
    wait_for("a device that nothing reads", lambda: is_read() == [False])
    desktop = Program("python3", "-B", CLIENT, "Accelerometer")
    desktop.wait_for("Accelerometer: claimed")
    expect(is_read() == [True], f"a claimed device is read: {is_read()}")

    def turned(since):
        """The orientations that the client was sent since a line, when both have come."""
        found = [(time, line) for time, line in desktop.lines[since:] if line.startswith(ORIENTATION)]
        return {line for _, line in found} >= {f"{ORIENTATION}normal", f"{ORIENTATION}left-up"} and found

    wait_for("both orientations", lambda: turned(0))
    process, before, times = main_process(), descriptors(main_process()), []
    for _ in range(10):
        since = len(desktop.lines)
        hub.say("unplug", "unplugged")
        desktop.wait_for("HasAccelerometer=False", since)
        since = len(desktop.lines)
        hub.say("plug", "plugged in")
        wait_for("the device", lambda: devices("accel_3d"))
        there = time.monotonic_ns()
        desktop.wait_for("HasAccelerometer=True", since)
        times.append(seconds(wait_for("both orientations again", lambda: turned(since))[0][0] - there))
    after = descriptors(process)
    claims = [line for _, line in desktop.lines if line.startswith("Accelerometer:")]
    note(f"ten times unplugged and back with one claim: the first value {middle(times):.2f} s after the device has come (median), "
         f"{max(times):.2f} s at most; {len(after)} descriptors as before")
    expect(claims == ["Accelerometer: claimed"], f"{claims}")
    expect(main_process() == process, "the service was started again")
    expect(len(before) == len(after), f"descriptors: {before} before, {after} after")
    mixed = [line for _, line in desktop.lines if line.startswith("Accelerometer") and "Tilt=" in line and ORIENTATION in line]
    expect(not mixed, f"orientation and tilt in one signal: {mixed}")
    # A client that is killed releases nothing by itself.
    desktop.process.kill()
    wait_for("a device that nothing reads", lambda: is_read() == [False])



@test
def claim_is_answered_while_the_driver_hangs():
    make_turns()
    hub = Play("--trace", TURNED, "--loop")
    await_device("accel_3d")
    started(CONFIGURATION)
    wait_for("the sensor", lambda: "true" in run(
        "busctl", "--timeout=20", "get-property", "net.hadess.SensorProxy", "/net/hadess/SensorProxy",
        "net.hadess.SensorProxy", "HasAccelerometer")[1])
    wait_for("a device that nothing reads", lambda: is_read() == [False])
    # It answers none of the driver's questions, for which the driver waits in the calls that switch it on.
    hub.say("stall 30", "stalled")
    desktop = Program("python3", "-B", CLIENT, "Accelerometer")
    desktop.wait_for("Accelerometer: claimed")
    asked, answered = (next(at for at, line in desktop.lines if line.startswith(words)) for words in ("asks", "Accelerometer:"))
    took = seconds(answered - asked)
    note(f"answered after {took:.2f} s, beside a driver that hangs")
    expect(took < 20, f"{took} s: it waited for the driver")
    since = len(desktop.lines)
    wait_for("the values, when the driver goes on", lambda: any(
        line.startswith(ORIENTATION) for _, line in desktop.lines[since:]), 200)


class Switches:
    """An input device with the switches of a convertible's posture and of proximity, as linux/uinput.h has it."""

    # What UI_SET_EVBIT, UI_SET_SWBIT and UI_DEV_CREATE are on every machine but old ones.
    SET_EVENT, SET_SWITCH, CREATE = 0x40045564, 0x4004556D, 0x5501
    EVENT, SYNCHRONIZE, SWITCH = struct.Struct("qqHHi"), 0, 5
    TABLET, PROXIMITY = 1, 11

    def __init__(self):
        self.file = os.open("/dev/uinput", os.O_WRONLY | os.O_NONBLOCK)
        fcntl.ioctl(self.file, self.SET_EVENT, self.SWITCH)
        for switch in (self.TABLET, self.PROXIMITY):
            fcntl.ioctl(self.file, self.SET_SWITCH, switch)
        # A name, a bus with numbers, and no absolute axes.
        os.write(self.file, struct.pack("80sHHHHI", b"switches", 0x06, 1, 1, 1, 0) + bytes(4 * 64 * 4))
        fcntl.ioctl(self.file, self.CREATE)
        need("udevadm", "settle")

    def turn(self, switch, isOn):
        for kind, code, value in ((self.SWITCH, switch, int(isOn)), (self.SYNCHRONIZE, 0, 0)):
            os.write(self.file, self.EVENT.pack(0, 0, kind, code, value))

    def end(self):
        os.close(self.file)
        need("udevadm", "settle")


@test
def switches_of_posture_and_proximity_are_read_by_the_service():
    switches = Switches()
    try:
        started(OBSERVED + """
[hinge.laptop]
switch = true

[proximity.ear]
""")
        follower = Follower()
        for isOn, posture, near in ((True, "tablet", "near"), (False, "laptop", "far"), (True, "tablet", "near")):
            postures, proximities = len(follower.events("hinge.changed")), len(follower.events("proximity.changed"))
            switches.turn(switches.TABLET, isOn)
            switches.turn(switches.PROXIMITY, isOn)
            wait_for(f"the posture {posture}", lambda: any(
                event["posture"] == posture for _, event in follower.events("hinge.changed")[postures:]))
            wait_for(f"what is {near}", lambda: any(
                event["proximity"] == near for _, event in follower.events("proximity.changed")[proximities:]))
    finally:
        switches.end()
