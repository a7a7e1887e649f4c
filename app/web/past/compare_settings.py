"""The differences of two runs' set-ups, in the words of the form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from persimchat.app.web.setup.setting_field import label_of, option_of
from persimchat.app.web.setup.specs import specs
from persimchat.app.web.words import catalogue, t
from persimchat.runs.reports.diff import Difference
from persimchat.runs.reports.words import compact, spaced
from persimchat.state.pruning import Pruning

_SETTINGS: Final = "settings."
_PRUNING: Final = "settings.pruning."


def changes_of(setup: Sequence[Difference]) -> list[tuple[str, str, str]]:
    """The name of what differs, and its value in each run; values of pruning that a run does not name are the usual."""
    usual = Pruning().model_dump(mode="json")
    found = []
    for change in setup:
        what, a, b = change.what, change.a, change.b
        if what.startswith(_PRUNING):
            part = what.removeprefix(_PRUNING)
            a, b = (usual.get(part) if given is None else given for given in (a, b))
            if a == b:
                continue
        found.append((_named(what), _set_to(what, a), _set_to(what, b)))
    return found


def _setting(what: str) -> str:
    """The setting that a change is about; empty if it is about something else."""
    name = what.removeprefix(_SETTINGS)
    return name if name != what and name in specs() else ""


def _named(what: str) -> str:
    if what.startswith(_PRUNING):
        part = what.removeprefix(_PRUNING)
        key = "settings.pruning" if part == "lambda" else f"setup.pruning_{part}"
        name = t(key) if key in catalogue() else spaced(part)
        return f"{name} (λ)" if part == "lambda" else name
    setting = _setting(what)
    if what == "scenario.topic":
        return t("setup.topic")
    return label_of(setting) if setting else _sentence(spaced(what.removeprefix(_SETTINGS).removeprefix("scenario.")))


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _set_to(what: str, given: Any) -> str:
    """A value in the words of the form."""
    key = f"setup.pruning_{what.removeprefix(_PRUNING)}_{given}"
    if what.startswith(_PRUNING) and key in catalogue():
        return t(key)
    if what == f"{_PRUNING}remove":
        return ", ".join(t(f"setup.pruning_block_{letter}") for letter in given) or t("past.unknown")
    if isinstance(given, bool):
        return t("past.yes" if given else "past.no")
    name = _setting(what)
    if name and given in specs()[name].options:
        return option_of(name, str(given))
    return t("past.unknown") if given is None else compact(given)
