"""Recordings in folders and in object stores, and their bytes under a path that the program can open."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import pyarrow.fs

from .schema import partition_keys

#: The ends of the names of recordings.
SUFFIXES = (".arrows", ".csv", ".evemu", ".arrows.zst", ".csv.zst", ".evemu.zst")
#: Up to this size the bytes of an object are kept in memory, and above it in an unnamed file of the temporary folder.
MOST_IN_MEMORY = 1 << 30
_PIECE = 8 << 20


@dataclass(frozen=True)
class Recording:
    """A recording: where it is, its name in the table, and its size in bytes.

    `store` is the URI of the object store in which `path` is; without one it is a file.
    """

    path: str
    name: str
    size: int = 0
    store: str | None = None


def is_remote(path: str) -> bool:
    """Whether a path is the URI of an object store, such as `s3://bucket/fleet`."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path) is not None


def find(root: str, suffixes: Sequence[str] = SUFFIXES) -> Iterator[Recording]:
    """The recordings in a folder, or below a URI of pyarrow.fs such as `s3://bucket/fleet?region=eu-central-1`."""
    if not is_remote(root):
        if not os.path.isdir(root):
            if not os.path.exists(root):
                raise FileNotFoundError(f"{root}: there is no such folder")
            yield Recording(os.path.abspath(root), _text(os.path.basename(root)), os.stat(root).st_size)
            return
        for folder, folders, names in os.walk(root):
            folders.sort()
            for name in sorted(names):
                if name.endswith(tuple(suffixes)):
                    path = os.path.join(folder, name)
                    # A link without its file is a recording that is missing, which becomes a row.
                    size = os.stat(path).st_size if os.path.exists(path) else 0
                    yield Recording(os.path.abspath(path), _text(os.path.relpath(path, root)), size)
        return
    system, base = _store(root)
    selector = pyarrow.fs.FileSelector(base, recursive=True)
    for info in sorted(system.get_file_info(selector), key=lambda info: str(info.path)):
        if info.is_file and info.path.endswith(tuple(suffixes)):
            yield Recording(info.path, os.path.relpath(info.path, base), info.size or 0, root)


class Opened(AbstractContextManager["Opened"]):
    """A recording under a path that the program can open, as long as the `with` statement lasts.

    The bytes of an object come into an anonymous file, so nothing is written to a disk. The program finds it through
    the descriptor of this process, below a link with the recording's own name, because a name says what a file is.
    """

    def __init__(self, recording: Recording) -> None:
        self.path = recording.path
        self.name = recording.name
        #: What people call it, where the program calls it by the path of a link.
        self.shown = recording.path
        self._descriptor = -1
        self._is_in_memory = recording.store is not None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        try:
            if recording.store:
                self._descriptor = _fetched(recording)
                self._link(recording, f"/proc/{os.getpid()}/fd/{self._descriptor}")
            elif not _is_plain(recording.path):
                self._link(recording, recording.path)
        except BaseException:
            self.close()
            raise

    def _link(self, recording: Recording, target: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="binnacle-")
        name = os.path.basename(recording.name)
        # The program finds the device's calibration by this folder.
        device = partition_keys(recording.name).get("device")
        folder = os.path.join(self._folder.name, f"device={device}") if device and _is_plain(device) else self._folder.name
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, name if _is_plain(name) else "recording")
        os.symlink(target, self.path)
        self.shown = recording.name

    @property
    def is_in_memory(self) -> bool:
        """Whether it holds the bytes of an object."""
        return self._is_in_memory

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forgets the bytes."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._folder:
            self._folder.cleanup()
            self._folder = None


@functools.lru_cache(maxsize=8)
def _store(uri: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """An object store, whose connections are kept, and the path that its URI names."""
    system, path = pyarrow.fs.FileSystem.from_uri(uri)
    return system, path


def _text(name: str) -> str:
    """A file's name as text, also where its bytes are no UTF-8."""
    return name.encode(errors="replace").decode()


def _is_plain(path: str) -> bool:
    """Whether a path is one line of UTF-8, as the program reads it."""
    try:
        return "\n" not in path and bool(path.encode())
    except UnicodeEncodeError:
        return False


def _fetched(recording: Recording) -> int:
    """An anonymous file with an object's bytes; raises FileNotFoundError when the object is gone."""
    with _store(recording.store or "")[0].open_input_stream(recording.path) as stream:
        if recording.size > MOST_IN_MEMORY:
            descriptor = os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
        else:
            descriptor = os.memfd_create("recording", os.MFD_CLOEXEC)
        try:
            while piece := stream.read(_PIECE):
                view = memoryview(piece)
                while view:
                    view = view[os.write(descriptor, view):]
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor
