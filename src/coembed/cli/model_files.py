"""Commands that write files from a model: new items placed, embeddings for other programs, the map."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coembed.cli.console import say
from coembed.cli.options import ModelPath
from coembed.cli.standard_input import from_standard_input

Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.", show_default=False)
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format", help="`csv`, `parquet`, `npz`, `word2vec`, `projector`; by default what the ending says."
    ),
]


def embed(
    model: ModelPath,
    network: Annotated[
        list[Path],
        typer.Argument(
            metavar="NETWORK...",
            help="Known items and new ones, told by name; `-`: a table on standard input.",
            show_default=False,
            callback=from_standard_input,
        ),
    ],
    output: Output,
    format: Format = None,
) -> None:
    """Place new items without training.

    A new item is placed by its entries with known items, its attributes and its cells; a new attribute by the
    known items that have it. A FILE without ending becomes a model, which answers questions about new items.

    **Examples**

    `coembed embed model newcomers/ -o placed.csv`

    `coembed embed model newcomers/ -o grown && coembed profile grown newcomer`
    """
    from coembed.cli.predictions import load_to_write
    from coembed.fitted import save
    from coembed.fitted.export import check_target, export
    from coembed.fitted.storage import check_place
    from coembed.network import read

    as_model = not output.suffix and format is None
    if as_model:
        check_place(output)
    else:
        check_target(output, format)
    fitted = load_to_write(model, None if as_model else output, *network, table=False)
    placed = fitted.embed(read(*network))
    if as_model:
        save(placed.result, output)
    else:
        export(placed.result, output, format, new=placed.new)
    plural = "s" if placed.result.network.is_plain else ""
    counts = ", ".join(f"{len(rows):,} new {type}{plural}" for type, rows in placed.new.items())
    say(f"wrote {output}: {counts}")
    for notice in placed.notices:
        say(f"note: {notice}", "yellow")


def export(model: ModelPath, output: Output, format: Format = None) -> None:
    """Write the embeddings of all types for other programs.

    csv and parquet: a row an item; npz: arrays by type, and the query vectors of relations with a direction;
    word2vec text (.txt, .vec), which gensim reads; a pair of .tsv for the TensorBoard projector.

    **Examples**

    `coembed export model -o codes.parquet`

    `coembed export model -o codes.tsv`
    """
    from coembed.cli.predictions import load_to_write
    from coembed.fitted.export import check_target
    from coembed.fitted.export import export as write

    check_target(output, format)
    written = write(load_to_write(model, output, table=False), output, format)
    say(f"wrote {' and '.join(str(path) for path in written)}")


def draw(
    model: ModelPath,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A .png, .svg or .pdf.")
    ] = Path("map.png"),
    method: Annotated[
        str, typer.Option("--method", help="`tsne`, `pca`, `umap`, or `auto`: t-SNE if installed and small.")
    ] = "auto",
    words: Annotated[int, typer.Option("--words", min=0, help="Attributes to name, at most.")] = 40,
    names: Annotated[int, typer.Option("--names", min=0, help="Other items to name, at most.")] = 14,
    title: Annotated[str, typer.Option("--title", help="Above the picture.")] = "",
    seed: Annotated[int, typer.Option("--seed", help="Of the layout.")] = 0,
) -> None:
    """A picture of all items and attributes on one plane, with ellipses for the uncertainty.

    **Examples**

    `coembed map model -o map.png`

    `coembed map model -o map.svg --method pca --words 80`
    """
    from coembed.fitted import load
    from coembed.maps.layout import cached_layout
    from coembed.maps.picture import check_picture, draw_map

    check_picture(output)
    fitted = load(model)
    draw_map(
        fitted, cached_layout(fitted, model, method, seed), output, words=words, names=names, title=title
    )
    say(f"wrote {output}")
