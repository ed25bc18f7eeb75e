"""Looks at every page of the built site: its links lead somewhere, and it asks nobody else for anything.

    python benchmarks/check_site.py build/site

Addresses of other hosts are not asked, so that it works without a network; links to them are counted.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""What a browser fetches without being asked."""


class Page(HTMLParser):
    """The links of a page, what it fetches, the anchors it has, and pictures without words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = {""}
        self.speechless: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.anchors |= {found[name] or "" for name in ("id", "name") if name in found}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"] or "")
        if tag in FETCHED and found.get(FETCHED[tag]) and found.get("rel") not in ("canonical",):
            self.fetched.append(found[FETCHED[tag]] or "")
        if tag == "img" and not (found.get("alt") or "").strip():
            self.speechless.append(found.get("src") or "")


def problems(site: Path) -> tuple[list[str], dict[str, int]]:
    """What is wrong with a site, a line each, and how much there was to look at."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    wrong, inside, outside = [], 0, 0
    reached = {site / "index.html"}
    for path, page in pages.items():
        here = path.relative_to(site)
        wrong += [f"{here}: a picture has no words: {each[:60]}" for each in page.speechless]
        for target in page.links + page.fetched:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https") or parts.netloc:
                outside += 1
                if target in page.fetched:
                    wrong.append(f"{here}: asks another host: {target}")
                continue
            if parts.scheme:  # data:, mailto:, javascript:
                continue
            inside += 1
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not place.is_file():
                wrong.append(f"{here}: {target} does not exist")
            elif place in pages:
                reached.add(place)
                if unquote(parts.fragment) not in pages[place].anchors:
                    wrong.append(f"{here}: {target} names no place of that page")
    wrong += [f"{path.relative_to(site)}: no page leads here" for path in pages if path not in reached]
    return wrong, {"pages": len(pages), "links": inside, "links to others": outside}


if __name__ == "__main__":
    found, counts = problems(Path(sys.argv[1]).resolve())
    print(*found, ", ".join(f"{count:,} {name}" for name, count in counts.items()), sep="\n")
    sys.exit(bool(found))
