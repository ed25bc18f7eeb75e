"""The rivals against dense computations, by hand, and against what their authors report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from coembed.baselines import METHODS, bla, can, classifiers, edgeexp, factors, gcn, rival_answers, san, seano
from coembed.baselines.classifiers import AveragedFeatures, ViewsSideBySide, linear_views, nearest_vote
from coembed.baselines.contexts import Classmates, Walker, context_loss, window_pairs
from coembed.baselines.features import idf_rows, mean_of_neighbours, presence
from coembed.baselines.gradient_training import ThinnedMatrix, seeded
from coembed.baselines.graphsgan import Classifier, GraphSGANOptions, WeightNorm, alike, classifier_loss
from coembed.baselines.planetoid import Planetoid, PlanetoidOptions, _supervised
from coembed.baselines.recommenders import adamic_adar, resource_allocation
from coembed.errors import InputError
from coembed.evaluation import Problem
from coembed.network import Network, read


@pytest.fixture(scope="module")
def small(demo: Network) -> Network:
    """The first 200 nodes of the demo."""
    some = slice(0, 200)
    return Network.build(demo.links[some, some], demo.attributes[some, :150], demo.labels[some])


def test_walks_follow_links_and_start_where_there_is_one(small: Network) -> None:
    walker = Walker(small.links)
    with seeded(0):
        walks = walker.walks(walker.starts(500), steps=6)
    linked = small.links.toarray() > 0
    assert linked[walks[:, :-1].flatten(), walks[:, 1:].flatten()].all()
    # the first steps from one node are spread evenly over its neighbours
    hub = int(np.diff(small.links.indptr).argmax())
    with seeded(0):
        nexts = walker.walks(torch.full((20_000,), hub), steps=1)[:, 1]
    shares = np.bincount(nexts, minlength=200)[linked[hub]] / 20_000
    assert shares == pytest.approx(np.full(len(shares), 1 / len(shares)), abs=0.02)


def test_pairs_of_a_window_are_all_and_only_those() -> None:
    pairs = window_pairs(torch.tensor([[0, 1, 2, 3]]), window=2, itself=True)
    expected = {(i, j) for i in range(4) for j in range(4) if abs(i - j) <= 2}
    assert len(pairs) == len(expected)
    assert {tuple(pair) for pair in pairs.tolist()} == expected


def test_classmates_share_the_class_and_others_do_not() -> None:
    labels = torch.tensor([2, 0, 2, 1, 0, 2])
    nodes = torch.arange(10, 16)
    with seeded(0):
        some, same, others = Classmates(nodes, labels).draw(2000, others=3)
    assert (labels[some - 10] == labels[same - 10]).all()
    assert (labels[some - 10, None] != labels[others - 10]).all()
    assert len(set(others[some == 13].flatten().tolist())) == 5
    assert not Classmates(nodes, torch.zeros(6, dtype=torch.long))


def test_the_loss_of_contexts_by_hand() -> None:
    vector, context, noise = torch.tensor([[1.0, 0.0]]), torch.tensor([[2.0, 5.0]]), torch.zeros(1, 3, 2)
    expected = np.log1p(np.exp(-2.0)) + 3 * np.log(2.0)
    assert context_loss(vector, context, noise).item() == pytest.approx(expected)


def test_thinning_keeps_the_mean_and_its_gradient(small: Network) -> None:
    matrix = ThinnedMatrix(small.attributes)
    weights = torch.ones(small.n_attributes, 1, requires_grad=True)
    with seeded(0):
        thin = matrix.thinned(0.5)
        (thin @ weights).sum().backward()
    assert weights.grad is not None
    assert weights.grad.flatten().tolist() == pytest.approx(
        (thin.T @ torch.ones(small.n_nodes, 1)).flatten().tolist()
    )
    assert float(thin.blocks[0].stored.values().mean()) == pytest.approx(1, abs=0.1)
    assert matrix.thinned(0.0) is matrix


def test_gcn_is_the_printed_formula(small: Network) -> None:
    """Without dropout and after one step of zero length the answer is softmax(Â ReLU(Â X W0) W1)."""
    seen: list[torch.nn.Parameter] = []

    class Spy(torch.optim.Adam):
        def __init__(self, groups: list, lr: float) -> None:
            super().__init__(groups, lr=lr)
            seen.extend(p for group in self.param_groups for p in group["params"])

    problem = Problem("classification", small, changes=("epochs=1", "learning_rate=1e-9", "dropout=0"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim, "Adam", Spy)
        answer = gcn.fit(problem)
    first, second = (p.detach().double().numpy() for p in seen)
    loops = (small.links.toarray() > 0) + np.eye(small.n_nodes)
    step = loops / np.sqrt(np.outer(loops.sum(axis=1), loops.sum(axis=1)))
    rows = small.attributes.toarray().astype(np.float64)
    rows /= np.maximum(rows.sum(axis=1, keepdims=True), 1)
    hidden = np.maximum(step @ rows @ first, 0)
    logits = step @ hidden @ second.T
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert answer.values == pytest.approx(expected, abs=1e-5)
    assert answer.embedding() == pytest.approx(hidden, abs=1e-5)


def test_gcn_says_what_is_missing(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(InputError, match=r"pip install 'coembed\[rivals\]'"):
        gcn.fit(Problem("classification", small))


@pytest.mark.slow
def test_gcn_reaches_its_published_accuracy(real_data: Path) -> None:
    """81.5 % on the standard split of Cora, whose nodes are in that order."""
    cora = read(real_data / "cora.npz")
    labels = np.full(cora.n_nodes, -1)
    labels[:140] = cora.labels[:140]
    right = []
    for seed in range(3):
        problem = Problem("classification", cora.with_labels(labels), seed=seed, changes=("hidden=16",))
        right.append(np.mean(gcn.fit(problem).values[1708:].argmax(axis=1) == cora.labels[1708:]))
    assert np.mean(right) == pytest.approx(0.815, abs=0.01)


def test_walks_with_restart_are_the_inverse(small: Network) -> None:
    moves = san.transitions(san.joint_weights(small, links=0.1)).toarray().astype(np.float64)
    expected = 0.5 * np.linalg.inv(np.eye(len(moves)) - 0.5 * moves)
    answer = san.fit(Problem("attributes", small, changes=("steps=40", "restart=0.5")))
    nodes = np.array([3, 50])
    assert answer.row_scores(nodes) == pytest.approx(expected[nodes, small.n_nodes :], abs=1e-6)
    assert expected.sum(axis=1)[moves.sum(axis=1) > 0] == pytest.approx(1)  # each walk is somewhere
    links = san.fit(Problem("links", small, changes=("steps=40",))).row_scores(np.arange(small.n_nodes))
    between = expected[: small.n_nodes, : small.n_nodes]
    assert links == pytest.approx(between + between.T, abs=1e-6)


def test_scores_beyond_the_budget_are_the_same(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("san", "edgeexp", "bla"):
        kept = METHODS[name].fit(Problem("attributes", small))
        with monkeypatch.context() as patch:
            patch.setattr(rival_answers, "BUDGET", 0)
            made = METHODS[name].fit(Problem("attributes", small))
        assert kept.kept is not None  # type: ignore[attr-defined]
        assert made.kept is None  # type: ignore[attr-defined]
        nodes = np.array([7, 0, 120])
        assert made.row_scores(nodes) == pytest.approx(kept.row_scores(nodes), rel=1e-3, abs=1e-7)


def test_ridge_is_the_closed_form(small: Network) -> None:
    x = presence(small.attributes).toarray().astype(np.float64)
    inverse = np.linalg.inv(x.T @ x + 20 * np.eye(x.shape[1]))
    weights = np.eye(x.shape[1]) - inverse / np.diag(inverse)
    assert np.diag(weights) == pytest.approx(0)
    answer = factors.ridge(Problem("attributes", small, changes=("rank=150", "penalty=20")))
    assert answer.row_scores(np.arange(200)) == pytest.approx(x @ weights, abs=1e-3)


def test_the_low_rank_is_the_best_one(small: Network) -> None:
    x = presence(small.attributes).toarray()
    left, sizes, right = np.linalg.svd(x, full_matrices=False)
    expected = (left[:, :5] * sizes[:5]) @ right[:5]
    answer = factors.svd(Problem("attributes", small, changes=("rank=5",)))
    assert answer.row_scores(np.arange(200)) == pytest.approx(expected, abs=0.02)


def test_unexplained_links_carry_more() -> None:
    """Nodes 0 and 1 share a rare word already, so 0 learns more of 2, with whom it shares nothing."""
    links = np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])
    network = Network.build(links, attributes=[[1, 0, 0], [1, 1, 0], [0, 0, 1]])
    answer = edgeexp.fit(Problem("attributes", network, changes=("rounds=1", "shift=0")))
    row = answer.row_scores(np.array([0]))[0]
    assert row[0] == 1  # what is observed stays
    assert row[2] > row[1] > 0
    # by hand: half a step of 10 / 2 times sigma(0) = 1/2 times the belief 1 of node 2, cut off at 1
    assert row[2] == 1


def test_spreading_attributes_is_the_dense_iteration(small: Network) -> None:
    problem = Problem("attributes", small, changes=("rounds=0", "keep=0.3", "steps=4"))
    weights = presence(small.links)
    first = np.repeat(np.arange(200), np.diff(weights.indptr))
    weights.data = np.maximum(bla.cosines(idf_rows(small.attributes), first, weights.indices), 1e-3)
    step, x = bla.balanced(weights).toarray(), presence(small.attributes).toarray()
    spread = 0.3 * x
    for _ in range(4):
        spread = 0.7 * step @ spread + 0.3 * x
    assert bla.fit(problem).row_scores(np.arange(200)) == pytest.approx(spread, abs=1e-5)


def test_predicted_links_are_likelier_among_the_alike(small: Network) -> None:
    scores = bla.fit(Problem("links", small)).row_scores(np.arange(200))
    linked = small.links.toarray() > 0
    assert scores[linked].mean() > scores[~linked].mean() + 1
    assert scores == pytest.approx(scores.T, abs=1e-4)


def test_can_sees_no_labels_and_has_the_settings_of_the_paper(small: Network) -> None:
    changes = ("epochs=3", "dim=8", "hidden=16")
    problem = Problem("attributes", small, changes=changes)
    relabelled = replace(problem, network=small.with_labels(np.roll(small.labels, 1)), preset="whatever")
    first, second = can.fit(problem), can.fit(relabelled)
    assert np.array_equal(first.fitted.node_mean, second.fitted.node_mean)
    assert first.probabilities() is None
    assert first.fitted.preset == second.fitted.preset == "paper"


def test_common_neighbours_by_hand() -> None:
    links = np.zeros((5, 5))
    for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4)):
        links[i, j] = links[j, i] = 1
    problem = Problem("links", Network.build(links))
    pairs = np.array([[1, 3], [0, 4], [1, 4]])
    assert adamic_adar(problem).pair_scores(pairs) == pytest.approx([1 / np.log(3), 1 / np.log(2), 0])
    assert resource_allocation(problem).pair_scores(pairs) == pytest.approx([1 / 3, 1 / 2, 0])


def test_views_are_never_written_down_yet_the_same(small: Network) -> None:
    features, step = idf_rows(small.attributes), mean_of_neighbours(small.links)
    views = ViewsSideBySide((AveragedFeatures((), features), AveragedFeatures((step, step), features)))
    dense = [features.toarray(), (step @ step @ features).toarray()]
    nodes = np.array([1, 60])
    for block, whole in zip(views.rows(nodes), dense, strict=True):
        assert block.toarray() == pytest.approx(whole[nodes], abs=1e-6)
    weights = [np.random.default_rng(i).normal(size=(small.n_attributes, 3)) for i in range(2)]
    assert views.times(weights) == pytest.approx(dense[0] @ weights[0] + dense[1] @ weights[1], abs=1e-5)


def test_votes_come_from_labelled_nodes_only(demo: Network) -> None:
    labels = demo.labels.copy()
    labels[::2] = -1
    values = nearest_vote(Problem("classification", demo.with_labels(labels))).values
    assert np.mean(values[::2].argmax(axis=1) == demo.labels[::2]) > 0.6
    better = linear_views(Problem("classification", demo.with_labels(labels))).values
    assert np.mean(better[::2].argmax(axis=1) == demo.labels[::2]) > 0.8


def test_a_layer_with_weight_norm_has_rows_of_length_one() -> None:
    with seeded(0):
        layer = WeightNorm(4, 3)
    kept = layer(torch.eye(4)).detach()
    assert kept.norm(dim=0).tolist() == pytest.approx([1, 1, 1])
    assert not layer.gain.requires_grad


def test_noise_is_for_training_only() -> None:
    with seeded(0):
        classifier, rows = Classifier(6, 2), torch.rand(5, 6)
        assert not torch.equal(classifier(rows)[1], classifier(rows)[1])
        classifier.eval()
        assert torch.equal(classifier(rows)[1], classifier(rows)[1])
    assert alike(torch.eye(4)).item() == 0


def test_a_classifier_is_asked_to_be_sure_and_to_tell_what_is_real() -> None:
    """The parts of the loss of GraphSGAN, by hand, each with its own weight."""
    torch.manual_seed(0)
    by_label, about, fake = torch.randn(4, 3), torch.randn(5, 3), torch.randn(6, 3)
    labels = torch.tensor([0, 1, 2, 0])

    def classifier(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.eye(15), torch.cat([by_label, about, fake])

    def loss(real: float, sure: float) -> float:
        chosen = GraphSGANOptions(real=real, sure=sure)
        return float(classifier_loss(classifier, by_label, labels, about, fake, chosen))  # type: ignore[arg-type]

    right = float(torch.nn.functional.cross_entropy(by_label, labels))
    apart = float(alike(torch.eye(15)[4:9]))
    assert loss(0, 0) == pytest.approx(right + apart, abs=1e-5)
    shares = about.softmax(dim=1)
    entropy = float(-(shares * shares.log()).sum() / shares.numel())
    assert loss(0, 1) - loss(0, 0) == pytest.approx(entropy, abs=1e-5)
    assert entropy > 0
    there = torch.sigmoid(about.logsumexp(dim=1)).log().mean()
    made_up = torch.sigmoid(-fake.logsumexp(dim=1)).log().mean()
    assert loss(1, 0) - loss(0, 0) == pytest.approx(float(-(there + made_up) / 2), abs=1e-5)


def test_penalties_and_shares_are_those_that_do_best(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a made-up classifier that is right only with one of them, that one is chosen."""
    right_one: list[float] = []

    class Only:
        def __init__(self, penalty: float) -> None:
            self.penalty = penalty

        def fit(self, rows: np.ndarray, labels: np.ndarray) -> Only:
            return self

        def predict(self, rows: np.ndarray) -> np.ndarray:
            return np.full(rows.shape[0], 0 if [self.penalty] == right_one else 1)

    monkeypatch.setattr(classifiers, "_logistic", Only)
    labels, kept = np.array([0, 1] * 5 + [0] * 10), np.arange(20) >= 10
    for best in classifiers.PENALTIES:
        right_one[:] = [best]
        assert classifiers._choose_penalty(np.zeros((20, 1)), labels, kept) == best
    for best in seano.OWN:
        used = []

        def learn(problem, network, chosen, part, best=best, used=used):
            used.append(chosen.own)
            right = small.labels if chosen.own == best else (small.labels + 1) % small.n_classes
            return np.eye(small.n_classes)[right], np.zeros((small.n_nodes, 1))

        monkeypatch.setattr(seano, "_learn", learn)
        seano.fit(Problem("classification", small))
        assert used[:-1] == list(seano.OWN)
        assert used[-1] == best


