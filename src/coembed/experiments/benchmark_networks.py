"""The benchmark networks: their names, their order in tables, and how a folder of them is opened."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from coembed.errors import InputError
from coembed.network import Network, demo_network, read

TITLES = {
    "pubmed": "Pubmed",
    "flickr": "Flickr",
    "blogcatalog": "BlogCatalog",
    "cora": "Cora",
    "citeseer": "CiteSeer",
    "wordnet-demo": "WordNet",
}
"""In the order of the paper's tables, then those that it does not have."""
PAPER = ("pubmed", "flickr", "blogcatalog")
BUNDLED = "wordnet-demo"
SMALL = ("wordnet-demo", "cora")


def networks_in(data: Path) -> tuple[str, ...]:
    """Names of the benchmark networks that can be opened: those of the folder, and the bundled one."""
    if not data.is_dir():
        raise InputError(f"{data} is not a folder; name the one that holds pubmed.npz, flickr.npz ...")
    return tuple(name for name in TITLES if name == BUNDLED or (data / f"{name}.npz").is_file())


def chosen_networks(data: Path, asked: tuple[str, ...]) -> tuple[str, ...]:
    """Those asked for, each of which must be there; all there are if none is asked for."""
    there = networks_in(data)
    for name in asked:
        if name not in TITLES:
            raise InputError(f"there is no benchmark network {name!r}; known: {', '.join(TITLES)}")
        if name not in there:
            raise InputError(f"{data / name}.npz does not exist; found: {', '.join(there)}")
    return tuple(name for name in there if not asked or name in asked)


@lru_cache(maxsize=2)
def open_network(name: str, data: Path) -> Network:
    """The network of that name; the last two stay in memory, as neighbouring cells share them."""
    return demo_network() if name == BUNDLED else read(data / f"{name}.npz")
