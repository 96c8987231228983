"""A headless Chromium for the checks of pages; needs chromium and chromium-driver."""
import base64
import json
import os
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zlib

# No assertion is about time: this is only when a machine that hangs is given up.
PATIENCE = 120

# Pictures are read and written by the browser, in a page whose policy allows images of its own data.
PIXELS = """
const pixels = async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const g = canvas.getContext("2d", { willReadFrequently: true });
  g.drawImage(image, 0, 0);
  const all = g.getImageData(0, 0, image.width, image.height);
  const url = () => { g.putImageData(all, 0, 0); return canvas.toDataURL(); };
  return { ...all, width: image.width, height: image.height, data: all.data, url };
};
"""
# With 256 colours: those that most pixels have, and of the others those that are farthest from all.
REDUCE = """
return pixels(arguments[0]).then(({ width, height, data }) => {
  const counts = new Map(), keys = new Int32Array(width * height);
  for (let i = 0; i < keys.length; i++) { const k = keys[i] = data[4 * i] << 16 | data[4 * i + 1] << 8 | data[4 * i + 2]; counts.set(k, (counts.get(k) || 0) + 1); }
  const colours = [...counts].sort((a, b) => b[1] - a[1]).map(([k]) => k), palette = colours.slice(0, 192);
  const parts = (k) => [k >> 16, k >> 8 & 255, k & 255];
  const off = (a, b) => Math.abs((a >> 16) - (b >> 16)) + Math.abs((a >> 8 & 255) - (b >> 8 & 255)) + Math.abs((a & 255) - (b & 255));
  const nearest = new Map(colours.slice(192).map((k) => [k, Math.min(...palette.map((p) => off(p, k)))]));
  while (palette.length < 256 && nearest.size) {
    const [far] = [...nearest].reduce((a, b) => b[1] > a[1] ? b : a);
    palette.push(far);
    for (const [k, d] of nearest) nearest.set(k, Math.min(d, off(far, k)));
  }
  const places = new Map(colours.map((k) => [k, palette.reduce((best, p, m) => off(p, k) < off(palette[best], k) ? m : best, 0)]));
  let text = "";
  for (let i = 0; i < keys.length; i++) text += String.fromCharCode(places.get(keys[i]));
  return { width, height, palette: palette.flatMap(parts), indices: btoa(text) };
});
"""
COMPARE = """
return Promise.all([pixels(arguments[0]), pixels(arguments[1])]).then(([now, kept]) => {
  if (now.width !== kept.width || now.height !== kept.height) return [now.data.length / 4, now.url(), now.url()];
  let count = 0;
  const picture = now.url();
  for (let i = 0; i < now.data.length; i += 4) {
    const isOff = [0, 1, 2].some((k) => Math.abs(now.data[i + k] - kept.data[i + k]) > 51);
    count += isOff;
    for (const k of [0, 1, 2]) now.data[i + k] = isOff ? [255, 0, 0][k] : 255 - (255 - now.data[i + k]) / 4;
  }
  return [count, picture, now.url()];
});
"""


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
        self.version = made["capabilities"]["browserVersion"]

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

    def inside(self, width, height):
        """Gives the page itself a size, which is narrower than any window may be."""
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def cdp(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def shot(self, element):
        if element is None:
            return self.call("GET", "/screenshot")
        found = self.call("POST", "/element", {"using": "css selector", "value": element})
        return self.call("GET", f"/element/{next(iter(found.values()))}/screenshot")

    def reduced(self, element=None):
        """A picture with few colours, which is small."""
        found = self.run(PIXELS + REDUCE, self.shot(element))
        width, height, indices = found["width"], found["height"], base64.b64decode(found["indices"])
        rows = b"".join(b"\0" + indices[y * width:(y + 1) * width] for y in range(height))
        parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)), (b"PLTE", bytes(found["palette"])), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts)

    def compare(self, kept, element=None):
        """How many pixels differ from a picture, the picture now, and one of the differences."""
        count, now, difference = self.run(PIXELS + COMPARE, self.shot(element), base64.b64encode(kept).decode())
        return count, *(base64.b64decode(url.split(",")[1]) for url in (now, difference))

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
