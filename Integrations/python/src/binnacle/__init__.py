"""Events, live readings and samples of a Binnacle daemon, from its Unix socket.

    import binnacle

    for message in binnacle.events(kinds=["motion.began"]):
        if isinstance(message, binnacle.Event):
            print(message.sensor, message.figures["peak_g"])

    for batch in binnacle.samples(sensors=["lid"], kinds=["accelerometer"]):
        print(batch.time_ns[0], batch.x[0], batch.y[0], batch.z[0])

This file is the whole client: it needs Python 3.9 and nothing else, and may be copied under any name. The protocol is described in
binnacle-events(7).

A subscription waits for a daemon that is restarted, and continues after the last event that it had, so no event is lost that the
daemon has stored. Samples and readings are not stored: those of the meantime are gone. Every error is a `BinnacleError` that says
what is wrong and what to do.
"""

from __future__ import annotations

import errno
import json
import math
import os
import select
import socket
import stat
import struct
import threading
import time
from array import array
from dataclasses import dataclass, field
from typing import Any, Callable, Generic, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

__version__ = "0.3.0"
__all__ = [
    "BinnacleError", "Busy", "DetectorReading", "Disconnected", "Event", "Limit", "Measure", "Message", "Missed", "NoPermission",
    "NotRunning", "NotUnderstood", "Readings", "Refused", "Samples", "Span", "StreamReading", "Subscription", "default_path", "events", "readings",
    "samples", "status", "subscribe", "wall_time_ns",
]

#: The socket of the service.
SERVICE_PATH = "/run/binnacle/binnacle.sock"
#: The longest line that is read, in bytes. A daemon sends shorter ones.
LONGEST_LINE = 1 << 20
#: How long the first attempt to connect again is put off, and the last, in seconds; each waits twice as long as the one before.
FIRST_DELAY, LONGEST_DELAY = 0.2, 10.0
#: The longest that `status` waits for a whole answer, in seconds.
STATUS_TIMEOUT = 5.0
#: The longest silence before the answer to a subscription, and while it ends with the stored events, in seconds.
ANSWER_TIMEOUT = 30.0


class BinnacleError(Exception):
    """The daemon does not give what was asked for; the text says why, and what to do."""


class NotRunning(BinnacleError):
    """No daemon answers at the path."""


class Busy(BinnacleError):
    """A daemon has the socket, and does not accept the connection or has too many, or does not answer within 5 s (`status`) or 30 s."""


class NoPermission(BinnacleError):
    """This account may not connect."""


class Refused(BinnacleError):
    """The daemon refuses the request: a kind, sensor or key that it does not know.

    `column` is the byte of the request that is wrong, counted from 1, where there is one.
    """

    def __init__(self, message: str, column: Optional[int] = None) -> None:
        super().__init__(message)
        self.column = column


class Disconnected(BinnacleError):
    """The daemon has closed the connection."""


class NotUnderstood(BinnacleError):
    """What answers is no Binnacle daemon."""


@dataclass(frozen=True)
class Event:
    """Something that a detector has found, or that has happened to a sensor or a handler."""

    #: Its number; with `identity` the key of the event.
    seq: int
    #: As in "motion.began".
    kind: str
    #: The detector's name; None when the event is about a sensor itself.
    detector: Optional[str]
    #: The sensor's name; None when the event is about all.
    sensor: Optional[str]
    #: The deciding sample's stamp, in nanoseconds of the monotonic clock; None for an event without a sample.
    time_ns: Optional[int]
    #: When that was, in UTC, as in 2026-11-22T18:34:14.442907Z.
    wall_time: Optional[str]
    #: Whether no device measured it.
    simulated: bool
    #: The count that `seq` belongs to.
    identity: Optional[str]
    #: What was measured, by the names of binnacle-events(7), whose ends are the units.
    figures: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Missed:
    """Events that the daemon cannot send any more."""

    #: How many, and the numbers of the first and the last one, where that is known.
    count: Optional[int]
    first: Optional[int]
    last: Optional[int]
    reason: str


