"""A real Home Assistant, a broker and the daemon: every entity with the right state, whatever restarts.

`scripts/check home-assistant` runs it in a root of its own, with a network of its own; the folder home-assistant beside this file is
written to.
"""
import asyncio
import copy
import fcntl
import importlib
import json
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

import aiohttp
import paho.mqtt.client

import harness
from harness import check

here = pathlib.Path(__file__).resolve().parent / "home-assistant"
ADDRESS = "http://127.0.0.1:8123"
#: How long a state is waited for, which is long only on a machine that is busy.
PATIENCE = 90
#: How long what must not happen is waited for.
SILENCE = 3


def raise_loopback():
    """A new network has its loopback interface switched off."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        SIOCSIFFLAGS, IFF_UP = 0x8914, 1
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


# MARK: - The three parties


class Broker:
    """mosquitto, which forgets everything when it ends."""

    def __init__(self):
        self.start()

    def start(self):
        self.process = harness.start("mosquitto", "-c", here / "mosquitto.conf", stderr=subprocess.DEVNULL)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", 1883)) == 0:
                    return
            time.sleep(0.05)

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Daemon:
    """`binnacle run` with a copy of binnacle.toml."""

    path = here / "running.toml"

    def __init__(self):
        shutil.copy(here / "binnacle.toml", self.path)
        self.start()

    def start(self):
        log = open(here / "daemon.log", "a")
        self.process = harness.start_daemon(self.path, stdout=log, stderr=log)

    def end(self, number):
        self.process.send_signal(number)
        self.process.wait()

    def reload(self, text):
        self.path.write_text(text)
        self.process.send_signal(signal.SIGHUP)


class Topics:
    """What the broker keeps, and what is published by hand."""

    def __init__(self):
        self.kept = {}
        self.lock = threading.Lock()
        self.client = paho.mqtt.client.Client(paho.mqtt.client.CallbackAPIVersion.VERSION2)
        self.client.on_connect = lambda client, *_: client.subscribe("#", 1)
        self.client.on_message = self.keep
        self.client.connect("127.0.0.1")
        self.client.loop_start()

    def keep(self, client, _, message):
        with self.lock:
            self.kept[message.topic] = message.payload.decode()

    def publish(self, topic, text, retain=False):
        self.client.publish(topic, text, 1, retain).wait_for_publish(PATIENCE)

    def get(self, topic):
        with self.lock:
            return self.kept.get(topic)

    def devices(self):
        """The descriptions of devices by their topics."""
        with self.lock:
            kept = dict(self.kept)
        return {
            topic: json.loads(text) for topic, text in kept.items() if topic.startswith("homeassistant/device/") and text}


class HomeAssistant:
    """The program, and its interfaces for others."""

    state = here / "state"

    def __init__(self, session):
        self.session = session
        self.headers = {}
        shutil.rmtree(self.state, ignore_errors=True)
        self.state.mkdir()
        shutil.copy(here / "configuration.yaml", self.state)
        self.start()

    def start(self):
        log = open(here / "home-assistant.log", "a")
        self.process = harness.start(
            sys.executable, "-m", "homeassistant", "-c", self.state, "--skip-pip", stdout=log, stderr=log)

    async def stop(self):
        self.process.terminate()
        await asyncio.to_thread(self.process.wait, PATIENCE)

    async def get(self, path):
        async with self.session.get(ADDRESS + path, headers=self.headers) as answer:
            return answer.status, await answer.json(content_type=None) if answer.status < 300 else await answer.text()

    async def post(self, path, **content):
        async with self.session.post(ADDRESS + path, headers=self.headers, **content) as answer:
            text = await answer.text()
            if answer.status >= 300:
                raise RuntimeError(f"{path}: {answer.status} {text}")
            return json.loads(text)

    async def ask(self, call):
        """A call of the websocket."""
        async with self.session.ws_connect(ADDRESS + "/api/websocket") as connection:
            await connection.receive_json()
            await connection.send_json({"type": "auth", "access_token": self.headers["Authorization"][7:]})
            await connection.receive_json()
            await connection.send_json({"id": 1, **call})
            return (await connection.receive_json())["result"]

    async def wait_until_up(self):
        path = "/api/config" if self.headers else "/api/onboarding"
        for _ in range(PATIENCE * 4):
            try:
                status, answer = await self.get(path)
                if status == 200 and (not self.headers or answer["state"] == "RUNNING"):
                    return
            except (aiohttp.ClientError, OSError):
                pass
            await asyncio.sleep(0.5)
        raise RuntimeError("Home Assistant does not answer; see home-assistant.log")

    async def set_up(self):
        """A first user, and the broker, as a person enters them."""
        await self.wait_until_up()
        client = {"client_id": ADDRESS + "/"}
        user = await self.post(
            "/api/onboarding/users",
            json={**client, "name": "check", "username": "check", "password": "check", "language": "en"})
        token = await self.post(
            "/auth/token", data={**client, "grant_type": "authorization_code", "code": user["auth_code"]})
        self.refresh = {**client, "grant_type": "refresh_token", "refresh_token": token["refresh_token"]}
        self.headers = {"Authorization": "Bearer " + token["access_token"]}
        form = await self.post("/api/config/config_entries/flow", json={"handler": "mqtt"})
        if form["type"] == "menu":
            form = await self.post(
                f"/api/config/config_entries/flow/{form['flow_id']}", json={"next_step_id": "broker"})
        end = await self.post(
            f"/api/config/config_entries/flow/{form['flow_id']}", json={"broker": "127.0.0.1", "port": 1883})
        check(end["type"] == "create_entry", "Home Assistant has the broker")

    async def restart(self):
        await self.stop()
        self.headers = {}
        self.start()
        await self.wait_until_up()
        token = await self.post("/auth/token", data=self.refresh)
        self.headers = {"Authorization": "Bearer " + token["access_token"]}
        await self.wait_until_up()

    async def states(self):
        _, states = await self.get("/api/states")
        return {one["entity_id"]: one for one in states}

    async def entities(self):
        """The entities of MQTT by their unique_id."""
        found = await self.ask({"type": "config/entity_registry/list"})
        # Of these alone the list has no unique_id.
        one_by_one = [
            await self.ask({"type": "config/entity_registry/get", "entity_id": one["entity_id"]})
            for one in found if one["platform"] == "mqtt"]
        return {one["unique_id"]: one for one in one_by_one}

    async def wait(self, test, seconds=PATIENCE):
        """The states in which a test holds, or the last ones."""
        end = time.monotonic() + seconds
        while True:
            states = await self.states()
            try:
                if test(states):
                    return states, True
            except KeyError:
                pass
            if time.monotonic() > end:
                return states, False
            await asyncio.sleep(0.3)


# MARK: - What has to be there


def components(devices):
    """Each component that is an entity, by its unique_id, and each trigger."""
    entities, triggers = {}, []
    for device in devices.values():
        for component in device["cmps"].values():
            if component["p"] == "device_automation":
                triggers.append((device["dev"]["ids"][0], component["type"], component["stype"]))
            else:
                entities[component["uniq_id"]] = component
    return entities, triggers


def known_keys(schema):
    """The keys of a schema, which may be several validators in a row."""
    if hasattr(schema, "validators"):
        return set().union(*map(known_keys, schema.validators))
    content = getattr(schema, "schema", None)
    return {str(key) for key in content} if isinstance(content, dict) else set()


def unknown_keys(device):
    """The keys of a device's components that Home Assistant drops without a word."""
    mqtt = "homeassistant.components.mqtt"
    full = importlib.import_module(mqtt + ".abbreviations").ABBREVIATIONS
    found = []
    for name, component in device["cmps"].items():
        is_trigger = component["p"] == "device_automation"
        module = importlib.import_module(f"{mqtt}.{'device_trigger' if is_trigger else component['p']}")
        known = known_keys(module.TRIGGER_DISCOVERY_SCHEMA if is_trigger else module.DISCOVERY_SCHEMA) | {"platform"}
        found += [f"{name}.{key}" for key in component if full.get(key, key) not in known]
    return found


