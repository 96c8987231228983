"""A daemon that is only played: fixed readings, events, samples and status, so that a page of it is the same each time."""
import datetime
import json
import math
import random
import socket
import threading

#: The name that sensors, detectors and texts bring: it has to stay a text.
HOSTILE = "<img src=x onerror=hostile()>\u202e'\"&amp;"
#: The end of the readings, and the day of the events.
NOW = datetime.datetime(2026, 3, 14, 9, 30, tzinfo=datetime.timezone.utc)
SECONDS, RATE = 40, 20


def span(value, spread=0.0):
    return [round(value - spread, 5), round(value + spread, 5), round(value, 5)]


def limit(name, of, begin, end, side="above", always=False):
    return {"name": name, "of": of, "side": side, "begin": begin, "end": end, **({"always_shown": True} if always else {})}


def lane(title, unit="", curves=(), states=(), direction=None, sectors=()):
    return {"title": title, "unit": unit, "curves": [list(c) for c in curves], "states": [list(s) for s in states],
            "sectors": [list(s) for s in sectors], **({"direction": direction} if direction else {})}


def detector(name, kind, sensors, state, lanes, figures=None, measures=None, limits=(), active=False, running=True):
    return {"detector": name, "kind": kind, "sensors": sensors, "running": running, "state": state, **({"active": True} if active else {}),
            "measures": [{"name": n, "span": s} for n, s in (measures or {}).items()], "limits": list(limits), "figures": figures or {}, "lanes": lanes}


def stream(sensor, kind, unit, axes, spread, lost=0, active=True):
    values = {a: span(v, spread) for a, v in zip("xyz", axes)} if active else dict.fromkeys("xyz")
    length = span(math.hypot(*axes), spread) if active else None
    return {"sensor": sensor, "kind": kind, "unit": unit, "active": active, "samples": 5, "rate_hz": 100.0 if active else None, "age_s": 0.005,
            "losses": int(lost > 0), "lost_samples": lost, "gaps": int(lost > 0), **values, "length": length}


