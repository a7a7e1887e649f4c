"""The texts of the pages: one catalogue for all languages, with a file in `strings/` for each area.

An entry is a mapping of languages to texts, `{en: …, cs: …}`. A text may have placeholders in braces. A text that
depends on a number is a mapping of the plural forms (`one`, `few`, `other`), chosen by the value `n`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from nicegui import context

from ...state.kinds import added

LANGUAGES: Final = {"en": "English", "cs": "Čeština", "de": "Deutsch"}
"""The languages of the pages by code, each under its own name."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where it is there: it reads the catalogue in a tenth of the time."""

Entry = dict[str, str | dict[str, str]]

_NOTATIONS: Final = {
    "cs": str.maketrans({",": "\u00a0", ".": ","}),
    "de": str.maketrans({",": ".", ".": ","}),
}
"""How a number in English notation is converted to that of a language."""


@cache
def catalogue() -> dict[str, Entry]:
    """Every entry by `area.name`."""
    found: dict[str, Entry] = {}
    for file in sorted(files("persimchat.app.web").joinpath("strings").iterdir(), key=lambda file: file.name):
        if file.name.endswith(".yaml"):
            area = file.name.removesuffix(".yaml")
            entries = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
            found |= {f"{area}.{name}": entry for name, entry in entries.items()}
    for name, kind in added().items():  # their words are in one language
        about = (kind.__doc__ or "").strip().partition("\n")[0]
        said = {f"past.mode_{name}": kind.TITLE, f"setup.kind_{name}": kind.TITLE, f"setup.kind_{name}_about": about}
        found |= {key: dict[str, str | dict[str, str]].fromkeys(LANGUAGES, words) for key, words in said.items()}
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
        values: for the placeholders: whole numbers are written as the language does, all else is inserted unchanged;
            `n` also chooses the plural form.

    Raises:
        KeyError: there is no such entry, or a value is missing: a mistake in the program.
    """
    text = catalogue()[key][language]
    if isinstance(text, dict):
        text = text[plural(language, values["n"])] if plural(language, values["n"]) in text else text["other"]
    shown = {name: localised(f"{one:,}", language) if type(one) is int else one for name, one in values.items()}
    return text.format(**shown) if values else text


def language() -> str:
    """The language of the current page; English outside of pages."""
    try:
        chosen = context.client.storage.get("language")
    except RuntimeError:  # outside of a page
        return "en"
    return chosen if chosen in LANGUAGES else "en"


def localised(text: str, to: str = "") -> str:
    """A number in English notation, converted to that of a language; of the page's, if none is given."""
    return text.translate(_NOTATIONS.get(to or language(), {}))


def number(value: float, decimals: int = 0) -> str:
    """A number in the notation of the page's language."""
    return localised(f"{value:,.{decimals}f}")


def t(key: str, **values: Any) -> str:
    """A text of the catalogue in the language of the current page; see `worded`."""
    return worded(key, language(), **values)
