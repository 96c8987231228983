"""Recordings in an object store that speaks S3, with and without Spark. BINNACLE_S3_SERVER names moto's server."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.fs

import fleet
from binnacle_fleet import SCHEMA, find, replay

SERVER = os.environ.get("BINNACLE_S3_SERVER", "")


@unittest.skipUnless(SERVER, "BINNACLE_S3_SERVER names no server")
class ObjectStore(unittest.TestCase):
    def setUp(self) -> None:
        port = fleet.free_port()
        self.server = subprocess.Popen(
            [SERVER, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        limit = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                self.assertLess(time.monotonic(), limit, "the server does not answer")
                time.sleep(0.1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name, "recordings")
        fleet.make(self.root, devices=6, days=1, seconds=30)
        self.store = pyarrow.fs.S3FileSystem(
            access_key="someone", secret_key="secret", endpoint_override=f"127.0.0.1:{port}", scheme="http",
            region="eu-central-1", allow_bucket_creation=True)
        self.store.create_dir("fleet")
        for path in self.root.rglob("rec.*"):
            if path.exists():
                with self.store.open_output_stream(f"fleet/{path.relative_to(self.root)}") as output:
                    output.write(path.read_bytes())
        self.uri = (
            "s3://someone:secret@fleet?scheme=http&region=eu-central-1&endpoint_override=" + quote(f"127.0.0.1:{port}"))

    def end(self) -> None:
        self.server.kill()
        self.server.wait()

    def loop(self) -> dict[str, list[bytes]]:
        # A reason names the file, which has no path here; a link has no object.
        return {
            name: [line.replace(f"{self.root}/".encode(), b"") for line in lines]
            for name, lines in fleet.shell_loop(self.root).items() if "missing" not in name}

    def test_same_as_files(self) -> None:
        rows = pa.Table.from_batches(list(replay(find(self.uri), binary=fleet.BINARY)), SCHEMA).to_pylist()
        self.assertGreater(len(rows), 50)
        self.assertEqual(fleet.differences(rows, self.loop()), [])
        self.assertNotIn("secret", str(rows))

    def test_an_object_that_went_becomes_a_row_and_a_store_that_went_fails_the_task(self) -> None:
        objects = list(find(self.uri))
        self.store.delete_file(objects[0].path)
        batches = list(replay(objects[:2], binary=fleet.BINARY))
        rows = [row for batch in batches for row in batch.to_pylist() if row["kind"].startswith("recording.")]
        self.assertEqual({row["recording"]: row["status"] for row in rows}, {objects[0].name: 66, objects[1].name: 0})
        self.end()
        with self.assertRaisesRegex(OSError, objects[1].name):
            list(replay(objects[1:], binary=fleet.BINARY))

    def test_spark(self) -> None:
        from test_spark import session

        spark = session("local[2,2]")
        self.addCleanup(spark.stop)
        frame = spark.read.format("binnacle").option("binary", fleet.BINARY).load(self.uri)
        rows = [row.asDict() for row in frame.collect()]
        self.assertEqual(fleet.differences(rows, self.loop()), [])


if __name__ == "__main__":
    unittest.main()
