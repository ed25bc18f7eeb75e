"""A network as a notebook shows it: tables of types and relations; every name of a user's is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coembed.network.network import Network

MOST = 30
"""Rows of a table; what is beyond is counted."""


def network_html(network: Network) -> str:
    """
    >>> from coembed.network import Network
    >>> "<td>node</td><td>2</td>" in network_html(Network.build([[0, 1], [1, 0]]))
    True
    """
    types = [
        (name, f"{len(items):,}", f"{items.n_classes:,}", _known(items.labels))
        for name, items in network.types.items()
    ]
    relations = [
        (
            each.name,
            f"{each.source} {'with' if each.pairing.undirected else 'to'} {each.target}",
            f"{each.n_entries:,}",
            each.column.kind if each.column else "directed" if each.directed else "",
        )
        for each in network.relations.values()
    ]
    return (
        f"<p><b>{escape(network.name)}</b></p>"
        + _table(("type", "items", "classes", "known"), types)
        + _table(("relation", "between", "entries", "kind"), relations)
        + lines_html(network.notices)
    )


def lines_html(lines: Iterable[str]) -> str:
    """Lines of text, one below the other."""
    return "".join(f"<div>{escape(line)}</div>" for line in lines)


def _known(labels: object) -> str:
    return "" if labels is None else f"{len(labels.known):,}"  # type: ignore[attr-defined]


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{each}</th>" for each in headings)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:MOST]
    )
    more = f"<tr><td>... and {len(rows) - MOST:,} more</td></tr>" if len(rows) > MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"
