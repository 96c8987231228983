"""A backtest on one machine: its counts against those of a shell loop."""

from __future__ import annotations

import contextlib
import io
import shutil
import unittest
from collections import Counter
from pathlib import Path

import fleet
from binnacle_fleet import backtest
from test_events import WithFleet


class Backtesting(WithFleet):
    def counted(self, config: str) -> Counter[tuple[str, str]]:
        """The motions of each device, by a shell loop."""
        loop = fleet.shell_loop(self.root, Path(self.config(config)))
        return Counter(
            (name.split("device=")[1].split("/")[0], kind) for name, lines in loop.items() for line in lines
            for kind in ("motion.began", "shock") if f'"kind":"{kind}"'.encode() in line)

    def test_differences_by_device_and_kind(self) -> None:
        before, after = self.config("rolled_out"), self.config("candidate")
        counts, _ = backtest.run(str(self.root), [before, after], binary=fleet.BINARY, processes=2)
        old, new = self.counted("rolled_out"), self.counted("candidate")
        self.assertNotEqual(old, new)
        got = {
            (device, kind): (one, two) for device, kind, one, two in counts.differences(before, after)
            if kind in ("motion.began", "shock")}
        self.assertEqual(got, {key: (old[key], new[key]) for key in old | new})
        sizes = [abs(two - one) for _, _, one, two in counts.differences(before, after)]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertEqual(set(counts.failed), set(self.refused))

    def test_two_detectors_in_one_pass(self) -> None:
        counts, _ = backtest.run(
            str(self.root), [self.config("both")], binary=fleet.BINARY, by="detector", processes=1)
        old, new = self.counted("rolled_out"), self.counted("candidate")
        got = {
            (device, kind): (one, two) for device, kind, one, two in counts.differences("rolled_out", "candidate")
            if kind == "motion.began"}
        self.assertEqual(got, {key: (old[key], new[key]) for key in old | new if key[1] == "motion.began"})

    def command(self, *arguments: str, root: Path | None = None) -> tuple[int, str, str]:
        """The exit status, the output and the messages of `binnacle-backtest`."""
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
            try:
                status = backtest.main([str(root or self.root), *arguments, "--binary", fleet.BINARY, "--processes", "2"])
            except SystemExit as error:
                status = int(error.code or 0)
        return status, output.getvalue(), errors.getvalue()

    def good(self) -> Path:
        """A folder with a recording that each configuration can play."""
        name = "day=2026-11-16/device=dev0005/rec.arrows"
        root = self.base / "good"
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.root / name, root / name)
        return root

    def test_command_writes_pages_of_the_most_different(self) -> None:
        folder = self.base / "pages"
        status, output, errors = self.command(
            "--before", self.config("rolled_out"), "--after", self.config("candidate"), "--pages", str(folder))
        self.assertEqual(status, 1)
        self.assertIn("motion.began", output)
        self.assertIn(f"{len(self.refused)} recordings failed", errors)
        pages = sorted(folder.iterdir())
        # Two of each of the ten, or of all that differ.
        self.assertEqual(len(pages) % 2, 0)
        self.assertIn(len(pages), range(2, 21))
        self.assertTrue(all(b"<html" in page.read_bytes()[:200].lower() for page in pages))

    def test_recording_that_one_configuration_cannot_play_is_left_out(self) -> None:
        before, after = self.config("rolled_out"), self.config("heading")
        folder = self.base / "pages-heading"
        status, output, errors = self.command("--before", before, "--after", after, "--pages", str(folder))
        self.assertEqual(status, 1)
        rows = [line.split("\t") for line in output.splitlines()[1:]]
        self.assertEqual({device for device, *_ in rows}, {"dev0000", "dev0005"})
        old, new = self.counted("rolled_out"), self.counted("candidate")
        got = {(device, kind): (int(one), int(two)) for device, kind, one, two, _ in rows if kind == "motion.began"}
        self.assertEqual(got, {key: (old[key], new[key]) for key in old | new if key in got})
        self.assertEqual(len({page.name.split("device=")[1][:7] for page in folder.iterdir()}), 2)
        lines = [line.split(": ") for line in errors.splitlines() if line.startswith("left out: ")]
        reported = Counter((line[1], line[2].removeprefix("failed with ")) for line in lines)
        alone = ["columns", "nan", "packed", "torn", *(f"dev{number:04}" for number in (1, 2, 3, 4, 6, 7))]
        wanted = [(name, config) for name in self.refused for config in (before, after)]
        wanted += [
            (str(next(self.root.glob(f"*/device={name}/rec.*")).relative_to(self.root)), after) for name in alone]
        self.assertEqual(reported, Counter(wanted))
        self.assertTrue(all(line[3] for line in lines))

    def test_reasons_of_two_tasks_are_kept(self) -> None:
        counts = backtest.Counts(failed={"rec": {"before": "one"}})
        counts.update(backtest.Counts(failed={"rec": {"after": "two"}}))
        self.assertEqual(counts.failed, {"rec": {"before": "one", "after": "two"}})

    def test_pages_of_configurations_with_one_file_name(self) -> None:
        configs = []
        for side, text in (("old", fleet.ROLLED_OUT), ("new", fleet.CANDIDATE)):
            (self.base / side).mkdir()
            configs.append(self.base / side / "fleet.toml")
            configs[-1].write_text(text)
        folder = self.base / "pages-names"
        status, _, errors = self.command(
            "--before", str(configs[0]), "--after", str(configs[1]), "--pages", str(folder), root=self.good())
        self.assertEqual(status, 0, errors)
        start = "01-day=2026-11-16-device=dev0005-rec.arrows"
        self.assertEqual(
            sorted(page.name for page in folder.iterdir()), [f"{start}-after-fleet.html", f"{start}-before-fleet.html"])

    def test_page_that_cannot_be_drawn_is_reported(self) -> None:
        folder = self.base / "pages-torn"
        arguments = ["--before", self.config("rolled_out"), "--after", self.config("candidate"), "--pages", str(folder)]
        page = folder / "01-day=2026-11-16-device=dev0005-rec.arrows-before-rolled_out.html"
        # No file can be written where a folder is.
        page.mkdir(parents=True)
        status, output, errors = self.command(*arguments, root=self.good())
        self.assertEqual(status, 1)
        self.assertIn("motion.began", output)
        self.assertRegex(errors, rf"(?m)^no page: day=.*/rec\.arrows with {self.config('rolled_out')}: .*{page.name}")
        self.assertTrue((folder / page.name.replace("before-rolled_out", "after-candidate")).is_file())

    def test_unknown_detector_is_refused(self) -> None:
        for names in (("rolled", "candidate"), ("rolled_out", "m")):
            status, output, errors = self.command(
                "--detectors", self.config("both"), "--before", names[0], "--after", names[1], root=self.good())
            self.assertEqual((status, output), (2, ""))
            unknown = next(name for name in names if name not in ("rolled_out", "candidate"))
            self.assertIn(f"{self.config('both')}: there is no detector {unknown}", errors)
            self.assertIn("its detectors: rolled_out, candidate", errors)
        status, output, errors = self.command(
            "--detectors", self.config("both"), "--before", "rolled_out", "--after", "candidate", root=self.good())
        self.assertEqual(status, 0, errors)
        self.assertIn("motion.began", output)

    def test_what_is_not_there_is_refused(self) -> None:
        empty = self.base / "none"
        empty.mkdir()
        both = ["--before", self.config("rolled_out"), "--after", self.config("candidate")]
        for root in (empty, self.base / "nowhere"):
            status, output, errors = self.command(*both, root=root)
            self.assertEqual((status, output), (2, ""))
            self.assertIn(f"binnacle-backtest: {root}: there is no ", errors)
        for arguments in (
            ["--before", "missing.toml", *both[2:]], [*both[:2], "--after", "missing.toml"],
            ["--detectors", "missing.toml", "--before", "rolled_out", "--after", "candidate"],
        ):
            status, output, errors = self.command(*arguments, root=self.good())
            self.assertEqual((status, output), (2, ""))
            self.assertIn("missing.toml: there is no such file", errors)

    def test_one_configuration_is_not_compared_with_itself(self) -> None:
        one = self.config("candidate")
        status, output, errors = self.command("--before", one, "--after", one, root=self.good())
        self.assertEqual((status, output), (2, ""))
        self.assertIn(f"--before and --after are both {one}", errors)


if __name__ == "__main__":
    unittest.main()
