"""The sensors for the programs of IIO: a process of its own for each connection, which the socket unit starts."""

import os
import socket
import struct

from harness import expect, need, run, started, test, wait_for, write
from sandbox import expect_no_rights, status_of
from views import VIEWED_BOX, instances, listening

SERVE, UNIT = 30431, "binnacle-serve.socket"


class Client:
    """What libiio sends, by a connection."""
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", SERVE), timeout=60)
        self.stream = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\r\n")
        return self.stream.readline().decode().strip()

    def devices(self):
        """The document of the context."""
        text = self.stream.read(int(self.ask("PRINT"))).decode()
        self.stream.readline()
        return text

    def stamps(self, device, count):
        """The stamps of so many samples, which are all that is chosen of a device of three axes."""
        expect(self.ask(f"OPEN {device} {count} 00000008") == "0", "the buffer is not opened")
        missing, found = 8 * count, b""
        length = self.ask(f"READBUF {device} {missing}")
        expect(self.stream.readline().strip() == b"00000008", "no mask before the samples")
        while missing:
            expect(int(length) > 0, f"an answer of {length}")
            found += self.stream.read(int(length))
            missing -= int(length)
            length = self.stream.readline() if missing else b"0"
        expect(self.ask(f"CLOSE {device}") == "0", "the buffer is not closed")
        return [stamp for stamp, in struct.iter_unpack("<q", found)]

    def close(self):
        self.stream.close()
        self.socket.close()


@test
def iio_clients_are_served_by_processes_without_rights():
    started(VIEWED_BOX)
    wait_for("the daemon at its socket", lambda: run("/usr/bin/binnacle", "status")[0] == 0)
    expect(run("systemctl", "is-enabled", UNIT)[1].strip() == "disabled" and SERVE not in listening(), "it is on by itself")
    need("systemctl", "enable", "--now", UNIT)
    clients = [Client() for _ in range(3)]
    for client in clients:
        expect(client.ask("VERSION") == "0.24.binnacl", "another protocol")
        expect('name="box-accel"' in client.devices(), "the sensor is not there")
    for client in clients:
        stamps = client.stamps("box-accel", 50)
        expect(all(a < b for a, b in zip(stamps, stamps[1:])), f"stamps: {stamps}")
        expect(client.ask("WRITE box-accel sampling_frequency 1\r\nx") == "-30", "what changes something is answered")
    found = instances("binnacle-serve")
    expect(len(found) == 3, f"processes: {found}")
    status = status_of(found[0])
    expect_no_rights(status)
    user = int(status["Uid"].split()[0])
    expect(user not in (0, int(run("id", "-u", "binnacle")[1])), f"it runs as {user}")
    expect(os.readlink(f"/proc/{found[0]}/ns/net") != os.readlink("/proc/1/ns/net"), "it has the machine's network")
    for client in clients:
        client.close()
    wait_for("the end of the processes whose clients are gone", lambda: instances("binnacle-serve") == [])
    need("systemctl", "disable", "--now", UNIT)
    expect(SERVE not in listening(), "the port stays open")


@test
def drop_in_serves_a_recording():
    """The recipe of binnacle-serve@.service."""
    os.makedirs("/srv/recordings", exist_ok=True)
    os.chmod("/srv/recordings", 0o755)
    rows = "".join(f"{i * 10**7},0,0,9.81\n" for i in range(200))
    write("/srv/recordings/walk.csv", "time_ns,box.ax_m_s2,box.ay_m_s2,box.az_m_s2\n" + rows)
    os.chmod("/srv/recordings/walk.csv", 0o644)
    path = "/etc/systemd/system/binnacle-serve@.service.d/recording.conf"
    write(path, "[Service]\nExecStart=\nExecStart=/usr/bin/binnacle serve --stdio --speed max /srv/recordings/walk.csv\n")
    need("systemctl", "daemon-reload")
    try:
        need("systemctl", "start", UNIT)
        client = Client()
        expect(client.stamps("box-accel", 200) == [i * 10**7 for i in range(200)], "other samples")
        expect(client.ask("READ box-accel sampling_frequency") == "8", "no rate")
        client.close()
    finally:
        os.unlink(path)
        run("systemctl", "daemon-reload")
        run("systemctl", "stop", UNIT)
        run("systemctl", "reset-failed")
