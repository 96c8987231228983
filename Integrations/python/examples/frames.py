"""Stored events and live samples as pandas data frames: frames.py [SECONDS [SOCKET]]"""

import sys

import binnacle
import pandas

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
path = sys.argv[2] if len(sys.argv) > 2 else None

# Every event that the daemon has stored: a row each, with a column for each figure.
rows = [
    {"wall_time": event.wall_time, "kind": event.kind, "sensor": event.sensor, **event.figures}
    for event in binnacle.events(after=0, follow=False, path=path)
    if isinstance(event, binnacle.Event)
]
events = pandas.DataFrame(rows, columns=None if rows else ["wall_time", "kind", "sensor"])
events["wall_time"] = pandas.to_datetime(events["wall_time"])
print(events.groupby(["sensor", "kind"], dropna=False).size().to_string())

# Samples, with their wall-clock time as the index: a table of all sensors, from which resample makes one of their means.
frames = []
first = None
with binnacle.samples(interval_s=0.1, path=path) as batches:
    for batch in batches:
        index = pandas.to_datetime(binnacle.wall_time_ns(0) + pandas.Series(batch.time_ns), utc=True)
        frame = pandas.DataFrame({"x": batch.x, "y": batch.y, "z": batch.z}).set_index(pandas.DatetimeIndex(index))
        frames.append(frame.assign(sensor=batch.sensor, kind=batch.kind))
        first = batch.time_ns[0] if first is None else first
        if batch.time_ns[-1] - first >= seconds * 1e9:
            break
samples = pandas.concat(frames)
means = samples.groupby(["sensor", "kind"]).resample("500ms")[["x", "y", "z"]].mean()
print(means.round(3).to_string())
