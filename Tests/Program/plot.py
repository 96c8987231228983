"""Opens pages of `binnacle plot` in a headless Chromium, and compares what is drawn with the recordings.

Writes its pages and screenshots to .build/plot. Needs chromium and chromium-driver."""
import array
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import time
import xml.dom.minidom

import harness
from browser import Browser
from harness import BINARY, ROOT, check

out = ROOT / ".build" / "plot"
out.mkdir(parents=True, exist_ok=True)


def plot(name, *arguments, cwd=None):
    page = out / name
    started = time.monotonic()
    done = subprocess.run([BINARY, "plot", "--force", "-o", page, *arguments], capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        harness.fail(f"{name}: {done.stderr}")
    print(f"      {name}: {page.stat().st_size / 1e6:.2f} MB, made in {time.monotonic() - started:.2f} s")
    return page


def replayed(*arguments, cwd=None):
    lines = subprocess.run(
        [BINARY, "replay", "--json", *arguments], capture_output=True, text=True, check=True, cwd=cwd).stdout
    return [json.loads(line) for line in lines.splitlines()]


def times(browser, name):
    """Prints how long the page took, by its own measures; nothing is asserted about them."""
    browser.wait("return performance.getEntriesByName('binnacle: shown').length")
    found = browser.run("return performance.getEntriesByType('measure').map((m) => [m.name, m.duration])")
    browser.run("binnacle.show(binnacle.meta.duration_s * .4, binnacle.meta.duration_s * .6)")
    again = browser.run("const t = performance.now(); binnacle.draw(); return performance.now() - t")
    browser.run("binnacle.show(0, binnacle.meta.duration_s); binnacle.draw()")
    text = ", ".join(f"{label.removeprefix('binnacle: ')} {duration:.0f} ms" for label, duration in found)
    print(f"      {name}: {text}; drawn again {again:.0f} ms")


def quiet_page(browser, name):
    check(browser.run("return performance.getEntriesByType('resource').length") == 0, f"{name}: nothing is fetched")
    messages = browser.messages()
    check(messages == [], f"{name}: no message in the console {messages[:2]}")


# What the pixels of a curve of one colour show, as least and greatest value by the panel's own scale.
READ_BACK = """
const p = binnacle.panels[arguments[0]], d = binnacle.drawn[arguments[0]], g = p.g, w = p.element.width, h = p.element.height;
const colour = getComputedStyle(document.documentElement).getPropertyValue(arguments[1]).trim();
const wanted = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16)), data = g.getImageData(58, 0, w - 58 - 44, h).data;
let top = h, bottom = -1;
for (let i = 0; i < data.length; i += 4) {
  if (Math.abs(data[i] - wanted[0]) + Math.abs(data[i + 1] - wanted[1]) + Math.abs(data[i + 2] - wanted[2]) > 12) continue;
  const y = Math.floor(i / 4 / (w - 102));
  top = Math.min(top, y); bottom = Math.max(bottom, y);
}
const value = (y) => d.greatest - (y - d.top) / (d.bottom - d.top) * (d.greatest - d.least);
return [value(bottom), value(top), (d.greatest - d.least) / (d.bottom - d.top)];
"""


def check_extremes(browser, name, panel, curve, least, greatest, colour=None):
    shown = browser.run("return binnacle.drawn[arguments[0]].curves[arguments[1]]", panel, curve)
    tolerance = 1e-6 * max(1, abs(least), abs(greatest))
    check(abs(shown["least"] - least) <= tolerance and abs(shown["greatest"] - greatest) <= tolerance,
          f"{name}: {shown['label']} is drawn from {shown['least']} to {shown['greatest']}; recorded {least} to {greatest}")
    if colour:
        # The others, which would cover it, are switched off.
        browser.run("const boxes = binnacle.panels[arguments[0]].heading.querySelectorAll('input');"
                    "boxes.forEach((box, k) => { if (k !== arguments[1] && box.checked) box.click(); }); binnacle.draw()", panel, curve)
        low, high, pixel = browser.run(READ_BACK, panel, colour)
        check(abs(low - least) <= 2 * pixel and abs(high - greatest) <= 2 * pixel,
              f"{name}: the canvas has {shown['label']} from {low:.4g} to {high:.4g}, a pixel is {pixel:.2g}")


def check_events(browser, name, events):
    """Each event stands where its stamp is, to a pixel, and in the table with its figures."""
    shown = browser.run("return binnacle.meta.events")
    check(len(shown) == len(events), f"{name}: {len(shown)} events of {len(events)}")
    first = browser.run("return binnacle.start_ns")
    panel = browser.run("return binnacle.panels.findIndex((p) => p.isEvents)")
    marks = {m["index"]: m["x"] for m in browser.run("return binnacle.panels[arguments[0]].marks", panel)}
    width = browser.run("return binnacle.panels[arguments[0]].width", panel) - 58 - 44
    duration = browser.run("return binnacle.meta.duration_s")
    off = 0
    for index, event in enumerate(events):
        place = 58 + (event["time_ns"] - int(first)) * 1e-9 / duration * width
        off = max(off, abs(marks[index] - place))
    check(off <= 1, f"{name}: the events stand at their times, at most {off:.3f} pixels off")


# The states at a time of those that begin with a word, and those that have a row.
STATES_AT = """
const [time, word] = arguments, s = binnacle.meta.panels.flatMap((p) => p.states).find((s) => s.names[0].startsWith(word + ": "));
const bits = binnacle.extremes(binnacle.tracks[s.track], s.series, time - 1e-4, time + 1e-4);
return [s.names.filter((_, k) => bits && bits[0] & (1 << k)), s.shown.map((k) => s.names[k])];
"""


def check_states(browser, name, kinds):
    """At each event that changes a state, the lane has the new state, and it has each state that occurs."""
    rows = browser.run("return binnacle.meta.rows")
    looked, seen = 0, {}
    for event in browser.run("return binnacle.meta.events"):
        kind = rows[event["r"]][1]
        if kind not in kinds:
            continue
        word = kinds[kind]
        states, shown = browser.run(STATES_AT, event["t"], word)
        state = next((s for s in states if f"{word} {s.split(': ')[1]}" in event["f"].split(", ")), None)
        if state is None or state not in shown:
            check(False, f"{name}: at {event['t']} s {kind} {event['f']}, the lane has {states} of {shown}")
        seen.setdefault(word, set()).add(state)
        looked += 1
    check(looked > 3 and all(len(found) > 1 for found in seen.values()), f"{name}: the lanes of states agree with {looked} events: "
          + ", ".join(f"{len(found)} of {word}" for word, found in seen.items()))


# The names of what the page shows: panels with the marks in their ranges and their curves, states, and rows of events.
NAMES = """
return binnacle.meta.panels.flatMap((p, k) => {
  const d = binnacle.drawn[k], isIn = (m) => m.lines[0] >= d.least && m.lines[0] <= d.greatest;
  return [p.title + (p.unit ? ", " + p.unit : "")].concat(p.marks.filter(isIn).map((m) => m.label + " " + m.value),
    p.curves.map((c) => c.label).filter((label) => label), p.states.flatMap((s) => s.shown.map((n) => s.names[n])));
}).concat(binnacle.meta.rows.map((r) => r[1] + " " + r[0]));
"""


def check_drawing(browser, name, drawing):
    """The SVG, which has the rules of the page for the whole recording, names the same."""
    shown = browser.run(NAMES)
    check_scales(browser, name, drawing)
    texts = [t.firstChild.data for t in xml.dom.minidom.parse(str(drawing)).getElementsByTagName("text")][1:]
    others = [t for t in texts if t not in shown and t != "events" and not t.rstrip(" s").lstrip("NESW -").replace(".", "").isdigit()]
    check(all(texts.count(t) == shown.count(t) for t in shown) and others == [],
          f"{name}: the drawing names the same {len(shown)} as the page; besides {others}")


def lanes(drawing):
    """The labels of the values in each lane of a drawing, with their heights, and the number of curves."""
    found = []
    for element in xml.dom.minidom.parse(str(drawing)).getElementsByTagName("*"):
        style = element.getAttribute("class")
        if element.tagName == "text" and style == "t":
            found.append({"title": element.firstChild.data, "grid": [], "curves": 0})
        if element.tagName == "text" and style == "e":
            found[-1]["grid"].append((element.firstChild.data, float(element.getAttribute("y")) - 4))
        if element.tagName == "path" and style.startswith("c c"):
            found[-1]["curves"] += 1
    return found


def check_scales(browser, name, drawing):
    """Range and round values of each panel in the page, for the whole recording, are those in the SVG."""
    shown = browser.run("return binnacle.drawn.map((d, k) => d && d.grid && Object.assign({ title: binnacle.meta.panels[k].title,"
                        " unit: binnacle.meta.panels[k].unit }, d)).filter(Boolean)")
    drawn = {lane["title"]: lane for lane in lanes(drawing)}
    off, count, wrong = 0, 0, []
    for panel in shown:
        lane = drawn[panel["title"] + (", " + panel["unit"] if panel["unit"] else "")]
        if lane["curves"] == 0:
            continue
        page, svg = [[v, text] for v, text in panel["grid"]], lane["grid"]
        if len(page) != len(svg):
            wrong.append((panel["title"], page, svg))
            continue
        # The first value's height in the SVG and the page's range say where every other one has to be.
        scale = 110 / (panel["greatest"] - panel["least"])
        tops = [y - (panel["greatest"] - value) * scale for (value, _), (_, y) in zip(page, svg)]
        off = max(off, max(tops) - min(tops), abs(svg[-1][1] - (tops[0] + (panel["greatest"] - page[-1][0]) * scale)))
        for (_, text), (label, _) in zip(page, svg):
            if text != label:
                wrong.append((panel["title"], text, label))
        count += len(page)
    check(not wrong and off <= .25, f"{name}: the {count} values beside the panels are those of the drawing, at most {off:.2f} pixels off; others {wrong[:3]}")


def random_recordings(folder, count):
    """Recordings of panels with ranges of many sizes, some of one value alone; the same each time."""
    chance = random.Random(38)
    for number in range(count):
        path = pathlib.Path(folder) / f"random{number}.csv"
        size = [0, 10 ** chance.uniform(-3, 2)][chance.random() < .8]
        middle = [chance.uniform(-20, 20) for _ in range(3)]
        step, rows = chance.choice([.002, .01, .05]), chance.randrange(50, 3000)
        with open(path, "w") as file:
            file.write("t_s,ax_m_s2,ay_m_s2,az_m_s2\n")
            for row in range(rows):
                file.write(f"{row * step:.4f}," + ",".join(f"{m + size * chance.uniform(-1, 1):.6f}" for m in middle) + "\n")
        yield path


def many_shocks(folder):
    """A recording with a shock each second for 70 minutes."""
    path = pathlib.Path(folder) / "shocks.csv"
    with open(path, "w") as file:
        file.write("t_s,ax_g,ay_g,az_g\n")
        for i in range(4200 * 20):
            file.write(f"{i / 20:.2f},0,0,{9 if i % 20 == 10 else 1}\n")
    return path


def axis_extremes(path, skip=0):
    """The least and the greatest of the accelerometer's axes in a fixture of the BROAD recordings."""
    with open(path) as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    head, rows = rows[0], rows[1:]
    places = [next(i for i, name in enumerate(head) if name.startswith(f"a{axis}") or name == f"acc_{axis}") for axis in "xyz"]
    single = lambda text: array.array("f", [float(text)])[0]
    return [(min(single(r[p]) for r in rows), max(single(r[p]) for r in rows)) for p in places]


def generated(folder):
    """10 million samples, in the short form one, at 1 kHz with one sample alone at 40 m/s²: an Arrow stream converted from CSV."""
    path = pathlib.Path(folder) / "ten-million.csv"
    count = int(os.environ.get("PLOT_SAMPLES", 10_000_000 if os.environ.get("BINNACLE_LONG_TESTS") else 1_000_000))
    spike = count * 7 // 10 + 321
    # A block of varied rows is repeated: each row's text is made once.
    tail = [f",{0.05 * math.sin(i):.4f},{0.05 * math.cos(1.7 * i):.4f},{9.81 + 0.02 * math.sin(.3 * i):.4f}\n" for i in range(1000)]
    with open(path, "w", buffering=1 << 20) as file:
        file.write("t_s,ax_m_s2,ay_m_s2,az_m_s2\n")
        for second in range(count // 1000):
            file.write("".join(f"{second}.{i:03d}{text}" for i, text in enumerate(tail)) if second != spike // 1000 else "".join(
                f"{second}.{i:03d}" + (",40,0,9.81\n" if i == spike % 1000 else text) for i, text in enumerate(tail)))
    stream = pathlib.Path(folder) / "ten-million.arrows"
    subprocess.run([BINARY, "convert", path, "-o", stream], check=True, capture_output=True)
    path.unlink()
    return stream, count, spike / 1000


with harness.temporary_folder() as folder:
    browser = Browser(folder, out)
    try:
        browser.size(1440, 1000)
        broad = ROOT / "Tests/Fixtures/broad/broad05_rotation_breaks.csv"
        page = plot("broad05.html", broad)
        browser.open(page.as_uri())
        quiet_page(browser, "broad05")
        times(browser, "broad05")
        check_events(browser, "broad05", replayed(broad))
        check_drawing(browser, "broad05", plot("broad05.svg", broad))
        place = browser.run("return binnacle.meta.panels.findIndex((p) => p.title.startsWith('acceleration of'))")
        for axis, (least, greatest) in enumerate(axis_extremes(broad)):
            check_extremes(browser, "broad05", place, axis, least, greatest)
        limits = browser.run("return binnacle.meta.panels.flatMap((p) => p.marks.map((m) => [m.label, m.areas[0][0], m.areas[0][1]]))")
        check(any(l[0] == "motion above" and abs(l[1] - 0.05) < 1e-6 and abs(l[2] - 0.025) < 1e-6 for l in limits),
              "broad05: the motion threshold has its hysteresis as a band")
        browser.picture("broad05-light.png")
        check(browser.fits_dark_and_narrow("broad05"), "a narrow window needs no scrolling aside")
        browser.size(1440, 1000)

        # The keyboard alone: every control can have the focus, and the keys of the drawing work.
        browser.open(page.as_uri())
        count = browser.run("return document.querySelectorAll('button:not(:disabled), input, summary, #plot').length")
        reached, seen = 0, set()
        for _ in range(count + 20):
            browser.keys("\ue004")
            mark = browser.run("const e = document.activeElement; e.dataset.seen = e.dataset.seen || Math.random();"
                               "return [e.dataset.seen, e.tagName, e.id]")
            if mark[1] != "BODY" and mark[0] not in seen:
                seen.add(mark[0])
                reached += 1
        hidden = browser.run("return [...document.querySelectorAll('button:not(:disabled)')].filter((e) => !e.offsetParent).length")
        check(reached >= count - hidden, f"Tab reaches {reached} of {count - hidden} controls")
        browser.run("document.getElementById('plot').focus()")
        before = browser.run("return binnacle.view.to - binnacle.view.from")
        browser.keys("+")
        check(browser.run("return binnacle.view.to - binnacle.view.from") < before, "+ zooms in")
        at = browser.run("return binnacle.view.from")
        browser.keys("\ue014")
        check(browser.run("return binnacle.view.from") > at, "the right arrow moves")
        browser.keys("0n")
        check(browser.run("return document.querySelectorAll('tr[aria-current]').length") == 1, "n selects an event in the table")
        browser.run("document.querySelectorAll('#events button')[3].click()")
        check(browser.run("return document.querySelectorAll('#events tr')[3].getAttribute('aria-current')") == "true",
              "an event in the table selects its mark")

        # What a mark says is read by pointing at it.
        mark = browser.run("""
            const p = binnacle.panels.find((p) => p.isEvents); p.element.scrollIntoView({ block: "center" });
            const m = p.marks[2], r = p.element.getBoundingClientRect();
            return { x: Math.round(r.left + m.x), y: Math.round(r.top + m.y), text: binnacle.meta.events[m.index].f };""")
        browser.point(mark["x"], mark["y"])
        check(mark["text"] and browser.wait("return document.getElementById('readout').textContent.includes(arguments[0])", mark["text"]),
              f"a mark that is pointed at says its figures: {mark['text']}")

        # How a screen is held, and how a laptop is set up: limits, states and events.
        golden = ROOT / "Tests/Golden"
        page = plot("screen.html", "--config", golden / "simulated-screen.toml", cwd=golden)
        browser.open(page.as_uri())
        quiet_page(browser, "screen")
        check_events(browser, "screen", replayed("--config", golden / "simulated-screen.toml", cwd=golden))
        check_states(browser, "screen", {"orientation.changed": "orientation", "tilt.changed": "tilt"})
        limits = browser.run("return binnacle.meta.panels.flatMap((p) => p.marks.map((m) => [m.label, m.areas[0][0], m.areas[0][1]]))")
        check(["next edge above", 50, 40] in limits and ["tilted above", 25.5, 15.5] in limits, f"screen: limits with their hysteresis {limits}")
        check("[orientation.\"screen\"]" in browser.run("return binnacle.meta.configuration"), "screen: the detector's settings")
        check_drawing(browser, "screen", plot("screen.svg", "--config", golden / "simulated-screen.toml", cwd=golden))
        browser.picture("screen.png")
        page = plot("laptop.html", "--config", golden / "simulated-laptop.toml", cwd=golden)
        browser.open(page.as_uri())
        quiet_page(browser, "laptop")
        check_states(browser, "laptop", {"hinge.changed": "posture"})
        check_drawing(browser, "laptop", plot("laptop.svg", "--config", golden / "simulated-laptop.toml", cwd=golden))
        browser.picture("laptop.png")

        # Panels of every size, in the page and in the SVG.
        for path in random_recordings(folder, 40 if os.environ.get("BINNACLE_LONG_TESTS") else 12):
            browser.open(plot(f"{path.stem}.html", path).as_uri())
            browser.wait("return performance.getEntriesByName('binnacle: shown').length")
            check_drawing(browser, path.stem, plot(f"{path.stem}.svg", path))
        # Every golden recording that draws.
        for path in sorted(golden.glob("*.csv")) + sorted(golden.glob("*.evemu")):
            words = ["--config", path.with_suffix(".toml"), path] if path.with_suffix(".toml").exists() else [path]
            page = out / "golden.html"
            if subprocess.run([BINARY, "plot", "--force", "-o", page, *words], capture_output=True, cwd=golden).returncode != 0:
                continue
            browser.open(page.as_uri())
            browser.wait("return performance.getEntriesByName('binnacle: shown').length")
            check_scales(browser, path.stem, plot("golden.svg", *words, cwd=golden))

        # More events than a page keeps.
        page = plot("many.html", many_shocks(folder))
        browser.open(page.as_uri())
        note = browser.run("return document.getElementById('eventNote').textContent")
        total = browser.run("return binnacle.meta.event_count")
        check(total > 4000 and note == f"The first 4000 of {total} events; --from and --to show the others.", f"many events: {note}")

        # Hostile names are text.
        name = "</script><script>hostile()</script><img src onerror>\"'\u202e\u2066"
        trace = pathlib.Path(folder) / "a'<b>&\u202e.csv"
        trace.write_bytes(broad.read_bytes())
        stream = pathlib.Path(folder) / "<img src onerror>\u202e.arrows"
        subprocess.run([BINARY, "convert", "--bind", f"{name}={trace}", "-o", stream], check=True, capture_output=True)
        page = plot("hostile.html", stream)
        browser.open(page.as_uri())
        quiet_page(browser, "hostile names")
        check(browser.run("return !document.querySelector('img')"), "hostile names are not run")
        check(browser.run("return document.body.textContent.includes('onerror')"), "hostile names are shown")
        check(browser.run("return !/[\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)"), "direction marks are not shown as such")
        drawing = plot("hostile.svg", stream)
        parsed = xml.dom.minidom.parse(str(drawing))
        check(not parsed.getElementsByTagName("img") and not parsed.getElementsByTagName("script"), "hostile names are text in the SVG")

        stream, count, spike = generated(folder)
        page = plot("ten-million.html", stream)
        check(page.stat().st_size <= 2_000_000, f"{count} samples: a page of {page.stat().st_size} bytes")
        browser.open(page.as_uri())
        quiet_page(browser, "10 million samples")
        times(browser, "10 million samples")
        single = lambda value: array.array("f", [value])[0]
        check_extremes(browser, "10 million samples", 0, 0, single(round(-0.05, 4)), 40.0, "--c0")
        found = browser.run("return binnacle.extremes(binnacle.tracks[0], 0, arguments[0] - .0005, arguments[0] + .0005)", spike)
        check(found is not None and found[1] == 40.0, f"the single sample at {spike} s is there: {found}")
        check_events(browser, "10 million samples", replayed(stream))
        check(browser.run("return document.getElementById('blocks').textContent") == "", "at full width pixels are coarser than blocks")
        browser.run("binnacle.show(100, 100.05); binnacle.draw()")
        check(browser.run("return document.getElementById('blocks').textContent").startswith("Blocks are shown"),
              "nearer than a block, the page says so")
        browser.picture("ten-million-near.png")
    finally:
        browser.close()
print(f"pictures are in {out.relative_to(ROOT)}")
harness.finish()