@dataclass(frozen=True)
class Samples:
    """Consecutive samples of one stream, as columns; `numpy.asarray` takes each without copying it."""

    sensor: str
    #: accelerometer, magnetometer or gyroscope.
    kind: str
    #: m/s², µT or rad/s.
    unit: str
    #: device: x to the right, y to the top, z out of the screen.
    frame: str
    #: Whether the sensor's calibration is left out.
    raw: bool
    #: Whether no device measures them.
    simulated: bool
    #: How many samples came before these and were dropped, because they were not read in time.
    lost: int
    #: The stamps in nanoseconds, of the monotonic clock; `wall_time_ns` converts them.
    time_ns: array[int]
    #: The axes in `unit`; NaN where the device gave no number.
    x: array[float]
    y: array[float]
    z: array[float]

    def __len__(self) -> int:
        return len(self.time_ns)

    def rows(self) -> Iterator[Tuple[int, float, float, float]]:
        """The samples one by one: stamp, x, y, z."""
        return zip(self.time_ns, self.x, self.y, self.z)


@dataclass(frozen=True)
class Span:
    """The least, the greatest and the last value of an interval."""

    least: float
    greatest: float
    last: float


@dataclass(frozen=True)
class StreamReading:
    """What a stream showed in an interval."""

    sensor: str
    kind: str
    #: m/s², µT or °/s.
    unit: str
    active: bool
    simulated: bool
    #: The samples of the interval.
    samples: int
    rate_hz: Optional[float]
    age_s: Optional[float]
    #: Counted since the start of the daemon.
    losses: int
    lost_samples: int
    gaps: int
    #: None without a sample.
    x: Optional[Span]
    y: Optional[Span]
    z: Optional[Span]
    length: Optional[Span]


@dataclass(frozen=True)
class Measure:
    """What a detector compares with limits; `span` is None without a sample."""

    name: str
    span: Optional[Span]


@dataclass(frozen=True)
class Limit:
    """Where something begins, and where it ends, in the unit of what it is compared with."""

    name: str
    of: str
    side: str
    begin: float
    end: float
    #: Whether a view always shows it.
    always_shown: bool = False


@dataclass(frozen=True)
class DetectorReading:
    """What a detector showed in an interval."""

    detector: str
    kind: str
    sensors: Sequence[str]
    running: bool
    state: Optional[str]
    measures: Sequence[Measure]
    limits: Sequence[Limit]
    #: Figures as in events, such as heading_deg with its accuracy_deg.
    figures: Mapping[str, Any]
    #: The drawing of the detector over time, as binnacle-events(7) describes it.
    lanes: Sequence[Any] = field(repr=False, default=())
    #: Whether `state` is one that the detector waits for, such as a motion.
    active: bool = False
    #: Whether it does not run because the machine lacks a sensor that may be missing.
    waiting: bool = False
    #: The last spectrum of a detector of vibration, as binnacle-events(7) describes it, for those who ask with "spectrum": True.
    spectrum: Optional[Mapping[str, Any]] = field(repr=False, default=None)


@dataclass(frozen=True)
class Readings:
    """What sensors and detectors showed in an interval."""

    #: The end of the interval, in nanoseconds of the monotonic clock.
    time_ns: int
    interval_s: float
    #: The number of intervals without a line, because they were not read in time; this one covers them.
    skipped: int
    streams: Sequence[StreamReading]
    detectors: Sequence[DetectorReading]


#: The path of a socket.
Path = Union[str, "os.PathLike[str]"]
#: What a subscription gives.
Message = Union[Event, Missed, Readings, Samples]
_Wanted = TypeVar("_Wanted")
_NAMED = frozenset(("seq", "kind", "detector", "sensor", "time_ns", "wall_time", "simulated", "identity"))


