"""All records of a folder, looked up by what they are about."""

from __future__ import annotations

from dataclasses import dataclass

from coembed.experiments.benchmark_networks import TITLES
from coembed.experiments.record_file import Record
from coembed.experiments.record_store import Store

Key = tuple[str, str, str, str, float | None]


@dataclass(frozen=True, eq=False)
class Results:
    """Records by experiment, protocol, row, network and place on the axis, and by seed below that."""

    records: dict[Key, dict[int, Record]]
    failed: list[Record]

    @classmethod
    def read(cls, store: Store) -> Results:
        found: dict[Key, dict[int, Record]] = {}
        for record in store.records():
            found.setdefault(_key(record), {})[record["seed"]] = record
        return cls(found, list(store.records("failed")))

    def cells(
        self, experiment: str, row: str, network: str, protocol: str = "strict", at: float | None = None
    ) -> dict[int, Record]:
        """The records of one number, by seed."""
        return dict(sorted(self.records.get((experiment, protocol, row, network, at), {}).items()))

    def values(
        self,
        experiment: str,
        row: str,
        network: str,
        metric: str,
        protocol: str = "strict",
        at: float | None = None,
    ) -> dict[int, float]:
        """One metric of one number, by seed."""
        cells = self.cells(experiment, row, network, protocol, at)
        return {seed: r["metrics"][metric] for seed, r in cells.items() if metric in r["metrics"]}

    def places(self, experiment: str, row: str, network: str, protocol: str = "strict") -> list[float]:
        """Where on the axis a row has been measured."""
        known = (key for key in self.records if key[:4] == (experiment, protocol, row, network))
        return sorted(at for *_, at in known if at is not None)

    def networks(self, experiment: str, protocol: str = "strict") -> list[str]:
        """Networks with any record of the experiment, in the order of the tables."""
        found = {key[3] for key in self.records if key[:2] == (experiment, protocol)}
        return [name for name in TITLES if name in found]

    def rows(self, experiment: str, protocol: str = "strict") -> set[str]:
        return {key[2] for key in self.records if key[:2] == (experiment, protocol)}

    @property
    def all(self) -> list[Record]:
        return [record for cells in self.records.values() for record in cells.values()]


def _key(record: Record) -> Key:
    return record["experiment"], record["protocol"], record["row"], record["network"], record["at"]
