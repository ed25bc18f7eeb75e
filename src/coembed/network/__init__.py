"""The network: what it is, how it is read, written and split. Knows nothing of torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from coembed.network.description import summary
from coembed.network.items import UNKNOWN, Items, Labels
from coembed.network.network import Network
from coembed.network.relations import Column, Relation

if TYPE_CHECKING:
    from coembed.network.bundled_networks import demo_network, demo_tables
    from coembed.network.names import Names
    from coembed.network.published_splits import published_masks
    from coembed.network.readers.mapped import open_mapped
    from coembed.network.readers.read import read
    from coembed.network.readers.table_folder import from_tables
    from coembed.network.readers.write import write
    from coembed.network.split_files import load_split, save_split
    from coembed.network.splits import (
        CellSplit,
        LabelSplit,
        PairSplit,
        hide,
        split_attributes,
        split_cells,
        split_labels,
        split_links,
        split_pairs,
    )
    from coembed.network.synthetic import synthesize, true_classes
    from coembed.network.synthetic_customers import make_customers, write_customers

# Fetched when first asked for: a question to a saved model waits for no reader of files.
_HOMES = {
    "demo_network": "bundled_networks",
    "demo_tables": "bundled_networks",
    "make_customers": "synthetic_customers",
    "write_customers": "synthetic_customers",
    "open_mapped": "readers.mapped",
    "Names": "names",
    "published_masks": "published_splits",
    "from_tables": "readers.table_folder",
    "read": "readers.read",
    "load_split": "split_files",
    "save_split": "split_files",
    "CellSplit": "splits",
    "LabelSplit": "splits",
    "PairSplit": "splits",
    "hide": "splits",
    "split_attributes": "splits",
    "split_cells": "splits",
    "split_labels": "splits",
    "split_links": "splits",
    "split_pairs": "splits",
    "synthesize": "synthetic",
    "true_classes": "synthetic",
    "write": "readers.write",
}

__all__ = [
    "UNKNOWN",
    "CellSplit",
    "Column",
    "Items",
    "LabelSplit",
    "Labels",
    "Names",
    "Network",
    "PairSplit",
    "Relation",
    "demo_network",
    "demo_tables",
    "from_tables",
    "hide",
    "load_split",
    "make_customers",
    "open_mapped",
    "published_masks",
    "read",
    "save_split",
    "split_attributes",
    "split_cells",
    "split_labels",
    "split_links",
    "split_pairs",
    "summary",
    "synthesize",
    "true_classes",
    "write",
    "write_customers",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'coembed.network' has no attribute {name!r}")
    return getattr(import_module(f"coembed.network.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
