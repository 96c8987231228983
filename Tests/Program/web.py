"""`binnacle web` under attack, and what it shows in a headless Chromium.

Screenshots are in .build/web. Foreign hosts and sites, half requests, heads of 10 MB, a thousand connections, clients that read nothing: it answers others
meanwhile, and the daemon notices none of it.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

import harness
import heads
from browser import Browser
from harness import BINARY, PATIENCE, ROOT, check

TOKEN = "0123456789abcdef0123456789abcdef"
out = ROOT / ".build" / "web"
out.mkdir(parents=True, exist_ok=True)


def start(*arguments):
    process = harness.start(BINARY, "web", *arguments, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    found = re.search(r"http://(?:\[[^]]*\]|[^:/]*):(\d+)/", line)
    if not found:
        harness.fail("it did not start:", line + process.stderr.read())
    return process, int(found[1])


def ask(port, path="/", method="GET", host="127.0.0.1", headers={}):
    """The status, the header fields and the body of an answer; a connection that is closed without one is repeated."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection = http.client.HTTPConnection(host, port, timeout=PATIENCE)
            connection.request(method, path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (ConnectionError, http.client.HTTPException):
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def raw(port, data=b"", reads=True, client="127.0.0.1", buffer=None):
    connection = socket.socket()
    if buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    connection.settimeout(PATIENCE)
    connection.bind((client, 0))
    connection.connect(("127.0.0.1", port))
    try:
        connection.sendall(data)
    except OSError:
        pass
    if not reads:
        return connection
    answer = b""
    try:
        while piece := connection.recv(65536):
            answer += piece
    except OSError:
        pass
    connection.close()
    return answer


def stream(port, count, path="stream", event=b"event: readings", last=None):
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    again = f"Last-Event-ID: {last}\r\n" if last else ""
    connection.sendall(f"GET /{path} HTTP/1.1\r\nHost: localhost:{port}\r\n{again}\r\n".encode())
    text = b""
    while text.count(event) < count:
        piece = connection.recv(65536)
        if not piece:
            break
        text += piece
    connection.close()
    return text.decode()


def many_events(path, line):
    """A daemon that is only played, and has kept one event 20,000 times, and 3 headings."""
    return kept_events(path, [json.dumps(dict(json.loads(line), kind="heading"))] * 3 + [line] * 20_000, {})


@contextlib.contextmanager
def kept_events(path, lines, status):
    """A daemon that is only played, with the lines of its events and a status that may change."""
    text = "\n".join(['{"subscribed":{"identity":"x","seq":0,"after":0}}', *lines, '{"end":{}}', ""]).encode()
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)

    def serve(connection):
        with connection:
            try:
                request = connection.recv(65536)
                connection.sendall(json.dumps({"status": status}).encode() + b"\n" if b'"status"' in request else text)
            except OSError:
                pass

    def accept():
        while True:
            try:
                threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    yield
    server.close()


def usage(process):
    with open(f"/proc/{process.pid}/status") as file:
        text = file.read()
    return {name: int(re.search(name + r":\s+(\d+)", text)[1]) for name in ("VmRSS", "Threads")}


