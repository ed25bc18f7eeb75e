"""Relations as they are walked from one of their ends: the source (``name>``) or the target (``name<``)."""

from __future__ import annotations

from dataclasses import dataclass

from coembed.network.network import Network


@dataclass(frozen=True)
class Way:
    """A relation as it is walked from one of its ends."""

    relation: str
    forwards: bool
    other: str

    @property
    def name(self) -> str:
        return f"{self.relation}{'>' if self.forwards else '<'}"


def ways_of(network: Network, type: str) -> list[Way]:
    """All ways out of a type, but into its own columns."""
    found = []
    for relation in network.joining(type):
        if relation.source == type:
            found.append(Way(relation.name, True, relation.target))
        if relation.target == type and not relation.pairing.undirected:
            found.append(Way(relation.name, False, relation.source))
    return found
