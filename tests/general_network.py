"""A small network of several types that has everything: two labelled types, columns of all kinds, gaps."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from coembed.network import Column, Items, Labels, Network, Relation

PEOPLE, FILMS = 120, 60


def general_network(seed: int = 0) -> Network:
    """People who know and follow one another and see films; both have classes, which all columns hint at.

    The last person has no relations, no tags and no known cells.
    """
    rng = np.random.default_rng(seed)
    job, genre = rng.integers(3, size=PEOPLE), rng.integers(2, size=FILMS)
    tags = rng.random((PEOPLE, 30)) < np.where(job[:, None] == np.arange(30) % 3, 0.3, 0.05)
    words = rng.poisson(np.where(genre[:, None] == np.arange(20) % 2, 0.8, 0.1))
    income = job - 1 + 0.5 * rng.standard_normal(PEOPLE)
    town = np.where(rng.random(PEOPLE) < 0.7, job, rng.integers(4, size=PEOPLE))
    member = (rng.random(PEOPLE) < np.where(job == 1, 0.9, 0.1)).astype(float)
    known = rng.random((3, PEOPLE)) < 0.85
    same = job[:, None] == job
    knows = rng.random((PEOPLE, PEOPLE)) < np.where(same, 0.15, 0.01)
    # who earns less follows who earns more, mostly
    upwards = income[:, None] < income
    follows = rng.random((PEOPLE, PEOPLE)) < np.where(upwards & same, 0.12, 0.005)
    saw = rng.random((PEOPLE, FILMS)) < np.where(job[:, None] % 2 == genre, 0.15, 0.03)
    tags[-1], known[:, -1], saw[-1] = False, False, False
    for square in (knows, follows):
        square[-1], square[:, -1] = False, False

    types = [
        Items.build("person", PEOPLE, labels=Labels.build(job, ["cook", "pilot", "judge"], "job")),
        Items.build("film", FILMS, labels=Labels.build(genre, ["drama", "comedy"], "genre")),
        Items.build("person attributes", 36),
        Items.build("film attributes", 21),
    ]
    length = rng.standard_normal(FILMS) + genre
    relations = [
        _column("hobbies", "tags", tags.astype(float), 0, 36),
        _cells("income", "number", income, known[0], 30, 31),
        _cells("town", "category", town, known[1], 31, 35),
        _cells("member", "yes/no", member, known[2], 35, 36),
        Relation.build("knows", "person", "person", knows | knows.T),
        Relation.build("follows", "person", "person", follows, directed=True),
        Relation.build("saw", "person", "film", saw),
        Relation.build(
            "plot",
            "film",
            "film attributes",
            sp.hstack([sp.csr_array(words.astype(float)), sp.csr_array((FILMS, 1))]),
            column=Column("plot", "text", 0, 20),
        ),
        Relation.build(
            "length",
            "film",
            "film attributes",
            sp.csr_array((length, (np.arange(FILMS), np.full(FILMS, 20))), shape=(FILMS, 21)),
            absent="unknown",
            column=Column("length", "number", 20, 21),
        ),
    ]
    return Network.of(types, relations, "people and films")


def _column(name: str, kind: str, values: np.ndarray, start: int, width: int) -> Relation:
    wide = np.zeros((PEOPLE, width))
    wide[:, start : start + values.shape[1]] = values
    column = Column(name, kind, start, start + values.shape[1])  # type: ignore[arg-type]
    return Relation.build(name, "person", "person attributes", wide, column=column)


def _cells(name: str, kind: str, cells: np.ndarray, known: np.ndarray, start: int, stop: int) -> Relation:
    rows = np.flatnonzero(known)
    category = kind == "category"
    values = np.ones(len(rows)) if category else cells[rows]
    places = start + cells[rows] if category else np.full(len(rows), start)
    matrix = sp.csr_array((values, (rows, places.astype(np.int64))), shape=(PEOPLE, 36))
    column = Column(name, kind, start, stop)  # type: ignore[arg-type]
    return Relation.build(name, "person", "person attributes", matrix, absent="unknown", column=column)
