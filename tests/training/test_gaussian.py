"""Real values end to end: a fit with a Gaussian relation predicts hidden cells better than their mean does.

A tenth of the cells is hidden, of the stored and of the empty ones alike, so that they are mixed as in the
matrix; R2 = 1 - squared error / squared error of the mean of what was seen.
"""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.network import read
from coembed.settings import preset_settings
from coembed.training import Holdout, fit


class Hidden(NamedTuple):
    """The network without the hidden cells, the cells (stored ones first), and their values."""

    network: object
    cells: np.ndarray
    values: np.ndarray
    n_stored: int


def hide_cells(network, kind, seed=0, share=0.1, most_empty=1_000_000):
    rng = np.random.default_rng(seed)
    matrix = getattr(network, kind)
    height, width = matrix.shape
    symmetric = kind == "links"
    stored = sp.coo_array(sp.triu(matrix, 1) if symmetric else matrix)
    rows, columns = stored.coords
    # where a tenth of the empty cells is too many to ask for, a smaller share of both kinds is asked for
    possible = height * (height - 1) // 2 if symmetric else height * width
    hidden = rng.random(stored.nnz) < share
    kept = sp.csr_array((stored.data[~hidden], (rows[~hidden], columns[~hidden])), shape=matrix.shape)
    kept = sp.csr_array(kept + kept.T) if symmetric else kept
    kept.sort_indices()

    n_empty = min(round(share * (possible - stored.nnz)), most_empty)
    n_stored = round(n_empty * stored.nnz / (possible - stored.nnz))
    asked = rng.permutation(np.flatnonzero(hidden))[:n_stored]
    drawn = rng.integers(0, [height, width], size=(2 * n_empty + 1000, 2))
    drawn = np.unique(np.sort(drawn, axis=1) if symmetric else drawn, axis=0)
    drawn = drawn[drawn[:, 0] != drawn[:, 1]] if symmetric else drawn
    empty = rng.permutation(drawn[np.asarray(matrix[drawn[:, 0], drawn[:, 1]]).ravel() == 0])[:n_empty]
    return Hidden(
        network.with_matrices(**{kind: kept}),
        np.concatenate([np.stack([rows[asked], columns[asked]], axis=1), empty]),
        np.concatenate([stored.data[asked], np.zeros(len(empty))]),
        len(asked),
    )


def figures(network, kind, record_property, **changes):
    """R2 of all hidden cells, and the correlation of prediction and value over the stored ones."""
    hidden = hide_cells(network, kind)
    settings = preset_settings("paper", kind, **{kind: "gaussian"}, **changes)
    fitted = fit(hidden.network, settings, holdout=Holdout())
    score = fitted.score_links if kind == "links" else fitted.score_attributes
    predicted = score(hidden.cells)
    seen = getattr(hidden.network, kind)
    mean = seen.sum() / (seen.shape[0] * seen.shape[1])
    r2 = 1 - np.sum((predicted - hidden.values) ** 2) / np.sum((mean - hidden.values) ** 2)
    stored = slice(0, hidden.n_stored)
    correlation = np.corrcoef(predicted[stored], hidden.values[stored])[0, 1]
    print(f"{network.name}, {kind}: R2 {r2:.3f}, correlation over stored cells {correlation:.3f}")
    record_property("R2", float(r2))
    record_property("correlation", float(correlation))
    return r2, correlation


def with_values(demo):
    """The demo with counts: a word is said more often by nodes of the class that it is most typical of."""
    rng = np.random.default_rng(0)
    classes = np.eye(demo.n_classes, dtype=np.float32)[demo.labels]
    typical = (demo.attributes.T @ classes / classes.sum(axis=0)).argmax(axis=1)
    attributes = demo.attributes.copy()
    rows = np.repeat(np.arange(demo.n_nodes), np.diff(attributes.indptr))
    at_home = typical[attributes.indices] == demo.labels[rows]
    attributes.data = (np.where(at_home, 4.0, 1.0) + rng.gamma(2.0, 0.5, attributes.nnz)).astype(np.float32)
    return demo.with_matrices(attributes=attributes)


def with_weights(demo):
    """The demo with links weighed by what their ends share: neighbours and attributes."""
    shared = demo.links @ demo.links + demo.attributes @ demo.attributes.T
    links = sp.csr_array(demo.links + demo.links.multiply(shared), dtype=np.float32)
    links.sort_indices()
    return demo.with_matrices(links=links)


def test_real_attributes(demo, record_property):
    r2, correlation = figures(with_values(demo), "attributes", record_property, epochs=60)
    assert r2 > 0.02
    assert correlation > 0


def test_weighted_links(demo, record_property):
    r2, correlation = figures(with_weights(demo), "links", record_property, epochs=100)
    assert r2 > 0.05
    assert correlation > 0


def test_both_at_once_without_labels(demo):
    network = with_weights(demo).with_matrices(attributes=with_values(demo).attributes)
    network = network.with_labels(np.full(demo.n_nodes, -1))
    fitted = fit(network, preset_settings("paper", links="gaussian", attributes="gaussian", epochs=5))
    units = {name: each.unit for name, each in fitted.relations.items()}
    assert set(units) == {"links", "attributes"}
    assert all(0 < unit < 10 for unit in units.values())
    pairs = np.array([[0, 1], [2, 3]])
    expected = units["links"] * np.sum(fitted.nodes.mean[[0, 2]] * fitted.nodes.mean[[1, 3]], axis=1)
    assert np.allclose(fitted.score_links(pairs), expected, rtol=1e-5)


def test_predictions_follow_the_unit_of_the_values(demo):
    """Values measured in another unit give the same model, and predictions in that unit."""
    network = with_weights(demo)
    scaled = network.with_matrices(links=sp.csr_array(network.links * np.float32(1024)))
    settings = preset_settings("paper", links="gaussian", epochs=5)
    one, other = (fit(n, settings) for n in (network, scaled))
    pairs = np.array([[0, 1], [5, 9]])
    assert np.allclose(1024 * one.score_links(pairs), other.score_links(pairs), rtol=1e-3)


@pytest.mark.slow
def test_tf_idf_of_pubmed(real_data, record_property):
    network = read(real_data / "pubmed.npz")
    assert network.real_attributes
    r2, correlation = figures(network, "attributes", record_property, epochs=100)
    assert r2 > 0.03
    assert correlation > 0.1
