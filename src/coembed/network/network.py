"""The network: items of any types, relations between them, a few labels; checked once and never changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError, no_such
from coembed.network.items import UNKNOWN, Items, Labels, ids_and_titles, unique_names
from coembed.network.names import NameArray
from coembed.network.relations import Column, Relation

NODE, ATTRIBUTE = "node", "attribute"
LINKS, ATTRIBUTES = "links", "attributes"

__all__ = ["UNKNOWN", "Network"]


@dataclass(frozen=True, eq=False)
class Network:
    """Types of items and relations between them.

    Any network is built by :meth:`of`. A plain attributed network has two types, ``node`` and ``attribute``,
    and two relations, ``links`` and ``attributes``: :meth:`build` makes one of matrices, and `links`,
    `attributes`, `labels` and `node_names` are short forms for the parts of it.

    Attributes
    ----------
    types
        By name; the first is the main one.
    relations
        By name. The columns of a type's table are relations to an attribute type of its own.
    name
        What to call the network in reports.
    notices
        What was changed or left out on the way in, for people to read.

    Examples
    --------
    >>> network = Network.build(links=[[0, 1], [0, 0]], attributes=[[1, 0], [1, 2]], labels=[0, -1])
    >>> network
    Network('network'): 2 node (1 of 1 class known), 2 attribute
      links: node with node, 1 entry
      attributes: node to attribute, 3 entries (tags)
    >>> network.notices
    ('links were directed: every pair was made undirected',)
    >>> people, films = Items.build("person", ["ann", "bob"]), Items.build("film", 3)
    >>> Network.of([people, films], [Relation.build("saw", "person", "film", [[0, 1, 1], [1, 0, 0]])])
    Network('network'): 2 person, 3 film
      saw: person to film, 3 entries
    """

    types: Mapping[str, Items]
    relations: Mapping[str, Relation]
    name: str = "network"
    notices: tuple[str, ...] = field(default=())

    @classmethod
    def of(
        cls,
        types: Iterable[Items],
        relations: Iterable[Relation] = (),
        name: str = "network",
        notices: Sequence[str] = (),
    ) -> Network:
        """Any network: types with names of their own, relations that fit them."""
        by_name = _by_name(types, "type", name)
        joined = _by_name(relations, "relation", name)
        if not any(len(items) for items in by_name.values()):
            raise InputError(f"{name}: the network has no items; give at least one")
        for relation in joined.values():
            for end, size in zip((relation.source, relation.target), relation.values.shape, strict=True):
                if end not in by_name:
                    raise no_such(f"type for relation {relation.name!r}", end, by_name)
                if len(by_name[end]) != size:
                    raise InputError(
                        f"{name}: relation {relation.name!r} has {size} items of type {end!r}, "
                        f"but there are {len(by_name[end])}"
                    )
        return cls(by_name, joined, name, tuple(notices))

    @classmethod
    def build(
        cls,
        links: Any,
        attributes: Any = None,
        labels: Any = None,
        *,
        node_names: NameArray | None = None,
        attribute_names: NameArray | None = None,
        class_names: Sequence[str] | np.ndarray | None = None,
        name: str = "network",
        notices: Sequence[str] = (),
    ) -> Network:
        """A plain network of matrix-like links and attributes, and integer labels (negative: unknown).

        Names of nodes that repeat become titles, and ids are made, which is said.
        """
        said = list(notices)
        joined = Relation.build(LINKS, NODE, NODE, links, notice=said.append)
        n_nodes = joined.values.shape[0]
        if n_nodes == 0:
            raise InputError(f"{name}: the network has no nodes; give at least one")
        attributes = sp.csr_array((n_nodes, 0), dtype=np.float32) if attributes is None else attributes
        owned = Relation.build(ATTRIBUTES, NODE, ATTRIBUTE, attributes)
        if owned.values.shape[0] != n_nodes:
            raise InputError(
                f"{name}: attributes have {owned.values.shape[0]} rows but links have {n_nodes} nodes; "
                "give one row of attributes for every node (it may be empty)"
            )
        known = np.full(n_nodes, UNKNOWN) if labels is None else np.asarray(labels)
        if known.shape != (n_nodes,) or known.dtype.kind not in "iu":
            raise InputError(
                f"{name}: labels must be {n_nodes} integers, one a node with {UNKNOWN} for unknown, "
                f"got {known.dtype} of shape {known.shape}"
            )
        classes = Labels.build(known, class_names)
        ids, titles, changed = ids_and_titles(node_names, n_nodes, NODE)
        return cls.plain(
            joined.values,
            owned.values,
            classes.values,
            ids,
            unique_names(attribute_names, owned.values.shape[1], ATTRIBUTE),
            classes.classes,
            name,
            [*said, *changed],
            titles,
        )

    @classmethod
    def plain(
        cls,
        links: sp.csr_array,
        attributes: sp.csr_array,
        labels: np.ndarray,
        node_names: NameArray,
        attribute_names: NameArray,
        class_names: np.ndarray,
        name: str = "network",
        notices: Sequence[str] = (),
        node_titles: NameArray | None = None,
    ) -> Network:
        """A plain network of parts that are checked and canonical already."""
        column = Column(ATTRIBUTES, "tags", 0, attributes.shape[1])
        return cls(
            {
                NODE: Items(NODE, node_names, node_titles, Labels(class_names, labels)),
                ATTRIBUTE: Items(ATTRIBUTE, attribute_names),
            },
            {
                LINKS: Relation(LINKS, NODE, NODE, links),
                ATTRIBUTES: Relation(ATTRIBUTES, NODE, ATTRIBUTE, attributes, column=column),
            },
            name,
            tuple(notices),
        )

    def __repr__(self) -> str:
        types = ", ".join(map(_said_of, self.types.values()))
        lines = [f"Network({self.name!r}): {types}"]
        for relation in self.relations.values():
            way = "with" if relation.pairing.undirected else "to"
            entries = f"{relation.n_entries:,} entr{'y' if relation.n_entries == 1 else 'ies'}"
            kind = f" ({relation.column.kind})" if relation.column else ""
            lines.append(f"  {relation.name}: {relation.source} {way} {relation.target}, {entries}{kind}")
        if len(lines) > 12:
            lines[11:] = [f"  ... and {len(lines) - 11} more relations"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """In a notebook: its types and its relations as tables."""
        from coembed.network.notebook import network_html

        return network_html(self)

    # Types and relations

    @property
    def main(self) -> Items:
        """The items of the first type."""
        return next(iter(self.types.values()))

    def items(self, type: str | None = None) -> Items:
        """The items of a type, by default of the main one."""
        if type is None:
            return self.main
        if type not in self.types:
            raise no_such("type", type, self.types)
        return self.types[type]

    def relation(self, name: str) -> Relation:
        if name not in self.relations:
            raise no_such("relation", name, self.relations)
        return self.relations[name]

    @property
    def labelled_types(self) -> list[str]:
        """The types that have classes."""
        return [name for name, items in self.types.items() if items.n_classes]

    def columns(self, type: str) -> list[Relation]:
        """The columns of a type's own table."""
        return [each for each in self.relations.values() if each.column is not None and each.source == type]

    def attribute_type(self, type: str) -> str | None:
        """The type of a type's attributes, if it has columns."""
        columns = self.columns(type)
        return columns[0].target if columns else None

    def owner_type(self, attributes: str) -> str | None:
        """The type whose attributes those of a type are; None if these are items of their own."""
        for relation in self.relations.values():
            if relation.column is not None and relation.target == attributes:
                return relation.source
        return None

    @property
    def entity_types(self) -> list[str]:
        """The types whose items are not attributes of others."""
        return [name for name in self.types if self.owner_type(name) is None]

    @property
    def entity_relations(self) -> list[Relation]:
        """The relations that are not columns."""
        return [each for each in self.relations.values() if each.column is None]

    def joining(self, type: str) -> list[Relation]:
        """The relations, columns apart, that a type is an end of."""
        return [each for each in self.entity_relations if type in (each.source, each.target)]

    @property
    def is_plain(self) -> bool:
        """Whether it has the form of version 0.1: nodes, attributes, links, one label."""
        return list(self.types) == [NODE, ATTRIBUTE] and list(self.relations) == [LINKS, ATTRIBUTES]

    # The same network with something else in it

    def with_labels(self, labels: np.ndarray, type: str | None = None) -> Network:
        """With other labels of the same classes, of the main type unless said."""
        items = self.items(type)
        return replace(self, types={**self.types, items.name: items.with_labels(labels)})

    def with_classes(self, labels: Labels, type: str | None = None) -> Network:
        """With other labels and classes, of the main type unless said."""
        items = self.items(type)
        named = Items.build(items.name, items.ids, items.titles, labels, items.id_column)
        return replace(self, types={**self.types, items.name: named})

    def with_titles(self, titles: NameArray, type: str | None = None) -> Network:
        """With other titles, of the main type unless said."""
        items = self.items(type)
        named = Items.build(items.name, items.ids, titles, items.labels, items.id_column)
        return replace(self, types={**self.types, items.name: named})

    def without_classes(self) -> Network:
        """Without labels, and without the classes that they name."""
        bare = {name: replace(items, labels=_no_labels(items)) for name, items in self.types.items()}
        return replace(self, types=bare)

    def with_values(self, values: Mapping[str, sp.csr_array]) -> Network:
        """With other matrices of some relations, which must already be canonical."""
        changed = {name: self.relation(name).with_values(matrix) for name, matrix in values.items()}
        return replace(self, relations={**self.relations, **changed})

    def with_matrices(
        self, links: sp.csr_array | None = None, attributes: sp.csr_array | None = None
    ) -> Network:
        """A plain network with other links or attributes."""
        given = {LINKS: links, ATTRIBUTES: attributes}
        return self.with_values({name: matrix for name, matrix in given.items() if matrix is not None})

    # Short forms for a plain network

    @property
    def links(self) -> sp.csr_array:
        """N x N: symmetric, zero diagonal, no stored zeros."""
        return self._plain(LINKS).values

    @property
    def attributes(self) -> sp.csr_array:
        """N x M, no stored zeros."""
        return self._plain(ATTRIBUTES).values

    @property
    def labels(self) -> np.ndarray:
        """Of the main type: index into `class_names`, or ``UNKNOWN``."""
        known = self.main.labels
        return np.full(len(self.main), UNKNOWN) if known is None else known.values

    @property
    def class_names(self) -> np.ndarray:
        known = self.main.labels
        return np.empty(0, dtype=object) if known is None else known.classes

    @property
    def node_names(self) -> NameArray:
        return self.main.ids

    @property
    def attribute_names(self) -> NameArray:
        self._plain(ATTRIBUTES)
        return self.types[ATTRIBUTE].ids

    @property
    def n_nodes(self) -> int:
        return len(self.main)

    @property
    def n_attributes(self) -> int:
        return int(self.attributes.shape[1])

    @property
    def n_classes(self) -> int:
        return self.main.n_classes

    @property
    def n_links(self) -> int:
        """Undirected pairs, each counted once."""
        return self._plain(LINKS).n_entries

    @property
    def labelled(self) -> np.ndarray:
        """Positions of the items of the main type whose class is known."""
        return np.flatnonzero(self.labels != UNKNOWN)

    @property
    def weighted_links(self) -> bool:
        return self._plain(LINKS).weighted

    @property
    def real_attributes(self) -> bool:
        return self._plain(ATTRIBUTES).weighted

    def node_index(self, node: str) -> int:
        """Position of a node by its name."""
        return self._index(NODE, ATTRIBUTE, node)

    def attribute_index(self, attribute: str) -> int:
        """Position of an attribute by its name."""
        return self._index(ATTRIBUTE, NODE, attribute)

    def _plain(self, name: str) -> Relation:
        if not self.is_plain:
            raise InputError(
                f"{self.name} has the types {', '.join(self.types)}: ask for a relation by name, "
                f"{name} are a plain network's"
            )
        return self.relations[name]

    def _index(self, kind: str, other: str, key: str) -> int:
        self._plain(LINKS)
        found = self.types[kind].find(key)
        return found if found is not None else self._unknown_name(kind, other, key)

    def _unknown_name(self, kind: str, other: str, key: str) -> NoReturn:
        if self.types[other].find(key) is not None:
            article = "an" if other == ATTRIBUTE else "a"
            raise InputError(
                f"{str(key)[:80]!r} is {article} {other} of {self.name}; "
                f"give the name of {'an' if kind == ATTRIBUTE else 'a'} {kind}"
            )
        self.types[kind].position(key)
        raise AssertionError


def _by_name(things: Iterable[Any], kind: str, network: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in things:
        if each.name in found:
            raise InputError(f"{network}: two {kind}s are called {each.name!r}; give each its own name")
        found[each.name] = each
    return found


def _no_labels(items: Items) -> Labels | None:
    if items.labels is None:
        return None
    return Labels(np.empty(0, dtype=object), np.full(len(items), UNKNOWN), items.labels.column)


def _said_of(items: Items) -> str:
    if not items.n_classes or items.labels is None:
        return f"{len(items):,} {items.name}"
    classes = f"{items.n_classes} class{'' if items.n_classes == 1 else 'es'}"
    return f"{len(items):,} {items.name} ({len(items.labels.known):,} of {classes} known)"
