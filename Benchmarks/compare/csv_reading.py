"""CSV: reading alone by others, and binnacle from the opening of the file to the last event."""

import os
import statistics

import duckdb
import pandas
import polars
import pyarrow as pa
import pyarrow.csv

import contest


def make(path, rows):
    """Writes four columns t, x, y, z: a quiet device at 100 Hz that is pushed for a second every hour."""
    import numpy as np

    random = np.random.default_rng(1)
    with open(path, "w") as file:
        file.write("t_s,ax_m_s2,ay_m_s2,az_m_s2\n")
        for base in range(0, rows, 1_000_000):
            count = min(1_000_000, rows - base)
            index = np.arange(base, base + count)
            push = np.where(index % 360_000 >= 359_900, 3 * np.sin(index / 5), 0)
            frame = polars.DataFrame(
                {
                    "t": index / 100,
                    "x": random.uniform(-0.05, 0.05, count) + push,
                    "y": random.uniform(-0.05, 0.05, count),
                    "z": random.uniform(-0.05, 0.05, count) + 9.81,
                }
            )
            # Times with three decimals, axes with six, as loggers write them.
            frame = frame.with_columns(polars.col("t").round(3), polars.col("x", "y", "z").round(6))
            file.write(frame.write_csv(include_header=False))


def run(ours, folder, rows, passes):
    path = f"{folder}/compare.csv"
    make(path, rows)
    names = ["t_s", "ax_m_s2", "ay_m_s2", "az_m_s2"]
    types = {"t_s": "float64"} | {name: "float32" for name in names[1:]}
    schema = {"t_s": polars.Float64} | {name: polars.Float32 for name in names[1:]}
    arrow_types = pa.csv.ConvertOptions(
        column_types={"t_s": pa.float64()} | {name: pa.float32() for name in names[1:]}
    )
    base = duckdb.connect(config={} if contest.takes_all_processors else {"threads": 1})
    query = (
        f"select * from read_csv('{path}', header=true, delim=',', auto_detect=false, "
        "columns={'t_s': 'DOUBLE', 'ax_m_s2': 'FLOAT', 'ay_m_s2': 'FLOAT', 'az_m_s2': 'FLOAT'})"
    )

    contenders = {
        "binnacle, to the last event": ours.play(path, "threshold"),
        "binnacle, with gravity filter": ours.play(path, "gravity"),
        # Each is told the types, so that nothing has to be guessed, and gives columns in memory, nothing else.
        "polars, reading alone": contest.timed(
            lambda: polars.read_csv(path, schema=schema, quote_char=None).height
        ),
        "pandas, reading alone": contest.timed(lambda: len(pandas.read_csv(path, dtype=types, engine="c"))),
        "duckdb, reading alone": contest.timed(lambda: base.sql(query).to_arrow_table().num_rows),
        "pyarrow, reading alone": contest.timed(
            lambda: pa.csv.read_csv(
                path,
                read_options=pa.csv.ReadOptions(use_threads=contest.takes_all_processors),
                convert_options=arrow_types,
            ).num_rows
        ),
    }
    times = contest.measure(contenders, passes)
    size = os.path.getsize(path)
    title = f"CSV, {rows / 1e6:g} million rows, {size / 1e6:.0f} MB"
    table = []
    for row, values in zip(contest.rows(times, rows, 1), times.values()):
        table.append([row[0], f"{size / statistics.median(values) * 1e3:.0f}"] + row[1:])
    os.unlink(path)
    yield title, ["", "MB/s", "ns a row", "spread", "× binnacle"], table
