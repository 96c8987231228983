"""The pages as they were looked at: pictures of them at three sizes, light and dark, compared with those in Tests/Screens.

BINNACLE_WRITE_SCREENS=1 writes these, as `make screens` does: a changed picture is a change to look at. A picture that differs is in
.build/screens, beside one of the differences. Where another release of the browser, or another font, would draw, no pictures are compared, and
that is said. What the pages need for keyboards and screen readers is checked by rules, and
in the long form what a live page costs is printed.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import harness
import played
from browser import Browser
from harness import BINARY, ROOT, check

out = ROOT / ".build" / "screens"
out.mkdir(parents=True, exist_ok=True)
KEPT = ROOT / "Tests" / "Screens"
TOKEN = "0123456789abcdef0123456789abcdef"
#: How many pixels may differ: fewer than a short word has.
MOST = 100
SIZES = [(360, 1400), (1024, 1000), (2560, 1100)]

# Names, headings, landmarks and contrast, as WCAG 2.1 asks for them.
RULES = r"""
const faults = [], shown = (e) => e.checkVisibility({ visibilityProperty: true });
const name = (e) => (e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent || "").join("")
  || [...(e.labels || [])].map((l) => l.textContent).join("") || e.textContent || "").trim();
for (const e of document.querySelectorAll("button, a, input, select, progress, canvas, summary, [role=img], [role=group], [role=application], section, nav, form")) {
  if (shown(e) && !name(e)) faults.push("no name: " + e.outerHTML.slice(0, 90));
}
let level = 0;
for (const h of document.querySelectorAll("h1, h2, h3, h4")) {
  if (!shown(h)) continue;
  const now = Number(h.tagName[1]);
  if (now > level + 1) faults.push(`a heading of level ${now} after ${level}: ${h.textContent}`);
  level = now;
}
if (document.querySelectorAll("h1").length !== 1) faults.push("not one h1");
if (document.querySelectorAll("main").length !== 1) faults.push("not one main");
if (!document.documentElement.lang || !document.title) faults.push("no language, or no title");
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
if (new Set(ids).size !== ids.length) faults.push("an id twice: " + ids.filter((id, k) => ids.indexOf(id) !== k));
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (text) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = text; probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * r + .7152 * g + .0722 * b; };
const behind = (e) => { for (let at = e; at; at = at.parentElement) { const c = rgba(getComputedStyle(at).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
let least = 99;
for (const e of document.querySelectorAll("main *, header *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) || !shown(e) || e.disabled || e.closest(".untrusted svg, noscript, script, canvas")) continue;
  const style = getComputedStyle(e), front = rgba(e.namespaceURI.endsWith("svg") ? style.fill : style.color);
  const backs = e.closest("svg") && e.classList.contains("ladder") ? ["--sky", "--ground"].map((v) => rgba(getComputedStyle(document.documentElement).getPropertyValue(v).trim())) : [behind(e)];
  for (const back of backs) {
    const [a, b] = [light(front.slice(0, 3)), light(back.slice(0, 3))].sort((x, y) => y - x), contrast = (a + .05) / (b + .05);
    least = Math.min(least, contrast);
    if (contrast < 4.5) faults.push(`contrast ${contrast.toFixed(2)}: ${e.tagName}.${e.className.baseVal ?? e.className} ${e.textContent.slice(0, 30)}`);
  }
}
return { faults, least };
"""


def rules(browser, name):
    found = browser.run(RULES)
    check(found["faults"] == [], f"{name}: names, headings, landmarks; the least contrast is {found['least']:.1f}: 1", found["faults"][:4] or "")


def keyboard(browser, name):
    """Tab comes to every control, shows where it is, and leaves the page again."""
    wanted = browser.run("return [...document.querySelectorAll('a[href], button:not(:disabled), input, select, summary, [tabindex=\"0\"]')]"
                         ".filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e, k) => e.dataset.stop = k).length")
    seen, hidden, left = set(), [], False
    for _ in range(8 * wanted):
        browser.keys("\ue004")
        stop, is_shown = browser.run("const e = document.activeElement, s = getComputedStyle(e);"
                                     "return [e.dataset.stop ?? null, s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1 || e.tagName === 'BODY']")
        if stop is None:
            left = left or bool(seen)
        else:
            seen.add(stop)
        if not is_shown:
            hidden.append(stop)
        if left and len(seen) == wanted:
            break
    check(len(seen) == wanted and left and not hidden, f"{name}: Tab reaches {len(seen)} of {wanted} controls, each shows the focus, and the page is left again {hidden[:3]}")


def pictures(browser, name, sizes=SIZES):
    for width, height in sizes:
        for theme in ("light", "dark"):
            browser.inside(width, height)
            # Two frames later it is known which panels are in the window.
            browser.run("scrollTo(0, 0); return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
            browser.run("paint(arguments[0] === 'dark'); if (meta) draw()", theme)
            same(browser, f"{name}-{width}-{theme}")
            fits = browser.run("return document.documentElement.scrollWidth <= innerWidth")
            check(fits, f"{name}, {width} pixels, {theme}: needs no scrolling aside")
            rules(browser, f"{name}, {width} pixels, {theme}")


def drawn_by(browser):
    """What decides how a page is drawn, as a text that is kept beside the pictures."""
    fonts = [subprocess.run(["fc-match", "--format", "%{fullname}\n", family], check=True, capture_output=True, text=True).stdout
             for family in ("sans-serif", "monospace")]
    return f"Chromium {browser.version.split('.')[0]}\n" + "".join(fonts)


def same(browser, name, element=None):
    """Compares a picture with the one that is kept, by the browser itself."""
    if not browser.is_known:
        return
    path = KEPT / f"{name}.png"
    if os.environ.get("BINNACLE_WRITE_SCREENS"):
        path.write_bytes(browser.reduced(element))
        return print(f"      wrote {path.relative_to(ROOT)}, {path.stat().st_size} bytes")
    if not path.exists():
        return check(False, f"{name}: there is no picture of it: make screens")
    count, shot, difference = browser.compare(path.read_bytes(), element)
    if count > MOST:
        (out / f"{name}.png").write_bytes(shot)
        (out / f"{name}-difference.png").write_bytes(difference)
    check(count <= MOST, f"{name}: {count} pixels differ from Tests/Screens/{name}.png")


def cost(browser):
    """In the long form, what the live page costs the main thread; and that what is not seen costs nothing."""
    browser.inside(1280, 1000)
    browser.cdp("Performance.enable", timeDomain="timeTicks")

    def figures():
        return {one["name"]: one["value"] for one in browser.cdp("Performance.getMetrics")["metrics"]}

    for place, top in [("instruments", 0), ("curves", 1400)] if os.environ.get("BINNACLE_LONG_TESTS") else []:
        browser.run("scrollTo(0, arguments[0])", top)
        time.sleep(1)
        before, frames = figures(), browser.run("return binnacle.instruments.frames")
        time.sleep(10)
        after = figures()
        seconds = after["Timestamp"] - before["Timestamp"]
        turns = (browser.run("return binnacle.instruments.frames") - frames) / seconds
        parts = ", ".join(f"{what} {100 * (after[key] - before[key]) / seconds:.1f} %"
                          for what, key in [("of a core", "ThreadTime"), ("script", "ScriptDuration"), ("layout", "LayoutDuration"), ("styles", "RecalcStyleDuration")])
        print(f"      live, {place} in view: the needles turn {turns:.1f} times a second, main thread: {parts}")
    browser.run("scrollTo(0, 0)")
    pixels = "return panels.map((p) => p.element.width > 0)"
    check(browser.wait(pixels + ".includes(false)"), "live: a panel outside the window has no pixels")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    check(not browser.run(pixels + ".includes(false)"), "live: on paper all panels are drawn")
    browser.run("dispatchEvent(new Event('afterprint')); panels.at(-1).element.scrollIntoView()")
    check(browser.wait(pixels + ".at(-1)"), "live: a panel is drawn when it comes into the window")
    readings, frames = "return binnacle.tracks[0].count", browser.run("return binnacle.instruments.frames")
    words = "return [...document.querySelectorAll('#now .reading')].map((e) => e.textContent).join()"
    said, last = browser.run(words), browser.run(readings) + 40
    harness.until(lambda: browser.run(readings) > last)
    check(browser.run("return binnacle.instruments.frames") == frames and browser.run(words) == said, "live: instruments and words outside the window stand still")
    browser.run("dispatchEvent(new Event('beforeprint'))")
    printed = browser.run(words)
    check(printed != said, "live: on paper the words are the latest")
    browser.run("dispatchEvent(new Event('afterprint')); scrollTo(0, 0)")
    check(browser.wait("return binnacle.instruments.frames > arguments[0]", frames) and harness.until(lambda: browser.run(words) != printed), "live: they go on when they are seen again")
    browser.run("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    frames = browser.run("const d = binnacle.panels[0].draw; window.hiddenDraws = 0; for (const p of panels) { const draw = p.draw; p.draw = (q) => { hiddenDraws++; draw(q); }; }"
                         "return [binnacle.instruments.frames, binnacle.tracks[0].count]")
    harness.until(lambda: browser.run("return binnacle.tracks[0].count") > frames[1] + 40)
    check(browser.run("return [binnacle.instruments.frames, hiddenDraws]") == [frames[0], 0], "live: a hidden page draws nothing, and keeps the readings")
    browser.run("Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))")
    check(browser.wait("return binnacle.instruments.frames > arguments[0]", frames[0]), "live: a page that is shown again goes on")
    browser.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    time.sleep(1)
    frames = browser.run("return binnacle.instruments.frames")
    time.sleep(5)
    check(browser.run("return binnacle.instruments.frames") - frames <= 6, "live: with reduced motion the needles move once a second")


def serve(folder, *arguments):
    # With paths relative to the folder, so that they are the same in each picture.
    process = harness.start(BINARY, "web", "--listen", "127.0.0.1:0", *arguments, stderr=subprocess.PIPE, text=True, cwd=folder)
    found = re.search(r":(\d+)/", process.stderr.readline())
    return int(found[1]) if found else harness.fail("it did not start")


# Every clock of a page is in UTC.
os.environ["TZ"] = "UTC"
with harness.temporary_folder() as folder:
    daemon = played.Played(f"{folder}/s")
    pathlib.Path(folder, "token").write_text(TOKEN + "\n")
    pathlib.Path(folder, "token").chmod(0o600)
    calibrations = pathlib.Path(folder, "calibrations")
    calibrations.mkdir()
    port = serve(folder, "--socket", "s", "--token-file", "token", "--calibrations", "calibrations")
    address = lambda path, more="": f"http://127.0.0.1:{port}{path}?token={TOKEN}{more}"
    browser = Browser(f"{folder}/profile", out)
    by, kept_by = drawn_by(browser), KEPT / "drawn-by.txt"
    if os.environ.get("BINNACLE_WRITE_SCREENS"):
        kept_by.write_text(by)
    browser.is_known = by == kept_by.read_text()
    if not browser.is_known:
        print(f"left out: pictures are not compared, because they were drawn by {kept_by.read_text().split()} and not by {by.split()}: make screens")
    try:
        # Live: all readings are there, and no more come.
        browser.inside(1024, 1000)
        browser.open(address("/"))
        check(browser.wait("return binnacle.tracks[0].count === arguments[0]", played.SECONDS * played.RATE), "live: all readings have come")
        lost = "const note = document.getElementById('lost'); return !note.hidden && note.textContent.includes('what is shown is old') && !!document.querySelector('.lost .dial')"
        check(browser.wait(lost), "live: readings that are old are grey, and it is said")
        browser.run("binnacle.patience = 1e9")
        check(browser.wait("return document.getElementById('lost').hidden && !document.querySelector('.lost')"), "live: and not when new ones may come")
        browser.run("const { instruments: i, latest } = binnacle; i.turn(latest()); i.tell(latest()); view.from = 0; view.to = 40; draw()")
        text = browser.run("return document.body.innerText")
        for words in ["354.0°", "± 3.9°", "true", "held for 3.20 s: magnetic interference", "roll 5.5°, pitch -2.5° ± 1.3°", "heel > 6.0°", "1319", "spinning",
                      "does not run", "lost 12, gaps 1", "0.0500 g", "last: tap at 09:30:00"]:
            check(words in text, f"live: says {words}")
        check(browser.run("return !document.querySelector('img') && typeof hostile === 'undefined'") and "onerror=hostile()" in text, "live: hostile names are text")
        check(browser.messages() == [], "live: nothing in the console")

        def watched():
            lines = subprocess.run([BINARY, "watch", "--socket", f"{folder}/s", "--for", "3s"], capture_output=True, text=True).stdout
            return lines if "123° ± 12°" in lines else None

        terminal = harness.wait_for("the values in binnacle watch", watched)
        # Those that stay the same, whenever a line is printed.
        words = set(re.findall(r"(?:velocity|vibration|frequency|measured to|learned|cadence per min|swing rms|lean) [-0-9.]+(?: ?(?:mm/s|g|Hz|%|°))?", terminal))
        words.add("123° ± 12°")
        shown = " ".join(text.split())
        absent = [one for one in words if one not in shown]
        check(len(words) > 6 and not absent, f"live: {len(words)} values of binnacle watch stand in the page in the same words; others {absent}")
        pictures(browser, "live")
        browser.inside(1024, 1000)
        keyboard(browser, "live")
        browser.run("const r = binnacle.latest(); const d = r.detectors.find((d) => d.detector === 'washer'); d.spectrum = arguments[0];"
                    "d.limits.push({ name: 'zone 1', of: 'severity_mm_s', side: 'above', begin: 2, end: 1.5 }); binnacle.instruments.tell(r)", played.SPECTRUM)
        browser.run("paint(false); const c = document.querySelector('.card.wide'); c.id = 'washer'; c.scrollIntoView()")
        time.sleep(0.5)
        browser.run("binnacle.instruments.tell(binnacle.latest())")
        same(browser, "spectrum", "#washer")

        # The events of some days.
        browser.inside(1024, 1000)
        browser.open(address("/day", "&from=2026-03-14&to=2026-03-14"))
        said = browser.wait("const s = document.getElementById('state').textContent; return s.includes('events') && s")
        check(re.fullmatch(r"\d+ events; \d+ headings or attitudes left out: see binnacle events", said), f"events: {said}")
        titles = browser.run("return meta.panels.map((p) => p.title)")
        check(titles == ["heading of compass", "attitude.changed of hull"], f"events: the history of {titles}")
        count = browser.run("return tracks[0].count")
        check(200 < count <= 570, f"events: {count} of 1,710 headings are drawn")
        check("onerror=hostile()" in browser.run("return document.body.innerText") and browser.run("return !document.querySelector('img')"), "events: hostile names are text")
        browser.run("for (const id of ['from', 'to']) document.getElementById(id).max = '2026-03-14'")
        pictures(browser, "events", [(360, 1400), (1024, 1000)])
        keyboard(browser, "events")
        browser.run("document.getElementById('from').value = '2026-03-12'; document.querySelector('form').requestSubmit()")
        check(browser.wait("return document.getElementById('title')?.textContent === 'Events of 2026-03-12 to 2026-03-14' && !!window.binnacle"), "events: a range by the calendar")
        check(browser.run("return clock(90000, 0)") == "03-13 01:00:00", "events: a time of several days has its date")

        # A machine of which no samples are read: the page has its readings and its events.
        device = pathlib.Path(folder, "dim/sys/bus/iio/devices/iio:device0")
        device.mkdir(parents=True)
        (device / "in_illuminance_input").write_text("40\n")
        pathlib.Path(folder, "dim.toml").write_text(
            f'[light.room]\n[socket]\npath = "{folder}/dim.sock"\n[handler.log]\non = ["light.changed"]\nlog = true\n')
        harness.start(BINARY, "run", "--root", "dim", "--config", "dim.toml", stderr=subprocess.DEVNULL, cwd=folder)
        harness.wait_for("its socket", lambda: os.path.exists(f"{folder}/dim.sock"))
        browser.open(f"http://127.0.0.1:{serve(folder, '--socket', 'dim.sock')}/")
        (device / "in_illuminance_input").write_text("900\n")
        check(browser.wait("return meta.event_count > 0 && document.body.innerText.includes('illuminance 900')"), "live: events are shown where no samples are")

        # A calibration: half of the sphere, then all of it.
        daemon.covered = 0.5
        browser.inside(1024, 1000)
        browser.call("POST", "/url", {"url": address("/calibration")})
        check(browser.wait("return document.getElementById('state').textContent === 'ready'"), "calibration: it is ready")
        offered = browser.run("return [...document.querySelectorAll('option')].map((o) => o.textContent)")
        check(offered[0] == "mast, magnetometer" and offered[2:] == ["mast, accelerometer", "lid, accelerometer", "lid, gyroscope"] and "onerror" in offered[1],
              f"calibration: what can be chosen: {offered}")
        browser.run("document.getElementById('go').click()")
        check(browser.wait("return document.querySelectorAll('.cell.full').length > 30"), "calibration: the sphere fills")
        text = browser.run("return document.body.innerText")
        check("the lower half" in text and "keep turning" in text, "calibration: it says what is missing")
        pictures(browser, "calibration", [(360, 1400), (1024, 1000)])
        daemon.covered = 1.0
        browser.run("document.getElementById('go').click()")
        check(browser.wait("return document.querySelectorAll('.cell.full').length === 96"), "calibration: the whole sphere")
        check(browser.wait("return /verdict: good; an ellipsoid/.test(document.body.innerText)"), "calibration: the verdict")
        keyboard(browser, "calibration")
        save = "const b = [...document.querySelectorAll('button')].find((b) => b.textContent.startsWith('save')); b.click()"
        browser.run(save)
        check(browser.wait("return /saved to .*mast.toml/.test(document.body.innerText)"), "calibration: it is saved")
        saved = (calibrations / "mast.toml").read_text()
        iron = [float(v) for v in re.search(r"hard_iron_uT = \[(.*)\]", saved)[1].split(",")]
        check(all(abs(a - b) < 0.1 for a, b in zip(iron, (12, -30, 7))), f"calibration: the hard iron is the one that was played: {iron}")
        browser.run("window.asked = null; window.confirm = (t) => { asked = t; return false; };" + save)
        check("already" in (browser.wait("return asked") or ""), "calibration: asks before it replaces one")
        link = browser.run("return fetch(document.querySelector('a[download]').href).then((r) => r.text()).catch(() => '')")
        check(link in ("", saved), "calibration: the file to download is the same")

        # An accelerometer, whose sides are held up one after the other, and a gyroscope, which is left lying; both have the terminal's words.
        def measure(choice, covered):
            daemon.covered = covered
            browser.run("const s = document.getElementById('sensor'); s.value = arguments[0]; s.dispatchEvent(new Event('change')); document.getElementById('go').click()", choice)

        shown = "return [...document.querySelectorAll('figcaption')].map((e) => e.textContent)"
        measure(offered.index("mast, accelerometer"), 2 / 3)
        check(browser.wait(shown.replace("return ", "return (") + ")[3] === 'top edge down: done, held now'"), "calibration: the side that is held up")
        check(browser.run(shown) == ["screen up: done", "screen down: done", "top edge up: done", "top edge down: done, held now", "right edge up: missing", "left edge up: missing"],
              f"calibration: the sides of an accelerometer: {browser.run(shown)}")
        check(browser.run("return document.getElementById('advice').textContent") == "hold it still, missing: right edge up, left edge up", "calibration: the sides that it asks for")
        check(browser.run("return document.getElementById('save').hidden && !document.getElementById('report').textContent"), "calibration: no result before all sides are there")
        pictures(browser, "sides", [(360, 1400), (1024, 1000)])
        for kind, choice, first in [("accelerometer", "mast, accelerometer", "hold it still"), ("gyroscope", "lid, gyroscope", "leave it lying still")]:
            measure(offered.index(choice), 0.5)
            check(browser.wait("return document.getElementById('advice').textContent.startsWith(arguments[0])", first), f"calibration: {kind}: {first}")
            measure(offered.index(choice), 1.0)
            check(browser.wait("return /verdict/.test(document.getElementById('report').textContent)"), f"calibration: the verdict for the {kind}")
            keyboard(browser, f"calibration of the {kind}")
            sensor, played_samples = choice.split(",")[0], played.samples({"sensors": [""], "kinds": [kind]}, 1.0)
            trace = pathlib.Path(folder, f"{kind}.csv")
            columns = {"accelerometer": "ax_m_s2,ay_m_s2,az_m_s2", "gyroscope": "gx_rad_s,gy_rad_s,gz_rad_s"}[kind]
            rows = zip(*(played_samples[key] for key in ("time_ns", "x", "y", "z")))
            trace.write_text(f"time_ns,{columns}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
            terminal = subprocess.run([BINARY, "calibrate", kind, "--trace", trace], capture_output=True, text=True).stdout.split("not saved")[0]
            report = browser.run("return document.getElementById('report').textContent")
            said = [re.sub(r" {2,}", ": ", line.strip(), count=1) for line in terminal.splitlines()[1:]]
            check(said and said == report.splitlines(), f"calibration: the report of the {kind} has the words of binnacle calibrate", said if said != report.splitlines() else "")
            browser.run("window.confirm = () => true;" + save)
            check(browser.wait(f"return /saved to .*{sensor}.toml/.test(document.body.innerText)"), f"calibration: the {kind} is saved")
        saved = (calibrations / "mast.toml").read_text()
        check("[magnetometer]" in saved and "offset_m_s2 = [0.10000, -0.20000, 0.30000]" in saved, "calibration: the file has both kinds of the sensor")
        check("offset_rad_s = [0.010000, -0.020000, 0.005000]" in (calibrations / "lid.toml").read_text(), "calibration: the offset of the gyroscope is the one that was played")
        measure(offered.index("mast, accelerometer"), 1.0)
        check(browser.wait("return !document.getElementById('save').hidden"), "calibration: a second one")
        browser.run("window.asked = null; window.confirm = (t) => { asked = t; return false; };" + save)
        check("has a calibration of the accelerometer already" in (browser.wait("return asked") or ""), "calibration: asks before it replaces that of the accelerometer")

        # `plot`: the same design.
        page = out / "plot.html"
        subprocess.run([BINARY, "plot", "--force", "-o", page, "--config", "simulated-laptop.toml"], check=True, capture_output=True, cwd=ROOT / "Tests/Golden")
        browser.inside(1024, 1000)
        browser.open(page.as_uri())
        # A version makes no other picture.
        browser.run("document.querySelector('#facts dd bdi').textContent = 'binnacle'")
        pictures(browser, "plot", [(360, 1400), (1024, 1000)])
        keyboard(browser, "plot")

        # Real time: a boat's worth of detectors at 100 Hz.
        pathlib.Path(folder, "live.toml").write_text(f"""
            [socket]
            path = "{folder}/live"
            """ + "".join(f'[sensor.{name}]\nsource = "simulated"\nmodel = "{model}"\n' for name, model in [("mast", "turn"), ("lid", "walk")]) + """
            [north.compass]
            accelerometer = "mast"
            magnetometer = "mast"
            [attitude.hull]
            accelerometer = "mast"
            [orientation.screen]
            accelerometer = "lid"
            frame = "device"
            [motion.moved]
            accelerometer = "lid"
            [steps.walker]
            accelerometer = "lid"
            """)
        lived = harness.start_daemon(f"{folder}/live.toml", f"{folder}/live")
        port = serve(folder, "--socket", "live", "--token-file", "token")
        browser.open(address("/"))
        check(browser.wait("return binnacle.tracks[0].count > 100"), "live: readings of a daemon")
        cost(browser)
        changed = pathlib.Path(folder, "live.toml").read_text().replace("motion.moved", "motion.shaken")
        pathlib.Path(folder, "live.toml").write_text(changed)
        lived.send_signal(signal.SIGHUP)
        titles = "return [...document.querySelectorAll('#plot h3')].map((e) => e.textContent).join()"
        check(harness.until(lambda: "shaken" in (browser.run(titles) or "")) and "moved" not in browser.run(titles),
              "live: after another configuration there are curves of the detectors that there are")
        harness.end(lived)
        check(browser.wait(lost), "live: without its daemon all is grey, and it is said")
        check(browser.wait("return document.getElementById('facts').textContent === ''"), "live: and its last state is not shown as that of now")
    finally:
        browser.close()
        daemon.close()
print(f"pictures that differ are in {out.relative_to(ROOT)}")
harness.finish()
