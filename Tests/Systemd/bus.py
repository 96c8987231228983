#!/usr/bin/python3 -B
"""A desktop's part on the system bus: claims sensors of net.hadess.SensorProxy, and prints what it is sent, a line for each.

Usage: bus.py SENSOR…, such as Accelerometer or Compass. It asks as libsystemd does, because a small system has no other library.
"""

import ctypes
import sys

NAME = "net.hadess.SensorProxy"
PATH = "/net/hadess/SensorProxy"
library = ctypes.CDLL("libsystemd.so.0")


class Error(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("message", ctypes.c_char_p), ("is_ours", ctypes.c_int)]


# What returns a text, or takes something that is wider than an int.
library.sd_bus_message_get_member.restype = ctypes.c_char_p
library.sd_bus_message_get_member.argtypes = [ctypes.c_void_p]
library.sd_bus_wait.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
library.sd_bus_process.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
library.sd_bus_message_unref.argtypes = [ctypes.c_void_p]
READ = {b"s": ctypes.c_char_p, b"b": ctypes.c_int, b"d": ctypes.c_double}


class Bus:
    """A connection to the system bus."""

    def __init__(self):
        self.bus = ctypes.c_void_p()
        self._need(library.sd_bus_open_system(ctypes.byref(self.bus)), "connect")

    def call(self, name, path, interface, member, *texts):
        """Calls a method with some texts; None, or the error's name and message."""
        error = Error()
        words = [ctypes.c_char_p(word.encode()) for word in (name, path, interface, member)]
        status = library.sd_bus_call_method(
            self.bus, *words, ctypes.byref(error), None, b"s" * len(texts), *(text.encode() for text in texts))
        return None if status >= 0 else f"{(error.name or b'?').decode()}: {(error.message or b'?').decode()}"

    def claim(self, sensor):
        place = "/Compass" if sensor == "Compass" else ""
        return self.call(NAME, PATH + place, NAME + place.replace("/", "."), f"Claim{sensor}")

    def changes(self):
        """What a next signal of changed properties has, as pairs of name and value; waits for it."""
        while True:
            message = ctypes.c_void_p()
            status = library.sd_bus_process(self.bus, ctypes.byref(message))
            self._need(status, "process")
            if not message:
                if status == 0:
                    library.sd_bus_wait(self.bus, 2 ** 64 - 1)
                continue
            try:
                if library.sd_bus_message_get_member(message) == b"PropertiesChanged":
                    return list(self._properties(message))
            finally:
                library.sd_bus_message_unref(message)

    def _properties(self, message):
        self._read(message, b"s")
        library.sd_bus_message_enter_container(message, ctypes.c_char(b"a"), b"{sv}")
        while library.sd_bus_message_enter_container(message, ctypes.c_char(b"e"), b"sv") > 0:
            name, contents = self._read(message, b"s").decode(), ctypes.c_char_p()
            library.sd_bus_message_peek_type(message, None, ctypes.byref(contents))
            kind = contents.value
            library.sd_bus_message_enter_container(message, ctypes.c_char(b"v"), kind)
            value = self._read(message, kind)
            yield name, value.decode() if kind == b"s" else bool(value) if kind == b"b" else value
            library.sd_bus_message_exit_container(message)
            library.sd_bus_message_exit_container(message)

    @staticmethod
    def _read(message, kind):
        value = READ[kind]()
        Bus._need(library.sd_bus_message_read_basic(message, ctypes.c_char(kind), ctypes.byref(value)), "read")
        return value.value

    @staticmethod
    def _need(status, what):
        if status < 0:
            raise OSError(-status, what)


def main():
    bus = Bus()
    # Values are sent to a claimer alone; every client has to ask which sensors there are.
    bus.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "AddMatch",
             f"type='signal',sender='{NAME}',interface='org.freedesktop.DBus.Properties'")
    for sensor in sys.argv[1:]:
        print(f"asks for {sensor}", flush=True)
        refusal = bus.claim(sensor)
        print(f"{sensor}: {refusal or 'claimed'}", flush=True)
        if refusal:
            return 1
    while True:
        print(" ".join(f"{name}={value}" for name, value in bus.changes()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
