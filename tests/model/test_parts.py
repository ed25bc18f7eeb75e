"""Gaussians, labels and inference networks, by values worked by hand and by dense matrices."""

from math import exp, log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from coembed.kernels import Noise, SparseMatrix
from coembed.model import DenseInference, Gaussian, GraphInference, Inputs, LabelVariable
from coembed.model.inference import Propagation


class TestGaussian:
    def test_divergence_from_the_prior(self):
        gaussian = Gaussian(
            torch.tensor([[0.0, 3.0], [0.0, 0.0]]), torch.tensor([[0.0, log(2.0)], [0.0, 0.0]])
        )
        # 1/2 (m^2 + s^2 - log s^2 - 1): 1/2 (9 + 4 - log 4 - 1)
        assert gaussian.kl_to_standard_normal().tolist() == pytest.approx([6 - log(2), 0.0])

    def test_divergence_is_the_mean_of_the_log_ratio(self):
        gaussian = Gaussian(torch.tensor([[0.7]]), torch.tensor([[-0.4]]))
        noise = torch.randn(200_000, 1, generator=torch.Generator().manual_seed(0))
        z = gaussian.sample(noise)
        log_q = -0.5 * noise**2 + 0.4
        log_ratio = log_q + 0.5 * z**2
        error = float(log_ratio.std()) / sqrt(len(z))
        assert abs(float(log_ratio.mean()) - float(gaussian.kl_to_standard_normal())) < 3 * error

    def test_sample_and_divergence_in_one_are_the_two(self):
        source = torch.Generator().manual_seed(0)
        mean, log_std = (
            torch.randn(4, 2, 3, dtype=torch.float64, generator=source).requires_grad_() for _ in range(2)
        )
        noise = torch.randn(4, 1, 3, dtype=torch.float64, generator=source)
        gaussian = Gaussian(mean, log_std)
        sample, divergence = gaussian.drawn(noise)
        torch.testing.assert_close(sample, gaussian.sample(noise))
        torch.testing.assert_close(divergence, gaussian.kl_to_standard_normal())
        assert torch.autograd.gradcheck(lambda m, s: Gaussian(m, s).drawn(noise), (mean, log_std))

    def test_a_sample_is_the_moved_noise(self):
        gaussian = Gaussian(torch.tensor([1.0, -1.0]), torch.tensor([log(2.0), 0.0]))
        assert gaussian.sample(torch.tensor([0.5, 2.0])).tolist() == pytest.approx([2.0, 1.0])

    def test_output_is_split_and_its_deviation_kept_in_bounds(self):
        gaussian = Gaussian.from_output(torch.tensor([[1.0, 2.0, 99.0, -99.0]]))
        assert gaussian.mean.tolist() == [[1.0, 2.0]]
        assert gaussian.log_std.tolist() == [[3.0, -10.0]]


