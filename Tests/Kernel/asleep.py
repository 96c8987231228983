"""Chips that watch while the service sleeps: the kernel's own drivers, and interrupts from serial ports (machine/chips.asl).

LINES is how often each chip's line is raised, 1,000 times and more for a long run.
"""

import contextlib
import ctypes
import fcntl
import glob
import json
import os
import re
import threading
import time

from harness import Failed, UNIT, expect, keep_errors, messages, need, note, now, run, started, test, wait_for
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
    # Who it is (0x00), and its threshold (0x24), which a newer driver sets; it has no line.
    "adxl345": (0x51, {0x00: 0xE5, 0x24: 0x0B}, None),
}
MODULES = {"kxcjk": "kxcjk-1013", "bma400": "bma400_i2c", "lsm6dso": "st_lsm6dsx_i2c", "adxl345": "adxl345_i2c"}
NO_WATCHDOG = "[Service]\nWatchdogSec=0\n"
# By driver: the two registers of x, and what they hold at 0.19 g.
SIDE = {"kxcjk": (0x06, 0x07, 0x00, 0x0C), "bma400": (0x04, 0x05, 0x62, 0x00)}


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
    if chip in SIDE:
        tilt(chip, 0)
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


class Message(ctypes.Structure):
    """What I2C_SMBUS takes: a byte of data that is written to a register."""
    _fields_ = [("reads", ctypes.c_uint8), ("register", ctypes.c_uint8), ("size", ctypes.c_uint32), ("data", ctypes.c_void_p)]


def tilt(chip, number):
    """Lets a chip lie on its side, or not, by the number of times so far."""
    low, high, *values = SIDE[chip]
    with open(f"/dev/i2c-{bus()}", "r+b", buffering=0) as wires:
        fcntl.ioctl(wires, 0x0706, CHIPS[chip][0])
        for register, value in zip((low, high), values):
            data = ctypes.create_string_buffer(bytes([value if number % 2 else 0]), 34)
            fcntl.ioctl(wires, 0x0720, Message(0, register, 2, ctypes.addressof(data)))


def armed(folder):
    """Whether a device sleeps: its buffer is off, and an event is on."""
    return read(folder, "buffer/enable") == "0" and any(read(path) == "1" for path in glob.glob(f"{folder}/events/*_en"))


@contextlib.contextmanager
def unshared():
    """Takes leave of the folders that the guest shares: their driver resets its devices at a suspend, and does not set them up again."""
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    need("umount", "/out", "/project")
    need("modprobe", "-r", "9pnet_virtio")
    try:
        yield
    finally:
        need("modprobe", "9pnet_virtio")
        need("mount", "/project")
        need("mount", "/out")
        keep_errors()


def timer():
    return next(read(place, "name") for place in glob.glob(f"{IIO}/trigger*") if read(place, "name").startswith("binnacle"))


def taken():
    """How many samples the drivers have taken so far, by the interrupts of their trigger."""
    # /proc/interrupts leaves out those that have no handler at present.
    counts = [read(place, "per_cpu_count") for place in glob.glob("/sys/kernel/irq/*") if read(place, "chip_name") == timer()]
    return sum(int(count) for text in counts for count in text.split(","))


def timed(rate_hz=25):
    return f'rate_hz = {rate_hz}\ntrigger = "{timer()}"'


def detected(folder, detector, watch="chip", name="box", keys="", sensor=""):
    """The sections of a chip and of a detector of it."""
    return f"""
[sensor.{name}]
source = "iio"
match = {{ name = "{read(folder, 'name')}" }}
{sensor or timed()}

[{detector}]
accelerometer = "{name}"
watch = "{watch}"
{keys}
"""


def watched(folder, watch, name="box", keys="", sensor="", still=(0.2, 0.05)):
    return detected(folder, f"motion.{name}_moved", watch, name, f"quiet_s = {still[0]}\ngravity_s = {still[1]}\n{keys}", sensor)


