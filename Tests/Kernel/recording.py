"""A recording, played for the kernel, has to give what its file gives."""

import csv
import glob
import json
import os
import select
import struct
import threading

from harness import expect, need, note, run, started, test, wait_for
from played import BINNACLE, OBSERVED, Follower, Play, middle

RECORDING = "/project/Tests/Fixtures/broad/broad05_rotation_breaks.csv"
# The accelerations alone, as the input layer has them.
ROUNDED = "/tmp/rounded.csv"
GRAVITY = 9.80665
COUNTS_PER_G = 1000
# The recording has 71.4 samples a second.
INTERVAL_NS = 14_000_000
CONFIGURATION = OBSERVED + """
[sensor.chassis]
source = "iio"
match = { name = "accel_3d" }

[sensor.compass]
source = "iio"
match = { name = "magn_3d" }

[sensor.input]
source = "evdev"
match = { name = "Binnacle accelerometer" }

[motion.hub]
accelerometer = "chassis"

[motion.input]
accelerometer = "input"

[north.hub-north]
accelerometer = "chassis"
magnetometer = "compass"
heading_filter_deg = 0
"""
AXES = ("ax", "ay", "az")
MOTIONS = ("motion.began", "motion.ended")
# What linux/input.h has: the sizes of an event on a machine of 64 bits, and the codes of its types.
INPUT_EVENT = struct.Struct("qqHHi")
EV_SYN, EV_ABS, EV_MSC = 0, 3, 4
SYN_REPORT, SYN_DROPPED = 0, 3


class Frames(threading.Thread):
    """Reads an input device beside the service, as anybody may. The kernel keeps a dozen frames for a reader that is late."""

    def __init__(self, node):
        super().__init__()
        self.frames = []
        self.isOver = threading.Event()
        self.file = os.open(node, os.O_RDONLY | os.O_NONBLOCK)

    def run(self):
        axes, stamp, isWhole = [None, None, None], 0, True
        while not self.isOver.is_set():
            if not select.select([self.file], [], [], 0.2)[0]:
                continue
            try:
                data = os.read(self.file, 64 * INPUT_EVENT.size)
            except OSError:
                break
            for _, _, kind, code, value in INPUT_EVENT.iter_unpack(data):
                if kind == EV_ABS and code < 3:
                    axes[code] = value
                elif kind == EV_MSC:
                    stamp = value
                elif kind == EV_SYN and code == SYN_DROPPED:
                    # What follows is the rest of a frame, and of an axis only what changes.
                    axes, isWhole = [None, None, None], False
                elif kind == EV_SYN and code == SYN_REPORT:
                    if not isWhole:
                        axes, isWhole = [None, None, None], True
                    elif None not in axes:
                        self.frames.append((stamp, tuple(axes)))

    def end(self):
        self.isOver.set()
        self.join()
        os.close(self.file)


def input_node():
    for name in glob.glob("/sys/class/input/event*/device/name"):
        with open(name) as file:
            if file.read().strip() == "Binnacle accelerometer":
                return "/dev/input/" + name.split("/")[4]
    return None


def replayed():
    """The events that the file gives with the same configuration."""
    with open(RECORDING) as table, open(ROUNDED, "w") as rounded:
        print("t_s,ax,ay,az", file=rounded)
        for row in csv.DictReader(table):
            values = (round(float(row[axis]) / GRAVITY * COUNTS_PER_G) / COUNTS_PER_G * GRAVITY for axis in AXES)
            print(row["t_s"], *values, sep=",", file=rounded)
    said = need(
        "sh", "-c", f"{BINNACLE} replay --json --config /etc/binnacle/binnacle.toml "
        f"--bind chassis={RECORDING}:accelerometer --bind compass={RECORDING}:magnetometer "
        f"--bind input={ROUNDED}:accelerometer 2>/dev/null")
    return [json.loads(line) for line in said.splitlines()]


def of(events, detector, *kinds):
    return [event for event in events if event["detector"] == detector and event["kind"] in kinds]


def worst_distance(live, file):
    """How far the times of two lists of events lie apart at most, and what is to be added to the file's times."""
    distances = [one["time_ns"] - other["time_ns"] for one, other in zip(live, file)]
    shift = middle(distances)
    return max(abs(distance - shift) for distance in distances), shift


