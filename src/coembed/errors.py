"""The one exception for what a user handed over and can put right."""

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 600
"""Characters of a message: a path, a name and what to do about them."""


class InputError(ValueError):
    """Bad input: its message is one sentence that names the place and the remedy.

    The command line prints it and exits with code 2. It is one line that any terminal can print, whatever
    paths and names it holds: they come from strangers.

    Examples
    --------
    >>> print(InputError("two\\nlines"))
    two lines
    """

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class NoSuch(InputError):
    """A name that is none of the known ones."""


def one_line(text: object, longest: int = LONGEST) -> str:
    """A text, or what an exception says, without line ends and of bounded length; both of its ends stay.

    Examples
    --------
    >>> one_line("a\\tb\\r\\n c\\x1b[31m"), one_line(KeyError()), one_line("x" * 9000, 12)
    ('a b c [31m', 'KeyError', 'xxxx ... xxx')
    """
    said = str(text) or type(text).__name__
    half = (longest - 5) // 2
    if len(said) > 4 * longest:  # before anything that takes time or room
        said = said[: 2 * longest] + said[-2 * longest :]
    words = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    words = words.encode("utf-8", "backslashreplace").decode()
    if len(words) <= longest:
        return words
    return f"{words[: longest - 5 - half]} ... {words[-half:]}"


MOST_NAMED = 20
"""Of names that are known: more of them nobody reads."""


def no_such(kind: str, name: object, known: Iterable[str], listed: Iterable[str] | None = None) -> NoSuch:
    """What to raise for a name that is none of the known ones: the nearest, or else all that are listed.

    Examples
    --------
    >>> print(no_such("setting", "alfa", ["alpha", "beta"]))
    there is no setting 'alfa'; did you mean 'alpha'?
    >>> print(no_such("preset", "fast", ["best", "paper"]))
    there is no preset 'fast'; known: best, paper
    """
    names = list(known)
    shown = names if listed is None else list(listed)
    near = get_close_matches(str(name), shown, n=2) or get_close_matches(str(name), names, n=2)
    every = ", ".join(shown[:MOST_NAMED]) + f" and {len(shown) - MOST_NAMED} more" * (len(shown) > MOST_NAMED)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {every}"
    return NoSuch(f"there is no {kind} {str(name)[:80]!r}; {hint}")
