"""The data source in a real Spark: its rows against a shell loop's, byte for byte, also where processes are killed.

The short form is 20 recordings on local[2]. The long form is 500 on local-cluster, with two executors of their own, and then on
a standalone cluster of two workers, which are processes of their own, too. BINNACLE_FLEET_DEVICES makes fewer than 100 devices.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import pyarrow.dataset
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import fleet
from binnacle_fleet import backtest, schema


#: Reads names as the program does, and kills a process once when a recording is named: itself with the program, the
#: Python worker, or the JVM of the executor.
SHIM = """#!{python}
import os, subprocess, sys, time

def once(name):
    try:
        os.mkdir(os.path.join({marks!r}, name))
        return True
    except FileExistsError:
        return False

def up(process):
    return int(open(f"/proc/{{process}}/stat").read().rsplit(")", 1)[1].split()[1])

program = subprocess.Popen([{binary!r}, *sys.argv[1:]], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if b"16/device=dev0003" in line and once("program"):
        program.kill()
        os.kill(os.getpid(), 9)
    if b"16/device=dev0005" in line and once("worker"):
        os.kill(os.getppid(), 9)
    if {executors} and b"16/device=dev0002" in line and once("executor"):
        process = os.getppid()
        while open(f"/proc/{{process}}/comm").read().strip() != "java":
            process = up(process)
        os.kill(process, 9)
    if {nodes} and b"16/device=dev0004" in line and once("node"):
        process = os.getppid()
        while open(f"/proc/{{process}}/comm").read().strip() != "java":
            process = up(process)
        # An executor's parent is the worker, which is the node.
        node = up(process)
        os.kill(node, 9)
        os.kill(process, 9)
    program.stdin.write(line)
    program.stdin.flush()
program.stdin.close()
sys.exit(program.wait())
"""


def session(master: str) -> SparkSession:
    paths = os.environ.get("PYTHONPATH", "")
    # Spark starts `python3` of PATH otherwise, which need not be the one with this package.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # A kill is answered by another try: local[2] alone never tries again.
    return (
        SparkSession.builder.master(master).appName("binnacle").config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", paths).config("spark.executor.memory", "700m")
        .config("spark.driver.memory", "700m").config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2").getOrCreate())


class Source(unittest.TestCase):
    master = "local-cluster[2,1,700]" if fleet.IS_LONG else "local[2,4]"
    killed = ["program", "worker", "executor"] if fleet.IS_LONG else ["program", "worker"]

    @classmethod
    def setUpClass(cls) -> None:
        cls.base = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        cls.root = cls.base / "recordings"
        devices, days, seconds = (int(os.environ.get("BINNACLE_FLEET_DEVICES", 100)), 5, 600) if fleet.IS_LONG else (7, 2, 60)
        cls.refused = fleet.make(cls.root, devices, days, seconds)
        if fleet.IS_LONG:
            fleet.make_long(cls.root, 100_000_000)
        for name in ("ROLLED_OUT", "CANDIDATE", "HEADING"):
            (cls.base / f"{name.lower()}.toml").write_text(getattr(fleet, name))
        cls.spark = session(cls.master)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.spark.stop()
        shutil.rmtree(cls.base)

    def load(self, **options: object) -> DataFrame:
        reader = self.spark.read.format("binnacle").option("binary", str(options.pop("binary", fleet.BINARY)))
        for key, value in options.items():
            reader = reader.option(key, str(value))
        return reader.load(str(self.root))

    def rows(self, frame: DataFrame) -> list[dict[str, object]]:
        return [row.asDict() for row in frame.collect()]

    def test_same_as_a_shell_loop_also_after_kills(self) -> None:
        marks = self.base / "marks"
        marks.mkdir()
        shim = self.base / "shim"
        shim.write_text(SHIM.format(
            python=shutil.which("python3"), marks=str(marks), binary=fleet.BINARY, executors="executor" in self.killed,
            nodes="node" in self.killed))
        shim.chmod(0o755)
        written = str(self.base / "written")
        self.load(binary=shim, partitions=6).write.partitionBy("day").parquet(written)
        self.assertEqual(set(os.listdir(marks)), set(self.killed))
        table = pyarrow.dataset.dataset(written, partitioning="hive").to_table()
        rows = table.to_pylist()
        for row in rows:
            row["skipped"] = dict(row["skipped"] or [])
        loop = fleet.shell_loop(self.root)
        self.assertGreater(sum(map(len, loop.values())), 50)
        self.assertEqual(fleet.differences(rows, loop), [])
        failed = {row["recording"]: row["status"] for row in rows if row["kind"] == schema.FAILED}
        self.assertEqual(failed, {name: 66 if "missing" in name else 65 for name in self.refused})

    def test_backtest(self) -> None:
        before, after = (str(self.base / f"{name}.toml") for name in ("rolled_out", "candidate"))
        rows = self.rows(backtest.compare(self.load(config=f"{before},{after}"), before, after))
        counts, _ = backtest.run(str(self.root), [before, after], binary=fleet.BINARY)
        wanted = {(device, kind): (old, new) for device, kind, old, new in counts.differences(before, after)}
        self.assertEqual({(row["device"], row["kind"]): (row[before], row[after]) for row in rows}, wanted)
        self.assertEqual([abs(row["more"]) for row in rows], sorted((abs(row["more"]) for row in rows), reverse=True))

    def test_backtest_leaves_out_what_failed(self) -> None:
        before, after = (str(self.base / f"{name}.toml") for name in ("rolled_out", "heading"))
        rows = self.rows(backtest.compare(self.load(config=f"{before},{after}"), before, after))
        counts, _ = backtest.run(str(self.root), [before, after], binary=fleet.BINARY)
        wanted = {(device, kind): (old, new) for device, kind, old, new in counts.differences(before, after)}
        self.assertEqual({(row["device"], row["kind"]): (row[before], row[after]) for row in rows}, wanted)
        self.assertNotIn("dev0001", {device for device, _ in wanted})

    def test_columns_have_their_types(self) -> None:
        types = dict(self.load().dtypes)
        self.assertEqual(
            [types[name] for name in ("time_ns", "onset_ns", "peak_g", "skipped", "time", "simulated")],
            ["bigint", "bigint", "double", "map<string,bigint>", "timestamp", "boolean"])

    def test_what_cannot_be_used_ends_the_job(self) -> None:
        with self.assertRaisesRegex(Exception, "missing.toml"):
            self.load(config="/missing.toml").count()
        with self.assertRaisesRegex(Exception, "no option of binnacle: threshold"):
            self.load(threshold=1).count()


@unittest.skipUnless(fleet.IS_LONG, "a cluster of several processes is part of the long form")
class Standalone(Source):
    """A master and two workers with a core each, as processes of their own, of which one is killed with its executor."""

    killed = ["program", "worker", "executor", "node"]
    parties: list[subprocess.Popen[bytes]] = []

    @classmethod
    def setUpClass(cls) -> None:
        cls.logs = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        port = fleet.free_port()
        cls.master = f"spark://127.0.0.1:{port}"
        cls.start("master", "Master", "I have been elected leader", "--port", str(port))
        for number in range(2):
            cls.start(
                f"worker{number}", "Worker", "Successfully registered", "-c", "1", "-m", "1500m", "--work-dir",
                str(cls.logs / f"work{number}"), cls.master)
        super().setUpClass()

    @classmethod
    def start(cls, name: str, what: str, words: str, *arguments: str) -> None:
        """Starts a party with its class: the package of PyPI has no script for that."""
        home = Path(pyspark.__file__).parent
        log = cls.logs / name
        environment = {
            **os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable}
        with log.open("wb") as output:
            cls.parties.append(subprocess.Popen(
                [home / "bin/spark-class", f"org.apache.spark.deploy.{what.lower()}.{what}", "--host", "127.0.0.1",
                 "--webui-port", "0", *arguments], stdout=output, stderr=output, env=environment))
        end = time.monotonic() + 180
        while words not in log.read_text(errors="replace"):
            assert time.monotonic() < end and cls.parties[-1].poll() is None, log.read_text(errors="replace")[-2000:]
            time.sleep(0.2)

    @classmethod
    def tearDownClass(cls) -> None:
        super().tearDownClass()
        for party in cls.parties:
            party.kill()
            party.wait()
        shutil.rmtree(cls.logs, ignore_errors=True)

    def test_backtest(self) -> None:
        self.skipTest("that is the same on every cluster")

    test_columns_have_their_types = test_what_cannot_be_used_ends_the_job = test_backtest
    test_backtest_leaves_out_what_failed = test_backtest


if __name__ == "__main__":
    unittest.main()
