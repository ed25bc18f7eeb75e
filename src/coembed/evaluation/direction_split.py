"""Hiding which way the links of a directed relation go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coembed.errors import InputError
from coembed.evaluation.problem import Pairs
from coembed.network import Network
from coembed.network.pairs import DIRECTED, contains, encode, entries, uniform_negatives, without

TEST, VALIDATION = 0.10, 0.05
_PURPOSE = 17
"""Of the random numbers drawn here, so that they are not those of another split with the same seed."""


@dataclass(frozen=True, eq=False)
class DirectionSplit:
    """Links (n, 2) of a relation, each there one way only, whose way is to be told.

    Attributes
    ----------
    test, validation
        The links that are asked about.
    held
        Of the validation links those that may be shown while the test is hidden, beside absent pairs.
    """

    relation: str
    test: np.ndarray
    validation: np.ndarray
    held: Pairs

    def visible(self, network: Network, part: str = "test") -> Network:
        """The network without the links in question and all others that leave either end of them.

        Else the way could be read from who has outgoing links at all: an end that keeps some while the
        question took its partner's only one is the target.
        """
        relation = network.relation(self.relation)
        asked = self.test if part == "test" else np.concatenate([self.test, self.validation])
        found = entries(relation.values)
        leaving = found[np.isin(found[:, 0], asked)]
        gone = np.concatenate([leaving, self.validation])
        return network.with_values({self.relation: without(relation.values, gone, DIRECTED)})

    def turned(self, part: str = "test") -> Pairs:
        """The links the way they go, and the other way round."""
        asked = self.test if part == "test" else self.validation
        return Pairs(asked, asked[:, ::-1])


def split_direction(network: Network, relation: str, seed: int = 0) -> DirectionSplit:
    """Choose a tenth of the links that go one way to be asked about, a twentieth to choose settings with.

    Examples
    --------
    >>> from coembed.network import Items, Relation
    >>> chain = np.eye(40, k=1)
    >>> network = Network.of([Items.build("step", 40)], [
    ...     Relation.build("next", "step", "step", chain, directed=True)])
    >>> split = split_direction(network, "next")
    >>> len(split.test), split.visible(network).relation("next").n_entries < 39 - 4
    (4, True)
    """
    joined = network.relation(relation)
    if not joined.directed:
        raise InputError(f"relation {relation} is not directed: its links go both ways")
    if seed < 0:
        raise InputError(f"seed must be at least 0, got {seed}")
    place = list(network.relations).index(relation)
    rng = np.random.default_rng([_PURPOSE, seed, place])
    found, width = entries(joined.values), joined.values.shape[1]
    codes = np.sort(encode(found, width))
    one_way = rng.permutation(found[~contains(codes, encode(found[:, ::-1], width))])
    n_test, n_validation = round(TEST * len(one_way)), round(VALIDATION * len(one_way))
    if not n_test:
        raise InputError(
            f"{relation} has {len(one_way)} links that go one way only, too few to hide some; "
            "choose task links"
        )
    test, validation = one_way[:n_test], one_way[n_test : n_test + n_validation]
    # what is shown of the validation must not tell who of the tested has outgoing links
    shown = validation[~np.isin(validation[:, 0], test)]
    unseen = without(joined.values, test, joined.pairing)
    absent = uniform_negatives(unseen, joined.pairing, len(shown), rng)
    return DirectionSplit(relation, test, validation, Pairs(shown, absent[~np.isin(absent[:, 0], test)]))
