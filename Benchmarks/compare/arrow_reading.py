"""Arrow: who opens a recording, and what is found in it by the squared acceleration."""

import os
import statistics

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc

import contest
import recording

LIMIT = 121.0


def with_pyarrow(path):
    """Batch by batch, nothing copied: the squares, and how many are above the limit."""
    rows = 0
    with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            x, y, z = (batch.column(name) for name in "xyz")
            squares = pc.add(pc.add(pc.multiply(x, x), pc.multiply(y, y)), pc.multiply(z, z))
            pc.sum(pc.greater(squares, pa.scalar(LIMIT, pa.float32())))
            rows += batch.num_rows
    return rows


def with_numpy(path):
    """The same with numpy on the mapped columns."""
    rows = 0
    with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            x, y, z = (batch.column(name).to_numpy() for name in "xyz")
            np.count_nonzero(x * x + y * y + z * z > LIMIT)
            rows += batch.num_rows
    return rows


def with_polars(path):
    x, y, z = (polars.col(name) for name in "xyz")
    frame = polars.read_ipc_stream(path, columns=["t", "x", "y", "z"])
    frame.select((x * x + y * y + z * z > LIMIT).sum())
    return frame.height


def with_polars_mapped(path):
    """pyarrow maps the file, polars takes the columns as they lie there."""
    x, y, z = (polars.col(name) for name in "xyz")
    with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
        frame = polars.from_arrow(reader.read_all().select(["t", "x", "y", "z"]), rechunk=False)
    frame.select((x * x + y * y + z * z > LIMIT).sum())
    return frame.height


def run(ours, folder, rows, passes):
    path = f"{folder}/compare.arrows"
    recording.write(path, rows)
    base = duckdb.connect(config={"threads": 1})

    def with_duckdb():
        with pa.memory_map(path) as source, pa.ipc.open_stream(source) as stream:
            query = f"select count(*), count(*) filter (where x*x + y*y + z*z > {LIMIT}) from stream"
            return base.execute(query).fetchone()[0]

    contenders = {
        "binnacle, to the last event": ours.play(path, "threshold"),
        "binnacle, with gravity filter": ours.play(path, "gravity"),
        "pyarrow, squares above a limit": contest.timed(lambda: with_pyarrow(path)),
        "pyarrow + numpy, squares above a limit": contest.timed(lambda: with_numpy(path)),
        "polars, squares above a limit": contest.timed(lambda: with_polars(path)),
        "polars over pyarrow, squares above a limit": contest.timed(lambda: with_polars_mapped(path)),
        "duckdb, squares above a limit": contest.timed(with_duckdb),
    }
    times = contest.measure(contenders, passes)
    size = os.path.getsize(path)
    table = []
    for row, values in zip(contest.rows(times, rows, 1), times.values()):
        table.append([row[0], f"{size / statistics.median(values):.2f}"] + row[1:])
    os.unlink(path)
    yield f"Arrow, {rows / 1e6:g} million rows, {size / 1e6:.0f} MB", ["", "GB/s", "ns a row", "spread", "× binnacle"], table