def _own_folder() -> Optional[str]:
    """Where this user's own daemon has its socket; None when the environment names no folder by its whole path."""
    session = os.environ.get("XDG_RUNTIME_DIR", "")
    try:
        status = os.stat(session)
        # After su the variable may name the folder of another account.
        if os.path.isabs(session) and stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
            return session
    except (OSError, ValueError):
        pass
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        state = home + "/.local/state"
    return os.path.join(state, "binnacle")


def default_path() -> str:
    """The socket of this user's own daemon where that answers, or else that of the service; root has the service alone."""
    folder = _own_folder()
    if os.geteuid() == 0 or folder is None:
        return SERVICE_PATH
    own = os.path.join(folder, "binnacle.sock")
    try:
        _connect(own).close()
        return own
    except (Busy, NoPermission):
        return own
    except BinnacleError:
        # The folder of a stopped service does not exist.
        return SERVICE_PATH if os.path.exists(os.path.dirname(SERVICE_PATH)) else own


def wall_time_ns(time_ns: int) -> int:
    """The wall-clock time of a stamp in nanoseconds since 1970, for samples that this machine's devices measure now."""
    return time_ns + time.time_ns() - time.monotonic_ns()


class Subscription(Generic[_Wanted]):
    """The messages of a daemon, as an iterator; also a context manager, which closes the connection.

    `after` and `identity` are the position behind the last event: a program that keeps both, and passes them on at its next start,
    has every event that the daemon has stored. One thread iterates; `close` may be called from any.
    """

    def __init__(
        self, request: Mapping[str, Any], wanted: Tuple[type, ...], *, path: Optional[Path] = None, reconnect: bool = True,
        wait: bool = False, on_change: Optional[Callable[[Optional[BinnacleError]], None]] = None,
    ) -> None:
        self._request = dict(request)
        self._wanted = wanted
        self._path = path
        self._used_path = ""
        self._reconnects = reconnect or wait
        self._waits = wait
        self._on_change = on_change
        self._has_answered = False
        self._is_waiting = False
        self._delay = FIRST_DELAY
        self._connection: Optional[socket.socket] = None
        self._is_read = False
        # When a daemon that has to send something has been silent for too long; None while it may be.
        self._silent_at: Optional[float] = None
        self._buffer = bytearray()
        self._known: Mapping[str, DetectorReading] = {}
        self._closed = threading.Event()
        # Which thread closes the socket is decided under it.
        self._lock = threading.RLock()

    @property
    def after(self) -> Optional[int]:
        """The number of the last event; None before the daemon's first answer, and with `since_ns` before the first event."""
        after = self._request.get("after")
        return after if isinstance(after, int) else None

    @property
    def identity(self) -> Optional[str]:
        """The count that `after` belongs to; None before the daemon's first answer."""
        identity = self._request.get("identity")
        return identity if isinstance(identity, str) else None

    def __enter__(self) -> "Subscription[_Wanted]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the subscription; an iteration in another thread ends as after a last message."""
        self._closed.set()
        with self._lock:
            if self._connection is None or not self._is_read:
                self._disconnect()
                return
            # The thread that reads closes it.
            try:
                self._connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                # The daemon was faster.
                pass

    def __iter__(self) -> Iterator[_Wanted]:
        return self

    def __next__(self) -> _Wanted:
        message = self.read()
        if message is None:
            raise StopIteration
        return message

    def read(self, timeout: Optional[float] = None) -> Optional[_Wanted]:
        """Waits for the next message, at most for a time in seconds; None when it is over, and at the end (`is_closed`)."""
        with self._lock:
            self._is_read = True
        try:
            return self._read(None if timeout is None else time.monotonic() + timeout)
        finally:
            with self._lock:
                self._is_read = False
                if self.is_closed:
                    self._disconnect()

    def _read(self, deadline: Optional[float]) -> Optional[_Wanted]:
        while not self.is_closed:
            try:
                connection = self._connected()
                line = self._line(connection, deadline)
                if line is None:
                    return None
                message = self._understood(line)
            except BinnacleError as error:
                self._disconnect()
                if self.is_closed:
                    return None
                is_transient = isinstance(error, (NotRunning, Busy, Disconnected))
                if not is_transient or not self._reconnects or not (self._has_answered or self._waits):
                    self._closed.set()
                    raise
                if not self._wait(error, deadline):
                    return None
                continue
            if message is not None and isinstance(message, self._wanted):
                return message  # type: ignore[return-value]  # It is one of the wanted types.
        return None

    @property
    def is_closed(self) -> bool:
        """Whether no further message comes."""
        return self._closed.is_set()

    def _wait(self, error: BinnacleError, deadline: Optional[float]) -> bool:
        """Waits before the next attempt; False when the caller's time is over."""
        if not self._is_waiting and self._on_change is not None:
            self._on_change(error)
        self._is_waiting = True
        delay = self._delay
        if deadline is not None and deadline - time.monotonic() < delay:
            self._closed.wait(max(0.0, deadline - time.monotonic()))
            return False
        self._delay = min(2 * delay, LONGEST_DELAY)
        self._closed.wait(delay)
        return True

    def _connected(self) -> socket.socket:
        if self._connection is not None:
            return self._connection
        # Which daemon answers may change until one has.
        path = os.fspath(self._path) if self._path else (self._used_path if self._has_answered else default_path())
        connection = _connect(path)
        self._used_path = path
        self._buffer.clear()
        # A new subscription begins with a whole line.
        self._known = {}
        with self._lock:
            self._connection = connection
            # `close` has seen no connection that it could end.
            if self.is_closed:
                raise Disconnected("the subscription is closed")
        self._silent_at = time.monotonic() + ANSWER_TIMEOUT
        _send(connection, {"subscribe": self._request})
        return connection

    def _disconnect(self) -> None:
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _line(self, connection: socket.socket, deadline: Optional[float]) -> Optional[bytes]:
        searched = 0
        while True:
            end = self._buffer.find(b"\n", searched)
            if end >= 0:
                line = bytes(self._buffer[:end])
                del self._buffer[: end + 1]
                return line
            searched = len(self._buffer)
            _require_line(searched)
            until = min((moment for moment in (deadline, self._silent_at) if moment is not None), default=None)
            if until is not None and not _has_bytes(connection, until):
                if until == deadline:
                    return None
                raise Busy(
                    f"the daemon has sent nothing for {ANSWER_TIMEOUT:g} s: it is stopped or busy; try again, and look at its log if it "
                    "stays so")
            self._buffer += _receive(connection)
            if self._silent_at is not None:
                self._silent_at = time.monotonic() + ANSWER_TIMEOUT

    def _understood(self, line: bytes) -> Optional[Message]:
        try:
            return self._message(_parse(line))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise NotUnderstood(f"the server is no Binnacle daemon, or one of another version: {error!r} in a line") from error

    def _go_on(self, seq: int) -> None:
        """A later connection continues by the number, and no longer by the time."""
        self._request["after"] = max(self.after or 0, seq)
        self._request.pop("since_ns", None)

    def _message(self, message: Mapping[str, Any]) -> Optional[Message]:
        if "kind" in message and "seq" in message:
            event = _event(message)
            self._go_on(event.seq)
            return event
        if "subscribed" in message:
            answer = message["subscribed"]
            self._request["identity"] = answer["identity"]
            # Until an event has come, a later connection begins at the time again: the answered number is that of no event.
            if self._request.get("since_ns") is None:
                self._request["after"] = answer.get("after", answer["seq"])
            self._has_answered = True
            # From now on it sends what happens, or all that is stored.
            if self._request.get("follow", True):
                self._silent_at = None
            self._delay = FIRST_DELAY
            if self._is_waiting and self._on_change is not None:
                self._on_change(None)
            self._is_waiting = False
        elif "samples" in message:
            return _samples(message["samples"])
        elif "readings" in message:
            found = _readings(message["readings"], self._known)
            self._known = {detector.detector: detector for detector in found.detectors}
            return found
        elif "missed" in message:
            body = message["missed"]
            missed = Missed(body.get("count"), body.get("from"), body.get("through"), body.get("reason", ""))
            if missed.last is not None:
                self._go_on(missed.last)
            return missed
        elif "end" in message:
            self._closed.set()
        elif "error" in message:
            raise _refusal(message["error"], self._used_path)
        # What a newer daemon sends besides is passed over.
        return None


