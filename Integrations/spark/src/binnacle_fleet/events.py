"""Recordings as record batches of events. Nothing of Spark is in here: Dask, Ray and a pool of processes use it as it is."""

from __future__ import annotations

import selectors
import threading
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

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
#: The recordings of an object store whose bytes are kept at a time: one is played, and one is fetched.
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
    feeder: _Feeder | None = None
    try:
        for one, label in zip(configs, shown, strict=True):
            players.append(_Player(Program(binary, one, options, silence_s), label))
        feeder = _Feeder(recordings, players)
        with selectors.DefaultSelector() as selector:
            for player in players:
                selector.register(player.program.output, selectors.EVENT_READ, player)
            while selector.get_map():
                ready = selector.select(silence_s)
                if not ready:
                    raise ProgramFailed(f"nothing came from any program for {silence_s} s")
                for key, _ in ready:
                    batch = key.data.program.read()
                    if batch is None:
                        selector.unregister(key.fileobj)
                    else:
                        yield from key.data.take(batch, feeder)
        feeder.finish()
        for name, reason in feeder.missing:
            for player in players:
                player.keep(schema.outcome_row(name, player.label, 66, reason))
        for player in players:
            yield from player.gathered()
    finally:
        for player in players:
            player.program.__exit__()
        if feeder:
            feeder.stop()


class _Feeder:
    """Names the recordings to all programs, on a thread of its own, and keeps their bytes until each has played them."""

    def __init__(self, recordings: Iterable[Recording | str], players: Sequence[_Player]) -> None:
        self._recordings = recordings
        self._players = players
        self._lock = threading.Lock()
        #: What was named, by its path, and how many outcomes are still to come.
        self._opened: dict[str, tuple[Opened, int]] = {}
        #: Bytes in memory are few at a time; a file takes nothing.
        self._room = threading.Semaphore(_AHEAD)
        self._is_stopped = False
        self._failure: BaseException | None = None
        #: Names of recordings that are not there, and why.
        self.missing: list[tuple[str, str]] = []
        self._thread = threading.Thread(target=self._run, name="binnacle-feeder", daemon=True)
        self._thread.start()

    def opened(self, path: str) -> Opened:
        """The recording that a program calls so."""
        with self._lock:
            return self._opened[path][0]

    def finish_one(self, path: str) -> None:
        """One program has played a recording to its outcome."""
        with self._lock:
            opened, count = self._opened[path]
            if count > 1:
                self._opened[path] = (opened, count - 1)
                return
            del self._opened[path]
        self._close(opened)

    def finish(self) -> None:
        """Raises what ended the naming before its end."""
        self._thread.join()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Names nothing more, and forgets all bytes."""
        self._is_stopped = True
        self._room.release()
        self._thread.join()
        for opened, _ in self._opened.values():
            self._close(opened)
        self._opened = {}

    def _run(self) -> None:
        try:
            for recording in self._recordings:
                if isinstance(recording, str):
                    recording = Recording(recording, recording)
                if not self._name(recording):
                    return
        except BaseException as error:
            self._failure = error
        finally:
            for player in self._players:
                player.program.end()

    def _name(self, recording: Recording) -> bool:
        if recording.store:
            self._room.acquire()
        if self._is_stopped:
            return False
        try:
            opened = Opened(recording)
        except BaseException as error:
            if recording.store:
                self._room.release()
            if not isinstance(error, FileNotFoundError):
                raise
            self.missing.append((recording.name, str(error)))
            return True
        with self._lock:
            # One may be named twice.
            _, count = self._opened.get(opened.path, (opened, 0))
            self._opened[opened.path] = (opened, count + len(self._players))
        for player in self._players:
            player.program.name(opened.path)
        return True

    def _close(self, opened: Opened) -> None:
        opened.close()
        if opened.is_in_memory:
            self._room.release()


class _Player:
    """A program with a configuration, and the rows that are gathered of it."""

    def __init__(self, program: Program, label: str | None) -> None:
        self.program = program
        self.label = label
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0

    def keep(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows

    def take(self, batch: pa.RecordBatch, feeder: _Feeder) -> Iterator[pa.RecordBatch]:
        """Keeps what the program wrote, and yields what is enough for a batch."""
        paths = pc.unique(batch.column("recording")).to_pylist()
        opened = {path: feeder.opened(path) for path in paths}
        names = {path: one.name for path, one in opened.items()}
        for outcome in schema.outcomes(batch):
            path = str(outcome["recording"])
            if outcome["status"] not in OF_THE_RECORDING:
                raise ProgramFailed(f"{names[path]}: status {outcome['status']}: {outcome['reason']}")
            self.program.waiting.popleft()
            feeder.finish_one(path)
        for one in opened.values():
            if one.path != one.shown:
                batch = _renamed(batch, one)
        self.keep(schema.rows(batch, {**names, **{one.shown: one.name for one in opened.values()}}, self.label))
        if self._rows >= ROWS:
            yield from self.gathered()

    def gathered(self) -> Iterator[pa.RecordBatch]:
        if self._batches:
            yield pa.concat_batches(self._batches) if len(self._batches) > 1 else self._batches[0]
        self._batches, self._rows = [], 0


def _renamed(batch: pa.RecordBatch, opened: Opened) -> pa.RecordBatch:
    """Rows with a recording's own name in place of the link that the program was given."""
    for name in ("recording", "reason"):
        column = pc.replace_substring(batch.column(name), opened.path, opened.shown)
        batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), column)
    return batch
