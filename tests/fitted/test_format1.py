"""A model that version 0.1 saved is still read, and answers as it did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coembed
from coembed.network import Network

PLACE = Path(__file__).parents[1] / "fixtures" / "format1"


def said(matches: list[Any]) -> list[tuple[Any, ...]]:
    return [(m.name, m.kind, pytest.approx(m.score, abs=2e-4), m.known, m.label) for m in matches]


@pytest.mark.parametrize("preset", ["paper", "best"])
def test_answers_are_those_of_version_0_1(preset: str) -> None:
    wanted = json.loads((PLACE / f"{preset}.json").read_text(encoding="utf-8"))
    fitted = coembed.load(PLACE / preset)
    node, attribute = wanted["node"], wanted["attribute"]
    assert fitted.predict().tolist() == wanted["predict"]
    np.testing.assert_allclose(fitted.predict_proba()[:5], wanted["probabilities"], atol=2e-5)
    for question, answer in (
        ("complete", fitted.complete_attributes(node, 5)),
        ("links", fitted.suggest_links(node, 5)),
        ("profile", fitted.profile(node, 5)),
        ("about", fitted.nodes_about(attribute, 5)),
        ("similar", fitted.similar(node, 5)),
    ):
        assert [(n, k, s, w, c) for n, k, s, _, w, c in wanted[question]] == said(answer), question


@pytest.mark.parametrize("preset", ["paper", "best"])
def test_new_nodes_are_placed_as_by_version_0_1(preset: str) -> None:
    wanted = json.loads((PLACE / f"{preset}.json").read_text(encoding="utf-8"))
    fitted = coembed.load(PLACE / preset)
    known = fitted.network
    new = Network.build(
        np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
        np.array([[1, 1, 0], [0, 0, 0], [0, 0, 0]]),
        node_names=["newcomer", str(known.node_names[0]), str(known.node_names[3])],
        attribute_names=[str(name) for name in known.attribute_names[:3]],
    )
    result = fitted.embed(new).result
    assert str(result.predict()[-1]) == wanted["new_class"]
    np.testing.assert_allclose(result.node_mean[-1], wanted["new_mean"], atol=2e-5)
