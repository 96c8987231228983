"""What a rate costs, and that nothing is lost at it."""

import contextlib
import os
import threading
import time

from harness import expect, note, started, test, wait_for
from played import HUB, Follower, Play, await_device, cost, middle, read, stream

SECONDS = 30


class Reference:
    """What the guest itself delays meanwhile: a thread that sleeps, and writes to the disk of the store as the store does."""

    def __init__(self):
        self.worst_ms, self.ends = 0.0, False
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        path = "/var/lib/binnacle-reference"
        with open(path, "wb", buffering=0) as file:
            while not self.ends:
                begin = time.monotonic_ns()
                time.sleep(0.01)
                file.seek(0)
                file.write(bytes(4096))
                os.fdatasync(file.fileno())
                self.worst_ms = max(self.worst_ms, (time.monotonic_ns() - begin) / 1e6)
        os.unlink(path)

    def end(self):
        self.ends = True
        self.thread.join()
        return self.worst_ms


class Hub(Play):
    """A hub of the model that walks, and how far it is behind its plan, a few times a second.

    It waits for its reader, so that all that is sent can be seen.
    """

    def __init__(self, rate, time_of):
        super().__init__("--model", "walk", "--rate-hz", str(rate), "--wait", "--time", time_of)
        self.rate, self.answers, self.ends = rate, [], False

    def watch(self):
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while not self.ends:
            asked, sent = time.monotonic_ns(), self.sent()
            # In ms of the plan: the hub has sent what it planned for that time, at some time between these two.
            self.answers.append((sent / self.rate * 1e3, asked / 1e6, time.monotonic_ns() / 1e6))

    def end_watch(self):
        """By how many ms at least it was behind its plan at each answer; when it was least so, it was on time at best."""
        self.ends = True
        self.thread.join()
        start = min(answered - planned for planned, _, answered in self.answers)
        return [max(0, asked - planned - start) for planned, asked, _ in self.answers]


def ready(process):
    """For how long, in ms, the thread of a process that waited most for the processor was ready and did not run."""
    most = 0
    for task in os.listdir(f"/proc/{process}/task"):
        # A thread may end meanwhile.
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            most = max(most, int(read("/proc", str(process), "task", task, "schedstat").split()[1]))
    return most / 1e6


def measure(rate, time_of):
    """Plays a hub whose stamps are the times of its plan ("hub") or those at which the kernel had the samples ("kernel").

    A hub that gets too little of the processor sends late what it planned. So a sample's way from the kernel to a subscriber is
    measured with the stamps of the kernel, and whether every sample is seen with those of the hub, which are regular.
    """
    hub = Hub(rate, time_of)
    await_device("accel_3d")
    process = started(HUB.replace('match = { name = "accel_3d" }', f'match = {{ name = "accel_3d" }}\nrate_hz = {rate}'))
    follower = Follower()
    wait_for("samples", lambda: stream()["samples"] > 0)
    # The follower subscribes before its first event; what came while it and the service started says nothing of the rate.
    follower.next(1, "motion.moving")
    reference, begin = Reference(), time.monotonic_ns()
    hub.watch()
    before, waited = cost(process), ready(process)
    time.sleep(SECONDS)
    after, waited = cost(process), ready(process) - waited
    end = time.monotonic_ns()
    behind = hub.end_watch()
    # The gap that follows is silence to the service, which it tells as lost samples, too.
    lost = stream()["lost_samples"]
    hub.say("gap 120", "a gap")
    # A hub that is behind its plan goes on until it has caught up. The service opens a silent device once more, which may give a
    # sample that the hub did not send.
    found = wait_for("silence, and as many samples as were sent", lambda: (
        (found := stream())["last_sample_s"] > 0.3 and 0 <= found["samples"] - hub.sent() <= 1 and found))
    sent = hub.sent()
    worst = reference.end()
    # Nothing that an earlier test left, and no sample that was taken before the measurement.
    late = [(arrival - event["time_ns"]) / 1e6 for arrival, event in follower.events("motion.moving")
            if begin <= event["time_ns"] < end]
    expect(late, "no event has come")
    note(f"{rate} Hz, stamps of the {time_of}: {sent} sent, {found['samples']} seen, {lost} told as lost; one of {len(late)} events "
         f"comes {middle(late):.1f} ms after its stamp (median), {middle(late, 0.99):.1f} ms (p99), {max(late):.1f} ms (most)")
    note(f"the hub was {middle(behind):.1f} ms behind its plan (median), {middle(behind, 0.99):.1f} ms (p99), {max(behind):.1f} ms (most); "
         f"a thread of the service was ready and did not run for {waited / SECONDS / 10:.1f} % of the time; the guest itself delays a "
         f"thread with a write by up to {worst:.1f} ms")
    note(f"{(after[0] - before[0]) / SECONDS * 100:.1f} % of the processor, {(after[1] - before[1]) / SECONDS:.0f} wake-ups a second, "
         f"{after[2]} kB")
    if time_of == "hub":
        expect(lost == 0, f"{lost} told as lost")
    else:
        # Samples gather for 50 ms (latency_s); then the service waits for neither a timer nor another sensor, but its threads and
        # the follower for the processor, and the event for the disk.
        expect(middle(late, 0.99) <= 100 + 3 * worst, f"{middle(late, 0.99):.0f} ms late, the guest {worst:.0f} ms")


@test
def rates_100_hz_is_seen_whole():
    measure(100, "hub")


@test
def rates_1000_hz_is_seen_whole():
    measure(1000, "hub")


@test
def rates_10000_hz_is_seen_whole():
    measure(10_000, "hub")


@test
def rates_100_hz_comes_soon():
    measure(100, "kernel")


@test
def rates_1000_hz_comes_soon():
    measure(1000, "kernel")


@test
def rates_10000_hz_comes_soon():
    measure(10_000, "kernel")
