"""Matrices without names."""

import numpy as np
import pytest
import scipy.sparse as sp

import coembed


def test_a_dense_array_is_a_table_of_numbers(rng):
    array = rng.normal(5, 2, (30, 3))
    array[4, 1] = np.nan
    network = coembed.read(array)
    assert [each.column.kind for each in network.columns("node")] == ["number"] * 3
    second = network.relation("x1")
    assert second.values.nnz == 29
    known = np.delete(array[:, 1], 4)
    np.testing.assert_allclose(second.column.cell(second.values.data), known, rtol=1e-5)


def test_many_columns_and_sparse_ones_are_one_matrix(rng):
    wide = (rng.random((20, 300)) < 0.1) * rng.integers(1, 9, (20, 300))
    for given in (wide, sp.csr_matrix(wide)):
        network = coembed.read(given)
        np.testing.assert_array_equal(network.attributes.toarray(), wide)
        assert network.n_links == 0
    square = sp.random_array((9, 9), density=0.3, rng=rng)
    assert coembed.read(square).n_nodes == 9
    assert coembed.read(square).n_links > 0


@pytest.fixture
def rng():
    return np.random.default_rng(0)
