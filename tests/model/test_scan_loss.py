"""SCAN's loss against a plain dense implementation, and its five cases worked by hand."""

import sys
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
import torch

from coembed.distributed.row_range import Rows
from coembed.kernels import Noise
from coembed.model import scan
from coembed.network import Network
from coembed.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[1]))
from dense_oracle import DenseNetwork, dense_loss, relaxed_labels


def small_network(seed=0, n_nodes=12, n_attributes=7, n_classes=3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) < 0.3, 1)
    labels = rng.integers(-1, n_classes, n_nodes)
    labels[:n_classes] = range(n_classes)
    return Network.build(upper | upper.T, rng.random((n_nodes, n_attributes)) < 0.4, labels)


def settings_of(**changes):
    """What the paper leaves open as plain as can be, and no dropout: every term can be predicted."""
    return Settings(dim=4, hidden=5, precision="float64", all_pairs="exact", block=5).change(**changes)


def noises(model, seed):
    """The draws that the model will make with this seed, of labels and of z."""
    like = model.labels["node"].one_hot
    uniform = Noise(seed).of("node").uniform("label", Rows.all(len(like)), like.shape[1], like)
    return uniform, {
        name: Noise(seed).of(name).normal("z", Rows.all(kind.n_items), model.latent_size(name), like)
        for name, kind in model.types.items()
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"kl_accounting": "atomic"},
        {"node_inputs": "unit", "attribute_inputs": "unit"},
        {"balance": False, "entropy_weight": 0.3, "beta": 0.2, "alpha": 2.5, "kl_weight": 7.0},
    ],
)
def test_loss_and_gradient_equal_the_dense_ones(changes):
    network, settings = small_network(), settings_of(**changes)
    torch.manual_seed(1)
    model = scan(network, settings)
    uniform, noise = noises(model, seed=3)
    ours = model(Noise(3)).total
    dense = dense_loss(
        model, settings, DenseNetwork.of(network, settings), noise, relaxed_labels(uniform, settings.tau)
    )
    assert abs(ours - dense) < 1e-10
    parameters = list(model.parameters())
    for one, other in zip(
        torch.autograd.grad(ours, parameters), torch.autograd.grad(dense, parameters), strict=True
    ):
        assert torch.allclose(one, other, atol=1e-10)


def test_gradient_of_the_whole_loss_by_finite_differences():
    model = scan(small_network(n_nodes=6, n_attributes=4), settings_of(dim=2, hidden=3))
    model(Noise(0)).total.backward()
    rng = np.random.default_rng(0)
    for parameter in model.parameters():
        flat = parameter.data.view(-1)
        where = int(rng.integers(len(flat)))
        step, original = 1e-6, float(flat[where])
        ends = []
        for sign in (1, -1):
            flat[where] = original + sign * step
            ends.append(float(model(Noise(0)).total.detach()))
        flat[where] = original
        numeric = (ends[0] - ends[1]) / (2 * step)
        assert numeric == pytest.approx(float(parameter.grad.view(-1)[where]), rel=1e-4, abs=1e-8)


@torch.no_grad()
def test_sampled_loss_has_the_exact_one_as_its_mean():
    network = small_network(n_nodes=40, n_attributes=30)
    torch.manual_seed(0)
    exact = scan(network, settings_of())
    sampled = scan(network, settings_of(all_pairs="sampled", block=6))
    sampled.load_state_dict(exact.state_dict())
    assert all(term.sampled for term in sampled.relations)
    differences = []
    for seed in range(300):
        # the block is drawn last, so both models decode the same samples
        ours, whole = (m(Noise(seed)).total for m in (sampled, exact))
        differences.append(float(ours - whole))
    assert abs(np.mean(differences)) < 3 * np.std(differences) / np.sqrt(len(differences))


