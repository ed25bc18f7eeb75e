"""The command that makes a network up."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from coembed.cli.console import Steps, print_json, say
from coembed.cli.options import Json, Quiet
from coembed.progress import peak_memory_mb


def synthesize(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder or file to write.", show_default=False),
    ],
    nodes: Annotated[int, typer.Option("--nodes", min=1)] = 10_000,
    links: Annotated[int, typer.Option("--links", min=0, help="Undirected pairs.")] = 50_000,
    attributes: Annotated[int, typer.Option("--attributes", min=0)] = 1_000,
    entries: Annotated[int, typer.Option("--entries", min=0, help="Pairs of node and attribute.")] = 200_000,
    classes: Annotated[int, typer.Option("--classes", min=1)] = 10,
    labels: Annotated[float, typer.Option("--labels", help="Share of the labels that is visible.")] = 0.1,
    homophily: Annotated[
        float, typer.Option("--homophily", help="Mean share of links that stay inside a class.")
    ] = 0.5,
    topicality: Annotated[
        float, typer.Option("--topicality", help="Mean share of entries that stay inside a class's topic.")
    ] = 0.3,
    seed: Annotated[int, typer.Option("--seed", min=0)] = 0,
    format: Annotated[str, typer.Option("--format", help="`mapped`, `npz`, `csv` or `parquet`.")] = "mapped",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a network up, of any size: classes, power-law degrees, popular and rare attributes.

    The classes of all nodes, hidden ones too, go to truth.csv: in DIR, or beside the file of an npz.

    **Examples**

    `coembed synthesize -o made-up --nodes 1000 --links 5000 --attributes 200 --entries 15000`

    `coembed synthesize -o million --nodes 1000000 --links 5000000 --attributes 10000 --entries 20000000`
    """
    from coembed.network import synthesize as make
    from coembed.network import true_classes, write
    from coembed.network.readers.write import chosen_format
    from coembed.network.synthetic import write_truth

    chosen = chosen_format(output, format)
    start = time.perf_counter()
    with Steps(quiet) as steps:
        network = make(
            nodes,
            links,
            attributes,
            entries,
            classes,
            labels,
            seed,
            homophily=homophily,
            topicality=topicality,
            name=output.stem,
            progress=lambda step: steps(f"making {step}"),
        )
        made = time.perf_counter()
        steps(f"writing {output}")
        write(network, output, chosen)
        truth = output.parent / "truth.csv" if chosen == "npz" else output / "truth.csv"
        write_truth(network, true_classes(nodes, classes, seed), truth)
    report = {
        "network": str(output),
        "truth": str(truth),
        "nodes": network.n_nodes,
        "links": network.n_links,
        "attributes": network.n_attributes,
        "entries": int(network.attributes.nnz),
        "classes": network.n_classes,
        "labelled": len(network.labelled),
        "seconds": round(time.perf_counter() - start, 3),
        "seconds_making": round(made - start, 3),
        "peak_rss_mb": peak_memory_mb(),
    }
    if json:
        print_json(report)
    elif not quiet:
        say(
            f"wrote {output}: {network.n_nodes:,} nodes, {network.n_links:,} links, "
            f"{network.attributes.nnz:,} entries in {report['seconds']:.1f} s; "
            f"next: coembed train {output} -o model"
        )
