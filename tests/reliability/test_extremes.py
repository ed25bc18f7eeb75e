"""Extreme and yet legal: trained, saved, loaded, asked and exported, or refused in one sentence."""

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

import coembed
from coembed.fitted import load, save
from coembed.fitted.export import export
from coembed.network import Items, Labels, Network, Relation, from_tables, read, write
from coembed.settings import preset_settings
from coembed.training import fit

NAMES = (
    *(
        "line\nend",
        "tab\there",
        'quote"s',
        "comma,semicolon;",
        "emoji 🐟👩‍🚀",
        "\udcff surrogate",
        "nul\0inside",
        "nul\0",
    ),
    *(
        "x" * 10_000,
        "",
        " blanks ",
        "<script>",
        "../..",
        "~",
        "nan",
        "日本語",
        "\u202eright to left",
        "a" * 255,
    ),
)


def star(size):
    spokes = np.zeros(size - 1, dtype=np.int64), np.arange(1, size)
    half = sp.coo_array((np.ones(size - 1, np.float32), spokes), shape=(size, size)).tocsr()
    return half + half.T


def classes_of(count, size):
    return np.where(np.arange(size) < 2 * count, np.arange(size) % count, -1)


def column_of(values, scale=1.0):
    size = len(values)
    table = {"id": [f"i{k}" for k in range(size)], "x": values, "town": ["a", "b"] * (size // 2)}
    return from_tables({"things": pa.table(table)}, labels=["town"])


def two_types():
    left, right = Items.build("left", 1), Items.build("right", 3, labels=Labels.build([0, -1, 1]))
    joined = Relation.build("joins", "left", "right", [[1, 0, 1]])
    return Network.of([left, right], [joined])


EXTREMES = {
    "one node": lambda: Network.build([[0]]),
    "one node with all": lambda: Network.build([[0]], [[1]], [0]),
    "two nodes": lambda: Network.build([[0, 1], [1, 0]], np.eye(2), [0, 1]),
    "no links": lambda: Network.build(np.zeros((9, 9)), np.eye(9), classes_of(2, 9)),
    "a star": lambda: Network.build(star(800), None, classes_of(2, 800)),
    "a clique": lambda: Network.build(np.ones((40, 40)) - np.eye(40), np.ones((40, 3)), classes_of(3, 40)),
    "500 classes": lambda: Network.build(star(600), sp.eye_array(600, 5), classes_of(500, 600)),
    "one class": lambda: Network.build(star(30), np.eye(30), np.zeros(30, int)),
    "a class without members": lambda: Network.build(
        star(30), None, np.zeros(30, int), class_names=["a", "b"]
    ),
    "tiny weights": lambda: Network.build(star(30) * np.float32(1e-30), np.eye(30) * 1e-30),
    "huge weights": lambda: Network.build(star(30) * np.float32(1e30), np.eye(30) * 1e30),
    "weights of both": lambda: Network.build(star(3).multiply([[1, 1e30, 1e-30]] * 3)),
    "negative weights": lambda: Network.build(star(30) * np.float32(-1)),
    "an attribute that all have": lambda: Network.build(star(20), np.ones((20, 1))),
    "a constant column": lambda: column_of([7.0] * 40),
    "a column of extremes": lambda: column_of([1e30, -1e30, 1e-30, 0.0] * 10),
    "a column with a single value": lambda: column_of([None] * 39 + [1.0]),
    "one of a type": two_types,
    "odd names": lambda: Network.build(
        star(len(NAMES)),
        np.eye(len(NAMES)),
        np.arange(len(NAMES)) % 2,
        node_names=NAMES,
        attribute_names=[f"{name}~" for name in NAMES],
        class_names=["line\nend", "🐟"],
    ),
}


@pytest.mark.parametrize("preset", ["best", "paper"])
@pytest.mark.parametrize("name", EXTREMES)
def test_an_extreme_network_goes_all_the_way(name, preset, tmp_path):
    go_all_the_way(EXTREMES[name](), preset, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["best", "paper"])
def test_a_star_of_fifty_thousand(preset, tmp_path):
    network = Network.build(star(50_000), sp.eye_array(50_000, 50), classes_of(3, 50_000))
    go_all_the_way(network, preset, tmp_path)


def go_all_the_way(network, preset, place):
    fitted = fit(network, preset_settings(preset, epochs=2, dim=4, hidden=8))
    again = load(save(fitted, place / "model"))
    for type, items in network.types.items():
        if not len(items):
            continue
        assert np.isfinite(again.codes(type).mean).all()
        assert np.isfinite(again.codes(type).std).all()
        for item in (items.ids[0], items.ids[len(items) - 1]):
            for match in again.nearest(item, type, k=2, type=type):
                assert match.name in items.ids
                assert np.isfinite(match.score)
        if items.n_classes:
            np.testing.assert_allclose(again.predict_proba(type).sum(axis=1), 1, atol=1e-4)
    for relation in network.relations.values():
        ask_relation(again, relation)
    for ending in (".csv", ".npz", ".parquet", ".tsv", ".txt"):
        export(again, place / f"codes{ending}")


def ask_relation(fitted, relation):
    rows, columns = relation.values.shape
    if not rows or not columns:
        return
    item = fitted.network.types[relation.source].ids[0]
    for match in fitted.complete(item, relation.name, type=relation.source, k=2, known=True):
        assert np.isfinite(match.score)
        assert match.std is None or np.isfinite(match.std)
    pairs = np.array([[0, columns - 1]])
    if relation.column is None:
        assert np.isfinite(fitted.score(relation.name, pairs)).all()


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("ending", [".npz", ".mapped", ".parquet", ""])
def test_an_extreme_network_comes_back_from_every_format_or_is_refused(name, ending, tmp_path):
    network = EXTREMES[name]()
    target = tmp_path / f"net{ending}"
    try:
        write(network, target)
    except coembed.InputError as error:
        told = str(error)
        assert "\n" not in told
        assert list(tmp_path.iterdir()) == []
        return
    again = read(target)
    for type, items in network.types.items():
        if len(items):
            np.testing.assert_array_equal(np.asarray(again.types[type].ids), np.asarray(items.ids))
    for relation in network.relations.values():
        if relation.values.nnz:
            np.testing.assert_allclose(
                again.relation(relation.name).values.toarray(), relation.values.toarray(), rtol=1e-5
            )