with harness.temporary_folder() as folder:
    daemon, path = harness.start_shaken_daemon(folder)
    web, port = start("--socket", path, "--listen", "127.0.0.1:0")

    # What it shows.
    status, fields, page = ask(port)
    check(status == 200 and b"web.js" in page and b"<script>" not in page, "the page has no script of its own")
    policy = fields["Content-Security-Policy"]
    check("default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy, f"policy: {policy}")
    check("Access-Control-Allow-Origin" not in fields, "no other site may read it")
    for name, kind in [("/page.js", "text/javascript"), ("/web.js", "text/javascript"), ("/page.css", "text/css"), ("/day", "text/html")]:
        status, fields, body = ask(port, name)
        check(status == 200 and fields["Content-Type"].startswith(kind) and len(body) > 100, f"{name}: {len(body)} bytes")
    check(json.loads(ask(port, "/status")[2])["state"] == "ok", "the status of the daemon")
    text = stream(port, 3)
    readings = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {\"time_ns")]
    check(len(readings) >= 3 and readings[0]["streams"], "readings come as they are made")
    lanes = [reading["detectors"][0].get("lanes") for reading in readings]
    check(lanes[0] and not any(lanes[1:]), "the lanes come with the first")
    time.sleep(3)
    # A page that connects again gets what came meanwhile, once.
    identity, number = re.findall(r"^id: (.+)/(\d+)$", text, re.MULTILINE)[-1]
    again = stream(port, 3, path=f"stream?last-event-id={identity}%2F{number}", event=b"event: event")
    text = stream(port, 3, event=b"event: event", last=f"{identity}/{number}")
    check(re.findall("^id: .*", again, re.MULTILINE)[:3] == re.findall("^id: .*", text, re.MULTILINE)[:3], "a new stream goes on there, too")
    numbers = [json.loads(block.split("data: ")[1])["seq"] for block in text.split("\n\n")[:-1] if "event: event\n" in block]
    kept = [json.loads(line) for line in ask(port, f"/events?since_ns={(int(time.time()) - 600) * 10**9}")[2].decode().split() if '"seq"' in line]
    missed = [event["seq"] for event in kept if event["seq"] > int(number)]
    check(numbers and numbers == missed[:len(numbers)], f"the stream goes on behind {number}: {numbers}")
    lines = ask(port, f"/events?since_ns={(int(time.time()) - 600) * 10**9}")[2].decode().split()
    check(any(json.loads(line)["kind"] == "motion.began" for line in lines), f"{len(lines)} kept events")

    # Who may ask, and what.
    for headers, what in [({"Host": "evil.example"}, "a foreign name for this address"), ({"Host": f"evil.example:{port}"}, "with its port"),
                          ({"Host": "localhost.evil.example"}, "a name that begins well"), ({"Host": "127.0.0.1.evil.example"}, "another"),
                          ({"Origin": "http://evil.example"}, "another site"), ({"Origin": "null"}, "a page without a site"),
                          ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "an image of another site")]:
        for name in ["/", "/stream", "/events?since_ns=0", "/status"]:
            status, _, body = ask(port, name, headers=headers)
            check(status == 403 and len(body) < 200, f"{what}: {name}: {status}")
    for host in [f"localhost:{port}", f"127.0.0.1:{port}", "[::1]", "LOCALHOST"]:
        check(ask(port, headers={"Host": host})[0] == 200, f"host {host}")
    check(ask(port, headers={"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"})[0] == 200, "its own page")
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"]:
        status, fields, _ = ask(port, "/status", method)
        check(status == 405 and fields["Allow"] == "GET, HEAD", f"{method} is refused")
    check(ask(port, "/events", "HEAD")[0] == 405 and ask(port, "/stream", "HEAD")[0] == 405, "a page of GET alone is no missing one")
    status, _, body = ask(port, "/calibration/save?run=1", "POST")
    check(status == 403 and b"--calibrations" in body and ask(port, "/calibration/save")[0] == 404, f"nothing is saved: {body.decode().strip()}")
    check(b" 413 " in raw(port, b"POST /calibration/save HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc"), "a POST has no body")
    check(ask(port, "/calibration/save?run=1", "POST", headers={"Origin": "http://evil.example"})[0] == 403, "another site saves nothing")
    for query, wanted in [("", b"sensor is missing"), ("sensor=lid", b"kind is missing"), ("sensor=lid&kind=light", b"accelerometer, magnetometer, gyroscope"),
                          ("sensor=%3Cb%3E&kind=accelerometer", b"no detector uses a sensor"), ("sensor=lid&kind=magnetometer", b"samples that were asked for")]:
        body = ask(port, f"/calibration/stream?{query}")[2]
        check(wanted in body, f"a calibration needs a sensor that is there: {query}", body.decode()[:200])
    # A box that is shaken is held still with no side up for long: it has the terminal's words.
    text = stream(port, 5, "calibration/stream?sensor=lid&kind=accelerometer", b"event: state")
    states = [json.loads(line[6:]) for line in text.split("\n") if line.startswith("data: {")]
    last = states[-1]
    check(states[0]["advice"] == "waiting for the accelerometer" and last["advice"].startswith("hold it still, missing: ") and len(last["cells"]) == len(last["faces"]) == 6
          and all((one in last["advice"]) == (cell == "0") for one, cell in zip(last["faces"], last["cells"])), f"the sides of an accelerometer: {last}")
    for arguments, wanted in [(["--calibrations", folder], "--token-file"), (["--calibrations", folder, "--http"], "--http")]:
        done = subprocess.run([BINARY, "web", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        check(done.returncode == 64 and wanted in done.stderr, f"who may save: {done.stderr.strip()}")
    check(ask(port, "/../../etc/passwd")[0] == 404 and ask(port, "/%2e%2e/etc/passwd")[0] == 404, "there are no files")
    check(b" 400 " in raw(port, b"GET / HTTP/1.1\r\n\r\n") and b" 400 " in raw(
        port, b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"), "no host, and two")
    for data in [b"\x16\x03\x01\x02\x00\x01", b"GET /\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"\r\n\r\n", b"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nno colon\r\n\r\n"]:
        check(b" 400 " in raw(port, data + b"\r\n\r\n"), f"no request: {data[:30]}")
    check(ask(port, "/events")[0] == 400 and ask(port, "/events?since_ns=x")[0] == 400, "events since when")

    for data, wanted in heads.hostile(b"/status"):
        answer = raw(port, data)
        check(answer.startswith(b"HTTP/1.1 " + wanted) and answer.count(b"\r\nContent-Type:") == 1, f"{data[:100]!r} is answered with {answer[9:12]!r}")

    # A flood.
    before = usage(web)
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 10_000_000
    answer = raw(port, head)
    check(b" 200 " not in answer, "a head of 10 MB")
    halves, readers = [], []
    for _ in range(1000):
        try:
            halves.append(raw(port, b"GET / HTTP/1.1\r\nHost: loc", reads=False))
        except OSError:
            pass
    check(len(halves) > 900, f"{len(halves)} connections with half a request")
    during = usage(web)
    check(during["Threads"] <= 32 + 2 and during["VmRSS"] < before["VmRSS"] + 50_000, f"bounded: {during}, before {before}")
    began = time.monotonic()
    check(ask(port)[0] == 200, f"a page {time.monotonic() - began:.1f} s after the flood began")
    for connection in halves:
        connection.close()
    for _ in range(20):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        connection.settimeout(PATIENCE)
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        readers.append(connection)
    time.sleep(1)
    check(len(stream(port, 3)) > 0, "beside 20 clients that read nothing, one that reads gets everything")
    harness.until(lambda: usage(web)["Threads"] <= 8, pause=0.5)
    check(usage(web)["Threads"] <= 8, f"clients that read nothing are dropped: {usage(web)}")
    for connection in readers:
        connection.close()
    state = json.loads(subprocess.run([BINARY, "status", "--json", "--socket", path], capture_output=True, text=True).stdout)
    check(state["state"] == "ok" and state["sensors"][0]["streams"][0]["losses"] == 0, "the daemon has lost nothing")
    check(harness.end(web) == 143, "SIGTERM ends it")
    text = web.stderr.read()
    dropped = [int(count) for count in re.findall(r"closed (\d+) connections?, the last one from 127.0.0.1, that had read nothing for 5 s", text)]
    check(1 <= len(dropped) <= 2 and sum(dropped) <= 20, f"that clients were dropped is reported at the first and at the end: {dropped}")

    # Places: of an address, and those of requests that are not there yet.
    web, port = start("--socket", path, "--listen", "127.0.0.1:0")
    silent = [raw(port, b"GET /stream", reads=False) for _ in range(60)]
    for client in ("127.0.0.1", "127.0.0.2"):
        check(raw(port, heads.GOOD % b"/status" + b"\r\n", client=client).startswith(b"HTTP/1.1 200"), f"beside 60 silent clients of one address, {client} is answered")
    ends = [connection.recv(65536) for connection in silent]
    check(all(not end or b" 408 " in end for end in ends) and any(ends), f"silent clients are closed, {sum(map(bool, ends))} of 60 with status 408")
    streams = [raw(port, heads.GOOD % b"/stream" + b"\r\n", reads=False) for _ in range(24)]
    for connection in streams:
        check(b" 200 " in connection.recv(65536), "a stream")
    check(raw(port, heads.GOOD % b"/status" + b"\r\n") == b"", "an address has 24 places")
    check(raw(port, heads.GOOD % b"/status" + b"\r\n", client="127.0.0.2").startswith(b"HTTP/1.1 200"), "another one has its own")
    # Clients that are served do not exclude others for good.
    harness.until(lambda: raw(port, heads.GOOD % b"/status" + b"\r\n").startswith(b"HTTP/1.1 200"), pause=0.5)

    def has_ended(connection):
        connection.settimeout(3)
        end = time.monotonic() + 3
        try:
            # A stream that goes on never has an end.
            while time.monotonic() < end:
                if not connection.recv(65536):
                    return True
        except TimeoutError:
            pass
        return False

    check(has_ended(streams[0]) and not has_ended(streams[23]), "the oldest stream gives its place after a while, and the newest stays")
    for connection in silent + streams:
        connection.close()
    harness.end(web)
    text = web.stderr.read()
    check("no place" in text and "127.0.0.1" in text, f"connections without a place are reported: {text.strip()}")
    check("to give its place to a newer one" in text, "and the ones that have lost theirs")
    for since, wanted in [("", "missing"), ("since_ns=9223372036854775808", "9223372036854775807"), ("since_ns=0&until_ns=1e9", "until_ns has to be")]:
        done = subprocess.run([BINARY, "web", "--http", "--socket", path], input=heads.GOOD % f"/events?{since}".encode() + b"\r\n", capture_output=True)
        check(done.stdout.startswith(b"HTTP/1.1 400") and wanted.encode() in done.stdout, f"/events?{since}: {done.stdout.splitlines()[-1:]}")

    # Clients that ask for all events and read nothing: what they cost, from attack to attack.
    with many_events(f"{folder}/many", lines[0]):
        web, port = start("--socket", f"{folder}/many", "--listen", "127.0.0.1:0")
        levels, peaks = [], []
        for _ in range(5):
            readers = [raw(port, heads.GOOD % b"/events?since_ns=0" + b"\r\n", reads=False, client=f"127.0.0.{1 + k // 24}", buffer=1024) for k in range(32)]
            harness.until(lambda: usage(web)["Threads"] > 30, pause=0.02)
            found = [usage(web)]

            def is_over():
                found.append(usage(web))
                return found[-1]["Threads"] <= 2

            harness.until(is_over, pause=0.1)
            levels.append(found[-1]["VmRSS"])
            peaks.append(max(one["VmRSS"] for one in found))
            for connection in readers:
                connection.close()
        check(max(peaks) < levels[0] + 16_000 and all(after < before + 1000 for before, after in zip(levels[1:], levels[2:])),
              f"32 clients that read nothing: {levels} kB after each attack, at most {peaks} kB during it")
        answer = ask(port, "/events?since_ns=0")[2].decode().splitlines()
        end = json.loads(answer[-1])["end"]
        check(len(answer) == 5002 and end["note"] == "only the first 5000 are listed, 15000 more are not; 2 headings or attitudes left out: see binnacle events",
              f"{len(answer)} lines, and the last says {end}")
        harness.end(web)

    # Elsewhere than on this machine alone.
    done = subprocess.run([BINARY, "web", "--listen", "0.0.0.0:0", "--socket", path], capture_output=True, text=True)
    check(done.returncode == 64 and "--token-file" in done.stderr, f"no token, no network: {done.stderr.strip()}")
    pathlib.Path(folder, "token").write_text("0123456789abcdef0123456789abcdef\n")
    os.chmod(f"{folder}/token", 0o644)
    done = subprocess.run([BINARY, "web", "--listen", "0.0.0.0:0", "--token-file", f"{folder}/token"], capture_output=True, text=True)
    check(done.returncode == 65 and "other users can read this token (chmod o-r helps)" in done.stderr, f"a token that others can read: {done.stderr.strip()}")
    pathlib.Path(folder, "short").write_text("1234\n")
    for name in ("token", "short"):
        os.chmod(f"{folder}/{name}", 0o600)
    done = subprocess.run([BINARY, "web", "--token-file", f"{folder}/token", "--calibrations", f"{folder}/none"], capture_output=True, text=True)
    check(done.returncode == 73 and "has to be a folder" in done.stderr, f"where calibrations cannot be saved: {done.stderr.strip()}")
    done = subprocess.run([BINARY, "web", "--listen", "0.0.0.0:0", "--token-file", f"{folder}/short"], capture_output=True, text=True)
    check(done.returncode == 65 and "at least 16 letters and digits" in done.stderr, f"a token that can be guessed: {done.stderr.strip()}")
    os.mkfifo(f"{folder}/pipe")
    for name, reason in [("none", "No such file or directory"), (".", "it is a directory"), ("large", "it is too large"),
                         ("pipe", "it is a pipe or a device and no file")]:
        pathlib.Path(folder, "large").write_bytes(b"a" * 5000)
        done = subprocess.run([BINARY, "web", "--token-file", f"{folder}/{name}"], capture_output=True, text=True)
        check(done.returncode == 66 and f"--token-file {folder}/{name}: cannot be read: {reason}: (umask 077; openssl rand" in done.stderr, f"a token file that is not read: {done.stderr.strip()}")
    own = [line.split()[3].split("/")[0] for line in subprocess.run(
        ["ip", "-o", "-4", "addr", "show", "scope", "global"], capture_output=True, text=True).stdout.splitlines()]
    if own:
        web, port = start("--socket", path, "--listen", "0.0.0.0:0", "--token-file", f"{folder}/token")
        check(ask(port)[0] == 403 and ask(port, host=own[0])[0] == 403, "without the token, at either address")
        check(ask(port, f"/status?token={TOKEN}")[0] == 200 and ask(port, "/status", headers={"Authorization": f"bearer {TOKEN}"})[0] == 200,
              "with it, at the loopback address")
        check(ask(port, "/?token=0123456789abcdef0123456789abcdee", host=own[0])[0] == 403, "with a wrong one")
        status, _, page = ask(port, "/?token=0123456789abcdef0123456789abcdef", host=own[0])
        check(status == 200 and b"/web.js?token=0123456789abcdef0123456789abcdef" in page, "with the token")
        check(ask(port, headers={"Host": "evil.example"})[0] == 403, "foreign names of the loopback address stay refused")
        harness.end(web)
    else:
        print("      no network address to try the token at")

    # One request on standard input, as a socket unit starts it.
    ours, theirs = socket.socketpair()
    process = harness.start(BINARY, "web", "--http", "--socket", path, stdin=theirs, stdout=theirs)
    theirs.close()
    ours.sendall(b"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")
    answer = b""
    while piece := ours.recv(65536):
        answer += piece
    check(answer.startswith(b"HTTP/1.1 200") and process.wait(PATIENCE) == 0, "a process for a connection")

    check(harness.end(daemon) == 0, "the daemon ends as ever")

# What a program says that fails at each motion: every such text reaches the page in an event.
HOSTILE = "</script><img src=x onerror=hostile()>"


def viewed(folder):
    """A daemon whose sensors move, in a folder of its own, and its socket."""
    path = f"{folder}/view"
    pathlib.Path(folder, "view.toml").write_text(f"""
        [socket]
        path = "{path}"
        [store]
        path = "{folder}/view.db"
        [sensor.box]
        source = "simulated"
        model = "shake"
        [sensor.mast]
        source = "simulated"
        model = "walk"
        [sensor.vane]
        source = "simulated"
        model = "turn"
        [motion.moved]
        accelerometer = "box"
        [north.vane]
        accelerometer = "vane"
        magnetometer = "vane"
        [north.bow]
        accelerometer = "mast"
        magnetometer = "mast"
        [orientation.screen]
        accelerometer = "mast"
        frame = "device"
        [handler.hostile]
        on = ["motion.began"]
        command = ["/bin/sh", "-c", "printf '{HOSTILE}\\\\342\\\\200\\\\256' >&2; exit 3"]
        """)
    return harness.start_daemon(f"{folder}/view.toml", path), path


def own_requests(browser, port, name):
    """Nothing was fetched but from this service, and nothing was said in the console."""
    fetched = browser.run("return performance.getEntriesByType('resource').map((r) => r.name)")
    check(fetched and all(address.startswith(f"http://127.0.0.1:{port}/") for address in fetched),
          f"{name}: {len(fetched)} requests, all to this service")
    messages = browser.messages()
    check(messages == [], f"{name}: no message in the console {messages[:2]}")


def in_a_browser(folder):
    daemon, path = viewed(folder)
    web, port = start("--socket", path, "--listen", "127.0.0.1:0")
    address = f"http://127.0.0.1:{port}/"
    browser = Browser(f"{folder}/profile", out)
    text = "return document.getElementById(arguments[0]).textContent"
    try:
        browser.size(1280, 1000)
        browser.open(address)
        check(browser.wait("return document.getElementById('state').textContent === 'live'"), "live: the page says that it is")
        shown = browser.run("return binnacle.meta.panels.map((p) => p.title)")
        for title in ["user acceleration, moved", "heading of bow", "accelerometer of box", "accelerometer of mast", "magnetometer of mast",
                      "motion moved", "screen of screen: its turn from the present edge, and its lean"]:
            check(title in shown, f"live: a curve of {title}")
        # What is drawn is what comes: gravity of a box that is shaken.
        check(browser.wait("""
            binnacle.draw(false);
            const p = binnacle.meta.panels.findIndex((p) => p.title === "accelerometer of box");
            const d = p >= 0 && binnacle.drawn[p], c = d && d.curves[3];
            return c && c.least < 9.9 && c.greatest > 9.7 && binnacle.tracks[binnacle.meta.panels[p].curves[0].track].count >= 30;"""),
              "live: the box's gravity is drawn")
        limits = browser.run("return binnacle.meta.panels.find((p) => p.title === 'user acceleration, moved').marks.map((m) => [m.label, m.areas[0][0], m.areas[0][1]])")
        check(any(l[0] == "motion above" and abs(l[1] - 0.05) < 1e-6 and abs(l[2] - 0.025) < 1e-6 for l in limits), f"live: limits {limits}")
        kinds = "return [...document.querySelectorAll('#events tr td:nth-child(2)')].map((e) => e.textContent)"
        for kind in ["motion.began", "shake", "motion.ended", "command.failed"]:
            check(browser.wait(kinds.replace("return ", "return (") + ").includes(arguments[0])", kind), f"live: {kind} appears in the table")
        marks = browser.wait("binnacle.draw(false); return binnacle.panels.find((p) => p.isEvents).marks.length")
        check(marks >= 1, f"live: {marks} marks")
        # An event stands where the box moves: its mark is within the second of the largest user acceleration before it.
        check(browser.run("""
            const e = binnacle.meta.events.find((e) => binnacle.meta.rows[e.r][1] === "shake");
            const p = binnacle.meta.panels.find((p) => p.title === "user acceleration, moved"), c = p.curves[0];
            const at = binnacle.extremes(binnacle.tracks[c.track], c.series, e.t - 1, e.t + .3);
            return at !== null && at[1] > 0.5;"""), "live: a shake stands where the acceleration is")
        states = browser.run("return binnacle.meta.panels.flatMap((p) => p.states.flatMap((s) => s.names))")
        check({"moving", "still", "tilt: face-up"} <= set(states), f"live: states {states}")
        # A program that fails at each motion is what is wrong with it.
        check("handler 'hostile'" in browser.run(text, "facts") or "stateok" in browser.run(text, "facts"),
              f"live: the daemon's state {browser.run(text, 'facts')[:80]}")
        check("box" in browser.run(text, "now") and "100.0 Hz" in browser.run(text, "now"), "live: sensors with their rates")
        check(browser.wait(text.replace("return ", "return (") + ").includes('onerror')", "events"), "live: hostile text is text")
        check(browser.run("return !document.querySelector('img')"), "live: no markup came of it")
        check(browser.run("return !/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"), "live: direction marks are not shown as such")
        check(browser.wait("return document.getElementById('eventNote').textContent.includes(' left out: see binnacle events')"),
              f"live: {browser.run(text, 'eventNote')}")
        counts = re.findall(r"event: left-out\ndata: (.*)\n", stream(port, 2, event=b"event: left-out"))
        check(counts and all(one.isdecimal() for one in counts), f"live: the page adds up what is left out: {counts}")
        own_requests(browser, port, "live")
        # A page that stays hidden gives up its connection, of which a browser has six, and takes one again when it is seen.
        hide = """
            const real = window.setTimeout;
            window.setTimeout = (action, time) => real(action, time === 30000 ? 0 : time);
            Object.defineProperty(document, "hidden", { get: () => arguments[0], configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
            window.setTimeout = real;"""
        latest = "return String(binnacle.latest().time_ns)"
        browser.run(hide, True)
        for _ in range(100):
            before = browser.run(latest)
            time.sleep(1)
            if browser.run(latest) == before:
                break
        else:
            check(False, "live: a hidden page has no stream")
        browser.run(hide, False)
        check(browser.wait("return String(binnacle.latest().time_ns) !== arguments[0]", before), "live: it goes on when it is seen")
        browser.picture("live.png")
        check(browser.fits_dark_and_narrow("live"), "live: a narrow window needs no scrolling aside")
        browser.size(1280, 1000)

        # A reload: other limits, and then another detector. The page stays, with its events.
        browser.run("window.isSame = true")
        file = pathlib.Path(folder, "view.toml")
        events = browser.run("return binnacle.meta.events.length")
        for old, new, wanted, what in [
                ("[motion.moved]", "[motion.moved]\nthreshold_g = 0.2",
                 "binnacle.meta.panels.find((p) => p.title === 'user acceleration, moved').marks.some((m) => m.label === 'motion above' && Math.abs(m.lines[0] - .2) < 1e-6)", "another limit"),
                ("[motion.moved]", "[motion.second]\naccelerometer = \"mast\"\n[motion.moved]",
                 "binnacle.meta.panels.some((p) => p.title === 'user acceleration, second') && binnacle.tracks[0].count > 30 && document.getElementById('now').textContent.includes('second')",
                 "another detector")]:
            file.write_text(file.read_text().replace(old, new))
            daemon.send_signal(signal.SIGHUP)
            check(browser.wait(f"return {wanted}"), f"live: {what} after a reload")
            check(browser.run("return window.isSame === true && binnacle.meta.events.length") >= events, f"live: the events stay beside {what}")
        check(browser.run("return document.querySelectorAll('#plot canvas').length === binnacle.panels.length"), "live: no panel of before is left")

        # Without a daemon, and with the next one.
        harness.end(daemon)
        check(browser.wait("const s = document.getElementById('state').textContent; return s !== 'live' && s.length > 10 && s"),
              f"live: it says that the daemon is away: {browser.run(text, 'state')}")
        browser.picture("live-away.png")
        last = browser.run("return binnacle.tracks[0].times[binnacle.tracks[0].count - 1]")
        daemon, _ = viewed(folder)
        check(browser.wait("return document.getElementById('state').textContent === 'live' && binnacle.tracks[0].times[binnacle.tracks[0].count - 1] > arguments[0] + 1",
                           last), "live: the page goes on when the daemon is back")
        # The service itself ends, and is there again at the same port: that it is away is a message of the browser's own.
        web.kill()
        web.wait()
        check(browser.wait("return document.getElementById('state').textContent !== 'live'"), "live: it says that the service is away")
        web, _ = start("--socket", path, "--listen", f"127.0.0.1:{port}")
        last = browser.run("return binnacle.tracks[0].times[binnacle.tracks[0].count - 1]")
        check(browser.wait("return document.getElementById('state').textContent === 'live' && binnacle.tracks[0].times[binnacle.tracks[0].count - 1] > arguments[0] + 1",
                           last), "live: the page goes on when the service is back")
        browser.messages()

        # A day's events.
        browser.open(address + "day")
        check(browser.wait("return / events(;|$)/.test(document.getElementById('state').textContent)"), "day: its events are fetched")
        said = browser.run(text, "state")
        check(re.fullmatch(r"\d+ events; \d+ headings? or attitudes? left out: see binnacle events", said), f"day: {said}")
        kept = browser.run("return binnacle.meta.events.length")
        check(kept > 3 and browser.run("return binnacle.panels.find((p) => p.isEvents).marks.length") == kept, f"day: {kept} marks")
        rows = [json.loads(line) for line in ask(port, f"/events?since_ns={(int(time.time()) - 600) * 10**9}")[2].decode().split("\n") if line]
        rows = [row for row in rows if row.get("kind") != "heading"]
        first = browser.run("return [binnacle.meta.events[0].t, binnacle.meta.rows[binnacle.meta.events[0].r][1]]")
        clock = time.localtime(int(time.time()) - 600)
        if clock.tm_yday == time.localtime().tm_yday:
            check(first[1] == rows[0]["kind"], f"day: it begins with {first[1]}")
        check("onerror" in browser.run(text, "events") and browser.run("return !document.querySelector('img')"), "day: hostile text is text")
        own_requests(browser, port, "day")
        # Events that all lie before what is shown.
        browser.run("binnacle.show(binnacle.meta.duration_s - 1, binnacle.meta.duration_s); document.getElementById('previous').click()")
        check(browser.run("return document.querySelectorAll('tr[aria-current]').length") == 1, "day: the event before what is shown is selected")
        browser.run("document.getElementById('next').click()")
        check(browser.run("return document.querySelectorAll('tr[aria-current]').length") == 1, "day: an event is selected")
        browser.picture("day.png")
        browser.open(address + "day?date=2001-02-03")
        check(browser.wait("return document.getElementById('state').textContent") == "0 events", "day: one without events")
        check(browser.run("return !document.querySelector('tr[aria-current]') && binnacle.panels.length === 1"), "day: is drawn, empty")
        own_requests(browser, port, "an empty day")
        value = "return document.getElementById(arguments[0]).value"
        for query, name, wanted in [("from=2026-02-30&to=2026-02-30", "from", time.strftime("%Y-%m-%d")), ("from=2001-02-03&to=9999-12-31", "to", "2262-04-10")]:
            browser.open(address + "day?" + query)
            check(browser.wait("return / events(;|$)/.test(document.getElementById('state').textContent)"), f"day: {query} is shown")
            check(browser.run(value, name) == wanted, f"day: {query} is the day {browser.run(value, name)}")
            own_requests(browser, port, query)
    finally:
        browser.close()
        web.kill()
        web.wait()
        daemon.kill()
        daemon.wait()


def courses(folder):
    """The history of a device that rests, turns within seconds, and rests: what it reports once holds until it reports something else."""
    now, path = int(time.time()), f"{folder}/kept"
    events, hour = [], 3600

    def add(hours, kind, **figures):
        at = now - round(hours * hour, 3)
        wall = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{round(at % 1 * 1e6):06d}Z"
        events.append(json.dumps({"seq": len(events) + 1, "kind": kind, "detector": "helm", "sensor": "hull", "time_ns": round(at * 1e9), "wall_time": wall,
                                  "identity": "x", **figures}))

    add(50, "heading", heading_deg=44.72, accuracy_deg=3.0)
    for degrees in range(46, 136):
        add(48 - (degrees - 46) / 30 / hour, "heading", heading_deg=degrees, accuracy_deg=3.0)
    add(24, "heading.lost", reason="magnetic interference", age_s=5.0)
    add(12, "heading", heading_deg=200, accuracy_deg=3.0)
    for k in range(5):
        add(6 - k / hour, "heading", heading_deg=200, accuracy_deg=3.0, age_s=1.0 + k)
    add(3, "heading", heading_deg=10, accuracy_deg=3.0)
    status = {"state": "ok", "version": "x", "problems": [], "uptime_s": 10 * 24 * hour}
    with kept_events(path, events, status):
        web, port = start("--socket", path, "--listen", "127.0.0.1:0")
        found = [json.loads(line) for line in ask(port, f"/events?since_ns={now - 7 * 24 * hour}000000000&until_ns={now + 60}000000000")[2].decode().splitlines()]
        shown = [event["heading_deg"] for event in sorted(found[:-1], key=lambda event: event["wall_time"]) if event["kind"] == "heading" and "age_s" not in event]
        check(shown == [44.72, 135, 200, 10], f"courses: each part of the time has its last heading: {shown}")
        held = [event["age_s"] for event in found[:-1] if event["kind"] == "heading" and "age_s" in event]
        check(held == [5.0], f"courses: a heading that is held does not replace the valid one: {held}")
        check(found[-1]["end"]["note"].startswith("93 headings"), f"courses: {found[-1]}")
        browser = Browser(f"{folder}/courses", out)
        try:
            days = [time.strftime("%Y-%m-%d", time.localtime(now - k * 24 * hour)) for k in (7, 0)]
            at = """
                const t = arguments[0] - binnacle.meta.begin_ms / 1000, found = binnacle.extremes(binnacle.tracks[0], 0, t - 1, t + 1);
                return found && found[0] === found[1] ? found[0] : found;"""

            def value(hours):
                return browser.run(at, now - hours * hour)

            for uptime, wanted in [(status["uptime_s"], {50.5: None, 49: 44.72, 47.9: 135, 24.1: 135, 23.9: None, 12.1: None, 11.9: 200, 6.1: 200, 5.9: None, 3.1: None, 2.9: 10, 0.1: 10}),
                                   # Another daemon reported the last one, and nothing after it.
                                   (hour, {24.1: 135, 6.1: 200, 3: 10, 2.9: None, 0.1: None})]:
                status["uptime_s"] = uptime
                browser.open(f"http://127.0.0.1:{port}/day?from={days[0]}&to={days[1]}")
                check(browser.wait("return / events(;|$)/.test(document.getElementById('state').textContent)"), "courses: they are fetched")
                seen = {hours: value(hours) for hours in wanted}
                check(seen == wanted, f"courses: headings by hours before now: {seen}")
            browser.picture("courses.png")
        finally:
            browser.close()
            harness.end(web)


with harness.temporary_folder() as folder:
    in_a_browser(folder)
    courses(folder)
print(f"pictures are in {out.relative_to(ROOT)}")

harness.finish()
