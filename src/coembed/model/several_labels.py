"""Labels of which an item may have several: K Bernoulli variables, observed or latent with q(y_k | F)."""

from __future__ import annotations

from copy import copy
from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from coembed.distributed.exchange import sum_of_all
from coembed.distributed.partition import Partition, rows_of
from coembed.kernels import Noise
from coembed.model.labels import Choices, LabelMethod


class SeveralLabels:
    """Partially observed yes-or-no variables, one for each item and class.

    The parameters are those of :class:`coembed.model.labels.LabelVariable`; `observed` is items x classes: 1,
    0, or -1 where it is unknown. An expectation over all 2^K combinations cannot be taken: where the exact
    one is asked for, means are decoded.

    Examples
    --------
    >>> labels = SeveralLabels(np.array([[1, 0], [-1, 1]]), n_classes=2)
    >>> labels.probabilities(torch.zeros(2, 2)).tolist()
    [[1.0, 0.0], [0.5, 1.0]]
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
        given = torch.as_tensor(np.array(observed), device=device)
        self.known = given >= 0
        self.targets = given.clamp_min(0).to(dtype)
        labelled = self.known.any(dim=1)
        n_labelled = float(sum_of_all(np.array([int(labelled.sum())]), everybody)[0])
        self.weights = self.known.to(dtype) / max(n_labelled, 1.0)
        if opinion is not None and trust:
            wanted = torch.as_tensor(opinion, device=device, dtype=dtype)
            n_unknown = everybody.total - n_labelled
            unknown = ~self.known & ~labelled[:, None]
            self.targets = torch.where(unknown, wanted, self.targets)
            self.weights = torch.where(unknown, trust / max(n_unknown, 1.0), self.weights)
        yes, cells = (
            self.targets.new_tensor(sum_of_all(np.asarray(each).sum(axis=0), everybody))
            for each in (observed == 1, observed >= 0)
        )
        # one imaginary item with and one without, so that either stays possible
        share = (yes + 1) / (cells + 2) if prior == "frequency" else torch.full_like(yes, 0.5)
        self.log_prior = torch.stack([(1 - share).log(), share.log()])

    def part(self, rows: slice) -> SeveralLabels:
        """The variables of some of the items; a mean is still one over all that are known."""
        part = copy(self)
        part.rows = self.rows.part(rows)
        part.known, part.targets, part.weights = self.known[rows], self.targets[rows], self.weights[rows]
        return part

    def posterior(self, logits: Tensor) -> Tensor:
        """q(y | F), whatever is observed."""
        return logits.sigmoid()

    def probabilities(self, logits: Tensor) -> Tensor:
        """What is observed where it is, q(y | F) elsewhere."""
        return torch.where(self.known, self.targets, logits.sigmoid())

    def between(self, one: Tensor, other: Tensor, share: float = 0.5) -> Tensor:
        """Probabilities between two, in logits, with a share of the other."""
        return torch.lerp(one.logit(1e-6), other.logit(1e-6), share).sigmoid()

    def choices(self, logits: Tensor, method: LabelMethod, tau: float, noise: Noise) -> Choices:
        """What to decode with: one relaxed or hard sample, or the means."""
        if method == "exact":
            return Choices(self.probabilities(logits)[:, None], None)
        uniform = noise.uniform("label", self.rows, self.n_classes, logits).clamp(1e-7, 1 - 1e-7)
        perturbed = logits + uniform.log() - (-uniform).log1p()
        sample = (perturbed > 0).to(logits.dtype) if method == "hard" else (perturbed / tau).sigmoid()
        return Choices(torch.where(self.known, self.targets, sample)[:, None], None)

    def cost(self, logits: Tensor, entropy_weight: float) -> Tensor:
        """Label terms of the negative ELBO, by item: -log p(y), or -w_H H(q) - E_q log p(y), summed."""
        q = logits.sigmoid()
        log_no, log_yes = F.logsigmoid(-logits), F.logsigmoid(logits)
        no, yes = self.log_prior
        latent = q * (entropy_weight * log_yes - yes) + (1 - q) * (entropy_weight * log_no - no)
        observed = -(self.targets * yes + (1 - self.targets) * no)
        return torch.where(self.known, observed, latent).sum(dim=1)

    def classification_loss(self, logits: Tensor) -> Tensor:
        """-log q(y | F), summed over classes, a mean over the labelled, and of the others by what is thought.

        Of a process's items, its share of that.
        """
        each = F.binary_cross_entropy_with_logits(logits, self.targets, reduction="none")
        return (self.weights * each).sum()

    def decoding_cost(self, logits: Tensor, values: Tensor) -> Tensor:
        """-log p(y | z) of labels that may be soft."""
        return F.binary_cross_entropy_with_logits(logits, values, reduction="none").sum(dim=-1)
