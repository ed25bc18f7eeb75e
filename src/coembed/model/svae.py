"""The semi-supervised variational auto-encoder for heterogeneous data (section 3 of the paper).

Types of items, each with a Gaussian latent z and, if it has classes, a partially observed label y;
relations between them. All types share C = D + sum of K_t coordinates, D common ones and a block for each
labelled type: an item's code has y in its type's own block and z in the rest, so that the inner product
of any two codes is defined. Of many classes the block has fewer coordinates: y T, with a learnt table T.
Alone, with a decoder of its own features, a type is Kingma's model M2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from coembed.distributed.exchange import total
from coembed.distributed.partition import Partition
from coembed.distributed.row_range import Rows
from coembed.errors import InputError
from coembed.kernels import Noise
from coembed.model.feature_term import Features, FeatureTerm
from coembed.model.inference import Evidence, dense_layer, glorot
from coembed.model.item_codes import Bias, ItemCodes
from coembed.model.labels import Choices, LabelMethod, LabelVariable
from coembed.model.latent import Gaussian
from coembed.model.modelled_relation import ModelledRelation
from coembed.model.relation_term import RelationTerm
from coembed.model.row_chunks import GIVE_BACK_EVERY, Whole, first_remembered, give_back, row_parts
from coembed.model.several_labels import SeveralLabels
from coembed.model.views_inference import ViewsInference

Label = LabelVariable | SeveralLabels
"""The label of a type: one class an item, or several."""


@dataclass(frozen=True, eq=False)
class EntityType:
    """A type of items.

    `inference(latent, n_classes)` builds its inference network, a module that gives :class:`Evidence` when
    it is called with the noise of a training step, or with None. `labels` holds the class of each item, -1
    where it is unknown, or, if it may have several, for each class 1, 0 or -1; `opinion` the probabilities of
    classes that others give, a row for each item, to be imitated where it is unknown.

    `alone` is the share of its posteriors that it pays if no relation makes it pay. `most_label_coordinates`
    is how wide the block of its label may be; 0: one coordinate a class, however many.

    Where the `n_items` are dealt out to processes, `rows` says how; labels, features and the inference
    network are of one process's items.
    """

    name: str
    n_items: int
    inference: Callable[[int, int], nn.Module]
    n_classes: int = 0
    labels: np.ndarray | None = None
    features: Features | None = None
    rows: Partition | None = None
    opinion: np.ndarray | None = None
    alone: float = 0.0
    most_label_coordinates: int = 0

    @property
    def label_size(self) -> int:
        """Coordinates of its label's block."""
        most = self.most_label_coordinates
        return most if most and self.n_classes > most else self.n_classes

    @property
    def partition(self) -> Partition:
        return self.rows or Partition.whole(self.n_items)


@dataclass(frozen=True)
class Objective:
    """What the loss weighs and how its expectations are taken; see :class:`coembed.settings.Settings`."""

    alpha: float = 1.0
    kl_weight: float = 1.0
    kl_accounting: Literal["joint", "atomic"] = "joint"
    entropy_weight: float = 1.0
    label_prior: Literal["uniform", "frequency"] = "uniform"
    balance: bool = True
    labels: LabelMethod = "gumbel"
    tau: float = 0.2
    label_decoding: float = 0.0
    label_ensemble: float = 0.0
    all_pairs: Literal["sampled", "exact"] = "sampled"
    block: int = 256


class Loss(NamedTuple):
    """The loss and its parts, by name, each as it enters the total."""

    total: Tensor
    parts: dict[str, Tensor]


class Inferred(NamedTuple):
    """A type's items in one evaluation of the loss: codes to decode, costs of their posterior."""

    codes: ItemCodes
    kl: Tensor
    label_cost: Tensor
    classification: Tensor
    label_decoding: Tensor

    @classmethod
    def joined(cls, parts: Sequence[Inferred], whole: Whole) -> Inferred:
        """Of parts of the items, those of all; their codes have been put into one place."""
        codes, *costs = zip(*parts, strict=True)
        values, weights = zip(*codes, strict=True)
        joined = ItemCodes(whole.joined(values), None if weights[0] is None else torch.cat(weights))
        return cls(joined, *(torch.stack(cost).sum() for cost in costs))

    def of_all(self, partition: Partition) -> Inferred:
        """With the costs of the items of all processes beside the codes of one's own."""
        if partition.processes == 1:
            return self
        return Inferred(self.codes, *total(torch.stack(self[1:]), partition).unbind())


