"""What is said when a request is refused: one sentence, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

LISTED = "the addresses are listed at /api/openapi.json"

_SENTENCES = {
    # by the validator's name of the problem; {0} is the field, the rest is what the validator tells
    "missing": "{0} is missing from the body",
    "greater_than_equal": "{0} must be at least {ge}, got {got}",
    "less_than_equal": "{0} must be at most {le}, got {got}",
    "too_short": "{0} must hold at least {min_length}, got {actual_length}",
    "too_long": "{0} must hold at most {max_length}, got {actual_length}",
    "string_too_long": "{0} must have at most {max_length} characters",
    "string_type": "{0} must be a text, got {got}",
    "int_type": "{0} must be a whole number, got {got}",
    "int_parsing": "{0} must be a whole number, got {got}",
    "int_from_float": "{0} must be a whole number, got {got}",
    "float_type": "{0} must be a number, got {got}",
    "float_parsing": "{0} must be a number, got {got}",
    "finite_number": "{0} must be a finite number",
    "list_type": "{0} must be a list, got {got}",
    "dict_type": "{0} must be an object, got {got}",
    "literal_error": "{0} must be {expected}, got {got}",
    "extra_forbidden": "there is no field {0}; the fields are described at /api/openapi.json",
    "json_invalid": "the body is not JSON",
    "model_attributes_type": "{0} must be a JSON object, sent with Content-Type: application/json",
}


def invalid(problems: Sequence[Any]) -> str:
    """What is wrong with a question, of all that the validator found the first.

    Examples
    --------
    >>> invalid([{"type": "greater_than_equal", "loc": ("query", "k"), "input": "0", "ctx": {"ge": 1}}])
    "k must be at least 1, got '0'"
    """
    cells = [each for each in problems if each["type"] == "bool_type" and each["loc"][-1] == "bool"]
    if cells and problems[0]["type"] == "string_type":  # no way to read a cell was right
        field = ".".join(map(str, cells[0]["loc"][1:-1]))[:80]
        return f"{field} must be a number, a text, yes or no, or a list of texts, got {_shown(cells[0])}"
    problem, at = _clearest([(each, _place(each)) for each in problems])
    field = ".".join(str(part) for part in at if not str(part).startswith("constrained-"))[:80] or "the body"
    names = problem["type"] in ("list_type", "dict_type") and (
        at[-1:] in (("attributes",), ("links",)) or at[-2:-1] == ("relations",)
    )
    if names and len(problems) > 1:
        return f"{field} must be a list of names, or an object of names with values"
    if problem["type"] == "missing" and (problem["loc"][0] == "query" or not at):
        return f"{field} is missing; " + (f"ask with ?{field}=..." if at else "send a JSON object")
    said = _SENTENCES.get(problem["type"])
    if said is None:
        return f"{field}: {problem['msg'][:200]}"
    return said.format(field, **problem.get("ctx", {}) | {"got": _shown(problem)})


def not_found(path: str, known: Iterable[str]) -> str:
    """There is nothing at an address.

    Examples
    --------
    >>> not_found("/api/nod", ["/api/node", "/api/map"])
    'there is nothing at /api/nod; did you mean /api/node?'
    """
    near = get_close_matches(path[:80], list(known), n=1)
    return f"there is nothing at {path[:80]}; {f'did you mean {near[0]}?' if near else LISTED}"


def _shown(problem: Any) -> str:
    got = repr(problem.get("input"))
    return got if len(got) <= 60 else f"{got[:60]}..."


def _clearest(found: list[tuple[Any, tuple[Any, ...]]]) -> tuple[Any, tuple[Any, ...]]:
    """The first problem; of the ways to read a field that all failed, the one that got furthest."""
    first = found[0][1]
    return max((each for each in found if each[1][: len(first)] == first), key=lambda each: len(each[1]))


def _place(problem: Any) -> tuple[Any, ...]:
    """Where it is, without the part of the request and without the ways in which a field was read."""
    if problem["type"] == "json_invalid":
        return ()
    return tuple(part for part in problem["loc"][1:] if "[" not in str(part))
