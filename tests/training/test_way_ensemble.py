"""Trees that tell which way links go: from what, how much better, the same when kept."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.errors import InputError
from coembed.fitted import load, save
from coembed.fitted.way_models import views_that_read
from coembed.network import Column, Items, Network, Relation
from coembed.network.pairs import DIRECTED, entries, without
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.views import find_lens, readings

N = 150


def heights(seed=0):
    """Links go from whoever is nearer to the middle to whoever is farther: no line tells the way."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N)
    pairs = rng.integers(N, size=(900, 2))
    pairs = np.unique(pairs[np.abs(x[pairs[:, 0]]) + 0.2 < np.abs(x[pairs[:, 1]])], axis=0)
    links = sp.csr_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(N, N))
    asked = pairs[rng.permutation(len(pairs))[:60]]
    cells = sp.csr_array(x[:, None])
    network = Network.of(
        [Items.build("step", N), Items.build("step.attributes", 1)],
        [
            Relation.build("next", "step", "step", links, directed=True),
            Relation.build(
                "x",
                "step",
                "step.attributes",
                cells,
                "gaussian",
                "unknown",
                column=Column("x", "number", 0, 1),
            ),
        ],
    )
    leaving = pairs[np.isin(pairs[:, 0], asked)]
    seen = without(network.relation("next").values, leaving, DIRECTED)
    return network.with_values({"next": seen}), asked


@pytest.fixture(scope="module")
def fitted():
    return fit(heights()[0], preset_settings("best", epochs=15, space_dim=0))


def test_the_way_is_told_where_no_line_tells_it(fitted):
    asked = heights()[1]
    alone = replace(
        fitted, relations={name: replace(fit, ways=None) for name, fit in fitted.relations.items()}
    )
    right = [np.mean(each.direction("next", asked) > 0) for each in (fitted, alone)]
    assert right[0] > 0.8
    assert right[0] > right[1]


def test_the_other_way_round_is_the_opposite(fitted):
    asked = heights()[1]
    np.testing.assert_allclose(
        fitted.direction("next", asked), -fitted.direction("next", asked[:, ::-1]), atol=1e-5
    )


def test_what_leaves_an_end_and_the_pair_itself_do_not_count(fitted):
    """With the links that leave it, or without: the trees say the same of an item, but for who is counted."""
    links, ways = fitted.network.relation("next").values, fitted.relations["next"].ways
    pair = entries(links)[:1]
    views = fitted.trained.views["step"]
    before = ways.told(views, links, pair)
    alone = links.copy().tolil()
    alone[pair[0, 0], pair[0, 1]] = 0
    np.testing.assert_array_equal(ways.told(views, sp.csr_array(alone), pair), before)


def test_views_that_read_a_relation_are_not_read():
    network = general_network()
    lens = find_lens(network, readings(network), rank=6, neighbours=3)
    reading = views_that_read(lens, "person", "follows")
    place = list(network.relations).index("follows")
    assert {"position", "linked", "linked2", "linked3", "alike_linked", "cells_linked"} <= reading
    assert {f"r{place}out_own", f"r{place}in_own"} <= reading
    assert "alike" not in reading
    saw = f"r{list(network.relations).index('saw')}out_own"
    assert saw not in reading
    assert saw in {step.name for step in lens.types["person"].steps}


def test_trees_of_ways_are_kept_and_checked(fitted, tmp_path):
    asked = heights()[1]
    loaded = load(save(fitted, tmp_path / "model"))
    np.testing.assert_array_equal(loaded.direction("next", asked), fitted.direction("next", asked))
    ways = replace(fitted.relations["next"].ways, units=np.array([1.0, 0.0]))
    broken = {**fitted.relations, "next": replace(fitted.relations["next"], ways=ways)}
    with pytest.raises(InputError, match="divide by zero"):
        save(replace(fitted, relations=broken), tmp_path / "other")
