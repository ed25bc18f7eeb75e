"""The commands, gathered."""

from __future__ import annotations

from typing import Annotated

import typer

from coembed.cli import (
    ask_next,
    complete,
    demo,
    evaluate,
    explore,
    impute,
    model_files,
    network_commands,
    query,
    reproduce,
    synthesize,
    train,
    why,
)
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

START, SHOW, ASK, FILES = "Start here", "See a model", "Ask a model", "Files"

app.command(rich_help_panel=START)(demo.demo)
app.command(rich_help_panel=START)(train.train)
app.command(rich_help_panel=START)(evaluate.evaluate)
app.command(rich_help_panel=START)(reproduce.reproduce)
for question in (query.predict, impute.impute, complete.complete, complete.links):
    app.command(rich_help_panel=ASK)(question)
for near in (query.profile, query.similar, query.nearest, why.why):
    app.command(rich_help_panel=ASK)(near)
app.command("ask-next", rich_help_panel=ASK)(ask_next.ask_next)
app.command("map", rich_help_panel=ASK)(model_files.draw)
for show in (explore.explore, explore.serve, explore.report):
    app.command(rich_help_panel=SHOW)(show)
app.command(rich_help_panel=FILES)(network_commands.info)
app.command(rich_help_panel=FILES)(network_commands.convert)
app.command(rich_help_panel=FILES)(synthesize.synthesize)
app.command(rich_help_panel=FILES)(model_files.embed)
app.command(rich_help_panel=FILES)(model_files.export)


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
