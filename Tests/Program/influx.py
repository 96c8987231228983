"""Points for InfluxDB, written to Debian's server and read back from it: every event's tags, figures with their types, and time."""
import json
import os
import pathlib
import subprocess
import urllib.error
import urllib.parse
import urllib.request

import harness
from harness import ROOT, check, need, run, wait_for

TAGS = ("kind", "detector", "sensor", "sector", "channel", "handler")


def ask(port, path, body=None, **query):
    """The answer's status and text."""
    url = f"http://127.0.0.1:{port}{path}?{urllib.parse.urlencode(query)}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=harness.PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except urllib.error.URLError:
        return 0, ""


def serve(folder):
    port = harness.free_port()
    environment = os.environ | {
        "INFLUXDB_REPORTING_DISABLED": "true", "INFLUXDB_BIND_ADDRESS": f"127.0.0.1:{harness.free_port()}",
        "INFLUXDB_HTTP_BIND_ADDRESS": f"127.0.0.1:{port}", "INFLUXDB_META_DIR": f"{folder}/meta", "INFLUXDB_DATA_DIR": f"{folder}/data",
        "INFLUXDB_DATA_WAL_DIR": f"{folder}/wal", "INFLUXDB_MONITOR_STORE_ENABLED": "false"}
    (folder / "none.conf").touch()
    with open(folder / "influxd.log", "w") as log:
        harness.start("influxd", "-config", folder / "none.conf", env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    wait_for("influxd", lambda: ask(port, "/ping")[0] == 204)
    need(ask(port, "/query", b"", q="CREATE DATABASE b")[0] == 200, "no database")
    return port


def events(folder):
    """The lines of both formats, of a replay with motions, headings, attitudes and a file that fails."""
    points, lines = folder / "points", folder / "lines"
    # The reason of its failure has the file's name.
    broken = folder / 'a "b", c=d\\.csv'
    broken.write_text("time_s,ax_g,ay_g,az_g\n" + "".join(f"{i / 100},0,0,1\n" for i in range(50)) + "x\n" * 1100)
    (folder / "binnacle.toml").write_text(f"""
[sensor.broken]
source = "trace"
file = '''{broken}'''
[motion.other]
accelerometer = "broken"
[sensor.box]
source = "trace"
file = "{ROOT}/Tests/Golden/simulated-attitude.csv"
[motion.moved]
accelerometer = "box"
threshold_g = 0.01
[north.bow]
accelerometer = "box"
magnetometer = "box"
hard_iron_uT = 0
[attitude.hull]
accelerometer = "box"
magnetometer = "box"
hard_iron_uT = 0
[handler.points]
on = ["motion.*", "heading", "attitude.*", "sector.*", "sensor.*"]
file = "{points}"
format = "influx"
[handler.lines]
on = ["motion.*", "heading", "attitude.*", "sector.*", "sensor.*"]
file = "{lines}"
""")
    run("replay", "--handlers", "--config", folder / "binnacle.toml", status=65)
    return points.read_bytes(), [json.loads(line) for line in lines.read_text().splitlines()]


def key(tags, time):
    return tuple(tags.get(tag) or "" for tag in TAGS), time


with harness.temporary_folder() as name:
    root = pathlib.Path(name)
    port = serve(root)
    points, told = events(root)
    need(len(told) > 20 and len(points.splitlines()) == len(told), "events:", len(told), "points:", len(points.splitlines()))
    status, text = ask(port, "/write", points, db="b", precision="ns")
    check(status == 204, f"the server takes {len(told)} points", text[:300])
    status, text = ask(port, "/query", b"", q='SELECT * FROM "binnacle" GROUP BY *', db="b", epoch="ns")
    need(status == 200, text)
    found = {}
    for series in json.loads(text)["results"][0].get("series", []):
        for row in series["values"]:
            found[key(series["tags"], row[0])] = {
                column: value for column, value in zip(series["columns"][1:], row[1:]) if value is not None}
    # Points with the same tags and time are one for the database: the last one's fields replace those before.
    wanted = {}
    for event in told:
        fields = {figure: value for figure, value in event.items()
                  if figure not in (*TAGS, "time_ns", "wall_time") and value is not None}
        wanted.setdefault(key(event, event["time_ns"]), {}).update(fields)
    check(found.keys() == wanted.keys(), f"the database has {len(wanted)} points with their tags and times",
          sorted(found.keys() ^ wanted.keys())[:3] or "")
    wrong = [(point, found[point], fields) for point, fields in wanted.items() if found.get(point) != fields]
    check(not wrong, "the fields are the events' figures", wrong[:1] or "")
    types = json.loads(ask(port, "/query", b"", q='SHOW FIELD KEYS FROM "binnacle"', db="b")[1])["results"][0]["series"][0]["values"]
    types = dict(types)
    check((types["seq"], types["roll_deg"], types.get("frame")) == ("integer", "float", "string"), "fields have one type each", len(types))
harness.finish()
