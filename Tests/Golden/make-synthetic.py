#!/usr/bin/env python3
"""Writes the synthetic traces in this folder. They are simulated, and their names say so.

Only Python's standard library; the same bytes every time. Run it after a change here, then `make golden`.
"""
import math
import random

G = 9.80665


def noise(rng, sigma):
    return rng.gauss(0, sigma)


def still(rng, t):
    return noise(rng, 0.02), noise(rng, 0.02), G + noise(rng, 0.02)


def simulated_drop():
    """A device lies, falls for 0.45 s, strikes, and lies again; then is shaken by hand."""
    rng = random.Random(7)
    rows = ["time_ms;acc x [g];acc y [g];acc z [g]"]
    for i in range(int(14 * 200)):
        t = i / 200
        x, y, z = still(rng, t)
        if 4 <= t < 4.45:
            x, y, z = noise(rng, 0.1), noise(rng, 0.1), 0.4 + noise(rng, 0.1)
        elif 4.45 <= t < 4.48:
            x, y, z = 12.0, -8.0, 60.0 + noise(rng, 2)
        elif 8 <= t < 10:
            x += 25 * math.sin(2 * math.pi * 4 * (t - 8))
        rows.append(f"{i * 5};{x / G:.4f};{y / G:.4f};{z / G:.4f}")
    with open("simulated-drop.csv", "w", newline="") as f:
        f.write("\ufeff" + "\r\n".join(rows) + "\r\n")


