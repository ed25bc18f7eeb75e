"""Names are found by their beginning, their parts and in spite of spelling mistakes, quickly."""

from __future__ import annotations

import time

import numpy as np
import pytest

from coembed.fitted.name_search import NameIndex
from coembed.network import demo_network


@pytest.fixture(scope="module")
def words() -> list[str]:
    network = demo_network()
    return [*network.node_names, *network.attribute_names]


@pytest.fixture(scope="module")
def index(words) -> NameIndex:
    return NameIndex(words, np.ones(len(words)))


def best(index: NameIndex, words: list[str], query: str, most: int = 3) -> list[str]:
    return [words[hit.position] for hit in index.find(query, most)]


def test_every_name_finds_itself_first(index, words):
    for name in words[::29]:
        found = best(index, words, name)
        assert found[0].casefold() == name.casefold()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("denmrk", "Denmark.n.01"),
        ("Denmrak", "Denmark.n.01"),
        ("new zeland", "New Zealand.n.01"),
        ("batery", "battery"),
        ("atlnatic", "atlantic"),
        ("united sta", "United States.n.01"),
        ("STATES united", "United States.n.01"),
        ("hilipp", "Philippines.n.02"),
    ],
)
def test_spelling_mistakes_and_parts_are_understood(index, words, typed, meant):
    found = best(index, words, typed)
    assert meant in found or any(name.split(".")[0] == meant.split(".")[0] for name in found)


def test_one_wrong_letter_rarely_hides_a_name(index, words):
    rng = np.random.default_rng(0)
    long = [name for name in words if len(name.split(".")[0]) >= 6]
    found = 0
    asked = rng.choice(long, 150, replace=False)
    for name in asked:
        stem = name.split(".")[0]
        at = int(rng.integers(1, len(stem) - 1))
        broken = rng.choice([stem[:at] + stem[at + 1 :], stem[:at] + "q" + stem[at + 1 :]])
        found += any(
            hit.split(".")[0].casefold() == stem.casefold() for hit in best(index, words, broken, 10)
        )
    assert found >= 0.93 * len(asked)


def test_better_fits_come_first_then_heavier_names():
    index = NameIndex(["fishing", "fish", "starfish", "big fish", "fisher"], weights=[1, 1, 1, 1, 9])
    assert [hit.position for hit in index.find("fish")] == [1, 4, 0, 3, 2]


def test_accents_case_and_other_scripts():
    index = NameIndex(["Île-de-France", "東京都", "🐟 and 🐠", "straße", "ОМСК"], weights=np.ones(5))
    for query, position in (("ile de", 0), ("京", 1), ("🐠", 2), ("STRASSE", 3), ("омск", 4)):
        assert index.find(query)[0].position == position


def test_odd_queries_and_names_do_no_harm(index):
    for query in ("", "   ", "\x00", "\n", "(((", "x" * 100_000, "\udcff", "%' OR 1=1"):
        assert isinstance(index.find(query), list)
    strange = NameIndex(["", "\n\n", "a\nb", "\udcff", "..."], weights=np.ones(5))
    assert strange.find("a b")[0].position == 2
    assert strange.find("...")[0].position == 4
    assert NameIndex([], []).find("a") == []


def test_pages_follow_one_another(index):
    whole = index.find("a", 30)
    assert [index.find("a", 10, offset=o) for o in (0, 10, 20)] == [whole[:10], whole[10:20], whole[20:]]


@pytest.mark.slow
def test_a_hundred_thousand_names_answer_at_once():
    rng = np.random.default_rng(0)
    parts = np.array(["ka", "lo", "mi", "ren", "sta", "tor", "un", "vel", "zan", "dri", "phi", "qua"])
    names = ["".join(rng.choice(parts, 4)) + f" {i}" for i in range(110_000)]
    index = NameIndex(names, rng.integers(1, 100, len(names)))
    seconds = []
    for query in (*(name[: 3 + i % 6] for i, name in enumerate(names[:: 110_000 // 60])), "kalorenstx", "s"):
        start = time.perf_counter()
        index.find(query)
        seconds.append(time.perf_counter() - start)
    assert np.median(seconds) < 0.03
