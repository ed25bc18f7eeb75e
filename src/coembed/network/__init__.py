"""The network: what it is, how it is read, written and split. Knows nothing of torch."""

from coembed.network.data import UNKNOWN, Network
from coembed.network.demo import demo_network
from coembed.network.mapped import open_mapped
from coembed.network.names import Names
from coembed.network.published import published_masks
from coembed.network.reading import read
from coembed.network.splitfile import load_split, save_split
from coembed.network.splits import LabelSplit, PairSplit, hide, split_attributes, split_labels, split_links
from coembed.network.summary import summary
from coembed.network.synthetic import synthesize, true_classes
from coembed.network.writing import write

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
