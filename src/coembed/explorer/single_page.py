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
from coembed.explorer import cards, overview, selections
from coembed.explorer.asking import Explorer
from coembed.explorer.page_files import page_files
from coembed.files import replacing_file
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
        Items of each type that get a card: the best linked, the commonest. All are on the map.
    """
    check_report(path)
    overviews = {
        "model": overview.model(explorer),
        "map": overview.map_columns(explorer),
        "training": overview.training(explorer),
        "quality": overview.quality(explorer),
        "data": overview.data(explorer),
        "regions": overview.regions(explorer),
        "values": {field: selections.values(explorer, field) for field in explorer.shown.fields},
        "selections": [
            {
                **selections.kept_entry(each),
                "bits": selections.all_bits(explorer, each.rows(explorer.network)),
            }
            for each in selections.kept_selections(explorer).values()
        ],
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
    """The cards by type and id, each with its neighbours and, of an entity, the reasons."""
    chosen = [
        (name, int(row))
        for name, facts in explorer.types.items()
        for row in np.argsort(-facts.weights, kind="stable")[:most]
    ]
    found: dict[str, dict[str, Any]] = {name: {} for name in explorer.types}
    for done, (type, row) in enumerate(chosen, 1):
        id = str(explorer.types[type].ids[row])
        found[type][id] = _card(explorer, type, id)
        if progress is not None and (done % 20 == 0 or done == len(chosen)):
            progress(done, len(chosen))
    return found


def _card(explorer: Explorer, type: str, id: str) -> dict[str, Any]:
    card = cards.item_card(explorer, id, type, _ANSWERS)
    reasons = None
    if explorer.can_embed and card["owner"] is None:
        words = next((each for each in card["relations"] if _has_words(explorer, each["relation"])), None)
        targets = [] if words is None else [match["id"] for match in words["suggested"][:_EXPLAINED]]
        reasons = cards.why(explorer, id, type, words and words["relation"], targets, 4)
    return {"card": card, "why": reasons, "neighbours": _more(explorer, id, type, card)}


def _has_words(explorer: Explorer, relation: str) -> bool:
    return explorer.network.relation(relation).column is not None


def _more(explorer: Explorer, id: str, type: str, card: dict[str, Any]) -> dict[str, Any]:
    """What the network joins to an item, where the card does not hold it all."""
    found = {}
    for each in card["relations"]:
        if each["has"]["total"] > len(each["has"]["items"]) and not _has_words_of(explorer, each, type):
            way = f"{each['relation']}{'<' if each['backwards'] else '>'}"
            asked = each["relation"], each["backwards"], 0, _NEIGHBOURS
            found[way] = cards.neighbours(explorer, id, type, *asked)
    return found


def _has_words_of(explorer: Explorer, walked: dict[str, Any], type: str) -> bool:
    """Whether these are the words of an entity, of which the card has enough."""
    return _has_words(explorer, walked["relation"]) and explorer.types[type].owner is None


def _in_one_file(page: dict[str, bytes], carried: str) -> str:
    modules = {
        f"coembed/{name}": f"data:text/javascript;base64,{base64.b64encode(text).decode()}"
        for name, text in page.items()
        if name.endswith(".js") and name != "docs.js"
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
