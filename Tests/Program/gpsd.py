"""What Debian's gpsd makes of the sentences of an attitude: datagrams, and a serial line that is unplugged and plugged in again.

A boat that heels, pitches and turns is replayed at its speed. gpsd has to report ATT with heading, pitch and roll that the daemon's events tell, and with a north
alone nothing but the heading.
"""
import json
import os
import pathlib
import pty
import select
import socket
import subprocess
import threading
import tty

import harness
from harness import check, need, wait_for

GPSD = "/usr/sbin/gpsd"
WANTED = 30

CONFIGURATION = """
[position]
latitude_deg = 50
longitude_deg = -5
date = "2026-11-21"
[sensor.box]
source = "trace"
file = "%s"
[north.bow]
accelerometer = "box"
magnetometer = "box"
hard_iron_uT = 0
[attitude.hull]
accelerometer = "box"
magnetometer = "box"
hard_iron_uT = 0
[handler.lines]
on = ["attitude.changed", "heading", "handler.failed", "handler.recovered"]
stdout = true
""" % (harness.ROOT / "Tests/Golden/simulated-attitude.csv")


class Client:
    """A client of gpsd that watches, and collects the reports of one class."""

    def __init__(self, port):
        self.socket = wait_for("gpsd", lambda: self.connect(port))
        self.socket.settimeout(harness.PATIENCE)
        self.lines = self.socket.makefile("r")
        self.socket.sendall(b'?WATCH={"enable":true,"json":true}\n')

    @staticmethod
    def connect(port):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            return None

    def reports(self, count, wanted=lambda report: True):
        found = []
        while len(found) < count:
            line = self.lines.readline()
            need(line, "gpsd has closed the connection")
            report = json.loads(line)
            if report["class"] == "ATT" and wanted(report):
                found.append(report)
        return found


def daemon(folder, handlers):
    path = pathlib.Path(folder, "binnacle.toml")
    path.write_text(CONFIGURATION + handlers)
    output = open(pathlib.Path(folder, "events"), "w")
    return harness.start_daemon(path, stdin=subprocess.DEVNULL, stdout=output)


def events(folder):
    lines = pathlib.Path(folder, "events").read_text().splitlines(True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def gpsd(source):
    port = harness.free_port()
    harness.start(GPSD, "-N", "-n", "-S", str(port), source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return Client(port)


def compare(reports, told, what):
    told = [e for e in told if e["kind"] == "attitude.changed" and e.get("reference") == "true"]
    headings, tilts = {e["heading_deg"] for e in told}, {(e["pitch_deg"], e["roll_deg"]) for e in told}
    for report in reports:
        need((report["pitch"], report["roll"]) in tilts, f"{what}: no event tells of", report)
        # HDT has tenths, PASHR hundredths.
        need(any(abs((report["heading"] - one + 180) % 360 - 180) < 0.0501 for one in headings), f"{what}: no heading", report)
    check(True, f"{what}: {len(reports)} ATT with heading, pitch and roll",
          [{k: report[k] for k in ("heading", "pitch", "roll")} for report in reports[::29]])


need(os.access(GPSD, os.X_OK), "there is no gpsd: apt-get install gpsd")


def whole(report):
    return {"heading", "pitch", "roll"} <= report.keys()


def heeled(report):
    """To starboard, as the boat does at first, or to port."""
    return whole(report) and abs(report["roll"]) > 5


# Datagrams, with all sentences, and those of the compass.
with harness.temporary_folder() as folder:
    ports = [harness.free_port(), harness.free_port()]
    clients = [gpsd(f"udp://127.0.0.1:{port}") for port in ports]
    binnacle = daemon(folder, f"""
[handler.attitude]
nmea = "udp://127.0.0.1:{ports[0]}"
detector = ["hull"]
[handler.compass]
nmea = "udp://127.0.0.1:{ports[1]}"
detector = ["bow"]
""")
    found = clients[0].reports(WANTED, heeled)
    compass = clients[1].reports(WANTED)
    harness.end(binnacle)
    compare(found, events(folder), "datagrams")
    check(not any(whole(report) for report in compass), "datagrams of a north: heading alone",
          sorted(compass[-1].keys() - {"class", "device"}))


class Cable:
    """A serial line: what is written at one of its ends can be read at the other."""

    def __init__(self, path):
        self.path = path
        self.near, self.near_end = pty.openpty()
        self.far, self.far_end = pty.openpty()
        tty.setraw(self.far_end)
        os.symlink(os.ttyname(self.near_end), path)
        # The daemon alone has its end open, so that its loss is one.
        os.close(self.near_end)
        self.is_plugged = True
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()

    @property
    def end(self):
        return os.ttyname(self.far_end)

    def carry(self):
        while self.is_plugged:
            if not select.select([self.near], [], [], 0.1)[0]:
                continue
            try:
                os.write(self.far, os.read(self.near, 4096))
            except OSError:
                # Nothing has the end open at the moment.
                threading.Event().wait(0.05)

    def unplug(self):
        self.is_plugged = False
        self.thread.join()
        os.unlink(self.path)
        os.close(self.near)

    def plug(self):
        self.near, end = pty.openpty()
        os.symlink(os.ttyname(end), self.path)
        os.close(end)
        self.is_plugged = True
        self.thread = threading.Thread(target=self.carry, daemon=True)
        self.thread.start()


with harness.temporary_folder() as folder:
    cable = Cable(f"{folder}/ttyUSB0")
    client = gpsd(cable.end)
    binnacle = daemon(folder, f"""
[handler.line]
nmea = "{cable.path}"
baud = 38400
detector = ["hull"]
""")
    found = client.reports(WANTED, heeled)
    compare(found, events(folder), "a serial line")
    cable.unplug()
    failed = wait_for("the report", lambda: [e for e in events(folder) if e["kind"] == "handler.failed"])
    check(failed[0]["reason"] == f"{cable.path}: the line is gone", "a line that is unplugged is told", failed[0]["reason"])
    cable.plug()
    wait_for("the recovery", lambda: [e for e in events(folder) if e["kind"] == "handler.recovered"])
    check(True, "and it recovers when it is plugged in again")
    found = client.reports(WANTED, whole)
    compare(found, events(folder), "the line that is plugged in again")
    check(harness.end(binnacle) == 0, "the daemon ends")

harness.finish()
