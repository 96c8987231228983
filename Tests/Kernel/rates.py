"""What a rate costs, and that nothing is lost at it."""

import time

from harness import expect, note, started, test, wait_for
from played import HUB, Follower, Play, await_device, cost, middle, stream

SECONDS = 60


def measure(rate):
    # It waits for its reader, so that all that is sent can be seen.
    hub = Play("--model", "walk", "--rate-hz", str(rate), "--wait")
    await_device("accel_3d")
    process = started(HUB.replace('match = { name = "accel_3d" }', f'match = {{ name = "accel_3d" }}\nrate_hz = {rate}'))
    follower = Follower()
    wait_for("samples", lambda: stream()["samples"] > 0)
    before = cost(process)
    time.sleep(SECONDS)
    after = cost(process)
    # The gap that follows is silence to the service, which it tells as lost samples, too.
    lost = stream()["lost_samples"]
    hub.say("gap 30", "a gap")
    sent = hub.sent()
    wait_for("silence", lambda: stream()["last_sample_s"] > 0.3)
    found = stream()
    late = [(arrival - event["time_ns"]) / 1e6 for arrival, event in follower.events("motion.moving")]
    note(f"{rate} Hz: {sent} sent, {found['samples']} seen, {lost} told as lost; one of {len(late)} events comes "
         f"{middle(late):.1f} ms after its sample (median), {middle(late, 0.99):.1f} ms (p99); "
         f"{(after[0] - before[0]) / SECONDS * 100:.1f} % of the processor, "
         f"{(after[1] - before[1]) / SECONDS:.0f} wake-ups a second, {after[2]} kB")
    # How many that are depends on how much of the machine the guest gets.
    expect(late, "no event has come")
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
