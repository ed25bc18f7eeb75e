"""Tables as Markdown and as HTML."""

from __future__ import annotations

from html import escape

from coembed.report.result_tables import Entry, Line, Table
from coembed.report.statistics import Mean

SENTENCE = 50
"""Letters from which on a text is read from its left end, not compared like a number."""
GROUP_TITLES = {"floor": "Floors: simple methods", "rival": "Rivals", "ours": "This package"}


def number(value: float, digits: int = 3) -> str:
    """Three digits, as the paper prints them, or another number of them.

    Examples
    --------
    >>> number(0.9484), number(1.0), number(-0.02), number(-0.0003, 4)
    ('.948', '1.000', '-.020', '-.0003')
    """
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and not text.lstrip("-").startswith("1") else text


def spread(mean: Mean, table: Table) -> str:
    """The standard deviation; of a single seed, that it is single, where others of the table are not."""
    if mean.seeds > 1:
        return f" ± {number(mean.std)}"
    return "" if table.one_seed else " (1 seed)"


def markdown(table: Table) -> str:
    """Bold: the best of the column; italics: the second best; in brackets what the paper prints."""
    headings = [f"{group} {column}" for group in table.groups for column in table.columns]
    lines = [f"| | {' | '.join(headings)} |", "| --- |" + " --- |" * len(headings)]
    for line in table.lines:
        cells = [_markdown_entry(entry, table) for entry in line.entries]
        lines.append(f"| {line.title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _markdown_entry(entry: Entry, table: Table) -> str:
    shown = "" if entry.printed is None else f" ({number(entry.printed)})"
    if entry.value is None:
        return f"-{shown}"
    mean = number(entry.value.mean)
    mean = {1: f"**{mean}**", 2: f"*{mean}*"}.get(entry.place, mean)
    return f"{mean}{entry.mark}{spread(entry.value, table)}{shown}"


def html(table: Table) -> str:
    """A table whose first column and heading stay in view; marks as in Markdown."""
    wide = len(table.columns)
    top = "".join(f'<th colspan="{wide}" class="group">{escape(group)}</th>' for group in table.groups)
    names = "".join(
        f'<th class="{"first" if place == 0 else ""}">{escape(column)}</th>'
        for _ in table.groups
        for place, column in enumerate(table.columns)
    )
    body, before = [], ""
    for line in table.lines:
        if line.group != before:
            before = line.group
            span = 1 + wide * len(table.groups)
            body.append(f'<tr class="kind"><th colspan="{span}">{GROUP_TITLES[before]}</th></tr>')
        body.append(_html_line(line, table))
    return (
        '<div class="scroll"><table><thead>'
        f'<tr><th rowspan="2" class="name">Method</th>{top}</tr><tr>{names}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _html_line(line: Line, table: Table) -> str:
    cells = "".join(
        f'<td class="{_classes(entry, place % len(table.columns) == 0)}">{_html_entry(entry, table)}</td>'
        for place, entry in enumerate(line.entries)
    )
    return f'<tr class="{line.group}"><th class="name">{escape(line.title)}</th>{cells}</tr>'


def _classes(entry: Entry, first: bool) -> str:
    return " ".join(filter(None, (("", "best", "second")[entry.place], "first" if first else "")))


def _html_entry(entry: Entry, table: Table) -> str:
    shown = "" if entry.printed is None else f'<span class="printed">{number(entry.printed)}</span>'
    if entry.value is None:
        return f'<span class="none">–</span>{shown}'
    mark = f"<sup>{entry.mark}</sup>" if entry.mark else ""
    seeds = f"{entry.value.seeds} seed{'s' if entry.value.seeds > 1 else ''}"
    return (
        f'<span title="{seeds}"><b>{number(entry.value.mean)}</b>{mark}'
        f'<span class="sd">{spread(entry.value, table)}</span></span>{shown}'
    )


def plain_html(headings: list[str], rows: list[list[str]]) -> str:
    """A table of texts; the first column names the row."""
    top = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f'<tr><th class="name">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    head = f'<tr><th class="name">{top[4:]}</tr>' if headings else ""
    sentences = any(len(cell) > SENTENCE for row in rows for cell in row[1:])
    kind = "plain words" if sentences else "plain"
    return (
        f'<div class="scroll"><table class="{kind}"><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    )


def plain_markdown(headings: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(headings)} |", "| --- |" + " --- |" * (len(headings) - 1)]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
