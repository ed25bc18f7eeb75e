"""Features of the floors, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from coembed.baselines.features import degree_scaled, idf_rows, mean_of_neighbours, presence, unit_length_rows
from coembed.network import Network


def test_rare_attributes_weigh_more_and_ubiquitous_ones_nothing() -> None:
    attributes = sp.csr_array(np.array([[5.0, 1, 0], [1, 1, 0], [1, 0, 2], [1, 0, 0]]))
    rows = idf_rows(attributes).toarray()
    assert rows[:, 0].tolist() == [0, 0, 0, 0]  # everybody has it
    assert rows[0] == pytest.approx([0, 1, 0])
    assert rows[3].tolist() == [0, 0, 0]
    both = idf_rows(sp.csr_array(np.array([[1.0, 1], [1, 0], [0, 0], [0, 0]]))).toarray()[0]
    assert both[1] / both[0] == pytest.approx(np.log(4) / np.log(2))


def test_features_leave_the_network_as_it_was(demo: Network) -> None:
    links, attributes = demo.links.copy(), demo.attributes.copy()
    degree_scaled(demo.links)
    idf_rows(demo.attributes)
    ones = presence(demo.attributes)
    ones.data[:] = 7
    ones.indices[:] = 0
    for kept, now in ((links, demo.links), (attributes, demo.attributes)):
        assert np.array_equal(kept.indices, now.indices)
        assert np.array_equal(kept.data, now.data)


def test_scaling_links_agrees_with_the_dense_formula(demo: Network) -> None:
    dense = demo.links.toarray() > 0
    degree = dense.sum(axis=1)
    scaled = degree_scaled(demo.links).toarray()
    assert np.allclose(scaled, dense / np.sqrt(np.outer(degree, degree)), rtol=0, atol=1e-6)
    assert mean_of_neighbours(demo.links).sum(axis=1) == pytest.approx(np.ones(demo.n_nodes), abs=1e-5)


def test_isolated_nodes_and_empty_rows_stay_empty() -> None:
    nothing = sp.csr_array((3, 3), dtype=np.float32)
    for made in (
        degree_scaled(nothing),
        mean_of_neighbours(nothing),
        unit_length_rows(nothing),
        idf_rows(nothing),
    ):
        assert made.shape == (3, 3)
        assert made.nnz == 0
