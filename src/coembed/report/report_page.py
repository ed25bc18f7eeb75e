"""The report as a page that needs no other file, and as Markdown: two forms of the same blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path

from coembed.report.render import html, markdown, plain_html, plain_markdown
from coembed.report.result_tables import Table


@dataclass(frozen=True)
class Plain:
    """A table of texts."""

    headings: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Picture:
    """A figure by the name of its files."""

    name: str
    title: str
    caption: str


@dataclass(frozen=True)
class Points:
    """A list."""

    items: tuple[str, ...]


Block = str | Table | Plain | Picture | Points


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: list[Block]


def as_markdown(title: str, sections: list[Section], figures: str = "figures") -> str:
    """The report as Markdown, figures as links."""
    parts = [f"# {title}"]
    for section in sections:
        parts.append(f"## {section.title}")
        parts += [_markdown(block, figures) for block in section.blocks]
    return "\n\n".join(parts) + "\n"


def _markdown(block: Block, figures: str) -> str:
    if isinstance(block, Table):
        note = f"\n\n{block.note}" if block.note else ""
        return f"### {block.title}{note}\n\n{markdown(block)}"
    if isinstance(block, Plain):
        return plain_markdown(block.headings, block.rows)
    if isinstance(block, Picture):
        return f"### {block.title}\n\n![{block.title}]({figures}/{block.name}.svg)\n\n{block.caption}"
    if isinstance(block, Points):
        return "\n".join(f"- {item}" for item in block.items)
    return block


def as_html(title: str, sections: list[Section], figures: Path) -> str:
    """The report as one page; drawings are part of it."""
    names = [(_anchor(section.title), section.title) for section in sections]
    menu = "".join(f'<a href="#{anchor}">{escape(name)}</a>' for anchor, name in names)
    body = "".join(
        f'<section id="{_anchor(section.title)}"><h2>{escape(section.title)}</h2>'
        + "".join(_html(block, figures) for block in section.blocks)
        + "</section>"
        for section in sections
    )
    style = (files("coembed.report") / "page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f"<header><h1>{escape(title)}</h1></header><nav>{menu}</nav><main>{body}</main></body></html>\n"
    )


def _html(block: Block, figures: Path) -> str:
    if isinstance(block, Table):
        note = f'<p class="note">{inline(block.note)}</p>' if block.note else ""
        return f"<h3>{escape(block.title)}</h3>{note}{html(block)}"
    if isinstance(block, Plain):
        return plain_html(block.headings, block.rows)
    if isinstance(block, Picture):
        return (
            f"<figure><h3>{escape(block.title)}</h3>{drawing(figures / f'{block.name}.svg', block.title)}"
            f"<figcaption>{inline(block.caption)}</figcaption></figure>"
        )
    if isinstance(block, Points):
        return "<ul>" + "".join(f"<li>{inline(item)}</li>" for item in block.items) + "</ul>"
    return f"<p>{inline(block)}</p>"


def drawing(path: Path, title: str) -> str:
    """An SVG file as a part of a page: no prologue, its width up to the page, a name for those who listen."""
    text = path.read_text(encoding="utf-8")
    text = text[text.index("<svg") :]
    # several drawings share one page: glyphs and clips of each are told apart by the name of the file
    text = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{path.stem}-", text)
    size = re.search(r'viewBox="0 0 ([\d.]+) ', text)
    width = f"max-width:{float(size[1]) * 1.33:.0f}px" if size else ""
    start, rest = text.split(">", 1)
    start = re.sub(r' (width|height)="[^"]*"', "", start)
    return f'{start} role="img" aria-label="{escape(title)}" style="{width}">{rest}'


def inline(text: str) -> str:
    """The little Markdown that the texts use: bold, italics, code.

    Examples
    --------
    >>> inline("**no** `a<b>`")
    '<strong>no</strong> <code>a&lt;b&gt;</code>'
    """
    text = escape(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
