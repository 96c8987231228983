"""The deltas for Signal K: paths, units and signs against what the events tell, as datagrams and over a connection.

With BINNACLE_SIGNALK_SCHEMAS, the folder `schemas` of https://github.com/SignalK/specification, each delta is also held against
delta.json, and each value against the schema of its path. The schemas are CC BY-SA, so they are not kept here.
"""
import json
import math
import os
import pathlib
import re
import socket
import subprocess

import harness
from harness import check, need, wait_for

WANTED = 100
SCHEMAS = os.environ.get("BINNACLE_SIGNALK_SCHEMAS")
PATHS = {"navigation.headingMagnetic", "navigation.headingTrue", "navigation.magneticVariation", "navigation.rateOfTurn",
         "navigation.attitude"}


def daemon(folder, frame):
    """A boat that heels, pitches and turns is replayed at its speed; returns what was sent and what was told."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(harness.PATIENCE)
    port = harness.free_port()
    path = pathlib.Path(folder, "binnacle.toml")
    path.write_text(f"""
[position]
latitude_deg = 50
longitude_deg = -5
date = "2026-11-21"
[sensor.box]
source = "trace"
file = "{harness.ROOT}/Tests/Golden/simulated-attitude.csv"
[attitude.hull]
accelerometer = "box"
magnetometer = "box"
hard_iron_uT = 0
frame = "{frame}"
[handler.boat]
signalk = "udp://127.0.0.1:{receiver.getsockname()[1]}"
[handler.server]
signalk = "tcp://127.0.0.1:{port}"
[handler.lines]
on = ["attitude.changed"]
stdout = true
""")
    with open(pathlib.Path(folder, "events"), "w") as output:
        binnacle = harness.start_daemon(path, stdin=subprocess.DEVNULL, stdout=output)

        def connect():
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=harness.PATIENCE)
            except ConnectionRefusedError:
                return None

        sent = []
        with wait_for("the server", connect) as connection, connection.makefile("r") as lines:
            def whole(delta):
                # The boat has heeled, pitched and turned.
                return values(delta).get("navigation.attitude", {}).get("pitch", 0) > 0.15

            while len(sent) < WANTED or not whole(json.loads(sent[-1])):
                sent.append(receiver.recv(65536).decode())
                need(len(sent) < 1000, "it does not pitch")
            streamed = [lines.readline() for _ in range(WANTED)]
        harness.end(binnacle)
    told = [json.loads(line) for line in pathlib.Path(folder, "events").read_text().splitlines()]
    return sent, streamed, told


def values(delta):
    return {value["path"]: value["value"] for value in delta["updates"][0]["values"]}


def validators():
    """A check of a whole delta by its schema, and one of each value by the schema of its path."""
    import jsonschema  # Debian's python3-jsonschema, or PyPI's

    folder = pathlib.Path(SCHEMAS)
    store = {}
    for path in folder.rglob("*.json"):
        schema = json.loads(path.read_text())
        for name in filter(None, (schema.get("id"), schema.get("$id"), path.resolve().as_uri())):
            store[name] = store[name.rstrip("#")] = schema

    def validator(schema, base):
        resolver = jsonschema.RefResolver(base, schema, store=store)
        return jsonschema.Draft4Validator(schema, resolver=resolver, format_checker=jsonschema.FormatChecker())

    whole = json.loads((folder / "delta.json").read_text())
    group = folder / "groups/navigation.json"
    navigation = json.loads(group.read_text())["properties"]
    base = json.loads(group.read_text()).get("id", group.resolve().as_uri())
    return (validator(whole, whole.get("id", "")),
            {f"navigation.{name}": validator(schema, base) for name, schema in navigation.items()},
            {f"navigation.{name}": schema.get("units") for name, schema in navigation.items()})


frames = {}
for frame in ("ned", "enu"):
    with harness.temporary_folder() as folder:
        sent, streamed, told = daemon(folder, frame)
    frames[frame] = sent
    sign = 1 if frame == "ned" else -1
    tilts = {(e["roll_deg"], sign * e["pitch_deg"]) for e in told}
    headings = {e["heading_deg"] for e in told if e.get("reference") == "true"}
    variations = {e["declination_deg"] for e in told if "declination_deg" in e}
    for text in sent + streamed:
        need(text.endswith("\n") and text.count("\n") == 1, "no line:", repr(text))
        delta = json.loads(text)
        need(delta["context"] == "vessels.self" and len(delta["updates"]) == 1, text)
        update = delta["updates"][0]
        need(update["source"] == {"label": "Binnacle sensor daemon", "type": "signalk", "src": "hull"}, text)
        need(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", update["timestamp"]), text)
        found = values(delta)
        need(found.keys() <= PATHS and len(found) == len(update["values"]), text)
        attitude = found["navigation.attitude"]
        need((round(math.degrees(attitude["roll"]), 2), round(math.degrees(attitude["pitch"]), 2)) in
             {(round(roll, 2), round(pitch, 2)) for roll, pitch in tilts}, "no event tells of", attitude)
        if "navigation.headingTrue" in found:
            degrees = math.degrees(found["navigation.headingTrue"])
            need(0 <= degrees < 360 and any(abs(degrees - one) < 0.006 for one in headings), text)
            need(abs(attitude["yaw"]) <= math.pi + 1e-6, text)
            need(abs(math.remainder(attitude["yaw"] - found["navigation.headingTrue"], 2 * math.pi)) < 2e-6, text)
            variation = found["navigation.magneticVariation"]
            need(any(abs(math.degrees(variation) - one) < 0.006 for one in variations), text)
            need(abs(math.remainder(found["navigation.headingMagnetic"] + variation - found["navigation.headingTrue"],
                                    2 * math.pi)) < 2e-4, text)
        else:
            need("navigation.headingMagnetic" not in found and "yaw" not in attitude, text)
    everything = [values(json.loads(text)) for text in sent]
    need(any("navigation.headingTrue" in found for found in everything), "no heading")
    rates = [found["navigation.rateOfTurn"] for found in everything if "navigation.rateOfTurn" in found]
    # The trace heels to starboard first and then raises its bow, whichever the frame is, and keeps its heading.
    need(rates and max(map(abs, rates)) < 0.01, "rates of turn:", rates)
    need(max(found["navigation.attitude"]["roll"] for found in everything) > 0.4, "it does not heel to starboard")
    check(True, f"{frame}: {len(sent) + len(streamed)} deltas with the paths, units and signs of their events")

if SCHEMAS:
    whole, parts, units = validators()
    count = 0
    for text in frames["ned"] + frames["enu"]:
        delta = json.loads(text)
        errors = [error.message for error in whole.iter_errors(delta)]
        need(not errors, text, errors)
        for path, value in values(delta).items():
            update = delta["updates"][0]
            entry = {"value": value, "timestamp": update["timestamp"], "$source": "binnacle.hull"}
            errors = [error.message for error in parts[path].iter_errors(entry)]
            need(not errors, path, entry, errors)
            count += 1
    bad = json.loads(frames["ned"][0])
    bad["updates"][0]["timestamp"] = "2026-11-24 01:02"
    need(list(whole.iter_errors(bad)), "the schema accepts a wrong time: it is not used")
    del bad["updates"][0]["values"]
    need(list(whole.iter_errors(bad)), "the schema accepts no values: it is not used")
    check({path: units[path] for path in PATHS if units[path]} == {
        "navigation.headingMagnetic": "rad", "navigation.headingTrue": "rad", "navigation.magneticVariation": "rad",
        "navigation.rateOfTurn": "rad/s"}, "the units of the schemas are those that are sent")
    check(True, f"Signal K's own schemas accept {len(frames['ned'] + frames['enu'])} deltas and {count} values")
else:
    print("left out: Signal K's own schemas: BINNACLE_SIGNALK_SCHEMAS names no folder")
harness.finish()
