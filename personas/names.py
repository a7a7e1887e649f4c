"""What readers of files share: names that mean participants, and errors that name file, line, field and remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from ..state.document import Document, Location
from ..state.errors import InputError, nearest_word
from ..state.plain_text import folded, matching, quoted, visible_form
from ..state.settings import Settings
from ..state.validation_errors import input_error

_MOST_SHOWN: Final = 60
Model = TypeVar("Model", bound=BaseModel)


def wrong(document: Document, at: Location, what: str, remedy: str) -> InputError:
    """The error that something in a document is wrong."""
    return InputError(what, where=document.where(at), remedy=remedy)


def validated(
    model: type[Model],
    given: Any,
    document: Document | None = None,
    at: Location = (),
    *,
    where: str = "",
    context: Any = None,
) -> Model:
    """Data as a model has them.

    Args:
        model: which checks them.
        given: the data.
        document: from which they come, for errors; without it, from nowhere else.
        at: where in it they stand.
        where: the place in words, if no document knows it.
        context: of the model's checks.

    Raises:
        InputError: they are not valid; naming file, line, field and remedy.
    """
    try:
        return model.model_validate(given, context=context)
    except ValidationError as error:
        raise input_error(error, model, document or Document(given), at, where=where) from None


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
    shown = quoted(wanted, _MOST_SHOWN)
    if found:
        raise InputError(f"{shown} may be {' or '.join(found)}", where=where, remedy="Write the full name.")
    raise InputError(f"there is no {what} {shown}", where=where, remedy=nearest(wanted, names))


def by_full_name(document: Document, at: Location, names: Sequence[str]) -> dict[str, Any]:
    """A mapping from participants, with their full names as keys; empty if there is none.

    Args:
        document: the scenario.
        at: where in it the mapping stands.
        names: the participants' full names.

    Raises:
        InputError: it is not a mapping, or has an unknown name, or one participant twice.
    """
    given: Any = document.data
    for part in at:
        given = given.get(part) if isinstance(given, Mapping) else None
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        remedy = f"Write lines 'name: …' under it; participants are {', '.join(names)}."
        raise wrong(document, at, f"{at[-1]} is not a mapping", remedy)
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = full_name(str(key), names, what="participant", where=document.where((*at, key)))
        if name in found:
            raise wrong(document, (*at, key), f"{name!r} is named twice", "Put both under one name.")
        found[name] = value
    return found


def refuse_second(name: str, others: Sequence[str], *, where: str) -> None:
    """Refuse a participant whose name looks like another's.

    Raises:
        InputError: there is such a name, even if the two differ in invisible characters or in their encoding.
    """
    twin = next((other for other in others if visible_form(other) == visible_form(name)), None)
    if twin is not None:
        unlike = "" if twin.casefold() == name.casefold() else ", apart from similar or invisible characters"
        what = f"two participants are called {ascii(name) if unlike else repr(name)}{unlike}"
        raise InputError(what, where=where, remedy="Remove one, or give each a name of its own.")


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
