"""Small pieces of training whose answers can be worked out by hand."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from people_network import people_network

from coembed.distributed.partition import Partition
from coembed.evaluation import training_truth
from coembed.evaluation.training_truth import BETTER
from coembed.fitted import Fitted
from coembed.kernels.all_pairs import random_block
from coembed.model.views_inference import _deviations
from coembed.network import Column, Relation
from coembed.settings import preset_settings
from coembed.training import closed_form_space, common_space, fit
from coembed.training.closed_form_relations import _usual
from coembed.training.closed_form_result import _cell_codes
from coembed.training.extraction import Calibration
from coembed.training.label_combination import best_temperature, how_far_to_lean
from coembed.training.label_ensemble import Ensemble
from coembed.training.label_views import FOLDS, SPREAD, LabelledType, _spread_several, spread_all
from coembed.training.several_label_ensemble import one_by_one
from coembed.training.space_choice import KeptAside, leaning


def test_what_reaches_nobody_is_as_common_as_among_the_known() -> None:
    labels = np.array([[1, 0], [1, 0], [0, 0], [-1, -1]], dtype=np.int8)
    shares = (labels[:3].sum(axis=0) + 0.5) / 4
    found = _spread_several(None, labels)
    np.testing.assert_allclose(found[3], shares, rtol=1e-5)
    np.testing.assert_array_equal(found[:3], labels[:3])


def test_what_reaches_an_item_is_between_no_and_yes() -> None:
    labels = np.array([[1, -1], [-1, 0], [-1, -1]], dtype=np.int8)
    walk = sp.csr_array(np.full((3, 3), 1 / 3, dtype=np.float32))
    found = _spread_several(walk, labels)
    assert found[2, 0] > 0.9
    assert found[2, 1] < 0.1


def test_a_class_of_which_nothing_is_known_may_be_or_not() -> None:
    labels = np.array([[-1, 1], [-1, 1]], dtype=np.int8)
    found = one_by_one(None, np.zeros((2, 1)), labels)
    np.testing.assert_allclose(found[:, 0], 0, atol=1e-6)
    np.testing.assert_allclose(found[:, 1], np.log(2.5 / 0.5), rtol=1e-5)


def test_labels_spread_as_the_series_says() -> None:
    """(1 - s) (1 + s W + s^2 W^2 + ...) of the labels, and a pinch of how common each is."""
    walk = np.array([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]])
    labels = np.array([0, -1, 1])
    start = np.array([[1.0, 0], [0, 0], [0, 1]])
    moved = np.zeros_like(start)
    for _ in range(3):
        moved = SPREAD * walk @ moved + (1 - SPREAD) * start
    mixed = moved + 1e-4 * np.array([0.5, 0.5])
    (found,) = spread_all(sp.csr_array(walk.astype(np.float32)), [labels], 2, rounds=3)
    np.testing.assert_allclose(found[1], mixed[1] / mixed[1].sum(), rtol=1e-5)
    np.testing.assert_array_equal(found[[0, 2]], start[[0, 2]])


def test_no_temperature_is_beyond_twenty() -> None:
    sure, even = torch.tensor([[100.0, 0.0]]), torch.tensor([[0.5, 0.5]])
    assert best_temperature(sure, even) == pytest.approx(20, rel=0.01)
    assert best_temperature(0.001 * sure, torch.tensor([[1.0, 0.0]])) == pytest.approx(0.05, rel=0.01)


def test_without_links_nothing_leans_towards_them() -> None:
    labels = np.arange(10) % 2
    own = LabelledType(labels, 2, np.arange(10) % FOLDS, None)
    said = [np.full((10, 2), 0.5)] * FOLDS
    assert how_far_to_lean(said, own, (0.0, 0.9)).strength == 0.0


def test_a_table_has_trees_and_shares_of_classes_among_its_members(general: Fitted) -> None:
    """Where little is told, those who are less sure should still know how many each class has."""
    assert {"trees", "class shares", "spreading"} <= set(general.history["out_of_fold"]["person"])


def test_cells_lie_where_their_values_lead(general: Fitted) -> None:
    part = closed_form_space._cells(general, "person", 8, 0)
    cells = [each for each in general.network.columns("person") if each.column and each.column.has_cells]
    cosines = part.here @ part.there.T
    for relation in cells:
        column = relation.column
        assert column is not None
        held = relation.values.tocoo()
        signs = np.where(held.data > 0, 1, -1) if column.kind in ("number", "yes/no") else np.ones(held.nnz)
        signs = np.where((held.data == 0) & (column.kind == "yes/no"), -1, signs)
        assert np.mean(cosines[held.row, held.col] * signs > 0) > 0.75, relation.name


def test_every_type_may_lean(general: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that only some of the relations that are asked about have."""
    better = iter(range(100))
    monkeypatch.setattr(KeptAside, "recall", lambda *_: float(next(better)))
    directions = {name: general.codes(name).mean for name in general.network.types}
    asked = {
        name: KeptAside(*ends, np.arange(1), sp.csr_array((1, 1)), sp.csr_array((1, 1)))
        for name, ends in {"saw": ("person", "film"), "follows": ("person", "person")}.items()
    }
    assert general.placing is not None
    found = leaning(general, asked, directions, general.placing.steering)
    moved = {name for name, rows in found.items() if not np.array_equal(rows, directions[name])}
    assert moved == {"person", "film"}


