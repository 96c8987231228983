"""The table of events: one row for each event, and one for each recording that says what became of it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

_NUMBER, _INTEGER, _TEXT = pa.float64(), pa.int64(), pa.string()

#: The keys that each event has, as the program writes them.
HEAD: list[tuple[str, pa.DataType]] = [
    ("seq", _INTEGER), ("kind", _TEXT), ("detector", _TEXT), ("sensor", _TEXT), ("time_ns", _INTEGER),
    ("wall_time", _TEXT), ("simulated", pa.bool_()), ("identity", _TEXT),
]

#: The figures of events, binnacle-events(7). A name has one type in every kind of event.
FIGURES: list[tuple[str, pa.DataType]] = [
    ("peak_g", _NUMBER), ("user_g", _NUMBER), ("min_g", _NUMBER), ("magnitude_g", _NUMBER), ("peak_dps", _NUMBER),
    ("onset_ns", _INTEGER), ("duration_s", _NUMBER), ("x_m_s2", _NUMBER), ("y_m_s2", _NUMBER), ("z_m_s2", _NUMBER), ("heading_deg", _NUMBER),
    ("reference", _TEXT), ("declination_deg", _NUMBER), ("accuracy_deg", _NUMBER), ("age_s", _NUMBER),
    ("sector", _TEXT), ("axis", _TEXT), ("off_deg", _NUMBER), ("field_uT", _NUMBER), ("expected_uT", _NUMBER),
    ("dip_deg", _NUMBER), ("turn_rate_dps", _NUMBER), ("orientation", _TEXT), ("tilt", _TEXT), ("posture", _TEXT),
    ("angle_deg", _NUMBER), ("illuminance_lux", _NUMBER), ("brightness_percent", _NUMBER), ("proximity", _TEXT),
    ("gap_s", _NUMBER), ("channel", _TEXT), ("cause", _TEXT), ("reason", _TEXT), ("active", _INTEGER),
    ("count", _INTEGER), ("ordinal", _INTEGER), ("needed", _INTEGER), ("sensors", _TEXT), ("handler", _TEXT),
    ("program", _TEXT), ("for_seq", _INTEGER), ("status", _INTEGER), ("signal", _INTEGER), ("attempt", _INTEGER),
    ("retry_s", _NUMBER), ("output", _TEXT),
]

#: What only the row of a recording has, beside `status` and `reason`: its samples, the places at which some were
#: skipped by their cause, the events it made, and how long was recorded.
OUTCOME: list[tuple[str, pa.DataType]] = [
    ("samples", _INTEGER), ("skipped", pa.map_(_TEXT, _INTEGER)), ("events", _INTEGER), ("seconds", _NUMBER),
]

#: The kinds of the row that each recording has, once for each configuration.
REPLAYED, FAILED = "recording.replayed", "recording.failed"

_JSON = pa.schema([("recording", _TEXT), *HEAD, *FIGURES])

#: The columns: where a row comes from, what the program wrote, and `time`, which is `time_ns` in UTC for people where
#: the recording counts in wall-clock time. `day` and `device` are those of a path such as `day=2026-11-16/device=7/`.
SCHEMA = pa.schema([
    ("recording", _TEXT), ("device", _TEXT), ("day", _TEXT), ("config", _TEXT), *HEAD, *FIGURES, *OUTCOME,
    ("time", pa.timestamp("us", tz="UTC")),
])

#: Stamps from here on, the year 2000, are wall-clock times; those of a monotonic clock are below.
_LEAST_WALL_CLOCK_NS = 946_684_800_000_000_000


def partition_keys(recording: str) -> dict[str, str]:
    """The `KEY=VALUE` folders of a recording's name."""
    return dict(re.findall(r"(?:^|/)([^/=]+)=([^/]+)(?=/)", recording))


class _Lines:
    """Reads lines of JSON, with the columns that have occurred so far: each that is missing costs as much as one that is not."""

    def __init__(self) -> None:
        self._fields = [_JSON.field(name) for name in ("recording", "seq", "kind", "detector", "sensor", "time_ns")]

    def read(self, lines: bytes) -> dict[str, pa.Array]:
        """The columns that occur."""
        while True:
            fields = self._fields
            table = pyarrow.json.read_json(
                io.BytesIO(lines),
                read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=max(len(lines), 1 << 20)),
                parse_options=pyarrow.json.ParseOptions(explicit_schema=pa.schema(fields)))
            known = {field.name for field in fields}
            # Of these the type was guessed; a key of another version of the program is left out.
            new = [name for name in table.column_names if name not in known and name in _JSON.names]
            if not new:
                return {name: _single(table.column(name)) for name in table.column_names if name in known}
            self._fields = [*fields, *(_JSON.field(name) for name in new)]


_LINES = _Lines()


def event_rows(lines: bytes, names: Mapping[str, str], config: str | None) -> pa.RecordBatch:
    """Rows of the events that stand in lines of JSON.

    `names` maps each name that the program was given to that of the recording.
    """
    columns = _LINES.read(lines)
    count = len(columns["recording"])
    given = columns["recording"].dictionary_encode()
    recordings = [names[name] for name in given.dictionary.to_pylist()]
    return _completed(columns, given.indices, recordings, config, count)


def outcome_rows(lines: Sequence[bytes], names: Mapping[str, str], config: str | None) -> pa.RecordBatch:
    """Rows of the lines that the program writes behind the events of each recording."""
    objects = [json.loads(line) for line in lines]
    columns = {
        name: pa.array([_outcome_value(one, name) for one in objects], SCHEMA.field(name).type)
        for name in ("kind", "status", "reason", "samples", "skipped", "events", "seconds")
    }
    recordings = [names[one["recording"]] for one in objects]
    return _completed(columns, pa.array(range(len(objects)), pa.int32()), recordings, config, len(objects))


def outcome_row(recording: str, config: str | None, status: int, reason: str) -> pa.RecordBatch:
    """The row of a recording that the program never saw."""
    one = {"recording": recording, "kind": FAILED, "status": status, "reason": reason}
    return outcome_rows([json.dumps(one).encode()], {recording: recording}, config)


def _outcome_value(one: dict[str, object], name: str) -> object:
    value = one.get(name)
    if isinstance(value, dict):
        return list(value.items())
    return 0 if value is None and name in ("samples", "events") else value


def _single(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _completed(
    columns: dict[str, pa.Array], places: pa.Array, recordings: list[str], config: str | None, count: int
) -> pa.RecordBatch:
    keys = [partition_keys(name) for name in recordings]
    of_recording = {
        "recording": recordings, "device": [one.get("device") for one in keys], "day": [one.get("day") for one in keys]}
    arrays = []
    for field in SCHEMA:
        if field.name in of_recording:
            array = pa.array(of_recording[field.name], field.type).take(places)
        elif field.name == "config":
            array = pa.repeat(pa.scalar(config, field.type), count)
        elif field.name == "time" and "time_ns" in columns:
            array = _times(columns["time_ns"], field.type)
        else:
            array = columns.get(field.name)
        arrays.append(pa.nulls(count, field.type) if array is None else array)
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _times(stamps: pa.Array, of_type: pa.DataType) -> pa.Array:
    """Stamps in nanoseconds as microseconds, rounded down; null where they are no wall-clock times."""
    stamps = pc.if_else(pc.greater_equal(stamps, _LEAST_WALL_CLOCK_NS), stamps, pa.scalar(None, pa.int64()))
    return pc.divide(stamps, 1000).cast(of_type)