def subscribe(
    *, kinds: Optional[Iterable[str]] = None, sensors: Optional[Iterable[str]] = None, after: Optional[int] = None,
    identity: Optional[str] = None, since_ns: Optional[int] = None, follow: bool = True,
    readings: Optional[Mapping[str, Any]] = None, samples: Optional[Mapping[str, Any]] = None, path: Optional[Path] = None,
    reconnect: bool = True, wait: bool = False, on_change: Optional[Callable[[Optional[BinnacleError]], None]] = None,
) -> Subscription[Message]:
    """Events, and between them readings and samples, from one connection.

    `readings` and `samples` are objects as in the protocol, such as {"interval_s": 0.5}. The other parameters are those of
    `events`; with `kinds=[]` there are no events.
    """
    request = _request(
        kinds=kinds, sensors=sensors, after=after, identity=identity, since_ns=since_ns, follow=follow, readings=readings,
        samples=samples)
    types = (Event, Missed, Readings, Samples)
    return Subscription(request, types, path=path, reconnect=reconnect, wait=wait, on_change=on_change)


def events(
    kinds: Optional[Iterable[str]] = None, sensors: Optional[Iterable[str]] = None, *, after: Optional[int] = None,
    identity: Optional[str] = None, since_ns: Optional[int] = None, follow: bool = True, path: Optional[Path] = None,
    reconnect: bool = True, wait: bool = False, on_change: Optional[Callable[[Optional[BinnacleError]], None]] = None,
) -> Subscription[Union[Event, Missed]]:
    """Events, from now on or from a place in the past.

    kinds      such as ["motion.began"]; without it all but those that repeat an ongoing state
    sensors    the names of sensors; without it all, and events without a sensor
    after      the number of the event behind which to begin, with its `identity`; 0 is the oldest that is stored
    since_ns   begin at a time, in nanoseconds since 1970
    follow     False ends with the events up to now
    path       the socket; without it `default_path()`
    reconnect  wait for a daemon that goes away, and continue behind the last event
    wait       wait also for a daemon that is not there yet
    on_change  called with the error when the daemon goes away, and with None when it answers again
    """
    request = _request(kinds=kinds, sensors=sensors, after=after, identity=identity, since_ns=since_ns, follow=follow)
    return Subscription(request, (Event, Missed), path=path, reconnect=reconnect, wait=wait, on_change=on_change)


