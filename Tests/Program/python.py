"""Integrations/python against a running daemon: every message, reconnection, errors, slow and killed clients, the wheel, the examples.

What clients read is compared with what the program prints, and counted: a stream's stamps lie on a grid, so that each missing sample
shows, and is either counted as lost or a fault.
"""

import ast
import contextlib
import itertools
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest.mock

import harness
from harness import BINARY, ROOT, check, fail, start, until, wait_for

PACKAGE = ROOT / "Integrations/python"
sys.path.insert(0, str(PACKAGE / "src"))

import binnacle  # noqa: E402  # It lies in the folder above.

# A slow machine takes some time for 1 kHz; the stamps do not depend on it.
RATE, QUICK = 1000, 8000
CONFIGURATION = """
[socket]
path = "{folder}/s"
[store]
path = "{folder}/events.db"
[sensor.lid]
source = "simulated"
model = "shake"
rate_hz = 1000
latency_s = 0.01
calibration = "{folder}/lid.toml"
[sensor.quick]
source = "simulated"
model = "still"
rate_hz = 8000
[motion.moved]
accelerometer = "lid"
[motion.quick]
accelerometer = "quick"
[north.heading]
accelerometer = "lid"
magnetometer = "lid"
"""
CALIBRATION = """
[accelerometer]
offset_m_s2 = [0.5, 0.0, 0.0]
matrix = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
fit_error_m_s2 = 0.01
positions = 6
"""
#: Reads a number of samples and prints what it has counted; each client is a process that can be stopped and killed.
READER = """
import sys, binnacle
sensor, wanted, period = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
count = lost = batches = 0
first = last = None
for batch in binnacle.samples([sensor], ["accelerometer"], path=sys.argv[1]):
    if first is None: print("subscribed", flush=True)
    if batch.lost and last is not None and batch.time_ns[0] - last != (batch.lost + 1) * period:
        sys.exit(f"{batch.lost} are lost, and the stamps jump by {batch.time_ns[0] - last} ns")
    # What was lost before the first batch is not between two stamps.
    lost += batch.lost if last is not None else 0
    first = batch.time_ns[0] if first is None else first
    last, batches = batch.time_ns[-1], batches + 1
    count += len(batch)
    if count >= wanted: break
print(count, lost, (last - first) // period + 1, batches)
"""


def reader(address, sensor, wanted, period):
    return start(
        sys.executable, "-c", READER, address, sensor, str(wanted), str(period), stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE / "src")})


def raised(kind, what, body):
    try:
        body()
    except kind as error:
        check(str(error) != "", f"{what} is {kind.__name__}", error)
        return error
    except Exception as error:  # noqa: BLE001  # Any other is the fault that is reported.
        check(False, f"{what} is {kind.__name__}", repr(error))
    else:
        check(False, f"{what} is {kind.__name__}", "no error")
    return None


def types_and_wheel(folder):
    source = (PACKAGE / "src/binnacle/__init__.py").read_text()
    ast.parse(source, feature_version=(3, 9))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", str(ROOT / ".build/mypy")], cwd=PACKAGE,
        capture_output=True, text=True)
    check(done.returncode == 0, "mypy --strict finds nothing", done.stdout.strip())
    done = subprocess.run(["scripts/packaging/make-wheel", f"{folder}/wheel"], cwd=ROOT, capture_output=True, text=True)
    wheel = pathlib.Path(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else fail("make-wheel:", done.stderr)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", f"{folder}/installed", wheel],
        check=True)
    files = sorted(path.name for path in pathlib.Path(folder, "installed/binnacle").glob("*") if path.is_file())
    check(files == ["__init__.py", "py.typed"], "the wheel has one file and says that it is typed", files)
    check(pathlib.Path(folder, "installed/binnacle/__init__.py").read_text() == source, "the wheel has the file as it is")
    # As an installed package of another program, with its types.
    pathlib.Path(folder, "user.py").write_text("import binnacle\nfor batch in binnacle.samples():\n    reveal_type(batch.x)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", f"{folder}/mypy", f"{folder}/user.py"], capture_output=True,
        text=True, env={**os.environ, "MYPYPATH": f"{folder}/installed"})
    check("array.array[" in done.stdout, "its users see the types", done.stdout.strip())
    version = subprocess.run([BINARY, "--version"], capture_output=True, text=True).stdout.split()[-1]
    check(wheel.name == f"binnacle_client-{version}-py3-none-any.whl", "the wheel has the program's version", wheel.name)
    check(binnacle.__version__ == version, "and so has the module", binnacle.__version__)


