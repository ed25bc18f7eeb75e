"""How many proposals of a sure list are wrong? Full fits, over splits that hide a tenth of the entries.

    python benchmarks/false_proposals.py --data DIR --out FILE.jsonl [--network NAME ...] [--splits 20]

Of all pairs that the fit was not shown, those scored above what `--fdr` asks for are listed; wrong is what is
not among the hidden. As many entries are kept aside by the fit as the split hides, so that the promise is
about the prevalence of the split. A line of JSON for each network, relation, split and target.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from ensemble_alone import NETWORKS

from coembed.experiments.record_file import RecordFile
from coembed.network import Network, read, split_pairs
from coembed.network.pairs import without
from coembed.settings import preset_settings
from coembed.training import fit

TARGETS = (0.1, 0.2, 0.5)
HIDDEN = 0.1


def one_split(network: Network, name: str, seed: int, preset: str) -> dict:
    """Lengths of the lists and how many of each are wrong, by target."""
    relation = network.relation(name)
    split = split_pairs(network, name, validation=0.0, test=HIDDEN, seed=seed)
    shown = network.with_values({name: without(relation.values, split.test, relation.pairing)})
    # of what is shown as many entries are kept aside as are hidden
    settings = preset_settings(preset, seed=seed, space_dim=0, validation_pairs=HIDDEN / (1 - HIDDEN))
    fitted = fit(shown, settings)
    ends = np.concatenate([split.test, split.test[:, ::-1]]) if relation.pairing.undirected else split.test
    hidden = sp.csr_array((np.ones(len(ends), np.float32), ends.T), shape=relation.values.shape)
    doubt = fitted.relations[name].doubt
    assert doubt is not None
    possible = relation.values.shape[0] * (relation.values.shape[1] - relation.pairing.same)
    prevalence = len(ends) / (possible - fitted.network.relation(name).values.nnz)
    doubt = replace(doubt, prevalence=prevalence)
    found: dict = {"prevalence": prevalence}
    least = {target: doubt.least_score(target) for target in TARGETS}
    right, listed = dict.fromkeys(TARGETS, 0), dict.fromkeys(TARGETS, 0)
    for part in np.array_split(np.arange(relation.values.shape[0]), 20):
        scores = fitted.score_rows(part, name)
        known = sp.csr_array(fitted.network.relation(name).values[part])
        scores[np.repeat(np.arange(len(part)), np.diff(known.indptr)), known.indices] = -np.inf
        if relation.pairing.same:
            scores[np.arange(len(part)), part] = -np.inf
        true = hidden[part].toarray() > 0
        for target in TARGETS:
            above = scores >= least[target]
            listed[target] += int(above.sum())
            right[target] += int((above & true).sum())
    for target in TARGETS:
        found[str(target)] = [listed[target], listed[target] - right[target]]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="*", default=list(NETWORKS))
    parser.add_argument("--relation", nargs="*", default=["links", "attributes"])
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the first split")
    parser.add_argument("--preset", default="best", choices=("best", "fast"))
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("preset", "network", "relation", "seed"))
    for name in [] if given.table else given.network:
        network = read(given.data / f"{name}.npz")
        for seed in range(given.first, given.first + given.splits):
            for relation in given.relation:
                if done.get(given.preset, name, relation, seed) is None:
                    case = {"preset": given.preset, "network": name, "relation": relation, "seed": seed}
                    done.append(case | one_split(network, relation, seed, given.preset))
    print("| network | relation | splits | one pair in | " + " | ".join(map(str, TARGETS)) + " |")
    found = list(done.records().values())
    for name, relation in dict.fromkeys((r["network"], r["relation"]) for r in found):
        some = [r for r in found if (r["network"], r["relation"]) == (name, relation)]
        told = []
        for target in map(str, TARGETS):
            lists = np.array([r[target] for r in some])
            shares = lists[:, 1] / np.maximum(lists[:, 0], 1)
            told.append(f"{shares.mean():.3f} of {lists[:, 0].mean():.1f}")
        rare = 1 / np.mean([r["prevalence"] for r in some])
        print("|", " | ".join([name, relation, str(len(some)), f"{rare:,.0f}", *told]), "|")


if __name__ == "__main__":
    main()
