"""What the first process of several prepares for all: what is opened is what was written."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import coembed.training  # noqa: F401
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training.prepared import is_prepared, open_prepared, write_prepared

FITTING = sys.modules["coembed.training.fit"]  # its name in the package is that of the function


@pytest.fixture(scope="module")
def prepared():
    rng = np.random.default_rng(0)
    links = np.triu(rng.random((40, 40)) < 0.2, 1)
    network = Network.build((links + links.T) * 1.0, (rng.random((40, 12)) < 0.3) * 1.0, np.arange(40) % 2)
    settings = preset_settings("best", epochs=1, dim=4, rank=6, label_ensemble=0.0)
    return FITTING.prepare(network, settings, None, lambda said: None)


def test_opened_is_written(prepared, tmp_path) -> None:
    folder = tmp_path / "not" / "there" / "yet"
    assert not is_prepared(folder)
    write_prepared(prepared, folder)
    assert is_prepared(folder)
    again = open_prepared(folder)
    assert again.settings == prepared.settings
    assert again.notices == tuple(prepared.notices)
    for name, relation in prepared.network.relations.items():
        assert (again.network.relation(name).values != relation.values).nnz == 0
    for name, views in prepared.seen.types.items():
        for view, values in views.dense.items():
            np.testing.assert_array_equal(again.seen.types[name].dense[view], values)
        for view, matrix in views.sparse.items():
            assert abs(again.seen.types[name].sparse[view] - matrix).sum() == 0
    for name, labels in prepared.labels.items():
        np.testing.assert_array_equal(again.labels[name], labels)


def test_what_another_run_left_is_not_mixed_in(prepared, tmp_path) -> None:
    folder = tmp_path / "prepared"
    folder.mkdir()
    (folder / "stale.npy").write_bytes(b"old")
    write_prepared(prepared, folder)
    assert not (folder / "stale.npy").exists()
    assert is_prepared(folder)
