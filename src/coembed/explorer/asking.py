"""What the page and the API ask: a fitted model with its layout, its names and its ranks at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from coembed.errors import InputError, NoSuch, no_such
from coembed.explorer.item_images import find_images
from coembed.fitted.class_answers import class_texts, leading_classes
from coembed.fitted.fitted import Fitted
from coembed.fitted.item_fields import field_names
from coembed.fitted.label_quality import judge
from coembed.fitted.name_search import NameIndex
from coembed.maps.layout import Layout, Plane
from coembed.maps.picture import coloured_type
from coembed.network.items import UNKNOWN, Items
from coembed.network.network import Network
from coembed.network.relations import Column, Relation
from coembed.network.ways import Way, item_weights, ways_of

if TYPE_CHECKING:
    from coembed.fitted.label_quality import Quality

MEASURED, NEAREST = 300, 20
"""Attributes on which it is measured whether they lie among the entities, and items looked at around each."""
CANDIDATES = 1000
"""Names that a search looks at before it is narrowed to a type."""


class UnknownItem(NoSuch):
    """There is no item of that name; `near` are those that may be meant, by type and position."""

    def __init__(self, message: str, near: Sequence[tuple[str, int]] = ()) -> None:
        super().__init__(message)
        self.near = list(near)


class Found(NamedTuple):
    """An item that fits what was typed."""

    type: str
    row: int
    score: float


@dataclass(frozen=True)
class Shown:
    """What tooltips and cards tell of items beside their names.

    Attributes
    ----------
    fields
        Names of fields with one value an item.
    link
        The address of an item's record elsewhere, with ``{id}``, ``{title}`` or ``{type}`` in it.
    images
        A folder of pictures, called as the ids.
    """

    fields: tuple[str, ...] = ()
    link: str | None = None
    images: Path | None = None

    def checked(self, fitted: Fitted) -> Shown:
        """The same, if there are such fields and it is such an address."""
        if self.link is not None:
            if not self.link.startswith(("https://", "http://")):
                raise InputError(f"the link {self.link[:80]!r} must begin with https:// or http://")
            named = set(re.findall(r"\{(.*?)\}", self.link))
            if not named or named - {"id", "title", "type"}:
                raise InputError(
                    f"the link {self.link[:80]!r} needs {{id}}, {{title}} or {{type}}, and no other"
                )
        kinds = {name: kind for type in fitted.network.types for name, kind in field_names(fitted, type)}
        for name in self.fields:
            if name not in kinds:
                raise no_such("field", name, kinds)
            if kinds[name] == "tags":
                raise InputError(f"{name} has several values an item; show a field with one")
        return self


class TypeFacts:
    """The items of one type, with what every card about one of them needs."""

    def __init__(self, fitted: Fitted, type: str) -> None:
        self.name, self.fitted = type, fitted
        self.items: Items = fitted.network.items(type)
        # a large network keeps its names packed; here they are asked for one by one, so they are unpacked
        self.ids = _array(self.items.ids)
        self.owner = fitted.network.owner_type(type)
        self.titles = self.ids
        if self.items.titles is not None:
            spoken = self.items.title if self.owner is None else self.items.speaking
            self.titles = _array(spoken(i) for i in range(len(self.items)))
        self.positions = {name: i for i, name in enumerate(self.ids)}
        self._value_places: dict[int, dict[str, int]] = {}
        self.weights = item_weights(fitted.network, type)

    def __len__(self) -> int:
        return len(self.ids)

    def values(self, column: Column) -> list[str]:
        """Of attributes, those of one column as its cells have them."""
        return [self.items.title(i) for i in range(column.start, column.stop)]

    def value_places(self, column: Column) -> dict[str, int]:
        """Their positions by the same; made once, since every new item is looked up there."""
        if column.start not in self._value_places:
            found = {value: column.start + i for i, value in enumerate(self.values(column))}
            self._value_places[column.start] = found
        return self._value_places[column.start]

    @cached_property
    def class_names(self) -> list[str]:
        labels = self.items.labels
        return [] if labels is None else [str(name) for name in labels.classes]

    @cached_property
    def observed(self) -> np.ndarray:
        """Whether the class of each is known."""
        labels = self.items.labels
        return np.zeros(len(self), dtype=bool) if labels is None else labels.is_known

    @cached_property
    def probabilities(self) -> np.ndarray:
        found = self.fitted.probabilities_of(self.name)
        return np.zeros((len(self), 0), np.float32) if found is None else found

    @cached_property
    def classes(self) -> np.ndarray:
        """Class of every item, observed or else the likeliest; unknown without classes."""
        if not self.class_names:
            return np.full(len(self), UNKNOWN)
        return leading_classes(self.fitted, self.name, np.arange(len(self)))

    @cached_property
    def probability(self) -> np.ndarray:
        """Of the class of every item: one where it is observed."""
        if not self.class_names:
            return np.ones(len(self))
        own = np.take_along_axis(self.probabilities, self.classes[:, None], axis=1)[:, 0]
        return np.where(self.observed, 1.0, own)

    @cached_property
    def sureness(self) -> np.ndarray:
        """Probability of the likeliest class of every item, in order of size."""
        return np.sort(self.probabilities.max(axis=1)) if self.class_names else np.zeros(0)

    @cached_property
    def blur(self) -> np.ndarray:
        """How blurred the place of every item is: the mean logarithm of its standard deviations."""
        std = np.maximum(self.fitted.types[self.name].std, 1e-12)
        return np.log(std).mean(axis=1) if std.shape[1] else np.zeros(len(std))

    def label(self, row: int) -> str | None:
        """Class of an item, observed or else the likeliest; of several all that it has."""
        return None if self.labels is None else self.labels[row]

    @cached_property
    def labels(self) -> list[str] | None:
        """The same of all items."""
        return class_texts(self.fitted, self.name, np.arange(len(self)))

    def known_label(self, row: int) -> str | None:
        """The observed class of an item, of several all of them; None if nothing is known."""
        labels = self.items.labels
        if labels is None or not self.observed[row]:
            return None
        if labels.several:
            return str(labels.texts(np.array([row]))[0].as_py()) or None
        return self.class_names[labels.values[row]]


class Explorer:
    """A model that is being looked at.

    Parameters
    ----------
    truth
        A network with labels that the fit did not see, by which the quality is judged.
    folder
        Where the model is, beside which selections and corrections are kept.
    shown
        What tooltips and cards tell of items beside their names.
    """

    def __init__(
        self,
        fitted: Fitted,
        layout: Layout,
        truth: Network | None = None,
        folder: Path | None = None,
        shown: Shown | None = None,
    ) -> None:
        self.fitted, self.layout, self.folder = fitted, layout, folder
        self.shown = (shown or Shown()).checked(fitted)
        self.images = {} if self.shown.images is None else find_images(self.shown.images, fitted.network)
        self.network = fitted.network
        self.plane = Plane(fitted, layout)
        self.truth = truth
        self.quality: Quality | None = judge(fitted, truth) if truth is not None else None
        self.types = {name: TypeFacts(fitted, name) for name in self.network.types}
        self.main = self.types[self.network.main.name]
        self.coloured = self.types[coloured_type(self.network)]
        self._entries = [
            (facts, row, name)
            for facts in self.types.values()
            for names in ([facts.ids] if facts.titles is facts.ids else [facts.titles, facts.ids])
            for row, name in enumerate(names)
        ]
        self.index = NameIndex(
            [name for _, _, name in self._entries], [facts.weights[row] for facts, row, _ in self._entries]
        )

    def warm(self) -> None:
        """Compute what the first question would wait for."""
        for name, facts in self.types.items():
            _ = facts.classes, facts.blur, facts.sureness, facts.labels
            self.fitted.lengths(name)
        row = np.zeros(min(1, len(self.main)), dtype=np.int64)
        for relation in self.network.relations.values():
            if relation.source == self.main.name and not (relation.column and relation.column.has_cells):
                self.fitted.score_rows(row, relation.name)
        if self.can_embed:
            _ = self.fitted.trained

    @property
    def can_embed(self) -> bool:
        """Whether new items can be placed: a model grown by placing some has left its networks behind."""
        return self.fitted.placing is not None

    @cached_property
    def mixing(self) -> float | None:
        """Of the items nearest on the map to attributes the share of entities, over their share of all.

        1 where they lie among each other; 0 where attributes are a cloud of their own, so that their distance
        to an entity tells nothing.
        """
        places = np.vstack([self.layout.places[name] for name in self.types])
        attribute = np.concatenate([np.full(len(f), f.owner is not None) for f in self.types.values()])
        if not attribute.any() or attribute.all():
            return None
        rng = np.random.default_rng(0)
        asked = np.flatnonzero(attribute)
        asked = rng.choice(asked, min(len(asked), MEASURED), replace=False)
        near = cKDTree(places).query(places[asked], k=min(NEAREST + 1, len(places)))[1]
        return float((~attribute[near[:, 1:]]).mean() / (~attribute).mean())

    def facts(self, type: str) -> TypeFacts:
        if type not in self.types:
            raise no_such("type", type, self.types)
        return self.types[type]

    def at(self, id: str, type: str) -> int:
        """Position of an item by its id."""
        found = self.facts(type).positions.get(id)
        if found is None:
            others = [
                (name, facts.positions[id]) for name, facts in self.types.items() if id in facts.positions
            ]
            near = others or [(hit.type, hit.row) for hit in self.find(id, type)[:3]]
            hint = self._hint(near, bool(others))
            raise UnknownItem(f"{self.network.name} has no {type} {id[:80]!r}; {hint}", near)
        return found

    def type_of(self, id: str, type: str | None) -> str:
        """The type that was named, or that of the one item of that id, or else the main one."""
        if type is None:
            found = [name for name, facts in self.types.items() if id in facts.positions]
            if len(found) > 1:
                raise InputError(f"{id[:80]!r} is of several types ({', '.join(found)}); say which with type")
            type = found[0] if found else self.main.name
        self.at(id, type)
        return type

    def class_at(self, label: str, type: str) -> int:
        """Position of a class among those of a type, by its name."""
        names = self.facts(type).class_names
        if label not in names:
            raise no_such(f"class of {type}", label, names)
        return names.index(label)

    def find(self, query: str, type: str | None = None) -> list[Found]:
        """Items whose ids or titles fit what was typed, the best first."""
        if type is not None:
            self.facts(type)
        found: dict[tuple[str, int], Found] = {}
        for hit in self.index.find(query, CANDIDATES):
            facts, row, _ = self._entries[hit.position]
            if type in (None, facts.name):
                found.setdefault((facts.name, row), Found(facts.name, row, hit.score))
        return list(found.values())

    def ways(self, type: str) -> list[Way]:
        """The relations of a type's items as they are walked from them: columns of entries, then the rest."""
        columns = [
            Way(each.name, True, each.target)
            for each in self.network.columns(type)
            if each.column is not None and not each.column.has_cells
        ]
        return columns + ways_of(self.network, type)

    def entries(self, way: Way, row: int) -> tuple[np.ndarray, np.ndarray]:
        """What the network joins to an item by a way, and the values."""
        matrix = self.matrix(way)
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        return matrix.indices[part], matrix.data[part]

    def matrix(self, way: Way) -> sp.csr_array:
        relation = self.network.relation(way.relation)
        return relation.values if way.forwards else relation.backwards

    def column_of(self, type: str, row: int) -> Relation | None:
        """The column that an attribute belongs to."""
        for relation in self.network.relations.values():
            column = relation.column
            if relation.target == type and column is not None and column.start <= row < column.stop:
                return relation
        return None

    def true_label(self, type: str, row: int) -> str | None:
        """The hidden class of an item, where the truth is at hand."""
        if self.quality is None or self.quality.type != type:
            return None
        at = np.searchsorted(self.quality.nodes, row)
        if at == len(self.quality.nodes) or self.quality.nodes[at] != row:
            return None
        return self.types[type].class_names[self.quality.truth[at]]

    def _hint(self, near: Sequence[tuple[str, int]], other_type: bool) -> str:
        if other_type:
            return f"it is of type {near[0][0]}: ask with type={near[0][0]}"
        close = ", ".join(repr(str(self.types[type].ids[row])[:80]) for type, row in near)
        return f"did you mean {close}?" if close else "look for it with /api/v1/search"


def _array(names: Iterable[str]) -> np.ndarray:
    listed = [str(name) for name in names]
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array
