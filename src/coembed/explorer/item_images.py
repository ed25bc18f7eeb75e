"""Pictures of items, from a folder: called as their ids, in a folder of their type or all in one."""

from __future__ import annotations

from pathlib import Path

from coembed.errors import InputError
from coembed.network.network import Network

ENDINGS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
"""What is shown, and what it is called; no pictures that can hold scripts."""
LARGEST = 8_000_000


def find_images(folder: Path, network: Network) -> dict[str, dict[int, Path]]:
    """The pictures of the items of each type that is no attribute, by position.

    They are looked up once: no path that a request gives is ever opened.
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder of pictures; give one with files such as ID.png")
    found: dict[str, dict[int, Path]] = {}
    for type in network.entity_types:
        own, items = folder / type, network.items(type)
        files = sorted((own if own.is_dir() else folder).iterdir())
        pictures = [file for file in files if file.suffix.lower() in ENDINGS and file.is_file()]
        rows = ((items.find(file.stem), file) for file in pictures)
        found[type] = {row: file for row, file in rows if row is not None}
    if not any(found.values()):
        raise InputError(f"{folder} has no picture of any item; call them ID.png, ID.jpg or ID.webp")
    return found


def read_image(path: Path) -> tuple[bytes, str]:
    """A picture and what it is."""
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path.name} is larger than {LARGEST:,} bytes; make it smaller")
    return path.read_bytes(), ENDINGS[path.suffix.lower()]