def test_what_is_usual_of_a_cell() -> None:
    """A mean, the logit of a share, or the logarithm of one."""
    values = {
        "number": np.array([[2.0], [4.0], [0.0]]),
        "yes/no": np.array([[1.0], [1.0], [1.0], [0.0]]),
        "category": np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    }
    found = {}
    for kind, matrix in values.items():
        stored = sp.csr_array(matrix)
        if kind == "yes/no":  # all are known, one says no
            stored = sp.csr_array((matrix.ravel(), np.zeros(4, int), np.arange(5)), shape=(4, 1))
        column = Column("x", kind, 0, matrix.shape[1])
        found[kind] = _usual(Relation.build("x", "a", "b", stored, absent="unknown", column=column))
    np.testing.assert_allclose(found["number"], 3)
    np.testing.assert_allclose(found["yes/no"], np.log(0.75 / 0.25), rtol=1e-6)
    np.testing.assert_allclose(found["category"], np.log([2 / 3, 1 / 3]), rtol=1e-6)


def test_settings_that_say_no_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    fitting = sys.modules["coembed.training.fit"]
    monkeypatch.setattr(fitting, "_calibration", lambda *_: pytest.fail("it was calibrated"))
    settings = preset_settings("best", epochs=1, dim=4, hidden=4, rank=4, label_ensemble=0.0, space_dim=8)
    fitted = fit(people_network(), settings.change(calibrate=False))
    assert fitted.codes("person").mean.shape[1] == 8


def test_logits_are_divided_and_then_moved() -> None:
    logits = torch.tensor([[2.0, 6.0]])
    assert Calibration(2.0).of(logits).tolist() == [[1.0, 3.0]]
    several = Calibration(np.array([2.0, 3.0]), np.array([1.0, -1.0]))
    assert several.of(logits).tolist() == [[2.0, 1.0]]


def test_deviations_have_no_mean_of_a_class_or_a_node() -> None:
    logits = torch.tensor([[1.0, 5.0, 2.0], [0.0, 7.0, -4.0]], dtype=torch.float64)
    found = _deviations(logits, Partition.whole(2))
    for dim in (0, 1):
        np.testing.assert_allclose(found.mean(dim=dim), 0, atol=1e-12)
    np.testing.assert_allclose(found, logits - logits.mean(0) - logits.mean(1, keepdim=True) + logits.mean())


def test_cells_that_codes_tell_exactly_are_told_without_an_error() -> None:
    """The others with as much as is left."""
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(50, 2))
    codes -= codes.mean(axis=0)
    exact, noise = codes @ [1.0, -2.0], rng.normal(size=50)
    column, pull = Column("x", "number", 0, 1), 1e-9 * np.eye(2)
    spreads = []
    for values in (exact, exact + noise - noise.mean()):
        relation = Relation.build("x", "a", "b", values[:, None], absent="unknown", column=column)
        weights, variances = _cell_codes(relation, codes, pull)
        spreads.append(variances[0])
        assert weights.shape == (1, 2)
    assert (spreads[0] < 1e-9).all()
    left = noise - noise.mean()
    left -= codes @ np.linalg.lstsq(codes, left, rcond=None)[0]
    expected = np.mean(left**2) * np.diag(np.linalg.inv(codes.T @ codes))
    np.testing.assert_allclose(spreads[1], expected, rtol=1e-4)


def test_the_space_is_chosen_with_the_pairs_that_were_held_out(
    general: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Seen(Exception):
        pass

    def see(_: Fitted, holdout: object, *__: object) -> dict[str, KeptAside]:
        raise Seen(holdout)

    monkeypatch.setattr(common_space, "kept_aside", see)
    held = common_space.Holdout(pairs={"saw": (np.zeros((1, 2), int), np.ones((1, 2), int))})
    with pytest.raises(Seen) as seen:
        common_space.with_common_space(general, held)
    assert seen.value.args[0] is held


def test_what_has_a_direction_is_not_answered_by_cosines(general: Fitted) -> None:
    """A cosine is the same both ways."""
    assert general.network.relation("follows").directed
    assert "codes" not in general.relations["follows"].blends
    assert not general.relations["follows"].by_codes


def test_an_ensemble_says_what_its_figures_are() -> None:
    told = Ensemble(np.zeros((1, 2)), 0.0, {"linear": 1.0}, {"linear": 0.5, "together": 0.6}, 1.0, "")
    assert told.in_words("") == "classes, out of fold: linear 50 %; together 60 %"
    several = replace(told, thresholds=np.zeros(2))
    assert several.in_words(" of x").startswith("classes of x, out of fold (mean average precision): linear")


def test_what_is_better_by_a_hair_is_not_said_to_be(general: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = general.history["out_of_fold"]["person"]["together"]
    for beside, worse in ((figure + 0.5 * BETTER, False), (figure + 2 * BETTER, True)):
        monkeypatch.setattr(training_truth, "simple_figures", lambda *_, b=beside: {"majority": 0.0, "x": b})
        said = training_truth.truth_of(general, "person").look_at
        assert ("a simple method is better here than this model" in said) == worse


def test_a_block_of_a_relation_with_itself_has_no_item_twice() -> None:
    for size in (3, 5, 50):
        block = random_block(11, 11, size, True, torch.Generator().manual_seed(0))
        assert len(block.rows) == len(block.columns) == min(size, 5)
        assert not set(block.rows.tolist()) & set(block.columns.tolist())
        assert block.scale == pytest.approx(11 * 10 / min(size, 5) ** 2)
