"""What was learnt: the items of all types in one space, what pairs and cells are worth by it; no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit

from coembed.errors import InputError
from coembed.fitted.chances import answered
from coembed.fitted.gaussians import Gaussians
from coembed.fitted.moments import Moments, aligned_cosines, cosines, in_chunks, lengths, logits
from coembed.fitted.space import RelationFit, TypeSpace, pointing
from coembed.fitted.trees import view_features
from coembed.network.items import UNKNOWN
from coembed.network.network import ATTRIBUTES, LINKS, Network
from coembed.network.relations import Relation

if TYPE_CHECKING:
    from coembed.fitted.pair_scores import PairScore
    from coembed.fitted.placing import Placing, Trained
    from coembed.views import TypeViews


@dataclass(frozen=True, eq=False)
class Learnt:
    """The items of all types as Gaussians in one space, and the label probabilities of those with classes.

    Attributes
    ----------
    network
        What the fit saw: the training network with its names; hidden labels and entries are absent.
    settings, preset
        How it was fitted.
    history
        Figures of every epoch by name (lists), and ``stopped``: why the fit ended.
    types, relations
        What was learnt of each, by name.
    placing
        The inference networks, for :meth:`embed`; None in a result that has left them behind.
    origin
        Versions of the programs that made it, and a fingerprint of the data.
    """

    network: Network
    settings: dict[str, Any]
    history: dict[str, Any]
    preset: str
    types: dict[str, TypeSpace]
    relations: dict[str, RelationFit]
    placing: Placing | None = None
    origin: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, items in self.network.types.items():
            if name not in self.types:
                raise InputError(f"the model knows no items of type {name}")
            space = self.types[name]
            classes = 0 if space.probabilities is None else space.probabilities.shape[1]
            if len(space.mean) != len(items) or classes != items.n_classes:
                raise InputError(
                    f"the model has {len(space.mean)} items and {classes} classes of type {name}, "
                    f"its network {len(items)} and {items.n_classes}"
                )
            if len(items) and space.size != self.latent_dim:
                raise InputError(f"codes of type {name} have {space.size} coordinates, not {self.latent_dim}")

    # What it is

    @property
    def main(self) -> str:
        """The main type."""
        return self.network.main.name

    @cached_property
    def code_dim(self) -> int:
        """Coordinates of the common space."""
        taught = self.types[self.main].direction
        return self.latent_dim if taught is None else int(taught.shape[1])

    @cached_property
    def latent_dim(self) -> int:
        """Coordinates of what the model infers: C = D + classes of all types."""
        return next(space.size for name, space in self.types.items() if len(self.network.types[name]))

    @property
    def dim(self) -> int:
        """Coordinates of z of the main type."""
        return int(self.types[self.main].mean.shape[1])

    def codes(self, type: str | None = None) -> Gaussians:
        """The codes of a type in the space of all types: near by cosine is what belongs together."""
        name = self.network.items(type).name
        if name not in self._codes:
            self._codes[name] = pointing(self.latents(name), self.types[name].direction)
        return self._codes[name]

    def codes_at(self, type: str, rows: np.ndarray) -> Gaussians:
        """The codes of some items; of many only these are worked out."""
        from coembed.fitted import nearest_index

        if len(self.network.items(type)) <= nearest_index.EXACT_ITEMS:
            return self.codes(type).take(rows)
        direction = self.types[type].direction
        return pointing(self.latents_at(type, rows), None if direction is None else direction[rows])

    def latents(self, type: str | None = None) -> Gaussians:
        """What the model infers of a type, which its own scores of pairs and cells are made of."""
        name = self.network.items(type).name
        if name not in self._latents:
            self._latents[name] = self.types[name].latents(self.labels_of(name))
        return self._latents[name]

    def latents_at(self, type: str, rows: np.ndarray) -> Gaussians:
        """The same of some items; of many only these are worked out."""
        from coembed.fitted import nearest_index

        if len(self.network.items(type)) <= nearest_index.EXACT_ITEMS:
            return self.latents(type).take(rows)
        return self.types[type].latents(self.labels_of(type), rows)

    def lengths(self, type: str) -> np.ndarray:
        """Lengths of the codes' means, by which cosines are divided; 1 where it is zero."""
        if type not in self._lengths:
            self._lengths[type] = lengths(self.codes(type).mean)[:, 0]
        return self._lengths[type]

    def has_several(self, type: str | None = None) -> bool:
        """Whether items of a type may have several classes."""
        labels = self.network.items(type).labels
        return labels is not None and labels.several

    def labels_of(self, type: str) -> np.ndarray:
        """Observed labels of a type's items; of several classes 1, 0 or unknown for each."""
        known = self.network.items(type).labels
        return np.full(len(self.network.items(type)), UNKNOWN) if known is None else known.values

    def mean_of(self, type: str | None = None) -> np.ndarray:
        """z of all items of a type."""
        return self.types[self.network.items(type).name].mean

    @cached_property
    def _codes(self) -> dict[str, Gaussians]:
        return {}

    @cached_property
    def _latents(self) -> dict[str, Gaussians]:
        return {}

    @cached_property
    def _lengths(self) -> dict[str, np.ndarray]:
        return {}

    def probabilities_of(self, type: str | None = None) -> np.ndarray | None:
        """Class probabilities of every item of a type; None if it has no classes."""
        return self.types[self.network.items(type).name].probabilities

    @cached_property
    def trained(self) -> Trained:
        """The hidden layers, or the views, of the training items, which new ones lean on."""
        from coembed.fitted.placing import trained_layers

        return trained_layers(self)

    # Scores of pairs

    def score(
        self, relation: str, pairs: np.ndarray, *, expected: bool = True, lift: bool = False
    ) -> np.ndarray:
        """Scores of pairs (n x 2 positions) of a relation: probabilities, or values.

        With ``expected=False`` the value at the means: it ignores how uncertain the two ends are. With
        ``lift=True`` how characteristic the pair is rather than how likely: against pairs as popular.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        fit = self.relations[relation]
        if fit.by_codes and not lift:
            return fit.by_cosine(self._cosine_moments(relation, pairs))
        others = (each.pairs(pairs) for each in self.pair_scores(relation))
        return self._worth(self._pair_moments(relation, pairs, lift), relation, expected, lift, others)

    def answer(self, relation: str, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is shown of pairs: how likely each is among all that could be, or its value; and the ± of it.

        :meth:`score` weighs a pair against as many that are not there, which ranks the same.
        """
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        joined, fit = self.network.relation(relation), self.relations[relation]
        if fit.by_codes:
            return answered(joined, fit, "codes", self._cosine_moments(relation, pairs), fit.by_cosine)
        others = [each.pairs(pairs) for each in self.pair_scores(relation)]

        def worth(moments: Moments) -> np.ndarray:
            return self._worth(moments, relation, True, False, others)

        return answered(joined, fit, "likely", self._pair_moments(relation, pairs, lift=False), worth)

    def direction(self, relation: str, pairs: np.ndarray) -> np.ndarray:
        """Which way each pair of a directed relation goes: above 0 as it is given, below 0 the other way."""
        joined, ways = self.network.relation(relation), self.relations[relation].ways
        if not joined.directed:
            raise InputError(f"{relation} is not directed: it goes both ways")
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        this, other = (self._pair_moments(relation, each, lift=False) for each in (pairs, pairs[:, ::-1]))
        own = this.mean - other.mean
        if ways is None:
            return own
        return ways.blended(own, ways.told(self.trained.views[joined.source], joined.values, pairs))

    def score_links(self, pairs: np.ndarray, *, expected: bool = True, lift: bool = False) -> np.ndarray:
        """:meth:`score` of a plain network's links."""
        return self.score(LINKS, pairs, expected=expected, lift=lift)

    def score_attributes(self, pairs: np.ndarray, *, expected: bool = True, lift: bool = False) -> np.ndarray:
        """:meth:`score` of a plain network's attributes."""
        return self.score(ATTRIBUTES, pairs, expected=expected, lift=lift)

    def score_rows(
        self, rows: np.ndarray, relation: str, *, expected: bool = True, lift: bool = False
    ) -> np.ndarray:
        """Scores of some items with *all* at the other end (a column's attributes); call it in chunks."""
        rows = np.asarray(rows)
        joined, fit = self.network.relation(relation), self.relations[relation]
        if fit.by_codes and not lift:
            there = self.codes(joined.target).take(self.span(joined))
            return fit.by_cosine(Moments(cosines(self.codes_at(joined.source, rows), there), np.zeros(1)))
        others = (each.rows(rows) for each in self.pair_scores(relation))
        return self._worth(self._row_moments(relation, rows, lift), relation, expected, lift, others)

    def ranking(
        self, row: int, relation: str
    ) -> tuple[np.ndarray, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]]:
        """Scores of an item with *all* at the other end, and what tells of some of these what is shown.

        The two are :meth:`score_rows` and :meth:`answer`, from one look at what speaks for the pairs.
        """
        rows, fit = np.array([row]), self.relations[relation]
        joined = self.network.relation(relation)
        span = self.span(joined)
        if fit.by_codes:
            scores = self.score_rows(rows, relation)[0]
            return scores, lambda at: self.answer(
                relation, np.column_stack([np.full(len(at), row), span[at]])
            )
        moments = self._row_moments(relation, rows, lift=False)
        others = [each.rows(rows) for each in self.pair_scores(relation)]

        def shown(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            seen = Moments(moments.mean[0, at], moments.variance[0, at])
            features = [each[0, at] for each in others]
            return answered(
                joined, fit, "likely", seen, lambda moved: self._worth(moved, relation, True, False, features)
            )

        return self._worth(moments, relation, True, False, others)[0], shown

    def cells(self, relation: str, rows: np.ndarray) -> np.ndarray:
        """What the cells of a column are expected to hold, in the model's units.

        Numbers: one value an item. Yes or no: a probability. Categories: a row of probabilities.
        """
        from coembed.fitted.questions import cell_answers

        column, rows, joined = self._column(relation), np.asarray(rows), self.network.relation(relation)
        features = self.cell_features(joined.source, rows)
        found, _ = cell_answers(self, joined, self.latents_at(joined.source, rows), features)
        return found if column.kind == "category" else found[:, 0]

    def cell_features(self, type: str, rows: np.ndarray, views: TypeViews | None = None) -> np.ndarray | None:
        """What other models of cells read of some items, or of newcomers seen in `views`; None if none do."""
        models = (self.relations[each.name].cells for each in self.network.columns(type))
        model = next((each for each in models if each is not None), None)
        if model is None:
            return None
        return view_features(views or self.trained.views[type], model.views, model.widths, rows)

    def cell_moments(self, relation: str, rows: np.ndarray) -> Moments:
        """Scores of some items with the attributes of a column that has cells."""
        joined, fit = self.network.relation(relation), self.relations[relation]
        moments = fit.crossed(self.latents_at(joined.source, np.asarray(rows)), self.others(relation))
        return moments.moved(self.bias(relation)[1])

    def others(self, relation: str) -> Gaussians:
        """What is inferred of the far end of a relation; of a column, of its attributes."""
        joined = self.network.relation(relation)
        latents = self.latents(joined.target)
        span = self.span(joined)
        return latents if len(latents.mean) == len(span) else latents.take(span)

    def span(self, relation: Relation) -> np.ndarray:
        """Positions of the far end of a relation among the items of its type."""
        if relation.column is None:
            return np.arange(relation.values.shape[1])
        return np.arange(relation.column.start, relation.column.stop)

    def bias(self, relation: str, lift: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """What is added to inner products for the near and for the far end; the far one not in a lift."""
        joined, fit = self.network.relation(relation), self.relations[relation]
        near, far = joined.values.shape[0], len(self.span(joined))
        source = np.zeros(near, dtype=np.float32) if fit.source_bias is None else fit.source_bias
        target = np.zeros(far, dtype=np.float32) if fit.target_bias is None else fit.target_bias
        return source, np.zeros_like(target) if lift else target

    def pair_scores(self, relation: str) -> list[PairScore]:
        """The closed-form scores combined with the model's own in a relation; none if nothing weighs them."""
        return self.all_pair_scores(relation) if self.relations[relation].blends else []

    def all_pair_scores(self, relation: str) -> list[PairScore]:
        """The same, whether or not they are weighed yet."""
        from coembed.fitted.pair_scores import pair_scores

        if relation not in self._pair_scores:
            self._pair_scores[relation] = pair_scores(self, relation)
        return self._pair_scores[relation]

    def afresh(self) -> Self:
        """The same without what it has worked out and remembers, which of very many items is gigabytes."""
        return replace(self)

    @cached_property
    def _pair_scores(self) -> dict[str, list[PairScore]]:
        return {}

    def draw(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """One random draw of all that is inferred, by type."""
        found = {}
        for name in self.network.types:
            codes = self.latents(name)
            found[name] = codes.mean + rng.standard_normal(codes.mean.shape, dtype=np.float32) * codes.std
        return found

    def pair_features(self, pairs: np.ndarray, relation: str, *, expected: bool = True) -> np.ndarray:
        """What the combination weighs: the model's logit, then the closed-form scores, one column each."""
        logit = logits(self._pair_moments(relation, pairs, lift=False), expected)
        return np.stack([logit, *(each.pairs(pairs) for each in self.all_pair_scores(relation))], axis=-1)

    def _column(self, relation: str) -> Any:
        column = self.network.relation(relation).column
        if column is None or not column.has_cells:
            raise InputError(f"{relation} is no column with cells; ask for a score of pairs")
        return column

    def _row_moments(self, relation: str, rows: np.ndarray, lift: bool) -> Moments:
        joined, fit = self.network.relation(relation), self.relations[relation]
        source, target = self.bias(relation, lift)
        moments = fit.crossed(self.latents_at(joined.source, rows), self.others(relation))
        return moments.moved(source[rows][:, None] + target)

    def _pair_moments(self, relation: str, pairs: np.ndarray, lift: bool) -> Moments:
        joined, fit = self.network.relation(relation), self.relations[relation]
        source, target = self.bias(relation, lift)
        start = 0 if joined.column is None else joined.column.start
        here, there = self.latents(joined.source), self.latents(joined.target)

        def moments(left: np.ndarray, right: np.ndarray) -> Moments:
            found = fit.aligned(here.take(left), there.take(right))
            return found.moved(source[left] + target[right - start])

        return in_chunks(pairs, moments)

    def _cosine_moments(self, relation: str, pairs: np.ndarray) -> Moments:
        joined = self.network.relation(relation)
        here, there = self.codes(joined.source), self.codes(joined.target)
        return in_chunks(pairs, lambda left, right: aligned_cosines(here.take(left), there.take(right)))

    def _worth(
        self, moments: Moments, relation: str, expected: bool, lift: bool, others: Iterable[np.ndarray]
    ) -> np.ndarray:
        fit = self.relations[relation]
        if fit.kind.scaled:
            return moments.mean * fit.unit + fit.center
        blend = fit.blends.get("lift" if lift else "likely")
        if blend is not None:
            return expit(blend.logits_of([logits(moments, expected), *others]))
        variance = moments.variance if expected else np.zeros_like(moments.variance)
        if fit.kind.grouped:  # pairs of one value each: how it stands against nothing
            return expit(moments.mean)
        return fit.kind.expected(moments.mean, variance)

    # Short forms for a plain network

    @property
    def nodes(self) -> Gaussians:
        """The codes of the main type."""
        return self.codes()

    @property
    def attributes(self) -> Gaussians:
        """The codes of the main type's attributes."""
        return self.codes(self._attribute_type)

    @property
    def node_mean(self) -> np.ndarray:
        return self.types[self.main].mean

    @property
    def node_std(self) -> np.ndarray:
        return self.types[self.main].std

    @property
    def probabilities(self) -> np.ndarray:
        found = self.types[self.main].probabilities
        return np.zeros((len(self.network.main), 0), np.float32) if found is None else found

    @property
    def label_shift(self) -> np.ndarray:
        found = self.types[self.main].label_shift
        return np.zeros((0, 2 * self.dim), np.float32) if found is None else found

    @property
    def attribute_mean(self) -> np.ndarray:
        return self.types[self._attribute_type].mean

    @property
    def attribute_std(self) -> np.ndarray:
        return self.types[self._attribute_type].std

    @property
    def _attribute_type(self) -> str:
        found = self.network.attribute_type(self.main)
        if found is None:
            raise InputError(f"items of type {self.main} have no attributes")
        return found
