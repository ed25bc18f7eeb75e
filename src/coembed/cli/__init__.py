"""The command line: one module a theme, no mathematics."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import suppress

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input ends with one sentence on standard error and exit code 2."""
    from coembed.cli.app import app
    from coembed.cli.console import say
    from coembed.cli.standard_input import in_words
    from coembed.errors import InputError, one_line

    # torch says once a process that its sparse matrices are young; nobody at a command line can act on that
    warnings.filterwarnings("ignore", message="Sparse (CSR|invariant)")
    # of a label with a class for nearly every item, which reading the table has told already
    warnings.filterwarnings("ignore", message="The number of unique classes is greater than 50%")
    try:
        if "" in (sys.argv[1:] if arguments is None else arguments):
            # mostly a shell variable that nobody set; as a path it would be the current folder
            raise InputError("an argument is empty; give it a value, or . for the current folder")
        try:
            app(arguments)
        finally:
            sys.stdout.flush()  # here, where it can still be told
    except InputError as error:
        say(f"coembed: {in_words(str(error))}", "red")
        sys.exit(2)
    except BrokenPipeError:  # whoever read the answers has had enough, as `head` has
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        named = f"{error.filename}: " if error.filename else ""
        say(f"coembed: {one_line(f'{named}{error.strerror or error}')}; check the disk and the paths", "red")
        sys.exit(2)
    except (MemoryError, RuntimeError) as error:
        # torch has no exception of its own for it
        if isinstance(error, RuntimeError) and "allocate" not in str(error):
            raise
        said = one_line(error, 120)
        say(f"coembed: this needs more memory than there is ({said}); take a smaller network", "red")
        sys.exit(2)
    except ArithmeticError as error:
        say(f"coembed: {error}", "red")
        sys.exit(1)
    except KeyboardInterrupt:
        say("coembed: interrupted")
        sys.exit(130)


def _drop_output() -> None:
    """What is left to print goes nowhere: Python would complain of it when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
