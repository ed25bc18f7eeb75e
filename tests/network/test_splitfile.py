"""Splits on disk come back as they went, for their own network only."""

from dataclasses import fields

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.network import (
    load_split,
    published_masks,
    save_split,
    split_attributes,
    split_labels,
    split_links,
)


@pytest.mark.parametrize("split", [split_labels, split_links, split_attributes])
def test_saved_equals_loaded(demo, tmp_path, split):
    made = split(demo, seed=3)
    save_split(made, tmp_path / "split.npz")
    again = load_split(tmp_path / "split.npz", demo)
    assert type(again) is type(made)
    for field in fields(made):
        np.testing.assert_array_equal(getattr(made, field.name), getattr(again, field.name))
        assert type(getattr(made, field.name)) is type(getattr(again, field.name))


def test_published_splits_are_saved_too(demo, tmp_path):
    _, links, _ = published_masks(demo)
    save_split(links, tmp_path / "links.npz")
    np.testing.assert_array_equal(load_split(tmp_path / "links.npz").test, links.test)


def test_a_split_of_another_network_is_refused(demo, tmp_path):
    save_split(split_labels(demo), tmp_path / "split.npz")
    other = split_links(demo).visible(demo)
    with pytest.raises(InputError, match="another network"):
        load_split(tmp_path / "split.npz", other)


def test_one_changed_label_makes_another_network(demo, tmp_path):
    save_split(split_labels(demo), tmp_path / "split.npz")
    labels = demo.labels.copy()
    labels[0] = (labels[0] + 1) % demo.n_classes
    with pytest.raises(InputError, match="another network"):
        load_split(tmp_path / "split.npz", demo.with_labels(labels))


def test_broken_split_files_are_explained(demo, tmp_path):
    file = tmp_path / "split.npz"
    with pytest.raises(InputError, match="does not exist"):
        load_split(file)
    np.savez(file, a=np.arange(3))
    with pytest.raises(InputError, match="not a split"):
        load_split(file)
    np.savez(file, kind="labels", train=np.arange(3))
    with pytest.raises(InputError, match="no array 'validation'"):
        load_split(file)
    np.savez(file, kind="labels", train=np.array([-5]), validation=[0], test=[0], fingerprint="x")
    with pytest.raises(InputError, match="positions"):
        load_split(file)
    np.savez(file, kind="labels", train=np.array([None]), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        load_split(file)
    save_split(split_labels(demo), file)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(InputError, match=r"not a whole \.npz"):
        load_split(file)
