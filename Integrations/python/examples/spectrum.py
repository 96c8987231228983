"""The strongest vibration of an accelerometer, with numpy: spectrum.py SENSOR [SECONDS [SOCKET]]"""

import sys

import binnacle
import numpy

sensor = sys.argv[1]
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
batches = []
with binnacle.samples([sensor], ["accelerometer"], path=sys.argv[3] if len(sys.argv) > 3 else None) as samples:
    for batch in samples:
        if batch.lost:
            # A spectrum needs samples without a gap.
            batches.clear()
        batches.append(batch)
        if batch.time_ns[-1] - batches[0].time_ns[0] >= seconds * 1e9:
            break

stamps = numpy.concatenate([batch.time_ns for batch in batches])
axes = numpy.stack([numpy.concatenate([getattr(batch, axis) for batch in batches]) for axis in "xyz"])
rate = (len(stamps) - 1) * 1e9 / (stamps[-1] - stamps[0])
# Gravity is the mean of each axis.
power = (numpy.abs(numpy.fft.rfft(axes - axes.mean(axis=1, keepdims=True))) ** 2).sum(axis=0)
frequencies = numpy.fft.rfftfreq(len(stamps), 1 / rate)
rms = numpy.sqrt(((axes - axes.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).mean())
print(f"{sensor}: {len(stamps)} samples at {rate:.1f} Hz, {rms:.3f} m/s² RMS, strongest at {frequencies[power.argmax()]:.2f} Hz")
