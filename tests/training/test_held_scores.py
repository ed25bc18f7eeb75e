"""What is kept aside is scored, and items seen as a whole are told, as the model does it itself."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from general_network import general_network

from coembed.distributed.partition import Partition
from coembed.model import scan
from coembed.model.schema import Keys
from coembed.settings import preset_settings
from coembed.training.extraction import Calibration, _views_layers, _whole_logits
from coembed.training.holdout import _scores, chosen_by, term_of
from coembed.views import look
from coembed.views.reach import readings


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    made = scan(general_network(), preset_settings("best", dim=4, rank=4, hidden=6, epochs=1))
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return made


@pytest.mark.parametrize("name", ["knows", "follows", "saw"])
def test_pairs_kept_aside_have_the_score_of_the_formula(model, name) -> None:
    """c_i' M c_j + lean (c_i - c_j), and the biases of both ends."""
    network = general_network()
    relation = network.relation(name)
    term = term_of(model, network, relation)
    keys = Keys.of(network).types
    with torch.no_grad():
        ends = tuple(model.mean_codes(keys[type])[0] for type in (relation.source, relation.target))
        pairs = np.argwhere(relation.values.toarray())[:9]
        found = _scores(term, ends, pairs)
        left, right = (end.double().numpy()[pairs[:, k]] for k, end in enumerate(ends))
        turn = np.eye(left.shape[1]) if term.direction is None else term.direction.matrix.double().numpy()
        expected = np.einsum("ni,ij,nj->n", left, turn, right)
        if relation.directed:
            assert term.direction.lean is not None
            expected += (left - right) @ term.direction.lean.double().numpy()
        for place, bias in enumerate((term.source_bias, term.target_bias)):
            expected += bias().double().numpy()[pairs[:, place]]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_what_is_seen_as_a_whole_tells_the_classes(model) -> None:
    """Other views than those of training: what the label's network says of them."""
    network = general_network()
    key = Keys.of(network).types["person"]
    views = look(
        network, readings(network), rank=4, neighbours=int(preset_settings("best").neighbours)
    ).types["person"]
    turned = replace(views, dense={name: values[::-1].copy() for name, values in views.dense.items()})
    inference, logits = model.inference[key], torch.zeros(120, 3)
    rows = Partition.whole(120)
    found = _whole_logits(model, key, SimpleNamespace(views=turned), logits, rows)
    expected = _views_layers(inference, Calibration()).label_logits(turned)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)
    assert np.abs(expected).max() > 0.01
    assert _whole_logits(model, key, None, logits, rows) is logits


@pytest.mark.parametrize(
    ("figures", "chosen"),
    [
        ({"accuracy": 0.5, "link AUC": 0.8, "attribute AUC": 0.6}, 1.9),  # of a plain network, all count
        ({"accuracy of a": 0.5, "AUC of b": 0.8, "AUC of c": 0.6}, 1.2),
        ({"accuracy of a": 0.5, "mean AP of b": 0.7, "AUC of c": 0.6, "cells of d": 0.2}, 1.0),
        ({"AUC of b": 0.8, "AUC of c": 0.6}, 0.7),
    ],
)
def test_an_epoch_is_chosen_by_labels_and_by_relations(figures, chosen) -> None:
    assert chosen_by(figures) == pytest.approx(chosen)
