"""The program: one process of `binnacle replay --each`, which plays one recording after another."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections import deque
from collections.abc import Iterator, Sequence

#: Exit statuses of a recording that say something about the recording, and would be the same again: it was played; it
#: is not what the configuration needs; it is damaged; it is not there; it may not be read.
OF_THE_RECORDING = (0, 64, 65, 66, 77)
_CONFIGURATION_STATUS = 78

_BLOCK = 1 << 20
#: How much of what the program said last is part of an error.
_MOST_WORDS = 4096
# Within a string of JSON each quote has a backslash before it, so these bytes are the key itself.
_OUTCOME = b'"kind":"recording.'


class ProgramFailed(Exception):
    """The process failed, not a recording: the task can be tried again."""


class ConfigurationFailed(ProgramFailed):
    """The program refuses the configuration; another try would end in the same way."""


class Program:
    """A running `binnacle replay --each`. It is ended by leaving the `with` statement."""

    def __init__(self, binary: str, config: str | None, options: Sequence[str] = (), silence_s: float = 3600) -> None:
        arguments = [binary, "replay", "--each", *options, *(["--config", config] if config else [])]
        self._shown = " ".join(arguments)
        self._silence_s = silence_s
        try:
            self._process = subprocess.Popen(
                arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        except OSError as error:
            raise ProgramFailed(f"{binary}: cannot be started: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._input, self._output, self._errors = self._process.stdin, self._process.stdout, self._process.stderr
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._selector.register(self._errors, selectors.EVENT_READ)
        self._words = b""
        self._rest = b""
        self._waiting: deque[str] = deque()

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._selector.close()
        for pipe in (self._input, self._output, self._errors):
            pipe.close()

    @property
    def waiting(self) -> tuple[str, ...]:
        """The recordings that were named and have no outcome yet."""
        return tuple(self._waiting)

    def name(self, path: str) -> None:
        """Names the next recording. The path has no line feed in it; a pipe holds some names ahead."""
        self._waiting.append(path)
        try:
            self._input.write(path.encode() + b"\n")
        except BrokenPipeError:
            pass  # Why it ended is found where its output ends.

    def lines(self) -> Iterator[tuple[bytes, bytes | None]]:
        """Yields whole lines of events, and with the last of a recording its outcome, up to the first outcome."""
        while True:
            end = self._rest.rfind(b"\n") + 1
            block = self._rest[:end]
            place = block.find(_OUTCOME)
            if place >= 0:
                first = block.rfind(b"\n", 0, place) + 1
                last = block.index(b"\n", place) + 1
                self._rest = self._rest[last:]
                self._waiting.popleft()
                yield block[:first], block[first:last]
                return
            if end:
                self._rest = self._rest[end:]
                yield block, None
            self._rest += self._read()

    def end(self) -> None:
        """Names no further recording, and waits for the end, which has to be a proper one."""
        self._input.close()
        while True:
            block = self._read(may_end=True)
            if not block:
                return
            raise ProgramFailed(f"{self._shown}: wrote {block[:200]!r} behind the last outcome")

    def _read(self, may_end: bool = False) -> bytes:
        while True:
            ready = self._selector.select(self._silence_s)
            if not ready:
                raise ProgramFailed(f"{self._shown}: nothing came for {self._silence_s} s{self._place()}")
            for key, _ in ready:
                if key.fileobj is self._errors:
                    words = os.read(self._errors.fileno(), _BLOCK)
                    self._words = (self._words + words)[-_MOST_WORDS:]
                    if not words:
                        self._selector.unregister(self._errors)
            if any(key.fileobj is self._output for key, _ in ready):
                block = os.read(self._output.fileno(), _BLOCK)
                if not block:
                    self._require_proper_end(may_end)
                return block

    def _require_proper_end(self, may_end: bool) -> None:
        # Its last words may still be in the pipe.
        while not self._errors.closed and (words := os.read(self._errors.fileno(), _BLOCK)):
            self._words = (self._words + words)[-_MOST_WORDS:]
        status = self._process.wait()
        if status == 0 and may_end and not self._waiting:
            return
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        said = self._words.decode(errors="replace").strip()
        kind = ConfigurationFailed if status == _CONFIGURATION_STATUS else ProgramFailed
        raise kind(f"{self._shown}: {how}{self._place()}" + (f": {said}" if said else ""))

    def _place(self) -> str:
        return f" at {self._waiting[0]}" if self._waiting else ""


def check(binary: str, config: str | None, options: Sequence[str] = ()) -> None:
    """Raises :class:`ConfigurationFailed` or :class:`ProgramFailed` unless the program starts with the configuration."""
    with Program(binary, config, options, silence_s=60) as program:
        program.end()
