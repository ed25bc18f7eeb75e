"""The networks that come with the package."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import as_file, files

from coembed.network.network import Network
from coembed.network.readers.npz import read_npz
from coembed.network.readers.read import read


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


def demo_tables() -> Network:
    """Read the bundled tables of WordNet: nouns, verbs and words, how they are joined, and areas to learn.

    Senses of four areas each that are joined to two others at least; the licence lies beside the tables.

    Examples
    --------
    >>> demo = demo_tables()
    >>> [(name, len(demo.types[name])) for name in demo.entity_types]
    [('nouns', 305), ('verbs', 231), ('words', 684)]
    >>> [relation.name for relation in demo.entity_relations]
    ['acts', 'kinds', 'noun_words', 'parts', 'verb_words', 'ways']
    """
    with as_file(files("coembed.network") / "bundled" / "wordnet-tables") as path:
        return read(path, labels=["nouns.area", "verbs.area"])
