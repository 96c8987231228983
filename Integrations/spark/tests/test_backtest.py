"""A backtest on one machine: its counts against those of a shell loop."""

from __future__ import annotations

import contextlib
import io
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

    def test_command_writes_pages_of_the_most_different(self) -> None:
        folder = self.base / "pages"
        with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(io.StringIO()) as errors:
            status = backtest.main([
                str(self.root), "--before", self.config("rolled_out"), "--after", self.config("candidate"),
                "--pages", str(folder), "--binary", fleet.BINARY, "--processes", "2"])
        self.assertEqual(status, 0)
        self.assertIn("motion.began", output.getvalue())
        self.assertIn(f"{len(self.refused)} recordings failed", errors.getvalue())
        pages = sorted(folder.iterdir())
        # Two of each of the ten, or of all that differ.
        self.assertEqual(len(pages) % 2, 0)
        self.assertIn(len(pages), range(2, 21))
        self.assertTrue(all(b"<html" in page.read_bytes()[:200].lower() for page in pages))


if __name__ == "__main__":
    unittest.main()
