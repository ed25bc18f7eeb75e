"""The loop: divergence, interruption, early stopping, the best state."""

import numpy as np
import pytest
import torch

from coembed.errors import InputError
from coembed.model import scan
from coembed.network import Network
from coembed.settings import preset_settings
from coembed.training import Diverged, fit, train


def small_network(seed=0, n_nodes=30, n_attributes=12, n_classes=3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n_nodes, n_nodes)) < 0.2, 1)
    labels = rng.permutation(np.arange(n_nodes) % n_classes)
    return Network.build(upper | upper.T, rng.random((n_nodes, n_attributes)) < 0.3, labels)


def settings_of(**changes):
    return preset_settings("paper", dim=4, hidden=6, **changes)


def model_of(**changes):
    torch.manual_seed(0)
    return scan(small_network(), settings_of(**changes))


def state(model):
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


class Faulty(torch.nn.Module):
    """A model whose loss is not a number in some evaluations, counted from 1."""

    def __init__(self, model, bad):
        super().__init__()
        self.model, self.bad, self.calls = model, bad, 0

    def forward(self, noise):
        self.calls += 1
        loss = self.model(noise)
        return loss._replace(total=loss.total * float("nan")) if self.calls in self.bad else loss


def test_the_loss_falls():
    history = train(model_of(dropout=0.0), epochs=40)
    assert len(history.figures["loss"]) == 40
    assert history.figures["loss"][-1] < history.figures["loss"][0] / 2
    parts = [name for name in history.figures if name != "loss"]
    assert sum(history.figures[name][-1] for name in parts) == pytest.approx(
        history.figures["loss"][-1], rel=1e-5
    )


def test_a_loss_that_is_not_a_number_is_recovered_from():
    model = Faulty(model_of(), bad={4, 17})
    history = train(model, epochs=25, learning_rate=0.01)
    assert history.stopped == "all epochs done"
    assert len(history.figures["loss"]) == 25
    assert np.isfinite(history.figures["loss"]).all()
    assert all(torch.isfinite(p).all() for p in model.parameters())
    assert len(history.notices) == 2
    assert "epoch 4" in history.notices[0]
    assert "0.005" in history.notices[0]
    assert "0.0025" in history.notices[1]


def test_recovery_goes_back_to_the_last_sound_weights():
    model = Faulty(model_of(), bad={3})
    start, seen = state(model), []

    def watch(module, inputs):
        seen.append(state(model))

    model.register_forward_pre_hook(watch)
    train(model, epochs=3)
    assert not same(seen[2], start)
    assert same(seen[3], start)


def test_divergence_without_end_stops_with_a_remedy():
    with pytest.raises(
        Diverged, match=r"not a number in epoch 1, for the 4th time.*lower learning_rate"
    ) as caught:
        train(Faulty(model_of(), bad=range(100)), epochs=1)
    assert isinstance(caught.value, InputError)


def test_infinite_gradients_never_reach_the_weights():
    model = model_of()
    parameter = model.label_shift["node"]
    broken = iter([True])
    parameter.register_hook(lambda g: g / 0 if next(broken, False) else g)
    history = train(model, epochs=3)
    assert len(history.notices) == 1
    assert torch.isfinite(parameter).all()


def test_an_absurd_learning_rate_gives_numbers_all_the_same():
    fitted = fit(small_network(), settings_of(epochs=30, learning_rate=1000.0))
    assert np.isfinite(fitted.node_mean).all()
    assert np.isfinite(fitted.probabilities).all()


def test_interruption_ends_cleanly_with_the_best_state():
    model = model_of()
    figures = {5: 0.2, 10: 0.9, 15: 0.4}
    epochs, states = iter(figures), {}

    def validate():
        epoch = next(epochs)
        states[epoch] = state(model)
        return {"accuracy": figures[epoch]}

    def progress(epoch, total, seen):
        if epoch == 17:
            raise KeyboardInterrupt

    history = train(model, epochs=100, validate=validate, progress=progress)
    assert history.stopped == "interrupted"
    assert history.best_epoch == 10
    assert len(history.figures["loss"]) == 17
    assert same(state(model), states[10])


def test_interruption_inside_a_step_keeps_what_was_learnt():
    model = model_of()
    calls = []

    def interrupt(module, inputs):
        calls.append(state(model))
        if len(calls) == 8:
            raise KeyboardInterrupt

    model.register_forward_pre_hook(interrupt)
    history = train(model, epochs=100)
    assert history.stopped == "interrupted"
    assert history.best_epoch == 7
    assert same(state(model), calls[-1])


def test_an_interrupted_fit_is_a_result():
    def progress(epoch, total, figures):
        if epoch == 3:
            raise KeyboardInterrupt

    fitted = fit(small_network(), settings_of(epochs=50), progress=progress)
    assert fitted.history["stopped"] == "interrupted"
    assert len(fitted.history["loss"]) == 3
    assert np.isfinite(fitted.node_mean).all()


def test_the_best_state_wins_over_the_last():
    model, figures, states = model_of(), iter([0.5, 0.8, 0.8, 0.7]), []

    def validate():
        states.append(state(model))
        return {"accuracy": next(figures)}

    history = train(model, epochs=20, validate=validate)
    assert history.validated_at == [5, 10, 15, 20]
    assert history.best_epoch == 10  # the first of equals
    assert history.figures["validation accuracy"] == [0.5, 0.8, 0.8, 0.7]
    assert same(state(model), states[1])


def test_patience_ends_training_early():
    history = train(model_of(), epochs=200, validate=lambda: {"accuracy": 0.5}, patience=20)
    assert history.best_epoch == 5
    assert len(history.figures["loss"]) == 25
    assert "20 epochs" in history.stopped


def test_without_validation_the_last_state_stays():
    seen = []
    model = model_of()
    train(model, epochs=7, progress=lambda epoch, epochs, figures: seen.append((epoch, state(model))))
    assert [epoch for epoch, _ in seen] == list(range(1, 8))
    assert same(state(model), seen[-1][1])


def test_dropout_is_off_while_validating():
    model = model_of(dropout=0.5)
    seen = []

    def validate():
        seen.append([model.evidence("node").label_logits for _ in range(2)])
        return {"accuracy": 0.0}

    train(model, epochs=6, validate=validate)
    assert len(seen) == 2
    assert all(torch.equal(one, other) for one, other in seen)


def test_the_rate_falls_to_nothing_along_half_a_cosine():
    """Adam's steps are about as long as its rate: where the slope stays the same, they tell it."""

    class Sloping(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.at = torch.nn.Parameter(torch.zeros(1))
            self.seen = []

        def forward(self, noise):
            self.seen.append(self.at.item())
            return model_of()(noise)._replace(total=self.at.sum())

    for schedule, rates in (
        ("constant", np.ones(20)),
        ("cosine", (1 + np.cos(np.pi * np.arange(20) / 20)) / 2),
    ):
        model = Sloping()
        train(model, epochs=20, learning_rate=0.01, schedule=schedule)
        steps = -np.diff([*model.seen, model.at.item()])
        np.testing.assert_allclose(steps, 0.01 * rates, rtol=1e-3)
