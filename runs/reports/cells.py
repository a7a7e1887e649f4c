"""Values as cells: harmless to terminals, spreadsheets, Markdown and HTML."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from persimchat.state.plain_text import clean

_FORMULA: Final = re.compile(r"'*\s*[=+\-@＝＋－＠]")
"""The beginning of a text that a spreadsheet would run as a formula, or that looks like one already guarded."""

_MARKS: Final = re.compile(r"([\\`*_\[\]<>#|~])")


def tidy(value: Any) -> Any:
    """A value with all texts in it cleaned of control characters."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): tidy(item) for key, item in value.items()}
    return [tidy(item) for item in value] if isinstance(value, list | tuple) else value


def as_json(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def cell(value: Any) -> str:
    """A tidy value as the text of a cell: empty for None, JSON for what is neither text nor None."""
    if value is None:
        return ""
    return value if isinstance(value, str) else as_json(value)


def guarded(value: Any) -> str:
    """A tidy value as a cell of a CSV file: a text that a spreadsheet would run has an apostrophe in front of it."""
    text = cell(value)
    return f"'{text}" if isinstance(value, str) and _FORMULA.match(text) else text


def markdown(text: str) -> str:
    """Text on one line of a Markdown table, where nothing in it is markup."""
    return _MARKS.sub(r"\\\1", text.replace("&", "&amp;")).strip().replace("\n", "<br>")