def samples(
    sensors: Optional[Iterable[str]] = None, kinds: Optional[Iterable[str]] = None, *, raw: bool = False, interval_s: float = 0,
    path: Optional[Path] = None, reconnect: bool = True, wait: bool = False,
    on_change: Optional[Callable[[Optional[BinnacleError]], None]] = None,
) -> Subscription[Samples]:
    """The samples of sensors as they come, in batches of one stream each.

    sensors     the names of sensors; without it all. One that the daemon does not have is `Refused`, with the names that it has
    kinds       accelerometer, magnetometer, gyroscope; without it all
    raw         leave out the sensors' calibrations
    interval_s  collect samples for as long, up to 1; 0 gives at once what the daemon reads
    """
    wanted: dict[str, Any] = {}
    if sensors is not None:
        wanted["sensors"] = _names("sensors", sensors)
    if kinds is not None:
        wanted["kinds"] = _names("kinds", kinds)
    if raw:
        wanted["raw"] = True
    if interval_s:
        wanted["interval_s"] = interval_s
    request = _request(kinds=[], samples=wanted)
    return Subscription(request, (Samples,), path=path, reconnect=reconnect, wait=wait, on_change=on_change)


def readings(
    interval_s: float = 0.1, sensors: Optional[Iterable[str]] = None, *, path: Optional[Path] = None, reconnect: bool = True,
    wait: bool = False, on_change: Optional[Callable[[Optional[BinnacleError]], None]] = None,
) -> Subscription[Readings]:
    """What sensors and detectors show, for each interval of 0.03 to 60 seconds; a slow reader gets fewer, each for a longer time."""
    wanted: dict[str, Any] = {"interval_s": interval_s}
    if sensors is not None:
        wanted["sensors"] = _names("sensors", sensors)
    request = _request(kinds=[], readings=wanted)
    return Subscription(request, (Readings,), path=path, reconnect=reconnect, wait=wait, on_change=on_change)


