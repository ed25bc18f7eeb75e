"""The general model on three types, two of them labelled: codes, accounting, and expectations over labels."""

from dataclasses import replace
from math import log, pi

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from coembed.errors import InputError
from coembed.kernels import Noise
from coembed.model import SVAE, DenseInference, EntityType, Features, ModelledRelation, Objective

SIZES = {"author": 6, "paper": 5, "word": 4}
CLASSES = {"author": 2, "paper": 3, "word": 0}
DIM = 2


def small_model(seed=0, **goal):
    """Authors (2 classes), papers (3 classes) and words; four relations, the last one real-valued."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((6, 6)) < 0.5, 1)
    matrices = {
        "collaborates": ("author", "author", upper + upper.T),
        "writes": ("author", "paper", rng.random((6, 5)) < 0.4),
        "contains": ("paper", "word", rng.random((5, 4)) < 0.5),
        "uses": ("author", "word", (rng.random((6, 4)) < 0.6) * rng.normal(size=(6, 4))),
    }
    labels = {"author": np.array([0, 1, -1, -1, -1, -1]), "paper": np.array([2, -1, -1, -1, 0])}

    def inference(name):
        inputs = torch.as_tensor(rng.normal(size=(SIZES[name], 3)))
        return lambda latent, n_classes: DenseInference([inputs], 4, latent, n_classes)

    torch.manual_seed(seed)
    types = [EntityType(t, n, inference(t), CLASSES[t], labels.get(t)) for t, n in SIZES.items()]
    relations = [
        ModelledRelation(
            n, source, target, sp.csr_array(matrix.astype(float)), "gaussian" if n == "uses" else "bernoulli"
        )
        for n, (source, target, matrix) in matrices.items()
    ]
    return SVAE(types, relations, DIM, Objective(all_pairs="exact", **goal), dtype=torch.float64)


def parts(model, seed=0):
    return {name: float(part) for name, part in model(Noise(seed)).parts.items()}


def test_every_type_shares_the_coordinates_and_has_its_label_in_its_own_block():
    model = small_model()
    assert model.code_size == DIM + 2 + 3
    assert {name: model.latent_size(name) for name in SIZES} == {"author": 5, "paper": 4, "word": 7}
    z = torch.arange(5.0)[None]
    assert model.code("author", z, torch.tensor([[8.0, 9.0]])).tolist() == [[0, 1, 8, 9, 2, 3, 4]]
    z = torch.arange(4.0)[None]
    assert model.code("paper", z, torch.tensor([[7.0, 8.0, 9.0]])).tolist() == [[0, 1, 2, 3, 7, 8, 9]]
    codes, probabilities = model.mean_codes("paper")
    assert codes[0, 4:].tolist() == [0, 0, 1]  # observed
    assert torch.allclose(codes[1, 4:], probabilities[1])  # predicted
    assert model.mean_codes("word")[1] is None


def test_joint_accounting_pays_once_a_relation_atomic_once_a_pair():
    joint, atomic = small_model(), small_model(kl_accounting="atomic")
    atomic.load_state_dict(joint.state_dict())
    n_author, n_paper, n_word = SIZES.values()
    with torch.no_grad():
        inferred = {name: joint._infer(name, Noise(0).of(name)) for name in SIZES}
    kl = {name: float(found.kl) for name, found in inferred.items()}
    expected = (
        kl["author"] / (n_author * (n_author - 1))
        + (kl["author"] + kl["paper"]) / (n_author * n_paper)
        + (kl["paper"] + kl["word"]) / (n_paper * n_word)
        + (kl["author"] + kl["word"]) / (n_author * n_word)
    )
    assert parts(joint)["kl"] == pytest.approx(expected)
    # an author is in 2 (n - 1) ordered pairs of authors; elsewhere an item is in its row or its column
    expected = (
        2 * (n_author - 1) * kl["author"] / (n_author * (n_author - 1))
        + (n_paper * kl["author"] + n_author * kl["paper"]) / (n_author * n_paper)
        + (n_word * kl["paper"] + n_paper * kl["word"]) / (n_paper * n_word)
        + (n_word * kl["author"] + n_author * kl["word"]) / (n_author * n_word)
    )
    assert parts(atomic)["kl"] == pytest.approx(expected)
    same = ["collaborates", "writes", "contains", "uses", "classification"]
    assert [parts(joint)[name] for name in same] == [parts(atomic)[name] for name in same]


def test_weights_act_on_their_parts_only():
    plain, weighted = small_model(), small_model(alpha=3.0, kl_weight=5.0, entropy_weight=0.0)
    weighted.load_state_dict(plain.state_dict())
    before, after = parts(plain), parts(weighted)
    assert after["classification"] == pytest.approx(3 * before["classification"])
    assert after["kl"] == pytest.approx(5 * before["kl"])
    assert after["label"] > before["label"]
    assert all(after[name] == before[name] for name in ("collaborates", "writes", "contains", "uses"))
    loss = weighted(Noise(0))
    assert float(loss.total.detach()) == pytest.approx(sum(after.values()))


class TestExpectationOverLabels:
    """Hard samples are unbiased, the relaxed one is not: its bias falls with the temperature."""

    names = ("collaborates", "writes", "contains", "kl")

    def model(self):
        """Posteriors so narrow that the samples of z are means: what is left to chance are the labels."""
        model = small_model()
        with torch.no_grad():
            for name, size in ((n, model.latent_size(n)) for n in SIZES):
                model.inference[name].second.weight[size:] = 0
                model.inference[name].second.bias[size:] = -9
        return model

    def draws(self, model, seed, n_draws, **goal):
        model.objective = replace(model.objective, **goal)
        with torch.no_grad():
            rows = []
            for step in range(n_draws):
                found = model(Noise(seed, step)).parts
                rows.append([float(found[name]) for name in self.names])
        return np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(n_draws)

    def test_mean_of_hard_samples_is_the_exact_expectation(self):
        model = self.model()
        exact, spread = self.draws(model, 0, 10, labels="exact")
        hard, error = self.draws(model, 1, 400, labels="hard")
        assert (spread < 1e-3).all()
        assert (abs(hard - exact) < 3 * error + 3 * spread).all()

    def test_bias_of_the_relaxed_sample_shrinks_with_the_temperature(self, record_property):
        model = self.model()
        exact, _ = self.draws(model, 0, 10, labels="exact")
        bias, errors = {}, {}
        for tau in (2.0, 0.2, 0.02):
            mean, error = self.draws(model, 2, 300, labels="gumbel", tau=tau)
            bias[tau], errors[tau] = np.abs(mean - exact).max(), error.max()
        print("bias of the relaxed sample:", {t: f"{b:.5f} ± {errors[t]:.5f}" for t, b in bias.items()})
        record_property("bias of the relaxed sample at tau 0.2", float(bias[0.2]))
        assert bias[2.0] > bias[0.2] + errors[2.0] + errors[0.2]
        assert bias[0.02] < 3 * errors[0.02] + 1e-3
        assert bias[0.02] < bias[2.0]


class TestFeatures:
    def type(self, matrix, likelihood):
        return EntityType(
            "item",
            len(matrix),
            lambda latent, n_classes: DenseInference(
                [torch.ones(len(matrix), 1).double()], 3, latent, n_classes
            ),
            features=Features(np.array(matrix), likelihood, hidden=3),
        )

    @pytest.mark.parametrize(
        ("likelihood", "cost"),
        [("bernoulli", 2 * log(2)), ("gaussian", (0.5 * (1 + 0 + 4 + 0) + 4 * 0.5 * log(2 * pi)) / 2)],
    )
    def test_cost_by_hand(self, likelihood, cost):
        """A decoder that says 0 of everything: p = 1/2 each, or errors 1, 0, 2, 0 with deviation 1."""
        matrix = [[1.0, 0.0], [0.0, 1.0]] if likelihood == "bernoulli" else [[1.0, 0.0], [2.0, 0.0]]
        model = SVAE([self.type(matrix, likelihood)], [], dim=2, dtype=torch.float64)
        with torch.no_grad():
            for parameter in model.decoders["item"].parameters():
                parameter.zero_()
        found = parts(model)
        assert found["item features"] == pytest.approx(cost)
        assert "classification" not in found


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (ModelledRelation("r", "item", "ghost", sp.csr_array((2, 2))), r"'r' names the unknown type 'ghost'"),
        (
            ModelledRelation("r", "item", "item", sp.csr_array((3, 3))),
            r"'r' has 3 items of type 'item', but the type has 2",
        ),
    ],
)
def test_a_relation_must_fit_its_types(relation, message):
    item = EntityType(
        "item", 2, lambda latent, n_classes: DenseInference([torch.eye(2)], 3, latent, n_classes)
    )
    with pytest.raises(InputError, match=message):
        SVAE([item], [relation])
