"""The table of events: one row for each event, and one for each recording that says what became of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_NUMBER, _INTEGER, _TEXT = pa.float64(), pa.int64(), pa.string()

#: The columns that each event has; those of a live daemon, `wall_time` and `identity`, are null in a replay.
HEAD: list[tuple[str, pa.DataType]] = [
    ("seq", _INTEGER), ("kind", _TEXT), ("detector", _TEXT), ("sensor", _TEXT), ("time_ns", _INTEGER),
    ("wall_time", _TEXT), ("simulated", pa.bool_()), ("identity", _TEXT),
]

#: The figures of events, binnacle-events(7). A name has one type in every kind of event.
FIGURES: list[tuple[str, pa.DataType]] = [
    ("peak_g", _NUMBER), ("user_g", _NUMBER), ("min_g", _NUMBER), ("magnitude_g", _NUMBER), ("peak_dps", _NUMBER),
    ("onset_ns", _INTEGER), ("duration_s", _NUMBER), ("x_m_s2", _NUMBER), ("y_m_s2", _NUMBER), ("z_m_s2", _NUMBER),
    ("heading_deg", _NUMBER), ("reference", _TEXT), ("declination_deg", _NUMBER), ("accuracy_deg", _NUMBER),
    ("age_s", _NUMBER), ("sector", _TEXT), ("axis", _TEXT), ("off_deg", _NUMBER), ("field_uT", _NUMBER),
    ("expected_uT", _NUMBER), ("dip_deg", _NUMBER), ("turn_rate_dps", _NUMBER), ("orientation", _TEXT),
    ("tilt", _TEXT), ("posture", _TEXT), ("angle_deg", _NUMBER), ("frame", _TEXT), ("qw", _NUMBER), ("qx", _NUMBER),
    ("qy", _NUMBER), ("qz", _NUMBER), ("roll_deg", _NUMBER), ("pitch_deg", _NUMBER), ("yaw_deg", _NUMBER),
    ("peak_deg", _NUMBER), ("tilt_accuracy_deg", _NUMBER), ("yaw_accuracy_deg", _NUMBER), ("gravity_x_m_s2", _NUMBER),
    ("gravity_y_m_s2", _NUMBER), ("gravity_z_m_s2", _NUMBER), ("user_x_m_s2", _NUMBER), ("user_y_m_s2", _NUMBER),
    ("user_z_m_s2", _NUMBER), ("rate_x_dps", _NUMBER), ("rate_y_dps", _NUMBER), ("rate_z_dps", _NUMBER),
    ("illuminance_lux", _NUMBER), ("brightness_percent", _NUMBER), ("proximity", _TEXT), ("sign", _INTEGER),
    ("total", _INTEGER), ("cadence_per_min", _NUMBER), ("band", _TEXT), ("zone", _INTEGER), ("velocity_mm_s", _NUMBER),
    ("vibration_g", _NUMBER), ("frequency_hz", _NUMBER), ("measured_to_hz", _NUMBER), ("machine", _TEXT),
    ("learned_percent", _NUMBER), ("gap_s", _NUMBER), ("channel", _TEXT), ("cause", _TEXT), ("source", _TEXT),
    ("reason", _TEXT), ("active", _INTEGER), ("count", _INTEGER), ("joined", _INTEGER), ("ordinal", _INTEGER), ("needed", _INTEGER),
    ("sensors", _TEXT), ("handler", _TEXT), ("program", _TEXT), ("for_seq", _INTEGER), ("status", _INTEGER),
    ("signal", _INTEGER), ("attempt", _INTEGER), ("retry_s", _NUMBER), ("output", _TEXT),
]

#: What only the row of a recording has, beside `status` and `reason`: its samples, the places at which some were
#: skipped by their cause, the events it made, and how long was recorded.
OUTCOME: list[tuple[str, pa.DataType]] = [
    ("samples", _INTEGER), ("skipped", pa.map_(_TEXT, _INTEGER)), ("events", _INTEGER), ("seconds", _NUMBER),
]

#: The kinds of the row that each recording has, once for each configuration.
REPLAYED, FAILED = "recording.replayed", "recording.failed"

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


def rows(batch: pa.RecordBatch, names: Mapping[str, str], config: str | None) -> pa.RecordBatch:
    """Rows as the program writes them, with the columns of :data:`SCHEMA`.

    `names` maps each name that the program was given to that of the recording.
    """
    count = batch.num_rows
    # A recording's rows stand together, so what belongs to it is found once for each.
    given = pc.run_end_encode(batch.column("recording"))
    paths = given.values.to_pylist()
    recordings = [names[path] for path in paths]
    keys = [partition_keys(name) for name in recordings]

    def repeated(values: Sequence[str | None]) -> pa.Array:
        return pc.run_end_decode(pa.RunEndEncodedArray.from_arrays(given.run_ends, pa.array(values, _TEXT)))

    arrays = []
    for field in SCHEMA:
        place = batch.schema.get_field_index(field.name)
        if field.name == "recording":
            array = batch.column(place) if recordings == paths else repeated(recordings)
        elif field.name in ("device", "day"):
            array = repeated([one.get(field.name) for one in keys])
        elif field.name == "config":
            array = pa.repeat(pa.scalar(config, field.type), count)
        elif field.name == "time":
            array = _times(batch.column("time_ns"), field.type)
        elif place < 0:
            array = pa.nulls(count, field.type)
        else:
            array = batch.column(place)
            if array.type != field.type:
                array = array.cast(field.type)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def outcomes(batch: pa.RecordBatch) -> list[dict[str, object]]:
    """The `recording`, `status` and `reason` of the rows that say what became of a recording."""
    places = pc.indices_nonzero(batch.column("samples").is_valid())
    found: list[dict[str, object]] = batch.select(["recording", "status", "reason"]).take(places).to_pylist()
    return found


def outcome_row(recording: str, config: str | None, status: int, reason: str) -> pa.RecordBatch:
    """The row of a recording that the program never saw."""
    keys = partition_keys(recording)
    row: dict[str, object] = {
        "recording": recording, "device": keys.get("device"), "day": keys.get("day"), "config": config, "kind": FAILED,
        "status": status, "reason": reason, "samples": 0, "skipped": [], "events": 0, "seconds": 0.0}
    return pa.RecordBatch.from_pylist([row], schema=SCHEMA)


def _times(stamps: pa.Array, of_type: pa.DataType) -> pa.Array:
    """Stamps in nanoseconds as microseconds, rounded down; null where they are no wall-clock times."""
    stamps = pc.if_else(pc.greater_equal(stamps, _LEAST_WALL_CLOCK_NS), stamps, pa.scalar(None, pa.int64()))
    return pc.divide(stamps, 1000).cast(of_type)
