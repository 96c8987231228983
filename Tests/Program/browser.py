"""A headless Chromium for the checks of pages; needs chromium and chromium-driver."""
import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

# No assertion is about time: this is only when a machine that hangs is given up.
PATIENCE = 120


class Browser:
    """A Chromium, spoken to by the WebDriver protocol (https://www.w3.org/TR/webdriver2/)."""

    def __init__(self, home, pictures):
        """A browser whose profile and whose screenshots are in these folders."""
        self.pictures = pictures
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment)
        for line in self.driver.stdout:
            if "successfully on port " in line:
                self.base = "http://127.0.0.1:" + line.split("on port ")[1].split(".")[0].strip()
                break
        else:
            sys.exit("chromedriver did not start")
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     # Nothing but this machine can be reached.
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--force-device-scale-factor=1"]
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:loggingPrefs": {"browser": "ALL"},
            "timeouts": {"script": PATIENCE * 1000, "pageLoad": PATIENCE * 1000},
            "goog:chromeOptions": {"args": arguments}}}}, "")
        self.session = "/session/" + made["sessionId"]

    def call(self, method, path, body=None, prefix=None):
        request = urllib.request.Request(
            self.base + (self.session if prefix is None else prefix) + path, method=method,
            data=None if body is None else json.dumps(body).encode(), headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            sys.exit(f"{path}: {error.read().decode()[:500]}")

    def open(self, address):
        """Opens a page, and waits until it has drawn."""
        self.call("POST", "/url", {"url": address})
        if not self.wait("return !!(window.binnacle && window.binnacle.ready)"):
            sys.exit(f"{address}: does not get ready: {self.messages()}")

    def wait(self, script, *arguments):
        """Waits until a script returns something true, and returns that; something false when it never does."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self.run(script, *arguments)
            if found or time.monotonic() > deadline:
                return found
            time.sleep(0.05)

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def size(self, width, height):
        self.call("POST", "/window/rect", {"width": width, "height": height})

    def keys(self, text):
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, x, y):
        """Moves the pointer to a place of the window."""
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "duration": 0, "origin": "viewport", "x": x, "y": y}]}]})

    def messages(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def picture(self, name):
        (self.pictures / name).write_bytes(base64.b64decode(self.call("GET", "/screenshot")))

    def fits_dark_and_narrow(self, name):
        """Takes pictures of the page with the other theme, and in a narrow window; whether that needs no scrolling aside."""
        self.run("document.getElementById('theme').click()")
        self.run("binnacle.draw()")
        self.picture(f"{name}-dark.png")
        self.size(360, 800)
        self.run("binnacle.draw()")
        fits = self.run("return document.documentElement.scrollWidth <= innerWidth")
        self.picture(f"{name}-360.png")
        return fits

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
