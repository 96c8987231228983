"""Chips that watch while the service sleeps: the kernel's own drivers, and interrupts from serial ports (machine/chips.asl).

LINES is how often each chip's line is raised.
"""

import glob
import os
import time

from harness import Failed, UNIT, expect, messages, need, note, now, run, started, test, wait_for
from played import BINNACLE, IIO, OBSERVED, Follower, cost, middle, put, read, status

LINES = int(os.environ.get("LINES", "20"))

# By driver: the address, what its probe and its events read, and the port whose transmitter raises its line.
CHIPS = {
    # Who it is (0x0f); its events' source (0x16: wake-up) and the axes (0x17: x and z); z is 1 g of 16 bits at ±2 g.
    "kxcjk": (0x50, {0x0F: 0x08, 0x16: 0x02, 0x17: 0x14, 0x0B: 0x40}, 0x2F8),
    # Who it is (0x00), power and rate; what it reports (0x0e: generic interrupt 1); z is 1 g of 12 bits at ±4 g.
    "bma400": (0x52, {0x00: 0x90, 0x1A: 0x48, 0x19: 0x02, 0x03: 0x02, 0x0E: 0x04, 0x08: 0x00, 0x09: 0x02}, 0x2E8),
    # Who it is (0x0f).
    "lsm6dso": (0x53, {0x0F: 0x6C}, 0x3E8),
}
MODULES = {"kxcjk": "kxcjk-1013", "bma400": "bma400_i2c", "lsm6dso": "st_lsm6dsx_i2c"}


def bus():
    need("modprobe", "i2c-i801")
    for name in glob.glob("/sys/bus/i2c/devices/i2c-*/name"):
        if "I801" in read(name):
            return int(name.split("/")[5].split("-")[1])
    return None


def attach(chip):
    """Lets the driver of a chip find it; the device's folder."""
    number, (address, registers, _) = bus(), CHIPS[chip]
    for register, value in registers.items():
        need("i2cset", "-f", "-y", str(number), hex(address), hex(register), hex(value), "b")
    # udev has loaded the driver, which found registers of zeros.
    run("modprobe", "-r", MODULES[chip])
    need("modprobe", MODULES[chip])

    def found():
        for folder in glob.glob(f"{IIO}/iio:device*"):
            driver = os.path.basename(os.path.realpath(f"{folder}/../driver"))
            if driver.startswith((chip, "st_lsm6dsx" if chip == "lsm6dso" else chip)) and os.path.exists(f"{folder}/in_accel_x_raw"):
                return folder
        return None
    try:
        folder = wait_for(f"the driver of {chip}", found, 20)
    except Failed as failure:
        said = run("sh", "-c", "ls -l /sys/bus/i2c/devices; dmesg | tail -n 20")[1]
        raise Failed(f"{failure}: {said}") from None
    need("udevadm", "settle")
    need("systemctl", "start", "binnacle-trigger")
    need("udevadm", "settle")
    return folder


def fire(chip):
    """Raises the chip's line: a serial port that may report that it could send."""
    base = CHIPS[chip][2]
    with open("/dev/port", "r+b", buffering=0) as ports:
        for offset, value in ((1, 0), (4, 8), (1, 2)):
            ports.seek(base + offset)
            ports.write(bytes([value]))
        time.sleep(0.001)
        ports.seek(base + 2)
        ports.read(1)
        ports.seek(base + 1)
        ports.write(bytes([0]))


def timer():
    return next(read(place, "name") for place in glob.glob(f"{IIO}/trigger*") if read(place, "name").startswith("binnacle"))


def configuration(folder, watch):
    return OBSERVED + f"""
[sensor.box]
source = "iio"
match = {{ name = "{read(folder, 'name')}" }}
rate_hz = 25
trigger = "{timer()}"

[motion.moved]
accelerometer = "box"
watch = "{watch}"
quiet_s = 0.2
gravity_s = 0.05

[handler.out]
log = true
on = ["motion.began"]
"""


def box():
    return next(sensor for sensor in status()["sensors"] if sensor["name"] == "box")


def threads(process):
    """How often each thread of a process went to sleep."""
    found = {}
    for task in os.listdir(f"/proc/{process}/task"):
        lines = dict(line.split(":", 1) for line in read(f"/proc/{process}/task/{task}/status").splitlines())
        found[f"{lines['Name'].strip()} {task}"] = int(lines["voluntary_ctxt_switches"])
    return found


def rate(process, seconds=30):
    """The wake-ups a second of a process and of its first thread, which reads devices; its share of the processor in percent."""
    before, each, begin = cost(process), threads(process), time.monotonic()
    time.sleep(seconds)
    after, later, length = cost(process), threads(process), time.monotonic() - begin
    others = {name: later[name] - each.get(name, 0) for name in later if later[name] != each.get(name, 0)}
    own = sum(count for name, count in others.items() if name.endswith(f" {process}"))
    return (after[1] - before[1]) / length, 100 * (after[0] - before[0]) / length, own / length, others


