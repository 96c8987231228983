"""Recordings as record batches of events. Nothing of Spark is in here: Dask, Ray and a pool of processes use it as it is."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa

from . import schema
from .program import OF_THE_RECORDING, Program, ProgramFailed
from .storage import Opened, Recording

__all__ = ["Recording", "pack", "replay"]

#: What a recording costs beside its bytes, in bytes that are read in that time.
_START = 1 << 20
#: Tasks are at most so large, because a task that fails is done again, and at least so large, because each has its cost.
_LARGEST_TASK, _SMALLEST_TASK = 640 << 20, 32 << 20
_USUAL_TASKS = 32

#: A batch has at least so many rows, because each costs an engine about 10 ms.
ROWS = 8192
#: Lines of JSON become rows when there are so many bytes of them.
_MOST_BYTES = 4 << 20
#: The recordings that are named before the first of them has been played.
_AHEAD = 2


def pack(
    recordings: Iterable[Recording], partitions: int | None = None, target_bytes: int | None = None
) -> list[list[Recording]]:
    """Tasks of recordings, the heaviest first, so that a long recording does not start last.

    A recording is never split. Neighbours by name stay together, so that a task writes few folders.
    """
    recordings = sorted(recordings, key=lambda one: one.name)
    total = sum(one.size + _START for one in recordings)
    target = target_bytes or min(max(total // _USUAL_TASKS, _SMALLEST_TASK), _LARGEST_TASK)
    tasks: dict[int, list[Recording]] = {}
    weights: dict[int, int] = {}
    place, behind = 0, 0
    for one in recordings:
        weight = one.size + _START
        if partitions:
            place = behind * partitions // total
        elif weights.get(place, 0) + weight > target:
            place += 1
        behind += weight
        tasks.setdefault(place, []).append(one)
        weights[place] = weights.get(place, 0) + weight
    return [tasks[place] for place in sorted(tasks, key=lambda place: -weights[place])]


def replay(
    recordings: Iterable[Recording | str], *, binary: str = "binnacle", config: str | Sequence[str] | None = None,
    options: Sequence[str] = (), silence_s: float = 3600, labels: Sequence[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Plays recordings, and yields their events as batches of :data:`SCHEMA`, with one outcome row for each recording.

    What a recording is becomes its row: `recording.replayed`, or `recording.failed` with its status and reason. What
    happens to the process, such as a kill, a disk that fails or a configuration that cannot be used, raises
    :class:`ProgramFailed`: discard what came, and try again.

    With several configurations each recording is read once and played with each; `config` says which in each row, by
    `labels` where they are given.
    """
    configs = [config] if config is None or isinstance(config, str) else list(config)
    shown: list[str | None] = list(labels) if labels else list(configs)
    players: list[_Player] = []
    try:
        for one, label in zip(configs, shown, strict=True):
            players.append(_Player(Program(binary, one, options, silence_s), label))
        waiting: deque[Opened] = deque()
        try:
            for recording in recordings:
                if isinstance(recording, str):
                    recording = Recording(recording, recording)
                try:
                    opened = Opened(recording)
                except FileNotFoundError as error:
                    for player in players:
                        player.keep(schema.outcome_row(recording.name, player.label, 66, str(error)))
                    continue
                waiting.append(opened)
                for player in players:
                    player.name(opened)
                if len(waiting) >= _AHEAD:
                    for player in players:
                        yield from player.play(waiting[0])
                    waiting.popleft().close()
            while waiting:
                for player in players:
                    yield from player.play(waiting[0])
                waiting.popleft().close()
            for player in players:
                player.program.end()
                yield from player.rest()
        finally:
            for opened in waiting:
                opened.close()
    finally:
        for player in players:
            player.program.__exit__()


class _Player:
    """A program with a configuration, and the rows that are gathered of it."""

    def __init__(self, program: Program, label: str | None) -> None:
        self.program = program
        self.label = label
        #: What the lines call a recording, and its name; and the former in their order.
        self._names: dict[str, str] = {}
        self._named: list[str] = []
        self._lines: list[bytes] = []
        self._size = 0
        self._outcomes: list[bytes] = []
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0

    def name(self, opened: Opened) -> None:
        self._names[opened.shown] = opened.name
        self.program.name(opened.path)
        self._named.append(opened.shown)

    def keep(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows

    def play(self, opened: Opened) -> Iterator[pa.RecordBatch]:
        """Reads the recording that was named first to its outcome."""
        for lines, outcome in self.program.lines():
            if lines:
                self._lines.append(opened.renamed(lines))
                self._size += len(lines)
            if outcome is not None:
                outcome = opened.renamed(outcome)
                self._require(outcome)
                self._outcomes.append(outcome)
                self._size += len(outcome)
            if self._size >= _MOST_BYTES:
                self._convert()
            if self._rows >= ROWS:
                yield from self._gathered()

    def rest(self) -> Iterator[pa.RecordBatch]:
        self._convert()
        yield from self._gathered()

    def _require(self, outcome: bytes) -> None:
        one = json.loads(outcome)
        if one["status"] not in OF_THE_RECORDING:
            raise ProgramFailed(f"{self._names.get(one['recording'])}: status {one['status']}: {one['reason']}")

    def _convert(self) -> None:
        if self._lines:
            self.keep(schema.event_rows(b"".join(self._lines), self._names, self.label))
        if self._outcomes:
            self.keep(schema.outcome_rows(self._outcomes, self._names, self.label))
        self._lines, self._outcomes, self._size = [], [], 0
        waiting = self._named[len(self._named) - len(self.program.waiting):]
        self._names, self._named = {shown: self._names[shown] for shown in waiting}, waiting

    def _gathered(self) -> Iterator[pa.RecordBatch]:
        if self._batches:
            yield pa.concat_batches(self._batches)
        self._batches, self._rows = [], 0
