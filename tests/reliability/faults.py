"""Disks that fail: every step of writing in turn, a limit of size, and a power cut after any of them."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

STEPS = ("replace", "rename", "fsync", "mkdir")


class Faults:
    """Counts the steps of writing, and lets one of them fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
        """`number` is that of the error."""
        self.number, self.done, self.fails = number, 0, -1
        for name in STEPS:
            monkeypatch.setattr(os, name, self._step(getattr(os, name)))
        monkeypatch.setattr("coembed.files._swapped", self._step(_swapped()))

    @contextmanager
    def at(self, step: int) -> Iterator[None]:
        """Within, that step fails; `done` says how many there were."""
        self.done, self.fails = 0, step
        try:
            yield
        finally:
            self.fails = -1

    def _step(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            if self.fails >= 0:
                self.done += 1
                if self.done == self.fails:
                    raise OSError(self.number, os.strerror(self.number))
            return real(*arguments, **options)

        return step


def _swapped() -> Callable[[Path, Path], bool]:
    from coembed import files

    return files._swapped


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file can grow beyond a size, whichever library writes it: as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Disk:
    """What of a folder would be there after a power cut: only what was brought to the disk.

    The content of a file counts once the file was flushed, a name once its folder was. After each flush and
    each change of a name, `after` is called with a copy of what would be left.
    """

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, after: Callable[[Path], None]) -> None:
        self.root, self.after, self.cuts = root, after, 0
        self.contents: dict[int, bytes] = {}
        self.names: dict[int, dict[str, int]] = {}
        self.kept: dict[int, Any] = {}  # open, so that no number of a file is used again
        for folder, _, files in os.walk(root):
            for file in files:
                self._flush(Path(folder) / file)
            self._flush(Path(folder))
        real_sync, real_replace, real_rename = os.fsync, os.replace, os.rename

        def sync(handle: int) -> None:
            real_sync(handle)
            self._flush(Path(os.readlink(f"/proc/self/fd/{handle}")))
            self._cut()

        def moved(real: Callable[..., None]) -> Callable[..., None]:
            def move(source: Any, target: Any) -> None:
                real(source, target)
                self._cut()

            return move

        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(os, "replace", moved(real_replace))
        monkeypatch.setattr(os, "rename", moved(real_rename))
        swap = _swapped()

        def swapped(first: Path, second: Path) -> bool:
            done = swap(first, second)
            self._cut()
            return done

        monkeypatch.setattr("coembed.files._swapped", swapped)

    def _flush(self, path: Path) -> None:
        if not path.exists() or not path.is_relative_to(self.root):
            return
        number = path.stat().st_ino
        if path.is_dir():
            self.names[number] = {name: (path / name).lstat().st_ino for name in os.listdir(path)}
        else:
            self.kept.setdefault(number, path.open("rb"))
            self.contents[number] = path.read_bytes()

    def _cut(self) -> None:
        self.cuts += 1
        left = self.root.with_name(f"{self.root.name}-after-{self.cuts}")
        self._lay_out(self.root.stat().st_ino, left)
        self.after(left)
        shutil.rmtree(left)

    def _lay_out(self, number: int, to: Path) -> None:
        to.mkdir()
        for name, inside in self.names.get(number, {}).items():
            if inside in self.names:
                self._lay_out(inside, to / name)
            elif inside in self.contents:
                (to / name).write_bytes(self.contents[inside])
            else:
                (to / name).write_bytes(b"")  # a name without content
