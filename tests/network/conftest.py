"""What the tests of networks share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from coembed.network import Network


def _assert_same(left: Network, right: Network, names: bool = True) -> None:
    """Equal to the last entry; without `names`, those made up by a format may differ."""
    for matrix in ("links", "attributes"):
        a, b = getattr(left, matrix), getattr(right, matrix)
        assert a.shape == b.shape
        assert a.dtype == b.dtype == np.float32
        np.testing.assert_array_equal(a.indptr, b.indptr)
        np.testing.assert_array_equal(a.indices, b.indices)
        np.testing.assert_array_equal(a.data, b.data)
    np.testing.assert_array_equal(left.labels, right.labels)
    if names:
        for kind in ("node_names", "attribute_names", "class_names"):
            assert list(getattr(left, kind)) == list(getattr(right, kind))


@pytest.fixture(scope="session")
def assert_same() -> Callable[..., None]:
    return _assert_same


@pytest.fixture(scope="session")
def odd() -> Network:
    """Everything legal at once: weights (one negative), real values, an isolated node, a node without
    attributes, an unused attribute, a class without nodes, an unknown label, names that need quotes."""
    return Network.build(
        links=[[0, 2.5, 0, 0], [2.5, 0, -1, 0], [0, -1, 0, 0], [0, 0, 0, 0]],
        attributes=[[0.1, 0, 0], [0, 0, 0], [-3, 0, 7], [1, 0, 0]],
        labels=[1, -1, 1, 0],
        node_names=["a,b", 'say "hi"', "ø\tæ", "source"],
        attribute_names=["1", "never", "#tag"],
        class_names=["10", "9", "nan"],
        name="odd",
    )
