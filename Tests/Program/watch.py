"""`binnacle watch` in a pseudo-terminal whose screen is kept by pyte.

Sizes, a change of size, keys, Ctrl-Z and fg, the end by q, by Ctrl-C and by kill -9, and what is printed where there is no terminal.
"""
import fcntl
import itertools
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

import pyte

import harness
from harness import BINARY, PATIENCE, ROOT

recording = str(ROOT / "Tests/Fixtures/broad/broad05_rotation_breaks.csv")


def check(is_fine, what, screen=()):
    """A fault shows the screen as well."""
    harness.check(is_fine, what)
    if not is_fine:
        for line in screen:
            print("      |" + line)


class Terminal:
    """A program in a terminal of its own, of which it is the session's leader."""

    def __init__(self, *arguments, columns=80, rows=24, environment={}, command=None):
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.master, slave = pty.openpty()
        self.slave = slave
        self.resize(columns, rows, tells=False)
        self.before = termios.tcgetattr(slave)
        variables = dict(os.environ, TERM="xterm", LANG="C.UTF-8", PS1="ready> ")
        variables.pop("NO_COLOR", None)
        variables.update(environment)
        self.process = harness.start(
            *(command or [BINARY, "watch", *arguments]), stdin=slave, stdout=slave, stderr=slave, env=variables, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, columns, rows, tells=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tells:
            self.screen.resize(rows, columns)

    def read(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                return
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return
            # Another screen is another set of lines, which pyte does not keep.
            if b"\x1b[?1049h" in data:
                self.screen.reset()
            self.raw += data
            self.stream.feed(data)

    @property
    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self):
        return "\n".join(self.lines)

    def wait(self, what, holds):
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                check(False, what, self.lines)
                return False
            self.read(0.2)
        check(True, what)
        return True

    def end(self):
        """Reads until the program has ended, and gives its status."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            self.read(0.1)
        return self.process.poll()

    def press(self, keys):
        os.write(self.master, keys)

    @property
    def flags(self):
        return termios.tcgetattr(self.slave)[3] & (termios.ICANON | termios.ECHO)

    def is_other_screen(self):
        return self.raw.rfind(b"\x1b[?1049h") > self.raw.rfind(b"\x1b[?1049l")

    def is_restored(self):
        """Looks at everything that the program has written; it has to have ended."""
        while select.select([self.master], [], [], 0.1)[0]:
            self.read(0.1)
        return (self.raw.rfind(b"\x1b[?1049l") > self.raw.rfind(b"\x1b[?1049h") and self.raw.rfind(b"\x1b[?25h") > self.raw.rfind(b"\x1b[?25l")
                and self.flags == termios.ICANON | termios.ECHO)

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def fits(terminal, columns, rows):
    lines = terminal.lines
    return len(lines) == rows and all(len(line) <= columns for line in lines) and lines[0].startswith("binnacle watch"[:columns])


def sizes():
    for columns, rows in [(80, 24), (120, 40), (40, 12), (20, 5), (12, 2)]:
        terminal = Terminal("--simulate", "walk", columns=columns, rows=rows)
        terminal.wait(f"{columns}x{rows}: readings are shown",
                      lambda: fits(terminal, columns, rows) and ("acce" in terminal.text or rows < 6))
        if rows >= 12:
            check("magnetic" in terminal.text or "heading" in terminal.text, f"{columns}x{rows}: with a heading", terminal.lines)
        terminal.press(b"q")
        check(terminal.end() == 0, f"{columns}x{rows}: q ends it with status 0")
        check(terminal.is_restored(), f"{columns}x{rows}: the screen is given back")
        terminal.stop()


def life():
    terminal = Terminal("--simulate", "shake")
    terminal.wait("it begins", lambda: "accelerometer" in terminal.text)
    terminal.wait("an event is shown", lambda: "shake" in terminal.text and "motion.began" in terminal.text)
    terminal.resize(120, 40)
    terminal.wait("another size is filled", lambda: fits(terminal, 120, 40) and "q quit" in terminal.lines[39])
    terminal.resize(40, 12)
    terminal.wait("a small one as well", lambda: fits(terminal, 40, 12) and terminal.lines[11].startswith("q "))
    terminal.resize(80, 24)
    terminal.press(b" ")
    terminal.wait("the space bar holds the picture", lambda: "held" in terminal.lines[0])
    terminal.press(b" ")
    terminal.wait("and lets it go on", lambda: "held" not in terminal.lines[0])
    terminal.press(b"\x1b[C")
    terminal.wait("an arrow chooses a sensor", lambda: "sensor 1 of 1" in terminal.lines[0])
    terminal.press(b"\x1b[D")
    terminal.wait("and all again", lambda: "sensor 1 of 1" not in terminal.lines[0])
    turning = Terminal("--simulate", "turn")
    turning.wait("headings that are left out are counted",
                 lambda: re.search("[0-9]+ headings? or attitudes? left out: see binnacle events", turning.text))
    turning.press(b"q")
    turning.end()
    turning.stop()
    terminal.press(b"\x03")
    check(terminal.end() == 130, "Ctrl-C ends it with status 130")
    check(terminal.is_restored(), "and gives the screen back")
    terminal.stop()


def shell():
    """Ctrl-Z, fg and kill -9 as they are in a shell with line editing."""
    terminal = Terminal(command=["bash", "--norc", "--noprofile", "-i"])
    terminal.wait("a shell is ready", lambda: "ready>" in terminal.text)

    def begin():
        terminal.press(f"{BINARY} watch --simulate walk\n".encode())
        terminal.wait("it begins", lambda: fits(terminal, 80, 24) and "accelerometer" in terminal.text)

    def answers(text):
        terminal.wait("the shell is ready again", lambda: terminal.is_other_screen() is False)
        terminal.read(1)
        terminal.press(f"echo $((1000 + 234)){text}\n".encode())
        terminal.wait(f"what is typed is seen, and what is answered: {text}", lambda: f"+ 234)){text}" in terminal.text and f"1234{text}" in terminal.text)

    begin()
    terminal.press(b"\x1a")
    answers("stopped")
    terminal.press(b"fg\n")
    terminal.wait("fg shows the view again", lambda: terminal.is_other_screen() and fits(terminal, 80, 24))
    view = subprocess.run(["pgrep", "-P", str(terminal.process.pid), "binnacle"], capture_output=True, text=True).stdout.split()
    os.kill(int(view[0]), signal.SIGKILL)
    answers("killed")
    terminal.stop()


def kill():
    terminal = Terminal("--simulate", "still")
    terminal.wait("it begins", lambda: "accelerometer" in terminal.text)
    check(terminal.flags == 0, "keys come as they are pressed")
    terminal.process.kill()
    terminal.process.wait()
    terminal.wait("after kill -9 the terminal is usable without a shell, too", terminal.is_restored)
    terminal.stop()


def hangup():
    """A terminal that is closed ends the program, and so does SIGHUP alone; neither leaves the folder of the daemon that it started."""
    for is_closed in (False, True):
        with harness.temporary_folder() as folder:
            terminal = Terminal("--simulate", "still", environment={"TMPDIR": folder})
            terminal.wait("it begins", lambda: "accelerometer" in terminal.text)
            check(os.listdir(folder) != [], "its daemon has a folder")
            if is_closed:
                os.close(terminal.slave)
                os.close(terminal.master)
                terminal.process.wait(PATIENCE)
            else:
                terminal.process.send_signal(signal.SIGHUP)
                status = terminal.end()
                check(status == 128 + signal.SIGHUP, f"SIGHUP ends it with status 129: {status}")
                terminal.stop()
            check(os.listdir(folder) == [], f"and it leaves nothing: {os.listdir(folder)}")


def plain():
    for environment, what in [({"TERM": "dumb"}, "TERM=dumb"), ({"TERM": ""}, "no TERM")]:
        terminal = Terminal("--simulate", "still", "--for", "3s", environment=environment)
        terminal.end()
        terminal.read(0.5)
        check(b"\x1b" not in terminal.raw and terminal.raw.count(b"accelerometer") >= 1, f"{what}: a line a second")
        terminal.stop()
    terminal = Terminal("--simulate", "still", environment={"NO_COLOR": "1"})
    terminal.wait("NO_COLOR: it begins", lambda: "accelerometer" in terminal.text)
    check(b"\x1b[1m" not in terminal.raw and b"\x1b[90m" not in terminal.raw, "NO_COLOR: no colour")
    terminal.press(b"q")
    terminal.end()
    terminal.stop()
    terminal = Terminal("--simulate", "still", environment={"LC_ALL": "C"})
    terminal.wait("ASCII: it begins", lambda: "accelerometer" in terminal.text)
    check(all(byte < 0x80 for byte in terminal.raw), "LC_ALL=C: nothing but ASCII")
    terminal.press(b"q")
    terminal.end()
    terminal.stop()
    done = subprocess.run([BINARY, "watch", "--simulate", "shake", "--for", "3s"], capture_output=True, text=True)
    check(done.returncode == 0 and "\x1b" not in done.stdout and "user" in done.stdout and done.stderr == "",
          f"a pipe: lines, status {done.returncode} {done.stderr}")
    done = subprocess.run([BINARY, "watch", "--simulate", "shake", "--for", "3s"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    check("motion.began" in done.stdout, "a pipe: events as they happen")


def sources():
    terminal = Terminal(recording, "--speed", "40")
    terminal.wait("a recording is played", lambda: "accelerometer" in terminal.text)
    check(terminal.end() == 0, "and ends with it")
    check(terminal.is_restored(), "the screen is given back")
    terminal.stop()
    done = subprocess.run([BINARY, "watch", "/nonexistent.csv"], capture_output=True, text=True)
    check(done.returncode == 66 and "/nonexistent.csv" in done.stderr, f"a recording that is not there: {done.stderr.strip()}")
    done = subprocess.run([BINARY, "watch", "--socket", "/nonexistent/s"], capture_output=True, text=True)
    check(done.returncode == 69 and "no daemon answers" in done.stderr, f"no daemon: {done.stderr.strip()}")
    with harness.temporary_folder() as folder:
        configuration = f"""
            [socket]
            path = "{folder}/s"
            [sensor.lid]
            source = "simulated"
            model = "walk"
            [motion.moved]
            accelerometer = "lid"
            """
        pathlib.Path(folder, "c.toml").write_text(configuration + '[handler.tell]\non = ["shake"]\ncommand = ["/bin/true"]\n')
        done = subprocess.run([BINARY, "watch", "--config", f"{folder}/c.toml", "--simulate", "shake", "--for", "1s"], capture_output=True, text=True)
        check(done.returncode == 0 and "handled" not in done.stderr, f"a configuration's handlers run no command: {done.stderr.strip()}")
        daemon = harness.start_daemon(f"{folder}/c.toml", f"{folder}/s")
        # A socket has its path before it can be connected to.
        harness.wait_for("an answer", lambda: subprocess.run([BINARY, "status", "--socket", f"{folder}/s"], capture_output=True).returncode in (0, 1))
        # Wide enough for the path of any temporary folder, and what is said behind it.
        terminal = Terminal("--socket", f"{folder}/s", columns=200, rows=30)
        terminal.wait("a running daemon is shown", lambda: "accelerometer lid" in terminal.text)
        # A daemon that is stopped says nothing, and closes nothing either.
        file = pathlib.Path(folder, "lines")
        with file.open("w") as output:
            lines = harness.start(BINARY, "watch", "--socket", f"{folder}/s", stdout=output)
        check(harness.until(lambda: "accelerometer lid" in file.read_text()), "no terminal: a running daemon is shown")
        daemon.send_signal(signal.SIGSTOP)
        terminal.wait("readings that are old are said to be", lambda: re.search("no reading for [0-9]+ s: what is shown is old", terminal.lines[0]))
        check(harness.until(lambda: re.search("^no reading for [0-9]+ s$", file.read_text(), re.MULTILINE)), "no terminal: a line says so")
        daemon.send_signal(signal.SIGCONT)
        check(harness.until(lambda: "accelerometer lid" in file.read_text().split("no reading")[-1]), "no terminal: readings follow")
        harness.end(lines)
        check(file.read_text().count("no reading") == 1, "no terminal: it is said once")
        terminal.wait("and those of now are not", lambda: "no reading" not in terminal.lines[0])
        daemon.kill()
        daemon.wait()
        terminal.wait("a daemon that is away is waited for", lambda: "waiting for it" in terminal.text or "no daemon" in terminal.text)
        # What the killed one has left is no sign of the next one, which has to be ready for its end.
        os.unlink(f"{folder}/s")
        daemon = harness.start_daemon(f"{folder}/c.toml", f"{folder}/s")
        terminal.wait("and shown again", lambda: "waiting" not in terminal.text and "no daemon" not in terminal.text)
        terminal.press(b"q")
        terminal.end()
        terminal.stop()
        check(harness.end(daemon) == 0, "the daemon goes on without it, until it is ended")


def put(path, value):
    """Writes an attribute as a whole: a reader never finds it empty."""
    new = pathlib.Path(str(path) + ".new")
    new.write_text(f"{value}\n")
    new.rename(path)


def masked(terminal):
    """The screen without its numbers, which change all the time, and without what a busy machine made it skip."""
    return [re.sub("  # intervals? skipped", "", re.sub(r"[0-9]+([.][0-9]+)?", "#", line)).rstrip() for line in terminal.lines]


def devices():
    """The devices of a tree, read directly; and a screen of another size is the one of a start in that size."""
    with harness.temporary_folder() as folder:
        device = pathlib.Path(folder, "sys/bus/iio/devices/iio:device0")
        device.mkdir(parents=True)
        for name, value in [("name", "accel_3d"), ("in_accel_x_raw", 0), ("in_accel_y_raw", 0), ("in_accel_z_raw", 1000),
                            ("in_accel_scale", 0.00980665)]:
            put(device / name, value)
        for columns, rows in [(80, 24), (120, 40), (40, 12)]:
            begun = Terminal("--root", folder, columns=columns, rows=rows)
            begun.wait(f"{columns}x{rows}: a device is read directly", lambda: fits(begun, columns, rows) and "still" in begun.text and "9.81" in begun.text)
            resized = Terminal("--root", folder, columns=100 if columns == 80 else 80, rows=30)
            resized.wait("and in another size", lambda: "still" in resized.text and "9.81" in resized.text)
            resized.resize(columns, rows)

            def same():
                begun.read(0.2)
                return fits(resized, columns, rows) and masked(resized) == masked(begun)
            if not resized.wait(f"{columns}x{rows}: after a change of size the screen is that of a start in it", same):
                for one, other in zip(masked(begun), masked(resized)):
                    print(f"      |{one}" + ("" if one == other else f"\n      >{other}"))
            for terminal in (begun, resized):
                terminal.press(b"q")
                terminal.end()
                terminal.stop()
        terminal = Terminal("--root", folder)
        terminal.wait("a device at rest", lambda: "still" in terminal.text)
        places = itertools.cycle([2000, 2000, 2000, 0, 0])

        # A machine that stalls for a second makes a gap of one step, behind which nothing moves.
        def moves():
            put(device / "in_accel_x_raw", next(places))
            return "moving" in terminal.text and "motion.began" in terminal.text and "19.6" in terminal.text
        terminal.wait("is seen to move", moves)
        terminal.press(b"q")
        check(terminal.end() == 0 and terminal.is_restored(), "and released")
        terminal.stop()


sizes()
life()
devices()
shell()
kill()
hangup()
plain()
sources()
harness.finish()