def compare_motions(detector, live, file):
    """That the motions are the same, and begin and end at the same samples; returns what to add to the file's times."""
    live, exact, file = (of(live, detector, *MOTIONS), of(file, "hub", *MOTIONS), of(file, detector, *MOTIONS))
    expect([event["kind"] for event in live] == [event["kind"] for event in file],
           f"{detector}: {[event['kind'] for event in live]} instead of {[event['kind'] for event in file]}")
    worst, shift = worst_distance(live, file)
    note(f"{detector}: {len(live)} motion events as in the replay of what it is given, times at most {worst / 1e6:.2f} ms "
         f"apart, and {worst_distance(live, exact)[0] / 1e6:.2f} ms from those of the recording")
    expect(worst <= INTERVAL_NS, f"{detector}: times {worst / 1e6:.2f} ms apart")
    return shift


def labels():
    """For each sample of the recording, by its millisecond: whether it is labelled as moving, or lies close to one that is.

    Whoever takes a device up moves it before a label says so. The first second counts as moving, too: what the smoothing
    begins with is whichever sample came first.
    """
    with open(RECORDING) as table:
        moving = {round(float(row["t_s"]) * 1000): row["moving"] == "1" for row in csv.DictReader(table)}
    times = sorted(moving)
    edges = [time for time, last in zip(times[1:], times) if moving[time] != moving[last]]
    return {time: time < 1000 or moving[time] or any(abs(time - edge) < 500 for edge in edges) for time in times}


def compare_headings(live, file, shift):
    moving = labels()
    headings = {event["time_ns"] // 1_000_000: event["heading_deg"] for event in of(file, "hub-north", "heading")}
    differences = []
    for event in of(live, "hub-north", "heading"):
        at = (event["time_ns"] - shift + 500_000) // 1_000_000
        # The recording's samples are at whole milliseconds, at least 14 apart.
        time = min(range(at - 7, at + 8), key=lambda one: (one not in moving, abs(one - at)))
        if not moving.get(time, True) and time in headings:
            differences.append((abs((event["heading_deg"] - headings[time] + 180) % 360 - 180), time))
    rest = sum(1 for time in headings if not moving.get(time, True))
    # Two devices speak one after the other: whichever acceleration comes before the field of the same moment is paired with
    # the field before it, which a file does not do. At rest the difference is the field's noise.
    worst, when = max(differences)
    near = sum(1 for difference, _ in differences if difference <= 1) / len(differences)
    note(f"headings at rest: {len(differences)} of the replay's {rest}, median {middle(differences)[0]:.2f}° off, "
         f"{near:.2%} within 1°, at most {worst:.2f}° (at {when / 1000} s)")
    expect(len(differences) >= 0.98 * rest, f"{len(differences)} headings at rest instead of {rest}")
    expect(near >= 0.99 and worst <= 3, f"{near:.2%} within 1°, {worst:.2f}° off")


def compare_frames(frames):
    """That each frame is the recording's nearest count."""
    with open(RECORDING) as table:
        rows = list(csv.DictReader(table))
    first = float(rows[0]["t_s"])
    # A frame has the time since the first, in microseconds.
    rows = {round((float(row["t_s"]) - first) * 1000): [float(row[axis]) for axis in AXES] for row in rows}
    # Those before the device was opened are missing, those for which this reader was late, and of the first ones the axes that did not change.
    expect(len(frames) > 0.95 * len(rows), f"{len(frames)} frames of {len(rows)}")
    worst = max(abs(count - value / GRAVITY * COUNTS_PER_G) for stamp, counts in frames
                for count, value in zip(counts, rows[round(stamp / 1000)]))
    note(f"input layer: {len(frames)} frames, counts of 0.001 g, at most {worst:.2f} of a count from the recording")
    expect(worst <= 0.51, f"a frame is {worst} counts from the recording")


@test
def recording_gives_the_same_events_as_its_replay():
    started(CONFIGURATION)
    follower = Follower()
    hub = Play("--trace", RECORDING, "--wait")
    box = Play("--trace", RECORDING, "--as", "evdev")
    frames = Frames(wait_for("the input device", input_node))
    frames.start()
    for play in (hub, box):
        play.wait_for("the traces have ended", seconds=400)
    run("sleep", "2")
    frames.end()
    live, file = [event for _, event in follower.events()], replayed()
    with open("/out/recording.events", "w") as kept:
        kept.write(follower.text())
    shift = compare_motions("hub", live, file)
    compare_headings(live, file, shift)
    compare_motions("input", live, file)
    compare_frames(frames.frames)
    # What comes after the end is silence, and told as such; a silence before it would leave a gap, too.
    lost = [event for event in live if event["kind"] == "gap" or event.get("cause") not in (None, "stall")]
    expect(not lost, f"lost: {lost}")
