"""What a task is about: the classes or cells of a type, or the pairs of a relation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from coembed.errors import InputError
from coembed.network import Network, Relation
from coembed.settings import Task

OF_PAIRS: tuple[Task, ...] = ("links", "attributes", "profiling", "direction")
"""Tasks that ask about the pairs of one relation; the others ask about the items of one type."""


class Asked(NamedTuple):
    """Whose classes or cells; or which relation's pairs, then `type` is that of their first ends."""

    type: str
    relation: str | None = None


def what_is_asked(
    network: Network, task: Task, type: str | None = None, relation: str | None = None
) -> Asked:
    """The type and the relation of a task: those named, else the first that can be asked about.

    `classification` and `columns` take the main type, or the first that has classes or cells; `links` the
    first relation that is not a column, `attributes` and `profiling` the first column of tags, counts or
    words, and `direction` the first directed relation, each of the type that is named, if one is.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> what_is_asked(demo_network(), "classification")
    Asked(type='node', relation=None)
    >>> what_is_asked(demo_network(), "links")
    Asked(type='node', relation='links')
    >>> what_is_asked(demo_network(), "direction")
    Traceback (most recent call last):
    coembed.errors.InputError: wordnet-demo has no directed relation to ask about; choose another task
    """
    if type is not None:
        network.items(type)  # refuses a name that is none
    if task in OF_PAIRS:
        chosen = _relation(network, task, type, relation)
        return Asked(chosen.source, chosen.name)
    if relation is not None:
        raise InputError(
            f"task {task} asks about the items of a type; leave relation {relation!r} out, "
            f"or choose one of {', '.join(OF_PAIRS)}"
        )
    able = network.labelled_types if task == "classification" else _with_cells(network)
    main = network.main.name
    return Asked(type or (main if main in able or not able else able[0]))


def _relation(network: Network, task: Task, type: str | None, name: str | None) -> Relation:
    able = [each for each in network.relations.values() if _can_be_asked(each, task)]
    if name is not None:
        chosen = network.relation(name)
        if chosen.column is not None and chosen.column.has_cells:
            raise InputError(f"{name} is a column with one cell an item; choose task columns")
        if task == "direction" and chosen not in able:
            raise InputError(f"relation {name} is not directed; choose task links")
        if type not in (None, chosen.source, chosen.target):
            raise InputError(f"relation {name} joins {chosen.source} and {chosen.target}, not {type}")
        return chosen
    # entries of a column are told of the one who has them; a link may be asked for from either end
    wanted = type or (network.main.name if task in ("attributes", "profiling") else None)
    first = _first(each for each in able if wanted in (None, each.source, each.target))
    if first is None and type is None:
        first = _first(able)
    if first is None:
        words = "column of tags, counts or words"
        what = {"links": "relation", "attributes": words, "profiling": words}
        whose = f" of {type}" if type else ""
        raise InputError(
            f"{network.name} has no {what.get(task, 'directed relation')}{whose} to ask about; "
            "choose another task"
        )
    return first


def _can_be_asked(relation: Relation, task: Task) -> bool:
    if task in ("attributes", "profiling"):
        return relation.column is not None and not relation.column.has_cells
    return relation.column is None and (task == "links" or relation.directed)


def _with_cells(network: Network) -> list[str]:
    """The types that have columns with one cell an item."""
    return [
        name
        for name in network.types
        if any(each.column is not None and each.column.has_cells for each in network.columns(name))
    ]


def _first(relations: Iterable[Relation]) -> Relation | None:
    return next(iter(relations), None)
