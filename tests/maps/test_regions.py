"""The landscape of a map: hills are where items crowd, and are called by what sets their items apart."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.maps.layout import Layout
from coembed.maps.regions import SIDE, hills, landscape


def test_every_cell_leads_to_a_peak_and_a_peak_to_itself():
    rng = np.random.default_rng(0)
    density = rng.random((9, 12))
    leads = hills(density)
    assert np.array_equal(leads[leads], leads)
    heights = density.ravel()
    assert (heights[leads] >= heights).all()
    for peak in np.unique(leads):
        row, column = divmod(int(peak), 12)
        around = density[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2]
        assert heights[peak] == around.max()


def test_crowds_are_found_where_they_are_and_named_by_what_they_have(general):
    """People are laid out by their city: each crowd must be called so."""
    network, rng = general.network, np.random.default_rng(1)
    city = network.relation("city").values
    known = np.diff(city.indptr) > 0
    towns = np.zeros(60, dtype=int)
    towns[known] = city.indices - 1
    corners = np.array([[0, 0], [40, 0], [0, 40], [40, 40]])
    places = {name: rng.normal(20, 0.1, (len(items), 2)) for name, items in network.types.items()}
    places["person"] = corners[towns] + rng.normal(0, 0.8, (60, 2))
    found = landscape(general, Layout("pca", places))
    assert found.density.shape == (SIDE, SIDE)
    assert found.density.sum() == pytest.approx(100, rel=0.02)  # people and films
    titles = [network.items("person.columns").title(1 + k) for k in range(4)]
    for k, corner in enumerate(corners):
        region = min(found.regions, key=lambda each: np.hypot(each.x - corner[0], each.y - corner[1]))
        assert np.hypot(region.x - corner[0], region.y - corner[1]) < 3
        if (known & (towns == k)).sum() > 6:
            assert titles[k] in region.names
