"""Figures of columns and directions, by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.errors import InputError
from coembed.evaluation import (
    Answer,
    Method,
    Pairs,
    Problem,
    Trial,
    draw_splits,
    evaluate,
    evaluate_types,
    scan_method,
    strict_trial,
)
from coembed.evaluation.scoring import hidden_and_known, score_strict
from coembed.metrics import direction_metrics
from coembed.network import Column, Items, Network, Relation
from coembed.settings import Task


class Fixed(Answer):
    """An answer that is known beforehand."""

    def __init__(self, cells: Mapping[str, list]) -> None:
        self.told = cells

    def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.told[relation], dtype=float)[rows]


def table(size: list[float], colour: list[int], old: list[float]) -> Network:
    """Four cars with three columns; NaN or -1 is an empty cell."""

    def column(name: str, kind: str, start: int, stop: int, values: list) -> Relation:
        known = [i for i, value in enumerate(values) if value == value and value != -1]
        category = kind == "category"
        places = [start + int(values[i]) if category else start for i in known]
        data = [1.0 if category else values[i] for i in known]
        matrix = sp.csr_array((data, (known, places)), shape=(4, 5))
        what = Column(name, kind, start, stop)  # type: ignore[arg-type]
        return Relation.build(name, "car", "attribute", matrix, absent="unknown", column=what)

    return Network.of(
        [Items.build("car", 4), Items.build("attribute", 5)],
        [
            column("size", "number", 0, 1, size),
            column("colour", "category", 1, 4, colour),
            column("old", "yes/no", 4, 5, old),
        ],
    )


def test_figures_of_columns_by_hand() -> None:
    nan = float("nan")
    full = table([1.0, 3.0, 0.0, 2.0], [0, 1, 1, 2], [1.0, 0.0, 0.0, 0.0])
    seen = table([nan, nan, 0.0, 2.0], [-1, -1, 1, -1], [nan, 0.0, 0.0, nan])
    rows = {"size": np.array([0, 1]), "colour": np.array([0, 1, 3]), "old": np.array([0, 3])}
    trial = Trial(Problem("columns", seen), np.empty(0), cells=rows)
    shares = [[0.6, 0.3, 0.1], [0.5, 0.4, 0.1], [0, 1, 0], [0.1, 0.1, 0.8]]
    answer = Fixed({"size": [1.0, 2.0, 9.0, 9.0], "colour": shares, "old": [0.9, 0.1, 0.1, 0.6]})
    figures = score_strict(full, trial, answer)
    # size: errors 0 and 1, the hidden cells 1 and 3 lie 1 from their mean 2; the mean of what is seen is 1
    assert figures["r2 size"] == pytest.approx(1 - 1 / 2)
    # colour: 0 and 2 are right; the commonest seen, 1, is right once, so that 2 errors became 1
    assert figures["accuracy colour"] == pytest.approx(2 / 3)
    assert figures["accuracy old"] == pytest.approx(1 / 2)
    assert figures["mean_r2"] == figures["r2 size"]
    assert figures["mean_accuracy"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    # the usual value makes squared errors of 4, two errors, one error
    assert figures["gain"] == pytest.approx(np.mean([1 - 1 / 4, 1 - 1 / 2, 1 - 1 / 1]))


def test_mean_and_mode_gain_nothing() -> None:
    report = evaluate(general_network(), "columns", "mean-or-mode", seeds=2)
    assert report["metrics"]["gain"]["values"] == pytest.approx([0, 0], abs=1e-12)
    assert {"r2 income", "accuracy town", "accuracy member"} < set(report["metrics"])
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_cells_of_another_shape_are_refused() -> None:
    class Flat(Answer):
        def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
            return np.zeros(len(rows))

    flat = Method("flat", ("columns",), lambda problem: Flat(), "")
    with pytest.raises(InputError, match=r"town in shape \(\d+,\)"):
        evaluate(general_network(), "columns", flat, seeds=1)


def test_directions_by_hand() -> None:
    given, turned = np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.0, 2.0])
    figures = direction_metrics(given, turned)
    assert figures["accuracy"] == pytest.approx((1 + 0 + 0.5) / 3)
    # 3 is above all three; 1 above 0 only; 2 above 0 and as high as two
    assert figures["auc"] == pytest.approx((3 + 1 + 2) / 9)


def test_a_directed_link_is_sought_from_its_first_end() -> None:
    network = general_network()
    asked = Pairs(np.array([[0, 1]]), np.array([[2, 3]]))
    hidden, known = hidden_and_known(Problem("links", network, relation="follows"), asked)
    assert hidden.nnz == 1
    assert hidden[0, 1] == 1
    assert known.diagonal().all()
    across, known = hidden_and_known(Problem("links", network, relation="saw"), asked)
    assert across.shape == (120, 60)
    assert not known.diagonal().all()


def test_our_model_answers_by_type_and_relation() -> None:
    network = general_network()
    small = ("epochs=2", "dim=8", "hidden=8", "space_dim=0")
    answer = scan_method.fit(Problem("attributes", network, relation="plot", changes=small))
    scores = answer.row_scores(np.arange(60))
    assert scores.shape == network.relation("plot").values.shape
    pairs = np.array([[0, 3], [59, 19]])
    assert answer.pair_scores(pairs) == pytest.approx(scores[pairs[:, 0], pairs[:, 1]], rel=1e-4)
    assert len(answer.embedding()) == 60
    assert answer.cells("town", np.array([0, 119])).shape == (2, 4)
    probabilities = answer.probabilities()
    assert probabilities is not None
    assert probabilities.shape == (60, 2)


@pytest.mark.parametrize(
    ("task", "kept"),
    [
        ("classification", ({"person", "film"}, set())),
        ("links", (set(), {"knows"})),
        ("direction", (set(), {"follows"})),
    ],
)
def test_what_a_trial_keeps_for_validation_chooses_our_epoch(task: Task, kept: tuple[set, set]) -> None:
    problem = strict_trial(general_network(), draw_splits(general_network(), task, 0.5)).problem
    settings = scan_method.settings_of(problem).change(validation=0.2, validation_pairs=0.05)
    held = scan_method.holdout_of(problem, settings)
    assert held is not None
    assert (set(held.labels), set(held.pairs)) == kept
    assert not scan_method.holdout_of(problem, settings.change(validation=0.0, validation_pairs=0.0))


@pytest.mark.parametrize("method", ["scan", "propagation"])
def test_types_asked_together_have_the_figures_of_each_alone(method: str, monkeypatch) -> None:
    network, fits = general_network(), []
    learn = scan_method.train

    def counted(*given, **how):
        fits.append(1)
        return learn(*given, **how)

    monkeypatch.setattr(scan_method, "train", counted)
    how = {
        "seeds": 1,
        "first_seed": 3,
        "labels": 0.4,
        "changes": ["epochs=2", "label_ensemble=0", "space_dim=0"],
    }
    together = evaluate_types(network, ["person", "film"], method, **how)
    assert len(fits) == (method == "scan")
    for report in together:
        alone = evaluate(network, "classification", method, type=report["type"], **how)
        assert report["metrics"] == alone["metrics"]
        assert (report["seeds"], report["task"]) == ([3], "classification")
