"""The command that runs the paper's experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coembed.cli.console import say
from coembed.cli.options import Changes, Quiet
from coembed.errors import InputError


def reproduce(
    experiments: Annotated[
        list[str],
        typer.Argument(
            metavar="EXPERIMENT...",
            help="`datasets`, `table1` (classes), `table2` (attributes), `links`, `profiling` (the space "
            "alone), `map`, `beta`, `labels`, `scaling`; "
            "`tune`: choose settings; `report`: from what is there; `all`: all but `tune`.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for records and report.", show_default=False),
    ],
    data: Annotated[
        Path,
        typer.Option(
            "--data", metavar="DIR", envvar="COEMBED_DATA", help="Folder with pubmed.npz, flickr.npz ..."
        ),
    ] = Path("."),
    methods: Annotated[
        str, typer.Option("--methods", metavar="A,B", help="Only these rows or methods.", show_default=False)
    ] = "",
    networks: Annotated[
        str, typer.Option("--networks", metavar="X,Y", help="Only these networks.", show_default=False)
    ] = "",
    seeds: Annotated[
        str,
        typer.Option(
            "--seeds", metavar="0-2", help="These seeds instead of the report's own.", show_default=False
        ),
    ] = "",
    protocol: Annotated[
        str, typer.Option("--protocol", help="`strict`, or `published`: the way of SCAN's public code.")
    ] = "strict",
    changes: Changes = None,
    tuned: Annotated[
        Path | None,
        typer.Option(
            "--tuned",
            metavar="FILE",
            help="Rows for the settings that `tune` chose, beside the usual ones.",
            show_default=False,
        ),
    ] = None,
    trials: Annotated[int, typer.Option("--trials", min=1, help="Of `tune`, for every method.")] = 8,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Cells at a time.")] = 1,
    backend: Annotated[
        str, typer.Option("--backend", help="`loky`: processes here; `dask` or `ray`: a cluster.")
    ] = "loky",
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="A running Dask scheduler or Ray head; without it one is started here.",
            show_default=False,
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Two seeds, small networks, few epochs: minutes, to try it out.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run the paper's experiments, cell by cell; what is there already is not run again.

    Stop it at any time, and go on with the same command. A cell that fails is written down with its error and
    tried again the next time.

    **Examples**

    `coembed reproduce table1 --data networks -o results --jobs 2`

    `coembed reproduce all --data networks -o results --methods scan-best,gcn --networks cora --seeds 0-2`

    `coembed reproduce report -o results`
    """
    from coembed.experiments.plan import PLANS

    for name in experiments:
        if name not in (*PLANS, "tune", "report", "all"):
            known = ", ".join([*PLANS, "tune", "report", "all"])
            raise InputError(f"there is no experiment {name!r}; known: {known}")
    if protocol not in ("strict", "published"):
        raise InputError(f"there is no protocol {protocol!r}; known: strict, published")
    wanted = [name for name in PLANS if name in experiments or "all" in experiments]
    tally = None
    if "tune" in experiments:
        _tune(data, out, _names(networks), _names(methods), trials, quiet)
    if wanted:
        from coembed.cli.grid_progress import GridProgress
        from coembed.experiments.benchmark_networks import chosen_networks
        from coembed.experiments.grid import Where, run_grid
        from coembed.experiments.plan import Choice, parse_seeds, plan, quickly
        from coembed.experiments.record_store import Store
        from coembed.experiments.tuning import read_chosen

        choice = Choice(
            chosen_networks(data, _names(networks)),
            methods=_names(methods),
            seeds=parse_seeds(seeds) if seeds else None,
            protocol=protocol,  # type: ignore[arg-type]
            changes=tuple(changes or ()),
            tuned=read_chosen(tuned) if tuned is not None else {},
        )
        cells = plan(wanted, quickly(choice) if quick else choice)
        if not cells:
            raise InputError("nothing is left to run; name other methods or networks")
        where = Where(jobs, backend, cluster)  # type: ignore[arg-type]
        with GridProgress(quiet) as progress:
            tally = run_grid(
                cells,
                Store(out),
                data.resolve(),
                where,
                thrifty=choice.seeds is None,
                tell=progress,
                epochs=progress.epoch,
            )
        if not quiet:
            skipped = f", {tally.skipped} left out (a slow method has fewer seeds)" if tally.skipped else ""
            say(f"{tally.done} cells done, {tally.kept} were there{skipped}; records in {out / 'cells'}")
        for error in tally.errors:
            say(f"failed: {error}", "red")
    if {"report", "all"} & set(experiments):
        from coembed.report.report import write_report

        page, text, *_ = write_report(out)
        if not quiet:
            say(f"wrote {page} and {text}", "green")
    if tally is not None and tally.failed:
        raise typer.Exit(1)


def _tune(
    data: Path, out: Path, networks: tuple[str, ...], methods: tuple[str, ...], trials: int, quiet: bool
) -> None:
    """Every study in turn, and the chosen values of all of them."""
    from coembed.experiments.benchmark_networks import chosen_networks
    from coembed.experiments.plan import check_methods
    from coembed.experiments.tuning import JUDGED, studies, tune, write_chosen

    check_methods(methods)
    folder = out / "tuning"
    for study in studies(chosen_networks(data, networks), methods, tuple(JUDGED)):
        tune(study, folder, data.resolve(), trials, None if quiet else say)
    count = write_chosen(folder, folder / "chosen.toml")
    if not quiet:
        say(f"wrote {folder / 'chosen.toml'}: {count} studies", "green")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
