"""The fitted result: what a fit leaves behind, and the questions it answers, without torch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coembed.errors import InputError
from coembed.fitted.learnt import Learnt
from coembed.network.network import Network

if TYPE_CHECKING:
    import pyarrow as pa

    from coembed.fitted.batch_answers import Batch
    from coembed.fitted.growing import Embedded
    from coembed.fitted.imputing import Imputed
    from coembed.fitted.item_query import Found
    from coembed.fitted.kept_selections import Kept
    from coembed.fitted.label_advice import Advice
    from coembed.fitted.looking_up import Names
    from coembed.fitted.matches import Item, Match
    from coembed.fitted.newcomers import Newcomers
    from coembed.fitted.placed_rows import Beside
    from coembed.fitted.reasons import Why
    from coembed.fitted.row_predictions import Predictions
    from coembed.maps.figure_style import Picture
    from coembed.maps.layout import Layout


class Fitted(Learnt):
    """What was learnt (see :class:`Learnt` for its fields and scores), asked in the words of people."""

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

    # Labels

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
            A data frame, a table of pyarrow, columns by name, a list of rows, or the path of a file. Columns
            that are missing are empty cells; others that the model does not know are left out, and that is
            told.
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

        Tags and links come ranked, without those that the item already has unless `known`, each with how
        likely it is among all that could be (see :meth:`answer`). A number comes in its unit, with its
        spread; a category as probabilities that sum to one. By default the item's words, or else its first
        relation. From the far end of a relation, or with `backwards`, who should have the item.

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
        coverage: float = 0.9,
    ) -> Batch:
        """:meth:`complete` of all items of a type, or of some, in parts that come one after the other."""
        from coembed.fitted.batch_answers import Batch

        return Batch(
            self,
            relation,
            k,
            type=type,
            items=items,
            known=known,
            backwards=backwards,
            fdr=fdr,
            coverage=coverage,
        )

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

    def links(self, item: Item, k: int = 10, relation: str | None = None, **how: Any) -> list[Match]:
        """The items likeliest to be linked to an item: :meth:`complete` of its first relation, or of one."""
        type = how.pop("type", self.main)
        joining = self.network.joining(type)
        if not joining:
            raise InputError(f"items of type {type} have no relation to others; ask for a column")
        return self.complete(item, relation or joining[0].name, k, type=type, **how)

    def suggest_links(self, node: Item, k: int = 10, **how: Any) -> list[Match]:
        """:meth:`links`, by its name in version 0.1."""
        return self.links(node, k, **how)

    @cached_property
    def names(self) -> Names:
        """Ids and titles of all items, to be searched."""
        from coembed.fitted.looking_up import all_names

        return all_names(self.network)

    @cached_property
    def name_texts(self) -> dict[str, list[pa.Array]]:
        """Ids and titles by type as :mod:`item_fields` has found them so far."""
        return {}

    def find(self, query: str, selections: Mapping[str, Kept] | None = None) -> Found:
        """Items that fit a query such as ``class:fish p<0.6 has:river``; see the page on queries.

        `selections` are those that it may name, as :func:`kept_selections.read_selections` gives them.
        """
        from coembed.fitted.item_query import find

        return find(self, query, selections)

    def search(self, text: str, k: int = 10, type: str | None = None) -> list[Match]:
        """Items whose ids or titles fit what was typed, typing errors included; the score is how well."""
        from coembed.fitted.looking_up import search

        return search(self, text, k, type)

    def neighbours(
        self,
        item: Item,
        relation: str | None = None,
        *,
        type: str | None = None,
        backwards: bool = False,
        positions: bool = False,
    ) -> list[Match]:
        """What the network joins to an item by a relation (by default its first), with the values."""
        from coembed.fitted.looking_up import neighbours

        return neighbours(self, item, relation, type=type, backwards=backwards, positions=positions)

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

    def export(self, path: str | os.PathLike[str], format: str | None = None) -> list[Path]:
        """Write the codes of all types for other programs: .csv, .parquet, .npz, word2vec, projector."""
        from coembed.fitted.export import export

        return export(self, path, format)

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
        self, method: str = "auto", seed: int = 0, *, words: int = 40, names: int = 14, title: str = ""
    ) -> Picture:
        """The map of all items as a figure of matplotlib, which a notebook shows by itself."""
        from coembed.maps.picture import map_figure

        return map_figure(self, self.map2d(method, seed), words=words, names=names, title=title)

    def widget(self, method: str = "auto", seed: int = 0, *, height: int = 480) -> Any:
        """The map as a widget of a notebook: ``chosen`` is what was chosen on it; ``choose`` chooses."""
        from coembed.maps.map_widget import map_widget

        return map_widget(self, self.map2d(method, seed), height)

    def plot_training(self) -> Picture:
        """The loss, its parts and the validation figures by epoch, as a figure of matplotlib."""
        from coembed.maps.model_figures import training_figure

        return training_figure(self)

    def plot_reliability(self, truth: Network, type: str | None = None) -> Picture:
        """How often answers of each probability are right, by labels of `truth` that the fit did not see."""
        from coembed.maps.model_figures import reliability_figure

        return reliability_figure(self, truth, type)
