"""What happens to answers and to their doubt when attributes or links vanish? The label ensemble alone.

    python benchmarks/missing_evidence.py --data DIR --out FILE.jsonl [--network NAME ...] [--seeds 1]

A share of all attribute entries, or of all links, is taken away at random; a tenth of the labels is known.
Beside it feature propagation: what is missing is the mean over links, forty times, then logistic regression
on attributes and their means over links. A line of JSON for each case; those there are not run again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from ensemble_alone import NETWORKS, EnsembleAlone

from coembed.experiments.record_file import RecordFile
from coembed.fitted.conformal import class_sets
from coembed.network import Network, read, split_labels
from coembed.network.pairs import UNDIRECTED, true_pairs, without
from coembed.views.basis import averaging

SHARES = (0.0, 0.5, 0.9, 0.99, 0.995)
COVERAGE = 0.9


def thinned(network: Network, what: str, share: float, rng: np.random.Generator) -> Network:
    """The network without a share of its attributes' entries, or of its links."""
    if what == "links":
        pairs = true_pairs(network.links, UNDIRECTED)
        gone = pairs[rng.random(len(pairs)) < share]
        return network.with_values({"links": without(network.links, gone, UNDIRECTED)})
    values = network.attributes.copy()
    values.data[rng.random(values.nnz) < share] = 0
    values.eliminate_zeros()
    return network.with_values({"attributes": values})


def feature_propagation(network: Network, labels: np.ndarray) -> np.ndarray:
    """Classes of all nodes: rows without any attribute have the mean over their links, again and again."""
    from sklearn.linear_model import LogisticRegression

    own, step = network.attributes.toarray(), averaging(network.links)
    empty = np.flatnonzero(~own.any(axis=1))
    filled = own.copy()
    for _ in range(40):
        filled[empty] = (step @ filled)[empty]
    features = np.hstack([filled, step @ filled, step @ (step @ filled)])
    features /= np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-9)
    known = np.flatnonzero(labels >= 0)
    model = LogisticRegression(C=10, max_iter=300).fit(sp.csr_array(features[known]), labels[known])
    return model.predict(features)


def one_case(network: Network, what: str, share: float, seed: int) -> dict:
    rng = np.random.default_rng(seed)
    left = thinned(network, what, share, rng)
    split = split_labels(network, labels=0.1, seed=seed)
    labels, truth, test = split.visible(network).labels, network.labels, split.test
    ensemble = EnsembleAlone.of(left).asked(labels, seed)
    assert ensemble.doubt is not None
    inside = class_sets(ensemble.doubt.p_values, ensemble.opinion, COVERAGE)
    return {
        "accuracy": float(np.mean(ensemble.opinion.argmax(axis=1)[test] == truth[test])),
        "coverage": float(inside[test, truth[test]].mean()),
        "size": float(inside[test].sum(axis=1).mean()),
        "propagation": float(np.mean(feature_propagation(left, labels)[test] == truth[test])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--network", nargs="*", default=list(NETWORKS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    done = RecordFile(given.out, ("network", "what", "share", "seed"))
    for name in [] if given.table else given.network:
        network = read(given.data / f"{name}.npz")
        for seed in range(given.seeds):
            for what in ("attributes", "links"):
                for share in SHARES:
                    if done.get(name, what, share, seed) is None:
                        case = {"network": name, "what": what, "share": share, "seed": seed}
                        done.append(case | one_case(network, what, share, seed))
    print("| network | missing | accuracy | propagation | coverage | size |")
    found = list(done.records().values())
    for name, what, share in dict.fromkeys((r["network"], r["what"], r["share"]) for r in found):
        some = [r for r in found if (r["network"], r["what"], r["share"]) == (name, what, share)]
        keys = ("accuracy", "propagation", "coverage", "size")
        figures = [f"{np.mean([r[key] for r in some]):.3f}" for key in keys]
        print("|", " | ".join([name, f"{share:.1%} of {what}", *figures]), "|")


if __name__ == "__main__":
    main()
