"""Labels that people gave after the training, kept beside a model as a table: ``corrections.csv``."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from coembed.errors import InputError, no_such, one_line
from coembed.files import replacing_file
from coembed.network.network import Network

FILE = "corrections.csv"
MOST = 1_000_000


@dataclass(frozen=True)
class Correction:
    """The class of an item as somebody said it; `was` is what the model said, `when` the time (ISO 8601)."""

    type: str
    id: str
    label: str
    was: str = ""
    when: str = ""


HEADINGS = [each.name for each in fields(Correction)]


def read_corrections(folder: Path) -> list[Correction]:
    """The corrections beside a model, oldest first; none if there is no file."""
    path = folder / FILE
    if not path.exists():
        return []
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
        return [Correction(**{name: str(row[name]) for name in HEADINGS}) for row in rows]
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise InputError(
            f"{path} cannot be read as corrections ({one_line(error, 80)}); it needs {', '.join(HEADINGS)}"
        ) from None


def write_corrections(folder: Path, corrections: Iterable[Correction]) -> None:
    """Write all of them, complete or not at all."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(HEADINGS)
    writer.writerows(astuple(each) for each in corrections)
    with replacing_file(folder / FILE) as part:
        part.write_text(text.getvalue(), encoding="utf-8", newline="")


def check_correction(network: Network, correction: Correction) -> None:
    """Refuse an item or a class that the model does not know."""
    items = network.items(correction.type)
    if items.labels is None or items.labels.several:
        raise InputError(f"items of type {items.name} do not have one class each; they cannot be corrected")
    items.position(correction.id)
    names = [str(each) for each in items.labels.classes]
    if correction.label not in names:
        raise no_such(f"class of {items.name}", correction.label, names)


def corrected(network: Network, corrections: Iterable[Correction]) -> Network:
    """The network with the labels that were given; of several for one item the last. Who is gone is left out.

    Examples
    --------
    >>> from coembed.network import demo_network
    >>> network = demo_network()
    >>> changed = corrected(network, [Correction("node", "salmon.n.01", "plant")])
    >>> str(changed.class_names[changed.labels[network.node_index("salmon.n.01")]])
    'plant'
    """
    for type in {each.type: None for each in corrections if each.type in network.types}:
        items = network.items(type)
        if items.labels is None or items.labels.several:
            continue
        place = {str(name): k for k, name in enumerate(items.labels.classes)}
        values = items.labels.values.copy()
        for each in corrections:
            row = items.find(each.id) if each.type == type else None
            if row is not None and each.label in place:
                values[row] = place[each.label]
        network = network.with_labels(values, type)
    return network


def pending(network: Network, corrections: Iterable[Correction]) -> list[Correction]:
    """Those that the network of a model does not hold yet, the last word on each item."""
    last = {(each.type, each.id): each for each in corrections}
    found = []
    for each in last.values():
        items = network.types.get(each.type)
        row = None if items is None else items.find(each.id)
        if items is None or items.labels is None or row is None or items.labels.several:
            continue
        known = items.labels.values[row]
        if known < 0 or str(items.labels.classes[known]) != each.label:
            found.append(each)
    return found
