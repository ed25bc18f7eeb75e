import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from coembed.errors import InputError
from coembed.fitted.moments import unit_length
from coembed.fitted.questions import top
from coembed.network.network import Network

from .conftest import with_space


def names(matches):
    return [match.name for match in matches]


def test_completion_ranks_the_attributes_a_node_lacks_by_score(any_fitted):
    network = any_fitted.network
    lacking = np.flatnonzero(network.attributes[[3]].toarray()[0] == 0)
    scores = any_fitted.score_rows(np.array([3]), "attributes")[0]
    right = sorted(lacking, key=lambda a: -scores[a])[:4]
    found = any_fitted.complete_attributes("n3", k=4)
    assert names(found) == [f"word{a}" for a in right]
    np.testing.assert_allclose([m.score for m in found], scores[right], rtol=1e-6)
    assert all(not m.known and m.std > 0 and m.kind == "attribute" and m.label is None for m in found)


def test_known_attributes_come_back_on_request_and_are_marked(fitted):
    found = fitted.complete_attributes(3, k=100, known=True, positions=True)
    assert len(found) == 15
    owned = set(fitted.network.attributes[[3]].indices)
    assert {m.name for m in found if m.known} == {f"word{a}" for a in owned}


def test_suggested_links_are_neither_the_node_nor_its_neighbours(any_fitted):
    neighbours = {f"n{j}" for j in any_fitted.network.links[[5]].indices}
    found = any_fitted.suggest_links("n5", k=1000)
    assert set(names(found)) == {f"n{j}" for j in range(40)} - neighbours - {"n5"}
    assert [m.score for m in found] == sorted((m.score for m in found), reverse=True)


def test_profile_and_nodes_about_are_cosines_of_codes(fitted):
    cosines = unit_length(fitted.nodes.mean) @ unit_length(fitted.attribute_mean).T
    found = fitted.profile("n0", k=15)
    assert names(found) == [f"word{a}" for a in np.argsort(-cosines[0], kind="stable")]
    np.testing.assert_allclose([m.score for m in found], np.sort(cosines[0])[::-1], rtol=1e-5)
    about = fitted.nodes_about("word2", k=40)
    assert names(about) == [f"n{i}" for i in np.argsort(-cosines[:, 2], kind="stable")]
    assert {m.name for m in about if m.known} == {
        f"n{i}" for i in fitted.network.attributes[:, [2]].nonzero()[0]
    }


def test_nodes_are_told_with_their_class_observed_before_predicted(fitted):
    network = fitted.network
    for match in fitted.nodes_about("word0", k=40):
        i = network.node_index(match.name)
        k = network.labels[i] if network.labels[i] >= 0 else fitted.probabilities[i].argmax()
        assert match.label == f"class {k}"


def test_similar_stays_within_the_kind_and_leaves_the_item_out(fitted):
    assert set(names(fitted.similar("n1", k=99))) == {f"n{i}" for i in range(40)} - {"n1"}
    assert set(names(fitted.similar("word1", k=99))) == {f"word{a}" for a in range(15)} - {"word1"}
    assert names(fitted.similar(1, positions=True)) == names(fitted.similar("n1", type="node"))
    assert names(fitted.similar(1, type="attribute", positions=True)) == names(fitted.similar("word1"))


def test_a_less_certain_item_has_a_wider_cosine(fitted):
    vague = with_space(fitted, "attribute", std=fitted.attribute_std * 1.2)
    narrow, wide = fitted.profile("n0", k=5), vague.profile("n0", k=5)
    assert names(narrow) == names(wide)
    assert all(a.std < b.std or b.std == 1 for a, b in zip(narrow, wide, strict=True))


def test_answers_without_classes_and_without_attributes(unlabelled, bare):
    assert all(m.label is None for m in unlabelled.suggest_links("n0"))
    assert bare.profile("n0") == []
    assert bare.complete_attributes("n0") == []
    assert len(bare.similar("n0")) == 10


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (lambda f: f.profile("n99"), "no node 'n99'; did you mean"),
        (lambda f: f.nodes_about("wrod1"), "no attribute 'wrod1'; did you mean 'word1'"),
        (lambda f: f.profile(-1, positions=True), "no position -1; count from 0 to 39"),
        (lambda f: f.profile("n0", k=0), "k must be at least 1, got 0"),
        (lambda f: f.similar("n0", type="edge"), "no type 'edge'"),
    ],
)
def test_bad_questions_are_answered_with_what_to_do(fitted, question, message):
    with pytest.raises(InputError, match=message):
        question(fitted)


def test_a_name_of_two_kinds_must_be_told_apart():
    from coembed.fitted.matches import type_of

    network = Network.build([[0]], [[1]], node_names=["jazz"], attribute_names=["jazz"])
    with pytest.raises(InputError, match="is one of several types of network"):
        type_of(network, "jazz")
    assert type_of(network, "jazz", "attribute") == "attribute"


def test_top_equals_a_full_stable_sort(rng):
    scores = rng.integers(0, 6, 200).astype(float)
    without = rng.choice(200, 50, replace=False)
    order = [i for i in np.argsort(-scores, kind="stable") if i not in set(without)]
    for k in (1, 7, 149, 150, 500):
        assert list(top(scores, k, without)) == order[:k]


def test_a_question_about_attributes_does_not_measure_all_nodes(fitted):
    fresh = replace(fitted)
    fresh.profile("n3", k=2)
    assert "node" not in fresh._lengths
    fresh.nodes_about("word0", k=2)
    assert "node" in fresh._lengths


def test_reading_a_result_imports_neither_torch_nor_sklearn():
    code = "import sys, coembed.fitted; sys.exit(bool({'torch', 'sklearn'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
