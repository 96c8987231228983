"""The data source in a real Spark: its rows against a shell loop's, byte for byte, also where processes are killed.

The short form is 20 recordings on local[2]. The long form is 500 on local-cluster, with two executors of their own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

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
    @classmethod
    def setUpClass(cls) -> None:
        cls.base = Path(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
        cls.root = cls.base / "recordings"
        devices, days, seconds = (100, 5, 600) if fleet.IS_LONG else (7, 2, 60)
        cls.refused = fleet.make(cls.root, devices, days, seconds)
        if fleet.IS_LONG:
            fleet.make_long(cls.root, 100_000_000)
        for name in ("ROLLED_OUT", "CANDIDATE"):
            (cls.base / f"{name.lower()}.toml").write_text(getattr(fleet, name))
        cls.spark = session("local-cluster[2,1,700]" if fleet.IS_LONG else "local[2,4]")

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
            python=shutil.which("python3"), marks=str(marks), binary=fleet.BINARY, executors=fleet.IS_LONG))
        shim.chmod(0o755)
        written = str(self.base / "written")
        self.load(binary=shim, partitions=6).write.partitionBy("day").parquet(written)
        killed = {"program", "worker", "executor"} if fleet.IS_LONG else {"program", "worker"}
        self.assertEqual(set(os.listdir(marks)), killed)
        # Spark guesses that a folder's day is a date.
        rows = self.rows(self.spark.read.parquet(written))
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


if __name__ == "__main__":
    unittest.main()
