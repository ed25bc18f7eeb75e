"""The parts of the preset without gradients, each held against its formula in the plainest form."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.fitted import Fitted
from coembed.fitted.space import bias_of_new
from coembed.network import Column, Items, Labels, Network, Relation
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.closed_form_relations import CodeBlocks
from coembed.training.closed_form_result import _cell_codes, _precision, _shares


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return fit(general_network(), preset_settings("fast", space_dim=32, validation_pairs=0.0))


def test_rows_that_stand_for_very_many_classes_have_length_one() -> None:
    labels = Labels.build(np.arange(300), [f"c{i}" for i in range(300)])
    blocks = CodeBlocks.of(Network.of([Items.build("thing", 300, labels=labels)], []), 4)
    lengths = np.linalg.norm(blocks.tables["thing"], axis=1)
    assert blocks.tables["thing"].shape == (300, blocks.widths["thing"])
    assert lengths.mean() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("end", ["source", "target"])
@pytest.mark.parametrize("name", ["knows", "follows", "saw", "hobbies"])
def test_who_is_new_has_the_bias_of_a_known_item_with_as_many_entries(fitted, name, end) -> None:
    """Counts of all ways, in the order of relations; only those of the relation itself weigh."""
    relation, relations = fitted.network.relation(name), fitted.relations
    type = getattr(relation, end)
    counts = []
    for each in fitted.network.relations.values():
        if each.column is not None and each.column.has_cells:
            continue
        if each.source == type:
            counts.append(np.diff(each.values.indptr))
        if each.target == type and not each.pairing.undirected:
            counts.append(np.bincount(each.values.indices, minlength=each.values.shape[1]))
    fit_of = relations[name]
    known = getattr(fit_of, f"{end}_bias")
    new = bias_of_new(getattr(fit_of, f"{end}_evidence"), np.stack(counts, axis=1))
    if relation.column is not None and end == "target":
        new = new[relation.column.start : relation.column.stop]
    assert np.ptp(known) > 0.1  # they do differ by how many entries there are
    assert np.allclose(new, known, atol=1e-5)


def ring(codes: np.ndarray, off: float) -> sp.csr_array:
    """A ring whose entries are what the codes say, and `off` more or less in turn."""
    count = len(codes)
    matrix = np.zeros((count, count), np.float32)
    for i in range(count):
        j = (i + 1) % count
        matrix[i, j] = matrix[j, i] = codes[i] @ codes[j] + (off if i % 2 else -off)
    return sp.csr_array(matrix)


def test_how_well_an_item_is_known_is_bayes_rule() -> None:
    """Prior of each coordinate by itself, and of each entry the other end's square, by the noise."""
    codes = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32) * np.array([1, 2, 4], np.float32)
    found = _precision(ring(codes, 0.5), codes, seed=0)
    squares = codes.astype(float) ** 2
    noise = 0.5**2 * 2 * 2  # every item has two entries, which were divided by the root of both
    around = np.roll(squares, 1, axis=0) + np.roll(squares, -1, axis=0)
    assert np.allclose(found, 1 / squares.mean(axis=0) + 2 * 2 * around / noise, rtol=1e-3)


@pytest.mark.parametrize("kind", ["yes/no", "category", "number"])
def test_errors_of_columns_are_in_the_unit_of_their_codes(kind) -> None:
    """Codes and variances are those of a regression on the cells in the unit of logits."""
    rng = np.random.default_rng(1)
    codes = rng.normal(size=(200, 2)).astype(np.float32)
    told = codes[:, 0] + rng.normal(size=200) > 0.7
    width = 2 if kind == "category" else 1
    values = codes[:, :1] + 0.3 * rng.normal(size=(200, 1)) if kind == "number" else told[:, None] * 1.0
    if kind == "category":
        values = np.hstack([values, 1 - values])
    stored = (
        sp.csr_array(values)
        if kind == "category"
        else sp.csr_array(
            (values.ravel().astype(np.float32), (np.arange(200), np.zeros(200, int))), shape=(200, 1)
        )
    )
    column = Column("c", kind, 0, width)
    relation = Relation("c", "a", "b", stored, absent="unknown", column=column)
    pull = 0.1 * np.eye(2)
    found, variances = _cell_codes(relation, codes, pull)
    share = values.mean(axis=0)
    unit = {"number": 1, "category": 1 / share, "yes/no": 1 / (share * (1 - share))}[kind]
    wanted = (values - share) * unit
    expected = np.linalg.solve(codes.T @ codes + pull, codes.T @ wanted)
    errors = np.mean((wanted - codes @ expected) ** 2, axis=0)
    assert np.allclose(found, expected.T, rtol=1e-3, atol=1e-4)
    assert np.allclose(variances, errors[:, None] * np.diag(np.linalg.inv(codes.T @ codes + pull)), rtol=1e-3)


def test_what_is_known_of_classes_where_nothing_is_told() -> None:
    several = np.array([[1, 0], [1, -1], [1, 0], [-1, -1]])
    assert np.allclose(_shares(several, 2), np.tile([3.5 / 4, 0.5 / 3], (4, 1)))
    one = np.array([0, 0, 1, -1])
    assert np.allclose(_shares(one, 3), np.tile(np.array([3, 2, 1]) / 6, (4, 1)))


def test_every_item_with_an_entry_has_a_direction(fitted) -> None:
    """Also an attribute that one item has, and both ends of every relation."""
    network = fitted.network
    for name, items in network.types.items():
        directions = fitted.codes(name).mean
        assert np.isfinite(directions).all()
        has = np.zeros(len(items), bool)
        for relation in network.relations.values():
            if relation.source == name:
                has |= np.diff(relation.values.indptr) > 0
            if relation.target == name:
                has[relation.values.indices] = True
        assert np.allclose(np.linalg.norm(directions[has], axis=1), 1, atol=1e-4)


def test_an_attribute_of_one_owner_is_found_by_it() -> None:
    rng = np.random.default_rng(3)
    group = np.arange(60) % 3
    words = rng.random((60, 21)) < np.where(group[:, None] == np.arange(21) % 3, 0.5, 0.03)
    words[:, 20] = np.arange(60) == 7
    links = np.triu(rng.random((60, 60)) < np.where(group[:, None] == group, 0.3, 0.01), 1)
    found = fit(Network.build((links + links.T) * 1.0, words * 1.0), preset_settings("fast", space_dim=16))
    here, there = found.codes("node").mean, found.codes("attribute").mean
    assert np.isfinite(there).all()
    cosines = here @ there.T
    known = words.astype(bool)
    assert cosines[known].mean() > cosines[~known].mean() + 0.2
    assert cosines[:, 20].argsort()[::-1][:20].tolist().count(7) == 1
