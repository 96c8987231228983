"""K3: an axis that turns to the north and away from it, from acceleration and field, in main memory."""

import numpy as np

import contest
from hysteresis import crossings

TOLERANCE, EXIT = 10.0, 15.0
BLOCK = 16_384  # the fastest of those that were tried


def make(count, rate, path):
    """Writes columns ax ay az mx my mz of a nearly flat device that points to the north, or to the south."""
    random = np.random.default_rng(2)
    side = np.cumsum(random.random(count, dtype=np.float32) < rate, dtype=np.uint32) & 1
    noise = random.random(count, dtype=np.float32) * 2 - 1
    heading = np.where(side, 0.09 * noise, np.pi + 0.35 * noise).astype(np.float32)
    with open(path, "wb") as file:
        for _ in range(2):
            (0.6 * random.random(count, dtype=np.float32) - 0.3).astype(np.float32).tofile(file)
        for column in (np.full(count, 9.8), -20 * np.sin(heading), 20 * np.cos(heading), np.full(count, -40)):
            column.astype(np.float32).tofile(file)


def headings(ax, ay, az, mx, my, mz):
    """How far the y axis points away from the north, in degrees below zero: −180 to 0."""
    square = ax * ax + ay * ay + az * az
    along = ax * mx + ay * my + az * mz
    north = my * square - ay * along
    east = (mz * ax - mx * az) * np.sqrt(square)
    return -np.abs(np.arctan2(east, north)) * np.float32(180 / np.pi)


def whole(columns):
    found = []
    crossings(headings(*columns), -TOLERANCE, -EXIT, False, 0, found)
    return sum(map(len, found))


def blocks(columns):
    found, inside = [], False
    for base in range(0, len(columns[0]), BLOCK):
        angles = headings(*(column[base : base + BLOCK] for column in columns))
        inside = crossings(angles, -TOLERANCE, -EXIT, inside, base, found)
    return sum(map(len, found))


def run(ours, folder, count, passes):
    rate = 0.01
    path = f"{folder}/facing.f32"
    make(count, rate, path)
    ours.ask("load", path, 6, count)
    columns = [np.fromfile(path, np.float32, count, offset=4 * count * number) for number in range(6)]
    contenders = {
        "binnacle": lambda: ours.ask("facing", "best", TOLERANCE, EXIT),
        "binnacle, Swift baseline": lambda: ours.ask("facing", "baseline", TOLERANCE, EXIT),
        "numpy, arctan2, in blocks": contest.timed(lambda: blocks(columns)),
        "numpy, arctan2, whole columns": contest.timed(lambda: whole(columns)),
    }
    times = contest.measure(contenders, passes)
    title = f"facing a bearing within {TOLERANCE:g}°, {count / 1e6:.0f} million samples, {rate * 100:g} % events"
    yield title, ["", "ns a sample", "spread", "× binnacle"], list(contest.rows(times, count))
