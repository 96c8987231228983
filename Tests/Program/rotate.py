"""config/examples/rotate-screen turns real outputs: of sway, without a screen, and of an X server in Xvfb; that of KDE is a stand-in."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import harness
from harness import BINARY, ROOT, check, need, wait_for

SCRIPT = ROOT / "config/examples/rotate-screen"
#: By the edge that points up: the word of xrandr, the coordinates of a touch there, and the transform of sway, which counts clockwise.
TURNS = {
    "left-up": ("left", "0 -1 1 1 0 0 0 0 1", "270"),
    "bottom-up": ("inverted", "-1 0 1 0 -1 1 0 0 1", "180"),
    "right-up": ("right", "0 1 0 -1 0 1 0 0 1", "90"),
    "normal": ("normal", "1 0 0 0 1 0 0 0 1", "normal"),
}
MOUSE = "Xephyr virtual mouse"
#: The server has no touch screen: its pointer is shown as one, and everything else is the real program's.
XINPUT = f"""#!/bin/sh
[ "$#" != 2 ] || [ "$1" != list ] || [ "$2" != "$({{}} list --id-only '{MOUSE}')" ] || echo "Touch mode: direct"
exec {{}} "$@"
"""
#: What kscreen-doctor 5.27 prints, with its colours.
KSCREEN = """#!/bin/sh
[ "$1" = -o ] || { echo "$*" >>"$(dirname "$0")/kscreen"; exit 0; }
printf '\\033[01;32mOutput: \\033[0;0m1 HDMI-A-1 \\033[01;32menabled\\033[0;0m connected priority 2\\n'
printf '\\033[01;32mOutput: \\033[0;0m2 eDP-1 \\033[01;32menabled\\033[0;0m connected priority 1\\n'
"""


def ask(environment, *command):
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    need(result.returncode == 0, command, "ended with", result.returncode, result.stderr)
    return result.stdout


def server(*command):
    """Starts an X server, which chooses a free number; returns that."""
    reader, writer = os.pipe()
    harness.start(*command, "-noreset", "-displayfd", str(writer), pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writer)
    with os.fdopen(reader) as number:
        return ":" + number.readline().strip()


def check_x11(folder):
    os.environ["DISPLAY"] = server("Xvfb", "-screen", "0", "1000x1000x24")
    screen = server("Xephyr", "-screen", "800x600")
    pathlib.Path(folder, "xinput").write_text(XINPUT.replace("{}", shutil.which("xinput")))
    pathlib.Path(folder, "xinput").chmod(0o755)
    session = {"PATH": f"{folder}:{os.environ['PATH']}", "DISPLAY": screen}

    def rotation():
        return re.search(r"connected [0-9x+]+ (\w*) ?\(", ask(session, "xrandr"))[1] or "normal"

    for edge, (word, matrix, _) in TURNS.items():
        ask(session, SCRIPT, edge)
        numbers = re.search(r"Coordinate Transformation Matrix.*:\s*(.*)", ask(session, "xinput", "list-props", MOUSE))[1]
        numbers = " ".join(f"{float(number):g}" for number in numbers.split(","))
        check((rotation(), numbers) == (word, matrix), f"X11, {edge}", f"{rotation()}, touch {numbers}")
    ask(session, SCRIPT, "undefined")
    check(rotation() == "normal", "X11, undefined: as before")

    # From the sensor to the screen.
    configuration = pathlib.Path(folder, "c.toml")
    configuration.write_text(f"""
        [socket]
        path = "{folder}/s"
        [sensor.lid]
        source = "trace"
        file = "{ROOT}/Tests/Golden/simulated-screen.csv"
        loop = true
        [orientation.screen]
        accelerometer = "lid"
        frame = "device"
        """)
    harness.start_daemon(str(configuration), f"{folder}/s")
    seen = set()
    for _ in range(3):
        edge = ask(session, BINARY, "on", "orientation.changed", "--once", "--socket", f"{folder}/s", "--",
                   "sh", "-c", f"{SCRIPT} $0 && echo $0", "{orientation}").strip()
        seen.add(edge)
        check(rotation() == TURNS[edge][0], f"binnacle on orientation.changed, {edge}", rotation())
    check(len(seen) > 1, "the screen has turned", ", ".join(sorted(seen)))


def check_wlroots(folder):
    # sway refuses to run as root.
    account = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    runtime = pathlib.Path(folder, "runtime")
    runtime.mkdir(mode=0o700)
    if account:
        os.chown(runtime, 65534, 65534)
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(runtime), "XDG_RUNTIME_DIR": str(runtime), "WLR_BACKENDS": "headless",
        "WLR_LIBINPUT_NO_DEVICES": "1", "WLR_RENDERER": "pixman"}
    harness.start(*account, "sway", "-c", "/dev/null", env=environment, stderr=subprocess.DEVNULL)
    wait_for("sway", lambda: list(runtime.glob("sway-ipc.*")) and list(runtime.glob("wayland-?")))
    environment["WAYLAND_DISPLAY"] = next(runtime.glob("wayland-?")).name
    environment["SWAYSOCK"] = str(next(runtime.glob("sway-ipc.*")))
    for edge, (_, _, transform) in TURNS.items():
        ask(environment, SCRIPT, edge)
        found = json.loads(ask(environment, "swaymsg", "-r", "-t", "get_outputs"))[0]["transform"]
        check(found == transform, f"sway, {edge}", f"{found} clockwise")


def check_kde(folder):
    pathlib.Path(folder, "kscreen-doctor").write_text(KSCREEN)
    pathlib.Path(folder, "kscreen-doctor").chmod(0o755)
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE"}
    for edge in TURNS:
        ask(environment, SCRIPT, edge)
    ask(environment, SCRIPT, "normal", "HDMI-A-1")
    called = pathlib.Path(folder, "kscreen").read_text().split("\n")[:-1]
    wanted = [f"output.eDP-1.rotation.{word}" for word in ("left", "inverted", "right", "none")] + ["output.HDMI-A-1.rotation.none"]
    check(called == wanted, "KDE, a stand-in for kscreen-doctor", ", ".join(called))


def check_refusals():
    for words, environment, status in [(["sideways"], {"DISPLAY": ":1"}, 64), ([], {}, 64), (["normal"], {}, 69)]:
        result = subprocess.run([SCRIPT, *words], env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True)
        check(result.returncode == status and result.stderr, f"rotate-screen {' '.join(words)}", result.stderr.strip())


with tempfile.TemporaryDirectory(prefix="binnacle-rotate-") as place:
    # Another account has to reach its folder.
    os.chmod(place, 0o755)
    check_refusals()
    check_x11(place)
    check_wlroots(place)
    check_kde(place)
    harness.end_all()
harness.finish()
