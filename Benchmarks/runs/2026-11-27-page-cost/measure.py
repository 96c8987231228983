#!/usr/bin/env python3
"""What the live page costs: shares of one core of Chromium's processes, of `binnacle web` and of the daemon.

usage: measure.py BINARY…

Programs are measured in turns, three times 20 s each, because other programs on the machine change all figures of a while together.

The page has five detectors and two sensors at 100 Hz, in a headless window of 1280 × 1000 pixels without a graphics processor. For each
place of the window and each pass it prints a line. The places are the instruments with a compass that has another heading in each reading
(turning), the curves below them, and a page that is hidden.

  redraws     how often a second the needles were turned
  task/wall   Chromium's TaskDuration: the time during which the main thread had a task, waiting for a processor included
  thread      the processor time of the main thread (ThreadTime)
  renderer    the processor time of the page's process, with its compositor and its rasters
  graphics    that of Chromium's graphics process, which does in software what a graphics processor would do
  browser     that of Chromium's other processes
  web, daemon that of `binnacle web` and of `binnacle run`

  others      what all other programs of the machine took

script, layout and styles are times of the main thread's tasks, as task/wall is.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

binaries = [str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:]]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "Tests/Program"))
from browser import Browser  # noqa: E402

TICKS = os.sysconf("SC_CLK_TCK")
SECONDS, PASSES = 20, 3
COLUMNS = ["task/wall", "thread", "script", "layout", "styles", "renderer", "graphics", "browser", "web", "daemon", "others"]
CONFIGURATION = """
[socket]
path = "{folder}/s"
""" + "".join(f'[sensor.{name}]\nsource = "simulated"\nmodel = "{model}"\nrate_hz = 100\n' for name, model in [("mast", "turn"), ("lid", "walk")]) + """
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
"""


# Each reading has another heading, by 0.4°.
TURNING = """
const turn = Instruments.prototype.turn;
Instruments.prototype.turn = function (readings) {
  for (const { figures } of readings.detectors) if ("heading_deg" in figures) figures.heading_deg = 0.4 * this.frames % 360;
  turn.call(this, readings);
};
"""


def stat(pid):
    """The parent of a process, and its processor time in seconds."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS


def times(driver, others):
    """The processor time of each part."""
    parents, used = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parents[int(pid)], used[int(pid)] = stat(pid)
        except OSError:
            pass
    below = {driver}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    found = dict.fromkeys(["renderer", "graphics", "browser"], 0.0)
    for pid in below - {driver}:
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        kind = re.search(r"--type=([\w-]+)", line)
        found[{"renderer": "renderer", "gpu-process": "graphics"}.get(kind[1] if kind else "", "browser")] += used.get(pid, 0)
    return {**found, **{name: stat(process.pid)[1] for name, process in others.items()}}


def machine():
    counts = [int(word) for word in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(counts) - counts[3] - counts[4]) / TICKS


def serve(binary, folder):
    """A daemon with a page of it: both processes, and the page's address."""
    pathlib.Path(folder, "c.toml").write_text(CONFIGURATION.format(folder=folder))
    daemon = subprocess.Popen([binary, "run", "--config", f"{folder}/c.toml"], stderr=subprocess.DEVNULL)
    while not os.path.exists(f"{folder}/s"):
        time.sleep(0.1)
    web = subprocess.Popen([binary, "web", "--socket", f"{folder}/s", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    return {"web": web, "daemon": daemon}, re.search(r"http://\S+", web.stderr.readline())[0]


def measure(browser, processes):
    def all_figures():
        metrics = {one["name"]: one["value"] for one in browser.cdp("Performance.getMetrics")["metrics"]}
        named = {"at": "Timestamp", "task/wall": "TaskDuration", "thread": "ThreadTime", "script": "ScriptDuration",
                 "layout": "LayoutDuration", "styles": "RecalcStyleDuration"}
        return {**{name: metrics[key] for name, key in named.items()}, "frames": browser.run("return binnacle.instruments.frames"),
                **times(browser.driver.pid, processes), "machine": machine()}

    before = all_figures()
    time.sleep(SECONDS)
    after = all_figures()
    spent = {name: after[name] - before[name] for name in before}
    spent["others"] = spent["machine"] - sum(spent[part] for part in ("renderer", "graphics", "browser", "web", "daemon"))
    return f"{spent['frames'] / spent['at']:10.1f}" + "".join(f"{100 * spent[name] / spent['at']:10.1f}" for name in COLUMNS)


with tempfile.TemporaryDirectory() as home:
    browser = Browser(f"{home}/profile", pathlib.Path(home))
    try:
        browser.inside(1280, 1000)
        print(f"Chromium {browser.version}, {os.cpu_count()} processors, {SECONDS} s a line, shares of one core in %")
        print(f"{'':24}{'redraws/s':>10}" + "".join(f"{name:>10}" for name in COLUMNS))
        for place in ("turning", "curves", "hidden"):
            for binary in PASSES * binaries:
                with tempfile.TemporaryDirectory() as folder:
                    processes, address = serve(binary, folder)
                    browser.open(address)
                    browser.wait("return binnacle.tracks[0].count > 100")
                    browser.cdp("Performance.enable", timeDomain="timeTicks")
                    browser.run({"turning": TURNING, "curves": "scrollTo(0, 1400)",
                                 "hidden": "Object.defineProperty(document, 'hidden', { value: true, configurable: true })"}[place])
                    time.sleep(3)
                    print(f"{place:12}{pathlib.Path(binary).name:12}" + measure(browser, processes), flush=True)
                    for process in processes.values():
                        process.terminate()
                        process.wait()
    finally:
        browser.close()
