"""Events from a real broker into Parquet: kills of the reader and of the broker lose nothing that was not acknowledged."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import paho.mqtt.client as mqtt
import pyarrow.parquet as pq

import fleet
from binnacle_fleet import landing

MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Rows(unittest.TestCase):
    def test_event_has_its_keys(self) -> None:
        payload = b'{"seq":7,"kind":"shock","sensor":"lid","time_ns":1800000000000000001,"identity":"ab","previous":5}'
        row = landing.row("t", payload, 1)
        self.assertEqual((row["identity"], row["seq"], row["previous"], row["kind"]), ("ab", 7, 5, "shock"))
        self.assertEqual(row["time_ns"], 1_800_000_000_000_000_001)

    def test_what_is_no_event_is_kept(self) -> None:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        payloads = [
            b"", b"\xff", b"[1]", b'{"seq":"7","kind":4,"identity":null,"time_ns":1e300}', b'{"seq":99999999999999999999}',
            b'{"seq":true,"kind":"\\ud800"}', b"[" * 100_000]
        path = landing.store([landing.row("t", payload, 1) for payload in payloads], folder, "x")
        rows = pq.read_table(path).to_pylist()
        self.assertEqual([row["payload"] for row in rows], payloads)
        self.assertEqual([row["seq"] for row in rows], [None] * len(payloads))
        self.assertEqual(os.listdir(folder), [os.path.basename(path)])

    def test_full_disk_leaves_no_part(self) -> None:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        with mock.patch.object(os, "fsync", side_effect=OSError(errno.ENOSPC, "full")), self.assertRaises(OSError):
            landing.store([landing.row("t", b"", 1)], folder, "x")
        self.assertEqual(os.listdir(folder), [])

    def test_full_disk_acknowledges_nothing_and_is_tried_again(self) -> None:
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        # One of a process that was killed, and one of another that may still write it.
        for name in ("1", "1-2"):
            Path(folder, f".{name}-1700000000000000000-0123abcd.parquet.part").touch()
        reader = landing.Landing("1", folder)
        self.assertEqual(os.listdir(folder), [".1-2-1700000000000000000-0123abcd.parquet.part"])
        reader._received(None, None, mqtt.MQTTMessage(mid=7, topic=b"t"))
        with mock.patch.object(reader.client, "ack") as ack:
            said = io.StringIO()
            with mock.patch.object(os, "fsync", side_effect=OSError(errno.ENOSPC, "full")), contextlib.redirect_stderr(said):
                self.assertFalse(reader._flush())
            self.assertIn(folder, said.getvalue())
            ack.assert_not_called()
            self.assertTrue(reader._flush())
            ack.assert_called_once_with(7, 0)
        self.assertEqual((reader.written, reader.files), (1, 1))


@unittest.skipUnless(MOSQUITTO, "there is no mosquitto")
class Broker(unittest.TestCase):
    def setUp(self) -> None:
        self.base = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.base)
        self.port = fleet.free_port()
        settings = self.base / "mosquitto.conf"
        settings.write_text(f"listener {self.port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\n")
        self.broker = subprocess.Popen([str(MOSQUITTO), "-c", str(settings)], stderr=subprocess.DEVNULL)
        self.addCleanup(self.broker.wait)
        self.addCleanup(self.broker.kill)
        self.publisher = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self.wait(lambda: self.publisher.connect("127.0.0.1", self.port) == 0)
        self.publisher.loop_start()
        self.addCleanup(self.publisher.loop_stop)

    def wait(self, condition: Callable[[], bool]) -> None:
        for _ in range(600):
            try:
                if condition():
                    return
            except OSError:
                pass
            time.sleep(0.05)
        self.fail("waited for 30 s")

    def start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "binnacle_fleet.landing", str(self.base / "landed"), "--port", str(self.port),
             "--interval", "0.2"], stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        assert process.stderr
        self.addCleanup(process.stderr.close)
        return process

    def publish(self, numbers: range) -> None:
        for number in numbers:
            payload = json.dumps({"seq": number, "kind": "shock", "identity": "ab"})
            self.publisher.publish("binnacle/v1/ab/event/lid/shock", payload, qos=1).wait_for_publish(30)

    def landed(self) -> list[int]:
        return [
            seq for path in sorted((self.base / "landed").glob("*.parquet"))
            for seq in pq.read_table(path).column("seq").to_pylist()]

    def test_killed_reader_loses_nothing(self) -> None:
        first = self.start()
        # The session is there when a message has come through it.
        self.wait(lambda: self.publish(range(1)) is None and 0 in self.landed())
        self.publish(range(1, 200))
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
        self.publish(range(200, 400))
        second = self.start()
        self.wait(lambda: set(self.landed()) == set(range(400)))
        second.terminate()
        self.assertEqual(second.wait(), 0)


if __name__ == "__main__":
    unittest.main()
