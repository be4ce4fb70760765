"""Small tables for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return escape(str(value))


def table(title: str, rows: Mapping[str, Any]) -> str:
    """Names and values."""
    body = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{cell(value)}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table><caption><code>{escape(title)}</code></caption>{body}</table>"


def grid(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with a header row."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
