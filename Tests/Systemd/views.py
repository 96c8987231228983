"""The page and the metrics: processes of their own, which socket units start for each connection."""

import http.client
import json
import os
import socket
import time

from harness import expect, need, run, started, systemctl, test, wait_for, write
from sandbox import expect_no_rights, status_of

VIEWED_BOX = """
[socket]
[store]
[sensor.box]
source = "simulated"
model = "shake"

[motion.moved]
accelerometer = "box"
"""
PAGE, METRICS = 9478, 9477
UNITS = ["binnacle-web.socket", "binnacle-metrics.socket"]


def ask(port, path, method="GET", **fields):
    """The status and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers={"Host": "localhost", **{name.replace("_", "-"): text for name, text in fields.items()}})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def stream():
    """A connection on which readings come, after its first ones."""
    connection = socket.create_connection(("127.0.0.1", PAGE), timeout=60)
    connection.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
    text = b""
    while text.count(b"event: readings") < 3:
        piece = connection.recv(65536)
        expect(piece, f"the stream ended: {text[-300:]}")
        text += piece
    return connection


def viewed():
    """Starts the service and both socket units; ends with the service's process."""
    process = started(VIEWED_BOX)
    wait_for("the daemon at its socket", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    need("systemctl", "start", *UNITS)
    return process


def instances(name):
    """The processes of a template's instances that run."""
    units = run("systemctl", "list-units", f"{name}@*", "--no-legend", "--plain", "--state=active")[1].split()
    found = [run("systemctl", "show", "--value", "--property", "MainPID", unit)[1].strip()
             for unit in units if unit.startswith(f"{name}@")]
    return [int(number) for number in found if number not in ("", "0")]


def listening():
    """The ports that anybody in this container listens at."""
    found = set()
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}") as lines:
            for fields in (line.split() for line in list(lines)[1:]):
                if fields[3] == "0A":
                    found.add(int(fields[1].rsplit(":", 1)[1], 16))
    return found


@test
def page_and_metrics_are_off_until_they_are_enabled():
    started(VIEWED_BOX)
    for unit in UNITS:
        expect(run("systemctl", "is-enabled", unit)[1].strip() == "disabled", f"{unit} is enabled")
    expect(not listening() & {PAGE, METRICS}, f"ports are open: {listening()}")
    need("systemctl", "enable", "--now", *UNITS)
    expect({PAGE, METRICS} <= listening(), f"listening: {listening()}")
    need("systemctl", "disable", "--now", *UNITS)
    expect(not listening() & {PAGE, METRICS}, f"ports stay open: {listening()}")


@test
def metrics_are_scraped_from_the_socket_unit():
    viewed()
    status, text = ask(METRICS, "/metrics")
    expect(status == 200, f"status {status}: {text}")
    expect('binnacle_sensor_active{sensor="box"} 1' in text, text)
    expect("binnacle_healthy 1" in text and text.endswith("\n"), text)
    wait_for("events in the metrics", lambda: 'kind="motion.began"' in ask(METRICS, "/metrics")[1])
    expect(ask(METRICS, "/metrics", "POST")[0] == 405, "what changes something is answered")
    wait_for("the end of each process", lambda: instances("binnacle-metrics") == [])


@test
def page_is_served_by_processes_without_rights():
    viewed()
    status, text = ask(PAGE, "/")
    expect(status == 200 and "/web.js" in text, f"status {status}: {text[:300]}")
    for path in ("/page.js", "/web.js", "/page.css", "/day"):
        expect(ask(PAGE, path)[0] == 200, path)
    expect(json.loads(ask(PAGE, "/status")[1])["state"] == "ok", "the state of the daemon")
    since = (int(time.time()) - 3600) * 10**9
    wait_for("kept events", lambda: "motion.began" in ask(PAGE, f"/events?since_ns={since}")[1])
    connection = stream()
    found = instances("binnacle-web")
    expect(len(found) == 1, f"processes: {found}")
    status = status_of(found[0])
    expect_no_rights(status)
    account = int(run("id", "-u", "binnacle")[1])
    user = int(status["Uid"].split()[0])
    expect(user not in (0, account), f"it runs as {user}")
    expect(os.readlink(f"/proc/{found[0]}/ns/net") != os.readlink("/proc/1/ns/net"), "it has the machine's network")
    connection.close()
    wait_for("the end of the process whose client is gone", lambda: instances("binnacle-web") == [])


