"""Views fit a budget of bytes over all types; what is planned is what is made."""

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.fitted import load, save
from coembed.network import Column, Items, Network, Relation, demo_network
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.fit import affordable
from coembed.views import budget, look, readings
from coembed.views.budget import ViewPlan, dense_columns, plan_views, planned_lenses, suitable_epochs


def bytes_of(network, seen):
    return sum(view.nbytes for name in network.entity_types for view in seen.types[name].dense.values())


def seen_by(network, rank):
    return look(network, readings(network), rank, neighbours=3)


@pytest.mark.parametrize("network", [demo_network(), general_network()], ids=["plain", "general"])
def test_what_is_planned_is_what_is_made(network):
    seen = seen_by(network, 8)
    planned = dense_columns(planned_lenses(network, ViewPlan(8)))
    for name in network.entity_types:
        made = [view.shape[1] for view in seen.types[name].dense.values()]
        assert sorted(made) == sorted(planned[name].values())


@pytest.mark.parametrize("share", [0.7, 0.4, 0.2])
def test_views_keep_to_the_budget(monkeypatch, share):
    network = general_network()
    whole = bytes_of(network, seen_by(network, 16))
    monkeypatch.setattr(budget, "BYTES", int(share * whole))
    monkeypatch.setattr(budget, "LEAST_RANK", 1)
    plan = plan_views(network, 16)
    assert plan != ViewPlan(16)
    assert bytes_of(network, seen_by(network, 16)) <= share * whole
    assert plan_views(network, plan.rank) == plan  # settings keep the rank, the rest is found again
    settings, (said,) = affordable(preset_settings("best", rank=16), network)
    assert settings.rank == plan.rank
    assert said.startswith("180 items: ")


def test_more_types_leave_less_for_each(monkeypatch):
    monkeypatch.setattr(budget, "UNITS", 64 * 120)
    network = general_network()
    people = network.items("person")
    assert budget.affordable_hidden(network, 64, plan_views(network, 16)) < 64
    alone = Network.build(sp.csr_array((len(people), len(people))), np.ones((len(people), 3)))
    assert budget.affordable_hidden(alone, 64, plan_views(alone, 16)) == 64


@pytest.mark.parametrize(
    ("entries", "epochs"), [(100, 150), (200_000, 150), (240_000, 125), (300_000, 100), (900_000, 100)]
)
def test_where_an_epoch_is_cheap_there_are_more(entries, epochs):
    """Entries of links and attributes together."""
    links = sp.csr_array(np.ones((10, 10)) - np.eye(10))
    rest = np.ones(entries - links.nnz), (np.arange(entries - links.nnz) % 10, np.arange(entries - 90) // 10)
    assert suitable_epochs(Network.build(links, sp.csr_array(rest))) == epochs


@pytest.mark.parametrize("preset", ["best", "paper"])
def test_epochs_that_somebody_asks_for_are_kept(preset):
    asked = {"dim": 3, "hidden": 4, "rank": 4, "space_dim": 0, "label_ensemble": 0}
    network = Network.build(np.eye(30)[::-1], np.eye(30))
    for epochs, done in ((0, 150), (2, 2), (100, 100)):
        fitted = fit(network, preset_settings(preset, epochs=epochs, **asked))
        assert len(fitted.history["loss"]) == fitted.settings["epochs"] == done


def wide(values=200, each=5):
    """People of many towns, one of which each is rich."""
    town = np.repeat(np.arange(values), each)
    n = len(town)
    column = Column("town", "category", 0, values)
    towns = sp.csr_array((np.ones(n), (np.arange(n), town)), shape=(n, values + 1))
    income = sp.csr_array(np.eye(1, values + 1, values).repeat(n, axis=0) * (town % 7 - 3)[:, None])
    return Network.of(
        [Items.build("person", n), Items.build("person.attributes", values + 1)],
        [
            Relation.build(
                "town", "person", "person.attributes", towns, "categorical", "unknown", column=column
            ),
            Relation.build(
                "income",
                "person",
                "person.attributes",
                income,
                "gaussian",
                "unknown",
                column=Column("income", "number", values, values + 1),
            ),
        ],
    )


def test_values_of_a_wide_category_share_features(monkeypatch, tmp_path):
    network = wide()
    assert seen_by(network, 8).types["person"].dense["cells"].shape[1] == 200 + 2
    monkeypatch.setattr(budget, "BYTES", 4 * len(network.main) * 200)
    views = seen_by(network, 8).types["person"]
    cells, place = views.dense["cells"], views.place
    assert cells.shape[1] == len(place) == budget.CODED + 2
    towns = cells[:, place == 0]
    np.testing.assert_allclose(np.linalg.norm(towns, axis=1), 1, rtol=1e-5)
    alike = towns[::5] @ towns[::5].T - np.eye(200)
    assert np.abs(alike).max() < 0.7
    np.testing.assert_array_equal(towns[0], towns[4])
    fitted = fit(network, preset_settings("best", epochs=2, space_dim=0))
    loaded = load(save(fitted, tmp_path / "model"))
    rows = {name: network.relation(name).values[[7]] for name in ("town", "income")}
    np.testing.assert_allclose(
        loaded.place("person", rows).latents.mean[0], fitted.latents("person").mean[7], atol=1e-4
    )
