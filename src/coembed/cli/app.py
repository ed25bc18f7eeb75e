"""The commands, gathered."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from coembed.cli import (
    ask_next,
    complete,
    data,
    demo,
    evaluate,
    explore,
    find,
    impute,
    model_files,
    network_commands,
    query,
    reproduce,
    synthesize,
    train,
    tune,
    why,
)
from coembed.cli.console import hushed
from coembed.cli.options import Quiet
from coembed.version import __version__

app = typer.Typer(
    name="coembed",
    help="Nodes and attributes of a network as Gaussians in one space, and the missing labels.",
    epilog="Start with: coembed demo",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _with_quiet(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option --quiet, which it is told of if it has one of its own."""
    signature = inspect.signature(command)
    own = "quiet" in signature.parameters

    @wraps(command)
    def asked(*arguments: Any, quiet: bool = False, **options: Any) -> None:
        with hushed(quiet):
            command(*arguments, **options, **({"quiet": quiet} if own else {}))

    if own:
        return asked
    # typer reads either, and would look for the names of types in this module
    hints = {**get_type_hints(command, include_extras=True), "quiet": Quiet}
    option = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False)
    given = [*signature.parameters.values(), option]
    asked.__annotations__ = hints
    asked.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[each.replace(annotation=hints[each.name]) for each in given], return_annotation=None
    )
    return asked


START, SHOW, ASK, FILES = "Start here", "See a model", "Ask a model", "Files"

app.command(rich_help_panel=START)(_with_quiet(demo.demo))
app.command(rich_help_panel=START)(_with_quiet(train.train))
app.command(rich_help_panel=START)(_with_quiet(tune.tune))
app.command(rich_help_panel=START)(_with_quiet(evaluate.evaluate))
app.command(rich_help_panel=START)(_with_quiet(reproduce.reproduce))
for question in (query.predict, impute.impute, complete.complete, complete.links):
    app.command(rich_help_panel=ASK)(_with_quiet(question))
for near in (query.profile, query.similar, query.nearest, why.why):
    app.command(rich_help_panel=ASK)(_with_quiet(near))
app.command(rich_help_panel=ASK)(_with_quiet(find.find))
app.command("ask-next", rich_help_panel=ASK)(_with_quiet(ask_next.ask_next))
app.command("map", rich_help_panel=ASK)(_with_quiet(model_files.draw))
for show in (explore.explore, explore.serve, explore.report):
    app.command(rich_help_panel=SHOW)(_with_quiet(show))
app.command(rich_help_panel=FILES)(_with_quiet(data.data))
app.command(rich_help_panel=FILES)(_with_quiet(network_commands.info))
app.command(rich_help_panel=FILES)(_with_quiet(network_commands.convert))
app.command(rich_help_panel=FILES)(_with_quiet(synthesize.synthesize))
app.command(rich_help_panel=FILES)(_with_quiet(model_files.embed))
app.command(rich_help_panel=FILES)(_with_quiet(model_files.export))


def _version(asked: bool) -> None:
    if asked:
        print(f"coembed {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass
