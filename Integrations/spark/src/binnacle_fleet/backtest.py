"""Two configurations, or two detectors of one configuration, over the same recordings: what would change.

Nothing of Spark is needed: `binnacle-backtest` counts on one machine. `compare` does the same with a table of Spark's.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from .events import pack, replay
from .program import ConfigurationFailed, ProgramFailed
from .schema import FAILED, REPLAYED
from .storage import SUFFIXES, Opened, Recording, find

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: What events are counted by, beside the configuration or the detector.
_KEYS = ["recording", "device", "kind"]


@dataclass
class Counts:
    """The number of events by recording, device, kind, and configuration or detector; and what failed, and why.

    A recording that failed with any configuration is left out of the comparison: events that were not looked for would
    count as a difference.
    """

    events: Counter[tuple[str, str | None, str, str]] = field(default_factory=Counter)
    #: The reasons by recording and configuration.
    failed: dict[str, dict[str, str]] = field(default_factory=dict)
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
        failed = batch.filter(pc.equal(batch.column("kind"), FAILED)).select(["recording", "config", "reason"])
        for row in failed.to_pylist():
            self.failed.setdefault(row["recording"], {})[row["config"]] = row["reason"]

    def update(self, other: Counts) -> None:
        """Adds the counts of another task."""
        self.events.update(other.events)
        for name, reasons in other.failed.items():
            self.failed.setdefault(name, {}).update(reasons)
        self.replayed += other.replayed

    def differences(self, before: str, after: str, of: str = "device") -> list[tuple[str, str, int, int]]:
        """For each device (or recording) and kind its numbers before and after, the greatest difference first."""
        sums: dict[tuple[str, str], list[int]] = {}
        for (recording, device, kind, side), count in self.events.items():
            if side in (before, after) and recording not in self.failed:
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
    if not recordings:
        raise FileNotFoundError(f"{root}: there is no recording in it: no file ends with {', '.join(SUFFIXES)}")
    processes = processes or os.cpu_count() or 1
    counts = Counts()
    with ProcessPoolExecutor(processes) as pool:
        task = partial(count, configs=list(configs), binary=binary, by=by)
        for part in pool.map(task, pack(recordings, partitions=8 * processes)):
            counts.update(part)
    return counts, {one.name: one for one in recordings}


def pages(
    recordings: Iterable[Recording], configs: Mapping[str, str], folder: str, *, binary: str = "binnacle"
) -> tuple[list[str], list[str]]:
    """A page of `binnacle plot` for each recording and configuration; returns their paths, and why others are missing.

    The keys of `configs`, such as `before`, are part of the pages' names, because two configurations in different
    folders may have one file name.
    """
    os.makedirs(folder, exist_ok=True)
    written, missing = [], []
    for number, recording in enumerate(recordings, 1):
        try:
            with Opened(recording) as opened:
                for side, config in configs.items():
                    stem = os.path.splitext(os.path.basename(os.path.normpath(config)))[0]
                    path = os.path.join(folder, f"{number:02}-{recording.name.replace('/', '-')}-{side}-{stem}.html")
                    result = subprocess.run(
                        [binary, "plot", "--force", "--config", config, opened.path, "-o", path], capture_output=True,
                        text=True, errors="replace")
                    if result.returncode:
                        said = "; ".join(result.stderr.splitlines())
                        missing.append(f"{recording.name} with {config}: status {result.returncode}: {said}")
                    else:
                        written.append(path)
        except OSError as error:
            missing.append(f"{recording.name}: {error}")
    return written, missing


def detectors(config: str, *, binary: str = "binnacle") -> list[str]:
    """The names of a configuration's detectors; raises :class:`ConfigurationFailed` when it cannot be read."""
    # The program lists them where a handler names one that there cannot be.
    said = subprocess.run(
        [binary, "check", "--config", config, "--set", 'handler.binnacle-backtest.detector=["?"]'], capture_output=True,
        text=True, errors="replace").stderr
    found = re.search(r"no detector `\?` \((.*)\)", said)
    if not found:
        raise ConfigurationFailed(f"{config}: its detectors cannot be listed: {said.strip()}")
    return re.findall("`([^`]+)`", found[1])


def compare(events: DataFrame, before: str, after: str, by: str = "config") -> DataFrame:
    """For each device and kind of a table of Spark's the numbers before and after, the greatest difference first.

    `by` is `config`, or `detector` where one configuration has both detectors. A recording that failed with any
    configuration is left out.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    # The table is read once: each further read would play the recordings again.
    each = events.groupBy("recording", "device", "kind").pivot(by, [before, after]).count().na.fill(0)
    failed = F.bool_or(F.col("kind") == FAILED).over(Window.partitionBy("recording"))
    # What the recordings say of themselves, such as gaps, has no detector, and is the same on both sides.
    counted = (
        each.withColumn("failed", failed).filter(~F.col("failed") & ~F.col("kind").startswith("recording."))
        .groupBy("device", "kind").agg(*(F.sum(f"`{side}`").alias(side) for side in (before, after))))
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
    if options.before == options.after:
        parser.error(f"--before and --after are both {options.before}: name two, which can differ")
    try:
        return _backtest(options)
    except (OSError, ProgramFailed) as error:
        print(f"binnacle-backtest: {error}", file=sys.stderr)
        return 2


def _backtest(options: argparse.Namespace) -> int:
    """Prints the differences; returns 1 when a recording or a page failed, else 0."""
    by = "detector" if options.detectors else "config"
    configs = {"both": options.detectors} if options.detectors else {"before": options.before, "after": options.after}
    # What cannot work is found before hours of recordings are played.
    if options.detectors:
        names = detectors(options.detectors, binary=options.binary)
        for name in (options.before, options.after):
            if name not in names:
                there = ", ".join(names) or "none"
                raise ConfigurationFailed(f"{options.detectors}: there is no detector {name}; its detectors: {there}")
    if options.pages:
        os.makedirs(options.pages, exist_ok=True)
    counts, recordings = run(
        options.recordings, list(configs.values()), binary=options.binary, by=by, processes=options.processes)
    print("device\tkind\tbefore\tafter\tmore")
    for name, kind, before, after in counts.differences(options.before, options.after):
        print(f"{name}\t{kind}\t{before}\t{after}\t{after - before:+}")
    for name, reasons in sorted(counts.failed.items()):
        for config, reason in sorted(reasons.items()):
            print(f"left out: {name}: failed with {config}: {reason}", file=sys.stderr)
    print(f"{counts.replayed} replays, {len(counts.failed)} recordings failed", file=sys.stderr)
    missing: list[str] = []
    if options.pages:
        different = [recordings[name] for name in counts.most_different(options.before, options.after)]
        written, missing = pages(different, configs, options.pages, binary=options.binary)
        for path in written:
            print(path, file=sys.stderr)
        for reason in missing:
            print(f"no page: {reason}", file=sys.stderr)
    return 1 if counts.failed or missing else 0


if __name__ == "__main__":
    sys.exit(main())
