"""The handlers of docs/handlers/http.md against services of our own, with TLS by an authority that is made here.

Each example of the page sends what happens in a recording, as it stands there but for the host, the place of the password and the
authority. The services ask for what ntfy, Gotify and a webhook of Home Assistant ask for, and refuse everything else.
"""

import base64
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import threading

import harness
from harness import BINARY, ROOT, check, need

TOKENS = {"phone": "tk_phone", "gotify": "A.gotify", "webhook": "-a-secret-hook"}
posts = []


class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        status = self.judge(body)
        posts.append((self.path, dict(self.headers), body, status))
        self.send_response(status)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def judge(self, body):
        login = self.headers.get("Authorization")
        if self.path == "/alarms":
            # ntfy: the body is the message, whatever it is.
            return 200 if login == "Bearer tk_phone" else 403
        if self.path == "/message":
            # Gotify: a JSON object whose message is needed, with an application's token.
            if login != "Bearer A.gotify":
                return 401
            message = json.loads(body)
            return 200 if isinstance(message["message"], str) and isinstance(message["priority"], int) else 400
        # Home Assistant answers every webhook with 200, also one that it does not have.
        return 200 if self.path == "/api/webhook/-a-secret-hook" else 404

    def log_message(self, *words):
        pass


def certificates(folder):
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    (folder / "ext").write_text("subjectAltName=DNS:localhost\n")
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=Throw-away", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *key, "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "ext", "-out", "server.pem")


def replay(folder, configuration, *, environment={}):
    (folder / "binnacle.toml").write_text('[sensor.desk]\nsource = "auto"\n[motion.moved]\naccelerometer = "desk"\n' + configuration)
    return subprocess.run(
        [BINARY, "replay", "--json", "--handlers", "--config", folder / "binnacle.toml", folder / "trace.csv"],
        capture_output=True, text=True, timeout=harness.PATIENCE,
        env={**os.environ, "CREDENTIALS_DIRECTORY": str(folder), **environment})


with harness.temporary_folder() as name:
    folder = pathlib.Path(name)
    certificates(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem", folder / "server.key")
    # A client that refuses the certificate is no fault of the server.
    server.handle_error = lambda *words: None
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # Ten seconds of motion between two of rest.
    rows = ["time_s,accel_x_g,accel_y_g,accel_z_g"]
    rows += [f"{i / 50:.2f},{0.5 if 2 <= i / 50 < 12 and i % 2 else 0},0,1" for i in range(1000)]
    (folder / "trace.csv").write_text("\n".join(rows) + "\n")
    page = (ROOT / "docs/handlers/http.md").read_text()
    examples = re.findall(r"```toml\n(\[handler\.(\w+)\]\n.*?)```", page, re.S)
    check([name for _, name in examples] == list(TOKENS), "the page has its examples")
    for text, handler in examples:
        credential = re.search(r'password_credential = "(\w+)"', text)[1]
        (folder / credential).write_text(TOKENS[handler] + "\n")
        (folder / credential).chmod(0o600)
        text = re.sub(r'https://[\w.]+(:\d+)?', f"https://localhost:{server.server_port}", text)
        text = re.sub(r"ca_file .*\n", "", text) + f'ca_file = "{folder}/ca.pem"\n'
        posts.clear()
        run = replay(folder, text)
        need(run.returncode == 0, run.stderr)
        made = [json.loads(line) for line in run.stdout.splitlines()]
        wanted = [event for event in made if event["kind"] in re.search(r"on +=.*", text)[0]]
        check([status for *_, status in posts] == [200] * len(wanted) and wanted, f"{handler}: {len(posts)} posts are taken")
        check(TOKENS[handler] not in run.stderr, f"{handler}: no message has the password", run.stderr.strip()[-200:])
        if handler == "phone":
            _, headers, body, _ = posts[0]
            check(headers["Title"] == "Binnacle" and re.search(r" moves \(\d+\.\d+ g\)$", body), "ntfy has title and text", body)
        if handler == "webhook":
            check([json.loads(body) for _, _, body, _ in posts] == wanted, "the webhook has the events as they are printed")

    # A proxy of the environment would see what is sent.
    posts.clear()
    replay(folder, text, environment={"https_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"})
    check(len(posts) == len(wanted), "no proxy of the environment is used")
    # Nothing is sent to a service that cannot prove itself.
    posts.clear()
    run = replay(folder, re.sub(r"ca_file.*", "", text))
    check(not posts and "certificate" in run.stderr, "a certificate that no authority has signed", run.stderr.strip()[-300:])
harness.finish()
