"""Twelve sensors at once."""

from harness import expect, need, note, started, test, wait_for
from chips import attach, detach
from played import OBSERVED, Play, await_device, status, stored


@test
def twelve_sensors_at_once():
    for number in range(4):
        Play("--model", "walk", "--name", f"hub {number}")
    for number in range(2):
        Play("--model", "walk", "--as", "evdev", "--name", f"input {number}")
    attach("lis3dh")
    attach("kxcj91008")
    need("systemctl", "start", "binnacle-trigger")
    await_device("accel_3d", 4)
    await_device("magn_3d", 4)
    text = OBSERVED
    for number in range(4):
        text += f'[sensor.a{number}]\nsource = "iio"\nmatch = {{ name = "accel_3d" }}\n'
        text += f'[sensor.m{number}]\nsource = "iio"\nmatch = {{ name = "magn_3d" }}\n'
        text += f'[motion.a{number}]\naccelerometer = "a{number}"\n'
        text += f'[north.n{number}]\naccelerometer = "a{number}"\nmagnetometer = "m{number}"\n'
    for number in range(2):
        text += f'[sensor.e{number}]\nsource = "evdev"\nmatch = {{ name = "input {number}" }}\n'
        text += f'[motion.e{number}]\naccelerometer = "e{number}"\n'
    for chip in ("lis3dh", "kxcj91008"):
        text += f'[sensor.{chip}]\nsource = "iio"\nmatch = {{ name = "{chip}" }}\n[motion.{chip}]\naccelerometer = "{chip}"\n'
    started(text)
    wait_for("twelve active sensors", lambda: all(
        sensor["active"] and all(stream["samples"] > 100 for stream in sensor["streams"])
        for sensor in status()["sensors"]))
    # Those that move all the time have begun once, which may have been long ago.
    wait_for("six motions", lambda: {event["detector"] for event in stored("motion.began")} >= {
        f"a{number}" for number in range(4)} | {"e0", "e1"})
    sensors = status()["sensors"]
    expect(len(sensors) == 12, [sensor["name"] for sensor in sensors])
    note("; ".join(f"{sensor['name']} {sensor['streams'][0]['rate_hz']} Hz" for sensor in sensors))
    for chip in ("lis3dh", "kxcj91008"):
        need("systemctl", "stop", "binnacle")
        detach(chip)
