"""What several seeds say together: mean, spread, and whether a difference is more than luck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

LEVEL = 0.05
FEWEST_PAIRS = 3
"""Common seeds below which no test is made."""

BySeed = Mapping[int, float]


class Mean(NamedTuple):
    """Mean and standard deviation (of a sample) over so many seeds."""

    mean: float
    std: float
    seeds: int


def mean_of(values: BySeed) -> Mean | None:
    """Mean over seeds; None without any.

    Examples
    --------
    >>> mean_of({0: 0.75, 1: 1.0, 2: 1.25})
    Mean(mean=1.0, std=0.25, seeds=3)
    """
    if not values:
        return None
    numbers = np.array(list(values.values()))
    spread = float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0
    return Mean(float(numbers.mean()), spread, len(numbers))


def paired_test(ours: BySeed, theirs: BySeed) -> float | None:
    """p of the two-sided paired t-test over the seeds that both have; None if they are too few.

    Examples
    --------
    >>> paired_test({0: 0.90, 1: 0.92, 2: 0.91}, {0: 0.80, 1: 0.83, 2: 0.80}) < 0.01
    True
    >>> paired_test({0: 0.9}, {0: 0.8}) is None
    True
    """
    from scipy.stats import ttest_rel

    seeds = sorted(set(ours) & set(theirs))
    if len(seeds) < FEWEST_PAIRS:
        return None
    differences = np.array([ours[seed] - theirs[seed] for seed in seeds])
    if np.ptp(differences) < 1e-12:
        # the same difference every time: certain, or nothing at all
        return 0.0 if abs(differences[0]) > 1e-12 else 1.0
    return float(ttest_rel([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds]).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """p values corrected for their number by Holm's steps, in the order given.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for step, place in enumerate(order):
        highest = max(highest, (len(p_values) - step) * p_values[place])
        corrected[place] = min(1.0, round(highest, 12))
    return corrected


def better_than_all(ours: BySeed, others: Sequence[BySeed]) -> bool:
    """Whether ours is above every other, each time beyond luck (p < .05 after Holm's correction)."""
    rivals = [values for values in others if values]
    if not rivals or not ours:
        return False
    p_values = [paired_test(ours, values) for values in rivals]
    known = [p for p in p_values if p is not None]
    if len(known) < len(rivals) or any(mean_gain(ours, values) <= 0 for values in rivals):
        return False
    return all(p < LEVEL for p in holm(known))


def mean_gain(ours: BySeed, theirs: BySeed) -> float:
    """Ours minus theirs, a mean over the seeds that both have."""
    seeds = set(ours) & set(theirs)
    return sum(ours[seed] - theirs[seed] for seed in seeds) / max(1, len(seeds))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """Exponent of growth: slope of the least-squares line through the logarithms.

    Examples
    --------
    >>> round(slope([1, 10, 100], [2, 20, 200]), 6)
    1.0
    """
    return float(np.polyfit([math.log(v) for v in x], [math.log(v) for v in y], 1)[0])
