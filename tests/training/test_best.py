"""preset `best`, end to end: whatever a network lacks, what a fit leaves behind, what it says it trusted."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

from coembed.fitted import load, save
from coembed.network import Network, split_attributes
from coembed.settings import preset_settings
from coembed.training import Holdout, fit, label_ensemble, label_members
from coembed.training.label_ensemble import call_ensemble
from coembed.training.label_views import label_views
from coembed.views import decomposition, look, readings

SMALL = {"epochs": 4, "dim": 8, "hidden": 8, "rank": 16, "space_dim": 0}


def small(**changes):
    return preset_settings("best", **(SMALL | changes))


@pytest.fixture(scope="module")
def fitted(demo):
    return fit(demo, small(epochs=8), preset="best")


def test_what_was_learnt_is_saved_and_answers_the_same(fitted, tmp_path):
    again = load(save(fitted, tmp_path / "model"))
    pairs = np.array([[0, 3], [5, 7], [9, 1]])
    for lift in (False, True):
        np.testing.assert_array_equal(
            again.score_attributes(pairs, lift=lift), fitted.score_attributes(pairs, lift=lift)
        )
        np.testing.assert_array_equal(
            again.score_links(pairs, lift=lift), fitted.score_links(pairs, lift=lift)
        )


@pytest.mark.parametrize("kind", ["links", "attributes"])
@pytest.mark.parametrize("lift", [False, True])
def test_rows_and_pairs_are_the_same_scores(fitted, kind, lift):
    rows = fitted.score_rows(np.array([2, 40]), kind, lift=lift)
    score = fitted.score_links if kind == "links" else fitted.score_attributes
    pairs = np.array([[2, 0], [40, 3], [2, 100]])
    np.testing.assert_allclose(score(pairs, lift=lift), [rows[0, 0], rows[1, 3], rows[0, 100]], atol=2e-3)


def test_companions_make_the_scores_better(demo):
    split = split_attributes(demo, validation=0.05, test=0.1, seed=0)
    held = Holdout(pairs={"attributes": (split.validation, split.validation_negatives)})
    fitted = fit(split.visible(demo), small(epochs=8), preset="best", holdout=held)
    truth = np.repeat([1, 0], [len(split.test), len(split.test_negatives)])
    asked = np.concatenate([split.test, split.test_negatives])
    fits = {name: each.without_pair_scores() for name, each in fitted.relations.items()}
    alone = replace(fitted, relations=fits).score_attributes(asked)
    assert roc_auc_score(truth, fitted.score_attributes(asked)) > roc_auc_score(truth, alone)


def test_what_was_kept_aside_is_known_all_the_same(demo, fitted):
    assert (fitted.network.links != demo.links).nnz == 0
    assert (fitted.network.attributes != demo.attributes).nnz == 0
    node = int(np.argmax(np.diff(demo.attributes.indptr)))
    owned = {demo.attribute_names[a] for a in demo.attributes[[node]].indices}
    found = fitted.complete_attributes(node, k=100, positions=True)
    assert not owned & {match.name for match in found}


def test_small_networks_keep_nothing_aside():
    links = np.eye(6, k=1) + np.eye(6, k=-1)
    result = fit(Network.build(links, np.eye(6)), small(), preset="best")
    assert not [name for name in result.history if name.startswith("validation ")]
    assert not any(each.blends for each in result.relations.values())


def test_a_node_added_again_lands_near_the_original(demo, fitted):
    row = int(np.argmax(np.diff(demo.links.indptr)))
    a, x = demo.links.toarray(), demo.attributes.toarray()
    grown = Network.build(
        np.vstack([np.hstack([a, a[:, [row]]]), np.append(a[row], 0)]),
        np.vstack([x, x[row]]),
        node_names=[*demo.node_names, "twin"],
        attribute_names=demo.attribute_names,
    )
    placed = fitted.embed(grown).result
    # after few epochs neighbours stand close together: among the nearest of 1,476, if not the first
    nearest = [match.name for match in placed.similar("twin", k=3, type="node")]
    assert demo.node_names[row] in nearest
    np.testing.assert_allclose(
        placed.score_attributes([[demo.n_nodes, 5]]), placed.score_attributes([[row, 5]]), atol=0.1
    )


def test_it_says_what_it_trusted(fitted):
    (line,) = [notice for notice in fitted.history["notices"] if notice.startswith("classes follow")]
    assert "own attributes" in line
    assert "links" in line
    assert "%" in line


@pytest.mark.parametrize("missing", ["links", "attributes", "labels", "everything but links"])
def test_networks_that_lack_something_are_fitted(demo, missing):
    nothing = sp.csr_array(demo.links.shape, dtype=np.float32)
    network = Network.build(
        nothing if missing == "links" else demo.links,
        None if missing in ("attributes", "everything but links") else demo.attributes,
        None if missing in ("labels", "everything but links") else demo.labels,
    )
    result = fit(network, small(), preset="best")
    assert np.isfinite(result.node_mean).all()
    assert np.isfinite(result.score_links([[0, 1], [2, 3]])).all()
    assert result.probabilities.shape[1] == network.n_classes


@pytest.mark.parametrize("values", ["attributes", "links"])
def test_values_are_fitted_too(demo, values):
    rng = np.random.default_rng(0)
    matrix = getattr(demo, values).copy()
    matrix.data = rng.normal(2, 1, matrix.nnz).astype(np.float32)
    if values == "links":
        matrix = sp.csr_array(matrix + matrix.T)
    network = Network.build(
        matrix if values == "links" else demo.links,
        matrix if values == "attributes" else demo.attributes,
        demo.labels,
    )
    result = fit(network, small(**{values: "gaussian"}), preset="best")
    score = result.score_links if values == "links" else result.score_attributes
    assert np.isfinite(score(np.array([[0, 1], [2, 3]]))).all()


def hinted_classes(often=0.36):
    """Views of nodes whose attributes only hint at their classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(2, size=400)
    words = rng.random((400, 30)) < np.where(classes[:, None] == np.arange(30) % 2, often, 0.30)
    return Network.build(np.zeros((400, 400)), words, classes), classes