@test
def page_refuses_foreign_names_and_sites():
    viewed()
    for fields in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        expect(ask(PAGE, "/status", **fields)[0] == 403, f"{fields} is answered")
    expect(ask(PAGE, "/status", "POST")[0] == 405, "what changes something is answered")


@test
def page_outlives_a_daemon_that_is_away():
    viewed()
    connection = stream()
    systemctl("stop")
    text = b""
    while piece := connection.recv(65536):
        text += piece
    expect(b"event: trouble" in text or b"event: missed" in text, f"the stream does not say why: {text[-300:]}")
    for port, path in ((PAGE, "/status"), (METRICS, "/metrics")):
        expect(ask(port, path)[0] == 503, f"{path} without a daemon")
    expect(ask(PAGE, "/")[0] == 200, "the page without a daemon")
    started(VIEWED_BOX)
    wait_for("the daemon again", lambda: ask(PAGE, "/status")[0] == 200)
    stream().close()
    failed = run("systemctl", "list-units", "--failed", "--no-legend", "--plain")[1]
    expect("binnacle" not in failed, f"failed units: {failed}")


@test
def connections_to_the_page_are_bounded():
    process = viewed()
    halves = []
    for _ in range(200):
        connection = socket.create_connection(("127.0.0.1", PAGE), timeout=60)
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        except OSError:
            pass  # One too many, and closed.
        halves.append(connection)
    expect(len(instances("binnacle-web")) <= 32, f"{len(instances('binnacle-web'))} processes")
    for connection in halves:
        connection.close()
    wait_for("a page after the flood", lambda: answers("/"))
    wait_for("the end of all processes", lambda: instances("binnacle-web") == [])
    state = json.loads(need("/usr/bin/binnacle", "status", "--json"))
    expect(state["state"] == "ok" and state["sensors"][0]["streams"][0]["losses"] == 0, f"the daemon: {state['state']}")
    expect(status_of(process)["Name"].strip() == "binnacle", "the daemon was started again")


def answers(path):
    """Whether a page is served, and not refused for too many connections."""
    try:
        return ask(PAGE, path)[0] == 200
    except (OSError, http.client.HTTPException):
        return False


@test
def drop_in_gives_the_page_a_token():
    """The recipe of binnacle-web@.service."""
    viewed()
    path = "/etc/systemd/system/binnacle-web@.service.d/token.conf"
    write("/etc/binnacle/web-token", "0123456789abcdef0123456789abcdef\n")
    os.chmod("/etc/binnacle/web-token", 0o600)
    write(path, """
[Service]
LoadCredential=token:/etc/binnacle/web-token
ExecStart=
ExecStart=/usr/bin/binnacle web --http --token-file %d/token --socket /run/binnacle/binnacle.sock
""")
    need("systemctl", "daemon-reload")
    try:
        status, text = ask(PAGE, "/status?token=0123456789abcdef0123456789abcdef")
        expect(status == 200, f"status {status}: {text}")
        expect(ask(PAGE, "/status")[0] == 403, "the loopback address needs no token")
        os.unlink("/etc/binnacle/web-token")
        expect(not answers("/status?token=0123456789abcdef0123456789abcdef"), "a page without the credential that the unit names")
    finally:
        os.unlink(path)
        run("systemctl", "daemon-reload")
        run("systemctl", "stop", *UNITS)
        run("systemctl", "reset-failed")
