"""A small fleet: recordings that are made here, what a shell loop finds in them, and events as lines again."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from binnacle_fleet import schema

BINARY = os.path.abspath(os.environ.get("BINNACLE_BINARY", "binnacle"))
IS_LONG = "BINNACLE_LONG_TESTS" in os.environ

GRAVITY = 9.80665
START_NS = 1_794_787_200 * 10**9  # 2026-11-16 00:00 UTC
COLUMNS = [("sensor", pa.uint8()), ("t", pa.int64()), ("x", pa.float32()), ("y", pa.float32()), ("z", pa.float32())]

#: How many decimals the program writes, by the figure; a whole number has none.
DECIMALS = {
    "peak_g": 4, "user_g": 4, "min_g": 4, "magnitude_g": 4, "peak_dps": 1, "duration_s": 3, "x_m_s2": 3, "y_m_s2": 3, "z_m_s2": 3,
    "heading_deg": 2, "declination_deg": 2, "accuracy_deg": 1, "age_s": 3, "off_deg": 2, "field_uT": 2,
    "expected_uT": 2, "dip_deg": 1, "turn_rate_dps": 2, "angle_deg": 1, "gap_s": 3, "retry_s": 3,
}

#: Two configurations of a detector, of which the second is less sensitive, and both in one.
ROLLED_OUT = '[sensor.device]\nsource = "auto"\n[motion.motion]\naccelerometer = "device"\nthreshold_g = 0.05\nquiet_s = 1\n'
CANDIDATE = ROLLED_OUT.replace("0.05", "0.4")
BOTH = (
    ROLLED_OUT.replace("motion.motion", "motion.rolled_out")
    + CANDIDATE.replace("motion.motion", "motion.candidate").replace('[sensor.device]\nsource = "auto"\n', ""))
#: The second one, which also looks for headings: a recording without a magnetometer fails.
HEADING = CANDIDATE + '[north.north]\naccelerometer = "device"\nmagnetometer = "device"\n'


def _metadata(kinds: list[str]) -> dict[str, str]:
    found = {"binnacle.version": "1", "binnacle.clock": "realtime"}
    for number, kind in enumerate(kinds):
        unit = {"accelerometer": "m/s2", "magnetometer": "uT"}[kind]
        for key, value in (("name", "device"), ("kind", kind), ("unit", unit), ("scale", "1")):
            found[f"binnacle.sensor.{number}.{key}"] = value
    return found


def samples(seed: int, seconds: float, rate: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A device that lies still and is shaken, lifted or dropped now and then: stamps, acceleration, field."""
    rng = np.random.default_rng(seed)
    count = int(seconds * rate)
    times = START_NS + seed % 5 * 86_400 * 10**9 + (np.arange(count) * (10**9 / rate)).astype(np.int64)
    force = rng.normal(0, 0.004 * GRAVITY * (1 + seed % 7), (count, 3)).astype(np.float32)
    force[:, 2] += GRAVITY
    for _ in range(int(rng.integers(2, 3 + max(1, int(seconds / 60))))):
        begin = int(rng.integers(0, max(1, count - 3 * rate)))
        length = min(int(rng.uniform(0.3, 4) * rate), count - begin)
        phase = np.arange(length) / rate
        strength = rng.uniform(0.05, 3) * GRAVITY
        for axis in range(3):
            wave = strength * np.sin(2 * np.pi * rng.uniform(1, 9) * phase + rng.uniform(0, 6))
            force[begin:begin + length, axis] += wave.astype(np.float32)
        if rng.random() < 0.2:
            fall = min(int(0.4 * rate), count - begin)
            force[begin:begin + fall] *= np.float32(0.02)
    heading = np.cumsum(rng.normal(0, 0.02, count) / np.sqrt(rate)) + 0.3
    field = np.stack([20 * np.cos(heading), -20 * np.sin(heading), np.full(count, -45)], 1)
    field += rng.normal(0, 0.2, (count, 3))
    return times, force, field.astype(np.float32)


