"""Changed files of every format: what comes of them is whole, or refused in one sentence; nothing else."""

import pytest
from fuzzing import CORPUS, READERS
from guarded import Guarded

FAST, SLOW, BATCH = 1_000, 20_000, 1_000
FEWER = {"streaming": 40, "tables": 60, "checkpoint": 80, "model": 100, "items": 120, "schema": 150}
FEWER |= {"mapped-types": 300, "mapped-arrays": 300, "graphml": 300, "gexf": 300, "gml": 500}
"""Of those that take long, as many as two seconds of a processor are enough for."""


@pytest.fixture(scope="module")
def child():
    """One for all readers, as long as it lives."""
    with Guarded("fuzzing.try_case") as guarded:
        yield guarded


def finds(guarded: Guarded, reader: str, first: int, last: int) -> list[str]:
    tried = ((number, guarded(f"{reader}#{number}")) for number in range(first, last))
    return [f"{n}: {said}" for n, said in tried if not said.startswith(("read: ", "refused: "))]


@pytest.mark.parametrize("reader", READERS)
def test_what_is_not_changed_is_read(child, reader):
    assert child(f"{reader}#as it is").startswith("read: ")


@pytest.mark.parametrize("reader", READERS)
def test_what_is_changed_is_read_whole_or_refused(child, reader):
    assert not finds(child, reader, 0, FEWER.get(reader, FAST))


@pytest.mark.parametrize("reader", [each for each in READERS if (CORPUS / each).is_dir()])
def test_a_pipe_or_a_device_in_the_place_of_a_file_is_not_waited_for(reader):
    files = [each for each in (CORPUS / reader).rglob("*") if each.is_file()]
    with Guarded("fuzzing.try_strange", seconds=20) as guarded:
        for file in files[:6]:
            for strange in ("pipe", "device"):
                said = guarded(f"{reader}#{file.relative_to(CORPUS / reader)}#{strange}")
                assert said.startswith(("read: ", "refused: ")), (file.name, said)


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_twenty_thousand_changed_files(reader):
    for first in range(0, SLOW, BATCH):
        with Guarded("fuzzing.try_case") as guarded:
            assert not finds(guarded, reader, first, first + BATCH)


def test_a_child_that_dies_hangs_or_raises_is_told():
    with Guarded("guarded.misbehave", seconds=3) as guarded:
        assert guarded("die") == "died of signal 11"
        assert guarded("hang") == "hung for 3 seconds"
        assert guarded("raise") == "raised KeyError: 'x'"
        assert guarded("fill").startswith("raised MemoryError")
        assert guarded("break the line").startswith("read: ")
        assert guarded("refuse") == "refused: no, never"
