"""Crossings of a threshold with hysteresis, as far as numpy's vectors go."""

import numpy as np


def crossings(m, high, low, inside, base, found):
    """Appends the crossings in a block of values to `found`, and returns the side after it.

    Values that decide (above high, or below low) are picked out; where one decides other than the one before it, the side
    changes. Values in the band, and NaN, decide nothing.
    """
    above = m > high
    below = m < low
    if not (below if inside else above).any():  # nothing here can change the side
        return inside
    decided = above | below
    if decided.all():
        changes = np.flatnonzero(above[1:] != above[:-1]) + 1
        first, start, last = bool(above[0]), 0, bool(above[-1])
    else:
        places = np.flatnonzero(decided)
        sides = above[places]
        changes = places[1:][sides[1:] != sides[:-1]]
        first, start, last = bool(sides[0]), places[0], bool(sides[-1])
    if first != inside:
        changes = np.concatenate(([start], changes))
    found.append(changes + base)
    return last
