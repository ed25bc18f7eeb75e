"""A small network of every kind of thing, for tests: two labelled types, columns, relations both ways."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.network.items import Items, Labels
from coembed.network.network import Network
from coembed.network.relations import Column, Relation

CITIES = ("Lille", "Oslo", "Rome", "Turin")
WORDS = tuple(f"word{i:02d}" for i in range(20))
GROUPS = ("left", "middle", "right")
GENRES = ("drama", "comedy")


def people_network(people: int = 60, films: int = 40, seed: int = 0) -> Network:
    """People who follow one another and see films; a number, a category, a yes/no and tags with gaps.

    People of a group are alike in all of it. The types are ``person``, ``film`` and the attributes of both;
    the columns of people are ``income``, ``city``, ``member`` and ``likes``, that of films ``plot``.
    """
    rng = np.random.default_rng(seed)
    group, genre = rng.integers(0, 3, people), rng.integers(0, 2, films)
    alike = group[:, None] == group[None]
    follows = (rng.random((people, people)) < np.where(alike, 0.15, 0.02)) & ~np.eye(people, dtype=bool)
    saw = rng.random((people, films)) < np.where(group[:, None] % 2 == genre[None], 0.25, 0.05)
    income = np.exp(9.5 + 0.5 * group + 0.2 * rng.standard_normal(people))
    city = np.where(rng.random(people) < 0.7, group, rng.integers(0, 4, people))
    member = rng.random(people) < np.where(group == 0, 0.9, 0.2)
    likes = rng.random((people, 20)) < np.where(np.arange(20)[None] % 3 == group[:, None], 0.35, 0.05)
    plot = rng.random((films, 8)) < np.where(np.arange(8)[None] % 2 == genre[:, None], 0.4, 0.1)

    columns = {
        "income": Column("income", "number", 0, 1, center=10.0, scale=0.5, log=True, whole=True),
        "city": Column("city", "category", 1, 5),
        "member": Column("member", "yes/no", 5, 6),
        "likes": Column("likes", "tags", 6, 26),
    }
    known = rng.random((3, people)) < 0.8
    entries = {
        "income": _cells(np.zeros(people, int), columns["income"].value(income), known[0], 26),
        "city": _cells(1 + city, np.ones(people), known[1], 26),
        "member": _cells(np.full(people, 5), member.astype(float), known[2], 26),
        "likes": sp.csr_array(np.hstack([np.zeros((people, 6)), likes])),
    }
    ids = ["income", *(f"city={each}" for each in CITIES), "member", *(f"likes={each}" for each in WORDS)]
    titles = ["income", *CITIES, "member", *WORDS]
    types = [
        Items.build(
            "person",
            [f"p{i:03d}" for i in range(people)],
            titles=np.array([f"Person {i // 2}" for i in range(people)], dtype=object),
            labels=Labels.build(np.where(rng.random(people) < 0.5, group, -1), GROUPS, "group"),
        ),
        Items.build(
            "film",
            [f"f{i:03d}" for i in range(films)],
            labels=Labels.build(np.where(rng.random(films) < 0.5, genre, -1), GENRES, "genre"),
        ),
        Items.build("person.columns", ids, titles=np.array(titles, dtype=object)),
        Items.build(
            "film.columns", [f"plot={each}" for each in WORDS[:8]], np.array(WORDS[:8], dtype=object)
        ),
    ]
    cells = {"absent": "unknown"}
    relations = [
        Relation.build("follows", "person", "person", follows, directed=True),
        Relation.build("saw", "person", "film", saw),
        _column("person", columns["income"], entries, likelihood="gaussian", **cells),
        _column("person", columns["city"], entries, likelihood="categorical", **cells),
        _column("person", columns["member"], entries, likelihood="bernoulli", **cells),
        _column("person", columns["likes"], entries),
        Relation.build("plot", "film", "film.columns", plot, column=Column("plot", "text", 0, 8)),
    ]
    return Network.of(types, relations, "people")


def _cells(places: np.ndarray, values: np.ndarray, known: np.ndarray, width: int) -> sp.csr_array:
    indptr = np.concatenate([[0], np.cumsum(known)])
    return sp.csr_array((values[known].astype(np.float32), places[known], indptr), (len(places), width))


def _column(type: str, column: Column, entries: dict[str, sp.csr_array], **how: str) -> Relation:
    return Relation.build(column.name, type, f"{type}.columns", entries[column.name], column=column, **how)
