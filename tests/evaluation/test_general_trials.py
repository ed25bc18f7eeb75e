"""Trials on networks of several types: what is hidden, what is shown, and what nothing may depend on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from general_network import general_network

from coembed.baselines import METHODS, floors
from coembed.errors import InputError
from coembed.evaluation import Problem, Splits, draw_splits, evaluate, strict_trial
from coembed.evaluation.asked import Asked, what_is_asked
from coembed.evaluation.direction_split import split_direction
from coembed.network import UNKNOWN, Network, Relation
from coembed.network.cell_values import cell_values
from coembed.network.pairs import entries
from coembed.settings import Task

ASKED: list[tuple[Task, dict[str, str]]] = [
    ("classification", {}),
    ("classification", {"type": "film"}),
    ("links", {}),
    ("links", {"relation": "follows"}),
    ("links", {"relation": "saw"}),
    ("attributes", {}),
    ("attributes", {"relation": "plot"}),
    ("columns", {}),
    ("columns", {"type": "film"}),
    ("direction", {}),
]


@pytest.fixture(scope="module")
def network() -> Network:
    return general_network()


def test_the_first_that_can_be_asked_is_asked(network: Network) -> None:
    assert what_is_asked(network, "classification") == Asked("person", None)
    assert what_is_asked(network, "columns", "film") == Asked("film", None)
    assert what_is_asked(network, "links") == Asked("person", "knows")
    assert what_is_asked(network, "links", "film") == Asked("person", "saw")
    assert what_is_asked(network, "attributes") == Asked("person", "hobbies")
    assert what_is_asked(network, "attributes", "film") == Asked("film", "plot")
    assert what_is_asked(network, "direction") == Asked("person", "follows")


@pytest.mark.parametrize(
    ("task", "given", "said"),
    [
        ("classification", {"type": "dog"}, "no type 'dog'"),
        ("classification", {"type": "film attributes"}, "these types have some: person, film"),
        ("classification", {"relation": "knows"}, "leave relation 'knows' out"),
        ("links", {"relation": "income"}, "choose task columns"),
        ("links", {"relation": "knows", "type": "film"}, "not film"),
        ("direction", {"relation": "knows"}, "not directed"),
        ("direction", {"type": "film"}, "no directed relation of film"),
        ("links", {"relation": "likes"}, "no relation 'likes'"),
    ],
)
def test_what_cannot_be_asked_is_refused(network: Network, task: Task, given: dict, said: str) -> None:
    with pytest.raises(InputError, match=said) as refusal:
        evaluate(network, task, "scan", seeds=1, **given)
    assert "\n" not in str(refusal.value)


def test_a_share_of_the_labels_of_every_type_is_seen(network: Network) -> None:
    trial = strict_trial(network, draw_splits(network, "links", labels=0.2))
    seen = trial.problem.network
    for name, count in (("person", 24), ("film", 12)):
        labels = seen.items(name).labels
        assert labels is not None
        assert len(labels.known) == count
    assert set(trial.problem.other_validation) == {"film"}
    tuned = strict_trial(network, draw_splits(network, "links", labels=0.2), part="validation").problem
    film = tuned.network.items("film").labels
    assert film is not None
    assert len(film.known) == 12 - len(trial.problem.other_validation["film"])
    assert strict_trial(network, draw_splits(network, "links", labels=0)).problem.network.labelled_types == []


def test_absent_pairs_of_a_column_are_among_its_own_attributes(network: Network) -> None:
    for relation, own in (("hobbies", range(30)), ("plot", range(20))):
        pairs = draw_splits(network, "attributes", relation=relation).pairs
        assert pairs is not None
        for absent in (pairs.test_negatives, pairs.validation_negatives, pairs.test_matched):
            assert np.isin(absent[:, 1], own).all()


def test_cells_in_question_cannot_be_seen(network: Network) -> None:
    trial = strict_trial(network, draw_splits(network, "columns"))
    assert set(trial.cells) == {"income", "town", "member"}
    for name, rows in trial.cells.items():
        before, seen = (cell_values(each.relation(name)) for each in (network, trial.problem.network))
        assert not np.isnan(before[rows]).any()
        assert np.isnan(seen[rows]).all()
        assert np.isnan(seen).sum() == np.isnan(before).sum() + len(rows)
        assert len(rows) == round(0.1 * (~np.isnan(before)).sum())
    tuned = strict_trial(network, draw_splits(network, "columns"), part="validation")
    for name, rows in tuned.cells.items():
        assert not np.isin(rows, trial.cells[name]).any()
        assert np.isnan(cell_values(tuned.problem.network.relation(name))[trial.cells[name]]).all()


@pytest.mark.parametrize("part", ["test", "validation"])
def test_no_link_that_leaves_an_end_in_question_can_be_seen(network: Network, part: Any) -> None:
    trial = strict_trial(network, draw_splits(network, "direction", seed=2), part=part)
    assert trial.turned is not None
    ends = np.unique(trial.turned.positives)
    seen = entries(trial.problem.network.relation("follows").values)
    assert not np.isin(seen[:, 0], ends).any()
    if trial.problem.pairs is not None:
        for pairs in trial.problem.pairs:
            assert not np.isin(pairs[:, 0], ends).any()
    full = set(map(tuple, entries(network.relation("follows").values).tolist()))
    assert all(tuple(pair) in full for pair in trial.turned.positives.tolist())
    assert not any(tuple(pair) in full for pair in trial.turned.negatives.tolist())


def test_links_that_go_both_ways_have_no_direction_to_ask_for() -> None:
    both = np.ones((4, 4)) - np.eye(4)
    items = general_network().items("film")
    matrix = np.zeros((len(items), len(items)))
    matrix[:4, :4] = both
    network = Network.of([items], [Relation.build("likes", "film", "film", matrix, directed=True)])
    with pytest.raises(InputError, match="go one way only"):
        split_direction(network, "likes")


def turned_over(network: Network, splits: Splits) -> Network:
    """Whatever is in question is something else: labels, pairs, cells, the way of links."""
    for split in splits.all_labels:
        labels = network.items(split.type).labels
        assert labels is not None
        values = labels.values.copy()
        values[split.test] = (values[split.test] + 1) % labels.n_classes
        network = network.with_labels(values, split.type)
    if splits.pairs is not None:
        pairs = splits.pairs
        relation = network.relation(pairs.relation)
        matrix = sp.lil_array(relation.values)
        gone = np.concatenate([pairs.validation, pairs.test])
        new = np.concatenate([pairs.validation_negatives, pairs.test_negatives, pairs.test_matched])
        for rows, value in ((gone, 0), (new, 3)):
            matrix[rows[:, 0], rows[:, 1]] = value
            if relation.pairing.undirected:
                matrix[rows[:, 1], rows[:, 0]] = value
        network = network.with_values({relation.name: _canonical(matrix)})
    if splits.direction is not None:
        relation = network.relation(splits.direction.relation)
        matrix = sp.lil_array(relation.values)
        for i, j in splits.direction.test:
            matrix[i, j], matrix[j, i] = 0, 1
        # and one end has many more links to leave it
        matrix[splits.direction.test[0, 0], 10:20] = 1
        network = network.with_values({relation.name: _canonical(matrix)})
    if splits.cells is not None:
        changed = {}
        for name, hidden in splits.cells.hidden.items():
            relation = network.relation(name)
            assert relation.column is not None
            values = relation.values.copy()
            at = np.isin(entries(values)[:, 0], hidden[:, 0])
            if relation.column.kind == "category":
                span = relation.column.stop - relation.column.start
                values.indices[at] = (
                    relation.column.start + (values.indices[at] - relation.column.start + 1) % span
                )
            else:
                values.data[at] = 5 - values.data[at]
            changed[name] = values
        network = network.with_values(changed)
    return network


def _canonical(matrix: sp.lil_array) -> sp.csr_array:
    csr = sp.csr_array(matrix, dtype=np.float32)
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


@pytest.mark.parametrize(("task", "given"), ASKED)
def test_what_is_hidden_leaves_no_trace(network: Network, task: Task, given: dict) -> None:
    splits = draw_splits(network, task, 0.3, 0, given.get("type"), given.get("relation"))
    first, second = (strict_trial(each, splits).problem for each in (network, turned_over(network, splits)))
    for name in floors(first):
        learnt, other = (METHODS[name].fit(problem).arrays() for problem in (first, second))
        assert learnt.keys() == other.keys()
        assert all(np.array_equal(learnt[each], other[each]) for each in learnt), name


@pytest.mark.parametrize(("task", "given"), ASKED)
def test_masked_inputs_lack_a_share_of_every_other_relation(
    network: Network, task: Task, given: dict
) -> None:
    splits = draw_splits(network, task, 0.3, 0, given.get("type"), given.get("relation"))
    full, masked = (strict_trial(network, splits, inputs).problem.network for inputs in ("full", "masked"))
    cells = set(splits.cells.hidden) if splits.cells is not None else set()
    for name, relation in full.relations.items():
        kept = masked.relation(name).n_entries / relation.n_entries
        asked = name == splits.asked.relation or name in cells
        assert kept == pytest.approx(1 if asked else 0.85, abs=0.02)


def test_a_plain_network_under_other_names_is_split_alike(demo: Network) -> None:
    joined, owned = demo.relation("links"), demo.relation("attributes")
    items, words = demo.items("node"), demo.items("attribute")
    assert items.labels is not None
    other = Network.of(
        [
            type(items).build("sense", items.ids, labels=items.labels),
            type(words).build("word", words.ids),
        ],
        [
            Relation.build("near", "sense", "sense", joined.values),
            Relation.build("told by", "sense", "word", owned.values, column=owned.column),
        ],
    )
    assert not other.is_plain
    for task in ("classification", "links", "attributes"):
        first, second = (draw_splits(each, task, seed=1) for each in (demo, other))  # type: ignore[arg-type]
        assert first.labels is not None
        assert second.labels is not None
        assert np.array_equal(first.labels.test, second.labels.test)
        if first.pairs is not None:
            assert second.pairs is not None
            assert first.pairs.test.shape == second.pairs.test.shape
            assert first.pairs.validation.shape == second.pairs.validation.shape
    figures = [evaluate(each, "classification", "propagation", seeds=1) for each in (demo, other)]
    assert figures[0]["metrics"] == figures[1]["metrics"]
    assert (figures[1]["type"], figures[1]["relation"]) == ("sense", None)


def test_the_published_protocol_is_for_plain_networks(network: Network) -> None:
    with pytest.raises(InputError, match="plain networks"):
        evaluate(network, "classification", "majority", seeds=1, protocol="published")


def test_a_problem_says_what_it_is_about(network: Network) -> None:
    problem = Problem("links", network, relation="saw")
    assert (problem.type, problem.relation, problem.asked.target) == ("person", "saw", "film")
    film = Problem("classification", network, type="film")
    assert np.array_equal(film.labelled, np.arange(60))
    assert Problem("columns", network, type="film").labels[0] != UNKNOWN


def test_ways_are_validated_only_with_pairs_of_both_kinds(network: Network) -> None:
    splits = draw_splits(network, "direction", seed=0)
    assert splits.direction is not None
    held = splits.direction.held
    for pairs, shown in ((held, True), (held._replace(negatives=held.negatives[:0]), False)):
        some = replace(splits, direction=replace(splits.direction, held=pairs))
        assert (strict_trial(network, some).problem.pairs is not None) == shown