def reading(k):
    """The k-th reading, of a boat that turns and rolls, with a laptop and a washing machine aboard."""
    t, chance = k / RATE, random.Random(k)
    heading = (330 + 0.6 * t) % 360
    roll, pitch = 8 * math.sin(t / 3), 3 * math.cos(t / 4)
    push = 0.01 + 0.4 * math.exp(-((t - 25) / 2) ** 2) * (1 + 0.3 * chance.random())
    angle, lost = 60 + 50 * math.sin(t / 12), 0 if t < 30 else 12
    north = [lane("heading of compass", "°", states=[["none: ", "reason"]], direction=["heading_deg", "accuracy_deg"],
                  sectors=[["facing", -10, 10, 5]]), lane("strength of the field, compass", "µT", [["|B|", "strength_uT"]])]
    detectors = [
        detector("compass", "north", ["mast"], "away", north,
                 {"heading_deg": round(heading, 2), "reference": "true", "declination_deg": 3.9, "accuracy_deg": 3.9, "axis": "+y", "off_deg": round(-heading, 2),
                  "field_uT": 49.06, "dip_deg": 65.6, "turn_rate_dps": 0.6},
                 {"accuracy_deg": span(3.9 + 0.4 * math.sin(t / 5)), "strength_uT": span(49, 0.4 * chance.random())},
                 [limit("facing", "off_deg", 10, 15, "below"), limit("no heading", "accuracy_deg", 45, 45), limit("implausible", "strength_uT", 70, 70)]),
        detector("spare", "north", ["mast"], None, north, {"heading_deg": 123.4, "accuracy_deg": 12.2, "age_s": 3.2, "reason": "magnetic interference"},
                 {"accuracy_deg": span(12.2)}),
        detector("hull", "attitude", ["mast"], "heeled" if abs(roll) > 6 else "level",
                 [lane("roll and pitch of hull", "°", [["roll", "roll_deg"], ["pitch", "pitch_deg"]])],
                 {"frame": "ned", "qw": 1.0, "qx": 0.0, "qy": 0.0, "qz": 0.0, "roll_deg": round(roll, 2), "pitch_deg": round(pitch, 2), "tilt_accuracy_deg": 1.3,
                  "gravity_x_m_s2": 0.0, "user_x_m_s2": 0.0, "rate_x_dps": 0.0},
                 {"roll_deg": span(roll, 0.1), "pitch_deg": span(pitch, 0.1)},
                 [limit("heel", "roll_deg", 6, 5), limit("heel", "roll_deg", -6, -5, "below")], active=abs(roll) > 6),
        detector("tablet", "orientation", ["lid"], "left-up",
                 [lane("screen of tablet: its turn from the present edge, and its lean", "°", [["turn", "turn_deg"], ["lean", "lean_deg"]],
                       [["orientation: ", "state"], ["tilt: ", "tilt"]])], {"tilt": "vertical"},
                 {"turn_deg": span(12 + 9 * math.sin(t)), "lean_deg": span(8)}, [limit("next edge", "turn_deg", 50, 40, always=True)]),
        detector("laptop", "hinge", ["lid", "base"], "laptop", [lane("angle of laptop", "°", [["angle", "angle_deg"]], [["posture: ", "state"]])],
                 {"angle_deg": round(angle, 1)}, {"angle_deg": span(angle)}, [limit("laptop", "angle_deg", 15, 5), limit("tablet", "angle_deg", 190, 180)]),
        detector("moved", "motion", ["lid"], "moving" if push > 0.05 else "still", [lane("motion moved", states=[["", "state"]]),
                 lane("user acceleration, moved", "g", [["user", "user_g"]])], {}, {"user_g": span(push, push / 3)},
                 [limit("motion", "user_g", 0.05, 0.025, always=True), limit("shake", "user_g", 1.5, 0.75)], active=push > 0.05),
        detector("walker", "steps", ["lid"], "walking", [lane("steps walker", states=[["", "state"]])], {"total": 1240 + k // 10, "cadence_per_min": 112.0},
                 {"swing_rms_g": span(0.16)}, [limit("walk", "swing_rms_g", 0.08, 0.04, always=True)], active=True),
        detector("case", "tap", ["lid"], "calm", [], {}, {"impulse_g": span(0.01 + 0.4 * (k % 130 == 90))}, [limit("tap", "impulse_g", 0.2, 0.2, always=True)]),
        detector("washer", "vibration", ["drum"], "calm", [], {"band": "drum", "zone": 0, "velocity_mm_s": 1.204, "vibration_g": 0.03127, "frequency_hz": 16.4,
                 "measured_to_hz": 156.2, "machine": "spinning", "learned_percent": 62.5}, {"drum_g": span(0.031 + 0.005 * chance.random())} if k % RATE == 0 else {},
                 [limit("running", "drum_g", 0.01, 0.008, always=True), limit("zone 1", "drum_g", 0.045, 0.04)]),
        detector(HOSTILE, "stationary", [HOSTILE], None, [], {"reason": HOSTILE}, running=False),
    ]
    streams = [stream("mast", "accelerometer", "m/s²", (0.3 * math.sin(t), 0.2, 9.8), 0.1), stream("mast", "magnetometer", "µT", (17, 9, -45), 0.5),
               stream("lid", "accelerometer", "m/s²", (0.1, 9.7, push), 0.4, lost), stream(HOSTILE, "gyroscope", "°/s", (0, 0, 0), 0, active=False)]
    return {"time_ns": int((1000 + t) * 1e9), "interval_s": 1 / RATE, "skipped": 0, "streams": streams, "detectors": detectors}


#: The spectrum of the washer, as the daemon tells it.
SPECTRUM = {"time_ns": 1, "unit": "g", "from_hz": 0.390625, "step_hz": 0.78125,
            "values": [round(1e-4 * (1.5 + math.sin(i * 1.7)) + 0.03 * math.exp(-((i - 20) / 1.2) ** 2) + 0.004 * math.exp(-((i - 41) / 1.2) ** 2), 6) for i in range(199)],
            "bands": [{"name": "drum", "of": "drum_g", "unit": "g", "from_hz": 5, "to_hz": 40, "scale": [1, 1], "floor": 0.0007},
                      {"name": "severity", "of": "severity_mm_s", "unit": "mm/s", "from_hz": 60, "to_hz": 150, "scale": [0.0384, 0.0961], "floor": None}]}

STATUS = {"version": "0.2.0", "pid": 1, "state": "ok", "problems": [], "uptime_s": 5400, "store": {"oldest": "2026-03-01T08:00:00Z"},
          "sensors": [{"name": "mast", "streams": [{"kind": "accelerometer"}, {"kind": "magnetometer"}]}, {"name": "lid", "streams": [{"kind": "accelerometer"}, {"kind": "gyroscope"}]},
                      {"name": HOSTILE, "streams": [{"kind": "magnetometer"}]}]}


def events():
    """A day's events, with a heading each minute."""
    chance, begin = random.Random(3), NOW.replace(hour=0, minute=0)
    found = []
    for minute in range(0, 570):
        wall = begin + datetime.timedelta(minutes=minute)
        found.append((wall, {"kind": "heading", "detector": "compass", "heading_deg": round((minute * 1.3 + 20 * math.sin(minute / 40)) % 360, 2),
                             "accuracy_deg": round(4 + 3 * math.sin(minute / 90) ** 2, 1), "axis": "+y"}))
        # Many a minute has more than one heading: a page gets a part of them.
        found += [(wall + datetime.timedelta(seconds=s), dict(found[-1][1])) for s in (5, 10)]
        if minute % 3 == 0:
            found.append((wall + datetime.timedelta(seconds=20), {"kind": "attitude.changed", "detector": "hull", "roll_deg": round(10 * math.sin(minute / 25), 2), "pitch_deg": 2.0}))
        if chance.random() < 0.03:
            found.append((wall + datetime.timedelta(seconds=30), {"kind": chance.choice(["motion.began", "motion.ended", "shake"]), "detector": "moved", "peak_g": 0.1391}))
    found.append((NOW, {"kind": "sensor.inactive", "sensor": HOSTILE, "reason": HOSTILE, "active": 2}))
    return [{"seq": k + 1, "identity": "x", "wall_time": wall.strftime("%Y-%m-%dT%H:%M:%S.000000Z"), "time_ns": 10**9 * (k + 1), **event} for k, (wall, event) in enumerate(found)]


def field(covered):
    """The field in µT as a magnetometer with hard iron has it, from the covered part of all directions."""
    for k in range(600):
        z = 1 - 2 * covered * (k + 0.5) / 600
        a, r = 2.399963 * k, math.sqrt(max(0.0, 1 - z * z))
        yield 12 + 48 * r * math.cos(a), -30 + 48 * r * math.sin(a), 7 + 48 * z


def sides(covered):
    """What an accelerometer with an offset has in m/s², held with the covered part of its six sides up: the screen, the back, the top edge…"""
    up = [(0, 0, 1), (0, 0, -1), (0, 1, 0), (0, -1, 0), (1, 0, 0), (-1, 0, 0)]
    for side in up[:round(6 * covered)]:
        yield from [tuple(9.80665 * one + offset for one, offset in zip(side, (0.1, -0.2, 0.3)))] * 120


def rest(covered):
    """What a gyroscope with an offset has in rad/s, at rest for the covered part of 12 s."""
    return [(0.01, -0.02, 0.005)] * round(1200 * covered)


def samples(wanted, covered):
    """The samples that a request asks for, at 100 Hz."""
    kind = wanted["kinds"][0]
    lines = list({"magnetometer": field, "accelerometer": sides, "gyroscope": rest}[kind](covered))
    return {"sensor": wanted["sensors"][0], "kind": kind, "unit": {"magnetometer": "µT", "accelerometer": "m/s²", "gyroscope": "rad/s"}[kind],
            "frame": "device", "raw": True, "lost": 0, "time_ns": [10**7 * k for k in range(len(lines))],
            **{axis: [round(v[n], 5) for v in lines] for n, axis in enumerate("xyz")}}


class Played:
    """Serves what the functions above make, at the path of a socket."""

    def __init__(self, path):
        self.covered = 1.0
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(path)
        self.server.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                threading.Thread(target=self.serve, args=(self.server.accept()[0],), daemon=True).start()
            except OSError:
                return

    def serve(self, connection):
        with connection:
            try:
                request = json.loads(connection.makefile().readline())
                if "status" in request:
                    lines = [{"status": STATUS}]
                else:
                    wanted = request["subscribe"]
                    lines = [{"subscribed": {"identity": "x", "seq": 0, "after": 0}}]
                    if "readings" in wanted:
                        lines += [{"kind": "tap", "detector": "case", "seq": 1, "identity": "x", "wall_time": NOW.isoformat().replace("+00:00", "Z"), "time_ns": 1001 * 10**9, "count": 2}]
                        lines += [{"readings": reading(k)} for k in range(SECONDS * RATE)]
                    elif "samples" in wanted:
                        lines += [{"samples": samples(wanted["samples"], self.covered)}]
                    else:
                        lines += events() + [{"end": {}}]
                connection.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
                connection.recv(1)
            except (OSError, ValueError):
                pass

    def close(self):
        self.server.close()
