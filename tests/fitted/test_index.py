"""Large results: arrays that stay in their file, and an index that finds what comparing with all finds."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file

from coembed import tensor_files
from coembed.errors import InputError
from coembed.fitted import Fitted, load, model_record, nearest_index, save, storage
from coembed.fitted.format1 import plain_fitted
from coembed.fitted.moments import unit_length
from coembed.fitted.nearest_index import build_index, index_of, nearest_exactly
from coembed.network import Names, synthesize

from .conftest import with_space

needs_faiss = pytest.mark.skipif(
    not nearest_index.find_spec("faiss"), reason="extra `large` is not installed"
)


@pytest.fixture(scope="module")
def clustered() -> Fitted:
    """Random codes around some centres."""
    network = synthesize(3000, 9000, 300, 20_000, 4)
    rng = np.random.default_rng(0)
    nodes, attributes, classes, dim = 3000, 300, 4, 12

    def draw(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    centres = draw(30, dim)
    probabilities = np.abs(draw(nodes, classes))
    return plain_fitted(
        network=network,
        settings={},
        history={},
        preset="paper",
        node_mean=centres[rng.integers(30, size=nodes)] + 0.5 * draw(nodes, dim),
        node_std=np.abs(draw(nodes, dim)),
        probabilities=probabilities / probabilities.sum(axis=1, keepdims=True),
        label_shift=0.3 * draw(classes, 2 * dim),
        attribute_mean=draw(attributes, dim + classes),
        attribute_std=np.abs(draw(attributes, dim + classes)),
    )


@pytest.fixture
def few(monkeypatch):
    """As if a hundred items were many."""
    monkeypatch.setattr(nearest_index, "EXACT_ITEMS", 100)
    monkeypatch.setattr(storage, "MAPPED_FROM", 1)
    monkeypatch.setattr(model_record, "LISTED_NAMES", 10)


def answers(fitted):
    return [
        [match.as_dict() for match in found]
        for found in (
            fitted.similar("node7", 5),
            fitted.similar("attribute3", 5),
            fitted.nodes_about("attribute11", 8),
            fitted.profile("node100", 6),
        )
    ]


def assert_alike(left, right):
    for mine, other in zip(left, right, strict=True):
        assert [m["name"] for m in mine] == [m["name"] for m in other]
        for key in ("score", "std"):
            np.testing.assert_allclose([m[key] for m in mine], [m[key] for m in other], rtol=1e-4)
        for key in ("known", "label", "kind"):
            assert [m[key] for m in mine] == [m[key] for m in other]


def test_codes_of_some_nodes_are_those_of_all(clustered, few):
    rows = np.array([5, 2999, 5, 0])
    some = clustered.codes_at("node", rows)
    np.testing.assert_allclose(some.mean, clustered.nodes.mean[rows], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(some.std, clustered.nodes.std[rows], rtol=1e-5, atol=1e-6)


def test_block_by_block_is_all_at_once(clustered, monkeypatch):
    monkeypatch.setattr(nearest_index, "_BLOCK", 257)
    directions = unit_length(clustered.attribute_mean[:20])
    found = nearest_exactly(clustered, "node", directions, 7)
    cosines = directions @ unit_length(clustered.nodes.mean).T
    np.testing.assert_array_equal(found, np.argsort(-cosines, axis=1)[:, :7])
    assert nearest_exactly(clustered, "node", directions, 5000).shape == (20, 3000)


def test_without_an_index_many_items_are_compared_too(clustered, few, monkeypatch):
    found = answers(clustered)
    assert index_of(clustered, "node") is None
    monkeypatch.setattr(nearest_index, "EXACT_ITEMS", 200_000)
    assert_alike(found, answers(clustered))


@needs_faiss
def test_the_index_answers_as_comparing_with_all_does(clustered, few, tmp_path, monkeypatch):
    steps = []
    folder = save(clustered, tmp_path / "model", progress=steps.append)
    assert steps[-1] == "indexing attributes: 300 of 300"
    assert f"indexing attributes: {round(2 * 300**0.5)} centres" in steps
    loaded = load(folder)
    kept = index_of(loaded, "node")
    assert kept is not None
    assert kept.recall > 0.99
    assert kept.note().startswith("approximate: in 200 questions the index found ")
    found = answers(loaded)
    monkeypatch.setattr(nearest_index, "EXACT_ITEMS", 200_000)
    assert_alike(found, answers(clustered))


@needs_faiss
def test_the_recall_is_measured_not_assumed(clustered, few, tmp_path, monkeypatch):
    """An index that proposes random items is found out."""

    def proposals(self, direction, count):
        return np.random.default_rng(0).choice(300, count, replace=False)

    monkeypatch.setattr(nearest_index.ItemIndex, "candidates", proposals)
    assert build_index(clustered, tmp_path, "arrays-00000000.safetensors")["node"].recall < 0.2


@needs_faiss
def test_a_new_model_takes_its_own_index(clustered, few, tmp_path):
    folder = save(clustered, tmp_path / "model")
    turned = with_space(clustered, "node", mean=-clustered.node_mean)
    save(turned, folder)
    assert len(list(folder.glob("index-node-*.faiss"))) == 1
    assert index_of(load(folder), "node") is not None
    assert_alike(answers(load(folder)), answers(turned))
    save(clustered, folder, index=False)
    assert list(folder.glob("index-*")) == []
    assert index_of(load(folder), "node") is None


@needs_faiss
@pytest.mark.parametrize("damage", ["record", "cut", "no record", "other size"])
def test_a_broken_index_is_as_good_as_none(clustered, few, tmp_path, damage):
    folder = save(clustered, tmp_path / "model")
    file, record = next(folder.glob("index-node-*.faiss")), next(folder.glob("index-node-*.json"))
    if damage == "record":
        record.write_text("{")
    elif damage == "no record":
        record.unlink()
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-1000])
    else:
        record.write_text(json.dumps({**json.loads(record.read_text()), "items": 5}))
    loaded = load(folder)
    assert index_of(loaded, "node") is None
    assert_alike(answers(loaded), answers(clustered))


def test_few_items_need_no_index(clustered, tmp_path):
    folder = save(clustered, tmp_path / "model")
    assert list(folder.glob("index-*")) == []
    assert index_of(load(folder), "node") is None


def test_large_models_stay_in_their_file(clustered, few, tmp_path):
    loaded = load(save(clustered, tmp_path / "model", index=False))
    for array in (loaded.node_mean, loaded.probabilities, loaded.attribute_std, loaded.network.links.data):
        assert not array.flags.writeable
        assert array.flags.aligned
    np.testing.assert_array_equal(loaded.node_mean, clustered.node_mean)
    assert (loaded.network.attributes != clustered.network.attributes).nnz == 0
    assert isinstance(loaded.network.node_names, Names)
    assert list(loaded.network.node_names) == list(clustered.network.node_names)
    again = load(save(loaded, tmp_path / "model", index=False))  # over the file that it is mapped from
    np.testing.assert_array_equal(again.node_mean, clustered.node_mean)


def test_a_large_model_is_compared_with_its_checksum_on_request(clustered, few, tmp_path):
    folder = save(clustered, tmp_path / "model", index=False)
    file = next(folder.glob("arrays-*"))
    octets = bytearray(file.read_bytes())
    octets[-50_000] ^= 1
    file.write_bytes(octets)
    load(folder)
    with pytest.raises(InputError, match="damaged"):
        load(folder, check=True)


@pytest.mark.parametrize("share", [0, 0.0001, 0.5, 0.9999])
def test_a_large_model_cut_short_is_refused(clustered, few, tmp_path, share):
    folder = save(clustered, tmp_path / "model", index=False)
    file = next(folder.glob("arrays-*"))
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    with pytest.raises(InputError, match=r"safetensors|damaged"):
        load(folder)


def test_files_are_those_of_the_library(tmp_path):
    arrays = {
        "bytes": np.arange(5, dtype=np.uint8),
        "none": np.empty((0, 3), np.float32),
        "one": np.float64(2.5).reshape(()),
        "many": np.arange(6.0, dtype=np.float32).reshape(2, 3),
        "whole": np.arange(4),
        "ø": np.array([True, False]),
    }
    tensor_files.save_file(arrays, tmp_path / "x.safetensors")
    for read in (load_file, tensor_files.open_file):
        found = read(tmp_path / "x.safetensors")
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b"{",
        b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}',
        b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}}',
        b'{"a": {"dtype": "F32", "shape": [1.0], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "object", "shape": [1], "data_offsets": [0, 8]}}',
        b'{"a": {"shape": [1], "data_offsets": [0, 8]}}',
        b'{"a": 3}',
    ],
)
def test_hostile_headers_are_refused(clustered, few, tmp_path, header):
    folder = save(clustered, tmp_path / "model", index=False)
    file = next(folder.glob("arrays-*"))
    file.write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
    with pytest.raises(InputError, match="not a safetensors file") as caught:
        load(folder)
    assert "\n" not in str(caught.value)
