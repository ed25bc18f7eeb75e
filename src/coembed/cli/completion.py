"""What a shell offers when one presses the tabulator key: presets, tasks, settings, kinds of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import get_args

from coembed.settings import CHOICES, PRESETS, Task, preset_settings

Offers = Iterator[tuple[str, str]]
"""What may be typed, each with a few words about it."""


def presets(incomplete: str) -> Offers:
    """The presets that begin so.

    Examples
    --------
    >>> list(presets("p"))
    [('paper', '')]
    """
    return _beginning(PRESETS, incomplete)


def tasks(incomplete: str) -> Offers:
    """The tasks that begin so."""
    return _beginning(get_args(Task), incomplete)


def assignments(incomplete: str) -> Offers:
    """Settings that begin so, each with its choices, or else with its usual value, to be changed.

    Examples
    --------
    >>> list(assignments("dim"))
    [('dim=64', '')]
    >>> list(assignments("encoder=v"))
    [('encoder=views', 'usual')]
    """
    for name, usual in preset_settings().as_dict().items():
        choices = ("true", "false") if isinstance(usual, bool) else CHOICES.get(name, (str(usual),))
        for value in choices:
            said = "usual" if len(choices) > 1 and value == str(usual).lower() else ""
            if f"{name}={value}".startswith(incomplete):
                yield f"{name}={value}", said


def kinds(incomplete: str) -> Offers:
    """After ``COLUMN=``, the kinds that a column may be of.

    Examples
    --------
    >>> list(kinds("zip=ca")), list(kinds("zip"))
    ([('zip=category', '')], [])
    """
    from coembed.network.columns import KNOWN_KINDS

    column, mark, _ = incomplete.rpartition("=")
    return _beginning((f"{column}={kind}" for kind in KNOWN_KINDS if mark), incomplete)


def _beginning(words: Iterable[str], incomplete: str) -> Offers:
    return ((word, "") for word in words if word.startswith(incomplete))