class TestLabelVariable:
    logits = torch.tensor([[0.0, 0.0], [log(3.0), 0.0], [5.0, 1.0]], dtype=torch.float64)

    def label(self, prior="uniform"):
        return LabelVariable(np.array([-1, -1, 1]), 2, prior, dtype=torch.float64)

    def test_cost_is_the_divergence_from_the_prior_or_its_surprise(self):
        # q = (1/2, 1/2): 0; q = (3/4, 1/4): log 2 - H(q); observed: -log 1/2
        entropy = -(0.75 * log(0.75) + 0.25 * log(0.25))
        cost = self.label().cost(self.logits, entropy_weight=1.0)
        assert cost.tolist() == pytest.approx([0.0, log(2) - entropy, log(2)])

    def test_more_entropy_costs_less(self):
        cost = self.label().cost(self.logits, entropy_weight=2.0)
        assert float(cost[0]) == pytest.approx(-log(2))
        assert float(self.label().cost(self.logits, entropy_weight=0.0)[1]) == pytest.approx(log(2))

    def test_frequent_classes_are_expected_by_a_frequency_prior(self):
        label = self.label("frequency")  # one item of class 1 and an imaginary one of each class
        assert label.log_prior.exp().tolist() == pytest.approx([1 / 3, 2 / 3])
        assert float(label.cost(self.logits, 1.0)[2]) == pytest.approx(-log(2 / 3))
        # q = (1/2, 1/2) against p = (1/3, 2/3)
        assert float(label.cost(self.logits, 1.0)[0]) == pytest.approx(0.5 * log(3 / 2) + 0.5 * log(3 / 4))

    def test_classification_counts_the_labelled_only(self):
        assert float(self.label().classification_loss(self.logits)) == pytest.approx(log(1 + exp(4)))
        nobody = LabelVariable(np.array([-1, -1, -1]), 2, dtype=torch.float64)
        logits = self.logits.clone().requires_grad_()
        loss = nobody.classification_loss(logits)
        loss.backward()
        assert float(loss.detach()) == 0
        assert logits.grad.abs().sum() == 0

    def test_an_opinion_counts_where_the_label_is_unknown(self):
        opinion = np.array([[0.2, 0.8], [1.0, 0.0], [1.0, 0.0]])
        label = LabelVariable(np.array([-1, -1, 1]), 2, dtype=torch.float64, opinion=opinion, trust=3.0)
        # q = (1/2, 1/2) and (3/4, 1/4): a mean over the two, three times; the labelled item as before
        others = 3 * (log(2) - log(0.75)) / 2
        assert float(label.classification_loss(self.logits)) == pytest.approx(log(1 + exp(4)) + others)
        parts = [label.part(slice(0, 1)), label.part(slice(1, 3))]
        both = parts[0].classification_loss(self.logits[:1]) + parts[1].classification_loss(self.logits[1:])
        assert float(both) == pytest.approx(log(1 + exp(4)) + others)

    def test_observed_labels_are_certain(self):
        probabilities = self.label().probabilities(self.logits)
        assert probabilities.tolist() == [
            pytest.approx(row) for row in ([0.5, 0.5], [0.75, 0.25], [0.0, 1.0])
        ]

    def test_exact_choices_are_all_classes_with_their_probabilities(self):
        values, weights = self.label().choices(self.logits, "exact", 0.2, Noise(0))
        assert values.shape == (3, 2, 2)
        assert (values == torch.eye(2)).all()
        assert torch.allclose(weights, self.label().probabilities(self.logits))

    def test_hard_samples_are_one_hot_and_as_frequent_as_probable(self):
        noise = Noise(0)
        drawn = torch.stack(
            [self.label().choices(self.logits, "hard", 0.2, noise.at(s)).values[:, 0] for s in range(4000)]
        )
        assert set(drawn.unique().tolist()) == {0.0, 1.0}
        assert (drawn.sum(dim=-1) == 1).all()
        share = drawn[:, 1, 0].mean()
        assert abs(float(share) - 0.75) < 3 * sqrt(0.75 * 0.25 / 4000)
        assert (drawn[:, 2] == torch.tensor([0.0, 1.0])).all()

    def test_a_colder_relaxed_sample_is_nearer_to_a_hard_one(self):
        def distance(tau):
            return [
                float(
                    (
                        self.label().choices(self.logits, "gumbel", tau, Noise(s)).values
                        - self.label().choices(self.logits, "hard", tau, Noise(s)).values
                    )
                    .abs()
                    .max()
                )
                for s in range(50)
            ]

        means = [np.mean(distance(tau)) for tau in (2.0, 0.5, 0.1, 0.01)]
        assert means == sorted(means, reverse=True)
        assert means[-1] < 0.02

    def test_relaxed_samples_have_a_gradient_hard_ones_have_none(self):
        logits = self.logits.clone().requires_grad_()
        relaxed = self.label().choices(logits, "gumbel", 0.5, Noise(0)).values
        assert relaxed.requires_grad
        relaxed[:, :, 0].sum().backward()
        assert logits.grad[:2].abs().sum() > 0
        assert logits.grad[2].abs().sum() == 0
        assert not self.label().choices(logits, "hard", 0.5, Noise(0)).values.requires_grad


