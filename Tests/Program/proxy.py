"""The nginx of docs/install.md before `binnacle web`, asked from another address: each request needs the token, whatever the proxy passes on."""
import http.client
import os
import pathlib
import re
import socket
import ssl
import subprocess

import harness
from harness import BINARY, PATIENCE, ROOT, check

TOKEN = "0123456789abcdef0123456789abcdef"
NAME = "box.example"
#: The proxy's address, and that of who asks it: not that of the page's service.
PROXY, CLIENT = "127.0.0.3", "127.0.0.2"


def configuration(folder, port, web_port):
    """The manual's server, at an address and with a certificate of this check."""
    block = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/install.md").read_text(), re.DOTALL)[1]
    for wanted, ours in [("listen 443 ssl", f"listen {PROXY}:{port} ssl"), ("127.0.0.1:9478", f"127.0.0.1:{web_port}"),
                         ("/etc/ssl/certs/box.example.pem", f"{folder}/box.pem"), ("/etc/ssl/private/box.example.key", f"{folder}/box.key")]:
        harness.need(wanted in block, f"the manual's server has no {wanted}")
        block = block.replace(wanted, ours)
    return block


def proxy(folder, block, port):
    """Starts nginx with a server."""
    paths = "".join(f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    account = "user root;" if os.geteuid() == 0 else ""
    file = pathlib.Path(folder, "nginx.conf")
    file.write_text(f"{account} daemon off; pid {folder}/pid; error_log stderr; events {{}}\nhttp {{ {paths}\n{block} }}\n")
    process = harness.start("/usr/sbin/nginx", "-p", folder, "-c", str(file), "-e", "stderr", stderr=subprocess.DEVNULL)
    harness.wait_for("nginx", lambda: connects(port))
    return process


def connects(port):
    try:
        socket.create_connection((PROXY, port), source_address=(CLIENT, 0)).close()
        return True
    except OSError:
        return False


def connection(port):
    plain = socket.create_connection((PROXY, port), timeout=PATIENCE, source_address=(CLIENT, 0))
    return context.wrap_socket(plain, server_hostname=NAME)


def ask(port, path, method="GET", body=None, **fields):
    client = http.client.HTTPConnection(f"{NAME}:{port}", timeout=PATIENCE)
    client.sock = connection(port)
    client.request(method, path, body, {name.replace("_", "-"): text for name, text in fields.items()})
    answer = client.getresponse()
    return answer.status, answer.read()


with harness.temporary_folder() as folder:
    pathlib.Path(folder, "token").write_text(TOKEN + "\n")
    pathlib.Path(folder, "token").chmod(0o600)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{folder}/box.key", "-out", f"{folder}/box.pem", "-days", "2",
                    "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"], check=True, capture_output=True)
    context = ssl.create_default_context(cafile=f"{folder}/box.pem")
    daemon, address = harness.start_shaken_daemon(folder)
    web = harness.start(BINARY, "web", "--socket", address, "--listen", "127.0.0.1:0", "--token-file", f"{folder}/token", stderr=subprocess.PIPE, text=True)
    web_port = int(re.search(r":(\d+)/", web.stderr.readline())[1])

    manual = configuration(folder, harness.free_port(), web_port)
    port = int(re.search(rf"{PROXY}:(\d+)", manual)[1])
    host = "proxy_set_header Host $http_host;"
    harness.need(host in manual, "the manual's server passes the name of its site")
    paths = ["/", "/day", "/status", "/events?since_ns=0", "/stream", "/page.js", "/web.js", "/page.css"]
    for block, what in [(manual, "the manual's"), (manual.replace(host, ""), "nginx's own Host"),
                        (manual.replace("$http_host", "localhost"), "Host localhost"), (manual.replace(host, host + " proxy_http_version 1.1;"), "HTTP/1.1")]:
        nginx = proxy(folder, block, port)
        for path in paths:
            check(ask(port, path)[0] == 403, f"{what}: {path} without the token")
        for wrong in ["", "0", TOKEN[:-1], TOKEN + "0", TOKEN.upper(), "%30" + TOKEN[1:]]:
            status, text = ask(port, f"/?token={wrong}")
            check(status == 403 and TOKEN.encode() not in text, f"{what}: the token '{wrong}'")
            check(ask(port, "/", Authorization=f"Bearer {wrong}")[0] == 403, f"{what}: as a bearer")
        check(ask(port, "/", Cookie=f"token={TOKEN}")[0] == 403, f"{what}: as a cookie")
        status, page = ask(port, f"/?token={TOKEN}")
        check(status == 200 and f"/web.js?token={TOKEN}".encode() in page, f"{what}: with the token")
        status, page = ask(port, "/?token=<script>", Authorization=f"Bearer {TOKEN}")
        check(status == 200 and b"token=" not in page, f"{what}: as a bearer, which the page does not contain")
        for path in ["/status", "/events?since_ns=0"]:
            check(ask(port, path, Authorization=f"Bearer {TOKEN}")[0] == 200, f"{what}: {path} with the token")
        check(ask(port, f"/status?token={TOKEN}", Origin="https://evil.example")[0] == 403, f"{what}: of another site, with the token")
        for method in ["POST", "PUT", "DELETE"]:
            check(ask(port, f"/status?token={TOKEN}", method, b"x" * 100_000)[0] == 405, f"{what}: {method} with a body")
        check(ask(port, f"/status?token={TOKEN}", "GET", b"Host: localhost\r\n\r\n")[0] == 413, f"{what}: GET with a body")
        stream = connection(port)
        stream.sendall(f"GET /stream?token={TOKEN} HTTP/1.1\r\nHost: {NAME}:{port}\r\n\r\n".encode())
        text = b""
        while text.count(b"event: readings") < 3 and (piece := stream.recv(65536)):
            text += piece
        check(text.count(b"event: readings") >= 3, f"{what}: readings come as they are made")
        stream.close()
        if block is manual:
            check(ask(port, f"/status?token={TOKEN}", Origin=f"https://{NAME}:{port}", Sec_Fetch_Site="same-origin")[0] == 200, f"{what}: of its own page")
        harness.end(nginx)
    direct = http.client.HTTPConnection("127.0.0.1", web_port, timeout=PATIENCE)
    direct.request("GET", "/status")
    check(direct.getresponse().status == 403, "on the loopback address, without a proxy, the token is asked as well")
    harness.end(web)

    # A proxy with a login of its own passes a name of --host.
    web = harness.start(BINARY, "web", "--socket", address, "--listen", f"127.0.0.1:{web_port}", "--host", NAME, stderr=subprocess.DEVNULL)
    harness.wait_for("the service", lambda: not socket.socket().connect_ex(("127.0.0.1", web_port)))
    nginx = proxy(folder, manual, port)
    check(ask(port, "/status")[0] == 200, "--host: its name is answered without a token")
    check(ask(port, "/status", Host="evil.example")[0] == 403, "--host: another one is not")
    check(ask(port, "/status", Origin="https://evil.example")[0] == 403, "--host: another site is not")
    harness.end(nginx)
    harness.end(web)
    check(harness.end(daemon) == 0, "the daemon ends as ever")
harness.finish()