def watches(chip, watch="chip", lines=LINES):
    folder = attach(chip)
    events = {path: read(path) for path in glob.glob(f"{folder}/events/*_en") + glob.glob(f"{folder}/events/*_value")}
    put(1, f"/sys/bus/iio/devices/{os.path.basename(folder)}/buffer/length")
    place = now()
    process = started(configuration(folder, "samples"))
    wait_for("samples", lambda: box()["streams"][0]["samples"] > 50)
    awake = rate(process)
    process = started(configuration(folder, watch))

    def asleep():
        return box().get("sleeping") or None
    try:
        wait_for("sleep", asleep)
    except Failed as failure:
        said = [text.split("box: ")[1] for text in messages(place, "-u", UNIT) if "box: " in text]
        raise Failed(f"{failure}: {'; '.join(said)}; {run(BINNACLE, 'devices')[1]}") from None
    said = [text.split("box: ")[1] for text in messages(place, "-u", UNIT) if "box: sleeps" in text]
    expect(said, "it does not say that it sleeps")
    # The question for the status has woken the service, and the store writes down what it has ten seconds later.
    time.sleep(15)
    resting = rate(process)
    follower, times = Follower(), []
    for number in range(1, lines + 1):
        try:
            wait_for("sleep", asleep)
        except Failed as failure:
            raise Failed(f"{failure} after {len(times)} lines: {box()}; {follower.text()[-1000:]}") from None
        # Earlier an event could be a false alarm.
        time.sleep(1.1)
        fire(chip)
        arrival, event = follower.next(number, "motion.began", seconds=30)[number - 1]
        times.append(((event["time_ns"] - event["onset_ns"]) / 1e6, (arrival - event["onset_ns"]) / 1e6))
    lost = [event for _, event in follower.events("samples.lost") if event["cause"] != "wake"]
    note(f"{chip}, {said[0]}: {lines} lines, {len(times)} motions; wake-ups a second {awake[0]:.1f} → {resting[0]:.2f}, "
         f"processor {awake[1]:.2f} → {resting[1]:.2f} %, its threads at rest {resting[3]}; line to first sample {middle([a for a, _ in times]):.1f} ms "
         f"(95 %: {middle([a for a, _ in times], 0.95):.1f}), line to event {middle([b for _, b in times]):.1f} ms "
         f"(95 %: {middle([b for _, b in times], 0.95):.1f})")
    # What remains are the service manager's watchdog and its answers.
    expect(resting[2] < 0.15, f"{resting[2]} wake-ups a second at rest: {resting[3]}")
    # How regular a timer is depends on how much of the machine the guest gets.
    if lost:
        note(f"{chip}: {len(lost)} other losses, the first: {lost[0]['cause']} of {lost[0].get('count')}")
    need("systemctl", "stop", UNIT)
    # A driver may refuse the 0 that it shows before its first threshold.
    after = {path: text if text == "0" and path.endswith("_value") else read(path) for path, text in events.items()}
    expect(after == events, f"{events} became {after}")
    return folder


if bus() is not None:
    @test
    def asleep_bma400_watches():
        watches("bma400", "auto")

    @test
    def asleep_kxcj91008_watches():
        # With a timer as its trigger the driver stamps every later sample with the time of its last interrupt, so that no time
        # passes in which it lies still.
        watches("kxcjk", lines=1)

    @test
    def asleep_events_that_another_program_holds_are_told():
        folder = attach("bma400")
        script = (
            "import fcntl, struct, sys, time; device = open(sys.argv[1], 'rb', buffering=0); "
            "events = struct.unpack('i', fcntl.ioctl(device, 0x80046990, bytes(4)))[0]; device.close(); print('has it', flush=True); "
            "time.sleep(600)")
        from played import Program
        holder = Program("python3", "-c", script, f"/dev/{os.path.basename(folder)}")
        holder.wait_for("has it")
        place = now()
        started(configuration(folder, "chip"))
        said = wait_for("a word about it", lambda: [
            text for text in messages(place, "-u", UNIT) if "another program has its events" in text])
        note(said[0])
        holder.end()

    @test
    def asleep_devices_show_events_and_their_lines():
        for chip in CHIPS:
            attach(chip)
        said = run(BINNACLE, "devices")[1]
        note(said.replace("\n", "\n#   "))
        for words in ("thresh either on x", "mag rising", "gesture singletap", "change of steps"):
            expect(words in said, said)
        expect("interrupt none" not in said, said)
