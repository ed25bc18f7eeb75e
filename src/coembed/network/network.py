"""The network: links, attributes and a few labels, checked once and never changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from coembed.errors import InputError
from coembed.network.names import NameArray, Names

UNKNOWN = -1
"""The label of a node whose class is not known."""


@dataclass(frozen=True, eq=False)
class Network:
    """A partially labelled attributed network.

    Build it with :meth:`Network.build`, which checks and normalises what it is given.

    Attributes
    ----------
    links
        N x N CSR, float32: symmetric, zero diagonal, no stored zeros.
    attributes
        N x M CSR, float32, no stored zeros.
    labels
        int64, one a node, index into `class_names` or ``UNKNOWN``.
    node_names, attribute_names, class_names
        Object arrays of unique strings; those of nodes and attributes may be :class:`Names`, which behave as
        arrays do and are decoded only when looked at.
    name
        What to call the network in reports.
    notices
        What was changed on the way in (self-loops dropped, directions joined, ...), for people to read.

    Examples
    --------
    >>> network = Network.build(links=[[0, 1], [0, 0]], attributes=[[1, 0], [1, 2]], labels=[0, -1])
    >>> network.n_nodes, network.n_links, network.n_attributes, network.n_classes
    (2, 1, 2, 1)
    >>> network.notices
    ('links were directed: every pair was made undirected',)
    >>> network.node_index("node1")
    1
    """

    links: sp.csr_array
    attributes: sp.csr_array
    labels: np.ndarray
    node_names: NameArray
    attribute_names: NameArray
    class_names: np.ndarray
    name: str = "network"
    notices: tuple[str, ...] = field(default=())

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
        """Check and normalise matrix-like links and attributes, and integer labels (negative: unknown)."""
        said = list(notices)
        links = _canonical(links, "links")
        n_nodes = links.shape[0]
        if n_nodes != links.shape[1]:
            raise InputError(
                f"{name}: links must be square, got {links.shape[0]} x {links.shape[1]}; "
                "give one row and one column for every node"
            )
        if n_nodes == 0:
            raise InputError(f"{name}: the network has no nodes; give at least one")
        links = _undirected(links, said)

        attributes = sp.csr_array((n_nodes, 0), dtype=np.float32) if attributes is None else attributes
        attributes = _canonical(attributes, "attributes")
        if attributes.shape[0] != n_nodes:
            raise InputError(
                f"{name}: attributes have {attributes.shape[0]} rows but links have {n_nodes} nodes; "
                "give one row of attributes for every node (it may be empty)"
            )

        labels = np.full(n_nodes, UNKNOWN) if labels is None else np.asarray(labels)
        if labels.shape != (n_nodes,) or labels.dtype.kind not in "iu":
            raise InputError(
                f"{name}: labels must be {n_nodes} integers, one a node with {UNKNOWN} for unknown, "
                f"got {labels.dtype} of shape {labels.shape}"
            )
        labels = np.where(labels < 0, UNKNOWN, labels).astype(np.int64)
        seen = int(labels.max()) + 1
        n_classes = seen if class_names is None else len(class_names)
        if seen > n_classes:
            raise InputError(f"{name}: label {seen - 1} has no name among {n_classes} class names")

        return cls(
            links=links,
            attributes=attributes,
            labels=labels,
            node_names=_names(node_names, n_nodes, "node", name),
            attribute_names=_names(attribute_names, attributes.shape[1], "attribute", name),
            class_names=_names(class_names, n_classes, "class", name),
            name=name,
            notices=tuple(said),
        )

    @property
    def n_nodes(self) -> int:
        return int(self.links.shape[0])

    @property
    def n_attributes(self) -> int:
        return int(self.attributes.shape[1])

    @property
    def n_classes(self) -> int:
        return len(self.class_names)

    @property
    def n_links(self) -> int:
        """Undirected pairs, each counted once."""
        return int(self.links.nnz // 2)

    @property
    def labelled(self) -> np.ndarray:
        """Indices of the nodes whose class is known."""
        return np.flatnonzero(self.labels != UNKNOWN)

    @property
    def weighted_links(self) -> bool:
        return bool(np.any(self.links.data != 1))

    @property
    def real_attributes(self) -> bool:
        return bool(np.any(self.attributes.data != 1))

    def node_index(self, node: str) -> int:
        """Position of a node by its name."""
        return self._index(self.node_names, node, "node")

    def attribute_index(self, attribute: str) -> int:
        """Position of an attribute by its name."""
        return self._index(self.attribute_names, attribute, "attribute")

    def with_labels(self, labels: np.ndarray) -> Network:
        """The same network with other labels (same classes)."""
        return replace(self, labels=np.asarray(labels, dtype=np.int64))

    def with_matrices(
        self, links: sp.csr_array | None = None, attributes: sp.csr_array | None = None
    ) -> Network:
        """The same network with other links or attributes, which must already be canonical."""
        return replace(
            self,
            links=self.links if links is None else links,
            attributes=self.attributes if attributes is None else attributes,
        )

    @cached_property
    def _node_positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.node_names)}

    @cached_property
    def _attribute_positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.attribute_names)}

    def _index(self, names: NameArray, key: str, kind: str) -> int:
        found = self._find(names, key, kind)
        return found if found is not None else self._unknown_name(names, key, kind)

    def _find(self, names: NameArray, key: str, kind: str) -> int | None:
        if isinstance(names, Names):
            return names.find(str(key))
        positions = self._node_positions if kind == "node" else self._attribute_positions
        return positions.get(str(key))

    def _unknown_name(self, names: NameArray, key: str, kind: str) -> NoReturn:
        from difflib import get_close_matches

        if kind == "node" and self._find(self.attribute_names, key, "attribute") is not None:
            raise InputError(f"{str(key)[:80]!r} is an attribute of {self.name}; give the name of a node")
        if kind == "attribute" and self._find(self.node_names, key, "node") is not None:
            raise InputError(f"{str(key)[:80]!r} is a node of {self.name}; give the name of an attribute")
        near = get_close_matches(str(key), list(names[:50_000]), n=3)
        hint = f"did you mean {', '.join(repr(n) for n in near)}?" if near else "check the spelling"
        raise InputError(f"{self.name} has no {kind} {str(key)[:80]!r}; {hint}")


def _canonical(matrix: Any, what: str) -> sp.csr_array:
    try:
        csr = sp.csr_array(matrix, dtype=np.float32, copy=True)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} cannot be read as a matrix of numbers ({error})") from None
    if csr.ndim != 2:
        raise InputError(f"{what} must be a matrix, got {csr.ndim} dimension(s)")
    if not np.isfinite(csr.data).all():
        row = int(np.searchsorted(csr.indptr, np.flatnonzero(~np.isfinite(csr.data))[0], side="right")) - 1
        raise InputError(f"{what} of row {row} hold NaN or infinity; remove or replace that value")
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


def _undirected(links: sp.csr_array, said: list[str]) -> sp.csr_array:
    loops = int(np.count_nonzero(links.diagonal()))
    if loops:
        links = _canonical(links - sp.diags_array(links.diagonal(), format="csr"), "links")
        said.append(f"{loops} self-loop(s) were dropped")
    transposed = links.T.tocsr()
    if (links != transposed).nnz:
        # maximum, not sum: a pair listed in both directions is one link, with one weight
        links = _canonical(_wider(links, transposed), "links")
        said.append("links were directed: every pair was made undirected")
    return links


def _wider(links: sp.csr_array, transposed: sp.csr_array) -> sp.csr_array:
    """Entry by entry the value of larger magnitude, so that negative weights survive too."""
    smaller = abs(links) < abs(transposed)
    wide = sp.csr_array(links - links.multiply(smaller) + transposed.multiply(smaller))
    return wide.maximum(wide.T.tocsr())


def _names(names: NameArray | None, count: int, kind: str, network: str) -> NameArray:
    if names is None:
        made_up = np.empty(count, dtype=object)
        made_up[:] = [f"{kind}{i}" for i in range(count)]
        return made_up
    if isinstance(names, Names):
        if len(names) == count and names.repeated() is None:
            return names
        names = list(names)
    listed = [str(n) for n in names]
    if len(listed) != count:
        raise InputError(f"{network}: {len(listed)} {kind} names for {count}; give one for each")
    if len(set(listed)) != count:
        once: set[str] = set()
        twice = next(n for n in listed if n in once or once.add(n))  # type: ignore[func-returns-value]
        raise InputError(f"{network}: {kind} name {twice!r} occurs twice; names must be unique")
    array = np.empty(count, dtype=object)
    array[:] = listed
    return array
