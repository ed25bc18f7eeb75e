"""The command line: one module a theme, no mathematics."""

from __future__ import annotations

import sys
import warnings

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Run a command; bad input ends with one sentence on standard error and exit code 2."""
    from coembed.cli.app import app
    from coembed.cli.console import say
    from coembed.cli.standard_input import in_words
    from coembed.errors import InputError

    # torch says once a process that its sparse matrices are young; nobody at a command line can act on that
    warnings.filterwarnings("ignore", message="Sparse (CSR|invariant)")
    try:
        app(arguments)
    except InputError as error:
        say(f"coembed: {in_words(str(error))}", "red")
        sys.exit(2)
    except ArithmeticError as error:
        say(f"coembed: {error}", "red")
        sys.exit(1)
    except KeyboardInterrupt:
        say("coembed: interrupted")
        sys.exit(130)
