"""Recordings with binnacle's own columns, written by pyarrow."""

import numpy as np
import pyarrow as pa

BATCH = 65_536
METADATA = {
    "binnacle.version": "1",
    "binnacle.sensor.0.name": "accel",
    "binnacle.sensor.0.kind": "accelerometer",
    "binnacle.sensor.0.unit": "m/s2",
    "binnacle.sensor.0.scale": "1",
}


def write(path, rows):
    """Writes a quiet device at 100 Hz that is pushed for a second every hour."""
    schema = pa.schema(
        [("sensor", pa.uint8()), ("t", pa.int64()), ("x", pa.float32()), ("y", pa.float32()), ("z", pa.float32())],
        metadata=METADATA,
    )
    random = np.random.default_rng(1)
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        for base in range(0, rows, BATCH):
            count = min(BATCH, rows - base)
            index = np.arange(base, base + count)
            x, y, z = (random.random(count, dtype=np.float32) * 0.1 - 0.05 for _ in range(3))
            x += np.where(index % 360_000 >= 359_900, 3 * np.sin(index / 5), 0).astype(np.float32)
            z += np.float32(9.81)
            columns = [np.zeros(count, np.uint8), index * 10_000_000, x, y, z]
            writer.write_batch(pa.record_batch([pa.array(column) for column in columns], schema=schema))
