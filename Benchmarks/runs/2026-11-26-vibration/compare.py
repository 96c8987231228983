"""Compares the root mean squares of a vibration detector with closed forms and with scipy.

usage: compare.py BINARY, from the project's folder; needs numpy and scipy

Each row is a signal of one second or more, as a CSV trace with seven decimals; the figures of the detector are those of the first
second, with which a limit near 0 is exceeded. "scipy" integrates scipy.signal.periodogram (Hann, density) of the same samples over the
band, and the density divided by (2 pi f)^2 for the velocity. "truth" is the closed form: a sine's a/sqrt 2 and a/(2 pi f sqrt 2); for
noise of density n on one axis n sqrt(f2 - f1) and 9.81 n sqrt(1/f1 - 1/f2)/(2 pi), against the mean square of many seconds; for a
sweep the mean square of the part of the second in the band cannot be had in closed form for a Hann window, so scipy alone counts.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy
from scipy.signal import chirp, periodogram

G = 9.80665
binary = pathlib.Path(sys.argv[1]).resolve()
worst = 0


def detect(x, rate, low, high):
    """The acceleration in g and the velocity in mm/s of the first second."""
    with tempfile.TemporaryDirectory() as folder:
        trace, settings = pathlib.Path(folder, "a.csv"), pathlib.Path(folder, "a.toml")
        times = np.round(np.arange(len(x)) / rate * 1e9).astype(np.int64)
        with open(trace, "w") as f:
            f.write("time_ns,ax_g,ay_g,az_g\n")
            f.writelines(f"{t},{a:.9f},0,1\n" for t, a in zip(times, x))
        settings.write_text(
            '[sensor.a]\nsource = "trace"\nfile = "a.csv"\n[vibration.a]\naccelerometer = "a"\ndwell_s = 0\n'
            f'bands = [{{ name = "b", from_hz = {low}, to_hz = {high}, zones_g = [1e-9] }}]\n')
        text = subprocess.run([binary, "replay", "--json", "--config", settings], capture_output=True, text=True, check=True).stdout
    event = next(e for e in map(json.loads, text.splitlines()) if e["kind"] == "vibration.began")
    return event["vibration_g"], event["velocity_mm_s"], event["frequency_hz"]


def integrate(x, rate, low, high):
    n = int(rate)
    f, p = periodogram(x[:n] - x[:n].mean(), rate, "hann", nfft=64 * n, detrend=False)
    inside = (f >= low) & (f <= high)
    step = f[1]
    return math.sqrt(p[inside].sum() * step), 1000 * G * math.sqrt((p[inside] / (2 * np.pi * f[inside]) ** 2).sum() * step)


def row(title, found, wanted, name, counts=True):
    global worst
    errors = [100 * (a / b - 1) for a, b in zip(found, wanted)]
    if counts:
        worst = max(worst, *map(abs, errors))
    print(f"{title:46s} {found[0]:9.5f} g {found[1]:9.3f} mm/s   {name:6s} {errors[0]:+6.2f} % {errors[1]:+6.2f} %", flush=True)


print("scipy", scipy.__version__, "numpy", np.__version__)
rng = np.random.default_rng(2026)
for rate in (100, 400, 1000, 3200):
    top = rate / 2.56
    n = int(rate) + 2
    t = np.arange(n) / rate
    # Two bins of the window inside of the band, and amplitudes whose last decimal does not matter.
    for f in [f for f in (12, 12.37, 17.5, 31, 77.7, 150.2, 380, 990) if f < top - 2]:
        x = 0.5 * np.sin(2 * np.pi * f * t + 1)
        found = detect(x, rate, 10, 1000)
        truth = 0.5 / math.sqrt(2), 1000 * G * 0.5 / (2 * np.pi * f) / math.sqrt(2)
        row(f"sine {f} Hz at {rate} Hz (found {found[2]} Hz)", found, truth, "truth")
    x = chirp(t, 5, 1, rate / 2.2) * 0.5
    row(f"sweep 5 to {rate / 2.2:.0f} Hz at {rate} Hz", detect(x, rate, 10, 1000), integrate(x, rate, 10, min(1000, top)), "scipy")
    density = 0.01
    sums = np.zeros(2)
    for turn in range(60):
        x = rng.normal(0, density * math.sqrt(rate / 2), n)
        found = detect(x, rate, 10, 1000)
        if turn < 3:
            row(f"noise {turn} at {rate} Hz", found, integrate(x, rate, 10, min(1000, top)), "scipy")
        sums += np.square(found[:2])
    high = min(1000, top)
    truth = density * math.sqrt(high - 10), 1000 * G * density / (2 * np.pi) * math.sqrt(1 / 10 - 1 / high)
    # 60 seconds of noise have an error of their own: 1/sqrt(2 * 60 * B / 1.5) for the B independent bins.
    own = 100 / math.sqrt(2 * 60 * (high - 10) / 1.5)
    row(f"noise, 60 seconds, at {rate} Hz (own error {own:.1f} %)", np.sqrt(sums / 60), truth, "truth", counts=False)
for distance in (-2, -1, -0.5, 0, 0.5, 1, 2):
    x = 0.5 * np.sin(2 * np.pi * (50 + distance) * np.arange(402) / 400 + 1)
    found = detect(x, 400, 10, 50)
    print(f"sine {distance:+.1f} Hz beside the end of a band: {(found[0] / 0.5) ** 2 * 2:.3f} of its power is inside")
print(f"largest error of sines, sweeps and noise beside scipy: {worst:.2f} %")
