"""K1: crossings of a threshold with hysteresis on |a|², in main memory."""

import numpy as np

import contest
from hysteresis import crossings

HIGH, LOW = 144.0, 121.0
BLOCK = 65_536  # the fastest of those that were tried: what is computed from it stays in the caches


def make(count, rate, path):
    """Writes columns x, y, z whose side changes at a share of the samples."""
    random = np.random.default_rng(1)
    with open(path, "wb") as file:
        for axis in range(2):
            random.random(count, dtype=np.float32).tofile(file)
        side = np.cumsum(random.random(count, dtype=np.float32) < rate, dtype=np.uint32) & 1
        z = 9.8 + 3.2 * side.astype(np.float32) + 0.2 * random.random(count, dtype=np.float32)
        z.astype(np.float32).tofile(file)


def whole(x, y, z):
    """All at once, as one writes it first."""
    found = []
    crossings(x * x + y * y + z * z, HIGH, LOW, False, 0, found)
    return sum(map(len, found))


def blocks(x, y, z):
    """Block by block, with room that is used again: the best that numpy does here."""
    m, s = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    found, inside = [], False
    for base in range(0, len(x), BLOCK):
        end = min(base + BLOCK, len(x))
        a, b = m[: end - base], s[: end - base]
        np.multiply(x[base:end], x[base:end], out=a)
        np.multiply(y[base:end], y[base:end], out=b)
        np.add(a, b, out=a)
        np.multiply(z[base:end], z[base:end], out=b)
        np.add(a, b, out=a)
        inside = crossings(a, HIGH, LOW, inside, base, found)
    return sum(map(len, found))


def run(ours, folder, count, passes):
    """Yields (title, head, rows) for each rate of events."""
    for rate in (0.0001, 0.01, 0.5):
        path = f"{folder}/threshold.f32"
        make(count, rate, path)
        ours.ask("load", path, 3, count)
        x, y, z = (np.fromfile(path, np.float32, count, offset=4 * count * axis) for axis in range(3))
        contenders = {
            "binnacle": lambda: ours.ask("threshold", "best", HIGH, LOW),
            "binnacle, Swift baseline": lambda: ours.ask("threshold", "baseline", HIGH, LOW),
            "binnacle, scalar Swift": lambda: ours.ask("threshold", "scalar", HIGH, LOW),
            "numpy, in blocks": contest.timed(lambda: blocks(x, y, z)),
            "numpy, whole columns": contest.timed(lambda: whole(x, y, z)),
        }
        times = contest.measure(contenders, passes)
        title = f"threshold with hysteresis on |a|², {count / 1e6:.0f} million samples, {rate * 100:g} % events"
        yield title, ["", "ns a sample", "spread", "× binnacle"], list(contest.rows(times, count))
