"""Binnacle at work: a process that does one piece of work at a time and says how long it took."""

import subprocess

import contest


class Ours:
    def __init__(self, binary):
        self.path = binary
        self.process = subprocess.Popen([binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        """Sends a command; returns nanoseconds and what was found."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            raise SystemExit(f"compare: CompareBench ended at '{' '.join(map(str, words))}'")
        return tuple(map(int, answer))

    def play(self, path, form):
        """Makes the work of playing a recording, which returns nanoseconds and the count of the samples."""

        def work():
            processors = "all" if contest.takes_all_processors else "one"
            nanoseconds, samples, _ = self.ask("play", path, form, processors)
            return nanoseconds, samples

        return work

    def close(self):
        self.process.stdin.close()
        self.process.wait()
