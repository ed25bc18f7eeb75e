"""The label of an item: observed, or a latent variable with posterior q(y | F)."""

from __future__ import annotations

from copy import copy
from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from coembed.distributed.exchange import sum_of_all
from coembed.distributed.partition import Partition, rows_of
from coembed.kernels import Noise

LabelMethod = Literal["gumbel", "hard", "exact"]


class Choices(NamedTuple):
    """Labels to decode with: `values` (items, choices, classes), `weights` (items, choices) or None for 1.

    A sample is one choice of weight one; the exact expectation has every class as a choice, weighted by
    its probability.
    """

    values: Tensor
    weights: Tensor | None


class LabelVariable:
    """A partially observed categorical variable, one for each item of a type.

    Parameters
    ----------
    observed
        Class of each item, -1 where it is unknown.
    rows
        How all items are dealt out, if these are one process's.
    prior
        p(y): `uniform`, or the frequencies among the observed.
    opinion
        Probabilities (items, classes) that q(y | F) is to come near to where the label is unknown.
    trust
        Weight of the opinion beside that of the observed labels.

    Examples
    --------
    >>> label = LabelVariable(np.array([0, -1]), n_classes=2)
    >>> label.probabilities(torch.zeros(2, 2)).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """

    def __init__(
        self,
        observed: np.ndarray,
        n_classes: int,
        prior: Literal["uniform", "frequency"] = "uniform",
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
        rows: Partition | None = None,
        opinion: np.ndarray | None = None,
        trust: float = 0.0,
    ) -> None:
        self.n_classes = n_classes
        self.rows = rows_of(rows, len(observed))
        everybody = rows or Partition.whole(len(observed))
        self.known = torch.as_tensor(observed >= 0, device=device)
        items = self.known.nonzero().squeeze(1)
        self.one_hot = torch.zeros(len(observed), n_classes, device=device, dtype=dtype)
        self.one_hot[items, torch.as_tensor(np.array(observed), device=device)[items]] = 1
        here = np.bincount(observed[observed >= 0], minlength=n_classes)
        counts = self.one_hot.new_tensor(sum_of_all(here, everybody))
        self.targets = self.one_hot / counts.sum().clamp_min(1)
        if opinion is not None and trust:
            unknown = ~self.known
            n_unknown = everybody.total - round(float(counts.sum()))
            wanted = torch.as_tensor(opinion, device=device, dtype=dtype)[unknown]
            self.targets[unknown] = trust * wanted / max(n_unknown, 1)
        if prior == "frequency":
            # one imaginary item a class, so that a class without a label stays possible
            self.log_prior = ((counts + 1) / (counts + 1).sum()).log()
        else:
            self.log_prior = torch.full_like(counts, -np.log(n_classes))

    def part(self, rows: slice) -> LabelVariable:
        """The variable of some of the items; a mean is still one over all that are known."""
        part = copy(self)
        part.rows = self.rows.part(rows)
        part.known, part.one_hot, part.targets = self.known[rows], self.one_hot[rows], self.targets[rows]
        return part

    def posterior(self, logits: Tensor) -> Tensor:
        """q(y | F), whatever is observed."""
        return logits.softmax(dim=-1)

    def probabilities(self, logits: Tensor) -> Tensor:
        """The observed one-hot where there is one, q(y | F) elsewhere."""
        return torch.where(self.known[:, None], self.one_hot, logits.softmax(dim=-1))

    def between(self, one: Tensor, other: Tensor, share: float = 0.5) -> Tensor:
        """Probabilities between two, in logits, with a share of the other."""
        logs = one.clamp_min(1e-6).log(), other.clamp_min(1e-6).log()
        return torch.lerp(*logs, share).softmax(dim=-1)

    def choices(self, logits: Tensor, method: LabelMethod, tau: float, noise: Noise) -> Choices:
        """What to decode with, by sampling (one relaxed or hard sample) or exactly (all classes)."""
        if method == "exact":
            every_class = torch.eye(self.n_classes, device=logits.device, dtype=logits.dtype)
            return Choices(every_class.expand(len(logits), -1, -1), self.probabilities(logits))
        uniform = noise.uniform("label", self.rows, self.n_classes, logits)
        gumbel = -(-uniform.clamp_min(1e-20).log()).clamp_min(1e-20).log()
        perturbed = logits + gumbel  # log q but for a constant of the row, which is lost below
        if method == "hard":
            sample = F.one_hot(perturbed.argmax(dim=-1), self.n_classes).to(logits.dtype)
        else:
            sample = (perturbed / tau).softmax(dim=-1)
        return Choices(torch.where(self.known[:, None], self.one_hot, sample)[:, None], None)

    def cost(self, logits: Tensor, entropy_weight: float) -> Tensor:
        """Label terms of the negative ELBO, by item: -log p(y), or -w_H H(q) - E_q log p(y)."""
        log_q = logits.log_softmax(dim=-1)
        observed = -(self.one_hot @ self.log_prior)
        latent = (log_q.exp() * (entropy_weight * log_q - self.log_prior)).sum(dim=-1)
        return torch.where(self.known, observed, latent)

    def classification_loss(self, logits: Tensor) -> Tensor:
        """-log q(y | F), a mean over the labelled, and of the others by what is thought of them.

        Of a process's items, its share of that.
        """
        return -(self.targets * logits.log_softmax(dim=-1)).sum()

    def decoding_cost(self, logits: Tensor, values: Tensor) -> Tensor:
        """-log p(y | z) of labels that may be soft."""
        return -(values * logits.log_softmax(dim=-1)).sum(dim=-1)
