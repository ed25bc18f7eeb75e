"""What is said of a fit at its end is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from coembed.baselines import METHODS
from coembed.evaluation import Problem
from coembed.evaluation.training_truth import simple_figures, truth_of, with_truth
from coembed.network import from_tables, make_customers
from coembed.settings import preset_settings
from coembed.training import fit
from coembed.training.label_views import LabelledType


@pytest.fixture(scope="module")
def customers():
    return make_customers(150)


@pytest.fixture(scope="module")
def model(customers):
    return with_truth(fit(customers, preset_settings("best", epochs=3, dim=8, space_dim=0)))


def test_simple_methods_are_judged_on_labels_that_they_did_not_see(customers):
    found = simple_figures(customers, "customers")
    assert set(found) == {"majority", "propagation", "linear-own", "trees-own"}
    own = LabelledType.of(customers, "customers", 0)
    right = []
    for fold in range(5):
        hidden = customers.with_labels(own.without(fold), "customers")
        told = METHODS["linear-own"].fit(Problem("classification", hidden)).probabilities()
        rows = np.flatnonzero(own.folds == fold)
        right += (told[rows].argmax(axis=1) == own.labels[rows]).tolist()
    assert found["linear-own"] == pytest.approx(np.mean(right))


def test_the_three_lines_hold_the_figures_of_the_fit(model):
    told = model.history["truth"]["customers"]
    assert told["score"] == model.history["out_of_fold"]["customers"]["together"]
    assert sum(told["follows"].values()) == pytest.approx(1, abs=0.05)
    first, second, third = told["lines"]
    assert f"{told['score']:.0%} accuracy" in first
    assert f"({told['best_simple']}): {max(told['simple'].values()):.0%}" in first
    assert second.startswith("they follow ")
    assert third == "nothing that calls for a look"


def test_what_may_be_wrong_is_pointed_at(model):
    rng = np.random.default_rng(0)
    group = np.repeat(["left", "right", "up"], [100, 96, 4])
    people = pa.table(
        {
            "id": [f"p{i}" for i in range(200)],
            "x": rng.standard_normal(200),
            "side": [f"{g}-side" for g in group],
            "nick": [f"nick{i}" for i in rng.permutation(200)],
            "group": group.tolist(),
        }
    )
    network = from_tables({"people": people}, labels=["group"])
    fitted = replace(fit(network, preset_settings("best", epochs=1, dim=4, space_dim=0)))
    said = truth_of(fitted, "people", simple=False)
    assert said.look_at[0].startswith("side alone tells the class of")
    assert said.look_at[1] == "classes with few labels: up 4"
    assert said.look_at[2] == "columns left out: nick"
    worse = replace(fitted, history={**fitted.history, "out_of_fold": {"people": {"together": 0.2}}})
    told = truth_of(worse, "people")
    assert told.look_at[0] == "a simple method is better here than this model"
    unknown = replace(fitted, history={})
    assert "no labels were kept aside" in truth_of(unknown, "people", simple=False).lines[0]
