"""Events from a broker into Parquet files, at least once.

A message is acknowledged when the file that holds it is on the disk under its final name. So a crash of this process,
of the broker or of the machine costs a repetition, and never an event. A repetition has the same `identity`, `seq` and
`kind` (and `time_ns`, of the kinds that repeat a state).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import sys
import time
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import paho.mqtt.client as mqtt

#: The topics of all events in the layout `binnacle/v1`.
TOPIC = "binnacle/v1/+/event/#"
_KEYS: dict[str, tuple[type, pa.DataType]] = {
    "identity": (str, pa.string()), "seq": (int, pa.int64()), "previous": (int, pa.int64()), "kind": (str, pa.string()),
    "detector": (str, pa.string()), "sensor": (str, pa.string()), "time_ns": (int, pa.int64()),
    "wall_time": (str, pa.string()),
}
#: What is known of each message: its topic and bytes as they came, what makes an event one event, and when it came.
SCHEMA = pa.schema([
    ("topic", pa.string()), ("payload", pa.binary()), *((name, kind) for name, (_, kind) in _KEYS.items()),
    ("received", pa.timestamp("us", tz="UTC")),
])
#: As many messages wait for a file; the broker holds back the others.
_MOST_WAITING = 20_000
#: How long a folder that takes no file is left alone, in seconds, unless the interval between two files is longer.
_RETRY_S = 5.0
_LARGEST_INTEGER = 2**63


def row(topic: str, payload: bytes, received_us: int) -> dict[str, object]:
    """The row of a message, also of one that is no event: then its keys are null."""
    try:
        event = json.loads(payload)
    except (ValueError, RecursionError):
        event = None
    event = event if isinstance(event, dict) else {}
    found = {name: _checked(event.get(name), kind) for name, (kind, _) in _KEYS.items()}
    return {"topic": topic, "payload": payload, **found, "received": received_us}


def _checked(value: object, kind: type) -> object:
    if isinstance(value, bool) or not isinstance(value, kind):
        return None
    if isinstance(value, int):
        return value if -_LARGEST_INTEGER <= value < _LARGEST_INTEGER else None
    # A lone surrogate is no text of Arrow's.
    return value.encode(errors="replace").decode() if isinstance(value, str) else value


def store(rows: Sequence[dict[str, object]], folder: str, name: str) -> str:
    """Writes a file, and returns its path when it is on the disk under it."""
    final = os.path.join(folder, f"{name}-{time.time_ns()}-{uuid.uuid4().hex[:8]}.parquet")
    # Readers of a folder leave out names that begin so.
    part = os.path.join(folder, f".{os.path.basename(final)}.part")
    try:
        with open(part, "wb") as file:
            pq.write_table(pa.Table.from_pylist(list(rows), SCHEMA), file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, final)
    except BaseException:
        # A full disk would be filled by what no reader sees.
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return final


def remove_parts(folder: str, name: str) -> None:
    """Removes the parts of files that a process of this name has left when it was killed."""
    part = re.compile(rf"\.{re.escape(name)}-\d+-[0-9a-f]{{8}}\.parquet\.part")
    for found in os.listdir(folder):
        if part.fullmatch(found):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, found))


class Landing:
    """A subscriber with a session that the broker keeps, and its folder."""

    def __init__(self, name: str, folder: str, *, topic: str = TOPIC, interval_s: float = 2, session_s: int = 86_400) -> None:
        import paho.mqtt.client as mqtt
        from paho.mqtt.enums import CallbackAPIVersion
        from paho.mqtt.packettypes import PacketTypes
        from paho.mqtt.properties import Properties

        self._name, self._folder, self._topic, self._interval_s = name, folder, topic, interval_s
        os.makedirs(folder, exist_ok=True)
        remove_parts(folder, name)
        self._waiting: list[mqtt.MQTTMessage] = []
        self._rows: list[dict[str, object]] = []
        self._error_success = mqtt.MQTT_ERR_SUCCESS
        self.written = self.files = 0
        self.is_stopped = False
        self.client = mqtt.Client(
            CallbackAPIVersion.VERSION2, client_id=f"binnacle-landing-{name}", protocol=mqtt.MQTTv5, manual_ack=True)
        self.client.on_connect = self._connected
        self.client.on_message = self._received
        self._properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        self._properties.SessionExpiryInterval = session_s
        self._properties.ReceiveMaximum = _MOST_WAITING

    def run(self, host: str, port: int) -> None:
        """Takes messages until :attr:`is_stopped` is set; comes back by itself when the broker was away or the disk full."""
        is_connected, has_room, last = False, True, time.monotonic()
        while not self.is_stopped:
            try:
                if not is_connected:
                    self.client.connect(host, port, keepalive=30, clean_start=False, properties=self._properties)
                    is_connected = True
                if self.client.loop(0.2) != self._error_success:
                    raise ConnectionError("the connection has ended")
            except OSError as error:
                print(f"binnacle-landing: {host}:{port}: {error}; trying again", file=sys.stderr)
                is_connected = False
                time.sleep(1)
            pause = self._interval_s if has_room else max(self._interval_s, _RETRY_S)
            if time.monotonic() - last >= pause or has_room and len(self._rows) >= _MOST_WAITING // 2:
                has_room = self._flush()
                last = time.monotonic()
        self._flush()
        if is_connected:
            self.client.loop(0.2)
            self.client.disconnect()
            self.client.loop(0.2)

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            print(f"binnacle-landing: the broker refuses: {reason}", file=sys.stderr)
            return
        # What was not acknowledged comes again, unless the broker has lost it. So it is kept now, and acknowledged when
        # it comes again: an acknowledgement of the old connection means nothing to the new one.
        self._waiting = []
        if not self._write() and len(self._rows) >= _MOST_WAITING:
            # With a full disk they would become more at each connection. The broker has them all.
            self._rows = []
        client.subscribe(self._topic, qos=1)

    def _received(self, client: Any, data: Any, message: mqtt.MQTTMessage) -> None:
        self._waiting.append(message)
        self._rows.append(row(message.topic, message.payload, time.time_ns() // 1000))

    def _write(self) -> bool:
        """Writes what has come; false, with a message, when the folder takes no file: it is kept."""
        if self._rows:
            try:
                store(self._rows, self._folder, self._name)
            except OSError as error:
                print(
                    f"binnacle-landing: {self._folder}: no file can be written: {error}; no message is acknowledged until one is",
                    file=sys.stderr)
                return False
            self.written += len(self._rows)
            self.files += 1
            self._rows = []
        return True

    def _flush(self) -> bool:
        if not self._write():
            return False
        for message in self._waiting:
            self.client.ack(message.mid, message.qos)
        self._waiting = []
        return True


def main(arguments: Sequence[str] | None = None) -> int:
    """`binnacle-landing`."""
    parser = argparse.ArgumentParser(
        prog="binnacle-landing", description="Writes events from a broker into Parquet files, and acknowledges them then.")
    parser.add_argument("folder")
    parser.add_argument("--host", default="localhost")
    parser.add_argument("--port", type=int, default=1883)
    parser.add_argument("--name", default="1", help="names the session and the files; one for each process")
    parser.add_argument("--topic", default=TOPIC)
    parser.add_argument("--interval", type=float, default=2, metavar="SECONDS", help="between two files")
    parser.add_argument("--user")
    parser.add_argument("--password-file")
    parser.add_argument("--cafile", help="the authority of the broker's certificate: makes the connection TLS")
    options = parser.parse_args(arguments)
    landing = Landing(options.name, options.folder, topic=options.topic, interval_s=options.interval)
    if options.user:
        with open(options.password_file or os.devnull) as file:
            landing.client.username_pw_set(options.user, file.read().strip() or None)
    if options.cafile:
        landing.client.tls_set(options.cafile)

    def stop(*_: object) -> None:
        landing.is_stopped = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    landing.run(options.host, options.port)
    print(f"binnacle-landing: {landing.written} messages in {landing.files} files", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
