"""How pairs are scored that were kept aside, and pairs that are not there: what makes chances of scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from coembed.fitted import Fitted
from coembed.fitted.chances import prevalence
from coembed.fitted.pair_doubt import PairDoubt
from coembed.network.relations import Relation
from coembed.training.holdout import Holdout
from coembed.training.pair_shifts import shift_to

LOOKED_AT = 2_000_000
"""Absent pairs: one pair in ten thousand may be there, and one in ten of a list wrong."""
AT_ONCE = 4_000_000


def with_pair_doubt(fitted: Fitted, holdout: Holdout) -> Fitted:
    """The result with what makes its scores probabilities, and what its lists are judged by.

    Of every relation of which pairs were kept aside. Pairs that are not there are scored once by each kind of
    score, as many as there are: of rare pairs, those kept aside stand beside too few absent ones.
    """
    fits = dict(fitted.relations)
    for name, (present, _) in holdout.pairs.items():
        relation, fit = fitted.network.relation(name), fits[name]
        share = prevalence(relation)
        weighed = {"likely", "codes"} & fit.blends.keys() if 0 < share < 1 else set()
        answering = "codes" if fit.by_codes else "likely"
        shifts, doubt = {}, fit.doubt
        for kind in sorted(weighed | ({answering} if not fit.kind.scaled else set())):
            as_kind = replace(fit, by_codes=kind == "codes")
            asked = replace(fitted, relations={**fitted.relations, name: as_kind})
            there = asked.score(name, present)
            absent, hidden = absent_scores(asked, relation, present)
            if kind in weighed:
                shifts[kind] = shift_to(share, there, absent)
            if kind == answering and not fit.kind.scaled:
                doubt = PairDoubt.of(there, absent, hidden)
        fits[name] = replace(fit, shifts=shifts, doubt=doubt)
    return replace(fitted, relations=fits)


def absent_scores(fitted: Fitted, relation: Relation, present: np.ndarray) -> tuple[np.ndarray, float]:
    """Scores of absent pairs of some items, and the share of hidden ones among all that were not shown."""
    span = fitted.span(relation)
    count, width = relation.values.shape[0], len(span)
    ends = np.concatenate([present, present[:, ::-1]]) if relation.pairing.undirected else present
    hidden = sp.csr_array((np.ones(len(ends), np.float32), ends.T), shape=relation.values.shape)
    out = sp.csr_array(abs(relation.values) + hidden)
    own = count if relation.pairing.same else 0
    shown = out[:, span[0] : span[0] + width].nnz - len(ends) if width else 0
    hidden_share = len(ends) / max(count * width - own - shown, 1)
    rng = np.random.default_rng(int(fitted.settings.get("seed", 0)))
    rows = np.sort(rng.permutation(count)[: max(LOOKED_AT // max(width, 1), 1)])
    found = []
    for part in np.array_split(rows, max(len(rows) * width // AT_ONCE, 1)):
        scores = fitted.score_rows(part, relation.name)
        held = sp.csr_array(out[part])
        here = np.repeat(np.arange(len(part)), np.diff(held.indptr))
        there = held.indices - span[0]
        inside = (there >= 0) & (there < width)
        keep = np.ones(scores.shape, dtype=bool)
        keep[here[inside], there[inside]] = False
        if own:
            keep[np.arange(len(part)), part] = False
        found.append(scores[keep])
    return np.concatenate(found), hidden_share
