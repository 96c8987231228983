"""What `binnacle metrics` prints, by promtool and by the parser for Python, and its answers to HTTP."""
import json
import os
import pathlib
import re
import socket
import subprocess
import threading
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import harness
import heads
from harness import BINARY, ROOT, check


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True)
    check(done.returncode == 0, f"promtool {' '.join(map(str, arguments[:2]))}: {(done.stdout + done.stderr).strip()[:300] or 'fine'}")


def metrics(*arguments, text=None):
    return subprocess.run([BINARY, "metrics", "--socket", path, *arguments], input=text, capture_output=True)


def value(families, name, **labels):
    for family in families:
        for sample in family.samples:
            if sample.name == name and all(sample.labels.get(k) == v for k, v in labels.items()):
                return sample.value
    return None


def scrape(folder):
    """Lets a Prometheus scrape, which starts a process for each connection as binnacle-metrics.socket does."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                subprocess.run([BINARY, "metrics", "--http", "--socket", path], stdin=connection, stdout=connection)

    threading.Thread(target=serve, daemon=True).start()
    configuration = folder / "prometheus.yml"
    configuration.write_text(json.dumps({
        "global": {"scrape_interval": "1s"}, "rule_files": [str(ROOT / "config/examples/binnacle-alerts.yml")],
        "scrape_configs": [{"job_name": "binnacle", "static_configs": [
            {"targets": [f"127.0.0.1:{listener.getsockname()[1]}"]}]}]}))
    port = harness.free_port()
    prometheus = harness.start(
        "prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={folder}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {}

    def has_scraped():
        for query in ("up", "binnacle_samples_total", "binnacle_command_duration_seconds_bucket"):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?query={query}", timeout=5) as answer:
                    found[query] = [r["value"][1] for r in json.load(answer)["data"]["result"] if r["value"][1] != "0"]
            except OSError:
                pass
        return all(found.get(query) for query in ("up", "binnacle_samples_total"))

    try:
        harness.until(has_scraped, pause=0.2)
        check(found.get("up") == ["1"], f"a Prometheus scrapes: up is {found.get('up')}")
        check(bool(found.get("binnacle_samples_total")), f"and has the samples: {found.get('binnacle_samples_total')}")
    finally:
        harness.end(prometheus)
        listener.close()


with harness.temporary_folder() as folder:
    folder = pathlib.Path(folder)
    path = str(folder / "s")
    name = "shaken-box"
    configuration = folder / "binnacle.toml"
    configuration.write_text(
        f'[sensor.{json.dumps(name)}]\nsource = "simulated"\nmodel = "shake"\n'
        f'[motion.{json.dumps(name)}]\naccelerometer = {json.dumps(name)}\n'
        f'[north.bow]\naccelerometer = {json.dumps(name)}\nmagnetometer = {json.dumps(name)}\n'
        f'[store]\npath = "{folder}/events.db"\n[socket]\npath = "{path}"\n'
        f'[handler.runs]\non = ["shake", "motion.began"]\ncommand = ["/bin/true"]\n'
        f'[handler.fails]\non = ["motion.began"]\ncommand = ["/bin/false"]\n'
        f'[handler.rare]\non = ["shake", "motion.began"]\nlog = true\ndecorate = [{{ rate_limit = {{ per_minute = 1 }} }}]\n')
    away = metrics()
    check(away.returncode == 69, f"without a daemon the exit status is {away.returncode}")
    answer = metrics("--http", text=b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check(answer.stdout.startswith(b"HTTP/1.1 503 "), "and HTTP is answered with 503")
    file = folder / "binnacle.prom"
    check(metrics("--file", file).returncode == 69 and file.read_text().endswith("\nbinnacle_up 0\n"), "a file says that it is away")
    promtool("check", "metrics", text=file.read_text())
    daemon = harness.start_daemon(configuration, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        families, printed = [], None

        def handlers_have_run():
            global families, printed
            printed = metrics()
            if printed.returncode == 0:
                families = list(text_string_to_metric_families(printed.stdout.decode()))
            if daemon.poll() is not None:
                harness.fail("the daemon ended:", daemon.stderr.read().decode())
            return (value(families, "binnacle_command_duration_seconds_count", handler="runs") or 0) >= 1 \
                and value(families, "binnacle_handler_failed_total", handler="fails") and value(families, "binnacle_handler_left_out_events_total", handler="rare")

        harness.until(handlers_have_run, pause=0.1)
        text = printed.stdout.decode()
        promtool("check", "metrics", text=text)
        check(text.endswith("\n") and "\r" not in text, "the last line has its end")
        series = [line.rsplit(" ", 1)[0] for line in text.splitlines() if not line.startswith("#")]
        check(len(series) == len(set(series)), f"no series stands twice among {len(series)}")
        check(value(families, "binnacle_samples_total", sensor=name, kind="accelerometer") is not None, "the sensor has its samples")
        status = json.loads(subprocess.run([BINARY, "status", "--json", "--socket", path], capture_output=True, text=True).stdout)
        left = {handler["name"]: handler["left_out"] for handler in status["handlers"]}
        check(left["rare"] >= value(families, "binnacle_handler_left_out_events_total", handler="rare") >= 1 and left["runs"] == 0,
              f"what decorators left out is counted: {left}")
        words = subprocess.run([BINARY, "status", "--socket", path], capture_output=True, text=True).stdout
        check("left out by decorators or while disarmed" in words, "and said by status")
        counted = {(e["detector"], e["kind"]): e["count"] for e in status["events_total"]}
        check(counted.get((name, "motion.began"), 0) >= 1, f"events are counted: {counted}")
        for (detector, kind), count in counted.items():
            before = value(families, "binnacle_events_total", detector=detector or "", kind=kind)
            check(before is None or 0 < before <= count, f"binnacle_events_total of {kind} is {before}, later {count}")
        buckets = [(s.labels["le"], s.value) for f in families for s in f.samples
                   if s.name == "binnacle_command_duration_seconds_bucket" and s.labels["handler"] == "runs"]
        check([b[1] for b in buckets] == sorted(b[1] for b in buckets) and buckets[-1][0] == "+Inf", f"the buckets rise: {buckets}")
        check(value(families, "binnacle_resident_memory_bytes") > 1e6, "the memory is that of a process")

        answer = metrics("--http", text=b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9477\r\n\r\n").stdout
        head, _, body = answer.partition(b"\r\n\r\n")
        check(head.startswith(b"HTTP/1.1 200 OK") and b"text/plain; version=0.0.4; charset=utf-8" in head
              and b"Content-Length: %d" % len(body) in head, "HTTP is answered with the metrics")
        promtool("check", "metrics", text=body.decode())
        for request, wanted in [
            (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"404"), (b"POST /metrics HTTP/1.1\r\n\r\n", b"405"), (b"", b"400"), (b"GET /metrics", b"400"),
            (b"\0" * 100_000, b"400"), (b"GET /metrics HTTP/1.1\r\n" + b"X: " + b"a" * 1_000_000, b"400"),
            (b"GET  /metrics\r\n\r\n", b"400"), *heads.hostile(b"/metrics"),
        ]:
            answer = metrics("--http", text=request).stdout
            check(answer.startswith(b"HTTP/1.1 " + wanted), f"{request[:24]!r}… is answered with {answer[9:12]!r}")
        head = metrics("--http", text=b"HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").stdout
        check(head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n"), "HEAD has no body")

        # With a token, which Prometheus sends, and names.
        token = folder / "token"
        token.write_text("0123456789abcdef0123456789abcdef\n")
        token.chmod(0o600)
        for fields, options, wanted in [
            (b"Host: localhost\r\n", ("--token-file", token), b"403"),
            (b"Host: localhost\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdee\r\n", ("--token-file", token), b"403"),
            (b"Host: box\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef\r\n", ("--token-file", token), b"200"),
            (b"Host: box\r\nOrigin: http://evil\r\nAuthorization: Bearer 0123456789abcdef0123456789abcdef\r\n", ("--token-file", token), b"403"),
            (b"Host: box:9477\r\n", ("--host", "box"), b"200"), (b"Host: BOX\r\n", ("--host", "Box"), b"200"), (b"Host: box2\r\n", ("--host", "box"), b"403"),
        ]:
            answer = metrics("--http", *options, text=b"GET /metrics HTTP/1.1\r\n" + fields + b"\r\n").stdout
            check(answer.startswith(b"HTTP/1.1 " + wanted), f"{options[0]}: {fields!r} is answered with {answer[9:12]!r}")
        for options, status in [(("--host", "box"), 64), (("--http", "--host", "box:80"), 64), (("--http", "--host", "a b"), 64), (("--http", "--token-file", "/dev/null"), 66)]:
            done = metrics(*options, text=b"")
            check(done.returncode == status and options[-2].encode() in done.stderr, f"{' '.join(options)}: {done.stderr.decode().strip()}")

        file.write_text("old\n")
        check(metrics("--file", file).returncode == 0 and file.stat().st_mode & 0o777 == 0o644, "a file is replaced, readable by all")
        promtool("check", "metrics", text=file.read_text())
        check("\nbinnacle_up 1\n" in file.read_text(), "it says that the daemon answers")
        check(sorted(p.name for p in folder.glob("binnacle.prom*")) == ["binnacle.prom"], "nothing is left beside it")

        if os.environ.get("BINNACLE_LONG_TESTS"):
            scrape(folder)

        names = {s.name for f in families for s in f.samples} | {f.name for f in families} | {"up", "binnacle_info"}
        names |= {re.sub(r"_bucket$", "", n) for n in names}
    finally:
        harness.end(daemon)

# Names that a configuration cannot have are text all the same: of a daemon that is only played.
hostile = 'a "b" \\ c}\n# TYPE x gauge'
with harness.temporary_folder() as folder:
    path = folder + "/s"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()

    def serve():
        connection, _ = server.accept()
        connection.recv(65536)
        stream = {"kind": hostile, "samples": 3, "last_sample_s": None}
        status = {"state": "ok", "version": "\x1b[31m\x07\x9b", "sensors": [
            {"name": hostile, "active": True, "streams": [stream, stream]}, {"name": hostile, "active": True, "streams": []},
            *({"name": word, "active": True, word: True, "streams": [{"kind": "accelerometer", "samples": 3, "last_sample_s": 24.0, "rate_hz": 0}]}
              for word in ("idle", "sleeping"))],
            "detectors": [{"name": "hull", "heading_deg": 12.5, "yaw_accuracy_deg": 3.1}, {"name": "relative", "yaw_accuracy_deg": 9}]}
        connection.sendall(json.dumps({"status": status}).encode() + b"\n")
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    printed = metrics()
    thread.join()
    promtool("check", "metrics", text=printed.stdout.decode())
    families = list(text_string_to_metric_families(printed.stdout.decode()))
    check(value(families, "binnacle_samples_total", sensor=hostile, kind=hostile) == 3, "hostile names are labels")
    check(all(letter == "\n" or letter.isprintable() for letter in printed.stdout.decode()), "and control no terminal")
    lines = [line for line in printed.stdout.decode().splitlines() if not line.startswith("#")]
    check(len(lines) == len({line.rsplit(" ", 1)[0] for line in lines}), "two sensors of one name give no series twice")
    accuracies = [value(families, "binnacle_heading_accuracy_degrees", detector=detector) for detector in ("hull", "relative")]
    check(accuracies == [3.1, None], f"the heading of an attitude has an accuracy, a relative yaw none: {accuracies}")
    check(all(f"binnacle_sample_{what}" not in printed.stdout.decode() for what in ("age_seconds", "rate_hertz")), "what is not known, or off by design, is not there")
    for word in ("idle", "sleeping"):
        off = [value(families, f"binnacle_sensor_{word}", sensor=sensor) for sensor in (hostile, "idle", "sleeping")]
        check(off == [0, word == "idle", word == "sleeping"], f"binnacle_sensor_{word}: {off}")
        check(value(families, "binnacle_samples_total", sensor=word) == 3, "its samples are counted all the same")

# A client that reads nothing, of an answer that no buffer holds, from a process of its own as the socket units start it.
with harness.temporary_folder() as folder:
    path = folder + "/s"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    status = {"state": "ok", "version": "x", "sensors": [{"name": f"n{number}", "active": True, "streams": []} for number in range(9000)]}

    def serve_twice():
        for _ in range(2):
            connection, _ = server.accept()
            connection.recv(65536)
            connection.sendall(json.dumps({"status": status}).encode() + b"\n")
            connection.close()

    threading.Thread(target=serve_twice, daemon=True).start()
    for command, place in [("metrics", "/metrics"), ("web", "/status")]:
        ours, theirs = socket.socketpair()
        process = harness.start(BINARY, command, "--http", "--socket", path, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, text=True)
        theirs.close()
        ours.sendall(heads.GOOD % place.encode() + b"\r\n")
        text = process.communicate(timeout=harness.PATIENCE)[1]
        check(text == f"binnacle: {command}: closed a connection that had read nothing for 5 s\n", f"{command}: a client that reads nothing: {text.strip()}")
        ours.close()

promtool("check", "rules", ROOT / "config/examples/binnacle-alerts.yml")
dashboard = json.loads((ROOT / "config/examples/binnacle-dashboard.json").read_text())
queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
check(len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"]), "each panel of the dashboard has a number of its own")
queries += re.findall(r"expr: (.*)", (ROOT / "config/examples/binnacle-alerts.yml").read_text())
# What is there only in some states has no sample now.
sometimes = {"binnacle_heading_degrees", "binnacle_heading_accuracy_degrees"}
for query in queries:
    used = set(re.findall(r"\b(?:binnacle|process)_\w+", query)) - sometimes
    check(used <= names, f"{query[:60]} names metrics that there are" + (f": not {used - names}" if used - names else ""))
harness.finish()
