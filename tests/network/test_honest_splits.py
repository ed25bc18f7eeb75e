"""Groups stay whole, and the future is not learnt from."""

from __future__ import annotations

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.evaluation import draw_splits, evaluate
from coembed.evaluation.trial import strict_trial
from coembed.network import make_customers
from coembed.network.honest_splits import Sides, sides_of, split_cells_by, split_labels_by
from coembed.network.readers.read import Asked, open_items
from coembed.network.readers.side_column import read_sides
from coembed.network.readers.table_folder import build_network


@pytest.fixture(scope="module")
def customers():
    return make_customers(200)


def given_of(split):
    return np.concatenate([split.train, split.validation])


@pytest.mark.parametrize("seed", range(5))
def test_no_group_is_on_both_sides(customers, seed):
    groups = np.random.default_rng(seed).integers(0, 25, 200).astype(float)
    split = split_labels_by(customers, Sides("group", groups, "g"), labels=0.5, seed=seed)
    sides = [set(groups[rows]) for rows in (split.train, split.validation, split.test)]
    assert not sides[0] & sides[1]
    assert not sides[1] & sides[2]
    assert not sides[0] & sides[2]
    assert abs(len(given_of(split)) / 200 - 0.5) < 0.06
    assert len(given_of(split)) + len(split.test) == 200


def test_seeds_draw_other_groups_and_items_without_one_stand_alone(customers):
    groups = np.repeat(np.arange(20.0), 10)
    groups[:50] = np.nan
    sides = Sides("group", groups, "g")
    first, second = (split_labels_by(customers, sides, 0.5, seed=seed) for seed in (0, 1))
    assert set(first.test) != set(second.test)
    alone = np.arange(50)
    assert 0 < len(np.intersect1d(first.test, alone)) < 50


def test_the_past_is_learnt_from_and_the_future_asked(customers):
    times = np.random.default_rng(0).integers(0, 30, 200).astype(float)
    times[:10] = np.nan
    split = split_labels_by(customers, Sides("time", times, "t"), labels=0.6)
    assert times[split.train].max() < times[split.validation].min()
    assert times[split.validation].max() < times[split.test].min()
    assert not set(range(10)) & {*split.train, *split.validation, *split.test}
    other = split_labels_by(customers, Sides("time", times, "t"), labels=0.6, seed=5)
    np.testing.assert_array_equal(other.test, split.test)


def test_all_cells_of_the_rows_in_question_are_hidden_but_for_the_time_itself(customers):
    times = np.arange(200.0)
    split = split_cells_by(customers, Sides("time", times, "joined"), "customers")
    assert not any(name.startswith("joined") for name in split.hidden)
    seen = split.visible(customers)
    for name, pairs in split.hidden.items():
        assert (pairs[:, 0] >= 180).all()
        assert not seen.relation(name).values[180:].nnz
        assert seen.relation(name).values[:180].nnz == customers.relation(name).values[:180].nnz


def test_a_trial_sees_only_the_given_side(customers):
    groups = np.arange(200.0) // 20
    splits = draw_splits(customers, "classification", 0.5, 0, None, None, Sides("group", groups, "g"))
    trial = strict_trial(customers, splits)
    assert not set(groups[trial.nodes]) & set(groups[trial.problem.labelled])
    by_group = Sides("group", groups, "g")
    report = evaluate(customers, "classification", "majority", labels=0.5, seeds=1, sides=by_group)
    given = len(trial.problem.labelled)
    sizes = {"given": [given], "asked": [200 - given], "unseen": [0]}
    assert report["split"] == {"by": "group", "column": "g", **sizes}


def test_classes_that_nobody_could_know_are_counted(customers):
    late = customers.main.labels.values == 1
    times = np.arange(200.0) + 1000 * late
    by_time = Sides("time", times, "t")
    report = evaluate(customers, "classification", "majority", labels=0.3, seeds=1, sides=by_time)
    assert report["split"]["unseen"] == [int(late.sum())]


def test_what_cannot_be_split_is_refused(customers):
    with pytest.raises(InputError, match="one value only"):
        sides_of(customers.main, "group", np.zeros(200), "g")
    with pytest.raises(InputError, match="leaves nothing to learn from"):
        split_labels_by(customers, Sides("group", np.arange(200.0) // 100, "g"), labels=0.1)
    with pytest.raises(InputError, match="leave them out for pairs"):
        evaluate(customers, "links", "degree", seeds=1, sides=Sides("group", np.arange(200.0), "g"))
    with pytest.raises(InputError, match="splits of its own"):
        evaluate(
            customers,
            "classification",
            "majority",
            protocol="published",
            sides=Sides("group", np.arange(200.0), "g"),
        )


def test_any_column_of_the_table_can_split_even_one_that_is_left_out(tmp_path):
    rows = [
        "1,a,x1,2020-01-05,5",
        "2,b,x1,2019-02-03,6",
        "2,b,x1,2019-02-03,6",
        "3,a,x2,,7",
        "4,b,x3,2021-01-01,8",
    ]
    (tmp_path / "visits.csv").write_text("\n".join(["id,ill,patient,day,x", *rows]))
    found = open_items(tmp_path / "visits.csv", asked=Asked(["ill"]))
    network = build_network(found)
    groups = read_sides(found, network, "visits", "group", "patient").values
    assert groups[0] == groups[1]
    assert len(np.unique(groups)) == 3
    days = read_sides(found, network, "visits", "time", "visits.day").values
    assert np.argsort(days[[0, 1, 3]]).tolist() == [1, 0, 2]
    assert np.isnan(days[2])
    assert read_sides(found, network, "visits", "time", "x").values.tolist() == [5, 6, 7, 8]
    with pytest.raises(InputError, match="neither dates nor numbers"):
        read_sides(found, network, "visits", "time", "patient")
    with pytest.raises(InputError, match="no column of visits 'patiant'"):
        read_sides(found, network, "visits", "group", "patiant")
