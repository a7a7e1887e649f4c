"""A graph's context: the settings, with the defaults of the named graph, and errors in plain words.

LangGraph itself makes the context from a mapping, with the class that a graph names as its context schema. That class
turns a validator's errors into `InputError`, so that users read plain words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Self

from pydantic import ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.fields import ComputedFieldInfo, FieldInfo

from ..state.document import Document
from ..state.errors import InputError
from ..state.kinds import Choice, offered
from ..state.settings import Settings
from ..state.validation_errors import input_error

PRESET: Final = "__persimchat_preset"
"""Key in `configurable` of a graph's own defaults, for runs without a context."""

_SPELLED: Final = {"usd": "(USD)", "s": "(seconds)", "stm": "STM", "ltm": "LTM"}


def checked(given: Mapping[str, Any], place: str = "the context") -> Settings:
    """Validate a mapping of settings.

    Args:
        given: values by setting.
        place: the name of the mapping in errors.

    Raises:
        InputError: a setting is invalid; the error names field, value, bound and remedy.
    """
    try:
        return Settings.model_validate(dict(given))
    except ValidationError as error:
        raise input_error(error, Settings, Document(given, place)) from None


def title(name: str, _: FieldInfo | ComputedFieldInfo | None = None) -> str:
    """A setting's name as a form shows it: "budget_usd" is "Budget (USD)"."""
    words = [_SPELLED.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


class Context(Settings):
    """The settings as a graph's context schema, with errors in plain words."""

    model_config = ConfigDict(title="Settings", field_title_generator=title)

    graph: ClassVar[str] = ""
    """The name of the graph that this is for; empty for any graph."""
    preset: ClassVar[Mapping[str, Any]] = {}
    """That graph's own defaults."""

    @model_validator(mode="wrap")
    @classmethod
    def _in_plain_words(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        given = {**cls.preset, **data}
        if cls.graph and given.get("baseline") != cls.preset.get("baseline"):
            raise InputError(
                f"the graph {cls.graph!r} cannot hold a conversation with baseline={given['baseline']}",
                where="the context, field baseline",
                remedy="Leave it out, or use the graph named after the baseline.",
            )
        try:
            return handler(given)
        except ValidationError as error:
            raise input_error(error, Settings, Document(given, "the context")) from None


def context_of(name: str, promised: Mapping[str, Any], kind: type[Choice]) -> type[Context]:
    """The context schema of one graph; its form shows what that graph heeds, with its own defaults.

    Args:
        name: the graph's name, for errors and forms.
        promised: settings that differ from the usual defaults; given settings override them, except for the baseline,
            which is the graph itself.
        kind: of conversation.
    """
    defaults = Settings(**promised).whole()

    def only_its_own(schema: dict[str, Any]) -> None:
        shown = schema["properties"]
        schema["properties"] = {field: {**shown[field], "default": defaults[field]} for field in offered(kind)}

    class Named(Context):
        model_config = ConfigDict(title=f"Settings of {name}", json_schema_extra=only_its_own)
        graph = name
        preset = dict(promised)

    Named.__doc__ = Settings.__doc__
    return Named


def settings_of(given: object) -> Settings:
    """The settings of an argument `settings`, which may be `Settings` or a mapping.

    Raises:
        InputError: the argument is neither, or its settings are invalid.
    """
    if isinstance(given, Settings):
        return given
    if isinstance(given, Mapping):
        return checked(given, "argument settings")
    raise wrong_type("settings", given, "Give Settings(max_messages=8), for example.")


def listed(name: str, given: object) -> list[Any]:
    """The items of an argument as a list.

    Args:
        name: the argument's name.
        given: its value.

    Raises:
        InputError: the value is a text, a mapping, or not iterable.
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise wrong_type(name, given, "Give a list.")
    return list(given)


def mapped(name: str, given: object) -> dict[str, Any]:
    """The argument as a dict.

    Args:
        name: the argument's name.
        given: its value.

    Raises:
        InputError: the value is not a mapping.
    """
    if not isinstance(given, Mapping):
        raise wrong_type(name, given, "Give a mapping, {…: …}.")
    return dict(given)


def wrong_type(name: str, given: object, remedy: str) -> InputError:
    """The error for an argument of a wrong type.

    Args:
        name: the argument's name.
        given: its value.
        remedy: what to give instead, a sentence.
    """
    return InputError(f"this cannot be of type {type(given).__name__}", where=f"argument {name}", remedy=remedy)