def configuration(folder, watch, **more):
    return OBSERVED + watched(folder, watch, **more) + """
[handler.out]
log = true
on = ["motion.began"]
"""


def words(place, name="box"):
    """What the service says of a sensor."""
    return [text.split(f"{name}: ", 1)[1] for text in messages(place, "-u", UNIT) if f"{name}: " in text]


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


def watches(chip, watch="chip", lines=min(LINES, 20)):
    folder = attach(chip)
    events = {path: read(path) for path in glob.glob(f"{folder}/events/*_en") + glob.glob(f"{folder}/events/*_value")}
    put(1, f"/sys/bus/iio/devices/{os.path.basename(folder)}/buffer/length")
    place = now()
    # The service manager's watchdog is asked for an answer each 15 s: what remains without it is the program's own.
    process = started(configuration(folder, "samples"), NO_WATCHDOG)
    wait_for("samples", lambda: box()["streams"][0]["samples"] > 50)
    awake = rate(process)
    process = started(configuration(folder, watch), NO_WATCHDOG)

    def asleep():
        return box().get("sleeping") or None
    try:
        wait_for("sleep", asleep)
    except Failed as failure:
        raise Failed(f"{failure}: {'; '.join(words(place))}; {run(BINNACLE, 'devices')[1]}") from None
    said = [text for text in words(place) if text.startswith("sleeps")]
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
        # Without it three events in a row would be false alarms.
        tilt(chip, number)
        fire(chip)
        arrival, event = follower.next(number, "motion.began", seconds=30)[number - 1]
        times.append(((event["time_ns"] - event["onset_ns"]) / 1e6, (arrival - event["onset_ns"]) / 1e6))
    lost = [event for _, event in follower.events("samples.lost") if event["cause"] != "wake"]
    note(f"{chip}, {said[0]}: {lines} lines, {len(times)} motions; wake-ups a second {awake[0]:.1f} → {resting[0]:.2f}, "
         f"processor {awake[1]:.2f} → {resting[1]:.2f} %, its threads at rest {resting[3]}; line to first sample {middle([a for a, _ in times]):.1f} ms "
         f"(95 %: {middle([a for a, _ in times], 0.95):.1f}), line to event {middle([b for _, b in times]):.1f} ms "
         f"(95 %: {middle([b for _, b in times], 0.95):.1f})")
    expect(not resting[3], f"wake-ups at rest: {resting[3]}")
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
        # With a timer as its trigger the driver stamps every later sample with the time of its last interrupt.
        watches("kxcjk")

    @test
    def asleep_taps_of_the_chip_are_events():
        folder = attach("bma400")
        started(OBSERVED + detected(folder, "tap.knock", sensor=timed(200)))
        switches = glob.glob(f"{folder}/events/*tap_en")
        wait_for("armed taps", lambda: switches and all(read(path) == "1" for path in switches))
        follower = Follower()
        # What it reports (0x0f): a tap, two taps.
        for number, (value, count) in enumerate([(0x04, 1), (0x08, 2)] * 5, 1):
            need("i2cset", "-f", "-y", str(bus()), hex(CHIPS["bma400"][0]), "0x0e", "0", "b")
            need("i2cset", "-f", "-y", str(bus()), hex(CHIPS["bma400"][0]), "0x0f", hex(value), "b")
            fire("bma400")
            try:
                _, event = follower.next(number, "tap")[number - 1]
            except Failed as failure:
                lines = [line for line in read("/proc/interrupts").splitlines() if "bma400" in line]
                raise Failed(f"{failure}; {lines}; {run('dmesg')[1][-500:]}") from None
            expect(event["count"] == count and event["source"] == "chip", event)
        note(f"10 lines of one and two taps, 10 events; {'; '.join(words(now()))}")
        need("systemctl", "stop", UNIT)
        expect(all(read(path) == "0" for path in switches), "taps stay armed")

    @test
    def asleep_steps_of_the_chip_are_events():
        folder, (address, _, _) = attach("bma400"), CHIPS["bma400"]
        started(OBSERVED + detected(folder, "steps.walked"))
        switch = f"{folder}/events/in_steps_change_en"
        wait_for("armed steps", lambda: read(switch) == "1" and read(folder, "buffer/enable") == "1")
        wait_for("samples", lambda: box()["streams"][0]["samples"] > 0)
        follower, total = Follower(), 0
        for number, count in enumerate([1, 2, 1, 40, 300], 1):
            total += count
            # What it has counted (0x15 to 0x17), and what it reports (0x0f): steps.
            for register, value in ((0x15, total & 255), (0x16, total >> 8), (0x17, 0), (0x0E, 0), (0x0F, 1)):
                need("i2cset", "-f", "-y", str(bus()), hex(address), hex(register), hex(value), "b")
            fire("bma400")
            _, event = follower.next(number, "step")[number - 1]
            expect((event["count"], event["total"], event["source"]) == (count, total, "chip"), event)
        note(f"5 lines, 5 events with {total} steps")
        need("systemctl", "stop", UNIT)
        expect(read(switch) == "0", "steps stay armed")

    @test
    def asleep_activities_of_the_chip_are_events():
        folder, (address, _, _) = attach("bma400"), CHIPS["bma400"]
        started(OBSERVED + detected(folder, "stationary.parked", keys="dwell_s = 2"))
        switches = [f"{folder}/events/in_{name}_change_en" for name in ("activity", "steps")]
        wait_for("armed activities", lambda: all(read(path) == "1" for path in switches))
        # Its rest is known by the samples; then they are off.
        wait_for("sleep", lambda: box().get("sleeping"))
        follower = Follower()
        # What it does (0x18: it walks, it runs, it is still) is reported with a step (0x0f). No sample shows the walk, so that it is over
        # after the dwell time.
        for number, activity in enumerate([1, 2], 1):
            for register, value in ((0x18, activity), (0x0E, 0), (0x0F, 1)):
                need("i2cset", "-f", "-y", str(bus()), hex(address), hex(register), hex(value), "b")
            fire("bma400")
            _, event = follower.next(number, "departed")[number - 1]
            expect(event["source"] == "chip", event)
            _, event = follower.next(number, "stationary")[number - 1]
            expect("source" not in event, event)
            wait_for("sleep after it", lambda: box().get("sleeping"))
        note("a walk and a run of the chip, at rest: 2 departures, each ended by samples")
        need("systemctl", "stop", UNIT)
        expect(all(read(path) == "0" for path in switches), "activities stay armed")

    @test
    def asleep_lsm6dso_is_armed():
        # Its FIFO is no register file: no sample comes, so that the event is armed only until that is found.
        folder, place = attach("lsm6dso"), now()
        switches, seen = glob.glob(f"{folder}/events/*_en"), []

        def look():
            while len(seen) < 3000 and not (seen and seen[-1] == "1" * len(switches)):
                seen.append("".join(read(path) for path in switches))
                time.sleep(0.01)
        looking = threading.Thread(target=look)
        looking.start()
        started(configuration(folder, "chip", keys="wake = true", sensor="rate_hz = 26"))
        looking.join()
        expect(seen[-1] == "1" * len(switches), f"its events are {seen[-1]}; it says: {'; '.join(words(place))}")
        note(f"{len(switches)} events on; it says: {'; '.join(words(place))}")
        need("systemctl", "stop", UNIT)
        expect(all(read(path) == "0" for path in switches), "its events stay on")

    @test
    def asleep_adxl345_without_a_line_is_told():
        folder, place = attach("adxl345"), now()
        started(configuration(folder, "auto", sensor="update_interval_s = 0.1"))
        said = wait_for("a word about it", lambda: [text for text in words(place) if "does not sleep at rest" in text])
        note(f"it says: {said[0]}")
        wait_for("samples", lambda: box()["streams"][0]["samples"] > 10)

    @test
    def asleep_a_suspended_machine_is_woken():
        folder = attach("bma400")
        wakeup = os.path.realpath(f"{folder}/../power/wakeup")
        put("disabled", wakeup)
        place = now()
        started(configuration(folder, "chip", keys="wake = true"))
        wait_for("sleep", lambda: read(wakeup) == "enabled" and armed(folder))
        base = CHIPS["bma400"][2]
        with open("/dev/port", "r+b", buffering=0) as ports:
            # A byte that is received raises the line.
            for offset, value in ((2, 0), (4, 8), (1, 1)):
                ports.seek(base + offset)
                ports.write(bytes([value]))
            put("", "/out/raise")
            with unshared():
                begin, suspended = time.clock_gettime(time.CLOCK_BOOTTIME), time.monotonic()
                put("freeze", "/sys/power/state")
                length, awake = time.clock_gettime(time.CLOCK_BOOTTIME) - begin, time.monotonic() - suspended
            for offset in (1, 0):
                ports.seek(base + offset)
                ports.write(b"\0") if offset else ports.read(1)
        number = read("/sys/power/pm_wakeup_irq")
        note(f"frozen for {length:.1f} s, {length - awake:.1f} s of it on no clock but that of the boot; woken by interrupt {number}")
        expect(number == "7", number)
        said = wait_for("a word about what woke it", lambda: [
            text for text in messages(place, "-u", UNIT) if "woke the machine" in text])
        note(said[0])
        # The next line is a motion as ever.
        follower = Follower()
        wait_for("sleep", lambda: armed(folder))
        tilt("bma400", 1)
        fire("bma400")
        follower.next(1, "motion.began")
        need("systemctl", "stop", UNIT)
        expect(read(wakeup) == "disabled", "power/wakeup stays as the service had set it")

    @test
    def asleep_samples_of_rest_that_gather_cost_this():
        folder = attach("bma400")
        for latency in (0.05, 1, 5):
            tilt("bma400", 0)
            process = started(configuration(
                folder, "samples", sensor=f"{timed()}\nrest_latency_s = {latency}"), NO_WATCHDOG)
            wait_for("samples", lambda: box()["streams"][0]["samples"] > 100)
            time.sleep(5)
            resting = rate(process)
            follower, late = Follower(), []
            for number in range(1, 6):
                time.sleep(3 + 0.37 * number)
                moment = time.monotonic_ns()
                tilt("bma400", number)
                arrival, event = follower.next(number, "motion.began", seconds=30)[number - 1]
                late.append(((event["onset_ns"] - moment) / 1e6, (arrival - moment) / 1e6))
            note(f"rest_latency_s = {latency}: {resting[0]:.2f} wake-ups a second, by thread {resting[3]}, "
                 f"processor {resting[1]:.2f} %, {box()['streams'][0]['lost_samples']} samples lost; 5 movements: onset "
                 f"{middle([a for a, _ in late]):.0f} ms after them, event {middle([b for _, b in late]):.0f} ms (most {max(b for _, b in late):.0f})")

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
        need("systemctl", "stop", UNIT)
        # The service's account may not see what others have open; root may.
        with open("/tmp/root.toml", "w") as file:
            file.write(watched(folder, "chip"))
        place = Program(BINNACLE, "run", "--config", "/tmp/root.toml")
        said = place.wait_for("another program has its events")
        note(f"to root: {said}")
        expect(f"'python3' (process {holder.process.pid})" in said, said)
        place.end()
        holder.end()

    @test
    def asleep_devices_show_events_and_their_lines():
        for chip in CHIPS:
            if CHIPS[chip][2]:
                attach(chip)
        said = run(BINNACLE, "devices")[1]
        note(said.replace("\n", "\n#   "))
        for words in ("thresh either on x", "mag rising", "gesture singletap", "change of steps"):
            expect(words in said, said)
        # adxl345 has events on newer kernels; by ACPI it has no line.
        for device in re.split("\n(?=\\S)", said):
            name = device.split(",")[0]
            expect(("interrupt none" in device) == (name == "adxl345" and " event " in device), device)
            if name == "adxl345" and "mag_adaptive rising" in device:
                # The threshold of activity (0x24), in steps of a sixteenth of g.
                steps = int(run("i2cget", "-f", "-y", str(bus()), hex(CHIPS["adxl345"][0]), "0x24", "b")[1], 16)
                expect(f"mag_adaptive rising, at {float(f'{steps * 9.80665 / 16:.4g}'):g} m/s²" in device, (steps, device))

    @test
    def asleep_each_line_is_a_motion():
        names = ("bma400", "kxcjk")
        folders = {name: attach(name) for name in names}
        before = taken()
        started(OBSERVED + "".join(watched(folders[name], "chip", name, still=(0.1, 0.02)) for name in names))
        follower, seen = Follower(), 0
        found = {name: [] for name in names}
        lost = []

        def follow():
            nonlocal seen
            while seen < len(follower.lines):
                arrival, line = follower.lines[seen]
                seen += 1
                event = json.loads(line) if line.startswith("{") else {}
                if event.get("seq", 0) <= follower.first:
                    continue
                if event.get("kind") == "motion.began":
                    found[event["sensor"]].append((event["onset_ns"], event["time_ns"], arrival))
                elif event.get("kind") == "samples.lost" and event["cause"] != "wake":
                    lost.append(event)

        def until(what, answer):
            end = time.monotonic() + 30
            while not answer():
                expect(time.monotonic() < end, f"waited in vain for {what}")
                time.sleep(0.005)
        fired = {name: [] for name in names}
        for number in range(1, LINES + 1):
            for name in names:
                until(f"{name} asleep, line {number}", lambda: armed(folders[name]))
                tilt(name, number)
                fired[name].append(time.monotonic_ns())
                fire(name)
            until(f"motions of line {number}", lambda: follow() or all(len(found[name]) >= number for name in names))
        for name in names:
            until(f"{name} asleep at the end", lambda: armed(folders[name]))

        def seen_samples():
            return sum(sensor["streams"][0]["samples"] for sensor in status()["sensors"])
        try:
            wait_for("every sample", lambda: seen_samples() == taken() - before, 20)
        except Failed as failure:
            raise Failed(f"{failure}: the drivers have taken {taken() - before}, the service has seen {seen_samples()}") from None
        note(f"{taken() - before} samples taken by the drivers, as many seen")
        follow()
        for name in names:
            onsets = [onset for onset, _, _ in found[name]]
            expect(len(onsets) == LINES, f"{name}: {len(onsets)} motions of {LINES} lines")
            late = [onset - line for line, onset in zip(fired[name], onsets)]
            expect(all(0 <= difference < 1e9 for difference in late), f"{name}: onsets {min(late)} to {max(late)} ns after lines")
            first = [(sample - onset) / 1e6 for onset, sample, _ in found[name]]
            told = [(arrival - onset) / 1e6 for onset, _, arrival in found[name]]
            note(f"{name}: {LINES} lines, {len(onsets)} motions, their onsets {min(late) / 1e6:.1f} to {max(late) / 1e6:.1f} ms after it; line to first sample {middle(first):.1f} ms "
                 f"(95 %: {middle(first, 0.95):.1f}), line to event {middle(told):.1f} ms (95 %: {middle(told, 0.95):.1f})")
        # How regular a timer is depends on how much of the machine the guest gets.
        note(f"losses apart from those of waking: {len(lost)}" + (f", the first: {lost[0]['cause']} of {lost[0].get('count')}" if lost else ""))