def stored(address, *arguments):
    """The stored events as the program prints them."""
    done = subprocess.run([BINARY, "events", "--json", "--socket", address, *arguments], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def events(address):
    wait_for("events", lambda: len(stored(address)) >= 5)
    before = stored(address)
    kept = list(binnacle.events(after=0, follow=False, path=address))
    ours = {event.seq: event for event in kept}
    theirs = {line["seq"]: line for line in before}
    check(set(theirs) <= set(ours), "every stored event comes", len(ours))
    named = ("seq", "kind", "detector", "sensor", "time_ns", "wall_time", "identity")
    same = all(
        all(getattr(ours[seq], key) == line.get(key) for key in named)
        and ours[seq].figures == {key: value for key, value in line.items() if key not in (*named, "simulated")}
        and ours[seq].simulated == line["simulated"] for seq, line in theirs.items())
    check(same, "with every member as the program prints it")
    wait_for("a shake", lambda: stored(address, "--kind", "shake"))
    kinds = {event.kind for event in binnacle.events(["motion.began", "shake"], ["lid"], after=0, follow=False, path=address)}
    check(kinds and kinds <= {"motion.began", "shake"}, "kinds and sensors choose", sorted(kinds))
    check(binnacle.status(address)["store"]["events"] > 0, "the status is there")


def samples(address):
    line = next(iter(binnacle.samples(["quick"], path=address)))
    check(
        (line.sensor, line.kind, line.unit, line.frame, line.raw, line.simulated) == ("quick", "accelerometer", "m/s²", "device", False, True),
        "a batch says what it is", line.unit)
    mean = sum(line.z) / len(line)
    check(abs(mean - 9.81) < 0.1, "at rest it points up with 9.81 m/s²", round(mean, 3))
    check(len(line.x) == len(line.y) == len(line.z) == len(line.time_ns), "the columns are as long as each other", len(line))
    check(abs(binnacle.wall_time_ns(line.time_ns[-1]) / 1e9 - time.time()) < 3600, "its stamps are of this machine's clock")
    seen = set()
    with binnacle.samples(path=address) as every:
        for batch in every:
            seen.add((batch.sensor, batch.kind))
            if len(seen) == 4:
                break
    wanted = {("lid", kind) for kind in ("accelerometer", "magnetometer", "gyroscope")} | {("quick", "accelerometer")}
    check(seen == wanted, "without a choice all come")
    # The same stamps, once corrected and once raw: both are on their way at the same time.
    with binnacle.samples(["lid"], ["accelerometer"], path=address) as true, \
            binnacle.samples(["lid"], ["accelerometer"], raw=True, path=address) as raw:
        corrected, measured = {}, {}
        while len(set(corrected) & set(measured)) < 100:
            for subscription, found in ((true, corrected), (raw, measured)):
                batch = next(subscription)
                check(batch.raw == (found is measured), "raw is said") if not found else None
                found.update(zip(batch.time_ns, batch.x))
    common = set(corrected) & set(measured)
    check(all(math.isclose(measured[t] - corrected[t], 0.5, abs_tol=1e-4) for t in common), "raw leaves the calibration out", len(common))
    with binnacle.subscribe(samples={"interval_s": 0.2}, readings={"interval_s": 0.1}, path=address) as all_kinds:
        found = {type(message) for message in (next(all_kinds) for _ in range(400))}
    check({binnacle.Samples, binnacle.Readings} <= found, "one connection has all", sorted(kind.__name__ for kind in found))


def readings(address):
    with binnacle.readings(0.1, path=address) as subscription:
        first, second = next(subscription), next(subscription)
        check(any(one.active for message in subscription for one in message.detectors), "a state that is waited for is active")
    stream = next(stream for stream in second.streams if stream.sensor == "quick")
    check(stream.z is not None and stream.z.least <= stream.z.last <= stream.z.greatest, "readings have spans")
    detector = next(one for one in second.detectors if one.detector == "moved")
    check(detector.limits[0].name == "motion" and len(detector.lanes) > 0, "limits, and lanes that the daemon does not repeat")
    check([one.detector for one in first.detectors] == [one.detector for one in second.detectors], "of each detector")
    limit = {"name": "zone 1", "of": "drum_g", "side": "above", "begin": 2, "end": 1}
    washer = {"detector": "washer", "kind": "vibration", "sensors": [], "running": True, "measures": [], "limits": [limit], "figures": {}}
    shown = {**washer, "limits": [{**limit, "always_shown": True}], "active": True, "spectrum": {"time_ns": 1}}
    known = {}
    for detector, always, active, time_ns in ((washer, False, False, None), (shown, True, True, 1), (washer, False, False, 1)):
        line = {"time_ns": 1, "interval_s": 0.1, "skipped": 0, "streams": [], "detectors": [detector]}
        found = binnacle._readings(line, known).detectors[0]
        known = {"washer": found}
        has = (found.limits[0].always_shown, found.active, found.spectrum and found.spectrum["time_ns"])
        check(has == (always, active, time_ns), "limits that are always shown, and spectra that the daemon does not repeat", has)


def many(address):
    """Ten clients at 1 kHz beside one that is stopped, one that reads a byte a second, and others that are killed."""
    stopped = reader(address, "quick", 3 * QUICK, 10**9 // QUICK)
    wait_for("its first batch", stopped.stdout.readline)
    stopped.send_signal(signal.SIGSTOP)
    bytewise = socket.socket(socket.AF_UNIX)
    bytewise.connect(address)
    bytewise.sendall(b'{"subscribe":{"kinds":[],"samples":{}}}\n')
    is_over = threading.Event()

    def read_bytes():
        while not is_over.wait(1):
            bytewise.recv(1)

    slow = threading.Thread(target=read_bytes)
    slow.start()
    victims = [reader(address, "quick", 10**9, 10**9 // QUICK) for _ in range(5)]
    for victim in victims:
        wait_for("its first batch", victim.stdout.readline)
    clients = [reader(address, "lid", 6 * RATE, 10**9 // RATE) for _ in range(10)]
    for victim in victims:
        victim.kill()
    results = [client.communicate()[0].split() for client in clients]
    check(all(client.returncode == 0 and len(result) == 5 for client, result in zip(clients, results)), "ten clients have read", results[0])
    check(all(int(result[2]) == 0 for result in results), "without a loss")
    check(all(int(result[1]) == int(result[3]) and int(result[1]) >= 6 * RATE for result in results), "and have every sample of their stamps")
    # 8192 samples are a second of it; what the kernel has of the connection is another part of one.
    lost = until(lambda: [one for one in binnacle.status(address)["socket"]["subscribers"] if one["pid"] == os.getpid()])
    check(lost != [], "the status has the slow one")
    time.sleep(4)
    stopped.send_signal(signal.SIGCONT)
    count, missing, covered, _ = (int(word) for word in stopped.communicate()[0].split())
    check(stopped.returncode == 0 and missing > 0, "the one that was stopped is told what it lost", missing)
    check(count + missing == covered, "and that is all that it did not get", (count, missing, covered))
    is_over.set()
    slow.join()
    bytewise.close()
    left = wait_for("the end of their connections", lambda: (n := binnacle.status(address)["socket"]["connections"]) <= 1 and [n])
    check(left == [1], "no connection remains but the one that asks")


def hostile(address):
    def answer(request):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(harness.PATIENCE)
            client.connect(address)
            found = b""
            # The daemon closes while more of a long request is on its way, which the kernel reports behind the answer.
            with contextlib.suppress(ConnectionError):
                client.sendall(request)
                client.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while piece := client.recv(65_536):
                    found += piece
            return found

    requests = {
        "a line of 1 MB": b'{"subscribe":{"samples":{"sensors":["' + b"x" * (1 << 20) + b'"]}}}\n',
        "half a request": b'{"subscribe":{"samples":{"sen',
        "100 levels": b'{"subscribe":{"samples":' + b"[" * 100 + b"]" * 100 + b"}}\n",
        "a key of another request": b'{"subscribe":{"samples":{"after":0}}}\n',
        "two requests": b'{"subscribe":{"samples":{}}}\n' * 2,
    }
    for what, request in requests.items():
        lines = answer(request).splitlines()
        check(bool(lines) and b'{"error":' in lines[-1], f"{what} is refused", lines[-1][:120] if lines else lines)
    check(len(next(iter(binnacle.samples(["lid"], path=address)))) > 0, "and others are served")


def errors(folder, address):
    event = next(iter(binnacle.events(path=pathlib.Path(address), after=0)))
    check(len({event, event}) == 1, "an event may be a key")
    raised(binnacle.NotRunning, "no daemon", lambda: next(binnacle.events(path=f"{folder}/nothing")))
    with socket.socket(socket.AF_UNIX) as full, socket.socket(socket.AF_UNIX) as first:
        full.bind(f"{folder}/full")
        full.listen(0)
        raised(binnacle.Busy, "a daemon that does not answer", lambda: binnacle.status(path=f"{folder}/full"))
        full.accept()[0].close()
        first.connect(f"{folder}/full")
        raised(binnacle.Busy, "a daemon with a full queue", lambda: next(binnacle.events(path=f"{folder}/full")))
        raised(binnacle.Busy, "its status", lambda: binnacle.status(path=f"{folder}/full"))
    with socket.socket(socket.AF_UNIX) as slow:
        slow.bind(f"{folder}/slow")
        slow.listen()
        thread = threading.Thread(target=lambda: trickle(slow))
        thread.start()
        binnacle.STATUS_TIMEOUT, usual = 0.5, binnacle.STATUS_TIMEOUT
        raised(binnacle.Busy, "a server that sends a byte now and then", lambda: binnacle.status(path=f"{folder}/slow"))
        binnacle.STATUS_TIMEOUT = usual
        thread.join()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{folder}/silent")
        silent.listen()
        binnacle.ANSWER_TIMEOUT, usual = 0.5, binnacle.ANSWER_TIMEOUT
        quiet = pathlib.Path(folder) / "silent"
        raised(binnacle.Busy, "a stopped daemon", lambda: list(binnacle.events(path=quiet, follow=False)))
        silent.accept()
        raised(binnacle.Busy, "one that samples are asked of", lambda: next(binnacle.samples(path=quiet)))
        silent.accept()
        thread = threading.Thread(target=lambda: answer(silent, b'{"subscribed":{"seq":3,"identity":"a"}}\n'))
        thread.start()
        raised(binnacle.Busy, "one that stops amid stored events", lambda: list(
            binnacle.events(path=quiet, after=1, follow=False, reconnect=False)))
        thread.join()
        binnacle.ANSWER_TIMEOUT = usual
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/many")
        listener.listen()
        thread = threading.Thread(target=lambda: serve(listener, b'{"error":{"message":"there are 2 already","busy":true}}\n'))
        thread.start()
        raised(binnacle.Busy, "a daemon with too many connections", lambda: next(binnacle.events(path=f"{folder}/many")))
        thread.join()
    error = raised(binnacle.Refused, "an unknown sensor", lambda: next(binnacle.samples(["lit"], path=address)))
    check("lid (" in str(error) and "quick (accelerometer)" in str(error), "it names those that there are")
    error = raised(binnacle.Refused, "an unknown kind", lambda: next(binnacle.events(["motion.begun"], path=address)))
    check("did you mean `motion.began`" in str(error) and error.column is not None, "with a proposal and the place", error.column)
    raised(TypeError, "a text in place of a list", lambda: binnacle.events("motion.began"))
    texts = (
        b"HTTP/1.1 400 Bad Request\r\n\r\n", b'{"samples":{"sensor":5}}\n', b'{"error":5}\n', b'[]\n', b"[" * 100_000 + b"\n",
        b"x" * (binnacle.LONGEST_LINE + (1 << 17)))
    asks = {"samples": lambda path: next(binnacle.samples(path=path)), "status": lambda path: binnacle.status(path)}
    for text, (what, ask) in itertools.product(texts, asks.items()):
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(f"{folder}/false")
            listener.listen()
            thread = threading.Thread(target=lambda: serve(listener, text))
            thread.start()
            raised(binnacle.NotUnderstood, f"{what} of a server that sends {text[:20]!r}", lambda: ask(f"{folder}/false"))
            thread.join()
        os.unlink(f"{folder}/false")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2048, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    with contextlib.ExitStack() as descriptors:
        while descriptors.enter_context(open(os.devnull, "rb")).fileno() < 1030:
            pass
        with binnacle.events(["free_fall"], path=address) as quiet:
            check(quiet.read(timeout=0.1) is None, "also with a descriptor above 1,024")
            threading.Timer(0.2, quiet.close).start()
            check(quiet.read(timeout=math.inf) is None or quiet.is_closed, "also without an end")
    count, kept = len(os.listdir("/proc/self/fd")), []
    for _ in range(3):
        with binnacle.events(["free_fall"], path=address) as quiet:
            quiet.read(timeout=0.1)
        kept.append(quiet)
    check(len(os.listdir("/proc/self/fd")) == count, "the end of a with statement closes the descriptor")
    with binnacle.events(["free_fall"], path=address) as quiet:
        check(quiet.read(timeout=0.1) is None and not quiet.is_closed, "a wait has an end")
        thread = threading.Timer(0.2, quiet.close)
        thread.start()
        check(list(quiet) == [] and quiet.is_closed, "another thread ends the iteration")


def trickle(listener):
    connection, _ = listener.accept()
    with connection, contextlib.suppress(OSError):
        while True:
            connection.sendall(b" ")
            time.sleep(0.05)


def answer(listener, text):
    """Answers a request, and is silent until the client has gone."""
    connection, _ = listener.accept()
    with connection:
        connection.sendall(text)
        while connection.recv(1 << 16):
            pass


def serve(listener, text):
    connection, _ = listener.accept()
    with connection:
        try:
            connection.sendall(text)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1 << 16)
        except OSError:
            pass


def reconnection(folder, daemon, address):
    """A daemon that is killed and comes back: a client goes on behind its last event, and so does a program that kept its place."""
    changes, seen = [], []
    subscription = binnacle.events(["shake"], after=0, path=address, on_change=changes.append)

    def read():
        for message in subscription:
            seen.append(message)

    thread = threading.Thread(target=read)
    thread.start()
    wait_for("events", lambda: len(seen) > 5)
    daemon.kill()
    daemon.wait()
    wait_for("the report that it is away", lambda: changes)
    check(isinstance(changes[0], (binnacle.Disconnected, binnacle.NotRunning)), "the caller is told that the daemon is away", changes[0])
    before = len(seen)
    daemon = harness.start_daemon(f"{folder}/c.toml", address)
    wait_for("events of the second daemon", lambda: len(seen) > before + 5)
    check(changes[-1] is None, "and that it answers again")
    subscription.close()
    thread.join()
    events_seen = [message.seq for message in seen if isinstance(message, binnacle.Event)]
    expected = [line["seq"] for line in stored(address, "--kind", "shake") if line["seq"] <= events_seen[-1]]
    check(events_seen == expected, "no stored event is lost, and none comes twice", len(expected))
    kept = (subscription.after, subscription.identity)
    later = next(binnacle.events(["shake"], after=kept[0], identity=kept[1], path=address))
    check(isinstance(later, binnacle.Event) and later.seq > kept[0], "a program that keeps the place goes on there", kept[0])
    missed = next(binnacle.events(after=5, identity="another", path=address))
    check(isinstance(missed, binnacle.Missed) and "another sequence" in missed.reason, "another store's place is reported", missed)
    # Without patience the end is an error.
    impatient = binnacle.samples(path=address, reconnect=False)
    next(impatient)
    daemon.terminate()
    raised(binnacle.Disconnected, "an end without reconnect", lambda: list(impatient))
    waiting = binnacle.samples(path=address, wait=True)
    check(waiting.read(timeout=0.1) is None, "who waits gets nothing yet")
    daemon = harness.start_daemon(f"{folder}/c.toml", address)
    check(len(next(waiting)) > 0, "and then samples")
    # It writes into the folder, which is removed next.
    harness.end(daemon)


def reload(folder, daemon, address):
    """A sensor that stays loses nothing by a reload, one that goes ends its subscription, and one that comes is there."""
    configuration = pathlib.Path(folder, "c.toml")
    text = configuration.read_text()
    with binnacle.samples(["lid"], ["accelerometer"], path=address) as kept, binnacle.samples(path=address) as every, \
            binnacle.samples(["quick"], path=address) as gone:
        last = next(kept).time_ns[-1]
        next(gone)
        configuration.write_text(text.replace("quick]", "slow]").replace('"quick"', '"slow"').replace("8000", "50"))
        daemon.send_signal(signal.SIGHUP)
        error = raised(binnacle.Refused, "a sensor that a reload removes", lambda: list(gone))
        check("no detector uses a sensor `quick`" in str(error) and "slow (accelerometer)" in str(error), "with those that there are now")
        while "slow" not in {batch.sensor for batch in [next(every)]}:
            pass
        check(True, "a sensor that a reload adds comes to those who want all")
        gaps, period = 0, 10**9 // RATE
        for _ in range(50):
            batch = next(kept)
            # The daemon counts what this program, which waited for others, was too late for.
            stamps = [last + batch.lost * period, *batch.time_ns]
            gaps += sum(b - a != period for a, b in zip(stamps, stamps[1:]))
            last = stamps[-1]
        check(gaps == 0, "and one that stays has no gap", last)
    configuration.write_text(text)
    daemon.send_signal(signal.SIGHUP)
    wait_for("the sensor", lambda: "quick" in {one["name"] for one in binnacle.status(address)["sensors"]})


def program(address):
    """`binnacle samples`, and the examples."""
    printing = start(BINARY, "samples", "--socket", address, "--sensor", "lid", "--kind", "accelerometer", stdout=subprocess.PIPE, text=True)
    lines = [printing.stdout.readline().rstrip("\n") for _ in range(101)]
    check(lines[0] == "time_ns,sensor,kind,x,y,z", "binnacle samples prints CSV", lines[0])
    rows = [line.split(",") for line in lines[1:]]
    stamps = [int(row[0]) for row in rows]
    check(all(b - a == 10**9 // RATE for a, b in zip(stamps, stamps[1:])), "with every sample", lines[1])
    check(harness.end(printing, signal.SIGINT) == 130, "until Ctrl-C")
    printing = start(BINARY, "samples", "--socket", address, "--json", "--raw", stdout=subprocess.PIPE, text=True)
    body = json.loads(printing.stdout.readline())["samples"]
    check(body["raw"] is True and len(body["x"]) == len(body["time_ns"]), "--json prints the daemon's lines")
    printing.stdout.close()
    check(printing.wait(harness.PATIENCE) == 0, "until its reader is gone")
    done = subprocess.run([BINARY, "samples", "--socket", address, "--sensor", "lit"], capture_output=True, text=True)
    check(done.returncode == 69 and "there are lid" in done.stderr, "an unknown sensor ends it", done.stderr.strip())
    done = subprocess.run([BINARY, "samples", "--kind", "gyro"], capture_output=True, text=True)
    check(done.returncode == 64 and "gyroscope" in done.stderr, "and an unknown kind", done.stderr.strip())
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE / "src")}
    for name, arguments, wanted in (
        ("spectrum.py", ["quick", "1", address], f"at {QUICK}.0 Hz"), ("frames.py", ["1", address], "magnetometer"),
    ):
        done = subprocess.run(
            [sys.executable, PACKAGE / "examples" / name, *arguments], capture_output=True, text=True, env=environment)
        check(done.returncode == 0 and wanted in done.stdout, f"examples/{name}", (done.stdout + done.stderr).strip()[-300:])


def own_folder(folder):
    """As the program has it: a folder of another account, as after su, and relative paths are ignored."""
    home = f"{folder}/home"
    # Of root, which owns /; where the test runs as root, of another account.
    foreign = tempfile.mkdtemp(dir=folder) if os.geteuid() == 0 else "/"
    if os.geteuid() == 0:
        os.chown(foreign, 1, 1)
    state = f"{home}/.local/state/binnacle"
    for variables, wanted in (
        ({"XDG_RUNTIME_DIR": str(folder), "HOME": home}, str(folder)), ({"XDG_RUNTIME_DIR": foreign, "HOME": home}, state),
        ({"XDG_RUNTIME_DIR": ".", "XDG_STATE_HOME": "state", "HOME": home}, state),
        ({"XDG_RUNTIME_DIR": f"{folder}/none", "XDG_STATE_HOME": home}, f"{home}/binnacle"), ({"HOME": "."}, None),
    ):
        with unittest.mock.patch.dict(os.environ, variables, clear=True):
            found = binnacle._own_folder()
        check(found == wanted, f"the own daemon's folder of {variables}", found)


def main():
    with harness.temporary_folder() as folder:
        own_folder(folder)
        types_and_wheel(folder)
        shutil.rmtree(f"{folder}/installed")
        pathlib.Path(folder, "c.toml").write_text(CONFIGURATION.format(folder=folder))
        pathlib.Path(folder, "lid.toml").write_text(CALIBRATION)
        address = f"{folder}/s"
        daemon = harness.start_daemon(f"{folder}/c.toml", address)
        events(address)
        samples(address)
        readings(address)
        errors(folder, address)
        hostile(address)
        reload(folder, daemon, address)
        many(address)
        program(address)
        reconnection(folder, daemon, address)
    harness.finish()


main()
