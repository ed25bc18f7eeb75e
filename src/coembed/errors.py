"""The one exception for what a user handed over and can put right."""

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """Bad input: its message is one sentence that names the place and the remedy.

    The command line prints it and exits with code 2.
    """


def no_such(kind: str, name: object, known: Iterable[str], listed: Iterable[str] | None = None) -> InputError:
    """What to raise for a name that is none of the known ones: the nearest, or else all that are listed.

    Examples
    --------
    >>> print(no_such("setting", "alfa", ["alpha", "beta"]))
    there is no setting 'alfa'; did you mean 'alpha'?
    >>> print(no_such("preset", "fast", ["best", "paper"]))
    there is no preset 'fast'; known: best, paper
    """
    names = list(known)
    near = get_close_matches(str(name), names, n=2)
    every = ", ".join(names if listed is None else listed)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {every}"
    return InputError(f"there is no {kind} {str(name)[:80]!r}; {hint}")
