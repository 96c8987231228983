"""Arrow streams between this project and the tools that people use.

Recordings of ours are opened by pyarrow, polars and duckdb, and every value is compared. What pyarrow writes, in all
the ways in which it may, is replayed, or refused with a sentence that says what to do.
"""

import array
import fcntl
import json
import os
import pathlib
import signal
import struct
import subprocess
import termios
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc as ipc
import pyarrow.parquet

import harness
from harness import BINARY, ROOT, need, run, wait_for

TESTS = ROOT / "Tests"
# It goes with the last reference, at the end of the check.
TEMPORARY = harness.temporary_folder()
FOLDER = pathlib.Path(TEMPORARY.name)
COLUMNS = [("sensor", pa.uint8()), ("t", pa.int64()), ("x", pa.float32()), ("y", pa.float32()), ("z", pa.float32())]


# Ours, opened by others.


def bits(values):
    """The values as patterns of bits: a NaN, or a zero with a sign, is compared as well."""
    array = np.ascontiguousarray(np.asarray(values))
    return array.view({4: np.uint32, 8: np.uint64, 1: np.uint8}[array.dtype.itemsize])


def claim_dictionary(path, number):
    """Turns a record batch into a dictionary, by its type in the message."""
    data = bytearray(path.read_bytes())
    offset = 0
    while True:
        root = offset + 8 + struct.unpack_from("<I", data, offset + 8)[0]
        vtable = root - struct.unpack_from("<i", data, root)[0]
        # A vtable ends behind the last field that is not the default.
        size = struct.unpack_from("<H", data, vtable)[0]
        kind, body = (
            root + (struct.unpack_from("<H", data, vtable + at)[0] if at < size else 0) for at in (4 + 2 * 1, 4 + 2 * 3))
        if data[kind] == 3:
            if number == 0:
                data[kind] = 2
                path.write_bytes(data)
                return
            number -= 1
        length = struct.unpack_from("<i", data, offset + 4)[0]
        offset += 8 + length + (struct.unpack_from("<q", data, body)[0] if body != root else 0)


def same(name, one, other):
    need(len(one) == len(other), name, "has", len(one), "and", len(other), "values")
    need(np.array_equal(bits(one), bits(other)), name, "differs")


def rows_of_csv(path):
    """The samples of a canonical CSV by column prefix, read without any of our code or theirs."""
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    streams = {}
    for line in lines[1:]:
        fields = line.split(",")
        for column in range(1, len(header), 3):
            if fields[column]:
                key = header[column].rsplit(".", 1)
                kind = {"a": "accelerometer", "m": "magnetometer", "g": "gyroscope"}[key[1][0]]
                sample = [int(fields[0])] + [np.float32(f) for f in fields[column:column + 3]]
                streams.setdefault((key[0], kind), []).append(sample)
    return streams


def check_ours(trace):
    arrows, csv = FOLDER / (trace.name + ".arrows"), FOLDER / (trace.name + ".csv")
    run("convert", trace, "-o", arrows)
    run("convert", trace, "-o", csv)
    with ipc.open_stream(arrows) as reader:
        schema = reader.schema
        batches = list(reader.iter_batches_with_custom_metadata())
    need(schema.names == ["sensor", "t", "x", "y", "z"], schema)
    table = pa.Table.from_batches([b.batch for b in batches])
    table.validate(full=True)
    metadata = {k.decode(): v.decode() for k, v in schema.metadata.items()}
    need(metadata["binnacle.version"] == "1", metadata)
    groups = [int(b.custom_metadata[b"binnacle.group"]) for b in batches]
    need(groups == sorted(groups), "groups fall")
    for batch in batches:
        need(len(set(batch.batch.column("sensor").to_pylist())) == 1, "a batch of several sensors")

    streams = rows_of_csv(csv)
    need(len(streams) == sum(k.endswith(".kind") for k in metadata), metadata, streams.keys())
    frame = pl.read_ipc_stream(arrows)
    with ipc.open_stream(arrows) as recording:
        lazy = duckdb.sql("select sensor, t, x, y, z from recording").fetchnumpy()
    sensors = table["sensor"].to_numpy()
    for number in range(len(streams)):
        prefix = f"binnacle.sensor.{number}."
        samples = streams[metadata[prefix + "name"], metadata[prefix + "kind"]]
        units = {"accelerometer": "m/s2", "magnetometer": "uT", "gyroscope": "rad/s"}
        need(metadata[prefix + "unit"] == units[metadata[prefix + "kind"]], metadata)
        mine = sensors == number
        for index, column in enumerate(["t", "x", "y", "z"]):
            values = np.array([s[index] for s in samples], dtype=np.int64 if index == 0 else np.float32)
            name = f"{trace.name}, sensor {number}, {column}"
            same(name + " (pyarrow)", values, table[column].to_numpy()[mine])
            same(name + " (polars)", values, frame[column].to_numpy()[mine])
            same(name + " (duckdb)", values, lazy[column][mine])

    # Back again, and the same events.
    again = FOLDER / (trace.name + ".again.csv")
    run("convert", arrows, "-o", again)
    need(again.read_bytes() == csv.read_bytes(), trace, "is another CSV after Arrow")
    events = run("replay", "--json", csv).stdout
    need(run("replay", "--json", arrows).stdout == events, trace, "has other events as Arrow")
    for batch in [1, 7, 4096]:
        need(run("replay", "--json", "--batch", batch, arrows).stdout == events, trace, "--batch", batch)


