"""Leading vectors: many rows, by iteration, as few rows, by the library."""

import numpy as np
import scipy.sparse as sp

from coembed.views import decomposition


def test_many_rows_have_the_same_leading_space(monkeypatch):
    rng = np.random.default_rng(0)
    strong = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 60))
    matrix = sp.csr_array((strong + 0.3 * rng.normal(size=strong.shape)) * (rng.random(strong.shape) < 0.5))
    matrix = matrix.astype(np.float32)
    expected, values = decomposition.leading_vectors(matrix, 4, seed=0)
    monkeypatch.setattr(decomposition, "MANY_ROWS", 100)
    monkeypatch.setattr(decomposition, "ROWS", 64)
    found, same_values = decomposition.leading_vectors(matrix, 4, seed=0)
    np.testing.assert_allclose(same_values, values, rtol=1e-4)
    np.testing.assert_allclose(np.abs(expected.T @ found), np.eye(4), atol=1e-2)
    again, _ = decomposition.leading_vectors(matrix, 4, seed=0)
    np.testing.assert_array_equal(found, again)


def test_networks_of_usual_sizes_keep_what_they_ask_for():
    assert decomposition.affordable_rank(256, 250_000) == 256