def status(path: Optional[Path] = None) -> Mapping[str, Any]:
    """The state of the daemon, as `binnacle status --json` prints it."""
    named = os.fspath(path or default_path())
    with _connect(named) as connection:
        deadline = time.monotonic() + STATUS_TIMEOUT
        _send(connection, {"status": {}})
        line = bytearray()
        while b"\n" not in line:
            _require_line(len(line))
            if not _has_bytes(connection, deadline):
                raise Busy(
                    f"the daemon does not answer within {STATUS_TIMEOUT:g} s: it is stopped or busy; try again, and look at its log "
                    "if it stays so")
            line += _receive(connection)
        message = _parse(bytes(line[: line.index(b"\n")]))
    if isinstance(message.get("error"), dict):
        raise _refusal(message["error"], named)
    found = message.get("status")
    if not isinstance(found, dict):
        raise NotUnderstood("the server is no Binnacle daemon: its answer to `status` is none")
    return found


def _request(
    *, kinds: Optional[Iterable[str]] = None, sensors: Optional[Iterable[str]] = None, **others: Any
) -> Mapping[str, Any]:
    request = {key: value for key, value in others.items() if value is not None}
    if kinds is not None:
        request["kinds"] = _names("kinds", kinds)
    if sensors is not None:
        request["sensors"] = _names("sensors", sensors)
    return request


def _names(what: str, names: Iterable[str]) -> List[str]:
    if isinstance(names, str):
        raise TypeError(f"{what} has to be a list of names, as in [{names!r}]")
    return list(names)


def _connect(path: str) -> socket.socket:
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError as error:
        raise BinnacleError(f"{path}: no socket can be made: {error.strerror or error}") from error
    try:
        # Where the queue of a daemon is full, connect(2) would wait without end.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 1, 0))
        connection.connect(path)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 0, 0))
    except OSError as error:
        connection.close()
        if error.errno == errno.EAGAIN:
            raise Busy(
                f"{path}: the daemon does not accept the connection: it is stopped, busy, or has no descriptor left; try again, and "
                "look at its log if it stays so") from None
        if error.errno in (errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR):
            raise NotRunning(
                f"{path}: no daemon answers; is the service running (systemctl status binnacle), and has its configuration a [socket]? "
                "'binnacle run' starts a daemon of your own, and path= names another socket") from None
        if error.errno in (errno.EACCES, errno.EPERM):
            raise NoPermission(
                f"{path}: you may not connect; the socket's group and mode decide who may: as a rule, the members of the group "
                "binnacle") from None
        raise BinnacleError(f"{path}: {error.strerror or error}") from error
    return connection


def _send(connection: socket.socket, request: Mapping[str, Any]) -> None:
    try:
        connection.sendall(json.dumps(request).encode() + b"\n")
    except (BrokenPipeError, ConnectionResetError):
        # The daemon has sent the reason before it closed the connection.
        pass
    except OSError as error:
        raise BinnacleError(f"the request cannot be sent: {error.strerror or error}") from error


def _has_bytes(connection: socket.socket, deadline: float) -> bool:
    """Waits for bytes, or for the end; false when neither came until a time of `time.monotonic`."""
    # Not select, which fails for descriptors from 1,024 on.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    while True:
        left = max(0.0, deadline - time.monotonic())
        # poll counts milliseconds in 32 bits.
        if poll.poll(min(left, 3600.0) * 1000):
            return True
        if left <= 3600.0:
            return False


