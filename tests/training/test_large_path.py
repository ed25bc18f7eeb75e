"""The way of a very large network, walked by a small one: every limit is lowered, nothing may break."""

import numpy as np
import pytest

from coembed.fitted import load, nearest_index, save
from coembed.model import row_chunks
from coembed.network import synthesize, true_classes
from coembed.settings import preset_settings
from coembed.training import fit, holdout, label_ensemble, pair_score_weights
from coembed.views import budget, decomposition, nearest_neighbours

NODES, CLASSES = 1500, 4


@pytest.fixture
def large(monkeypatch):
    pytest.importorskip("faiss")
    for module, limits in {
        row_chunks: {"WHOLE": 300, "PART": 256, "MEMORY": 0.0},
        decomposition: {"MANY_ROWS": 300, "ROWS": 500, "NUMBERS": 24 * NODES},
        budget: {"UNITS": 20 * NODES},
        nearest_neighbours: {"EXACT_ROWS": 200, "MOST_ROWS": 500, "SEARCHED": 256},
        label_ensemble: {"MANY": 100, "ASIDE": 50},
        holdout: {"MOST_PAIRS": 2000},
        pair_score_weights: {"WEIGHED": 40},
        nearest_index: {"EXACT_ITEMS": 1000},
    }.items():
        for name, value in limits.items():
            monkeypatch.setattr(module, name, value)


def test_it_learns_is_saved_and_answers(large, tmp_path):
    network = synthesize(
        nodes=NODES, links=6 * NODES, attributes=200, entries=20 * NODES, classes=CLASSES, labels=0.3
    )
    fitted = fit(network, preset_settings(epochs=40, dim=16))
    assert fitted.settings["rank"] == 24
    assert fitted.settings["hidden"] == 20
    assert fitted.placing.alike["node"].rows.shape == (NODES, nearest_neighbours.MOST_FELLOWS)
    assert "likely" in fitted.relations["links"].blends
    truth = true_classes(nodes=NODES, classes=CLASSES)
    hidden = network.labels < 0
    assert np.mean(fitted.probabilities.argmax(axis=1)[hidden] == truth[hidden]) > 0.7
    again = load(save(fitted, tmp_path / "model"))
    first, fourth, eighth = (str(network.node_names[i]) for i in (0, 3, 7))
    assert again.complete_attributes(first) == fitted.complete_attributes(first)
    assert again.suggest_links(fourth, 5) == fitted.suggest_links(fourth, 5)
    assert len(again.similar(eighth)) == 10
