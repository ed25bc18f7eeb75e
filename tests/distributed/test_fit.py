"""A job of several processes leaves the model that one process leaves."""

import numpy as np
import pytest

from coembed.distributed.job import Job
from coembed.fitted import load, save
from coembed.network import read, write
from coembed.network.readers.mapped import write_mapped
from coembed.records import pack
from coembed.settings import preset_settings
from coembed.training import clear, fit, fit_together
from coembed.training.fit import prepare
from coembed.training.fit_by_processes import job_folder
from coembed.training.prepared import open_prepared, write_prepared

from .test_model import small_network
from .together import together


def settings_of(preset="best", **changes):
    settings = preset_settings(preset, dim=4, hidden=6, rank=5, neighbours=3, block=16, epochs=6)
    return settings.change(**changes)


def work(rank, processes, path, settings, output, preset):
    if processes == 1:
        save(fit(read(path), settings, preset=preset), output)
        return None
    fitted = fit_together([path], settings, output, Job(rank, processes), preset=preset)
    if fitted is not None:
        save(fitted, output)
        clear(output)
    return fitted is None


def assert_alike(one, other):
    """The same tree of plain values; numbers but for the last digits that summing in parts changes."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), list(other.values())
    if isinstance(one, list):
        assert len(one) == len(other)
        for each, its in zip(one, other, strict=True):
            assert_alike(each, its)
    else:
        assert other == (pytest.approx(one, rel=1e-3) if isinstance(one, float) else one)


def assert_same_model(one, other):
    assert np.array_equal(one.predict(), other.predict())
    arrays = ("node_mean", "node_std", "probabilities", "attribute_mean", "attribute_std", "label_shift")
    for name in arrays:
        np.testing.assert_allclose(getattr(other, name), getattr(one, name), atol=2e-4, err_msg=name)
    (ours, arrays), (theirs, others) = (pack([each.relations, each.placing]) for each in (one, other))
    assert_alike(ours, theirs)
    for name, array in arrays.items():
        np.testing.assert_allclose(others[name], array, rtol=1e-3, atol=5e-3, err_msg=name)
    assert one.network.n_links == other.network.n_links
    assert list(one.network.node_names) == list(other.network.node_names)
    assert np.array_equal(one.network.labels, other.network.labels)
    assert one.history["notices"] == other.history["notices"]


@pytest.mark.parametrize(
    ("preset", "mapped", "changes"),
    [
        # a space that is taught may turn as a whole where the last digits differ
        ("best", False, {"space_dim": 0}),
        pytest.param("best", False, {"validation": 0.2, "space_dim": 0}, marks=pytest.mark.slow),
        pytest.param("paper", True, {}, marks=pytest.mark.slow),
        pytest.param("paper", False, {"validation_pairs": 0.1}, marks=pytest.mark.slow),
    ],
)
def test_the_model_is_that_of_one_process(preset, mapped, changes, tmp_path):
    network, path = small_network(200, 30), tmp_path / ("mapped" if mapped else "network.npz")
    write_mapped(network, path) if mapped else write(network, path)
    settings = settings_of(preset, **changes)
    work(0, 1, path, settings, tmp_path / "one", preset)
    rest = together(3, tmp_path / "jobs", work, path, settings, tmp_path / "three", preset)
    assert rest == [False, True, True]
    assert_same_model(load(tmp_path / "one"), load(tmp_path / "three"))
    assert not job_folder(tmp_path / "three").exists()


def test_what_is_prepared_is_found_again(tmp_path):
    prepared = prepare(small_network(200, 30), settings_of(validation=0.2), None, lambda step: None)
    write_prepared(prepared, tmp_path / "prepared")
    opened = open_prepared(tmp_path / "prepared")
    assert opened.settings == prepared.settings
    assert np.array_equal(opened.held.labels["node"], prepared.held.labels["node"])
    assert opened.held.pairs.keys() == prepared.held.pairs.keys()
    for name in ("links", "attributes"):
        assert (getattr(opened.network, name) != getattr(prepared.network, name)).nnz == 0
        for ours, theirs in zip(opened.held.pairs[name], prepared.held.pairs[name], strict=True):
            assert np.array_equal(ours, theirs)
    for type in ("node", "attribute"):
        one, other = prepared.seen.types[type], opened.seen.types[type]
        assert list(one.all) == list(other.all)  # the order of the branches
        for name, view in one.dense.items():
            assert np.array_equal(view, other.dense[name])
        for name, view in one.sparse.items():
            assert (view != other.sparse[name].tocsr()).nnz == 0
    assert isinstance(opened.seen.types["node"].dense["own"], np.memmap)