def states_that_differ(states, entities, topics):
    """Entities whose state is not what the broker keeps of the sensor."""
    found = []
    for unique_id, (entity, component) in entities.items():
        state = states.get(entity, {}).get("state")
        figure = {"heading": "heading_deg", "peak": "peak_g"}
        kept = topics.get(component["stat_t"])
        name = next((key for key in ("heading", "peak", "orientation", "tilt", "interference", "moving")
                     if f"_{key}" in unique_id), None)
        if "/state/" not in component["stat_t"] or kept is None:
            continue
        kept = json.loads(kept)
        if name == "moving":
            detector = unique_id.rsplit("_moving_", 1)[1]
            wanted = {"moving": "on", "still": "off"}.get(kept.get("detectors", {}).get(detector, "still"))
        elif name == "interference":
            wanted = "on" if kept.get("interference") else "off"
        else:
            wanted = kept.get(figure.get(name, name), "unknown")
        same = state == wanted
        if not same and isinstance(wanted, (int, float)):
            try:
                same = abs(float(state) - wanted) < 1e-6
            except (TypeError, ValueError):
                same = False
        if not same:
            found.append(f"{entity} is {state} for {wanted}")
    return found


async def wait_for_states(home, entities, topics):
    """Until every entity has the state that the broker keeps; models move on, so that is tried again."""
    end = time.monotonic() + PATIENCE
    while differing := states_that_differ(await home.states(), entities, topics):
        if time.monotonic() > end:
            return differing
        await asyncio.sleep(0.2)
    return []


