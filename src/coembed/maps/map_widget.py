"""The map as a widget of a notebook: what is chosen on it is known in Python, and the other way round."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from coembed.errors import InputError
from coembed.fitted.class_answers import leading_classes
from coembed.fitted.fitted import Fitted
from coembed.maps.layout import Layout
from coembed.maps.palette import COLOURS
from coembed.maps.picture import coloured_type

OTHERS = ("#8A8A8A", "#5E4B8B", "#8B5E3C", "#3C7A8B", "#7A7A3C", "#8B3C5E")
"""Of the types that are not coloured by class, in turn."""


def map_widget(fitted: Fitted, layout: Layout, height: int = 480) -> Any:
    """A widget of all items: ``selected`` are their positions, ``chosen`` their types and ids."""
    types, coloured = list(fitted.network.types), coloured_type(fitted.network)
    labels = fitted.network.items(coloured).labels
    classes = [] if labels is None or fitted.probabilities_of(coloured) is None else list(labels.classes)
    legend: list[tuple[str, int]] = []
    tones = []
    for place, type in enumerate(types):
        rows = np.arange(len(fitted.network.items(type)))
        if type == coloured and classes:
            tones.append(leading_classes(fitted, type, rows) % len(COLOURS))
            legend += [(str(name), k % len(COLOURS)) for k, name in enumerate(classes)]
        else:
            tones.append(np.full(len(rows), len(COLOURS) + place % len(OTHERS)))
            legend.append((type, len(COLOURS) + place % len(OTHERS)))
    items = [fitted.network.items(type) for type in types]
    return _widget_class()(
        items=[(type, str(id)) for type, each in zip(types, items, strict=True) for id in each.ids],
        places=np.vstack([layout.places[type] for type in types]).astype("<f4").tobytes(),
        tones=np.concatenate(tones).astype(np.uint8).tobytes(),
        names=[each.title(i) for each in items for i in range(len(each))],
        palette=[*COLOURS, *OTHERS],
        legend=legend,
        height=height,
    )


@cache
def _widget_class() -> Any:
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise InputError(f"the map in a notebook needs {error.name}; install coembed[notebook]") from None

    class MapWidget(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = (files("coembed.maps") / "map_widget.js").read_text(encoding="utf-8")
        places = traitlets.Bytes().tag(sync=True)
        tones = traitlets.Bytes().tag(sync=True)
        names = traitlets.List(traitlets.Unicode()).tag(sync=True)
        palette = traitlets.List(traitlets.Unicode()).tag(sync=True)
        legend: Any = traitlets.List().tag(sync=True)
        height = traitlets.Int(480).tag(sync=True)
        selected = traitlets.List(traitlets.Int()).tag(sync=True)

        def __init__(self, items: list[tuple[str, str]], **traits: Any) -> None:
            super().__init__(**traits)
            self.items = items
            self.at = {item: row for row, item in enumerate(items)}

        @property
        def chosen(self) -> list[tuple[str, str]]:
            """Type and id of all that is chosen."""
            return [self.items[row] for row in self.selected]

        def choose(self, type: str, ids: Iterable[str]) -> None:
            """Choose items of a type by their ids, in place of what is chosen."""
            wanted = [(type, id) for id in ids]
            for type, id in wanted:
                if (type, id) not in self.at:
                    raise InputError(f"there is no {type} {id!r} on the map")
            self.selected = [self.at[item] for item in wanted]

    return MapWidget