def links(n=6, seed=0, weights=False):
    rng = np.random.default_rng(seed)
    upper = np.triu((rng.random((n, n)) < 0.5) * (rng.normal(size=(n, n)) if weights else 1.0), 1)
    upper[:, -1] = 0  # the last one is alone
    return upper + upper.T


def inference(kind, matrix, **settings):
    torch.manual_seed(0)
    sparse = SparseMatrix(sp.csr_array(matrix), symmetric=True, dtype=torch.float64)
    if kind == "dense":
        network = DenseInference([sparse], 5, 3, 2, **settings)
    else:
        degrees = torch.as_tensor(abs(matrix).sum(axis=1))
        network = GraphInference([sparse], Propagation(sparse, degrees), 5, 3, 2, **settings)
    return network.double()


class TestInference:
    @pytest.mark.parametrize("weights", [False, True])
    def test_propagation_is_the_dense_normalised_matrix(self, weights):
        matrix = links(weights=weights)
        with_loops = torch.as_tensor(matrix + np.eye(6))
        scale = torch.as_tensor(abs(matrix).sum(axis=1) + 1) ** -0.5
        dense = scale[:, None] * with_loops * scale
        items = torch.randn(6, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        sparse = SparseMatrix(sp.csr_array(matrix), symmetric=True, dtype=torch.float64)
        found = Propagation(sparse, torch.as_tensor(abs(matrix).sum(axis=1)))(items)
        assert torch.allclose(found, dense @ items, atol=1e-12)
        assert torch.allclose(found[-1], items[-1])  # a node without links keeps its own

    def test_inputs_need_no_concatenation(self):
        first, second = torch.as_tensor(links()), torch.randn(6, 3, dtype=torch.float64)
        sparse = SparseMatrix(sp.csr_array(first.numpy()), dtype=torch.float64)
        scale = torch.rand(6, dtype=torch.float64)
        inputs = Inputs([sparse, second], [2, 4], scale).double()
        left, right = inputs()
        whole = scale[:, None] * torch.cat([first, second], dim=1) @ torch.cat(list(inputs.weights))
        assert left.shape == (6, 2)
        assert torch.allclose(torch.cat([left, right], dim=1), whole, atol=1e-12)

    def test_dense_network_by_its_formula(self):
        matrix = torch.as_tensor(links())
        network = inference("dense", matrix.numpy())
        weight = network.inputs.weights[0]
        with torch.no_grad():
            network.bias += 0.3
            network.label.bias -= 0.2
        evidence = network()
        hidden = torch.tanh(matrix @ weight[:, :5] + network.bias)
        assert torch.allclose(evidence.output, hidden @ network.second.weight.T + network.second.bias)
        hidden = torch.tanh(matrix @ weight[:, 5:] + network.label.bias)
        expected = hidden @ network.label.second.weight.T + network.label.second.bias
        assert torch.allclose(evidence.label_logits, expected)

    def test_graph_network_propagates_twice(self):
        matrix = torch.as_tensor(links())
        network = inference("graph", matrix.numpy())
        with_loops = matrix + torch.eye(6)
        scale = with_loops.sum(dim=1) ** -0.5
        dense = scale[:, None] * with_loops * scale
        hidden = torch.tanh(dense @ (matrix @ network.inputs.weights[0][:, :5]))
        assert torch.allclose(network().output, dense @ hidden @ network.second, atol=1e-12)

    @pytest.mark.parametrize("kind", ["dense", "graph"])
    def test_dropout_is_for_the_label_in_training_only(self, kind):
        network = inference(kind, links(), dropout=0.5)
        one, other = network(Noise(0)), network(Noise(1))
        assert torch.equal(one.output, other.output)
        assert not torch.equal(one.label_logits, other.label_logits)
        assert torch.equal(network().label_logits, network().label_logits)

    def test_without_classes_there_are_no_logits(self):
        network = DenseInference([torch.eye(3)], 4, 2)
        assert network().label_logits is None
