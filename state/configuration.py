"""Reads settings from all their sources: defaults < scenario < YAML file < environment < arguments.

No other module reads settings from the environment. Each source is checked separately, so that an error can name the
file and line, the variable or the argument that holds the wrong value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from .document import Document, Location, parse_value, read_document
from .errors import InputError, suggestion
from .kinds import fitting
from .settings import PART, Settings
from .validation_errors import expected, input_error, valid_fields

ENVIRONMENT: Final = "environment"
"""With this begins the place of an error in an environment variable."""
PREFIX: Final = "PERSIMCHAT_"
"""Environment variables of this prefix are settings."""

_WHOLE: Final = ("prompts",)
"""Settings that are a mapping and one value all the same."""
NOT_SETTINGS: Final = frozenset(
    {
        "PERSIMCHAT_SHARED",
        "PERSIMCHAT_TEST_POSTGRES",
        "PERSIMCHAT_API_KEY",
        "PERSIMCHAT_KEY_HOSTS",
        "PERSIMCHAT_MODELS",
        "PERSIMCHAT_LOCAL_LOG",
        "PERSIMCHAT_TOKEN",
    }
)
"""Variables with the prefix that are not settings: for tests (a folder of data, a server), a model server's key, the
hosts that get it, the folder of model files, the log file of llama.cpp, and the token of
the page."""


def load_settings(
    file: Path | str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    scenario: Mapping[str, Any] | None = None,
    base: Settings | None = None,
    **arguments: Any,
) -> Settings:
    """Merge all sources into settings; a later source overrides an earlier one, key by key within mappings.

    Args:
        file: a YAML or JSON file of settings.
        environment: the environment's variables, `os.environ` if None. `PERSIMCHAT_MAX_MESSAGES=20` sets
            `max_messages`, `PERSIMCHAT_WEIGHTS__RECENCY=2` sets `weights.recency`; lists and mappings are written in
            JSON or YAML. An empty variable counts as not set. No .env file is read.
        scenario: the settings of a scenario.
        base: settings below all others.
        **arguments: settings by name; a dotted name reaches inside (`**{"weights.recency": 2}`).

    Raises:
        InputError: a source is invalid; the error names source, field, value, bound and remedy.
    """
    below = [(Document(base.model_dump(exclude_unset=True)), "")] if base is not None else []
    own: list[tuple[Document, str]] = []
    if scenario:
        own.append((Document(scenario, "the scenario's settings"), ""))
    if file is not None:
        own.append((read_document(Path(file)), ""))
    around = list(_from_environment(os.environ if environment is None else environment))
    last = list(_from_arguments(arguments))
    merged: dict[str, Any] = {}
    for given, where in (*below, *own, *around, *last):
        _check(given, where)
        merged = _joined(merged, given.data)
    # Base and environment are for all kinds, so what this conversation does not have is left out of them, not refused.
    asked = {name for given, _ in (*own, *last) for name in given.data}
    merged = {**fitting(merged), **{name: merged[name] for name in asked}}
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise input_error(error, Settings, Document(merged)) from None


def parse_assignment(text: str) -> tuple[str, Any]:
    """A setting as written on a command line, `name=value`, as name and value.

    The value is read as YAML: `max_messages=20`, `concurrent=false`, `weights.recency=2`,
    `agent_models={Eva: offline}`. Text needs no quotes.

    Raises:
        InputError: there is no `=`, no such setting, or the value is not well-formed.
    """
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not name:
        raise InputError(f"{text!r} is not a setting", remedy="Write name=value, for example max_messages=20.")
    path = _path(name)
    _require_known(path, f"setting {name}")
    return ".".join(path), _typed(value, path, f"setting {name}")


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[Document, str]]:
    """One document per variable, in order of names."""
    for variable in sorted(environment):
        if not variable.upper().startswith(PREFIX) or variable.upper() in NOT_SETTINGS:
            continue
        where = f"{ENVIRONMENT} variable {variable}"
        head, *inner = variable[len(PREFIX) :].split("__")
        path: tuple[str, ...] = (head.lower(), *inner)
        if path[0] not in Settings.model_fields:
            known = {f"{PREFIX}{field.upper()}" for field in Settings.model_fields}
            raise InputError(
                f"{variable} is not a setting", where=ENVIRONMENT, remedy=suggestion(variable.upper(), sorted(known))
            )
        if valid_fields(Settings, path[:1]):
            path = tuple(part.lower() for part in path)
        _require_known(path, where)
        if environment[variable].strip():
            yield _nested(path, _typed(environment[variable], path, where)), where


def _from_arguments(arguments: Mapping[str, Any]) -> Iterator[tuple[Document, str]]:
    """One document per argument, in the order given."""
    for name, value in arguments.items():
        path = _path(name)
        _require_known(path, f"argument {name}")
        yield _nested(path, value), f"argument {name}"


def _path(name: str) -> tuple[str, ...]:
    """A dotted name in parts. Within a mapping with free names, the rest is one part: `prices.gpt-4.1`."""
    head, dot, rest = name.partition(".")
    if not dot:
        return (head,)
    anything = not valid_fields(Settings, (head,)) and expected(Settings, (head,)).startswith("a mapping")
    return (head, rest) if anything else (head, *rest.split("."))


def _require_known(path: tuple[str, ...], where: str) -> None:
    """Refuse a path that leads to no setting."""
    for depth, part in enumerate(path):
        known = valid_fields(Settings, path[:depth])
        if (known and part not in known) or not part:
            remedy = suggestion(part, known) if known else "Write a name after the dot."
            raise InputError(f"unknown setting {'.'.join(path)!r}", where=where, remedy=remedy)
        if not known and not expected(Settings, path[:depth]).startswith("a mapping"):
            raise InputError(
                f"setting {'.'.join(path[:depth])!r} has no parts",
                where=where,
                remedy=f"Give it {expected(Settings, path[:depth])}.",
            )


def _typed(text: str, path: Location, where: str) -> Any:
    """Parse text as a value. For a setting that takes text it stays text, except that `null` means None."""
    if len(path) == 1 and path[0] in _WHOLE and not text.lstrip().startswith("{"):
        return text.strip()  # a folder, whatever its name looks like
    takes = expected(Settings, path)
    if takes.startswith(("text", "one of")):
        return None if text.strip() in ("null", "~") else text.strip()
    try:
        return parse_value(text)
    except ValueError as error:
        raise InputError(f"the value cannot be read: {error}", where=where, remedy=f"Give {takes}.") from None


def _nested(path: tuple[str, ...], value: Any) -> Document:
    data = value
    for part in reversed(path):
        data = {part: data}
    return Document(data)


def _check(document: Document, where: str) -> None:
    """Validate one source separately."""
    try:
        Settings.model_validate(dict(document.data), context=PART)
    except ValidationError as error:
        raise input_error(error, Settings, document, where=where) from None


def _joined(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> dict[str, Any]:
    """Two sources as one: the later wins, mappings but those in `_WHOLE` key by key."""
    joined = dict(earlier)
    for key, value in later.items():
        both = isinstance(joined.get(key), Mapping) and isinstance(value, Mapping) and key not in _WHOLE
        joined[key] = _joined(joined[key], value) if both else value
    return joined
