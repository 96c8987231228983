"""Headings of three sensors at three rates, as in the replay of the same samples; and a chip with two sensors in one buffer."""

import csv
import json

from chips import CHIPS, attach, bus, detach
from harness import UNIT, expect, need, note, run, started, test, wait_for
from played import BINNACLE, OBSERVED, Follower, Play, await_device, middle, read, status
from recording import of, worst_distance

# 142.9 samples a second: at rest for 10 s, turned by hand up to the 43rd second, and at rest again.
RECORDING = "/project/Tests/Fixtures/gyroscope/broad05_rotation.csv"
SECONDS = 48
# So often the first seconds of rest are played before it, because the devices are opened one after the other: with less rest the
# service would learn another offset than the replay.
RESTS, REST_SECONDS = 3, 10
# By sensor: its columns, and how many of the recording's samples are one of its.
PARTS = {"gyroscope": (("gx", "gy", "gz"), 2), "accelerometer": (("ax", "ay", "az"), 3), "magnetometer": (("mx", "my", "mz"), 7)}
CONFIGURATION = OBSERVED + """
[sensor.chassis]
source = "iio"
match = { name = "accel_3d" }

[sensor.compass]
source = "iio"
match = { name = "magn_3d" }

[sensor.turns]
source = "iio"
match = { name = "gyro_3d" }

[motion.hub]
accelerometer = "chassis"

[north.bow]
accelerometer = "chassis"
magnetometer = "compass"
gyroscope = "turns"
heading_filter_deg = 0
"""


def make_parts():
    """A file for each sensor, at its own rate: the paths by sensor."""
    with open(RECORDING) as table:
        rows = [row for row in csv.DictReader(table) if float(row["t_s"]) < SECONDS]
    rest = [row for row in rows if float(row["t_s"]) < REST_SECONDS]
    played = [(number * REST_SECONDS + float(row["t_s"]), row) for number in range(RESTS) for row in rest]
    played += [(RESTS * REST_SECONDS + float(row["t_s"]), row) for row in rows]
    paths = {}
    for sensor, (axes, step) in PARTS.items():
        paths[sensor] = f"/tmp/part-{sensor}.csv"
        with open(paths[sensor], "w") as file:
            print("t_s", *axes, sep=",", file=file)
            for number, (time, row) in enumerate(played):
                if number % step == 0:
                    print(f"{time:.3f}", *(row[axis] for axis in axes), sep=",", file=file)
    return paths


def shift_of(live, file):
    """What is to be added to the file's times: the same motions begin and end at the same samples."""
    live, file = (of(events, "hub", "motion.began", "motion.ended") for events in (live, file))
    expect([event["kind"] for event in live] == [event["kind"] for event in file], f"{live} instead of {file}")
    worst, shift = worst_distance(live, file)
    expect(worst <= 3 * 7_000_000, f"times {worst / 1e6:.2f} ms apart")
    return shift


