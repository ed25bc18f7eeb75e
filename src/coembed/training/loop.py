"""The loop: Adam on the loss of any model, until the epochs or the patience end.

It keeps the best state where there is a validation figure to choose by, goes back and slows down when
the loss is no longer a number, and ends cleanly when it is interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from coembed.errors import InputError
from coembed.kernels import Noise, all_true, summed_gradients
from coembed.model import SVAE

Progress = Callable[[int, int, dict[str, float]], None]
"""Called after every epoch with its number (from 1), the number of epochs, and the figures so far."""

Validate = Callable[[], dict[str, float]]
"""Validation figures of the model as it is now, the higher the better."""

Schedule = Literal["constant", "cosine"]

SNAPSHOT_EVERY = 10
MOST_RECOVERIES = 3


class Diverged(InputError):
    """Training cannot go on: the loss is not a number, again and again. Gentler settings are the remedy."""


@dataclass
class History:
    """What happened: a list of figures for every name, the chosen epoch, and why it ended."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    validated_at: list[int] = field(default_factory=list)
    best_epoch: int = 0
    stopped: str = "all epochs done"
    notices: list[str] = field(default_factory=list)

    def add(self, figures: dict[str, float]) -> None:
        for name, figure in figures.items():
            self.figures.setdefault(name, []).append(figure)

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.figures,
            "validated_at": self.validated_at,
            "best_epoch": self.best_epoch,
            "stopped": self.stopped,
            "notices": self.notices,
        }


def train(
    model: SVAE,
    *,
    epochs: int,
    learning_rate: float = 0.01,
    schedule: Schedule = "constant",
    weight_decay: float = 0.0,
    label_decay: float = 0.0,
    seed: int = 0,
    validate: Validate | None = None,
    validate_every: int = 5,
    patience: int = 0,
    progress: Progress | None = None,
    processes: int = 1,
) -> History:
    """Minimise the model's loss and leave the model in its best (or, without validation, last) state.

    Where a model is dealt out to `processes`, all of them call this, and all get the same figures.
    """
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(
        _groups(model, weight_decay, label_decay), lr=learning_rate, fused=device.type in ("cpu", "cuda")
    )
    history = History()
    keeper = _Keeper(model)
    latest: dict[str, float] = {}
    try:
        for epoch in _epochs(epochs, schedule, model, optimizer, Noise(seed), history, processes):
            figures = {name: values[-1] for name, values in history.figures.items()}
            if validate is not None and (epoch % validate_every == 0 or epoch == epochs):
                with torch.no_grad():
                    latest = {f"validation {name}": value for name, value in validate().items()}
                history.add(latest)
                history.validated_at.append(epoch)
                keeper.consider(epoch, sum(latest.values()))
            history.best_epoch = keeper.epoch if keeper.epoch else epoch
            if progress is not None:
                progress(epoch, epochs, figures | latest)
            if patience and keeper.epoch and epoch - keeper.epoch >= patience:
                history.stopped = f"no better validation figure for {patience} epochs"
                break
    except KeyboardInterrupt:
        history.stopped = "interrupted"
    keeper.restore()
    return history


def _epochs(
    epochs: int,
    schedule: Schedule,
    model: SVAE,
    optimizer: torch.optim.Optimizer,
    noise: Noise,
    history: History,
    processes: int,
) -> Iterator[int]:
    """One step each; on a loss that is not a number, back to the last sound state at half the rate."""
    sound = _state(model)
    recoveries = 0
    rate = float(optimizer.param_groups[0]["lr"])
    epoch = 1
    while epoch <= epochs:
        for group in optimizer.param_groups:
            group["lr"] = rate * _part_of_rate(schedule, epoch, epochs)
        loss = model(noise.at(epoch + recoveries))  # a step that went wrong is not tried again as it was
        optimizer.zero_grad(set_to_none=True)
        (loss.total / processes).backward()  # every process has the whole loss, and takes its share of it
        summed_gradients(model.parameters(), processes)
        if not all_true(_finite(loss.total, model), processes):
            recoveries += 1
            rate /= 2
            if recoveries > MOST_RECOVERIES:
                model.load_state_dict(sound)
                raise Diverged(
                    f"the loss was not a number in epoch {epoch}, for the {recoveries}th time although the "
                    f"learning rate fell to {2 * rate:g}; lower learning_rate, alpha or kl_weight"
                )
            model.load_state_dict(sound)
            optimizer.state.clear()
            history.notices.append(
                f"epoch {epoch}: the loss was not a number; went back, learning rate {rate:g}"
            )
            continue
        optimizer.step()
        if epoch % SNAPSHOT_EVERY == 0:
            sound = _state(model)
        history.add({"loss": loss.total.item()} | {name: float(part) for name, part in loss.parts.items()})
        yield epoch
        epoch += 1


def _groups(model: SVAE, weight_decay: float, label_decay: float) -> list[dict[str, Any]]:
    """The discriminators' own weights, and all others."""
    own: list[Tensor] = []
    others: list[Tensor] = []
    for name, weight in model.named_parameters():
        (own if name.startswith("inference.") and ".label" in name else others).append(weight)
    return [
        {"params": others, "weight_decay": weight_decay},
        {"params": own, "weight_decay": max(label_decay, weight_decay)},
    ]


def _part_of_rate(schedule: Schedule, epoch: int, epochs: int) -> float:
    if schedule == "constant":
        return 1.0
    return 0.5 * (1 + math.cos(math.pi * (epoch - 1) / epochs))


def _finite(total: Tensor, model: SVAE) -> bool:
    """Whether the loss and all gradients are numbers: one that is not would spoil the weights."""
    if not torch.isfinite(total):
        return False
    sums = [p.grad.sum() for p in model.parameters() if p.grad is not None]
    return bool(torch.isfinite(torch.stack(sums)).all())


class _Keeper:
    """Remembers the state with the highest figure."""

    def __init__(self, model: SVAE) -> None:
        self.model = model
        self.figure = float("-inf")
        self.epoch = 0
        self.state: dict[str, Tensor] | None = None

    def consider(self, epoch: int, figure: float) -> None:
        if figure > self.figure:
            self.figure, self.epoch, self.state = figure, epoch, _state(self.model)

    def restore(self) -> None:
        if self.state is not None:
            self.model.load_state_dict(self.state)


def _state(model: SVAE) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
