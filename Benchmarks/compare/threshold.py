"""K1: crossings of a threshold with hysteresis on |a|², in main memory."""

import numpy as np

import contest

HIGH, LOW = 144.0, 121.0
BLOCK = 16_384  # three columns and what is computed from them stay in the second cache


def make(count, rate, path):
    """Writes columns x, y, z whose side changes at a share of the samples."""
    random = np.random.default_rng(1)
    with open(path, "wb") as file:
        for axis in range(2):
            random.random(count, dtype=np.float32).tofile(file)
        side = np.cumsum(random.random(count, dtype=np.float32) < rate, dtype=np.uint32) & 1
        z = 9.8 + 3.2 * side.astype(np.float32) + 0.2 * random.random(count, dtype=np.float32)
        z.astype(np.float32).tofile(file)


def crossings(m, inside, base, found):
    """The crossings in a block whose squares are known; the exact vectorised form.

    Samples that decide (above high, or below low) are picked out; where one decides other than the one before it, the side
    changes. Samples in the band decide nothing.
    """
    above = m > HIGH
    below = m < LOW
    if not (below if inside else above).any():  # nothing here can change the side
        return inside
    decided = above | below
    if decided.all():
        changes = np.flatnonzero(above[1:] != above[:-1]) + 1
        first = bool(above[0])
    else:
        places = np.flatnonzero(decided)
        sides = above[places]
        changes = places[1:][sides[1:] != sides[:-1]]
        first, start = bool(sides[0]), places[0]
        if first != inside:
            changes = np.concatenate(([start], changes))
        found.append(changes + base)
        return bool(sides[-1])
    if first != inside:
        changes = np.concatenate(([0], changes))
    found.append(changes + base)
    return bool(above[-1])


def whole(x, y, z):
    """All at once, as one writes it first."""
    found = []
    crossings(x * x + y * y + z * z, False, 0, found)
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
        inside = crossings(a, inside, base, found)
    return sum(map(len, found))


def run(ours, folder, count, passes):
    """Yields (title, head, rows) for each rate of events."""
    for rate in (0.0001, 0.01, 0.5):
        path = f"{folder}/threshold.f32"
        make(count, rate, path)
        ours.ask("load", path, 3, count)
        x, y, z = (np.fromfile(path, np.float32, count, offset=4 * count * axis) for axis in range(3))
        contenders = {
            "binnacle": lambda: ours.ask("threshold", "best", HIGH, LOW, 1),
            "binnacle, Swift baseline": lambda: ours.ask("threshold", "baseline", HIGH, LOW, 1),
            "binnacle, scalar Swift": lambda: ours.ask("threshold", "scalar", HIGH, LOW, 1),
            "numpy, in blocks": contest.timed(lambda: blocks(x, y, z)),
            "numpy, whole columns": contest.timed(lambda: whole(x, y, z)),
        }
        times = contest.measure(contenders, passes)
        title = f"threshold with hysteresis on |a|², {count / 1e6:.0f} million samples, {rate * 100:g} % events"
        yield title, ["", "ns a sample", "spread", "× binnacle"], list(contest.rows(times, count))
