"""A service that runs for long while everything around it changes: nothing it holds may grow."""

import os
import pwd
import signal
import subprocess
import time

from harness import CONFIGURATION, expect, main_process, need, note, run, show, started, systemctl, test, wait_for, write
from played import HUB, Follower, Play, await_device, cost, devices, put, status

FOLDER = "/var/lib/binnacle"
BROKER = ("/usr/sbin/mosquitto", "-p", "1883")
NETWORK = "[Service]\nRestrictAddressFamilies=AF_INET AF_INET6\nIPAddressDeny=\n"
# In seconds; SOAK_SECONDS=7200 make test-kernel TESTS=soak
LENGTH = int(os.environ.get("SOAK_SECONDS", "60"))
# How many events the store keeps; until then it grows, and so does what SQLite holds of it in memory.
KEPT = 2000


def configuration(version):
    """The same sensors and detectors, read at another rate, with other limits, and with a handler more or less."""
    text = HUB.replace("[store]", f"[store]\nkeep_events = {KEPT}\nkeep_mb = 8")
    text = text.replace("[motion", f"rate_hz = {(25, 100, 50)[version % 3]}\n\n[motion")
    text += f"threshold_g = {(0.05, 0.08)[version % 2]}\n"
    text += '[sensor.deck]\nsource = "simulated"\nmodel = "shake"\n[motion.deck]\naccelerometer = "deck"\n'
    text += '[handler.run]\non = ["shake"]\ncommand = ["/bin/true", "{user_g}"]\n'
    text += '[handler.send]\non = ["motion.*", "shake"]\nmqtt = "mqtt://127.0.0.1"\n'
    if version % 2:
        text += f'[handler.lines]\non = ["motion.*"]\nfile = "{FOLDER}/lines.jsonl"\n'
    return text


class Broker:
    """A broker that may be away."""

    def __init__(self):
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(BROKER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def end(self):
        self.process.kill()
        self.process.wait()


class Disturbances:
    """What changes, in turn."""

    def __init__(self, hub, broker):
        self.hub, self.broker = hub, broker
        self.group = "/sys/fs/cgroup" + show("ControlGroup")
        self.version = 0

    def unplug(self):
        self.hub.say("unplug", "unplugged")
        wait_for("its end", lambda: not devices("accel_3d"))
        time.sleep(1)
        self.hub.say("plug", "plugged in")
        await_device("accel_3d")

    def reload(self):
        self.version += 1
        write(CONFIGURATION, configuration(self.version))
        expect(systemctl("reload")[0] == 0, "it does not reload")

    def refused_reload(self):
        write(CONFIGURATION, configuration(self.version) + "\nnonsense = 1\n")
        systemctl("reload")
        write(CONFIGURATION, configuration(self.version))

    def broker_away(self):
        self.broker.end()
        time.sleep(5)
        self.broker.start()

    def disk_full(self):
        with open(f"{FOLDER}/ballast", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(65536))
            except OSError:
                pass
        time.sleep(5)
        os.unlink(f"{FOLDER}/ballast")

    def freeze(self):
        put(1, self.group, "cgroup.freeze")
        time.sleep(3)
        put(0, self.group, "cgroup.freeze")

    def subscriber_killed(self):
        follower = Follower()
        time.sleep(1)
        follower.process.send_signal(signal.SIGKILL)
        follower.end()

    def silence(self):
        self.hub.say("gap 3", "a gap")
        time.sleep(3)

    def all(self):
        return (self.reload, self.unplug, self.broker_away, self.disk_full, self.freeze, self.refused_reload,
                self.subscriber_killed, self.silence)


def size_of(path):
    """A file's size; 0 for one that has just gone, as those beside a database do."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def held(process):
    """What the service holds: descriptors, threads, memory in kB, the store's size in kB."""
    size = sum(size_of(f"{FOLDER}/{name}") for name in os.listdir(FOLDER) if name.startswith("events.db"))
    return (len(os.listdir(f"/proc/{process}/fd")), len(os.listdir(f"/proc/{process}/task")), cost(process)[2], size // 1024)


@test
def soak_what_it_holds_does_not_grow():
    owner = pwd.getpwnam("binnacle")
    systemctl("stop")
    # The first start of the service would make it.
    os.makedirs(FOLDER, exist_ok=True)
    need("mount", "-t", "tmpfs", "-o", f"size=64m,mode=0750,uid={owner.pw_uid},gid={owner.pw_gid}", "none", FOLDER)
    broker = Broker()
    try:
        hub = Play("--model", "walk")
        await_device("accel_3d")
        process = started(configuration(0), NETWORK)
        disturbances = Disturbances(hub, broker)
        table, begin, rounds = [], time.monotonic(), 0
        with open("/out/soak.csv", "w") as rows:
            print("seconds,after,descriptors,threads,memory_kb,store_kb,events", file=rows, flush=True)
            while rounds < 4 or time.monotonic() - begin < LENGTH:
                for disturb in disturbances.all():
                    disturb()
                    # Until what it began has ended: commands, connections, the copy of a store.
                    time.sleep(2)
                    row = (*held(process), status()["seq"])
                    print(f"{time.monotonic() - begin:.0f},{disturb.__name__},{','.join(map(str, row))}", file=rows, flush=True)
                    expect(main_process() == process, "it was started again")
                table.append(row)
                rounds += 1
        # What is made once has been made after the first round. One configuration in two has a handler more.
        first, last = tuple(map(max, zip(*table[1:3]))), table[-1]
        # What SQLite holds of the store grows until the store is full; a short run ends before that. From a full store on, only half
        # the growth is allowed.
        full = next((row for row in table if row[4] > KEPT), None)
        memory, growth = (full[2], 512) if full else (first[2], 1024)
        note(f"{rounds} rounds of {len(disturbances.all())} disturbances in {time.monotonic() - begin:.0f} s; "
             f"descriptors, threads, memory and store in kB, events: {first} at most after two rounds, {full} when the store was full, "
             f"{last} at the end")
        # A connection, or a thread that a disturbance began, may just be ending.
        for place, what in enumerate(("descriptors", "threads")):
            wait_for(f"{first[place]} {what}", lambda: held(process)[place] <= first[place])
        expect(last[2] <= memory + growth, f"memory: {memory} kB, then {last[2]} kB")
        expect(last[3] <= 32 * 1024, f"the store has {last[3]} kB")
        expect(show("NRestarts") == "0", "it was started again")
    finally:
        systemctl("stop")
        broker.end()
        run("umount", FOLDER)
