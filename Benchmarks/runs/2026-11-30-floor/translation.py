#!/usr/bin/env python3
"""How well the hard iron can be known in the recording of slow translation (trial 11) by who knows the true headings.

usage: translation.py, from the project's folder; needs numpy

The field in the device is R(t)·f + b, with the Earth's field f and the hard iron b. R(t) is built from the reference's heading of +Y
and the vertical, which a complementary filter of gyroscope and accelerometer (3 s) gives. Least squares over all rows so far give
f and b at each second. The error of the heading that the field less b has at that second is printed: this estimator
knows headings that the program does not, so what it does not reach no estimator of these sensors can be expected to reach."""
import numpy as np

rows = np.genfromtxt("Tests/Fixtures/gyroscope/broad11_slow_translation.csv", delimiter=",", names=True)
rates, accelerations, fields = (np.stack([rows[kind + axis] for axis in "xyz"], 1) for kind in "gam")
headings, level = np.radians(rows["ref_heading_y_deg"]), rows["ref_y_horizontal"]

up = accelerations[0] / np.linalg.norm(accelerations[0])
turns = np.full((len(rows), 3, 3), np.nan)
for row, (rate, acceleration, heading) in enumerate(zip(rates, accelerations, headings)):
    up = up + np.cross(up, rate) * 0.007
    up += 0.007 / (3 if row > 400 else 0.3) * (acceleration / np.linalg.norm(acceleration) - up)
    up /= np.linalg.norm(up)
    ahead = np.array([0, 1, 0]) - up * up[1]
    ahead /= np.linalg.norm(ahead)
    north = np.cos(heading) * ahead - np.sin(heading) * np.cross(ahead, up)
    turns[row] = np.stack([np.cross(north, up), north, up], 1)

known = np.isfinite(turns[:, 0, 0])
normal, right, found = np.zeros((6, 6)), np.zeros(6), []
for row in np.flatnonzero(known):
    jacobian = np.hstack([turns[row], np.eye(3)])
    normal += jacobian.T @ jacobian
    right += jacobian.T @ fields[row]
    if row % 143 or row < 1430 or level[row] < 0.5:
        continue
    # A heading of the mean of a tenth of a second, as the filters have.
    iron = np.linalg.solve(normal, right)[3:]
    errors = []
    for near in range(row - 7, row + 8):
        if near < len(rows) and known[near]:
            field = fields[near] - iron
            errors.append(np.degrees(np.arctan2(field @ turns[near][:, 0], field @ turns[near][:, 1])))
    found.append((rows["t_s"][row], abs(np.mean(errors)), iron))
last = np.linalg.solve(normal, right)[3:]
print("seconds   heading, median error   iron off the last fit, median")
for begin, end in (10, 20), (20, 40), (40, 60), (60, 80), (80, 101):
    part = [(error, np.linalg.norm(iron - last)) for time, error, iron in found if begin <= time < end]
    error, iron = np.median(part, 0)
    print(f"{begin:3} to {end:3} {error:16.1f}° {iron:22.1f} µT")
print(f"after 40 s: {np.median([error for time, error, _ in found if time >= 40]):.1f}°")