def ensemble_of(network, settings):
    seen = look(network, readings(network), 16, 5)
    return call_ensemble(network, seen.types["node"], label_views(network), "node", settings)


def test_an_ensemble_that_says_too_much_is_toned_down():
    network, _ = hinted_classes()
    bold = small(dropout=0.0, input_dropout=0.0, label_decay=0.0, epochs=100)
    found = ensemble_of(network, bold)
    assert found.weights["discriminators"] < 1 / 1.5
    assert found.opinion.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert ensemble_of(network.with_labels(np.full(400, -1)), bold) is None


def test_an_ensemble_knows_something_of_the_unlabelled():
    network, classes = hinted_classes(often=0.5)
    labels = np.where(np.arange(400) % 2 == 0, classes, -1)
    found = ensemble_of(network.with_labels(labels), small(epochs=60))
    unknown = labels < 0
    assert np.mean(found.opinion.argmax(axis=1)[unknown] == classes[unknown]) > 0.8


def test_dense_values_are_recognised():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 30)
    values = rng.normal(classes[:, None] * 2.0 - 1, 1, (60, 6))
    labels = np.where(np.arange(60) % 3 == 0, classes, -1)
    result = fit(Network.build(np.zeros((60, 60)), values, labels), small(epochs=30), preset="best")
    assert result.settings["attributes"] == "gaussian"
    assert result.settings["links"] == "bernoulli"
    assert np.mean(result.probabilities.argmax(axis=1) == classes) > 0.9


def test_of_very_many_labels_some_are_spared_to_tell_the_temperature(demo, monkeypatch):
    monkeypatch.setattr(label_ensemble, "MANY", 100)
    monkeypatch.setattr(label_ensemble, "ASIDE", 40)
    asked = []
    monkeypatch.setattr(label_members, "_discriminator", asked.append)
    result = fit(demo, small(), preset="best")
    assert not asked  # of members none but those that are quickly fitted
    assert set(result.history["out_of_fold"]["node"]) >= {"linear", "linear by view", "together"}
    np.testing.assert_array_equal(result.network.labels, demo.labels)
    monkeypatch.setattr(label_ensemble, "MOST_LOGITS", 7 * demo.n_nodes - 1)
    alone = fit(demo, small(), preset="best")
    assert not alone.history.get("out_of_fold")  # nothing but the model itself


def test_a_very_large_network_is_said_to_have_less(demo, monkeypatch):
    monkeypatch.setattr(decomposition, "NUMBERS", 10 * demo.n_nodes)
    monkeypatch.setattr(decomposition, "LEAST_RANK", 4)
    result = fit(demo, small(), preset="best")
    assert result.settings["rank"] == 10
    assert "rank 10 instead of 16" in result.history["notices"][0]


def test_classes_that_links_alone_tell_are_found_by_what_spreads():
    rng = np.random.default_rng(0)
    classes = np.repeat([0, 1], 100)
    joined = np.triu(rng.random((200, 200)) < np.where(classes[:, None] == classes, 0.06, 0.004), 1)
    labels = np.where(rng.random(200) < 0.2, classes, -1)
    result = fit(Network.build(joined + joined.T, rng.random((200, 5)) < 0.3, labels), small(epochs=30))
    hidden = labels < 0
    assert np.mean(result.probabilities.argmax(axis=1)[hidden] == classes[hidden]) > 0.95


def test_classes_that_links_contradict_are_not_smoothed():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 200)
    joined = np.triu(rng.random((200, 200)) < np.where(classes[:, None] != classes, 0.06, 0.004), 1)
    words = rng.random((200, 8)) < np.where(np.arange(8) % 2 == classes[:, None], 0.9, 0.1)
    labels = np.where(rng.random(200) < 0.3, classes, -1)
    result = fit(Network.build(joined + joined.T, words, labels), small(epochs=30))
    assert result.types["node"].strength == 0
    hidden = labels < 0
    assert np.mean(result.probabilities.argmax(axis=1)[hidden] == classes[hidden]) > 0.95


def test_values_of_few_words_are_read_by_trees(demo):
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 2, 300)
    # every word is there for all: only how often tells
    counts = 1 + rng.poisson(np.where(np.arange(6) % 2 == classes[:, None], 4.0, 1.5))
    counts = np.hstack([counts, (rng.random((300, 30)) < 0.2)])
    labels = np.where(rng.random(300) < 0.4, classes, -1)
    network = Network.build(np.zeros((300, 300)), counts, labels)
    assert label_members.word_values(network, "node").shape == (300, 36)
    assert label_members.word_values(demo, "node") is None  # there presence says it all
    result = fit(network, small(epochs=30))
    assert any("trees" in notice for notice in result.history["notices"])
    hidden = labels < 0
    assert np.mean(result.probabilities.argmax(axis=1)[hidden] == classes[hidden]) > 0.75
