"""The pages' texts: one catalogue for all languages, a file in `strings/` for each area.

An entry is a mapping of languages to texts, `{en: …, cs: …}`. A text may have places for values in braces. Where a text
depends on a number, it is a mapping of the plural forms (`one`, `few`, `other`), chosen by the value `n`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from nicegui import context

LANGUAGES: Final = {"en": "English", "cs": "Čeština"}
"""Languages of the pages, by code, in their own words."""

Entry = dict[str, str | dict[str, str]]

_CZECH: Final = str.maketrans({",": "\u00a0", ".": ","})


@cache
def catalogue() -> dict[str, Entry]:
    """Every entry by `area.name`."""
    found: dict[str, Entry] = {}
    for file in sorted(files("persimchat.app.web").joinpath("strings").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            area = file.name.removesuffix(".yaml")
            entries = yaml.safe_load(file.read_text(encoding="utf-8"))
            found |= {f"{area}.{name}": entry for name, entry in entries.items()}
    return found


def plural(language: str, number: float) -> str:
    """The plural form that a number takes: `one`, `few` (Czech: 2–4) or `other`."""
    if number == 1:
        return "one"
    return "few" if language == "cs" and number in (2, 3, 4) else "other"


def worded(key: str, language: str, **values: Any) -> str:
    """A text of the catalogue.

    Args:
        key: `area.name`.
        language: its code.
        values: for the places in the text; `n` also chooses the plural form. They are put in as they are.

    Raises:
        KeyError: there is no such entry, or it lacks a value: a mistake in the program.
    """
    text = catalogue()[key][language]
    if isinstance(text, dict):
        text = text[plural(language, values["n"])] if plural(language, values["n"]) in text else text["other"]
    return text.format(**values) if values else text


def language() -> str:
    """The language of the page that is being drawn; English outside of pages."""
    try:
        chosen = context.client.storage.get("language")
    except RuntimeError:  # no page is being drawn
        return "en"
    return chosen if chosen in LANGUAGES else "en"


def localised(text: str) -> str:
    """A number that was written in the English way, as the page's language writes it."""
    return text.translate(_CZECH) if language() == "cs" else text


def number(value: float, decimals: int = 0) -> str:
    """A number as the page's language writes it."""
    return localised(f"{value:,.{decimals}f}")


def t(key: str, **values: Any) -> str:
    """A text of the catalogue in the language of the page that is being drawn; see `worded`."""
    return worded(key, language(), **values)
