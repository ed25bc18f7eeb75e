"""Customers of `coembed.network.synthetic_customers` by plain means: what a model must beat.

OMP_NUM_THREADS=1 python benchmarks/customers.py [SEEDS] [--model]

With 10 % of the segments of 2,000 customers seen, means and deviations over ten generator seeds:

==================================================  ===========
own columns                                         .715 ± .014
own columns and means over friends                  .904 ± .009
the same, boosted trees                             .870 ± .014
the same, columns together and spread segments      .960 ± .006
half of all customers, segments of all friends      .993 ± .003
the default, from the tables as they come           .983 ± .005
==================================================  ===========

All but the third and the last are logistic regression. The fourth is told what columns say only together (the
product of age and income, the newsletter of those above 45) and the seen segments, spread over friends; the
fifth knows the segments of all friends and learns from half of all customers: no fair rival, but what there
is to know. The last is trained only with `--model`, the same segments seen.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from coembed.network.synthetic_customers import customer_tables, make_customers
from coembed.settings import preset_settings
from coembed.training import fit

SEEN = 0.1
AGE, INCOME, NEWSLETTER = 0, 2, 6  # columns of the features


def features(customers: pa.Table) -> np.ndarray:
    """Standardised numbers with a mark for what is missing, one-hot cities, marks for tags."""
    start = np.datetime64("2014-01-01")
    days = [
        str((np.datetime64(day) - start).astype(int)) if day else "" for day in texts(customers, "joined")
    ]
    columns = [
        *number(texts(customers, "age")),
        *number([str(np.log(float(cell))) if cell else "" for cell in texts(customers, "income")]),
        *number(days),
        *number([{"yes": "1", "no": "0", "": ""}[cell] for cell in texts(customers, "newsletter")]),
        *marks([[cell] for cell in texts(customers, "city")]),
        *marks([cell.split(";") for cell in texts(customers, "tags")]),
    ]
    return np.stack(columns, axis=1)


def texts(table: pa.Table, name: str) -> list[str]:
    found: list[str] = table.column(name).to_pylist()
    return found


def number(cells: list[str]) -> list[np.ndarray]:
    values = np.array([float(cell) if cell else np.nan for cell in cells])
    missing = np.isnan(values)
    return [np.where(missing, 0, (values - np.nanmean(values)) / np.nanstd(values)), missing.astype(float)]


def marks(cells: list[list[str]]) -> list[np.ndarray]:
    known = sorted({word for cell in cells for word in cell if word})
    return [np.array([word in cell for cell in cells], dtype=float) for word in known]


def mean_over_friends(customers: pa.Table, friends: pa.Table) -> sp.csr_array:
    place = {name: i for i, name in enumerate(texts(customers, "id"))}
    one, other = ([place[name] for name in texts(friends, end)] for end in ("customer", "friend"))
    links = sp.csr_array((np.ones(len(one)), (one, other)), shape=(len(place), len(place)))
    links = links + links.T
    return sp.diags_array(1 / np.maximum(links.sum(axis=1), 1)) @ links


def spread(known: np.ndarray, seen: np.ndarray, means: sp.csr_array) -> np.ndarray:
    """Seen segments handed from friend to friend."""
    found = known.copy()
    for _ in range(10):
        found = 0.9 * (means @ found)
        found[seen] = known[seen]
    return found


def of_the_model(seed: int, hidden: np.ndarray) -> float:
    """Accuracy of the default, which reads the tables as anybody's."""
    network = make_customers(2000, seed)
    given = network.labels.copy()
    given[hidden] = -1
    fitted = fit(network.with_labels(given), preset_settings("best", seed=seed))
    return float((fitted.predict_proba().argmax(axis=1) == network.labels)[hidden].mean())


def figures(seed: int, model: bool) -> dict[str, float]:
    """Accuracy on the customers whose segments are hidden."""
    customers, friends = customer_tables(2000, seed)
    segments = np.array(texts(customers, "segment"))
    own, means = features(customers), mean_over_friends(customers, friends)
    both = np.hstack([own, means @ own])
    everybody = np.arange(len(own))
    seen, hidden = train_test_split(everybody, train_size=SEEN, stratify=segments, random_state=seed)
    half, rest = train_test_split(everybody, train_size=0.5, stratify=segments, random_state=seed)
    truth = (segments[:, None] == np.unique(segments)).astype(float)
    handed = spread(np.where(np.isin(everybody, seen)[:, None], truth, 0), seen, means)
    together = np.stack([own[:, AGE] * own[:, INCOME], own[:, NEWSLETTER] * (own[:, AGE] > 0)], axis=1)
    linear = LogisticRegression(max_iter=2000)
    trees = HistGradientBoostingClassifier(max_iter=100, min_samples_leaf=5)

    def accuracy(x, model=linear, train=seen, test=hidden):
        return float((model.fit(x[train], segments[train]).predict(x[test]) == segments[test]).mean())

    found = {"the default": of_the_model(seed, hidden)} if model else {}
    return found | {
        "own columns": accuracy(own),
        "own columns and means over friends": accuracy(both),
        "the same, boosted trees": accuracy(both, trees),
        "the same, columns together and spread segments": accuracy(np.hstack([both, together, 3 * handed])),
        "half of all customers, segments of all friends": accuracy(
            np.hstack([own, together, means @ truth]), linear, half, rest
        ),
    }


def main() -> None:
    counts = [int(each) for each in sys.argv[1:] if each != "--model"] or [10]
    found = [figures(seed, "--model" in sys.argv) for seed in range(counts[0])]
    for name in found[0]:
        values = np.array([each[name] for each in found])
        print(f"{name:50} {values.mean():.3f} ± {values.std():.3f}")


if __name__ == "__main__":
    main()
