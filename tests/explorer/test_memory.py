"""A server that is asked all day long keeps no more than one that was asked for a while."""

import gc
import sys
import tracemalloc

import pytest

from coembed.explorer import kept_answers

from .conftest import client_of

ASKED, MOST_KEPT = 120, 100_000
"""Requests of a round, and bytes that a round may leave: 800 a request, which is less than any answer."""


@pytest.mark.skipif(sys.gettrace() is not None, reason="who measures coverage remembers lines, too")
def test_memory_comes_to_rest(explorer, monkeypatch):
    monkeypatch.setattr(kept_answers, "KEPT_CARDS", 8)
    client = client_of(explorer)
    ids = explorer.fitted.network.main.ids

    def ask_a_round(first: int) -> None:
        for id in ids[first : first + ASKED // 4]:
            for question in ("item", "similar", "complete", "nowhere"):
                client.get(f"/api/v1/{question}", params={"id": str(id)})

    ask_a_round(0)  # fills what is worked out once, and the cards that are kept
    tracemalloc.start()
    try:
        ask_a_round(ASKED)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        ask_a_round(2 * ASKED)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < MOST_KEPT
    finally:
        tracemalloc.stop()
