"""The texts that people read in their own language: one catalogue, with a file in `strings/` for each area.

An entry is a mapping of languages to texts, `{en: …, cs: …}`. A text may have placeholders in braces. A text that
depends on a number is a mapping of the plural forms (`one`, `few`, `other`), chosen by the value `n`. A page has the
language of its reader; reports and transcripts have that of their run, where the catalogue has it, else English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from importlib.resources import files
from typing import Any, Final

import yaml

from .kinds import added
from .language import ENGLISH
from .plain_text import one_line

LANGUAGES: Final = {"en": "English", "cs": "Čeština", "de": "Deutsch"}
"""The languages of the catalogue by code, each under its own name."""

_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's, where it is there: it reads the catalogue in a tenth of the time."""

Entry = dict[str, str | dict[str, str]]

_NOTATIONS: Final = {
    "cs": str.maketrans({",": "\u00a0", ".": ","}),
    "de": str.maketrans({",": ".", ".": ","}),
}
"""How a number in English notation is converted to that of a language."""

_LANGUAGE: Final = ContextVar("language", default="")
_pages: list[Callable[[], str]] = []


def of_pages(code: Callable[[], str]) -> None:
    """Say how the language of the page that is being drawn is found; outside of pages, the function gives English."""
    _pages[:] = [code]


@contextmanager
def in_language(tag: str) -> Iterator[None]:
    """Within this context, texts are in a language of the catalogue: that of the tag (BCP 47), else English."""
    code = tag.partition("-")[0]
    token = _LANGUAGE.set(code if code in LANGUAGES else ENGLISH)
    try:
        yield
    finally:
        _LANGUAGE.reset(token)


def language() -> str:
    """The code of the language of this context, else of the page that is being drawn, else of English."""
    return _LANGUAGE.get() or (_pages[0]() if _pages else ENGLISH)


@cache
def _area(name: str) -> dict[str, Entry]:
    """The entries of one file; none if there is no such file."""
    file = files("persimchat.state").joinpath("strings", f"{name}.yaml")
    return yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER) if file.is_file() else {}


@cache
def _of_kinds() -> dict[str, Entry]:
    """The words of kinds of conversation that packages add, which are in one language."""
    found: dict[str, Entry] = {}
    for name, kind in added().items():
        about = (kind.__doc__ or "").strip().partition("\n")[0]
        said = {f"past.mode_{name}": kind.TITLE, f"setup.kind_{name}": kind.TITLE, f"setup.kind_{name}_about": about}
        found |= {key: dict[str, str | dict[str, str]].fromkeys(LANGUAGES, words) for key, words in said.items()}
    return found


def entry(key: str) -> Entry | None:
    """The entry of a key, `area.name`; None if there is none."""
    area, _, name = key.partition(".")
    return _area(area).get(name) or _of_kinds().get(key)


def catalogue() -> dict[str, Entry]:
    """Every entry by `area.name`."""
    folder = files("persimchat.state").joinpath("strings")
    areas = sorted(file.name.removesuffix(".yaml") for file in folder.iterdir() if file.name.endswith(".yaml"))
    return {f"{area}.{name}": one for area in areas for name, one in _area(area).items()} | _of_kinds()


def plural(code: str, number: float) -> str:
    """The plural form that a number takes: `one`, `few` (Czech: 2–4) or `other`."""
    if number == 1:
        return "one"
    return "few" if code == "cs" and number in (2, 3, 4) else "other"


def worded(key: str, code: str, **values: Any) -> str:
    """A text of the catalogue.

    Args:
        key: `area.name`.
        code: of the language.
        values: for the placeholders: whole numbers are written as the language does, all else is inserted unchanged;
            `n` also chooses the plural form.

    Raises:
        KeyError: there is no such entry, or a value is missing: a mistake in the program.
    """
    found = entry(key)
    if found is None:
        raise KeyError(key)
    text = found[code]
    if isinstance(text, dict):
        text = text[plural(code, values["n"])] if plural(code, values["n"]) in text else text["other"]
    shown = {name: localised(f"{one:,}", code) if type(one) is int else one for name, one in values.items()}
    return text.format(**shown) if values else text


def localised(text: str, code: str | None = None) -> str:
    """A number in English notation, converted to that of a language; by default, the current one."""
    return text.translate(_NOTATIONS.get(language() if code is None else code, {}))


def number(value: float, decimals: int = 0) -> str:
    """A number in the notation of the current language."""
    return localised(f"{value:,.{decimals}f}")


def t(key: str, **values: Any) -> str:
    """A text of the catalogue in the current language; see `worded`."""
    return worded(key, language(), **values)


def listed(names: Sequence[str]) -> str:
    """Names in a row, each on one line: "A", "A and B", "A, B and C"."""
    shown = [one_line(name) for name in names]
    return "".join(shown) if len(shown) < 2 else t("chat.and", many=", ".join(shown[:-1]), last=shown[-1])


def all_of(names: Iterable[str]) -> str:
    """Names with "and" between all of them; empty of none."""
    each = list(names)
    return reduce(lambda many, last: t("chat.and", many=many, last=last), each) if each else ""


def t_or(key: str, otherwise: str) -> str:
    """A text without placeholders in the current language; what is given, if there is no such entry."""
    return otherwise if entry(key) is None else t(key)


def said(text: str) -> str:
    """What the code or one of its tables says in English, in the current language; itself, if there is no such entry.

    The entry is called by the first ten words: `findings.said_not_shown` says "not shown".
    """
    name = "_".join(re.findall(r"[a-z0-9_]+", text.lower())[:10])
    return text if language() == ENGLISH else t_or(f"findings.said_{name}", text)
