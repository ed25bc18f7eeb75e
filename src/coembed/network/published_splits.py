"""The split of SCAN's public code, leak included: to compare with the printed numbers, for nothing else."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.network.network import Network
from coembed.network.pairs import ACROSS, entries, without
from coembed.network.splits import PairSplit, make_pair_split

VALIDATION, TEST = 0.05, 0.10
_PURPOSE = 100


def published_masks(network: Network, seed: int = 0) -> tuple[Network, PairSplit, PairSplit]:
    """Hide 5 % + 10 % of the *directed* link entries and of the attribute entries, as the public code does.

    The leak: the two directions of a link are hidden independently of each other, then what is left is
    mirrored. So a hidden link stays visible unless both of its directions were hidden: about 85 % of the
    test links are in the visible network. Never use its link figures beside those of :func:`split_links`.

    (The public code adds the two directions up, which gives values 1 and 2; here a link is present or not.)

    Returns
    -------
    visible, links, attributes
        The network to train on, and what to ask about. The pairs of `links` are directed entries; its
        `visible` method would hide them properly, which is not what that code did: use the network given.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> demo = demo_network()
    >>> visible, links, _ = published_masks(demo, seed=0)
    >>> leaked = visible.links[links.test[:, 0], links.test[:, 1]] > 0
    >>> bool(leaked.mean() > 0.8)
    True
    """
    rng = np.random.default_rng([_PURPOSE, seed])
    link_validation, link_test = _hidden(network.links, rng)
    attribute_validation, attribute_test = _hidden(network.attributes, rng)

    hidden = np.concatenate([link_validation, link_test])
    left = without(network.links, hidden, ACROSS)  # one direction only: no mirror images
    mirrored = left.maximum(left.T.tocsr()).tocsr()
    mirrored.data = np.ones_like(mirrored.data)
    mirrored.sort_indices()
    visible = network.with_matrices(
        links=sp.csr_array(mirrored),
        attributes=without(
            network.attributes, np.concatenate([attribute_validation, attribute_test]), ACROSS
        ),
    )
    return (
        visible,
        make_pair_split(network, network.relation("links"), link_validation, link_test, rng),
        make_pair_split(network, network.relation("attributes"), attribute_validation, attribute_test, rng),
    )


def _hidden(matrix: sp.csr_array, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    order = rng.permutation(entries(matrix))
    n_validation, n_test = int(VALIDATION * len(order)), int(TEST * len(order))
    return order[:n_validation], order[n_validation : n_validation + n_test]
