"""The network that comes with the package."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from coembed.network.network import Network
from coembed.network.readers.npz import read_npz


def demo_network() -> Network:
    """Read the bundled WordNet network: noun senses, their relations, words that define them, seven topics.

    Its licence lies beside the file (``WORDNET-LICENSE.txt``).

    Examples
    --------
    >>> demo = demo_network()
    >>> demo.n_nodes, demo.n_links, demo.n_attributes, list(demo.class_names)[:3]
    (1476, 3682, 626, ['animal', 'artifact', 'body'])
    """
    with as_file(files("coembed.network") / "bundled" / "wordnet-demo.npz") as path:
        return replace(read_npz(path), name="wordnet-demo")
