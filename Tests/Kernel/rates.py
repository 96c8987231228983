"""What a rate costs, and that nothing is lost at it."""

import os
import threading
import time

from harness import expect, note, started, test, wait_for
from played import HUB, Follower, Play, await_device, cost, middle, stream

SECONDS = 60


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


def measure(rate):
    # It waits for its reader, so that all that is sent can be seen. The stamps are the times of its plan: what it sends later, because
    # it gets too little of the processor, counts as late, too.
    hub = Play("--model", "walk", "--rate-hz", str(rate), "--wait")
    await_device("accel_3d")
    process = started(HUB.replace('match = { name = "accel_3d" }', f'match = {{ name = "accel_3d" }}\nrate_hz = {rate}'))
    follower = Follower()
    wait_for("samples", lambda: stream()["samples"] > 0)
    # The follower subscribes before its first event; what came while it and the service started says nothing of the rate.
    follower.next(1, "motion.moving")
    reference, begin = Reference(), time.monotonic_ns()
    before = cost(process)
    time.sleep(SECONDS)
    after = cost(process)
    end = time.monotonic_ns()
    # The gap that follows is silence to the service, which it tells as lost samples, too.
    lost = stream()["lost_samples"]
    hub.say("gap 30", "a gap")
    sent = hub.sent()
    wait_for("silence", lambda: stream()["last_sample_s"] > 0.3)
    found = stream()
    worst = reference.end()
    # Nothing that an earlier test left, and no sample that was taken before the measurement.
    late = [(arrival - event["time_ns"]) / 1e6 for arrival, event in follower.events("motion.moving")
            if begin <= event["time_ns"] < end]
    note(f"{rate} Hz: {sent} sent, {found['samples']} seen, {lost} told as lost; one of {len(late)} events comes "
         f"{middle(late):.1f} ms after its sample (median), {middle(late, 0.99):.1f} ms (p99), where the guest itself delays a thread with a write by up to {worst:.1f} ms; "
         f"{(after[0] - before[0]) / SECONDS * 100:.1f} % of the processor, "
         f"{(after[1] - before[1]) / SECONDS:.0f} wake-ups a second, {after[2]} kB")
    latest = sorted(((arrival - event["time_ns"]) / 1e6, (event["time_ns"] - begin) / 1e9)
                    for arrival, event in follower.events("motion.moving") if begin <= event["time_ns"] < end)[-8:]
    note("the latest came " + ", ".join(f"{ms:.0f} ms late at {at:.2f} s" for ms, at in latest))
    # How many that are depends on how much of the machine the guest gets.
    expect(late, "no event has come")
    # Ten times what the machine delays, as a bound of the service's own: it waits neither for a timer nor for another sensor.
    expect(middle(late, 0.99) <= 1000 + 10 * worst, f"{middle(late, 0.99):.0f} ms late, the guest {worst:.0f} ms")
    expect(sent == found["samples"] and lost == 0, f"{sent} sent, {found}")


@test
def rates_100_hz_is_seen_whole():
    measure(100)


@test
def rates_1000_hz_is_seen_whole():
    measure(1000)


@test
def rates_10000_hz_is_seen_whole():
    measure(10_000)