class TestFiveCases:
    """Two nodes and one attribute with posteriors that do not depend on the inputs, every term by hand.

    All inference outputs are constants: z of nodes N(0.5, e^-10...) are so narrow that samples are means.
    """

    mean, attribute_mean = 0.5, (0.3, -0.2, 0.4)
    logits = (0.7, -0.1)

    def model(self, labels, link=True, has=True):
        network = Network.build(
            [[0, link], [link, 0]], [[has], [not has]], np.array(labels), class_names=["red", "blue"]
        )
        settings = settings_of(dim=1, balance=False, labels="exact", beta=0.5, alpha=0.0)
        model = scan(network, settings)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
            # the label's shift is the same for both classes, so it is simply the node's posterior
            model.label_shift["node"][:, 0] = self.mean
            model.label_shift["node"][:, 1] = -10
            model.inference["attribute"].second.bias[:3] = torch.tensor(self.attribute_mean)
            model.inference["attribute"].second.bias[3:] = -10
            model.inference["node"].label.second.bias[:] = torch.tensor(self.logits)
        return model

    @property
    def q(self):
        red, blue = (exp(v) for v in self.logits)
        return red / (red + blue), blue / (red + blue)

    def kl(self, means):
        return sum(0.5 * (m**2 + exp(-20) + 20 - 1) for m in means)

    def label_cost(self, known):
        if known:
            return log(2)
        return sum(p * (log(p) + log(2)) for p in self.q)

    def edge_logit(self, one, other):
        return self.mean**2 + (one == other)

    def attribute_logit(self, label):
        return self.mean * self.attribute_mean[0] + self.attribute_mean[1 + label]

    def check(self, model, expected_links, expected_attributes, known):
        parts = model(Noise(0)).parts
        assert float(parts["links"]) == pytest.approx(0.5 * expected_links, abs=1e-3)
        assert float(parts["attributes"]) == pytest.approx(0.5 * expected_attributes, abs=1e-3)
        nodes, attribute = 2 * self.kl([self.mean]), self.kl(self.attribute_mean)
        # two ordered pairs of nodes, two pairs of a node and the attribute
        assert float(parts["kl"]) == pytest.approx(0.5 * nodes / 2 + 0.5 * (nodes + attribute) / 2, rel=1e-6)
        label = sum(self.label_cost(k) for k in known)
        assert float(parts["label"]) == pytest.approx(0.5 * label / 2 + 0.5 * label / 2, rel=1e-6)

    def softplus(self, x):
        return log(1 + exp(x))

    def attribute_cost(self, label_of_owner, label_of_other):
        """The first node has the attribute, the second has not: cases 4 and 5."""

        def expected(label, sign):
            if label >= 0:
                return self.softplus(sign * self.attribute_logit(label))
            return sum(p * self.softplus(sign * self.attribute_logit(k)) for k, p in enumerate(self.q))

        return (expected(label_of_owner, -1) + expected(label_of_other, +1)) / 2

    def test_both_ends_labelled_and_an_attribute_of_labelled_nodes(self):
        links = self.softplus(-self.edge_logit(0, 1))
        self.check(self.model([0, 1]), links, self.attribute_cost(0, 1), [True, True])
        same = self.softplus(-self.edge_logit(1, 1))
        self.check(self.model([1, 1]), same, self.attribute_cost(1, 1), [True, True])

    def test_no_end_labelled_and_an_attribute_of_unlabelled_nodes(self):
        links = sum(
            p * r * self.softplus(-self.edge_logit(k, m))
            for k, p in enumerate(self.q)
            for m, r in enumerate(self.q)
        )
        self.check(self.model([-1, -1]), links, self.attribute_cost(-1, -1), [False, False])

    def test_one_end_labelled(self):
        links = sum(p * self.softplus(-self.edge_logit(0, k)) for k, p in enumerate(self.q))
        self.check(self.model([0, -1]), links, self.attribute_cost(0, -1), [True, False])

    def test_absent_link(self):
        model = self.model([0, 1], link=False)
        assert "links" not in model(Noise(0)).parts  # nothing observed, nothing to explain

    def test_hard_samples_average_to_the_exact_expectation_and_relaxed_ones_approach_it(self):
        exact = self.model([0, -1])
        wanted = exact(Noise(0)).parts

        def draws(**changes):
            model = self.model([0, -1])
            model.objective = type(model.objective)(**(vars(model.objective) | changes))
            with torch.no_grad():
                found = [model(Noise(1, step)).parts for step in range(500)]
            rows = [[float(parts[n]) for n in ("links", "attributes")] for parts in found]
            return np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(500)

        exact_values = np.array([float(wanted["links"]), float(wanted["attributes"])])
        hard, error = draws(labels="hard")
        assert (abs(hard - exact_values) < 3 * error + 1e-4).all()
        bias = {tau: np.abs(draws(labels="gumbel", tau=tau)[0] - exact_values).max() for tau in (2.0, 0.02)}
        assert bias[0.02] < bias[2.0]
        assert bias[0.02] < 3 * error.max() + 1e-3
