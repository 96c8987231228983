"""Many daemons and one broker that is away and killed: what is lost, and who throws out whom.

DAEMONS is how many (300), and BROKER the one that takes part: mosquitto or nats (both). It takes five minutes, and 3 GB of memory for 300.
What each daemon's store has is compared with what a reader got.
"""
import collections
import contextlib
import datetime
import json
import os
import pathlib
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time

import paho.mqtt.client

import harness
from harness import BINARY, check, free_port

COUNT = int(os.environ.get("DAEMONS", 300))
# The broker has a connection of each daemon.
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (65536 if most == resource.RLIM_INFINITY else min(65536, most), most))
#: How long the broker is away, and how long everything runs before and after that, in seconds.
AWAY, BEFORE, AFTER = 5, 15, 15
PATIENCE = 180
#: How long is waited for what may be lost; more than NATS' `ack_wait`, after which it sends again what a reader has not acknowledged.
SHORT = 30
# What a broker may lose of what it acknowledged: how many seconds before the signal it came, from and to, and what it is.
#: mosquitto saves once a second, and that takes time.
UNSAVED = (0, 3, "what the broker acknowledged and had not saved")
#: NATS keeps messages for its consumers alone, and ends these before the connections.
ENDING = (-0.25, 0.1, "what the broker acknowledged while it ended")


class Broker:
    """A broker with a disk."""

    def __init__(self, folder):
        self.port = free_port()
        self.folder = folder
        self.log = folder / "broker.log"
        self.write()
        self.start()

    def start(self):
        log = open(self.log, "a")
        self.process = harness.start(*self.command, stdout=log, stderr=log)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                harness.fail("the broker has ended:", self.log.read_text()[-500:])
            time.sleep(0.05)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def thrown_out(self):
        return [line for line in self.log.read_text().splitlines() if self.words in line]


class Mosquitto(Broker):
    name = "mosquitto"
    words = "already connected"

    def write(self):
        (self.folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {self.folder}/\nautosave_interval 1\nmax_queued_messages 0\n"
            "max_inflight_messages 0\nlog_type error\nlog_type warning\nlog_type notice\n"
            + ("user root\n" if os.geteuid() == 0 else ""))
        self.command = ["mosquitto", "-c", self.folder / "mosquitto.conf"]


class NATS(Broker):
    name = "nats-server with JetStream"
    words = "duplicate"

    def write(self):
        (self.folder / "nats.conf").write_text(
            f'server_name: "check"\nlisten: "127.0.0.1:{free_port()}"\n'
            f'jetstream {{ store_dir: "{self.folder}/jetstream" }}\n'
            f'mqtt {{\n listen: "127.0.0.1:{self.port}"\n max_ack_pending: 10000\n ack_wait: "10s"\n}}\n')
        self.command = ["nats-server", "-c", self.folder / "nats.conf"]


class Reader:
    """Has a session that outlasts connections, as one that lands events has."""

    def __init__(self, port):
        self.found = collections.Counter()
        self.events = {}
        self.gaps = []
        self.last = {}
        self.status = {}
        self.lock = threading.Lock()
        self.client = paho.mqtt.client.Client(
            paho.mqtt.client.CallbackAPIVersion.VERSION2, client_id="reader", clean_session=False)
        self.client.on_connect = lambda client, *_: client.subscribe([("fleet/+/event/#", 1), ("fleet/+/status", 1)])
        self.client.on_subscribe = lambda *_: self.is_subscribed.set()
        self.client.on_message = self.take
        self.client.reconnect_delay_set(1, 1)
        self.is_subscribed = threading.Event()
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        assert self.is_subscribed.wait(PATIENCE)

    def take(self, client, _, message):
        device = message.topic.split("/")[1]
        with self.lock:
            if message.topic.endswith("/status"):
                self.status[device] = message.payload
                return
            event = json.loads(message.payload)
            self.found[device, event["seq"]] += 1
            # A reader sees a loss in the number before.
            if self.found[device, event["seq"]] == 1:
                if "previous" in event and (device, event["previous"]) not in self.found:
                    self.gaps.append((device, event["previous"]))

    def missing(self, wanted):
        """The events that have not come, of those with a device and a number."""
        with self.lock:
            return [event for key, event in wanted.items() if key not in self.found]

    def wait_until_online(self):
        def is_online():
            with self.lock:
                return sum(text == b"online" for text in self.status.values()) == COUNT
        return harness.until(is_online, PATIENCE, 0.2)


