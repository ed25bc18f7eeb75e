"""What a fit will take, by a rule in the size of the network, and which preset that suggests.

A rule, never a clock: the same network has the same default on every machine. The seconds are those of one
core of the machine that the documentation's figures are from.
"""

from __future__ import annotations

from collections.abc import Mapping

from coembed.network import Network

LARGE = 20_000_000
"""Size from which on nobody should wait for epochs without having asked for them."""
PER_LABEL = 20
"""Entries that a labelled item counts as: every member of the label ensemble is fitted to it."""
SECONDS: Mapping[str, tuple[float, float]] = {"best": (35, 160), "fast": (2, 35), "paper": (2, 28)}
"""By preset, processor seconds of any fit, and of a million entries more."""


def size_of(network: Network) -> int:
    """Stored entries of all relations and columns, and what labelled items count as."""
    entries = sum(relation.values.nnz for relation in network.relations.values())
    labelled = sum(len(items.labels.known) for items in network.types.values() if items.labels is not None)
    return entries + PER_LABEL * labelled


def default_preset(network: Network) -> str:
    """`best`, or `fast` from a fixed size on.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> default_preset(demo_network())
    'best'
    """
    return "fast" if size_of(network) > LARGE else "best"


def seconds_of(network: Network) -> dict[str, float]:
    """By preset, about how many processor seconds a fit takes.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> seconds = seconds_of(demo_network())
    >>> seconds["fast"] < seconds["best"]
    True
    """
    millions = size_of(network) / 1e6
    return {preset: fixed + each * millions for preset, (fixed, each) in SECONDS.items()}


def expected_costs(network: Network) -> str:
    """A line on that, for who is about to wait.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> expected_costs(demo_network())
    'about 42 s of a processor with preset best, 4 s with fast, 3 s with paper'
    """
    told = {preset: duration(seconds) for preset, seconds in seconds_of(network).items()}
    best = told.pop("best")
    return ", ".join(
        [f"about {best} of a processor with preset best", *(f"{t} with {p}" for p, t in told.items())]
    )


def duration(seconds: float) -> str:
    """Seconds, or minutes where there are many.

    Examples
    --------
    >>> duration(42.4), duration(900)
    ('42 s', '15 min')
    """
    return f"{seconds:.0f} s" if seconds < 300 else f"{seconds / 60:.0f} min"
