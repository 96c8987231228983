"""Events without Spark: against a shell loop, with damaged recordings, and with processes that fail."""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import fleet
from binnacle_fleet import SCHEMA, ConfigurationFailed, ProgramFailed, Recording, find, pack, partition_keys, replay, schema


def rows(batches: object) -> list[dict[str, object]]:
    return pa.Table.from_batches(list(batches), SCHEMA).to_pylist()


class WithFleet(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.base = Path(cls.folder.name)
        cls.root = cls.base / "recordings"
        cls.refused = fleet.make(cls.root, devices=8, days=1, seconds=60)
        for name in ("ROLLED_OUT", "CANDIDATE", "BOTH", "HEADING"):
            (cls.base / f"{name.lower()}.toml").write_text(getattr(fleet, name))

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def config(self, name: str) -> str:
        return str(self.base / f"{name}.toml")


class Replaying(WithFleet):
    def test_same_as_a_shell_loop(self) -> None:
        got = rows(replay(find(str(self.root)), binary=fleet.BINARY))
        loop = fleet.shell_loop(self.root)
        self.assertGreater(sum(map(len, loop.values())), 50)
        self.assertEqual(fleet.differences(got, loop), [])

    def test_what_a_file_is_becomes_a_row(self) -> None:
        got = rows(replay(find(str(self.root)), binary=fleet.BINARY))
        failed = {row["recording"]: row["status"] for row in got if row["kind"] == schema.FAILED}
        self.assertEqual(failed, {name: 66 if "missing" in name else 65 for name in self.refused})
        self.assertTrue(all(row["reason"] for row in got if row["kind"] == schema.FAILED))
        skipped = {row["recording"].split("/")[1]: dict(row["skipped"]) for row in got if row["skipped"]}
        self.assertEqual(skipped, {"device=nan": {"not_finite": 1}, "device=torn": {"torn_batch": 1}})

    def test_recording_names_its_device_and_day_and_time(self) -> None:
        got = rows(replay(find(str(self.root)), binary=fleet.BINARY))
        one = next(row for row in got if row["recording"].endswith("dev0003/rec.arrows") and row["kind"] == "motion.began")
        self.assertEqual((one["device"], one["day"], one["config"]), ("dev0003", "2026-11-16", None))
        self.assertEqual(pc.cast(pa.scalar(one["time"]), pa.int64()).as_py(), one["time_ns"] // 1000)
        self.assertEqual(partition_keys("a=1/b/c=2/rec.arrows"), {"a": "1", "c": "2"})

    def test_several_configurations_in_one_pass(self) -> None:
        configs = [self.config("rolled_out"), self.config("candidate")]
        both = rows(replay(find(str(self.root)), binary=fleet.BINARY, config=configs, labels=["old", "new"]))
        for label, config in zip(("old", "new"), configs, strict=True):
            got = [row for row in both if row["config"] == label]
            loop = fleet.shell_loop(self.root, Path(config))
            self.assertEqual(fleet.differences(got, loop), [])

    def test_bytes_of_a_store_need_no_disk(self) -> None:
        got = rows(replay(find(self.root.as_uri()), binary=fleet.BINARY))
        # A reason names the file, which has no path here.
        loop = {
            name: [line.replace(f"{self.root}/".encode(), b"") for line in lines]
            for name, lines in fleet.shell_loop(self.root).items() if "missing" not in name}
        got = [row for row in got if "missing" not in row["recording"]]
        self.assertEqual(fleet.differences(got, loop), [])

    def test_an_object_that_went_becomes_a_row(self) -> None:
        gone = Recording(str(self.root / "gone.arrows"), "gone.arrows", 1, self.root.as_uri())
        got = rows(replay([gone], binary=fleet.BINARY))
        self.assertEqual([(row["recording"], row["status"]) for row in got], [("gone.arrows", 66)])

    def test_names_that_are_no_lines(self) -> None:
        content = (self.root / "day=2026-11-16/device=dev0001/rec.arrows").read_bytes()
        odd = self.base / "odd"
        for name in (b"two\nlines.arrows", b"\xff.arrows", '"quoted" \u00fc.arrows'.encode()):
            path = Path(str(odd), name.decode(errors="surrogateescape"))
            odd.mkdir(exist_ok=True)
            path.write_bytes(content)
        outcomes = [
            (row["status"], row["samples"]) for batch in replay(find(str(odd)), binary=fleet.BINARY)
            for row in batch.select(["kind", "status", "samples"]).to_pylist() if row["kind"].startswith("recording.")]
        self.assertEqual(outcomes, [(0, 6000)] * 3)


class Failing(WithFleet):
    def program(self, text: str) -> str:
        path = self.base / f"program{len(list(self.base.iterdir()))}"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def test_killed_program_fails_the_task(self) -> None:
        binary = self.program(f'sed -u 3q | {fleet.BINARY} "$@"\nkill -9 $$')
        with self.assertRaisesRegex(ProgramFailed, r"killed by SIGKILL at .*device="):
            rows(replay(find(str(self.root)), binary=binary))

    def test_program_that_ends_early_fails_the_task(self) -> None:
        binary = self.program(f'sed -u 3q | {fleet.BINARY} "$@"\nexit 0')
        with self.assertRaisesRegex(ProgramFailed, "ended with status 0 at"):
            rows(replay(find(str(self.root)), binary=binary))

    def test_last_words_are_told(self) -> None:
        with self.assertRaisesRegex(ProgramFailed, "status 74.*: the disk is gone"):
            rows(replay(find(str(self.root)), binary=self.program("echo the disk is gone >&2; exit 74")))

    def test_failure_of_the_machine_is_no_row(self) -> None:
        # The same row of another program, which says another status.
        recorded = self.base / "recorded.arrows"
        first = next(find(str(self.root)))
        with recorded.open("wb") as output:
            subprocess.run(
                [fleet.BINARY, "replay", "--each", "--arrow"], input=f"{first.path}\n".encode(), stdout=output, check=True)
        with pa.ipc.open_stream(recorded.read_bytes()) as reader:
            row = reader.read_all().filter(pc.field("samples").is_valid())
        for name, value in (("status", 74), ("reason", "read: I/O error")):
            place = row.schema.get_field_index(name)
            row = row.set_column(place, row.schema.field(name), pa.array([value], row.schema.field(name).type))
        with pa.ipc.new_stream(str(recorded), row.schema) as writer:
            writer.write_table(row)
        binary = self.program(f"read -r name; cat {recorded}")
        with self.assertRaisesRegex(ProgramFailed, "status 74: read: I/O error"):
            rows(replay([first], binary=binary))

    def test_silence_fails_the_task(self) -> None:
        with self.assertRaisesRegex(ProgramFailed, "nothing came"):
            rows(replay(find(str(self.root)), binary=self.program("exec sleep 60"), silence_s=0.1))

    def test_program_that_is_not_there(self) -> None:
        with self.assertRaisesRegex(ProgramFailed, "cannot be started"):
            rows(replay(find(str(self.root)), binary=str(self.base / "nothing")))

    def test_configuration_that_cannot_be_used(self) -> None:
        (self.base / "wrong.toml").write_text("[motion.m]\nthreshhold_g = 1\n")
        for name in ("wrong", "missing"):
            with self.assertRaisesRegex(ConfigurationFailed, name):
                rows(replay(find(str(self.root)), binary=fleet.BINARY, config=self.config(name)))


    def test_a_device_without_calibration_becomes_a_row(self) -> None:
        (self.base / "own.toml").write_text(
            fleet.ROLLED_OUT.replace('source = "auto"\n', 'source = "auto"\ncalibration = "own/{device}.toml"\n'))
        own = self.base / "own"
        own.mkdir()
        axes = "offset_m_s2 = [0.0, 0.0, 0.0]\nmatrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]\n"
        (own / "dev0001.toml").write_text(f"[accelerometer]\n{axes}fit_error_m_s2 = 0.01\npositions = 6\n")
        for root in (str(self.root), self.root.as_uri()):
            got = rows(replay(find(root), binary=fleet.BINARY, config=self.config("own")))
            statuses = {row["device"]: row["status"] for row in got if row["kind"].startswith("recording.")}
            self.assertEqual((statuses["dev0001"], statuses["dev0002"]), (0, 78), root)


class Packing(unittest.TestCase):
    def test_heaviest_first_and_neighbours_together(self) -> None:
        sizes = {"a": 1 << 20, "b": 1 << 20, "c": 500 << 20, "d": 1 << 20}
        tasks = pack([Recording(f"/{name}", name, size) for name, size in sizes.items()], target_bytes=100 << 20)
        self.assertEqual([[one.name for one in task] for task in tasks], [["c"], ["a", "b"], ["d"]])

    def test_number_of_tasks(self) -> None:
        recordings = [Recording(f"/{number}", f"{number:04}", 7 << 20) for number in range(100)]
        tasks = pack(recordings, partitions=6)
        self.assertLessEqual(len(tasks), 6)
        self.assertCountEqual([one for task in tasks for one in task], recordings)
        self.assertEqual(pack([]), [])


class Columns(unittest.TestCase):
    def test_figures_are_those_of_the_manual(self) -> None:
        manual = Path(__file__, "../../../../man/binnacle-events.7").resolve().read_text()
        part = manual.split(".Sh FIGURES")[1].split(".Sh ")[0]
        named = re.findall(r"^\.It (?:Cm|Va|Li|Ic)? ?([a-zA-Z0-9_]+)$", part, re.M)
        self.assertEqual(named, [name for name, _ in schema.FIGURES])


if __name__ == "__main__":
    unittest.main()
