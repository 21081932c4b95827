"""HTML for notebooks: tables without scripts or colors, so that they fit light and dark themes."""

from __future__ import annotations

import html
from typing import Any, Sequence


def escaped(text: Any) -> str:
    return html.escape(str(text))


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, note: str = "",
          html_columns: Sequence[int] = ()) -> str:
    """Makes a table. Numbers are right-aligned. `html_columns` contain HTML; other columns contain text."""
    def cell(index: int, value: Any) -> str:
        content = str(value) if index in html_columns else escaped(value)
        side = "right" if isinstance(value, (int, float)) or str(value)[:1].isdigit() else "left"
        return f'<td style="text-align:{side}">{content}</td>'

    head = "".join(f'<th style="text-align:left">{escaped(column)}</th>' for column in columns)
    body = "".join("<tr>" + "".join(cell(*item) for item in enumerate(row)) + "</tr>" for row in rows)
    below = f"<div>{escaped(note)}</div>" if note else ""
    return f"<div>{escaped(caption)}</div><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"
