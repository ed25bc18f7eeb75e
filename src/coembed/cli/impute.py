"""The command that fills the empty cells of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coembed.cli.console import TrainingProgress, print_json, say
from coembed.cli.options import ColumnKinds, Json, LabelColumns, Quiet, SchemaFile, reading_options
from coembed.cli.standard_input import from_standard_input
from coembed.errors import InputError

if TYPE_CHECKING:
    from coembed.fitted.imputing import Imputed


def impute(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL] TABLE...",
            help="A table, or the folder of tables that it is in; or a model, a table for it, and tables of "
            "links. `-`: a table on standard input.",
            show_default=False,
            callback=from_standard_input,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write .csv, .tsv, .parquet or .json.", show_default=False
        ),
    ],
    type: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Whose table; by default the main type's."),
    ] = None,
    only_sure: Annotated[
        float,
        typer.Option(
            "--only-sure",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Fill only what has this probability, or numbers whose spread leaves out this share of the "
            "variance.",
        ),
    ] = 0.0,
    draws: Annotated[
        int,
        typer.Option("--draws", min=0, help="So many tables with draws instead of one with expected values."),
    ] = 0,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="With a model: the column of ids.", show_default=False),
    ] = None,
    as_new: Annotated[
        bool, typer.Option("--as-new", help="With a model: by what rows hold, even if their ids are known.")
    ] = False,
    label: LabelColumns = None,
    kinds: ColumnKinds = None,
    schema: SchemaFile = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="Passes.", show_default=False)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of training and of the draws.")] = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Fill the empty cells of a table: numbers, dates, categories, yes and no, and classes.

    A cell that holds anything is never touched. Beside each column that was filled stands how sure that is:
    NAME.spread, or NAME.probability. Without a model, one is trained on the tables first.

    **Examples**

    `coembed impute customers.csv -o full.csv`

    `coembed impute model new.csv -o full.csv --only-sure 0.9`

    `coembed impute shop/ --type customers -o full.parquet --draws 5`
    """
    from coembed.cli.predictions import check_output, load_to_write, write_arrow

    check_output(output, *paths)
    if (paths[0] / "model.json").is_file():
        if len(paths) < 2:
            raise InputError(f"{paths[0]} is a model: name the table to fill, too")
        if label or kinds or schema is not None or epochs is not None:
            raise InputError("--label, --as, --schema and --epochs are for training; the model is trained")
        model, table, *beside = paths
        done = load_to_write(model, output, table, *beside).impute(
            table,
            type,
            id=id,
            as_new=as_new,
            beside=beside,
            only_sure=only_sure,
            draws=draws,
            seed=seed,
        )
    else:
        if id is not None or as_new:
            raise InputError("--id and --as-new are about a table that is new to a model; give the model")
        options = reading_options(label, kinds, schema)
        done = _trained(paths, options, type, only_sure, draws, epochs, seed, quiet)
    for notice in () if quiet else done.notices:
        say(f"note: {notice}", "yellow")
    write_arrow(done.table, output)
    _tell(done, output, json, quiet)


def _trained(
    paths: list[Path],
    options: dict[str, object],
    type: str | None,
    only_sure: float,
    draws: int,
    epochs: int | None,
    seed: int,
    quiet: bool,
) -> Imputed:
    """Of a model that is trained for it."""
    from coembed.errors import no_such
    from coembed.network.readers.read import Asked, open_items
    from coembed.network.readers.table_folder import build_network
    from coembed.settings import preset_settings

    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist; check the path")
    found = open_items(*paths, asked=Asked(**options))  # type: ignore[arg-type]
    if found is None:
        raise InputError(f"{paths[0]} holds no tables of items: only these have cells to fill")
    network = build_network(found)
    name = network.main.name if type is None else type
    if name not in found.schema.types:
        raise no_such("table", name, found.schema.types)
    for notice in () if quiet else network.notices:
        say(f"note: {notice}", "yellow")
    settings = preset_settings("best", "columns", seed=seed)
    settings = settings if epochs is None else settings.change(epochs=epochs)

    from coembed.fitted.imputing import impute
    from coembed.training import fit

    with TrainingProgress(f"training on {network.name}", quiet) as progress:
        fitted = fit(network, settings, preset="best", progress=progress, steps=progress.step)
    own = found.schema.types[name]
    return impute(
        fitted,
        found.tables[own.file],
        name,
        id=own.id,
        only_sure=only_sure,
        draws=draws,
        seed=seed,
        same_rows=True,
    )


def _tell(done: Imputed, output: Path, json: bool, quiet: bool) -> None:
    if json:
        print_json(
            {"table": str(output), "rows": done.table.num_rows, "empty": done.empty, "filled": done.filled}
        )
    elif not quiet:
        filled, empty = sum(done.filled.values()), sum(done.empty.values())
        columns = ", ".join(f"{name} {count:,}" for name, count in done.filled.items())
        say(
            f"wrote {output}: {filled:,} of {empty:,} empty cells filled"
            + (f" ({columns})" if columns else "")
        )
