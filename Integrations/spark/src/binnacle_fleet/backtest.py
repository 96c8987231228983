"""Two configurations, or two detectors of one configuration, over the same recordings: what would change.

Nothing of Spark is needed: `binnacle-backtest` counts on one machine. `compare` does the same with a table of Spark's.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from .events import pack, replay
from .program import ProgramFailed
from .schema import FAILED, REPLAYED
from .storage import Opened, Recording, find

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What events are counted by, beside the configuration or the detector.
_KEYS = ["recording", "device", "kind"]


@dataclass
class Counts:
    """The number of events by recording, device, kind, and configuration or detector; and what failed, and why."""

    events: Counter[tuple[str, str | None, str, str]] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)
    replayed: int = 0

    def add(self, batch: pa.RecordBatch, by: str) -> None:
        """Counts a batch; `by` is `config` or `detector`."""
        grouped = pa.Table.from_batches([batch]).group_by([*_KEYS, by]).aggregate([([], "count_all")])
        columns = [grouped.column(name).to_pylist() for name in (*_KEYS, by, "count_all")]
        for recording, device, kind, side, count in zip(*columns, strict=True):
            if kind == REPLAYED:
                self.replayed += count
            elif kind != FAILED and side is not None:
                self.events[recording, device, kind, side] += count
        for row in batch.filter(pc.equal(batch.column("kind"), FAILED)).select(["recording", "reason"]).to_pylist():
            self.failed[row["recording"]] = row["reason"]

    def update(self, other: Counts) -> None:
        """Adds the counts of another task."""
        self.events.update(other.events)
        self.failed.update(other.failed)
        self.replayed += other.replayed

    def differences(self, before: str, after: str, of: str = "device") -> list[tuple[str, str, int, int]]:
        """For each device (or recording) and kind its numbers before and after, the greatest difference first."""
        sums: dict[tuple[str, str], list[int]] = {}
        for (recording, device, kind, side), count in self.events.items():
            if side in (before, after):
                name = recording if of == "recording" or device is None else device
                sums.setdefault((name, kind), [0, 0])[side == after] += count
        rows = [(name, kind, two[0], two[1]) for (name, kind), two in sums.items()]
        return sorted(rows, key=lambda row: (-abs(row[3] - row[2]), row[0], row[1]))

    def most_different(self, before: str, after: str, count: int = 10) -> list[str]:
        """The recordings of which the events differ most."""
        sums: Counter[str] = Counter()
        for name, _, two, four in self.differences(before, after, of="recording"):
            sums[name] += abs(four - two)
        return [name for name, sum_ in sorted(sums.items(), key=lambda one: (-one[1], one[0]))[:count] if sum_]


def count(
    recordings: Sequence[Recording], configs: Sequence[str], *, binary: str = "binnacle", by: str = "config"
) -> Counts:
    """Plays recordings with each configuration, and counts the events."""
    counts = Counts()
    for batch in replay(recordings, binary=binary, config=configs):
        counts.add(batch, by)
    return counts


def run(
    root: str, configs: Sequence[str], *, binary: str = "binnacle", by: str = "config", processes: int | None = None
) -> tuple[Counts, dict[str, Recording]]:
    """A backtest on this machine, with a pool of processes; returns the counts, and the recordings by their names."""
    recordings = list(find(root))
    processes = processes or os.cpu_count() or 1
    counts = Counts()
    with ProcessPoolExecutor(processes) as pool:
        task = partial(count, configs=list(configs), binary=binary, by=by)
        for part in pool.map(task, pack(recordings, partitions=8 * processes)):
            counts.update(part)
    return counts, {one.name: one for one in recordings}


def pages(
    recordings: Iterable[Recording], configs: Sequence[str], folder: str, *, binary: str = "binnacle"
) -> list[str]:
    """A page of `binnacle plot` for each recording and configuration; returns their paths."""
    os.makedirs(folder, exist_ok=True)
    written = []
    for number, recording in enumerate(recordings, 1):
        with Opened(recording) as opened:
            for config in configs:
                stem = os.path.splitext(os.path.basename(config))[0]
                path = os.path.join(folder, f"{number:02}-{recording.name.replace('/', '-')}-{stem}.html")
                result = subprocess.run(
                    [binary, "plot", "--force", "--config", config, opened.path, "-o", path], capture_output=True,
                    text=True)
                if result.returncode:
                    raise ProgramFailed(f"{recording.name}: binnacle plot: {result.stderr.strip()}")
                written.append(path)
    return written


def compare(events: DataFrame, before: str, after: str, by: str = "config") -> DataFrame:
    """For each device and kind of a table of Spark's the numbers before and after, the greatest difference first.

    `by` is `config`, or `detector` where one configuration has both detectors.
    """
    from pyspark.sql import functions as F

    # What the recordings say of themselves, such as gaps, has no detector, and is the same on both sides.
    counted = (
        events.filter(~F.col("kind").startswith("recording.")).groupBy("device", "kind").pivot(by, [before, after])
        .count().na.fill(0))
    difference = F.col(f"`{after}`") - F.col(f"`{before}`")
    return counted.withColumn("more", difference).orderBy(F.abs("more").desc(), "device", "kind")


def main(arguments: Sequence[str] | None = None) -> int:
    """`binnacle-backtest`."""
    parser = argparse.ArgumentParser(
        prog="binnacle-backtest", description="Plays recordings with two configurations, and prints what would change.")
    parser.add_argument("recordings", help="a folder, or a URI such as s3://bucket/fleet")
    parser.add_argument("--before", required=True, help="the configuration that is rolled out, or with --detectors its detector")
    parser.add_argument("--after", required=True, help="the candidate")
    parser.add_argument("--detectors", metavar="CONFIG", help="a configuration that has both as detectors")
    parser.add_argument("--pages", metavar="FOLDER", help="where pages of the ten most different recordings come")
    parser.add_argument("--processes", type=int, help="as many at a time; usually one for each processor")
    parser.add_argument("--binary", default="binnacle", help="the program")
    options = parser.parse_args(arguments)
    configs = [options.detectors] if options.detectors else [options.before, options.after]
    by = "detector" if options.detectors else "config"
    counts, recordings = run(
        options.recordings, configs, binary=options.binary, by=by, processes=options.processes)
    print("device\tkind\tbefore\tafter\tmore")
    for name, kind, before, after in counts.differences(options.before, options.after):
        print(f"{name}\t{kind}\t{before}\t{after}\t{after - before:+}")
    for name, reason in sorted(counts.failed.items()):
        print(f"failed: {name}: {reason}", file=sys.stderr)
    print(f"{counts.replayed} replays, {len(counts.failed)} recordings failed", file=sys.stderr)
    if options.pages:
        names = counts.most_different(options.before, options.after)
        for path in pages((recordings[name] for name in names), configs, options.pages, binary=options.binary):
            print(path, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