async def run(session):
    broker = Broker()
    topics = Topics()
    home = HomeAssistant(session)
    await home.set_up()
    daemon = Daemon()
    while len(topics.devices()) < 3:
        await asyncio.sleep(0.2)
    await asyncio.sleep(1)
    devices = topics.devices()
    wanted, triggers = components(devices)
    check(len(devices) == 3, "a message for each sensor", ", ".join(one["dev"]["name"] for one in devices.values()))

    # Every component of every message is an entity.
    await home.wait(lambda states: any(state.startswith("event.") for state in states))
    end = time.monotonic() + PATIENCE
    while set(wanted) - set(found := await home.entities()) and time.monotonic() < end:
        await asyncio.sleep(0.5)
    check(set(wanted) == set(found), f"each of {len(wanted)} components is an entity",
          ", ".join(set(wanted) ^ set(found)) or "none is missing")
    entities = {key: (found[key]["entity_id"], wanted[key]) for key in wanted if key in found and not found[key]["disabled_by"]}
    disabled = [found[key]["entity_id"] for key in found if found[key]["disabled_by"]]
    names = [entity for entity, _ in entities.values()]
    states, _ = await home.wait(lambda states: all(states[one]["state"] != "unavailable" for one in names))
    away = [one for one in names if states.get(one, {}).get("state") in (None, "unavailable")]
    check(not away, "all are available", ", ".join(away))
    differing = await wait_for_states(home, entities, topics)
    check(not differing, "each has the state that the daemon reported", "; ".join(differing))
    # What these models do again and again.
    happened = ["event.box_shake", "event.parcel_free_fall", "event.parcel_shock", "event.mast_sector_entered"]
    states, is_there = await home.wait(lambda states: all(states[one]["state"] != "unknown" for one in happened))
    check(is_there, "events have come with their figures", ", ".join(
        f"{one} {states[one]['attributes'].get('event_type')} seq {states[one]['attributes'].get('seq')}" for one in happened))
    for one in sorted(names):
        unit = states[one]["attributes"].get("unit_of_measurement", "")
        print(f"      {one} = {states[one]['state']}{unit and ' ' + unit}")
    print(f"      switched off until a person wants them: {', '.join(sorted(disabled))}")

    registry = await home.ask({"type": "config/device_registry/list"})
    mine = {identifier: one for one in registry for domain, identifier in one["identifiers"] if domain == "mqtt"}
    listed = []
    for identifier, device in mine.items():
        for one in await home.ask({"type": "device_automation/trigger/list", "device_id": device["id"]}):
            if one["domain"] == "mqtt":
                listed.append((identifier, one["type"], one["subtype"]))
    check(sorted(listed) == sorted(triggers), f"each of {len(triggers)} triggers is offered to automations",
          ", ".join(sorted({kind for _, kind, _ in listed})))
    heading = next(one for one in names if one.startswith("sensor.") and one.endswith("heading"))
    attributes = states[heading]["attributes"]
    check(attributes.get("state_class") == "measurement_angle" and attributes.get("accuracy_deg") is not None,
          "the heading has its accuracy, and means over north")

    # Restarts of each of the three.
    async def all_are(word, seconds=PATIENCE):
        return (await home.wait(lambda states: all((states[one]["state"] == "unavailable") == word for one in names),
                                seconds))[1]

    daemon.end(signal.SIGTERM)
    check(await all_are(True), "unavailable when the daemon has ended")
    daemon.start()
    check(await all_are(False), "available when it has started again")
    check(not (differing := await wait_for_states(home, entities, topics)), "with the right states", "; ".join(differing))
    daemon.end(signal.SIGKILL)
    check(await all_are(True), "unavailable when it is killed")
    daemon.start()
    check(await all_are(False), "available again")
    broker.stop()
    check(await all_are(True), "unavailable without the broker")
    with topics.lock:
        topics.kept.clear()
    broker.start()
    check(await all_are(False), "available when an empty broker is there")
    check(not (differing := await wait_for_states(home, entities, topics)), "with the right states", "; ".join(differing))
    await home.restart()
    check(await all_are(False), "available when Home Assistant has started again")
    check(not (differing := await wait_for_states(home, entities, topics)), "with the right states", "; ".join(differing))

    # A late event. The daemon publishes none of this kind by itself.
    unique_id = next(key for key in entities if "_event_shock" in key and "parcel" not in key)
    shock, component = entities[unique_id]
    before = (await home.states())[shock]["state"]

    def event(seconds, number):
        text = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() - seconds))
        return json.dumps({"seq": number, "kind": "shock", "wall_time": text})

    topics.publish(component["stat_t"], event(3 * 3600, 900001))
    await asyncio.sleep(SILENCE)
    check((await home.states())[shock]["state"] == before, "an event of three hours ago is passed over")
    topics.publish(component["stat_t"], event(0, 900002))
    states, _ = await home.wait(lambda states: states[shock]["state"] != before)
    check(states[shock]["attributes"].get("seq") == 900002, "one of now is taken")

    # A wrong key.
    dropped = {topic: unknown_keys(device) for topic, device in topics.devices().items()}
    check(not any(dropped.values()), "Home Assistant knows each key of each component", str(dropped) if any(dropped.values()) else "")
    topic, good = next(iter(topics.devices().items()))
    for what, change in (("at the top", lambda one: one.update(nonsense=1)),
                         ("for an origin", lambda one: one.pop("o")),
                         ("of a unit", lambda one: next(c for c in one["cmps"].values() if "stat_cla" in c).update(unit_of_meas="deg", stat_cla="measurement_angle"))):
        bad = copy.deepcopy(next((one for one in topics.devices().values() if "mast" in one["dev"]["name"]), good))
        bad["dev"]["ids"] = ["wrong_key"]
        for name, one in bad["cmps"].items():
            if "uniq_id" in one:
                one["uniq_id"] = "wrong_key_" + name
        change(bad)
        count = len([one for one in bad["cmps"].values() if "uniq_id" in one])
        topics.publish("homeassistant/device/wrong_key/config", json.dumps(bad), retain=True)
        await asyncio.sleep(SILENCE)
        there = [key for key in await home.entities() if key.startswith("wrong_key_")]
        check(len(there) < count, f"a wrong key {what} is refused, and the entities show it", f"{len(there)} of {count}")
        topics.publish("homeassistant/device/wrong_key/config", "", retain=True)
        await asyncio.sleep(1)
    misspelt = copy.deepcopy(good)
    next(one for one in misspelt["cmps"].values() if "uniq_id" in one)["device_clas"] = "x"
    check(len(unknown_keys(misspelt)) == 1, "a wrong key of a component, which it drops in silence, is found", unknown_keys(misspelt))

    # A reload without a sensor, and without discovery.
    text = Daemon.path.read_text()
    parcel = [entity for key, (entity, _) in entities.items() if "_parcel_" in key]
    less = text.replace("[sensor.parcel]", "[sensor.parcel]\nenabled = false").replace("[motion.parcel]", "[motion.parcel]\nenabled = false")
    daemon.reload(less)
    _, is_gone = await home.wait(lambda states: not any(one in states for one in parcel))
    states = await home.states()
    check(is_gone and all(one in states for one in names if one not in parcel), "a sensor that a reload removes is gone, and no other")
    daemon.reload(less.replace('discovery = "homeassistant"', 'discovery = "none"'))
    _, is_gone = await home.wait(lambda states: not any(one in states for one in names))
    check(is_gone and not topics.devices(), 'discovery = "none" removes all')

    daemon.end(signal.SIGTERM)
    await home.stop()
    broker.stop()


async def main():
    async with aiohttp.ClientSession() as session:
        await run(session)


raise_loopback()
asyncio.run(main())
harness.finish()