@pytest.mark.parametrize("name", ["gcn", "seano"])
def test_nothing_is_dropped_when_it_is_asked(
    small: Network, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dropout is for learning: the answer is that of the last weights, the same whatever is drawn then."""
    seen = []
    real = torch.nn.functional.dropout

    def recorded(rows: torch.Tensor, share: float = 0.5, training: bool = True, *rest: bool) -> torch.Tensor:
        if not torch.is_grad_enabled():
            seen.append(share if training else 0.0)
        return real(rows, share, training, *rest)

    monkeypatch.setattr(torch.nn.functional, "dropout", recorded)
    monkeypatch.setattr(seano, "dropout", recorded)
    problem = Problem("classification", small, changes=("epochs=2",))
    METHODS[name].fit(problem)
    assert not any(seen)


def test_shared_links_of_bla_are_those_of_adamic_and_adar(small: Network) -> None:
    links = presence(small.links)
    model = bla.LinkModel.fit(links, idf_rows(small.attributes), np.random.default_rng(0))
    first, second = np.array([0, 3, 10]), np.array([5, 8, 11])
    expected = adamic_adar(Problem("links", small)).pair_scores(np.column_stack([first, second]))
    assert expected.any()
    assert model.inputs(first, second)[:, 1] == pytest.approx(np.log1p(expected), abs=1e-5)


def test_each_penalty_reaches_its_own_weights(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[dict[str, float]] = []

    class Recorded(torch.optim.Adam):
        def __init__(self, groups: list, **options: float) -> None:
            super().__init__(groups, **options)
            shapes = {
                "x".join(map(str, p.shape)): g["weight_decay"] for g in self.param_groups for p in g["params"]
            }
            found.append(shapes)

    monkeypatch.setattr(torch.optim, "Adam", Recorded)
    words, classes = small.n_attributes, small.n_classes
    gcn.fit(Problem("classification", small, changes=("epochs=1", "hidden=7", "weight_decay=0.25")))
    assert found[-1] == {f"{words}x7": 0.25, f"{classes}x7": 0.0}
    model = Planetoid(small.n_nodes, words, classes, 5)
    _supervised(model, PlanetoidOptions(weight_decay=0.5, vector_decay=0.75))
    assert found[-1][f"{words}x{classes}"] == 0.5
    assert found[-1][f"{classes}x5"] == 0.75


def test_graphsgan_answers_without_noise(small: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    real = Classifier._noise

    def recorded(self: Classifier, rows: torch.Tensor, size: float) -> torch.Tensor:
        noisy = real(self, rows, size)
        if not torch.is_grad_enabled():
            drawn.append(not torch.equal(noisy, rows))
        return noisy

    monkeypatch.setattr(Classifier, "_noise", recorded)
    METHODS["graphsgan"].fit(Problem("classification", small, changes=("epochs=1", "batches=1")))
    assert drawn
    assert not any(drawn)