@test
def hub_with_three_sensors_at_three_rates_gives_the_headings_of_the_replay():
    paths = make_parts()
    started(CONFIGURATION)
    follower = Follower()
    hub = Play("--wait", *(word for path in paths.values() for word in ("--trace", path)))
    hub.wait_for("the traces have ended", seconds=400)
    last = status()["seq"]
    wait_for("the last event", lambda: max((event["seq"] for _, event in follower.events()), default=0) >= last, 200)
    live = [event for _, event in follower.events()]
    names = {"accelerometer": "chassis", "magnetometer": "compass", "gyroscope": "turns"}
    binds = " ".join(f"--bind {name}={paths[sensor]}:{sensor}" for sensor, name in names.items())
    file = [json.loads(line) for line in need(
        "sh", "-c", f"{BINNACLE} replay --json --config /etc/binnacle/binnacle.toml {binds} 2>/dev/null").splitlines()]
    shift = shift_of(live, file)
    headings = sorted((event["time_ns"], event["heading_deg"]) for event in of(file, "bow", "heading"))
    expect(of(live, "bow", "heading")[-1].get("turn_rate_dps") is not None, "the gyroscope is not used")
    # Each begins with another sample, because the devices are opened one after the other, and so with another heading and another
    # offset, which draw near at rest: the magnetometer's weight has a time constant of 9 s.
    begin = max(headings[0][0], of(live, "bow", "heading")[0]["time_ns"] - shift) + 20e9
    differences, place = [], 0
    for event in of(live, "bow", "heading"):
        time = event["time_ns"] - shift
        while place + 1 < len(headings) and abs(headings[place + 1][0] - time) <= abs(headings[place][0] - time):
            place += 1
        # Both are at a sample of the gyroscope, 14 ms from the next.
        if abs(headings[place][0] - time) < 7_000_000 and time > begin:
            differences.append((abs((event["heading_deg"] - headings[place][1] + 180) % 360 - 180), time / 1e9))
    wanted = sum(1 for time, _ in headings if time > begin)
    lost = [event for event in live if event["kind"] == "gap" or event.get("cause") not in (None, "stall")]
    expect(not lost, f"lost: {lost}")
    worst, when = max(differences)
    near = sum(1 for difference, _ in differences if difference <= 0.5) / len(differences)
    note(f"71, 48 and 20 Hz: {len(differences)} headings of the replay's {wanted}, median {middle(differences)[0]:.3f}° off, "
         f"{near:.2%} within 0.5°, at most {worst:.2f}° (at {when:.1f} s)")
    expect(len(differences) >= 0.98 * wanted, f"{len(differences)} headings instead of {wanted}")
    expect(near >= 0.99 and worst <= 2, f"{near:.2%} within 0.5°, {worst:.2f}° off")


# Ranges and rates as after a reset: ±2 g and ±2000°/s, 100 samples a second.
BMI160 = {0x40: 0x28, 0x41: 0x03, 0x42: 0x28, 0x43: 0x00}


def turn(counts):
    """The chip turns about z: 16.4 counts are a degree a second."""
    address = CHIPS["bmi160"][0]
    for register, value in ((0x10, counts & 0xFF), (0x11, counts >> 8)):
        need("i2cset", "-f", "-y", str(bus()), hex(address), hex(register), hex(value), "b")


@test
def chip_bmi160_has_two_sensors_in_one_buffer():
    address = CHIPS["bmi160"][0]
    for register, value in (BMI160 | {register: 0 for register in range(0x0C, 0x12)}).items():
        need("i2cset", "-y", str(bus()), hex(address), hex(register), hex(value), "b")
    folder = attach("bmi160")
    need("systemctl", "start", "binnacle-trigger")
    need("udevadm", "settle")
    started(OBSERVED + """
[sensor.box]
source = "iio"
match = { name = "bmi160" }
rate_hz = 100

[motion.moved]
accelerometer = "box"
detect = ["motion", "rotation"]
rotation_dps = 30
""")
    follower = Follower()

    def streams():
        found = {one["kind"]: one for sensor in status()["sensors"] for one in sensor["streams"]}
        return len(found) == 2 and min(one["samples"] for one in found.values()) > 300 and found

    found = wait_for("samples of both", streams)
    turn(int(90 * 16.4))
    began = follower.next(1, "rotation.began")[0][1]
    turn(0)
    follower.next(1, "rotation.ended")
    order = {name: read(folder, f"scan_elements/{name}_index") for name in ("in_anglvel_x", "in_accel_x", "in_timestamp")}
    note(f"bmi160: one buffer with {order}, scale {read(folder, 'in_anglvel_scale')}, "
         f"{ {kind: one['rate_hz'] for kind, one in found.items()} } Hz; a turn of 90°/s: {began}")
    expect(set(found) == {"accelerometer", "gyroscope"}, found)
    expect(abs(found["accelerometer"]["samples"] - found["gyroscope"]["samples"]) <= 1, found)
    need("systemctl", "stop", UNIT)
    detach("bmi160")