def configuration(number, folder, port):
    return f"""
[sensor.box]
source = "simulated"
model = "shake"
rate_hz = 10
seed = {number}

[motion.box]
accelerometer = "box"

[store]
path = "{folder}/{number}.db"

[handler.dev{number:04}]
on = ["motion.began", "motion.ended", "shake", "shock"]
mqtt = "mqtt://127.0.0.1:{port}"
topic = "fleet/dev{number:04}/event/{{sensor}}/{{kind_levels}}"
status_topic = "fleet/dev{number:04}/status"
state_topic = ""
wait_for_subscriber = {"true" if port in speaking_five else "false"}
"""


speaking_five = set()


def still_kept(path):
    """The numbers of the events that a store keeps for its handler."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as store:
        return {json.loads(body)["seq"] for body, in store.execute("SELECT body FROM deliveries")}


def resident(processes):
    pages = sum(int(pathlib.Path(f"/proc/{one.pid}/statm").read_text().split()[1]) for one in processes)
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def run(make, number, loss):
    with harness.temporary_folder() as text:
        folder = pathlib.Path(text)
        broker = make(folder)
        if make is Mosquitto:
            speaking_five.add(broker.port)
        title = f"{broker.name}, {signal.Signals(number).name}"
        reader = Reader(broker.port)
        daemons = []
        for device in range(COUNT):
            path = folder / f"{device}.toml"
            path.write_text(configuration(device, folder, broker.port))
            log = open(folder / f"{device}.log", "w")
            daemons.append(harness.start_daemon(path, stdout=log, stderr=log))
        check(reader.wait_until_online(), f"{title}: {COUNT} daemons are online")
        time.sleep(BEFORE)
        memory = resident(daemons)
        with reader.lock:
            reader.status.clear()
        killed = time.time()
        broker.end(number)
        time.sleep(AWAY)
        broker.start()
        began = time.monotonic()
        is_back = reader.wait_until_online()
        check(is_back, f"{title}: all are back", f"after {time.monotonic() - began:.0f} s")
        time.sleep(AFTER)
        for daemon in daemons:
            daemon.terminate()
        for daemon in daemons:
            daemon.wait()
        wanted, total, waiting = {}, 0, 0
        for device in range(COUNT):
            lines = subprocess.run(
                [BINARY, "events", "--json", "--store", folder / f"{device}.db", *sum(
                    (["--kind", kind] for kind in ("motion.began", "motion.ended", "shake", "shock")), [])],
                capture_output=True, text=True, check=True).stdout.splitlines()
            total += len(lines)
            kept = still_kept(folder / f"{device}.db")
            waiting += len(kept)
            # The next start publishes what the broker had not acknowledged at the end.
            wanted |= {(f"dev{device:04}", event["seq"]): event for event in map(json.loads, lines) if event["seq"] not in kept}
        # What is in flight to the reader, or is sent again.
        harness.until(lambda: not reader.missing(wanted), SHORT if loss else PATIENCE, 1)
        missing = reader.missing(wanted)
        repeated = sum(reader.found.values()) - len(reader.found)
        ages = [killed - datetime.datetime.fromisoformat(one["wall_time"].replace("Z", "+00:00")).timestamp()
                for one in missing]
        if loss:
            check(all(loss[0] <= age <= loss[1] for age in ages), f"{title}: nothing is lost but {loss[2]}",
                  f"{len(missing)} of {total} events, {min(ages, default=0):.2f} to {max(ages, default=0):.2f} s before")
        else:
            check(not missing, f"{title}: nothing is lost", f"{len(missing)} of {total} events")
        print(f"      {repeated} repeated, {len(reader.gaps)} seen out of order by their `previous`, "
              f"{waiting} kept for the next start, {memory / COUNT:.1f} MB resident each")
        out = broker.thrown_out()
        check(not out, f"{title}: no device throws out another", "; ".join(out[:3]))
        reader.client.loop_stop()
        broker.end(signal.SIGTERM)


for make, number, loss in (
        (Mosquitto, signal.SIGTERM, None), (Mosquitto, signal.SIGKILL, UNSAVED), (NATS, signal.SIGTERM, ENDING),
        (NATS, signal.SIGKILL, None)):
    if os.environ.get("BROKER", make.__name__.lower()) == make.__name__.lower():
        run(make, number, loss)
harness.finish()
