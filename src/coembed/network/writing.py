"""A network to a file or folder."""

from __future__ import annotations

from pathlib import Path

from coembed.network.data import Network
from coembed.network.npz import write_npz


def write(network: Network, path: str | Path, format: str | None = None) -> None:
    """Write a network; nothing half-written is left behind."""
    write_npz(network, Path(path))
