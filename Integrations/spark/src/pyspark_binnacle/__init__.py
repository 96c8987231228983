"""`spark.read.format("binnacle").load("/recordings")`: the events of recordings, as binnacle_fleet makes them.

The name of this package, and that of the class, let Spark 4 find the source by itself: nothing has to be registered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from binnacle_fleet import SCHEMA, Recording, find, pack, program, replay, storage

#: The options, in small letters as Spark hands them over; `path` is what `load` is given.
OPTIONS = {
    "path": "the folder, or a URI of pyarrow.fs",
    "config": "the configuration; several are separated by commas",
    "binary": "the program; usually binnacle",
    "arguments": "further options of binnacle replay, separated by blanks",
    "suffix": "the ends of the names of recordings, separated by commas",
    "partitions": "the number of tasks",
    "targetbytes": "the size of a task, in bytes",
    "silences": "after how many seconds without output the program is given up",
}


@dataclass
class Task(InputPartition):
    """The recordings of one task."""

    recordings: list[Recording]


class Reader(DataSourceReader):
    """Plans the tasks in the driver, and plays them in the workers."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = {key.lower(): value for key, value in options.items()}
        unknown = sorted(set(self._options) - set(OPTIONS))
        if unknown:
            raise ValueError(f"no option of binnacle: {', '.join(unknown)}; there are {', '.join(OPTIONS)}")
        if "path" not in self._options:
            raise ValueError("binnacle: load() needs the folder of the recordings")

    @property
    def _configs(self) -> list[str]:
        return [one.strip() for one in self._options.get("config", "").split(",") if one.strip()]

    def partitions(self) -> list[Task]:
        options = self._options
        # A configuration that cannot be used ends the job here, before a task is tried four times.
        for config in self._configs or [""]:
            program.check(_carried(options.get("binary", "binnacle")), _carried(config) if config else None, self._arguments)
        suffixes = [one.strip() for one in options.get("suffix", ",".join(storage.SUFFIXES)).split(",")]
        tasks = pack(
            find(options["path"], suffixes), int(options.get("partitions", 0)) or None,
            int(options.get("targetbytes", 0)) or None)
        # Spark asks for one, also where there is no recording.
        return [Task(task) for task in tasks] or [Task([])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Task)
        configs = self._configs
        yield from replay(
            partition.recordings, binary=_carried(self._options.get("binary", "binnacle")),
            config=[_carried(one) for one in configs] or None, labels=configs or None, options=self._arguments,
            silence_s=float(self._options.get("silences", 3600)))

    @property
    def _arguments(self) -> list[str]:
        return self._options.get("arguments", "").split()


class DefaultSource(DataSource):
    """What Spark looks for."""

    @classmethod
    def name(cls) -> str:
        return "binnacle"

    def schema(self) -> StructType:
        return from_arrow_schema(SCHEMA)

    def reader(self, schema: StructType) -> Reader:
        return Reader(dict(self.options))


def _carried(name: str) -> str:
    """The path of a program or a configuration: an absolute one, or that of a file that the job has brought along."""
    if os.path.isabs(name):
        return name
    from pyspark import SparkFiles

    path: str = SparkFiles.get(name)
    if not os.path.exists(path):
        return name
    # `--files` does not keep the right to execute.
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    return path
