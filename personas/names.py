"""Finds the participant that a name means, with errors that suggest the nearest name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from persimchat.state.errors import InputError, nearest_word
from persimchat.state.names import matching
from persimchat.state.normalise import folded, visible_form
from persimchat.state.plain_text import quoted
from persimchat.state.settings import Settings

_MOST_SHOWN: Final = 60


def full_name(wanted: str, names: Sequence[str], *, what: str, where: str = "") -> str:
    """The one name among `names` that `wanted` means.

    Args:
        wanted: a full name or part of it.
        names: all full names.
        what: the kind of name, for the error, for example "participant".
        where: the place in words, for the error.

    Raises:
        InputError: it means no name, or several.
    """
    found = matching(wanted, names)
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"{quoted(wanted, _MOST_SHOWN)} may be {' or '.join(found)}", where=where, remedy="Write the full name."
        )
    raise InputError(f"there is no {what} {quoted(wanted, _MOST_SHOWN)}", where=where, remedy=nearest(wanted, names))


def refuse_second(name: str, others: Sequence[str], *, where: str) -> None:
    """Refuse a participant whose name looks like another's.

    Raises:
        InputError: there is such a name, even if the two differ in invisible characters or in their encoding.
    """
    form = visible_form(name)
    twin = next((other for other in others if visible_form(other) == form), None)
    if twin is not None:
        unlike = "" if twin.casefold() == name.casefold() else ", apart from similar or invisible characters"
        raise InputError(
            f"two participants are called {ascii(name) if unlike else repr(name)}{unlike}",
            where=where,
            remedy="Remove one, or give each a name of its own.",
        )


def nearest(wanted: str, names: Sequence[str]) -> str:
    """A remedy with the nearest name, whole or in part, or with all names if none is near."""
    forms = {form: name for name in names for form in (*folded(name).split(), folded(name))}
    near = nearest_word(folded(wanted), forms)
    return f"Choose one of: {', '.join(names)}." if near is None else f"Did you mean {forms[near]!r}?"


def with_full_names(settings: Settings, names: Sequence[str]) -> Settings:
    """Settings whose `agent_models` are given by the participants' full names.

    Args:
        settings: their `agent_models` may use first names.
        names: the participants' full names.

    Raises:
        InputError: a name in `agent_models` is not a participant's.
    """
    if not settings.agent_models:
        return settings
    models = {
        full_name(wanted, names, what="participant", where=f"field agent_models.{wanted}"): model
        for wanted, model in settings.agent_models.items()
    }
    return settings.model_copy(update={"agent_models": models})