# Theirs, replayed by us.


def samples(count, seed=0):
    random = np.random.default_rng(seed)
    t = np.arange(count, dtype=np.int64) * 10_000_000 + 5
    x = (random.random(count, dtype=np.float32) - 0.5) * 0.1
    x[count // 2:count // 2 + 200] += 3
    y = (random.random(count, dtype=np.float32) - 0.5) * 0.1
    z = (random.random(count, dtype=np.float32) - 0.5) * 0.1 + np.float32(9.81)
    return {"sensor": np.zeros(count, np.uint8), "t": t, "x": x, "y": y, "z": z}


def make_table(data, fields=COLUMNS):
    return pa.table({name: pa.array(data[name], type=kind) for name, kind in fields})


def write(name, batches, schema=None, **options):
    path = FOLDER / name
    schema = schema or batches[0].schema
    with ipc.new_stream(path, schema, options=ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write(batch)
    return path


def events(path, *options):
    return run("replay", "--json", *options, path).stdout


def check_theirs():
    data = samples(20_000)
    table = make_table(data)
    csv = FOLDER / "reference.csv"
    with open(csv, "w") as file:
        file.write("time_ns,sensor0.ax_m_s2,sensor0.ay_m_s2,sensor0.az_m_s2\n")
        for t, x, y, z in zip(data["t"], data["x"], data["y"], data["z"]):
            file.write(f"{t},{float(x)!r},{float(y)!r},{float(z)!r}\n")
    wanted = events(csv)
    need('"motion.began"' in wanted and wanted.count("\n") >= 2, "the reference has no motion")

    def good(name, batches, **options):
        need(events(write(name, batches, **options)) == wanted, name, "has other events")

    good("plain.arrows", [table])
    good("version4.arrows", [table], metadata_version=ipc.MetadataVersion.V4)
    good("alignment.arrows", table.to_batches(max_chunksize=777))
    good("small.arrows", table.to_batches(max_chunksize=3))
    good("large.arrows", table.to_batches(max_chunksize=65_536))
    good("reversed.arrows", [table.select(["z", "t", "y", "sensor", "x"])])
    empty = table.slice(0, 0)
    good("empty.arrows", [empty, table.slice(0, 100), empty, empty, table.slice(100), empty])
    nullable = pa.schema([pa.field(n, k, nullable=True) for n, k in COLUMNS])
    good("nullable.arrows", [table.cast(nullable)])
    good("not-nullable.arrows", [table.cast(pa.schema([pa.field(n, k, nullable=False) for n, k in COLUMNS]))])

    # Extra columns of all kinds, before ours, among them and behind them.
    count = table.num_rows
    texts = [f"text {i} that is longer than twelve bytes" if i % 3 else None for i in range(count)]
    extras = {
        "null": pa.nulls(count),
        "bool": pa.array([i % 2 == 0 for i in range(count)]),
        "text": pa.array(texts),
        "large text": pa.array(texts, pa.large_string()),
        "binary": pa.array([b"x" * (i % 5) for i in range(count)]),
        "fixed": pa.array([b"abc"] * count, pa.binary(3)),
        "decimal": pa.array([None] * count, pa.decimal128(10, 2)),
        "stamp": pa.array(range(count), pa.timestamp("us", "UTC")),
        "day": pa.array(range(count), pa.date32()),
        "time": pa.array(range(count), pa.time64("ns")),
        "duration": pa.array(range(count), pa.duration("s")),
        "half": pa.array(np.zeros(count, np.float16)),
        "list": pa.array([[1, 2], None, []] * (count // 3) + [None] * (count % 3), pa.list_(pa.int16())),
        "large list": pa.array([["a"]] * count, pa.large_list(pa.string())),
        "fixed list": pa.array([[1, 2, 3]] * count, pa.list_(pa.float64(), 3)),
        "struct": pa.array([{"a": 1, "b": {"c": "d"}}] * count),
        "map": pa.array([[("k", 1)]] * count, pa.map_(pa.string(), pa.int32())),
        "list view": pa.array([[1]] * count, pa.list_view(pa.int8())),
        "text view": pa.array(texts, pa.string_view()),
        "binary view": pa.array([b"a longer value than twelve bytes"] * count, pa.binary_view()),
        "struct of views": pa.array([{"v": t} for t in texts], pa.struct([("v", pa.string_view())])),
        "dictionary": pa.array([str(i % 4) for i in range(count)]).dictionary_encode(),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([count], pa.int32()), pa.array([1])),
        "dense union": pa.UnionArray.from_dense(
            pa.array([0] * count, pa.int8()), pa.array(range(count), pa.int32()), [pa.array(range(count))]),
        "sparse union": pa.UnionArray.from_sparse(pa.array([0] * count, pa.int8()), [pa.array(range(count))]),
        "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * count),
    }
    for name, column in extras.items():
        good(f"before-{name}.arrows", [table.add_column(0, name, column)])
        good(f"amid-{name}.arrows", [table.add_column(3, name, column)])
    everything = table
    for name, column in extras.items():
        everything = everything.add_column(everything.num_columns // 2, name, column)
    good("everything.arrows", [everything])
    good("everything-small.arrows", everything.to_batches(max_chunksize=1000))

    # Columns that are compressed, and streams that are, also through a pipe.
    good("zstd.arrows", table.to_batches(max_chunksize=777), compression="zstd")
    good("zstd-large.arrows", [table], compression="zstd")
    # Of some columns compression makes more bytes, which are then written as they are.
    good("zstd-tiny.arrows", table.to_batches(max_chunksize=3), compression="zstd")
    good("zstd-empty.arrows", [empty, table.slice(0, 100), empty, table.slice(100)], compression="zstd")
    good("zstd-everything.arrows", everything.to_batches(max_chunksize=1000), compression="zstd")
    packed = pa.compress(write("to-pack.arrows", table.to_batches(max_chunksize=500)).read_bytes(), "zstd", asbytes=True)
    for name, content in [
        ("whole.arrows.zst", packed), ("whole.csv.zst", pa.compress(csv.read_bytes(), "zstd", asbytes=True)),
        ("both.arrows.zst", pa.compress((FOLDER / "zstd.arrows").read_bytes(), "zstd", asbytes=True)),
    ]:
        (FOLDER / name).write_bytes(content)
        need(events(FOLDER / name) == wanted, name, "has other events")
    for name in ["plain.arrows", "zstd.arrows", "whole.arrows.zst", "whole.csv.zst", "reference.csv"]:
        piped = subprocess.run(
            f"cat {FOLDER / name} | {BINARY} replay --json -", shell=True, capture_output=True, text=True, timeout=60)
        need(piped.stdout == wanted, name, "has other events through a pipe:", piped.stderr)

    # Two sensors, in batches of their own and mixed.
    other = samples(20_000, seed=1)
    other["sensor"] = np.full(20_000, 200, np.uint8)
    other["t"] = other["t"] + 3
    both = pa.concat_tables([table, make_table(other)])
    mixed = both.sort_by("t")
    config = FOLDER / "two.toml"
    config.write_text("".join(
        f'[sensor.{s}]\nsource = "trace"\nfile = "x"\n[motion.of-{s}]\naccelerometer = "{s}"\n' for s in
        ["sensor0", "sensor200"]))
    results = [
        events(write(name, batches), "--config", config) for name, batches in [
            ("one-after-the-other.arrows", [both]), ("mixed.arrows", [mixed]),
            ("mixed-small.arrows", mixed.to_batches(max_chunksize=50)),
            ("in-turn.arrows", [b for i in range(0, 20_000, 500) for b in
                                [table.slice(i, 500), make_table(other).slice(i, 500)]]),
        ]]
    need(results[0].count('"motion.began"') >= 2, results[0])
    need(len(set(results)) == 1, "two sensors have other events when they are mixed")

    # A recording of ours that went through their hands.
    ours = FOLDER / "ours.arrows"
    run("convert", csv, "-o", ours)
    good("through-pyarrow.arrows", [ipc.open_stream(ours).read_all()])
    pl.read_ipc_stream(ours).write_ipc_stream(FOLDER / "through-polars.arrows", compression="uncompressed")
    need(events(FOLDER / "through-polars.arrows") == wanted, "a recording that polars wrote again has other events")

    # What is refused.
    def bad(path, text, *options):
        result = run("replay", *options, path, status=65)
        need(text in result.stderr, path.name, "is refused with:", result.stderr)
        need(str(path) in result.stderr, "the file is not named:", result.stderr)

    bad(write("lz4.arrows", [table], compression="lz4"), "compression=None or zstd")
    # A bomb: what unpacks to more than samples can be.
    zeros = pa.compress(b"\0" * (64 << 20), "zstd", asbytes=True)
    (FOLDER / "bomb.zst").write_bytes(zeros * 20)
    bad(FOLDER / "bomb.zst", "unpacks to more than 1000 times its size")
    # An endless pipe leaves a part of the disk free.
    disk = FOLDER / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", disk], stderr=subprocess.DEVNULL).returncode:
        print("no right to mount a small disk: an endless pipe is not tested")
    else:
        try:
            endless = f"printf '\\377\\377\\377\\377'; cat /dev/zero"
            result = subprocess.run(
                ["sh", "-c", f"({endless}) | TMPDIR='{disk}' '{BINARY}' replay -"], capture_output=True, text=True, timeout=300)
            need("of that disk are kept free; name another folder in TMPDIR" in result.stderr, result.stderr)
            need(result.returncode == 74, "an endless pipe ended with", result.returncode)
        finally:
            subprocess.run(["umount", disk], check=True)
    claimed, zstd_mark = (FOLDER / "zstd-large.arrows").read_bytes(), b"\x28\xb5\x2f\xfd"
    for place in [place for place in range(len(claimed) - 4) if claimed[place:place + 4] == zstd_mark]:
        for length in [-2, 0, 1, 1 << 40, -(1 << 62), (1 << 63) - 1]:
            wrong = bytes(claimed[:place - 8]) + struct.pack("<q", length) + bytes(claimed[place:])
            (FOLDER / "claims.arrows").write_bytes(wrong)
            bad(FOLDER / "claims.arrows", "damaged" if length not in (0, 1) else "a column is damaged")
    # Damaged and cut at random: a clear end, and never a crash.
    random = np.random.default_rng(7)
    for name in ["zstd.arrows", "zstd-everything.arrows", "whole.arrows.zst", "whole.csv.zst"]:
        content = (FOLDER / name).read_bytes()
        for number in range(100):
            wrong = bytearray(content[:random.integers(1, len(content))] if number % 2 else content)
            for place in random.integers(0, len(wrong), number % 5):
                wrong[place] = random.integers(0, 256)
            (FOLDER / "wrong").write_bytes(wrong)
            result = subprocess.run([BINARY, "replay", "--json", FOLDER / "wrong"], capture_output=True, text=True,
                                    timeout=60, stdin=subprocess.DEVNULL)
            need(result.returncode in (0, 65), name, number, "ended with", result.returncode, result.stderr)
            need(result.returncode == 0 or str(FOLDER / "wrong") in result.stderr, name, number, result.stderr)
    for name, kind in COLUMNS:
        text = f"column '{name}' is float64: cast it to {'float32' if name in 'xyz' else kind}"
        fields = [(n, pa.float64() if n == name else k) for n, k in COLUMNS]
        bad(write(f"{name}-double.arrows", [make_table({k: v for k, v in data.items()}, fields)]), text)
        bad(write(f"no-{name}.arrows", [table.drop([name])]), f"has no column '{name}'")
    bad(write("stamp.arrows", [make_table(data, [(n, pa.timestamp("ns") if n == "t" else k) for n, k in COLUMNS])]),
        "column 't' is timestamp: cast it to int64")
    names = table.set_column(0, "sensor", pa.array(["a"] * count).dictionary_encode())
    bad(write("dictionary.arrows", [names]), "column 'sensor' is dictionary: cast it to uint8")
    # Damage makes a dictionary of a batch: passed over, its samples would be missed without a word.
    coded = table.add_column(0, "dictionary", extras["dictionary"]).to_batches(max_chunksize=1000)
    for number in range(3):
        path = write(f"dictionary-{number}.arrows", coded)
        claim_dictionary(path, number)
        bad(path, "damaged")
    holes = table.set_column(2, "x", pa.array([None] + list(data["x"][1:]), pa.float32()))
    bad(write("nulls.arrows", [holes]), "column 'x' has nulls")
    twice = pa.table([table[n] for n in ["sensor", "t", "x", "y", "z", "x"]], names=["sensor", "t", "x", "y", "z", "x"])
    bad(write("twice.arrows", [twice]), "has 2 columns 'x'")
    with ipc.new_file(FOLDER / "file.arrow", table.schema) as writer:
        writer.write(table)
    bad(FOLDER / "file.arrow", "new_stream")
    pyarrow.feather.write_feather(table, FOLDER / "x.feather")
    bad(FOLDER / "x.feather", "new_stream")
    pyarrow.parquet.write_table(table, FOLDER / "x.parquet")
    bad(FOLDER / "x.parquet", "Parquet")
    stream = write("whole.arrows", [table]).read_bytes()
    # Endianness is the first number of the schema that pyarrow leaves out; a big-endian one cannot be written here.
    # The message names what is cut off, and the rest is used.
    (FOLDER / "torn.arrows").write_bytes(stream[:-5000])
    torn = run("replay", FOLDER / "torn.arrows", status=65)
    need("no sample: the first batch was not written to its end" in torn.stderr, torn.stderr)
    small = write("whole-small.arrows", table.to_batches(max_chunksize=500)).read_bytes()
    (FOLDER / "torn.arrows").write_bytes(small[:-5000])
    need("1 × last batch torn" in run("replay", FOLDER / "torn.arrows").stdout, "a torn tail is not told of")


def check_constant_batch():
    """One batch of 9 million equal rows, as of a dead sensor: zstd shortens it far more than 1000 times, which is no damage."""
    rows, row = 9_000_000, {"sensor": 0, "t": 5 * 10**9, "x": 0, "y": 0, "z": np.float32(9.81)}
    batch = pa.record_batch(
        [pa.array(np.full(rows, row[name], kind.to_pandas_dtype())) for name, kind in COLUMNS], names=[name for name, _ in COLUMNS])
    for compression in ("zstd", None):
        path, converted = write(f"constant-{compression}.arrows", [batch], compression=compression), FOLDER / "constant.arrows"
        need(not compression or path.stat().st_size * 1000 < rows * 8, "the constant values are no case")
        result = run("replay", path)
        need(f"replayed {rows} samples" in result.stdout, "constant values:", result.stdout, result.stderr)
        run("convert", "--force", path, "-o", converted)
        with pa.memory_map(str(converted)) as file:
            table = ipc.open_stream(file).read_all()
            need(table.num_rows == rows, "of constant values remain", table.num_rows)
            for name in "txyz":
                need((table[name].to_numpy() == row[name]).all(), "the constant values of", name, "are others")
        path.unlink()
        converted.unlink()


# Raw scans, decoded by others.


def record_scans(path, types, scans):
    """Records a made device: a tree in a folder, with a FIFO as its node."""
    root = path.with_suffix(".tree")
    device = root / "sys/bus/iio/devices/iio:device0"
    for name, value in {"name": "imu", "in_accel_scale": "0.01", "in_magn_scale": "0.002", "sampling_frequency": "100",
                        "in_accel_offset": "3", "in_accel_mount_matrix": "0, -1, 0; 1, 0, 0; 0, 0, 1",
                        "current_timestamp_clock": "realtime", "buffer0/enable": "0", "buffer0/length": "2",
                        "buffer0/watermark": "1"}.items():
        (device / name).parent.mkdir(parents=True, exist_ok=True)
        (device / name).write_text(value + "\n")
    for index, (name, kind) in enumerate(types.items()):
        for what, value in {"en": "0", "type": kind, "index": str(index)}.items():
            (device / f"buffer0/{name}_{what}").write_text(value + "\n")
    (root / "dev").mkdir()
    os.mkfifo(root / "dev/iio:device0")
    node = os.open(root / "dev/iio:device0", os.O_RDWR | os.O_NONBLOCK)
    recorder = harness.start(BINARY, "record", "--scans", "--root", root, "-o", path, stderr=subprocess.DEVNULL)

    def unread():
        count = array.array("i", [0])
        fcntl.ioctl(node, termios.FIONREAD, count)
        return count[0]

    for start in range(0, len(scans), 50):
        os.write(node, b"".join(scans[start:start + 50]))
        wait_for("a reader of scans", lambda: unread() == 0)
    recorder.send_signal(signal.SIGINT)
    need(recorder.wait(timeout=60) == 0, "record --scans ended with", recorder.returncode)
    os.close(node)


def check_scans(name, types, format):
    """The column's bytes are those of the device, and mean x, y and z as the layout beside them says."""
    random = np.random.default_rng(5)
    start = time.monotonic_ns() - 10_000_000_000
    axes = len(types) - 1
    rows = [[*map(int, random.integers(-2000, 2000, axes)), start + i * 10_000_000] for i in range(300)]
    scans = [struct.pack(format, *row) for row in rows]
    path = FOLDER / name
    record_scans(path, types, scans)
    with ipc.open_stream(path) as reader:
        schema, batches = reader.schema, list(reader.iter_batches_with_custom_metadata())
    need(schema.field("scan") == pa.field("scan", pa.binary(), nullable=False), schema)
    need(schema.metadata[b"binnacle.clock"] == b"monotonic", schema.metadata)
    ahead = time.time_ns() - time.monotonic_ns() - int(schema.metadata[b"binnacle.wall_ahead_ns"])
    need(abs(ahead) < 60_000_000_000, "the wall clock is", ahead, "ns away")
    need(schema.metadata[b"binnacle.boot"] == pathlib.Path("/proc/sys/kernel/random/boot_id").read_bytes().strip(), schema.metadata)
    for number in range(axes // 3):
        kind = schema.metadata[f"binnacle.sensor.{number}.kind".encode()].decode()
        need(schema.metadata[f"binnacle.sensor.{number}.device".encode()].endswith(b"imu"), schema.metadata)
        mine = [b for b in batches if b.batch.column("sensor")[0].as_py() == number]
        need([s for b in mine for s in b.batch.column("scan").to_pylist()] == scans, name, kind, "has other scans")
        for batch, custom in mine:
            layout = json.loads(custom[b"binnacle.scan"])
            scaling = layout[kind]
            matrix = np.array(scaling["mount_matrix"]).reshape(3, 3)
            kept = batch.column("scan").to_pylist()
            need({len(scan) for scan in kept} == {layout["bytes"]}, layout)
            raw = {}
            for channel in layout["channels"]:
                code = {"le:s16/16>>0": "<h", "le:s32/32>>0": "<i", "le:s64/64>>0": "<q"}[channel["type"]]
                raw[channel["name"]] = [struct.unpack_from(code, scan, channel["offset"])[0] for scan in kept]
            need(raw["in_timestamp"] == batch.column("t").to_pylist(), name, kind, "has other stamps in its scans")
            prefix = {"accelerometer": "in_accel_", "magnetometer": "in_magn_"}[kind]
            values = np.array([raw[prefix + axis] for axis in "xyz"]).T
            decoded = scaling["factor"] * ((values + scaling["offset"]) * scaling["scale"]) @ matrix.T
            wanted = np.array([batch.column(axis).to_pylist() for axis in "xyz"]).T
            need(np.allclose(decoded, wanted, rtol=1e-6, atol=1e-9), name, kind, "has other samples in its scans")
    frame = pl.read_ipc_stream(path)
    need(frame.filter(pl.col("sensor") == 0)["scan"].to_list() == scans, name, "has other scans in polars")
    with ipc.open_stream(path) as recording:
        found = duckdb.sql("select scan from recording where sensor = 0").fetchall()
    need([row[0] for row in found] == scans, name, "has other scans in duckdb")
    wanted = events(path)
    need('"motion.began"' in wanted, name, "has no motion")
    need(events(path, "--decode-scans") == wanted, name, "has other events from its scans")
    # Sensors mixed in one batch, and nothing but the scans to tell where they were.
    table = pa.Table.from_batches([b.batch for b in batches]).sort_by("t").combine_chunks()
    for column in "xyz":
        index = table.schema.get_field_index(column)
        table = table.set_column(index, table.schema.field(index), pa.array(np.zeros(len(table), np.float32)))
    mixed = FOLDER / (name + ".mixed.arrows")
    with ipc.new_stream(mixed, table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch, custom_metadata={"binnacle.scan": batches[0].custom_metadata[b"binnacle.scan"]})
    need(events(mixed) != wanted and events(mixed, "--decode-scans") == wanted, name, "has other events when mixed")
    # Through their hands the layout is lost, the samples are not.
    again = write(name + ".again.arrows", [pa.Table.from_batches([b.batch for b in batches])])
    need(events(again) == wanted, name, "has other events after pyarrow")
    refused = run("replay", "--decode-scans", again, status=65)
    need("binnacle.scan" in refused.stderr, refused.stderr)


def check_raw_scans():
    def types(prefix, kind):
        return {f"{prefix}_{axis}": kind for axis in "xyz"}

    stamp = {"in_timestamp": "le:s64/64>>0"}
    check_scans("scans16.arrows", types("in_accel", "le:s16/16>>0") | stamp, "<3h2xq")
    check_scans("scans-both.arrows", types("in_accel", "le:s16/16>>0") | types("in_magn", "le:s32/32>>0") | stamp,
                "<3h2x3i4xq")


# Events as a table.


def check_event_table():
    """The rows of `--arrow` against the lines of `--json`, value by value and with their types."""
    recordings = [str(path.resolve()) for path in sorted((TESTS / "Golden").glob("*.csv"))]
    recordings += [str(FOLDER / "missing.csv")]
    configuration = FOLDER / "events.toml"
    configuration.write_text('[sensor.a]\nsource = "auto"\n[motion.a]\naccelerometer = "a"\n')

    def played(*options):
        done = subprocess.run(
            [BINARY, "replay", "--each", *options], capture_output=True, timeout=300, input="\n".join(recordings).encode())
        need(done.returncode == 0, options, "ended with", done.returncode, done.stderr)
        return done.stdout

    for options in ((), ("--config", str(configuration))):
        lines = [json.loads(line) for line in played(*options).splitlines()]
        reader = ipc.open_stream(played("--arrow", *options))
        table = reader.read_all()
        table.validate(full=True)
        rows = []
        for row in table.to_pylist():
            row["skipped"] = None if row["skipped"] is None else dict(row["skipped"])
            rows.append({key: value for key, value in row.items() if value is not None})
        wanted = [{key: value for key, value in line.items() if value is not None} for line in lines]
        need(len(rows) == len(wanted), "rows:", len(rows), "lines:", len(wanted))
        for row, line in zip(rows, wanted):
            need(row == line, "a row is", row, "for", line)
            # 1 == 1.0 in Python: a number with decimals is one in both.
            need(all(type(row[key]) is type(line[key]) for key in row if key != "skipped"), "types of", row, line)
        need(len({line["kind"] for line in lines}) > 5, "few kinds:", {line["kind"] for line in lines})
        stream = FOLDER / "events.arrows"
        stream.write_bytes(played("--arrow", *options))
        frame = pl.read_ipc_stream(stream)
        need(frame.height == len(rows) and frame["seq"].dtype == pl.Int64, "polars")
        need(frame["sensor"].cast(pl.String).to_list() == [line.get("sensor") for line in lines], "polars' sensors")
        need(pa.types.is_dictionary(table.schema.field("sensor").type), "the sensor is", table.schema.field("sensor"))
        check_frame(table.to_pandas(), lines)
        parquet = FOLDER / "events.parquet"
        pa.parquet.write_table(table, parquet)
        check_frame(pd.read_parquet(parquet), lines)
        peaks = table.select(["kind", "peak_g"])
        found = duckdb.sql("SELECT count(*) FROM peaks WHERE peak_g > 0").fetchall()[0][0]
        need(found == sum(line.get("peak_g", 0) > 0 for line in lines), "duckdb finds", found)


def check_frame(frame, lines):
    """Whole numbers are whole in pandas also where a row has none: a stamp does not fit a floating-point number."""
    for name in ("seq", "time_ns", "onset_ns", "status"):
        need(str(frame[name].dtype) == "Int64", "the type of", name, "in pandas is", frame[name].dtype)
        wanted = [line.get(name) for line in lines]
        need([None if pd.isna(value) else int(value) for value in frame[name]] == wanted, name, "in pandas")
    need(any(line.get("time_ns") is None for line in lines), "each row has a stamp")
    need(str(frame["sensor"].dtype) == "category", "sensors in pandas are", frame["sensor"].dtype)
    need([None if pd.isna(value) else value for value in frame["sensor"]] == [line.get("sensor") for line in lines], "sensors")


def check_processors():
    """Files of more than 4 MiB, which other threads read ahead: the same on each number of processors, whole or damaged."""
    rows = 400_000
    table = make_table(samples(rows))
    words = pa.array([str(row % 4) for row in range(rows)]).dictionary_encode()
    cuts = [0, 1, 70_000, 70_003, 90_000, 250_000, 250_000]

    def parts(whole):
        return [batch for begin, end in zip(cuts, cuts[1:] + [whole.num_rows]) for batch in whole.slice(begin, end - begin).to_batches()]

    other = make_table({**samples(rows, seed=1), "sensor": np.full(rows, 200, np.uint8)})
    paths = [
        write("processors.arrows", [table]), write("processors-parts.arrows", parts(table)),
        write("processors-zstd.arrows", parts(table), compression="zstd"),
        write("processors-dictionary.arrows", parts(table.append_column("word", words))),
        write("processors-in-turn.arrows", [b for pair in zip(parts(table), parts(other)) for b in pair]),
        write("processors-mixed.arrows", parts(pa.concat_tables([table, other]).sort_by("t"))),
    ]
    whole = paths[1].read_bytes()
    for share in (0.5, 0.99):
        paths.append(FOLDER / f"processors-cut-{share}.arrows")
        paths[-1].write_bytes(whole[:int(len(whole) * share)])
    paths.append(FOLDER / "processors-damaged.arrows")
    paths[-1].write_bytes(whole[:len(whole) // 2] + b"\xff" * 64 + whole[len(whole) // 2 + 64:])
    for path in paths:
        results = []
        for count in (1, len(os.sched_getaffinity(0))):
            processors = set(sorted(os.sched_getaffinity(0))[:count])
            result = subprocess.run(
                [BINARY, "replay", "--json", path], capture_output=True, timeout=300, stdin=subprocess.DEVNULL,
                preexec_fn=lambda allowed=processors: os.sched_setaffinity(0, allowed))
            # How long it took is not compared.
            told = [line for line in result.stderr.splitlines() if not line.startswith(b"replayed ")]
            results.append((result.returncode, result.stdout, told))
        need(results[0] == results[1], path.name, "is not the same on all processors:", *(told for _, _, told in results))
        need(results[0][1] or path in paths[6:], path.name, "has no events:", results[0][2])


golden = sorted((TESTS / "Golden").glob("*.csv")) + sorted((TESTS / "Golden").glob("*.evemu"))
need(len(golden) > 5, "there are no golden traces")
for trace in golden:
    check_ours(trace)
check_theirs()
check_constant_batch()
check_processors()
check_raw_scans()
check_event_table()
print(f"Arrow: {harness.needed} checks with pyarrow {pa.__version__}, polars {pl.__version__} and duckdb {duckdb.__version__}")
