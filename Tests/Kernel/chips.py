"""The kernel's drivers of real chips, over registers that i2c-stub holds, with a timer as trigger."""

import glob
import os

from harness import Failed, UNIT, expect, messages, need, note, now, run, started, test, wait_for
from played import BINNACLE, IIO, OBSERVED, Follower, last_number, put, read, stored, stream

# By chip: the address, and the registers that its driver wants, by the chips' data sheets.
CHIPS = {
    # Who it is (0x0f); the driver sets bit 7 of an address to read several bytes. 12 bits in the upper part of 16:
    # 100, -100 and 1024 counts.
    "lis3dh": (0x19, {0x0F: 0x33, 0x8F: 0x33, 0xA8: 0x40, 0xA9: 0x06, 0xAA: 0xC0, 0xAB: 0xF9, 0xAC: 0x00, 0xAD: 0x40}),
    # Who it is (0x00), data ready (0x02), three axes of 16 bits from 0x03 on, sensitivity in fuses (0x10).
    "ak8975": (0x0C, {0x00: 0x48, 0x02: 0x01, 0x03: 0x2C, 0x04: 0x01, 0x05: 0x00, 0x06: 0x00, 0x07: 0xD4, 0x08: 0xFE,
                      0x10: 0x80, 0x11: 0x80, 0x12: 0x80}),
    # Who it is (0x00).
    "bmi160": (0x69, {0x00: 0xD1, 0x12: 0x00, 0x13: 0x00, 0x14: 0x00, 0x15: 0x00, 0x16: 0x00, 0x17: 0x40}),
    "kxcj91008": (0x0F, {0x0F: 0x08, 0x06: 0x00, 0x07: 0x00, 0x08: 0x00, 0x09: 0x00, 0x0A: 0x00, 0x0B: 0x40}),
}


def bus():
    if not os.path.isdir("/sys/module/i2c_stub"):
        need("modprobe", "i2c-stub", "chip_addr=" + ",".join(hex(address) for address, _ in CHIPS.values()))
    for name in glob.glob("/sys/bus/i2c/devices/i2c-*/name"):
        if "SMBus stub" in read(name):
            return int(name.split("/")[5].split("-")[1])
    raise Failed("i2c-stub has made no bus")


def attach(chip):
    """Lets the driver of a chip find it; the device's folder."""
    number, (address, registers) = bus(), CHIPS[chip]
    place = f"/sys/bus/i2c/devices/{number}-{address:04x}"
    if not os.path.isdir(place):
        for register, value in registers.items():
            need("i2cset", "-y", str(number), hex(address), hex(register), hex(value), "b")
        put(f"{chip} {address:#x}", f"/sys/bus/i2c/devices/i2c-{number}/new_device")
    found = wait_for(f"the driver of {chip}", lambda: glob.glob(f"{place}/iio:device*"))[0]
    need("udevadm", "settle")
    return f"{IIO}/{os.path.basename(found)}"


def detach(chip):
    number = bus()
    put(f"{CHIPS[chip][0]:#x}", f"/sys/bus/i2c/devices/i2c-{number}/delete_device")


def configuration(chip, kind="accelerometer"):
    text = OBSERVED + f"""
[sensor.box]
source = "iio"
match = {{ name = "{chip}" }}
rate_hz = 100
"""
    if kind == "accelerometer":
        return text + '[motion.moved]\naccelerometer = "box"\n'
    return text + """
[sensor.up]
source = "simulated"
model = "still"

[north.bow]
accelerometer = "up"
magnetometer = "box"
"""


def run_chip(chip, kind="accelerometer"):
    folder = attach(chip)
    need("systemctl", "start", "binnacle-trigger")
    need("udevadm", "settle")
    place = now()
    started(configuration(chip, kind))
    try:
        found = wait_for("samples", lambda: (one := stream())["samples"] > 300 and one)
    except Failed as failure:
        raise Failed(f"{failure}: {run(BINNACLE, 'devices')[1]}") from None
    trigger = read(folder, "trigger/current_trigger")
    timer = next((place for place in glob.glob(f"{IIO}/trigger*") if read(place, "name") == trigger), None)
    found["timer_hz"] = timer and float(read(timer, "sampling_frequency"))
    said = [text.split("box: ")[1] for text in messages(place, "-u", UNIT) if "box: " in text]
    note(f"{chip}: {found['rate_hz']} Hz by the timer '{trigger}' of {found['timer_hz']} Hz, {found['samples']} samples, "
         f"{found['lost_samples']} lost; it says: {'; '.join(said) or 'nothing'}")
    expect(trigger.startswith("binnacle"), f"its trigger is '{trigger}'")
    need("systemctl", "stop", UNIT)
    return said, found


@test
def chip_lis3dh_is_read_through_its_buffer():
    _, found = run_chip("lis3dh")
    # What comes of it depends on how much of the machine the guest gets.
    expect(found["timer_hz"] == 100, found)
    detach("lis3dh")


@test
def chip_ak8975_is_read_through_its_buffer():
    _, found = run_chip("ak8975", "magnetometer")
    expect(found["kind"] == "magnetometer", found)
    detach("ak8975")


@test
def chip_bmi160_whose_scale_cannot_be_read_is_named():
    attach("bmi160")
    before = last_number()
    started(configuration("bmi160") + '[sensor.other]\nsource = "simulated"\n[motion.other]\naccelerometer = "other"\n')
    follower = Follower()
    said = wait_for("a word about it", lambda: [
        event["reason"] for event in stored("sensor.inactive") if event["seq"] > before])
    note(f"it says: {said[0]}")
    expect("in_accel_scale" in said[0] and "Invalid argument" in said[0], said)
    follower.next(1, "motion.began")
    need("systemctl", "stop", UNIT)
    detach("bmi160")


@test
def chip_kxcj91008_without_stamps_is_read():
    said, _ = run_chip("kxcj91008")
    expect(any("timestamps of 0" in text for text in said), said)
    detach("kxcj91008")
