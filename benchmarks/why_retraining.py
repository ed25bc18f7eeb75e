"""Does the evidence that `why` names carry the answer? Train anew without it, and see what the answer loses.

OMP_NUM_THREADS=1 python benchmarks/why_retraining.py FILE.json [--cases 50] [--together 10] [--seed 0]
    [--repeats 3] [--moving 0.01]

Of items of the demo without a label, drawn by chance, the evidence for the likeliest class is taken out of
the network (the piece with the largest contribution; or the three largest) and the model is trained again.
The two agree if the probability of the class moves the way that the contribution, or their sum, says: its
logit, a mean over several seeds with the evidence and without, against what items of the class that lost
nothing would lead one to expect: every training is more or less sure of all of them. With --moving, items are
those whose answer moves by so much at least if the strongest piece alone is left out: what is certain with
and without it is a matter of the trainings' chance. To save trainings, items
three links or more apart lose theirs in the same one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logit

from coembed import demo_network, fit, preset_settings
from coembed.fitted import Fitted
from coembed.network import Network, split_labels

LABELS, NEARLY = 0.1, 1e-6
Case = dict[str, Any]


def trained(network: Network, seeds: Sequence[int]) -> list[Fitted]:
    # neither the common space nor the scores of pairs have a say in classes
    return [
        fit(network, preset_settings("best", seed=seed, space_dim=0, pair_scores=False)) for seed in seeds
    ]


def case_of(fitted: Fitted, row: int, pieces: int) -> Case | None:
    """The strongest evidence for the class of an item."""
    told = fitted.why(row, type="node", k=pieces, positions=True)
    if not told.reasons:
        return None
    return {
        "item": told.item,
        "class": told.target,
        "claimed": round(told.claimed, 5),
        "evidence": [[each.relation, each.name] for each in told.reasons],
        "contribution": round(sum(each.contribution for each in told.reasons), 5),
        "moves": round(told.claimed - told.beyond - told.reasons[0].without, 5),
    }


def without(network: Network, cases: list[Case]) -> Network:
    """The network without the evidence of some cases; links go from both ends."""
    values = {name: sp.lil_array(each.values) for name, each in network.relations.items()}
    for case in cases:
        row = network.node_index(case["item"])
        for name, other in case["evidence"]:
            joined = network.relation(name)
            at = network.items(joined.target).position(other)
            values[name][row, at] = 0
            if joined.pairing.undirected:
                values[name][at, row] = 0
    left = {name: sp.csr_array(matrix) for name, matrix in values.items()}
    for matrix in left.values():
        matrix.eliminate_zeros()
    return network.with_values(left)


def moved(fitted: Fitted, rows: np.ndarray, least: float, count: int) -> np.ndarray:
    """The first of the rows whose answer moves by `least` without the strongest piece."""
    found: list[int] = []
    for row in rows:
        case = case_of(fitted, int(row), 1)
        if case is not None and abs(case["moves"]) >= least:
            found.append(int(row))
        if len(found) == count:
            break
    return np.array(found)


def far_apart(network: Network, rows: np.ndarray, size: int) -> Iterator[list[int]]:
    """The rows in groups within which no two are nearer than three links."""
    links = network.relation("links").values
    near = sp.csr_array(links + links @ links + sp.eye_array(links.shape[0]))
    waiting = [int(row) for row in rows]
    while waiting:
        group: list[int] = []
        for row in list(waiting):
            around = near.indices[near.indptr[row] : near.indptr[row + 1]]
            if len(group) < size and not set(group) & set(around.tolist()):
                group.append(row)
                waiting.remove(row)
        yield group


def run(
    fitted: list[Fitted], rows: np.ndarray, pieces: int, together: int, seeds: Sequence[int]
) -> Iterator[Case]:
    """The first of the models says why; all of them are trained anew."""
    network = fitted[0].network
    for group in far_apart(network, rows, together):
        cases = [found for row in group if (found := case_of(fitted[0], row, pieces)) is not None]
        again = trained(without(network, cases), seeds)
        before, after = (
            np.mean([logit(np.clip(each.predict_proba(), NEARLY, 1 - NEARLY)) for each in models], axis=0)
            for models in (fitted, again)
        )
        untouched = np.setdiff1d(np.flatnonzero(network.labels < 0), rows)
        for case in cases:
            row, at = network.node_index(case["item"]), network.class_names.tolist().index(case["class"])
            alike = untouched[before[untouched].argmax(axis=1) == at]
            slope, shift = np.polyfit(before[alike, at], after[alike, at], 1)
            yield {**case, "lost_logit": round(float(slope * before[row, at] + shift - after[row, at]), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--together", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--moving", type=float, default=0.0, help="by how much answers move at least")
    parser.add_argument("--repeats", type=int, default=3, help="seeds of the training that are averaged over")
    asked = parser.parse_args()
    network = demo_network()
    split = split_labels(network, labels=LABELS, seed=asked.seed)
    seeds = range(asked.seed, asked.seed + asked.repeats)
    fitted = trained(split.visible(network), seeds)
    linked = np.diff(network.relation("links").values.indptr) > 0
    drawn = np.random.default_rng(asked.seed).permutation(split.test[linked[split.test]])
    drawn = moved(fitted[0], drawn, asked.moving, asked.cases)
    report = {}
    for pieces in (1, 3):
        cases = []
        for case in run(fitted, drawn, pieces, asked.together, seeds):
            cases.append(case)
            print(json.dumps(case), flush=True)
        agree = np.array([(case["contribution"] > 0) == (case["lost_logit"] > 0) for case in cases])
        open_ = np.array([case["claimed"] < 0.99 for case in cases])
        report[f"{pieces} left out"] = {
            "cases": len(cases),
            "agree": round(float(agree.mean()), 3),
            "not_certain": int(open_.sum()),
            "agree_not_certain": round(float(agree[open_].mean()), 3) if open_.any() else None,
            "each": cases,
        }
        asked.file.write_text(json.dumps(report, indent=1) + "\n")
        print(
            {name: value for name, value in report[f"{pieces} left out"].items() if name != "each"},
            flush=True,
        )


if __name__ == "__main__":
    main()