def _receive(connection: socket.socket) -> bytes:
    try:
        received = connection.recv(1 << 16)
    except ConnectionResetError:
        received = b""
    except OSError as error:
        raise BinnacleError(f"nothing can be read from the daemon: {error.strerror or error}") from error
    if not received:
        raise Disconnected("the daemon has closed the connection; 'binnacle status' says whether it is running")
    return received


def _require_line(length: int) -> None:
    if length > LONGEST_LINE:
        raise NotUnderstood(f"the server is no Binnacle daemon: it sends a line of more than {LONGEST_LINE} bytes")


def _parse(line: bytes) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise NotUnderstood(f"the server is no Binnacle daemon: {error}") from None
    if not isinstance(message, dict):
        raise NotUnderstood("the server is no Binnacle daemon: a line is no object")
    return message


def _refusal(error: Mapping[str, Any], path: str) -> BinnacleError:
    # The text is from an unknown server, and must not control a terminal.
    text = "".join(letter if letter.isprintable() else "?" for letter in str(error.get("message", "")))
    if text.startswith("no permission"):
        return NoPermission(f"{path}: {text}")
    if error.get("busy") is True:
        return Busy(f"{path}: {text}; close one, or try again later")
    return Refused(f"the daemon refuses: {text}", error.get("column"))


def _event(message: Mapping[str, Any]) -> Event:
    return Event(
        seq=message["seq"], kind=message["kind"], detector=message.get("detector"), sensor=message.get("sensor"),
        time_ns=message.get("time_ns"), wall_time=message.get("wall_time"), simulated=message.get("simulated", False),
        identity=message.get("identity"), figures={key: value for key, value in message.items() if key not in _NAMED})


def _axis(values: Sequence[Optional[float]]) -> array[float]:
    return array("d", [math.nan if value is None else value for value in values])


def _samples(body: Mapping[str, Any]) -> Samples:
    return Samples(
        sensor=body["sensor"], kind=body["kind"], unit=body["unit"], frame=body["frame"], raw=body["raw"],
        simulated=body.get("simulated", False), lost=body["lost"], time_ns=array("q", body["time_ns"]), x=_axis(body["x"]),
        y=_axis(body["y"]), z=_axis(body["z"]))


def _span(values: Optional[Sequence[float]]) -> Optional[Span]:
    return None if values is None else Span(*values)


def _readings(body: Mapping[str, Any], known: Mapping[str, DetectorReading]) -> Readings:
    streams = [
        StreamReading(
            sensor=stream["sensor"], kind=stream["kind"], unit=stream["unit"], active=stream["active"],
            simulated=stream.get("simulated", False), samples=stream["samples"], rate_hz=stream.get("rate_hz"),
            age_s=stream.get("age_s"), losses=stream["losses"], lost_samples=stream["lost_samples"], gaps=stream["gaps"],
            x=_span(stream.get("x")), y=_span(stream.get("y")), z=_span(stream.get("z")), length=_span(stream.get("length")))
        for stream in body["streams"]
    ]
    detectors = [_detector(one, known.get(one["detector"])) for one in body["detectors"]]
    return Readings(body["time_ns"], body["interval_s"], body["skipped"], streams, detectors)


def _detector(body: Mapping[str, Any], known: Optional[DetectorReading]) -> DetectorReading:
    return DetectorReading(
        detector=body["detector"], kind=body["kind"], sensors=body["sensors"], running=body["running"], state=body.get("state"),
        measures=[Measure(measure["name"], _span(measure.get("span"))) for measure in body["measures"]],
        limits=[
            Limit(limit["name"], limit["of"], limit["side"], limit["begin"], limit["end"], limit.get("always_shown", False))
            for limit in body["limits"]
        ],
        figures=body["figures"],
        # The daemon sends lanes and spectra once, and again when they have changed.
        lanes=body.get("lanes", known.lanes if known else ()), active=body.get("active", False),
        waiting=body.get("waiting", False), spectrum=body.get("spectrum", known.spectrum if known else None))
