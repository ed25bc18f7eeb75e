"""The fitted result: what a fit leaves behind, and the questions it answers, without torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
    from coembed.fitted.batch_answers import Batch
    from coembed.fitted.growing import Embedded
    from coembed.fitted.imputing import Imputed
    from coembed.fitted.label_advice import Advice
    from coembed.fitted.matches import Item, Match
    from coembed.fitted.newcomers import Newcomers
    from coembed.fitted.pair_scores import PairScore
    from coembed.fitted.placed_rows import Beside
    from coembed.fitted.placing import Placing, Trained
    from coembed.fitted.reasons import Why
    from coembed.fitted.row_predictions import Predictions
    from coembed.maps.figure_style import Picture
    from coembed.maps.layout import Layout
    from coembed.views import TypeViews


@dataclass(frozen=True, eq=False)
class Fitted:
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

    def __repr__(self) -> str:
        lines = repr(self.network).splitlines()
        kept = f"{self.code_dim} coordinates, preset {self.preset}"
        return "\n".join([f"Fitted model of {lines[0].partition('): ')[2]}; {kept}", *lines[1:]])

    def _repr_html_(self) -> str:
        """In a notebook: the network that it was fitted to, and how good its classes are."""
        from coembed.network.notebook import lines_html, network_html

        told = [line for each in self.history.get("truth", {}).values() for line in each["lines"]]
        kept = f"Fitted model: {self.code_dim} coordinates, preset {self.preset}"
        return lines_html([kept, *told]) + network_html(self.network)

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

    # Labels

    def probabilities_of(self, type: str | None = None) -> np.ndarray | None:
        """Class probabilities of every item of a type; None if it has no classes."""
        return self.types[self.network.items(type).name].probabilities

    def predict_proba(self, type: str | None = None) -> np.ndarray:
        """Class probabilities of every item of a type, in the order of its classes."""
        found = self.probabilities_of(type)
        if found is None or not found.shape[1]:
            raise InputError(
                f"the model of {self.network.name} knows no classes of {self.network.items(type).name}; "
                "train with some labels"
            )
        return found

    def predict(self, type: str | None = None) -> np.ndarray:
        """The likeliest class of every item of a type, by name; labelled ones are predicted too.

        Of several classes an item, a tuple of names: those whose probability is above their threshold.
        """
        if self.has_several(type):
            from coembed.fitted.class_answers import said_classes

            said, names = said_classes(self, type), self.network.items(type).labels
            assert names is not None
            found = np.empty(len(said), dtype=object)
            found[:] = [tuple(str(name) for name in names.classes[row]) for row in said]
            return found
        likeliest = self.predict_proba(type).argmax(axis=1)
        known = self.network.items(type).labels
        assert known is not None
        return known.classes[likeliest]

    def predict_set(self, coverage: float = 0.9, type: str | None = None) -> np.ndarray:
        """For every item of a type a tuple of classes, likeliest first, that has the true one among them
        as often as `coverage` says; never empty.

        What is promised, and under which assumption: see the page on doubt of the documentation.
        """
        from coembed.fitted.class_answers import named_sets, sets_of

        items, probabilities = self.network.items(type), self.predict_proba(type)
        assert items.labels is not None
        inside = sets_of(self, items.name, coverage, np.arange(len(items)))
        found = np.empty(len(items), dtype=object)
        found[:] = named_sets(items.labels.classes, probabilities, inside)
        return found

    def ask_next(self, k: int = 20, type: str | None = None) -> list[Advice]:
        """The unlabelled items whose labels would help most, best first: see :mod:`label_advice`."""
        from coembed.fitted.label_advice import ask_next

        return ask_next(self, k, type)

    def predict_rows(
        self,
        table: Any,
        type: str | None = None,
        *,
        id: str | None = None,
        as_new: bool = False,
        beside: Beside = (),
        coverage: float | None = None,
    ) -> Predictions:
        """Classes of the rows of a new table, read as the table of training was.

        Parameters
        ----------
        table
            A data frame, a table of pyarrow, or the path of a file. Columns that are missing are empty cells;
            others that the model does not know are left out, and that is told.
        type
            Of the rows; by default the type that has most of the columns.
        id
            The column of ids; by default found. A row whose id is known is answered as it was learnt.
        as_new
            Place the rows by what they hold, whether their ids are known or not.
        beside
            Tables of links, or of tags, that the rows are part of: by name, or paths; called as the relation.
        coverage
            Also a set of classes for every row, as :meth:`predict_set` has it.
        """
        from coembed.fitted.row_predictions import predict_rows

        return predict_rows(self, table, type, id=id, as_new=as_new, beside=beside, coverage=coverage)

    def impute(
        self,
        table: Any,
        type: str | None = None,
        *,
        id: str | None = None,
        as_new: bool = False,
        beside: Beside = (),
        only_sure: float = 0.0,
        draws: int = 0,
        seed: int = 0,
    ) -> Imputed:
        """The table with its empty cells filled: numbers, dates, categories, yes and no, and classes.

        Cells that hold anything stay as they are. `table`, `type`, `id`, `as_new` and `beside` are as in
        :meth:`predict_rows`.

        Parameters
        ----------
        only_sure
            Fill only what has this probability at least; of numbers and dates, only where the spread leaves
            out this share of the column's variance.
        draws
            Not what is expected but what may be: so many tables, one below the other, each with a draw for
            every empty cell, so that what is computed of them varies as it should.
        """
        from coembed.fitted.imputing import impute

        return impute(
            self,
            table,
            type,
            id=id,
            as_new=as_new,
            beside=beside,
            only_sure=only_sure,
            draws=draws,
            seed=seed,
        )

    # Questions, answered best first; items are given by their ids

    def complete(
        self,
        item: Item,
        relation: str | None = None,
        k: int = 10,
        *,
        type: str | None = None,
        known: bool = False,
        backwards: bool = False,
        positions: bool = False,
        coverage: float = 0.9,
        fdr: float | None = None,
    ) -> list[Match]:
        """What an item should have: in a relation, or in a column of its table.

        Tags and links come ranked, without those that the item already has unless `known`; the score is the
        expected probability. (With the setting ``balance`` it compares a pair with as many absent ones: it
        ranks, but it is not how often such pairs exist.) A number comes in its unit, with its spread; a
        category as probabilities that sum to one. By default the item's words, or else its first relation.
        From the far end of a relation, or with `backwards`, who should have the item.

        A number comes with the interval that holds it as often as `coverage`. With `fdr` only what is so
        sure that at most this share of all lists is wrong, in expectation; a list may then be empty.
        """
        from coembed.fitted.questions import complete

        return complete(self, item, relation, k, type, known, positions, backwards, coverage, fdr)

    def complete_all(
        self,
        relation: str | None = None,
        k: int = 10,
        *,
        type: str | None = None,
        items: Sequence[Item] | None = None,
        known: bool = False,
        backwards: bool = False,
        fdr: float | None = None,
    ) -> Batch:
        """:meth:`complete` of all items of a type, or of some, in parts that come one after the other."""
        from coembed.fitted.batch_answers import Batch

        return Batch(self, relation, k, type=type, items=items, known=known, backwards=backwards, fdr=fdr)

    def nearest(
        self,
        item: Item,
        to: str | None = None,
        k: int = 10,
        *,
        type: str | None = None,
        positions: bool = False,
    ) -> list[Match]:
        """The items of type `to` (by default of its own) that point most nearly the same way (cosine)."""
        from coembed.fitted.questions import nearest

        return nearest(self, item, to, k, type, positions)

    def why(
        self,
        item: Item,
        *,
        type: str | None = None,
        label: str | None = None,
        relation: str | None = None,
        column: str | None = None,
        target: Item | None = None,
        backwards: bool = False,
        k: int = 10,
        positions: bool = False,
    ) -> Why:
        """What the links, attributes and cells of an item contribute to an answer about it.

        About its class (`label`, by default the likeliest); or about `target` at the far end of a `relation`,
        or the value of a `column`: by default the likeliest that it does not have. Contributions are found by
        leaving out, and add up to what is claimed: ``nothing + sum of contributions + others + beyond``.
        """
        from coembed.fitted.reasons import why

        return why(
            self,
            item,
            type=type,
            label=label,
            relation=relation,
            column=column,
            target=target,
            backwards=backwards,
            k=k,
            positions=positions,
        )

    def complete_attributes(self, node: Item, k: int = 10, **how: Any) -> list[Match]:
        """The attributes likeliest to be the item's own: :meth:`complete` of its words."""
        return self.complete(node, None, k, type=how.pop("type", self.main), **how)

    def suggest_links(self, node: Item, k: int = 10, **how: Any) -> list[Match]:
        """The items likeliest to be linked to the item: :meth:`complete` of its first relation."""
        type = how.pop("type", self.main)
        joining = self.network.joining(type)
        if not joining:
            raise InputError(f"items of type {type} have no relation to others; ask for a column")
        return self.complete(node, joining[0].name, k, type=type, **how)

    def profile(self, node: Item, k: int = 10, **how: Any) -> list[Match]:
        """What an item is about: the attributes nearest to it (cosine)."""
        type = how.pop("type", self.main)
        attributes = self.network.attribute_type(type)
        if attributes is None:
            raise InputError(f"items of type {type} have no attributes")
        return self.nearest(node, attributes, k, type=type, **how)

    def nodes_about(self, attribute: Item, k: int = 10, **how: Any) -> list[Match]:
        """Who stands for an attribute: the items nearest to it (cosine)."""
        type = how.pop("type", None) or self.network.attribute_type(self.main)
        if type is None:
            raise InputError(f"items of type {self.main} have no attributes")
        return self.nearest(attribute, self.network.owner_type(type), k, type=type, **how)

    def similar(self, item: Item, k: int = 10, type: str | None = None, **how: Any) -> list[Match]:
        """The items most like this one among those of its type (cosine)."""
        return self.nearest(item, None, k, type=type, **how)

    def embed(self, network: Network) -> Embedded:
        """Place items that the fit has not seen, without training: the old model plus the newcomers.

        A new item is placed by its entries with known items and with other new ones, and by its cells; a new
        attribute by the known items that have it. Items are recognised by their ids; known ones stay put.
        """
        from coembed.fitted.growing import embed

        return embed(self, network)

    def place(self, type: str, rows: dict[str, Any], labels: np.ndarray | None = None) -> Newcomers:
        """A few items that the fit has not seen, by their rows in relations and columns (by name)."""
        from coembed.fitted.newcomers import place_newcomers

        return place_newcomers(self, type, rows, labels)

    def to_frame(self, type: str | None = None, like: Any = None) -> Any:
        """The items of a type as a data frame: id, classes, probabilities, spread, codes; a row an item.

        `like` is the name of a library (``pandas``, ``polars``, ``pyarrow``) or one of its frames; by default
        the one that is in use in this process.
        """
        from coembed.fitted.frame_export import to_frame

        return to_frame(self, type, like)

    def write_to(self, thing: Any) -> Any:
        """Write codes, spread, classes and probabilities into AnnData, a graph, `Data` or `HeteroData`.

        By the ids of items, whatever their order: into `obsm`, `varm` and `obs`; into attributes of nodes;
        into tensors of each type. All are called ``coembed`` or begin so. Gives the object back.
        """
        from coembed.fitted.write_back import write_to

        return write_to(self, thing)

    def map2d(self, method: str = "auto", seed: int = 0) -> Layout:
        """All items on a plane: ``pca``, ``tsne``, or ``auto`` (t-SNE if installed)."""
        from coembed.maps.layout import make_layout

        return make_layout(self, method, seed)

    def plot(
        self,
        method: str = "auto",
        seed: int = 0,
        *,
        words: int = 40,
        names: int = 14,
        title: str = "",
    ) -> Picture:
        """The map of all items as a figure of matplotlib, which a notebook shows by itself."""
        from coembed.maps.picture import map_figure

        return map_figure(self, self.map2d(method, seed), words=words, names=names, title=title)

    def plot_training(self) -> Picture:
        """The loss, its parts and the validation figures by epoch, as a figure of matplotlib."""
        from coembed.maps.model_figures import training_figure

        return training_figure(self)

    def plot_reliability(self, truth: Network, type: str | None = None) -> Picture:
        """How often answers of each probability are right, by labels of `truth` that the fit did not see."""
        from coembed.maps.model_figures import reliability_figure

        return reliability_figure(self, truth, type)

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
        moments = fit.crossed(self.latents_at(joined.source, rows), self.others(relation))
        source, target = self.bias(relation, lift)
        moments = moments.moved(source[rows][:, None] + target)
        others = (each.rows(rows) for each in self.pair_scores(relation))
        return self._worth(moments, relation, expected, lift, others)

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