def simulated_turn():
    """A level device turns once through all directions in 60 s, with a pause of 2.5 s at 30 s; one file, two rates."""
    rng = random.Random(11)
    rows = ["time_ns,chassis.ax_m_s2,chassis.ay_m_s2,chassis.az_m_s2,compass.mx_uT,compass.my_uT,compass.mz_uT"]
    start = 1_700_000_000_123_456_789
    for i in range(60 * 50):
        if 30 <= i / 50 < 32.5:
            continue
        stamp = start + i * 20_000_000
        x, y, z = still(rng, i / 50)
        if i % 2 == 0:
            heading = math.radians(180 + 6 * i / 50)
            mx = -21 * math.sin(heading) + noise(rng, 0.2)
            my = 21 * math.cos(heading) + noise(rng, 0.2)
            rows.append(f"{stamp - 3_000_000},,,,{mx:.3f},{my:.3f},{-45 + noise(rng, 0.2):.3f}")
        rows.append(f"{stamp},{x:.4f},{y:.4f},{z:.4f},,,")
    with open("simulated-turn.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


def simulated_three_sensors():
    """Three accelerometers at different rates; two of them, later all three, are moved together."""
    rng = random.Random(13)
    names = ["left", "middle", "right"]
    header = ["t_us"] + [f"{name}.a{axis}_g" for name in names for axis in "xyz"]
    rows = []
    for number, (name, rate) in enumerate(zip(names, [50, 80, 125])):
        for i in range(20 * rate):
            t = i / rate
            x, y, z = still(rng, t)
            moves = (5 <= t < 7 and name != "right") or (12 <= t < 14)
            if moves:
                y += 3 * math.sin(2 * math.pi * 2 * t)
            fields = [""] * 9
            fields[3 * number : 3 * number + 3] = [f"{value / G:.5f}" for value in (x, y, z)]
            rows.append((round(t * 1e6), number, fields))
    rows.sort(key=lambda row: row[:2])
    with open("simulated-three-sensors.csv", "w") as f:
        f.write("\t".join(header) + "\n")
        for stamp, _, fields in rows:
            f.write("\t".join([str(stamp)] + fields) + "\n")


def simulated_faults():
    """A logger's bad day: junk, NaN, infinity, time going backwards, a repeated stamp, a gap, a torn last line."""
    rng = random.Random(17)
    rows = ['"Time (s)","Accelerometer X (m/s^2)","Accelerometer Y (m/s^2)","Accelerometer Z (m/s^2)"']
    for i in range(800):
        t = i / 100 if i < 500 else i / 100 + 3
        x, y, z = still(rng, t)
        if 300 <= i < 400:
            x += 4 * math.sin(i)
        fields = [f"{t:.9E}", f"{x:.6E}", f"{y:.6E}", f"{z:.6E}"]
        if i == 100:
            fields[1] = "n/a"
        if i == 120:
            fields[2] = "NaN"
        if i == 130:
            fields[3] = "-inf"
        if i == 140:
            fields = fields[:3]
        if i == 150:
            fields[0] = f"{t - 1:.9E}"
        if i == 160:
            fields[0] = f"{t - 0.01:.9E}"
        rows.append(",".join(fields))
        if i == 200:
            rows += ["", "# the logger was started again", rows[0]]
    with open("simulated-faults.csv", "w") as f:
        f.write("\n".join(rows) + "\n1.1E1,4.0E-")


def simulated_evemu():
    """An accelerometer with 256 units per g as evemu-record writes it: changes alone, lost events, a torn last line.

    The head and the lines are those of evemu 2.7, "%lu.%06u %04x %04x %04d"; what is supported is cut short.
    """
    rng = random.Random(19)
    names = {0: "ABS_X", 1: "ABS_Y", 2: "ABS_Z", 3: "ABS_RX"}
    lines = [
        "# EVEMU 1.3",
        "# Kernel: 6.12.0-amd64",
        "# DMI: dmi:simulated",
        '# Input device name: "Simulated Motion Sensor, #1"',
        "# Input device ID: bus 0x18 vendor 0000 product 0000 version 0000",
        "# Supported events:",
        "#   Event type 0 (EV_SYN)",
        "#     Event code 0 (SYN_REPORT)",
        "#   Event type 3 (EV_ABS)",
    ]
    for code, name in names.items():
        lines += [f"#     Event code {code} ({name})", "#       Value        0", "#       Min      -4096"]
        lines += ["#       Max       4096", "#       Fuzz         0", "#       Flat         0", "#       Resolution 256"]
    lines += [
        "# Properties:",
        "#   Property  type 6 (INPUT_PROP_ACCELEROMETER)",
        "N: Simulated Motion Sensor, #1",
        "I: 0018 0000 0000 0000",
        "P: 40 00 00 00 00 00 00 00",
        "B: 00 0b 00 00 00 00 00 00 00",
        "B: 03 0f 00 00 00 00 00 00 00",
        "B: 04 20 00 00 00 00 00 00 00",
    ]
    lines += [f"A: {code:02x} -4096 4096 0 0 256" for code in names]
    lines += ["################################", "#      Waiting for events      #", "################################"]
    last = {}
    report = 0.0

    def event(t, kind, code, value, comment):
        lines.append(f"E: {t:.6f} {kind:04x} {code:04x} {value:04d}\t# {comment}")

    for i in range(20 * 50):
        t = 0.000001 + i / 50
        x, y, z = still(rng, t)
        if 5 <= t < 7:
            y += 3 * math.sin(2 * math.pi * 2 * t)
        if 12 <= t < 12.02:
            x, z = 20.0, 60.0
        if 15 <= t < 15.3:
            x, y, z = noise(rng, 0.1), noise(rng, 0.1), 0.3 + noise(rng, 0.1)
        for code, value in enumerate((x / G, y / G, z / G, i // 20 / 256)):
            value = round(value * 256)
            if last.get(code) != value:
                last[code] = value
                event(t, 3, code, value, f"EV_ABS / {names[code]:<20} {value}")
        if i % 50 == 0:
            event(t, 4, 5, i * 10000 % 2**31, f"EV_MSC / {'MSC_TIMESTAMP':<20} {i * 10000}")
        if i in (450, 901):
            event(t, 0, 3, 0, "------------ SYN_DROPPED (0) ---------- +20ms")
            report = t
        if i == 500:
            lines.append("E: 10.000001 0003 00")
        delta = round((t - report) * 1000) if i else 0
        event(t, 0, 0, 0, f"------------ SYN_REPORT (0) ---------- {delta:+d}ms")
        report = t
    with open("simulated-evemu.evemu", "w") as f:
        f.write("\n".join(lines) + "\nE: 20.000001 0003 0000 00")


def held(turn, lean, sign=1):
    """What an upright screen's accelerometer shows in g that was turned clockwise in its plane, and then leans back."""
    turn, lean = math.radians(turn), math.radians(lean)
    return -sign * math.sin(turn) * math.cos(lean), sign * math.cos(turn) * math.cos(lean), math.sin(lean)


def simulated_rotation():
    """A device that lies flat is tilted slowly and back, turned fast on its table, pushed, and tilted fast.

    Its gyroscope is 2°/s off on each axis, and has its own rate and stamps.
    """
    rng = random.Random(31)
    rows = []

    def tilt(t):
        return math.radians(ramp(t, (6, 0), (9, 60), (12, 60), (15, 0), (32, 0), (32.8, 70)))

    def turn(t):
        """The rate about the vertical in °/s: 90° in a second."""
        return 90 * (1 - math.cos(2 * math.pi * (t - 20))) if 20 <= t < 21 else 0

    for i in range(37 * 100):
        t = i / 100
        angle = tilt(t)
        y, z = G * math.sin(angle), G * math.cos(angle)
        if 26 <= t < 27.5:
            y += 2.5 * math.sin(2 * math.pi * 2 * (t - 26))
        values = [noise(rng, 0.02), y + noise(rng, 0.02), z + noise(rng, 0.02)]
        rows.append((t, "%.4f,%.4f,%.4f,,," % tuple(values)))
    for i in range(37 * 119):
        t = i / 119 + 0.0013
        rate = (math.degrees(tilt(t + 0.001) - tilt(t - 0.001)) / 0.002, 0, turn(t))
        values = [value + 2 + noise(rng, 0.1) for value in rate]
        rows.append((t, ",,,%.3f,%.3f,%.3f" % tuple(values)))
    rows.sort(key=lambda row: row[0])
    with open("simulated-rotation.csv", "w") as f:
        f.write("time_s,ax_m_s2,ay_m_s2,az_m_s2,gx_dps,gy_dps,gz_dps\n")
        for t, row in rows:
            f.write(f"{t:.6f},{row}\n")


def ramp(t, *points):
    """A value that goes straight from one point (time, value) to the next."""
    for (start, low), (end, high) in zip(points, points[1:]):
        if t < end:
            return low + (high - low) * max(0, t - start) / (end - start)
    return points[-1][1]


def simulated_screen():
    """A tablet with the desktop's signs is turned left, laid down, turned over, dropped, and held where it could flutter."""
    rng = random.Random(23)
    rows = ["time_s,ax_g,ay_g,az_g"]
    for i in range(60 * 10):
        t = i / 10
        turn = ramp(t, (5, 0), (6, 90), (20, 90), (21, 180), (30, 180), (31, 45))
        lean = ramp(t, (10, 20), (11, 85), (15, 85), (16, 20), (30, 20), (31, 36))
        x, y, z = held(turn, lean, sign=-1)
        size = 0.05 if t >= 31 else 0.005
        if 25 <= t < 25.6:
            x, y, z = 0.02, 0.02, 0.02
        x, y, z = (value + noise(rng, size) for value in (x, y, z))
        rows.append(f"{t:.1f},{x:.4f},{y:.4f},{z:.4f}")
    with open("simulated-screen.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


def simulated_wash():
    """A washing machine: its motor at 18 Hz with pauses, a spin at 13.3 Hz that runs up and down, and rest.

    From 20.0 to 20.2 s samples are missing, so that a second is not measured.
    """
    rng = random.Random(42)
    rows = ["time_s,ax_g,ay_g,az_g"]
    phase = 0
    for i in range(75 * 64):
        t = i / 64
        x = z = 0
        if 5 <= t < 35 and (t - 5) % 10 < 8:
            x = 0.04 * math.sqrt(2) * math.sin(2 * math.pi * 18 * t)
        elif 35 <= t < 60:
            speed = min(1, (t - 35) / 5, (60 - t) / 5)
            phase += 2 * math.pi * 13.3 * speed / 64
            x, z = 0.25 * speed ** 2 * math.cos(phase), 0.25 * speed ** 2 * math.sin(phase)
        values = (x + noise(rng, 0.002), noise(rng, 0.002), 1 + z + noise(rng, 0.002))
        if not 20 <= t < 20.2:
            rows.append("%.6f,%.4f,%.4f,%.4f" % (t, *values))
    with open("simulated-wash.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


def simulated_attitude():
    """A boat: at rest, then rolling in waves, heeled to starboard for 6 s, bow up for 3 s, and through a turn of 90 degrees to starboard.

    The device's y is the bow, its x starboard, its z up. The rates are those of the angles, the field has 44 uT and a dip of 66 degrees.
    """
    rng = random.Random(23)
    rows = ["time_ns," + ",".join(f"hull.{name}" for name in (
        "gx_rad_s", "gy_rad_s", "gz_rad_s", "ax_m_s2", "ay_m_s2", "az_m_s2", "mx_uT", "my_uT", "mz_uT"))]

    def angles(t):
        roll = 4 * math.sin(2 * math.pi * (t - 6) / 3) * ramp(t, (6, 0), (8, 1), (22, 1), (24, 0))
        roll += ramp(t, (9, 0), (10, 32), (16, 32), (17.5, 0))
        pitch = ramp(t, (18, 0), (19, 14), (22, 14), (23, 0))
        heading = 320 + ramp(t, (24, 0), (28, 90))
        return [math.radians(angle) for angle in (roll, pitch, heading)]

    def matrix(t):
        """From the device to east, north and up: roll about y, then pitch about x, then the heading."""
        roll, pitch, heading = angles(t)
        (sr, cr), (sp, cp), (sh, ch) = ((math.sin(a), math.cos(a)) for a in (roll, pitch, heading))
        tilt = [[cr, 0, sr], [sp * sr, cp, -sp * cr], [-cp * sr, sp, cp * cr]]
        east = [ch * a + sh * b for a, b in zip(tilt[0], tilt[1])]
        north = [-sh * a + ch * b for a, b in zip(tilt[0], tilt[1])]
        return [east, north, tilt[2]]

    step = 0.01
    for i in range(int(32 / step)):
        t = i * step
        now, before = matrix(t), matrix(t - step)
        # The small turn between two moments: before transposed times now.
        turn = [[sum(before[k][a] * now[k][b] for k in range(3)) for b in range(3)] for a in range(3)]
        rate = [(turn[2][1] - turn[1][2]) / 2 / step, (turn[0][2] - turn[2][0]) / 2 / step, (turn[1][0] - turn[0][1]) / 2 / step]
        up, north = now[2], now[1]
        force = [G * a + noise(rng, 0.03) for a in up]
        dip = math.radians(66)
        field = [44 * (math.cos(dip) * n - math.sin(dip) * u) + noise(rng, 0.3) for n, u in zip(north, up)]
        rate = [a + noise(rng, 0.002) for a in rate]
        texts = [f"{a:.5f}" for a in rate] + [f"{a:.4f}" for a in force]
        texts += [f"{a:.3f}" for a in field] if i % 2 == 0 else ["", "", ""]
        rows.append(f"{i * 10_000_000}," + ",".join(texts))
    with open("simulated-attitude.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


def simulated_laptop():
    """A laptop on a table is opened, turned about as a laptop, folded back over a tent to a tablet, and turned again."""
    rng = random.Random(29)
    rows = ["time_s,lid.ax_g,lid.ay_g,lid.az_g,keyboard.ax_g,keyboard.ay_g,keyboard.az_g"]
    for i in range(60 * 10):
        t = i / 10
        angle = ramp(t, (3, 0), (5, 110), (20, 110), (23, 290), (30, 290), (32, 360))
        # As a laptop it is held with its left edge up for five seconds; as a tablet it stands up, and is turned then.
        turn = ramp(t, (8, 0), (9, 90), (14, 90), (15, 0), (45, 0), (46, 90))
        rise = ramp(t, (36, 0), (38, 70))
        # Gravity in the base, and in the screen, which is turned from it around x by the angle short of flat.
        if angle < 180:
            base = (-math.sin(math.radians(turn)), 0, math.cos(math.radians(turn)))
        else:
            # The keyboard lies on the table; as a tablet the base looks away from the user.
            x, y, z = held(turn, 90 - rise)
            base = (x, -y, -z)
        fold = math.radians(180 - angle)
        x, y, z = base
        screen = (x, y * math.cos(fold) + z * math.sin(fold), z * math.cos(fold) - y * math.sin(fold))
        values = [value + noise(rng, 0.005) for value in screen + base]
        rows.append(f"{t:.1f}," + ",".join(f"{value:.4f}" for value in values))
    with open("simulated-laptop.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


def simulated_taps():
    """A device at 200 Hz is tapped once, twice and three times, five times (none), is walked with for 12 s, and rests."""
    rng = random.Random(31)
    rows = ["time_ms,ax_m_s2,ay_m_s2,az_m_s2"]
    taps = [(8, 2, 1), (11, 0, -1), (11.25, 0, -1), (14, 1, 1), (14.2, 1, 1), (14.45, 1, 1)]
    taps += [(17 + 0.2 * n, 2, 1) for n in range(5)]
    for i in range(46 * 200):
        t = i / 200
        a = list(still(rng, t))
        for start, axis, sign in taps:
            for part in range(8):
                u = t + (part - 4) / 1600 - start
                if 0 < u < 0.006:
                    a[axis] += sign * 15 * math.sin(math.pi * u / 0.006) / 8
        if 21 <= t < 33:
            step = 2 * math.pi * 1.8 * (t - 21)
            a[0] += 0.9 * math.sin(step / 2)
            a[2] += 2.4 * math.sin(step) + 0.3 * math.sin(2 * step)
        rows.append(f"{i * 5},{a[0]:.3f},{a[1]:.3f},{a[2]:.3f}")
    with open("simulated-taps.csv", "w") as f:
        f.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    simulated_taps()
    simulated_drop()
    simulated_turn()
    simulated_three_sensors()
    simulated_faults()
    simulated_evemu()
    simulated_screen()
    simulated_wash()
    simulated_rotation()
    simulated_laptop()
    simulated_attitude()
