"""Options of the rivals: a small frozen record for each, changed by texts like ``hidden=32``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import Field, field, fields
from typing import Any, TypeVar, cast

from coembed.errors import InputError
from coembed.evaluation.problem import Problem
from coembed.settings import Settings

Options = TypeVar("Options")


def number(default: float, low: float, high: float) -> Any:
    """A numeric option and its range; it is a whole number if its default is."""
    return field(default=default, metadata={"low": low, "high": high})


def choice(default: str, *others: str) -> Any:
    """An option that is one of a few words."""
    return field(default=default, metadata={"words": (default, *others)})


def options(kind: type[Options], problem: Problem) -> Options:
    """The record of a method's options, with the changes that the problem asks for."""
    return changed(kind, problem.changes)


def changed(kind: type[Options], changes: Sequence[str]) -> Options:
    """The record of a method's options, changed by texts like ``hidden=32``.

    All methods of a comparison may be given one list of changes: the name of a setting of the package's own
    model that the method does not have is passed over; any other unknown name is refused.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Small:
    ...     hidden: int = number(16, 1, 4096)
    >>> changed(Small, ["hidden=8", "alpha=3"])
    Small(hidden=8)
    >>> changed(Small, ["hiden=8"])
    Traceback (most recent call last):
    coembed.errors.InputError: there is no option 'hiden'; this method has: hidden
    """
    own: dict[str, Field] = {each.name: each for each in fields(cast(Any, kind))}
    ours = {each.name for each in fields(Settings)}
    values: dict[str, Any] = {}
    for assignment in changes:
        name, equals, text = (part.strip() for part in assignment.partition("="))
        if not equals:
            raise InputError(f"{assignment!r} is not of the form setting=value")
        if name in own:
            values[name] = _value(own[name], text)
        elif name not in ours:
            raise InputError(f"there is no option {name!r}; this method has: {', '.join(own)}")
    return kind(**values)


def _value(option: Field, text: str) -> Any:
    words = option.metadata.get("words")
    if words is not None:
        if text not in words:
            raise InputError(f"option {option.name} must be one of {', '.join(words)}, got {text!r}")
        return text
    whole = isinstance(option.default, int)
    low, high = option.metadata["low"], option.metadata["high"]
    try:
        value = int(text) if whole else float(text)
    except ValueError:
        raise InputError(
            f"option {option.name} must be a {'whole ' if whole else ''}number, got {text!r}"
        ) from None
    if not low <= value <= high:
        raise InputError(f"option {option.name} must be between {low:g} and {high:g}, got {text}")
    return value
