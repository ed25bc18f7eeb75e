"""Inference from views: the sum of its branches, its gradient, and who says how much."""

import numpy as np
import scipy.sparse as sp
import torch
from torch.autograd import gradcheck

from coembed.kernels import Noise
from coembed.model.views_inference import ROW_LENGTH, ViewsInference


def inference(**changes):
    rng = np.random.default_rng(0)
    views = {
        "sparse": sp.csr_array(sp.random(6, 5, density=0.5, random_state=1, format="csr")),
        "dense": rng.normal(size=(6, 3)),
    }
    torch.manual_seed(0)
    settings = {"hidden": 4, "latent": 2, "n_classes": 3, "dtype": torch.float64} | changes
    return ViewsInference(views, rng.normal(size=(6, 2)), **settings).double(), views


def test_branches_are_added():
    model, views = inference()
    with torch.no_grad():
        evidence = model()
        logits = model.label.bias.clone()
        output = model.second.bias + model.evidence @ model.by_evidence
        for place, (name, view) in enumerate(model.views.items()):
            raw = views[name].toarray() if sp.issparse(views[name]) else views[name]
            scaled = torch.as_tensor(raw * ROW_LENGTH / np.sqrt((raw**2).sum() / 6))
            part = slice(4 * place, 4 * place + 4)
            logits = logits + torch.tanh(scaled @ view.label_weight) @ model.label.weight[:, part].T
            output = output + torch.tanh(scaled @ view.weight) @ model.second.weight[:, part].T
    torch.testing.assert_close(evidence.label_logits, logits)
    torch.testing.assert_close(evidence.output, output)


def test_gradient():
    model, _ = inference()
    weights = list(model.parameters())
    names = [name for name, _ in model.named_parameters()]

    def outputs(*values):
        evidence = torch.func.functional_call(model, dict(zip(names, values, strict=True)), ())
        return evidence.output, evidence.label_logits

    assert gradcheck(outputs, tuple(weights))


def test_shares_of_the_label_logits_sum_to_one_and_follow_the_weights():
    model, _ = inference()
    with torch.no_grad():
        shares = model.label_shares()
        assert abs(sum(shares.values()) - 1) < 1e-9
        model.label.weight[:, 4:] = 0
        assert model.label_shares()["dense"] == 0


def test_without_classes_there_are_no_label_weights():
    model, _ = inference(n_classes=0)
    assert model().label_logits is None
    assert not [name for name, _ in model.named_parameters() if "label" in name]


def test_whole_columns_are_left_out_in_training_only():
    model, _ = inference(input_dropout=0.5)
    assert not torch.equal(model(Noise(0)).output, model(Noise(1)).output)
    assert torch.equal(model().output, model().output)
