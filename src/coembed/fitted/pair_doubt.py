"""Lists of proposals of which no more than a share is wrong: pairs compared with pairs that are not there.

The score of a pair has a p-value: the share of absent pairs with one as large. Benjamini and Hochberg's rule
says from which p-value on a list of all pairs is wrong in at most a share, in expectation. Right is what was
hidden from the fit, so the promise is about as many missing pairs as were hidden: the prevalence says that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coembed.fitted.conformal import check_share

MOST_TAIL = 5000
"""Scores of absent pairs that are kept, the largest: lists end long before."""


@dataclass(frozen=True, eq=False)
class PairDoubt:
    """How pairs that were hidden from the fit, and pairs that are not there, are scored.

    Attributes
    ----------
    present
        Scores of hidden pairs, in ascending order.
    absent
        The largest scores of absent pairs, in ascending order; `n_absent` is how many were looked at.
    prevalence
        The share of hidden pairs among all that the fit was not shown.
    """

    present: np.ndarray
    absent: np.ndarray
    n_absent: int
    prevalence: float

    @classmethod
    def of(cls, present: np.ndarray, absent: np.ndarray, prevalence: float) -> PairDoubt:
        tail = np.sort(np.asarray(absent, np.float32))[-MOST_TAIL:]
        return cls(np.sort(np.asarray(present, np.float32)), tail, len(absent), float(prevalence))

    def found(self, score: float) -> float:
        """The share of hidden pairs that are scored as high."""
        return 1 - float(np.searchsorted(self.present, score)) / max(len(self.present), 1)

    def least_score(self, fdr: float) -> float:
        """The score from which on a pair is listed, so that at most this share is wrong; infinity if none is.

        Examples
        --------
        >>> doubt = PairDoubt.of(np.array([0.2, 0.8, 0.9]), np.linspace(0, 0.5, 9999), prevalence=0.01)
        >>> round(doubt.least_score(0.1), 2), doubt.least_score(0.001)
        (0.8, inf)
        """
        scores, wrong = self._wrong()
        allowed = scores[wrong <= check_share("fdr", fdr)]
        return float(allowed[0]) if len(allowed) else float("inf")

    def _wrong(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores of hidden pairs, and what share of a list that begins there is wrong at most."""
        scores = self.present[self.present >= (self.absent[0] if len(self.absent) else -np.inf)]
        above = len(self.absent) - np.searchsorted(self.absent, scores)
        rank = len(self.present) - np.searchsorted(self.present, scores)
        p_value = (1 + above) / (1 + self.n_absent)
        # of all pairs, the share that is listed from each score on
        listed = self.prevalence * rank / max(len(self.present), 1)
        listed = listed + (1 - self.prevalence) * above / max(self.n_absent, 1)
        return scores, p_value / np.maximum(listed, 1e-300)

    def in_words(self, fdr: float) -> str:
        """What is promised, and of what."""
        least = self.least_score(fdr)
        rare = f"one in {round(1 / max(self.prevalence, 1e-12)):,} of the pairs that are not known is true"
        measured = f"as when it was measured on {len(self.present):,} hidden pairs"
        if not np.isfinite(least):
            best = min(float(self._wrong()[1].min(initial=1.0)), 1.0)
            return (
                f"no list is wrong in at most {fdr:.0%} if {rare}, {measured}: of the surest, "
                f"{best:.0%} may be"
            )
        return (
            f"at most {fdr:.0%} of what is listed is wrong, in expectation over all lists, if {rare}, "
            f"{measured} ({self.found(least):.0%} of them are listed)"
        )
