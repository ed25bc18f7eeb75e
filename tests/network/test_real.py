"""The benchmark networks themselves, from the folder that COEMBED_DATA names."""

import time

import numpy as np
import pytest

from coembed.network import published_masks, read, split_attributes, split_links, summary, write

pytestmark = pytest.mark.slow

# nodes, links, attributes, entries, classes, isolated, without attributes, components, share inside a class
FIGURES = {
    "pubmed": (19717, 44324, 500, 988031, 3, 0, 0, 1, 0.80),
    "blogcatalog": (5196, 171743, 8189, 369435, 6, 0, 0, 1, 0.40),
    "flickr": (7575, 239738, 12047, 182517, 9, 0, 11, 1, 0.24),
    "cora": (2708, 5278, 1433, 49216, 7, 0, 0, 78, 0.81),
    "citeseer": (3312, 4536, 3703, 105165, 6, 48, 0, 438, 0.74),
    "wordnet-demo": (1476, 3682, 626, 8769, 7, 0, 20, 1, 0.80),
}


@pytest.mark.parametrize("name", FIGURES)
def test_figures_agree_with_the_published_ones(real_data, name):
    figures = summary(read(real_data / f"{name}.npz"))
    keys = (
        "nodes",
        "links",
        "attributes",
        "entries",
        "classes",
        "isolated_nodes",
        "nodes_without_attributes",
    )
    found = (
        *(figures[key] for key in keys),
        figures["components"],
        round(figures["links_inside_a_class"], 2),
    )
    assert found == FIGURES[name]
    assert figures["notices"] == []


def test_the_bundled_network_is_the_original(real_data, demo, assert_same):
    assert_same(read(real_data / "wordnet-demo.npz"), demo)


def test_scan_format_equals_npz(real_data, assert_same):
    expected = read(real_data / "cora.npz")
    for path in (real_data / "scan-format", real_data / "scan-format" / "cora.edge"):
        network = read(path)
        assert_same(network, expected, names=False)
        assert network.notices == ()
        assert network.name == "cora"


@pytest.mark.parametrize("name", ["pubmed", "flickr", "citeseer"])
@pytest.mark.parametrize("format", ["csv", "parquet", "npz"])
def test_written_equals_read(real_data, tmp_path, assert_same, name, format):
    network = read(real_data / f"{name}.npz")
    write(network, tmp_path / "net", format)
    assert_same(read(tmp_path / "net"), network)


def unavoidable(network, split):
    """Test pairs that no method can match: more of an attribute than there are nodes without it.

    BlogCatalog has three attributes owned by 95 to 100 % of the nodes: 1,226 of its 36,944 test pairs.
    """
    if split.relation == "links":
        return 0
    owners = np.bincount(network.attributes.indices, minlength=network.n_attributes)
    asked = np.bincount(split.test[:, 1], minlength=network.n_attributes)
    return int(np.maximum(asked - (network.n_nodes - owners), 0).sum())


@pytest.mark.parametrize("name", ["blogcatalog", "flickr", "pubmed"])
def test_splits_match_nearly_every_pair(real_data, name):
    network = read(real_data / f"{name}.npz")
    for split in (split_links, split_attributes):
        made = split(network, seed=0)
        assert made.unmatched < unavoidable(network, made) + 0.002 * len(made.test)
        visible = made.visible(network)
        left = getattr(visible, made.relation)
        assert left[made.test[:, 0], made.test[:, 1]].sum() == 0
        full = getattr(network, made.relation)
        for negatives in (made.test_negatives, made.validation_negatives, made.test_matched):
            assert full[negatives[:, 0], negatives[:, 1]].sum() == 0


def test_the_leak_of_the_published_masks_is_as_measured(real_data):
    """On BlogCatalog 85 % of the test entries stay visible and 97.75 % of the links survive."""
    network = read(real_data / "blogcatalog.npz")
    visible, links, _ = published_masks(network, seed=0)
    leaked = np.asarray(visible.links[links.test[:, 0], links.test[:, 1]]).mean()
    assert leaked == pytest.approx(0.85, abs=0.01)
    assert visible.n_links / network.n_links == pytest.approx(0.9775, abs=0.002)


def test_millions_of_links_load_in_seconds(tmp_path):
    ends = np.random.default_rng(0).integers(300_000, size=(3_000_000, 2))
    with (tmp_path / "edges.csv").open("w") as file:
        file.write("source,target\n")
        file.writelines(f"user{i},user{j}\n" for i, j in ends.tolist())
    start = time.process_time()
    network = read(tmp_path)
    assert network.n_links > 2_999_000
    assert time.process_time() - start < 20  # 4 s on an idle core
