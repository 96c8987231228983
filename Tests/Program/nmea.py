"""NMEA 0183 between this project and a parser that others use.

A device that turns is simulated, and pynmea2 parses what the daemon sends about it, as datagrams and over a connection.
Every value is compared with what the events tell, without a place and with one. What a simulation gives no cause for is
taken from the tests that say what has to be sent, so that pynmea2 says what it makes of it.
"""

import json
import math
import pathlib
import re
import socket
import subprocess
import threading
import time

import pynmea2

import harness
from harness import PATIENCE, ROOT, fail, need

WANTED = 150


def parse(sentence):
    need(sentence.endswith("\r\n") and sentence.count("\r\n") == 1, "no whole sentence:", repr(sentence))
    need(len(sentence) <= 82, "longer than the standard allows:", repr(sentence))
    try:
        return pynmea2.parse(sentence, check=True)
    except pynmea2.ParseError as error:
        fail("pynmea2:", error)


# What the daemon sends.


def connected(port):
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except ConnectionRefusedError:
            need(time.monotonic() < deadline, "nothing listens at port", port)
            time.sleep(0.05)


def datagrams(receiver):
    return [receiver.recv(2048).decode("ascii") for _ in range(WANTED)]


def lines(port, found):
    with connected(port) as connection, connection.makefile("r", encoding="ascii", newline="") as stream:
        for line in stream:
            found.append(line)
            if len(found) == WANTED:
                return


def run(position):
    """What the daemon sends as datagrams and over a connection, and the headings that its events tell, in degrees."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("127.0.0.1", 0))
    receiver.settimeout(PATIENCE)
    port = harness.free_port()
    configuration = f"""
{position}
[sensor.box]
source = "simulated"
model = "turn"
rate_hz = 100
[north.bow]
accelerometer = "box"
magnetometer = "box"
heading_filter_deg = 0.1
[handler.datagrams]
nmea = "udp://127.0.0.1:{receiver.getsockname()[1]}"
interval_s = 0.02
[handler.server]
nmea = "tcp://127.0.0.1:{port}"
sentences = ["HDM", "HDT", "HDG"]
talker = "II"
interval_s = 0.02
[handler.lines]
on = ["heading"]
stdout = true
"""
    with harness.temporary_folder() as folder:
        path = pathlib.Path(folder, "binnacle.toml")
        path.write_text(configuration)
        with open(pathlib.Path(folder, "events"), "w+") as output:
            daemon = harness.start_daemon(
                path, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True)
            try:
                streamed = []
                reader = threading.Thread(target=lines, args=(port, streamed), daemon=True)
                reader.start()
                try:
                    sent = datagrams(receiver)
                except TimeoutError:
                    fail("no datagram came")
                reader.join(PATIENCE)
            finally:
                daemon.terminate()
                _, errors = daemon.communicate(timeout=PATIENCE)
            need(daemon.returncode == 0, "the daemon ended with", daemon.returncode, errors)
            output.seek(0)
            told = [json.loads(line) for line in output]
    need(len(sent) == WANTED and len(streamed) == WANTED, "too few came:", len(sent), len(streamed))
    return sent, streamed, told


def headings_of(sentences):
    """The sentences that have a heading; the rate of turn comes when the simulated gyroscope decides."""
    for sentence in sentences:
        if sentence[3:6] == "ROT":
            message = parse(sentence)
            need(message.status == "A" and abs(float(message.rate_of_turn)) < 6000, "no rate of turn:", sentence)
    return [sentence for sentence in sentences if sentence[3:6] != "ROT"]


def tenths(degrees):
    return math.floor(degrees * 10 + 0.5) % 3600


# Without a place: magnetic headings alone.
sent, streamed, events = run("")
told = {tenths(event["heading_deg"]) / 10 for event in events}
for talker, types, sentences in (("HC", ["HDG", "HDM"], sent), ("II", ["HDM", "HDG"], streamed)):
    headings = []
    for index, sentence in enumerate(headings_of(sentences)):
        message = parse(sentence)
        need(message.talker == talker, "another talker:", sentence)
        need(message.sentence_type == types[index % 2], "not in turn:", sentence)
        headings.append(float(message.heading))
        need(0 <= headings[-1] < 360, "no bearing:", sentence)
        need(headings[-1] in told, "no event has told this:", sentence)
        if message.sentence_type == "HDM":
            need(message.magnetic == "M", sentence)
        else:
            empty = (message.deviation, message.dev_dir, message.variation, message.var_dir)
            need(all(field in (None, "") for field in empty), "what is not known:", sentence)
    need(len(set(headings)) >= 10, "it does not turn:", headings)

# With a place: true ones, too.
sent, streamed, events = run('[position]\nlatitude_deg = 50\nlongitude_deg = -5\ndate = "2026-11-21"\n')
variation = events[0]["declination_deg"]
told = {tenths(event["heading_deg"]) for event in events}
need(all(event["reference"] == "true" for event in events), "no true heading:", events[0])
for types, sentences in ((["HDG", "HDM", "HDT"], sent), (["HDM", "HDT", "HDG"], streamed)):
    for index, sentence in enumerate(headings_of(sentences)):
        message = parse(sentence)
        need(message.sentence_type == types[index % 3], "not in turn:", sentence)
        heading = tenths(float(message.heading))
        if message.sentence_type == "HDT":
            need(heading in told, "no event has told this:", sentence)
            continue
        # Rounded after the variation was taken off.
        near = {(heading + tenths(variation) + step) % 3600 for step in (-1, 0, 1)}
        need(near & told, "no event has told this:", sentence)
        if message.sentence_type == "HDG":
            need(float(message.variation) == tenths(abs(variation)) / 10, "another variation:", sentence)
            need(message.var_dir == ("W" if variation < 0 else "E"), "another side:", sentence)

# What the tests say that has to be sent.

known = set()
for file in sorted(file for name in ("NMEA", "Navigation") for file in (ROOT / "Tests/HandlersTests" / name).glob("*.swift")):
    known |= set(re.findall(r'"(\$[A-Z]{5},[^"\\]*)\\r\\n"', file.read_text()))
for sentence in sorted(known - {s for s in known if s.startswith("$ECRMB")}):
    message = parse(sentence + "\r\n")
    fields = sentence[sentence.index(",") + 1 : sentence.index("*")].split(",")
    # pynmea2 knows PASHR as a sentence of a manufacturer, without names for its fields.
    if sentence.startswith("$PASHR"):
        continue
    if message.sentence_type == "XDR":
        places = [(t.type, t.units, t.id) for t in (message.get_transducer(i) for i in range(message.num_transducers))]
        need(places in ([("A", "D", "PITCH")], [("A", "D", "PITCH"), ("A", "D", "ROLL")]), sentence, places)
        continue
    if message.sentence_type == "ROT":
        need([str(message.rate_of_turn), message.status] == fields, sentence, message.rate_of_turn)
        continue
    need(str(message.heading) == fields[0], sentence, message.heading)
    if message.sentence_type == "HDT":
        need(message.hdg_true == "T", sentence)
    if message.sentence_type == "HDG":
        need([message.variation or "", message.var_dir or ""] == [str(f) for f in fields[3:]] or
              [str(message.variation), message.var_dir] == fields[3:], sentence, message.variation, message.var_dir)
kinds = {sentence[3:6] for sentence in known}
need({"HDG", "HDM", "HDT", "ROT", "XDR"} <= kinds, "the tests know only", kinds)

print(f"NMEA 0183: {harness.needed} checks, {4 * WANTED} sentences of the daemon parsed with pynmea2 {pynmea2.__version__}")
