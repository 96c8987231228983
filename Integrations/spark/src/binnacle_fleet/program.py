"""The program: one process of `binnacle replay --each --arrow`, which plays one recording after another."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Sequence

import pyarrow as pa

#: Exit statuses of a recording that say something about the recording, and would be the same again: it was played; it
#: is not what the configuration needs; it is damaged; it is not there; it may not be read; its device has no calibration.
OF_THE_RECORDING = (0, 64, 65, 66, 77, 78)
_CONFIGURATION_STATUS = 78

#: How much of what the program said last is part of an error.
_MOST_WORDS = 4096
#: What a pipe holds, so that a batch takes few turns of both processes; the system may allow less.
_PIPE = 1 << 20


class ProgramFailed(Exception):
    """The process failed, not a recording: the task can be tried again."""


class ConfigurationFailed(ProgramFailed):
    """The program refuses the configuration; another try would end in the same way."""


class Program:
    """A running `binnacle replay --each --arrow`. It is ended by leaving the `with` statement.

    One thread names the recordings, and one reads: a full pipe in one direction stops only that thread.
    """

    def __init__(self, binary: str, config: str | None, options: Sequence[str] = (), silence_s: float = 3600) -> None:
        arguments = [binary, "replay", "--each", "--arrow", *options, *(["--config", config] if config else [])]
        self._shown = " ".join(arguments)
        self._silence_s = silence_s
        self._words = tempfile.TemporaryFile(prefix="binnacle-")
        try:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._words, bufsize=0)
        except OSError as error:
            self._words.close()
            raise ProgramFailed(f"{binary}: cannot be started: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout
        self._input, self.output = self._process.stdin, self._process.stdout
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.output, fcntl.F_SETPIPE_SZ, _PIPE)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.output, selectors.EVENT_READ)
        self._stream: pa.ipc.RecordBatchStreamReader | None = None
        #: The recordings that were named and have no outcome yet, in their order.
        self.waiting: deque[str] = deque()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._selector.close()
        self._words.close()
        self.output.close()
        self.end()

    def name(self, path: str) -> None:
        """Names the next recording, whose path has no line feed in it; waits while many are named already."""
        self.waiting.append(path)
        # Why it ended is found where its output ends.
        with contextlib.suppress(BrokenPipeError, ValueError):
            line = memoryview(path.encode() + b"\n")
            while line:
                line = line[self._input.write(line) or 0:]

    def end(self) -> None:
        """Names no further recording."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()

    def read(self) -> pa.RecordBatch | None:
        """The next batch of rows; `None` at a proper end, when each recording has its outcome."""
        try:
            if self._stream is None:
                self._stream = pa.ipc.open_stream(pa.PythonFile(_Whole(self), mode="r"))
            return self._stream.read_next_batch()
        except StopIteration:
            pass
        except (pa.ArrowInvalid, OSError) as error:
            # A stream that is torn is that of a process which has ended, or is no stream.
            self.end()
            if not self._has_ended():
                raise ProgramFailed(f"{self._shown}: wrote no Arrow stream: {error}") from error
        self._require_proper_end()
        return None

    def read_some(self, count: int) -> bytes | bytearray:
        """So many bytes of the output, fewer at its end only."""
        found = bytearray(count)
        view = memoryview(found)
        place = 0
        while place < count:
            if not self._selector.select(self._silence_s):
                raise ProgramFailed(f"{self._shown}: nothing came for {self._silence_s} s{self._place()}")
            size = os.readv(self.output.fileno(), [view[place:]])
            if not size:
                return bytes(view[:place])
            place += size
        return found

    def _has_ended(self) -> bool:
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _require_proper_end(self) -> None:
        status = self._process.wait()
        if status == 0 and not self.waiting and self._stream is not None:
            return
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - _MOST_WORDS))
        said = self._words.read().decode(errors="replace").strip()
        kind = ConfigurationFailed if status == _CONFIGURATION_STATUS else ProgramFailed
        raise kind(f"{self._shown}: {how}{self._place()}" + (f": {said}" if said else ""))

    def _place(self) -> str:
        return f" at {self.waiting[0]}" if self.waiting else ""


class _Whole:
    """The output as a file, for pyarrow, which takes a read of a pipe that gives less for the end."""

    closed = False

    def __init__(self, program: Program) -> None:
        self._program = program

    def read(self, count: int) -> bytes | bytearray:
        return self._program.read_some(count)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self.closed = True


def check(binary: str, config: str | None, options: Sequence[str] = ()) -> None:
    """Raises :class:`ConfigurationFailed` or :class:`ProgramFailed` unless the program starts with the configuration."""
    with Program(binary, config, options, silence_s=60) as program:
        program.end()
        while program.read():
            pass
