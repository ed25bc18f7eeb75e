"""Made-up customers: a table as people bring it, with friends and segments, and with gaps.

A segment is two hidden halves, u and v. Half u shows in age and income together, and in neither alone: the
young with little and the old with much are one half, the others the other. Half v shows in the city, in the
years of joining, and, of those above 45 only, in the newsletter. Tags are partly of the segment, words of the
remarks too, but rarely; most friends are of one's own segment. So what is added up column by column misses
what columns say together, and what friends have misses what friends are.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from coembed.errors import InputError
from coembed.files import replacing_folder
from coembed.network.network import Network

SEGMENTS = ("saver", "starter", "enjoyer", "planner")
CITIES = ("Lille", "Oslo", "Turin", "Porto", "Ghent", "Graz", "Malmö", "Split")
# fmt: off
TAGS = (
    "gaming", "hiking", "cooking", "chess", "theatre", "football", "gardening", "travel", "music", "reading",
    "cycling", "painting", "sailing", "yoga", "history", "cinema", "running", "pottery", "birds", "wine",
    "coding", "dancing", "fishing", "photography",
)
WORDS = (
    "parcel", "arrived", "late", "early", "friendly", "service", "colour", "wrong", "size",
    "returned", "exchange", "gift", "voucher", "asked", "delivery", "address", "called", "waiting",
    "happy", "quality", "price", "again", "weekend", "evening", "invoice", "catalogue", "shop",
    "member", "order", "paid",
)
# fmt: on
FILES = ("customers.csv", "friends.csv")

# Tuned until logistic regression on columns and on means over friends has .90: benchmarks/customers.py
_TAG_SHARE = 0.57  # of the tags are of the own segment, the others are anything
_WORD_SHARE = 0.1
_NUMBER_NOISE = 0.45  # of age and income, in units of half the distance of their two groups
_CITY_SHARE = 0.45
_FRIEND_SHARE = 0.7  # of the friends are drawn from the own segment
_FRIENDS = 8.0
_GAPS = 0.08


def make_customers(n: int = 2000, seed: int = 0) -> Network:
    """Customers and their friends as a network, with all segments known; same seed, same network.

    Examples
    --------
    >>> customers = make_customers(200)
    >>> len(customers.main), list(customers.class_names)
    (200, ['enjoyer', 'planner', 'saver', 'starter'])
    """
    from coembed.network.readers.read import read

    with TemporaryDirectory() as place:
        write_customers(Path(place) / "customers", n, seed)
        return read(Path(place) / "customers", labels=["segment"])


def write_customers(folder: str | Path, n: int = 2000, seed: int = 0) -> None:
    """The same as tables: ``customers.csv`` and ``friends.csv``."""
    tables = customer_tables(n, seed)
    with replacing_folder(Path(folder), frozenset(FILES)) as sibling:
        for file, table in zip(FILES, tables, strict=True):
            pa_csv.write_csv(table, sibling / file, pa_csv.WriteOptions(quoting_style="none"))


def customer_tables(n: int = 2000, seed: int = 0) -> tuple[pa.Table, pa.Table]:
    """Customers (id, columns, segment) and friends (customer, friend), each pair both ways."""
    if n < 8:
        raise InputError(f"{n} customers are too few to have friends; make at least 8")
    rng = np.random.default_rng(seed)
    segment = rng.integers(4, size=n)
    u, v = segment % 2, segment // 2
    age, income = _age_and_income(u, rng)
    cells = {
        "age": age.astype(str),
        "income": income.astype(str),
        "city": _cities(v, rng),
        "tags": _lists(segment, TAGS, _TAG_SHARE, 3.0, ";", rng),
        "joined": _joined(v, rng),
        "newsletter": _newsletter(v, age, rng),
        "remarks": _lists(segment, WORDS, _WORD_SHARE, 7.0, " ", rng),
    }
    ids = np.array([f"c{i:0{len(str(n - 1))}d}" for i in range(n)])
    gaps = rng.random((len(cells), n)) < _GAPS
    filled = {name: np.where(gap, "", cell) for (name, cell), gap in zip(cells.items(), gaps, strict=True)}
    customers = pa.table({"id": ids, **filled, "segment": np.array(SEGMENTS)[segment]})
    pairs = _friends(segment, rng)
    return customers, pa.table({"customer": ids[pairs[:, 0]], "friend": ids[pairs[:, 1]]})


def _age_and_income(u: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two groups of each, which one alone says nothing; whether they agree is u."""
    side = rng.choice([-1, 1], size=len(u))
    old = side + rng.normal(0, _NUMBER_NOISE, len(u))
    rich = side * (2 * u - 1) + rng.normal(0, _NUMBER_NOISE, len(u))
    age = np.clip(np.rint(45 + 13 * old), 18, 95).astype(int)
    return age, np.rint(np.exp(10.3 + 0.5 * rich) / 10).astype(int) * 10


def _cities(v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    half = len(CITIES) // 2
    own = rng.random(len(v)) < _CITY_SHARE
    place = np.where(own, half * v + rng.integers(half, size=len(v)), rng.integers(len(CITIES), size=len(v)))
    return np.array(CITIES)[place]


def _joined(v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    days = rng.integers(0, 3000, len(v)) + 500 * v
    return (np.datetime64("2014-01-01") + days).astype(str)


def _newsletter(v: np.ndarray, age: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    wants = np.where(age > 45, np.where(v == 1, 0.85, 0.15), 0.5)
    return np.where(rng.random(len(v)) < wants, "yes", "no")


def _lists(
    segment: np.ndarray,
    words: tuple[str, ...],
    share: float,
    mean: float,
    between: str,
    rng: np.random.Generator,
) -> np.ndarray:
    """Some of the words each, a share of them of the segment's own; each word once."""
    per_segment = len(words) // 4
    found = np.empty(len(segment), dtype=object)
    for i, (k, count) in enumerate(zip(segment, 1 + rng.poisson(mean - 1, len(segment)), strict=True)):
        own = rng.random(count) < share
        places = rng.integers(len(words), size=count)
        places[own] = per_segment * k + places[own] % per_segment
        found[i] = between.join(words[place] for place in dict.fromkeys(places.tolist()))
    return found.astype(str)


def _friends(segment: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n = len(segment)
    count = int(_FRIENDS * n / 2)
    one = rng.integers(n, size=count)
    other = rng.integers(n, size=count)
    members = [np.flatnonzero(segment == k) for k in range(4)]
    for i in np.flatnonzero(rng.random(count) < _FRIEND_SHARE):
        other[i] = rng.choice(members[segment[one[i]]])
    pairs = np.stack([np.concatenate([one, other]), np.concatenate([other, one])], axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
