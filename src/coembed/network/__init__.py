"""The network: what it is, how it is read, written and split. Knows nothing of torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coembed.network.data import UNKNOWN, Network
from coembed.network.summary import summary

if TYPE_CHECKING:
    from coembed.network.demo import demo_network
    from coembed.network.mapped import open_mapped
    from coembed.network.names import Names
    from coembed.network.published import published_masks
    from coembed.network.reading import read
    from coembed.network.splitfile import load_split, save_split
    from coembed.network.splits import (
        LabelSplit,
        PairSplit,
        hide,
        split_attributes,
        split_labels,
        split_links,
    )
    from coembed.network.synthetic import synthesize, true_classes
    from coembed.network.writing import write

# Fetched when first asked for: a question to a saved model waits for no reader of files.
_HOMES = {
    "demo_network": "demo",
    "open_mapped": "mapped",
    "Names": "names",
    "published_masks": "published",
    "read": "reading",
    "load_split": "splitfile",
    "save_split": "splitfile",
    "LabelSplit": "splits",
    "PairSplit": "splits",
    "hide": "splits",
    "split_attributes": "splits",
    "split_labels": "splits",
    "split_links": "splits",
    "synthesize": "synthetic",
    "true_classes": "synthetic",
    "write": "writing",
}

__all__ = [
    "UNKNOWN",
    "LabelSplit",
    "Names",
    "Network",
    "PairSplit",
    "demo_network",
    "hide",
    "load_split",
    "open_mapped",
    "published_masks",
    "read",
    "save_split",
    "split_attributes",
    "split_labels",
    "split_links",
    "summary",
    "synthesize",
    "true_classes",
    "write",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coembed.network' has no attribute {name!r}")
    return getattr(import_module(f"coembed.network.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
