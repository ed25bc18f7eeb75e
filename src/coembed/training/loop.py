"""The loop: Adam on the loss of any model, until the epochs or the patience end.

It keeps the best state where there is a validation figure to choose by, goes back and slows down when
the loss is no longer a number, and ends cleanly when it is interrupted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor

from coembed.distributed.exchange import all_true, summed_gradients
from coembed.distributed.partition import Partition, held_by
from coembed.errors import InputError, one_line
from coembed.kernels import Noise
from coembed.model import SVAE
from coembed.progress import EpochProgress
from coembed.records import fits
from coembed.training.checkpoint import Checkpoints

Validate = Callable[[], dict[str, float]]
"""Validation figures of the model as it is now, the higher the better."""

Schedule = Literal["constant", "cosine"]

SNAPSHOT_EVERY = 10
MOST_RECOVERIES = 3
ALL_DONE = "all epochs done"
_MOMENTS = {"mean": "exp_avg", "square": "exp_avg_sq"}


# what a checkpoint must say; figures may be NaN
_RECORD: dict[str, Any] = {
    "epoch": int,
    "rate": float,
    "recoveries": int,
    "latest": dict[str, Any],
    "best": dict[str, int | float | None],
    "steps": dict[str, int],
    "history": dict[str, Any],
}
_HISTORY: dict[str, Any] = {
    "figures": dict[str, list[Any]],
    "validated_at": list[int],
    "best_epoch": int,
    "stopped": str,
    "notices": list[str],
}


class Diverged(InputError):
    """Training cannot go on: the loss is not a number, again and again. Gentler settings are the remedy."""


@dataclass
class History:
    """What happened: a list of figures for every name, the chosen epoch, and why it ended.

    Of types with classes `out_of_fold` is how good the members of the label ensemble are, and `follows` from
    what the classes are read, by share.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    validated_at: list[int] = field(default_factory=list)
    best_epoch: int = 0
    stopped: str = ALL_DONE
    notices: list[str] = field(default_factory=list)
    out_of_fold: dict[str, dict[str, float]] = field(default_factory=dict)
    follows: dict[str, dict[str, float]] = field(default_factory=dict)

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
            **({"out_of_fold": self.out_of_fold} if self.out_of_fold else {}),
            **({"follows": self.follows} if self.follows else {}),
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
    choose: Callable[[dict[str, float]], float] = lambda figures: sum(figures.values()),
    validate_every: int = 5,
    patience: int = 0,
    progress: EpochProgress | None = None,
    processes: int = 1,
    checkpoints: Checkpoints | None = None,
) -> History:
    """Minimise the model's loss and leave the model in its best (or, without validation, last) state.

    `choose` makes one figure of those of the validation, the higher the better.
    With `checkpoints` all that is needed to go on is kept from time to time, and at the end.
    Where a model is dealt out to `processes`, all of them call this, and all get the same figures.
    """
    device = next(model.parameters()).device
    optimizer = torch.optim.Adam(
        _groups(model, weight_decay, label_decay), lr=learning_rate, fused=device.type in ("cpu", "cuda")
    )
    run = Run(model, optimizer)
    if checkpoints is not None and checkpoints.resume:
        kept = checkpoints.load(run.dealt())
        if kept is not None:
            _restore(run, checkpoints, *kept)
    try:
        for epoch in _epochs(run, epochs, schedule, Noise(seed), processes):
            history, keeper = run.history, run.keeper
            figures = {name: values[-1] for name, values in history.figures.items()}
            if validate is not None and (epoch % validate_every == 0 or epoch == epochs):
                with torch.no_grad():
                    found = validate()
                run.latest = {f"validation {name}": value for name, value in found.items()}
                history.add(run.latest)
                history.validated_at.append(epoch)
                keeper.consider(epoch, choose(found))
            history.best_epoch = keeper.epoch if keeper.epoch else epoch
            if patience and keeper.epoch and epoch - keeper.epoch >= patience:
                history.stopped = f"no better validation figure for {patience} epochs"
            ends = epoch == epochs or history.stopped != ALL_DONE
            if checkpoints is not None and (ends or checkpoints.due()):
                trouble = checkpoints.save(run.record(), run.tensors(), run.dealt())
                if trouble is not None and trouble not in history.notices:
                    history.notices.append(trouble)
            if progress is not None:
                progress(epoch, epochs, figures | run.latest)
            if ends:
                break
    except KeyboardInterrupt:
        if processes > 1:  # they may be in different epochs
            raise
        run.history.stopped = "interrupted"
    run.keeper.restore()
    return run.history


