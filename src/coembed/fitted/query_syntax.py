"""The words of a query put in order: terms, ``or``, ``-`` for not, and brackets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from coembed.errors import InputError

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_TERM = re.compile(
    rf"""(?P<field>(?:{_QUOTED}|[^\s"()<>=:!])+)(?P<operator><=|>=|!=|<|>|=|:)(?P<value>(?:{_QUOTED}|[^\s"()])*)
    |(?P<word>(?:{_QUOTED}|[^\s"()])+)""",
    re.VERBOSE,
)
_PIECE = re.compile(rf"{_QUOTED}|,|[^,\"]+")
LONGEST = 4_000
"""Characters of a query."""
DEEPEST = 40
"""Brackets within brackets."""


@dataclass(frozen=True)
class Term:
    """A field, how it is compared, and values of which any may fit; a bare word has no field."""

    field: str | None
    operator: str
    values: tuple[str, ...]
    place: int
    negated: bool = False


@dataclass(frozen=True)
class Group:
    """Parts of which all must fit, or any."""

    every: bool
    parts: tuple[Term | Group, ...]
    negated: bool = False


def parse(query: str) -> Group:
    """A query as a tree.

    Examples
    --------
    >>> [term.values for term in parse('class:fish,bird p<0.6 "fresh water"').parts]
    [('fish', 'bird'), ('0.6',), ('fresh water',)]
    >>> parse("class:fish or -has:river").every
    False
    >>> parse("class:fish (p<0.6")
    Traceback (most recent call last):
    coembed.errors.InputError: query, character 12: this bracket is not closed
    """
    if len(query) > LONGEST:
        raise InputError(f"the query has {len(query):,} characters; at most {LONGEST:,} are read")
    if not query.strip():
        raise InputError("the query is empty; say what to find, as in class:fish p<0.6 has:river")
    found, end = _Parser(query).group(0, 0)
    if end < len(query):
        raise wrong(end, "this bracket was never opened")
    return found


def wrong(place: int, what: str) -> InputError:
    return InputError(f"query, character {place + 1}: {what}")


class _Parser:
    def __init__(self, query: str) -> None:
        self.query = query

    def group(self, at: int, depth: int) -> tuple[Group, int]:
        """Parts up to the bracket that closes, or the end; and where that is."""
        if depth > DEEPEST:
            raise wrong(at, f"more than {DEEPEST} brackets within brackets")
        query, start = self.query, at
        either: list[Group] = []
        parts: list[Term | Group] = []
        while at < len(query) and query[at] != ")":
            if query[at].isspace():
                at += 1
            elif word := re.compile(r"(or|OR|\|)(?=[\s(]|$)").match(query, at):
                if not parts:
                    raise wrong(at, "there is nothing before this or")
                either.append(Group(True, tuple(parts)))
                parts, at = [], word.end()
            else:
                part, at = self.part(at, depth)
                parts.append(part)
        if not parts:
            raise wrong(
                start, "there is nothing after this or" if either else "there is nothing in the brackets"
            )
        every = Group(True, tuple(parts))
        return (Group(False, (*either, every)) if either else every), at

    def part(self, at: int, depth: int) -> tuple[Term | Group, int]:
        query, start = self.query, at
        negated = query[at] == "-" and at + 1 < len(query) and not query[at + 1].isspace()
        at += negated
        if query[at] == "(":
            found, end = self.group(at + 1, depth + 1)
            if end >= len(query):
                raise wrong(at, "this bracket is not closed")
            return replace(found, negated=negated), end + 1
        term = _TERM.match(query, at)
        if term is None:
            raise wrong(at, "this quote is not closed" if query[at] == '"' else "this cannot be read")
        if term["word"] is not None:
            return Term(None, ":", (_plain(term["word"]),), start, negated), term.end()
        values = _values(term["value"])
        if not values:
            raise wrong(start, f"{term['field']}{term['operator']} needs a value, without a space before it")
        return Term(_plain(term["field"]), term["operator"], values, start, negated), term.end()


def quoted(name: str, field: bool = False) -> str:
    """A name as a query holds it, in quotes where they are needed.

    Examples
    --------
    >>> quoted("river"), quoted("fresh water"), quoted("a=b"), quoted("a=b", field=True)
    ('river', '"fresh water"', 'a=b', '"a=b"')
    """
    if name and not re.search(r'[\s"(),*\\<>=:!]|^-' if field else r'[\s"(),*\\]', name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _values(text: str) -> tuple[str, ...]:
    """Alternatives, parted by commas that stand outside of quotes."""
    found, last = [], ""
    for piece in [*_PIECE.findall(text), ","]:
        if piece == ",":
            found += [last] if last else []
            last = ""
        else:
            last += _plain(piece)
    return tuple(found)


def _plain(text: str) -> str:
    """Without quotes and what stands before quotes in them."""
    return re.sub(_QUOTED, lambda quoted: re.sub(r"\\(.)", r"\1", quoted[0][1:-1]), text)
