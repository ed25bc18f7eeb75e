"""The page with all that it shows in one file: to be opened without a server, and sent to a colleague.

The modules of the page become addresses of the kind ``data:`` in its import map, and what the server would
answer is packed into the file. The policy of the file lets it ask nobody for anything.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from coembed.errors import InputError
from coembed.explorer import cards, overview
from coembed.explorer.application import page_files
from coembed.explorer.asking import Explorer
from coembed.files import replacing_file
from coembed.fitted.matches import ItemKind
from coembed.progress import CountProgress

MOST_CARDS = 3000
_ANSWERS, _NEIGHBOURS, _EXPLAINED = 12, 100, 8
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data: blob:"
)


def write_report(
    explorer: Explorer, path: Path, most_cards: int = MOST_CARDS, progress: CountProgress | None = None
) -> Path:
    """Write the page of a model as one file, complete or not at all.

    Parameters
    ----------
    most_cards
        Nodes, and attributes, that get a card: the best linked, the commonest. All are on the map.
    """
    check_report(path)
    overviews = {
        "model": overview.model(explorer),
        "map": overview.map_columns(explorer),
        "training": overview.training(explorer),
        "quality": overview.quality(explorer),
        "data": overview.data(explorer),
    }
    carried = {"overviews": _packed(overviews), "cards": _packed(_cards(explorer, most_cards, progress))}
    html = _in_one_file(page_files(), json.dumps(carried))
    with replacing_file(path) as sibling:
        sibling.write_text(html, encoding="utf-8")
    return path


def check_report(path: Path) -> None:
    """Refuse a name that no browser would open; asked before the work, so that none is done in vain."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path} must end in .html")


def _cards(explorer: Explorer, most: int, progress: CountProgress | None) -> dict[str, dict[str, Any]]:
    """The cards by kind and name, each with its neighbours and, of a node, the reasons."""
    chosen: list[tuple[ItemKind, int]] = [
        *(("node", int(i)) for i in np.argsort(-explorer.degrees, kind="stable")[:most]),
        *(("attribute", int(i)) for i in np.argsort(-explorer.owners, kind="stable")[:most]),
    ]
    found: dict[str, dict[str, Any]] = {"node": {}, "attribute": {}}
    for done, (kind, row) in enumerate(chosen, 1):
        name = str(explorer.names(kind)[row])
        found[kind][name] = _node(explorer, name) if kind == "node" else _attribute(explorer, name)
        if progress is not None and (done % 20 == 0 or done == len(chosen)):
            progress(done, len(chosen))
    return found


def _node(explorer: Explorer, name: str) -> dict[str, Any]:
    card = cards.node_card(explorer, name, _ANSWERS)
    suggested = [match["id"] for match in card["suggested_attributes"][:_EXPLAINED]]
    reasons = cards.why(explorer, name, suggested, 4) if explorer.can_embed else None
    return {"card": card, "why": reasons, "neighbours": _more(explorer, name, "node", card, "links")}


def _attribute(explorer: Explorer, name: str) -> dict[str, Any]:
    card = cards.attribute_card(explorer, name, _ANSWERS)
    return {"card": card, "neighbours": _more(explorer, name, "attribute", card, "owners")}


def _more(explorer: Explorer, name: str, kind: ItemKind, card: dict[str, Any], part: str) -> dict[str, Any]:
    """The nodes that the network joins to an item, where the card does not hold them all."""
    if card[part]["total"] <= len(card[part]["items"]):
        return {}
    return {"node": cards.neighbours(explorer, name, kind, "node", 0, _NEIGHBOURS)}


def _in_one_file(page: dict[str, bytes], carried: str) -> str:
    modules = {
        f"coembed/{name}": f"data:text/javascript;base64,{base64.b64encode(text).decode()}"
        for name, text in page.items()
        if name.endswith(".js")
    }
    replacements = {
        r'<link rel="stylesheet"[^>]*>': f"<style>{page['style.css'].decode()}</style>",
        r'<script type="importmap">.*?</script>': (
            f'<script type="importmap">{json.dumps({"imports": modules})}</script>'
        ),
        r'<script type="module"[^>]*></script>': '<script type="module">import "coembed/main.js";</script>',
        r"<meta charset[^>]*>": (
            f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        ),
        r"</body>": f'<script type="application/json" id="embedded">{carried}</script>\n</body>',
    }
    html = page["index.html"].decode()
    for pattern, text in replacements.items():
        html, times = re.subn(pattern, lambda _, text=text: text, html, count=1, flags=re.S)  # type: ignore[misc]
        assert times == 1, pattern
    return html


def _packed(value: Any) -> str:
    text = json.dumps(_short(value), separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _short(value: Any) -> Any:
    """The same with numbers of five digits: nobody reads more, and the file is half as long.

    Examples
    --------
    >>> _short({"score": 0.123456789, "known": True, "names": ["a"]})
    {'score': 0.12346, 'known': True, 'names': ['a']}
    """
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_short(each) for each in value]
    return value
