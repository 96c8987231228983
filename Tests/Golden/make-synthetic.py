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


if __name__ == "__main__":
    simulated_drop()
    simulated_turn()
    simulated_three_sensors()
    simulated_faults()