class Run:
    """All that changes while a model is trained, to be kept and taken up again.

    Tensors go by the name of their parameter: its value, the two moments of Adam, its value in the best and
    in the last sound state.
    """

    def __init__(self, model: SVAE, optimizer: torch.optim.Optimizer) -> None:
        self.model, self.optimizer = model, optimizer
        self.epoch = 0
        self.rate = float(optimizer.param_groups[0]["lr"])
        self.recoveries = 0
        self.history = History()
        self.keeper = _Keeper(model)
        self.sound = _state(model)
        self.latest: dict[str, float] = {}

    def record(self) -> dict[str, Any]:
        """The numbers, fit for JSON."""
        return {
            "epoch": self.epoch,
            "rate": self.rate,
            "recoveries": self.recoveries,
            "latest": self.latest,
            "best": {"epoch": self.keeper.epoch, "figure": self.keeper.figure if self.keeper.epoch else None},
            "steps": {
                name: int(self.optimizer.state[parameter]["step"])
                for name, parameter in self.model.named_parameters()
                if parameter in self.optimizer.state
            },
            "history": asdict(self.history),
        }

    def tensors(self) -> dict[str, Tensor]:
        found = {f"sound/{name}": tensor for name, tensor in self.sound.items()}
        found |= {f"best/{name}": tensor for name, tensor in (self.keeper.state or {}).items()}
        for name, parameter in self.model.named_parameters():
            found[f"value/{name}"] = parameter.detach()
            for moment, key in _MOMENTS.items():
                if parameter in self.optimizer.state:
                    found[f"{moment}/{name}"] = self.optimizer.state[parameter][key]
        return found

    def dealt(self) -> dict[str, Partition]:
        """How those of the tensors are dealt out of which this process has its rows only."""
        places = {name: held_by(parameter) for name, parameter in self.model.named_parameters()}
        kinds = ("value", "sound", "best", *_MOMENTS)
        return {f"{kind}/{name}": rows for name, rows in places.items() if rows for kind in kinds}

    def restore(self, record: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        """Be as when these were taken."""
        self.epoch, self.rate, self.recoveries = record["epoch"], record["rate"], record["recoveries"]
        self.latest, self.history = record["latest"], History(**record["history"])
        for name, parameter in self.model.named_parameters():
            for kind in ("value", "sound"):
                if tensors[f"{kind}/{name}"].shape != parameter.shape:
                    raise ValueError(f"{name} has another shape")
            with torch.no_grad():
                parameter.copy_(tensors[f"value/{name}"])
            if name in record["steps"]:
                step = torch.tensor(float(record["steps"][name]), device=parameter.device)
                self.optimizer.state[parameter] = {"step": step} | {
                    key: tensors[f"{moment}/{name}"].to(parameter, copy=True)
                    for moment, key in _MOMENTS.items()
                }
        self.sound = {name: tensors[f"sound/{name}"].to(held) for name, held in self.sound.items()}
        if record["best"]["epoch"]:
            self.keeper.epoch, self.keeper.figure = record["best"]["epoch"], record["best"]["figure"]
            self.keeper.state = {name: tensors[f"best/{name}"].to(held) for name, held in self.sound.items()}


def _restore(run: Run, checkpoints: Checkpoints, record: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Take up a checkpoint; one that was forged or is of another program need not fit the model."""
    try:
        for name, hint in _RECORD.items():
            if not fits(record[name], hint):
                raise ValueError(f"{name} is not what it should be")
        for name, hint in _HISTORY.items():
            if not fits(record["history"][name], hint):
                raise ValueError(f"{name} is not what it should be")
        if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
            raise ValueError("it holds NaN or infinity")
        run.restore(record, tensors)
    except (KeyError, TypeError, ValueError, RuntimeError, AttributeError) as error:
        raise InputError(
            f"{checkpoints.folder} does not hold a state of this model ({one_line(error, 120)}); start anew, "
            "without --resume"
        ) from None


def _epochs(run: Run, epochs: int, schedule: Schedule, noise: Noise, processes: int) -> Iterator[int]:
    """One step each; on a loss that is not a number, back to the last sound state at half the rate."""
    model, optimizer = run.model, run.optimizer
    while run.epoch < epochs and run.history.stopped == ALL_DONE:
        epoch = run.epoch + 1
        for group in optimizer.param_groups:
            group["lr"] = run.rate * _part_of_rate(schedule, epoch, epochs)
        loss = model(noise.at(epoch + run.recoveries))  # a step that went wrong is not tried again as it was
        optimizer.zero_grad(set_to_none=True)
        (loss.total / processes).backward()  # every process has the whole loss, and takes its share of it
        summed_gradients(model.parameters(), processes)
        if not all_true(_finite(loss.total, model), processes):
            run.recoveries += 1
            run.rate /= 2
            model.load_state_dict(run.sound)
            if run.recoveries > MOST_RECOVERIES:
                raise Diverged(
                    f"the loss was not a number in epoch {epoch}, for the {run.recoveries}th time although "
                    f"the learning rate fell to {2 * run.rate:g}; lower learning_rate, alpha or kl_weight"
                )
            optimizer.state.clear()
            run.history.notices.append(
                f"epoch {epoch}: the loss was not a number; went back, learning rate {run.rate:g}"
            )
            continue
        optimizer.step()
        if epoch % SNAPSHOT_EVERY == 0:
            run.sound = _state(model)
        parts = {name: float(part) for name, part in loss.parts.items()}
        run.history.add({"loss": loss.total.item()} | parts)
        run.epoch = epoch
        yield epoch


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