class SVAE(nn.Module):
    """The general model; calling it evaluates the loss once, with the samples that the noise gives.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from coembed.model.inference import DenseInference
    >>> friends = sp.csr_array(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32))
    >>> people = EntityType(
    ...     "people", 3, lambda latent, classes: DenseInference([torch.eye(3)], 4, latent, classes),
    ...     n_classes=2, labels=np.array([0, -1, 1]),
    ... )
    >>> model = SVAE([people], [ModelledRelation("friends", "people", "people", friends)], dim=2)
    >>> sorted(model(Noise(seed=0)).parts)
    ['classification', 'friends', 'kl', 'label']
    """

    def __init__(
        self,
        types: Sequence[EntityType],
        relations: Sequence[ModelledRelation],
        dim: int = 64,
        objective: Objective | None = None,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.objective = goal = objective or Objective()
        self.types = {t.name: t for t in types}
        self.code_size = dim + sum(t.label_size for t in types)
        self.block_start: dict[str, int] = {}
        start = dim
        for t in types:
            self.block_start[t.name] = start
            start += t.label_size

        self.inference = nn.ModuleDict()
        self.label_shift = nn.ParameterDict()
        self.label_tables = nn.ParameterDict()
        self.label_decoders = nn.ModuleDict()
        self.decoders = nn.ModuleDict()
        self.labels: dict[str, Label] = {}
        for t in types:
            latent = self.latent_size(t.name)
            self.inference[t.name] = t.inference(latent, t.n_classes)
            if t.n_classes:
                self.label_shift[t.name] = nn.Parameter(glorot(t.n_classes, 2 * latent))
                if t.label_size < t.n_classes:
                    # rows of length one, about: as with a coordinate a class, equal labels are worth one
                    self.label_tables[t.name] = nn.Parameter(
                        torch.randn(t.n_classes, t.label_size) / t.label_size**0.5
                    )
                if goal.label_decoding:
                    self.label_decoders[t.name] = dense_layer(latent, t.n_classes)
                observed = np.full(t.partition.own.size, -1) if t.labels is None else t.labels
                variable = LabelVariable if observed.ndim == 1 else SeveralLabels
                self.labels[t.name] = variable(
                    observed,
                    t.n_classes,
                    goal.label_prior,
                    device,
                    dtype,
                    t.rows,
                    t.opinion,
                    goal.label_ensemble,
                )
            if t.features is not None:
                self.decoders[t.name] = FeatureTerm(t.features, self.code_size, device, dtype)

        self.relations = nn.ModuleList()
        for relation in relations:
            self._check(relation)
            self.relations.append(
                RelationTerm(
                    relation,
                    size=self.code_size,
                    balance=goal.balance,
                    all_pairs=goal.all_pairs,
                    block=goal.block,
                    device=device,
                    dtype=dtype,
                    source=self.types[relation.source].partition,
                    target=self.types[relation.target].partition,
                )
            )
        payers = {name for relation in relations for name, _ in self._shares(relation)} | set(self.decoders)
        self.unpaid = [t.name for t in types if t.name not in payers]
        self.to(device=device, dtype=dtype)

    def latent_size(self, name: str) -> int:
        """Coordinates of z: all but the block of the type's own label."""
        return self.code_size - self.types[name].label_size

    def forward(self, noise: Noise) -> Loss:
        goal = self.objective
        inferred = {name: self._infer(name, noise.of(name)) for name in self.types}
        parts: dict[str, Tensor] = {}
        kl: list[Tensor] = []
        label: list[Tensor] = []
        for term in self.relations:
            assert isinstance(term, RelationTerm)
            relation = term.relation
            left, right = inferred[relation.source], inferred[relation.target]
            parts[relation.title or relation.name] = relation.weight * term(left.codes, right.codes, noise)
            for name, times in self._shares(relation):
                share = relation.weight * times / max(term.n_pairs, 1)
                kl.append(share * goal.kl_weight * inferred[name].kl)
                label.append(share * inferred[name].label_cost)
        for name in self.unpaid:
            kl.append(self.types[name].alone * goal.kl_weight * inferred[name].kl)
            label.append(self.types[name].alone * inferred[name].label_cost)
        for name, decoder in self.decoders.items():
            assert isinstance(decoder, FeatureTerm)
            share = decoder.weight / self.types[name].n_items
            cost = total(decoder(inferred[name].codes), self.types[name].partition)
            parts[f"{name} features"] = share * cost
            kl.append(share * goal.kl_weight * inferred[name].kl)
            label.append(share * inferred[name].label_cost)
        parts["kl"] = torch.stack(kl).sum()
        if self.labels:
            parts["label"] = torch.stack(label).sum()
            parts["classification"] = (
                goal.alpha * torch.stack([inferred[name].classification for name in self.labels]).sum()
            )
            if self.label_decoders:
                decoding = torch.stack([inferred[name].label_decoding for name in self.labels])
                parts["label decoding"] = goal.label_decoding * decoding.sum()
        whole = torch.stack([part.double() for part in parts.values()]).sum()
        return Loss(whole, {name: part.detach() for name, part in parts.items()})

    def evidence(self, name: str, noise: Noise | None = None) -> Evidence:
        """What the inputs say of a type's items; nothing is left out but in training, with noise."""
        found: Evidence = self.inference[name](noise)
        return found

    def posterior(self, name: str, evidence: Evidence, labels: Tensor | None) -> Gaussian:
        """q(z | F, y) with labels (items, ..., classes) that may be soft."""
        output = evidence.output
        if labels is not None:
            shift = labels @ self.label_shift[name]
            output = (output[:, None] if labels.dim() == 3 else output) + shift
        return Gaussian.from_output(output)

    def code(self, name: str, latent: Tensor, labels: Tensor | None) -> Tensor:
        """Put y, or y T, into the type's own block and z into the rest."""
        if labels is None:
            return latent
        start = self.block_start[name]
        if name in self.label_tables:
            labels = labels @ self.label_tables[name]
        return torch.cat([latent[..., :start], labels, latent[..., start:]], dim=-1)

    def term(self, relation: str) -> RelationTerm | None:
        """What a relation costs, with all that it has learnt of its own; None if there is no such one."""
        for term in self.relations:
            assert isinstance(term, RelationTerm)
            if term.relation.name == relation:
                return term
        return None

    def gain(self, relation: str) -> float:
        """What one unit of the inner product is worth in a Gaussian relation; 1 in any other."""
        term = self.term(relation)
        return 1.0 if term is None or term.log_gain is None else float(term.log_gain.detach().exp())

    def bias(self, relation: str) -> tuple[Bias, Bias] | None:
        """What a relation adds to the inner product for the items of its two ends, if it has biases."""
        term = self.term(relation)
        if term is None or term.source_bias is None or term.target_bias is None:
            return None
        return term.source_bias, term.target_bias

    def mean_codes(self, name: str) -> tuple[Tensor, Tensor | None]:
        """Codes of the means, with observed labels where there are any, and q(y | F)."""
        evidence = self.evidence(name)
        if evidence.label_logits is None:
            return Gaussian.from_output(evidence.output).mean, None
        labels = self.labels[name].probabilities(evidence.label_logits)
        mean = self.posterior(name, evidence, labels).mean
        return self.code(name, mean, labels), self.labels[name].posterior(evidence.label_logits)

    def _infer(self, name: str, noise: Noise) -> Inferred:
        variable = self.labels.get(name)
        network = self.inference[name]
        partition = self.types[name].partition
        every = partition.own
        parts = row_parts(every.size)
        if len(parts) == 1 or not isinstance(network, ViewsInference):
            return self._infer_part(name, network(noise), variable, every, noise).of_all(partition)
        # Of many items all but the codes is forgotten, part by part, and worked out again for the gradient,
        # as far as there is no room for it: the hidden layers of a million nodes alone would take gigabytes.
        read = network.reader(noise)
        found, whole, remembered = [], Whole(every.size), first_remembered(every.size)
        for place, rows in enumerate(parts):

            def infer(
                place: int = place, rows: slice = rows, read: Callable[[int], Evidence] = read
            ) -> Inferred:
                if remembered == every.size and place % GIVE_BACK_EVERY == 0:
                    give_back()  # where nothing finds room; else it is only lost for the next step
                own = None if variable is None else variable.part(rows)
                return self._infer_part(name, read(place), own, every.part(rows), noise)

            # the noise belongs to the rows: the second time it is the same
            part = (
                infer()
                if rows.start >= remembered
                else checkpoint(infer, use_reentrant=False, preserve_rng_state=False)
            )
            found.append(part._replace(codes=part.codes._replace(values=whole.put(rows, part.codes.values))))
        return Inferred.joined(found, whole).of_all(partition)

    def _infer_part(
        self, name: str, evidence: Evidence, variable: Label | None, rows: Rows, noise: Noise
    ) -> Inferred:
        """Of items that lie side by side: their codes, and their share of the costs."""
        goal = self.objective
        logits = evidence.label_logits
        nothing = evidence.output.new_zeros(())
        chosen: Choices | None = None
        label_cost = classification = nothing
        if logits is not None and variable is not None:
            chosen = variable.choices(logits, goal.labels, goal.tau, noise)
            label_cost = variable.cost(logits, goal.entropy_weight).sum()
            classification = variable.classification_loss(logits)
        values = None if chosen is None else chosen.values
        gaussian = self.posterior(name, evidence, values)
        if values is None:
            gaussian = Gaussian(gaussian.mean[:, None], gaussian.log_std[:, None])
        # one noise for all the choices of an item: they are alternatives, not further draws
        normal = noise.normal("z", rows, gaussian.mean.shape[-1], gaussian.mean)[:, None]
        weights = None if chosen is None else chosen.weights
        latent, kl = gaussian.drawn(normal)
        kl = kl.sum() if weights is None else (kl * weights).sum()
        decoding = nothing
        if name in self.label_decoders and chosen is not None:
            decoding = self._label_decoding(name, evidence, chosen, normal)
        return Inferred(
            ItemCodes(self.code(name, latent, values), weights), kl, label_cost, classification, decoding
        )

    def _label_decoding(self, name: str, evidence: Evidence, chosen: Choices, noise: Tensor) -> Tensor:
        """-log p(y | z), a mean over the items: y has coordinates of its own, so z need not tell it.

        The label is taken as it is: its gradient would only make q(y) sure of itself.
        """
        values = chosen.values.detach()
        latent = self.posterior(name, evidence, values).sample(noise)
        costs = self.labels[name].decoding_cost(self.label_decoders[name](latent), values)
        if chosen.weights is not None:
            costs = costs * chosen.weights.detach()
        return costs.sum() / self.types[name].n_items

    def _shares(self, relation: ModelledRelation) -> list[tuple[str, float]]:
        """Which types pay their KL and label cost for a relation, and how many times."""
        if not relation.pays:
            return []
        rows, columns = self.types[relation.source].n_items, self.types[relation.target].n_items
        atomic = self.objective.kl_accounting == "atomic"
        if relation.source == relation.target:
            return [(relation.source, 2 * (rows - 1) if atomic else 1)]
        return [(relation.source, columns if atomic else 1), (relation.target, rows if atomic else 1)]

    def _check(self, relation: ModelledRelation) -> None:
        for place, end in enumerate((relation.source, relation.target)):
            if end not in self.types:
                raise InputError(f"relation {relation.name!r} names the unknown type {end!r}")
            size = relation.matrix.shape[place]
            expected = self.types[end].n_items if place else self.types[end].partition.own.size
            if place and relation.targets is not None:
                expected = len(relation.targets)
            if expected != size:
                raise InputError(
                    f"relation {relation.name!r} has {size} items of type {end!r}, "
                    f"but the type has {expected}"
                )