def write(path: Path, times: np.ndarray, streams: list[np.ndarray], compression: str | None = None) -> None:
    """An Arrow stream of an accelerometer, and of a magnetometer where there are two streams."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = [pa.field(name, kind, nullable=False) for name, kind in COLUMNS]
    table = pa.schema(fields, metadata=_metadata(["accelerometer", "magnetometer"][:len(streams)]))
    options = pyarrow.ipc.IpcWriteOptions(compression=compression)
    with pa.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table, options=options) as writer:
        for begin in range(0, len(times), 1024):
            part = slice(begin, begin + 1024)
            for number, values in enumerate(streams):
                axes = [pa.array(np.ascontiguousarray(values[part, axis])) for axis in range(3)]
                sensor = pa.array(np.full(len(times[part]), number, np.uint8))
                writer.write_batch(pa.record_batch([sensor, pa.array(times[part]), *axes], schema=table))


def make(root: Path, devices: int, days: int, seconds: float) -> list[str]:
    """The recordings of a fleet, with the damaged ones that each fleet has; returns the names of those to be refused."""
    for device in range(devices):
        for day in range(days):
            times, force, field = samples(device * 5 + day, seconds, 1000 if device % 20 == 7 else 100)
            folder = root / f"day=2026-11-{16 + day}" / f"device=dev{device:04}"
            write(folder / "rec.arrows", times, [force, field] if device % 5 == 0 else [force])
    good = (root / "day=2026-11-16/device=dev0001/rec.arrows").read_bytes()
    times, force, _ = samples(1, seconds, 100)
    force[len(force) // 2, 1] = np.nan
    odd = root / "day=2026-11-16"
    write(odd / "device=nan/rec.arrows", times, [force])
    columns_times, columns_force, _ = samples(8, seconds, 100)
    write(odd / "device=columns/rec.arrows", columns_times, [columns_force], "zstd")
    packed = odd / "device=packed/rec.arrows.zst"
    packed.parent.mkdir()
    packed.write_bytes(pa.compress(good, "zstd", asbytes=True))
    for name, content in (
        ("empty", b""), ("random", np.random.default_rng(1).bytes(3000)), ("header", good[:500]),
        ("torn", good[:len(good) * 2 // 3]),
    ):
        path = odd / f"device={name}" / "rec.arrows"
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    missing = odd / "device=missing" / "rec.arrows"
    missing.parent.mkdir(parents=True)
    missing.symlink_to("nowhere")
    return [f"day=2026-11-16/device={name}/rec.arrows" for name in ("empty", "random", "header", "missing")]


def make_long(root: Path, count: int) -> None:
    """A recording of so many samples at 1 kHz, in which a thousand seconds repeat."""
    path = root / "day=2026-11-16/device=long/rec.arrows"
    times, force, _ = samples(3, 1000, 1000)
    path.parent.mkdir(parents=True)
    table = pa.schema([pa.field(name, kind, nullable=False) for name, kind in COLUMNS], metadata=_metadata(["accelerometer"]))
    axes = [pa.array(np.ascontiguousarray(force[:, axis])) for axis in range(3)]
    sensor = pa.array(np.zeros(len(times), np.uint8))
    with pa.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table) as writer:
        for part in range(count // len(times)):
            shifted = pa.array(times + part * len(times) * 1_000_000)
            writer.write_batch(pa.record_batch([sensor, shifted, *axes], schema=table))


def shell_loop(root: Path, config: Path | None = None) -> dict[str, list[bytes]]:
    """What one process for each recording writes: its lines, by the recording's name."""
    found = {}
    for path in sorted(root.rglob("rec.*")):
        arguments = [BINARY, "replay", "--json", *(["--config", str(config)] if config else []), str(path)]
        found[str(path.relative_to(root))] = subprocess.run(arguments, capture_output=True).stdout.splitlines()
    return found


def free_port() -> int:
    """A port of this machine without a listener."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def line(row: dict[str, object], keys: list[str]) -> bytes:
    """An event's line, made of its row again, with the keys in the order of the program."""
    def text(key: str) -> str:
        value = row[key]
        if value is None:
            return "null"
        return f"{value:.{DECIMALS[key]}f}" if key in DECIMALS else json.dumps(value, ensure_ascii=False)

    return ("{" + ",".join(f'"{key}":{text(key)}' for key in keys) + "}").encode()


_OF_EVENTS = [name for name, _ in schema.HEAD + schema.FIGURES]


def differences(rows: list[dict[str, object]], loop: dict[str, list[bytes]]) -> list[str]:
    """Where rows differ from what a shell loop wrote, byte for byte, and whether each recording has one outcome."""
    events: dict[str, list[dict[str, object]]] = {name: [] for name in loop}
    outcomes: dict[str, list[dict[str, object]]] = {name: [] for name in loop}
    for row in rows:
        (outcomes if str(row["kind"]).startswith("recording.") else events)[str(row["recording"])].append(row)
    found = []
    for name, lines in loop.items():
        if len(outcomes[name]) != 1:
            found.append(f"{name}: {len(outcomes[name])} outcome rows")
        elif outcomes[name][0]["events"] != len(lines):
            found.append(f"{name}: its outcome counts {outcomes[name][0]['events']} of {len(lines)} events")
        if len(events[name]) != len(lines):
            found.append(f"{name}: {len(events[name])} of {len(lines)} events")
            continue
        for row, wanted in zip(sorted(events[name], key=lambda row: row["seq"]), lines, strict=True):
            keys = list(json.loads(wanted))
            extra = [key for key in _OF_EVENTS if row[key] is not None and key not in keys]
            if extra or line(row, keys) != wanted:
                found.append(f"{name}: {line(row, keys)!r} for {wanted!r} {extra}")
    return found
