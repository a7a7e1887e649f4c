"""The options of settings, made from the settings' fields and what these say of their use (`state/setting.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import typer

from persimchat.app.commands.wanted import SETTINGS
from persimchat.state.errors import InputError
from persimchat.state.setting import GROUPS, hint_at
from persimchat.state.setting_texts import condition_in_words, default_in_words, option_name
from persimchat.state.settings import ABOUT, Settings

_OLD: Final = "old_"
"""Parameters of options' old names begin with this."""
_SCENARIO: Final = "scenario"
"""The parameter that names a scenario's file."""


def offered(later: Literal["resume", "branch"] | None) -> list[str]:
    """The settings that have an option of their own: all, or those that may change when a run goes on in that way."""
    allowed = {None: ("resume", "branch", "never"), "branch": ("resume", "branch"), "resume": ("resume",)}[later]
    return [name for name, about in ABOUT.items() if about.option is not None and about.changes in allowed]


def with_options(command: Callable[..., None], names: Sequence[str], *, later: bool = False) -> Callable[..., None]:
    """A command as Typer takes it, with a parameter an option.

    Args:
        command: the function; classes among its parameters are replaced by their fields.
        names: settings that have an option.
        later: whether a run goes on, which has values of its own.
    """
    taken = inspect.signature(command, eval_str=True).parameters.values()
    parameters: list[inspect.Parameter] = []
    for parameter in taken:
        for one in _fields_of(parameter.annotation) if is_dataclass(parameter.annotation) else [parameter]:
            if _stands_for_settings(one.annotation):
                parameters += [made for name in names for made in _parameters(name, later=later)]
            else:
                parameters.append(one.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    by_file = any(parameter.name == _SCENARIO for parameter in parameters)
    if by_file:
        parameters.append(_parameter(_OLD + _SCENARIO, Annotated[Path | None, typer.Option("--config", hidden=True)]))

    def called(**given: Any) -> None:
        settings = _settings_in(given, names)
        if by_file:
            _understand_old_scenario(given, settings)
        arguments = {}
        for parameter in taken:
            if is_dataclass(kind := parameter.annotation):
                values = {one.name: given.get(one.name, settings) for one in fields(kind)}
                arguments[parameter.name] = kind(**values)  # type: ignore[operator]
            else:
                arguments[parameter.name] = given[parameter.name]
        command(**arguments)

    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def choices_in(text: str) -> list[str]:
    """The choices of a list as one types it: separated by semicolons where there are any, else by commas.

    Raises:
        InputError: there is nothing between two separators.
    """
    choices = [choice.strip() for choice in text.split(";" if ";" in text else ",")]
    if not all(choices):
        raise InputError(
            "a choice is missing", where="--choices", remedy='Separate choices by commas: --choices "A,B".'
        )
    return choices


def _fields_of(kind: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    defaults = inspect.signature(kind).parameters
    for one in fields(kind):
        yield defaults[one.name].replace(annotation=hints[one.name])


def _stands_for_settings(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and SETTINGS in get_args(annotation)


def _parameters(name: str, *, later: bool) -> Iterator[inspect.Parameter]:
    """A setting's option, and hidden ones for its old names."""
    about, kind = ABOUT[name], _typed(Settings.model_fields[name].annotation)
    shown = typer.Option(
        option_name(name),
        *about.also,
        metavar=about.option,
        help=_help(name, later=later),
        rich_help_panel=GROUPS[about.group],
    )
    yield _parameter(name, Annotated[kind | None, shown])
    for old in about.formerly:
        yield _parameter(_OLD + old, Annotated[kind | None, typer.Option(option_name(old), hidden=True)])


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _typed(annotation: Any) -> Any:
    """What an option of the command line takes for a field; text where the field is more than one simple thing."""
    if get_origin(annotation) in (Union, UnionType):
        given = [part for part in get_args(annotation) if part is not type(None)]
        return _typed(given[0]) if len(given) == 1 else str
    return annotation if annotation in (int, float, bool) or get_origin(annotation) is Literal else str


def _help(name: str, *, later: bool) -> str:
    """What the option does, beside what it counts, its values and what holds without it."""
    about, field = ABOUT[name], Settings.model_fields[name]
    told = about.help or field.description or ""
    words = [f"{told[:1].upper()}{told[1:]}."]
    if condition := " and ".join(part for part in condition_in_words(name).split(" and ") if part != "mode=debate"):
        words.append(f"Only with {condition}.")
    kind = _typed(field.annotation)
    values = f"{', '.join(get_args(kind))}; " if get_origin(kind) is Literal else ""
    default = "the run's own" if later else default_in_words(name)
    return " ".join([*words, f"[dim]{values}default: {default}[/dim]"])


def _settings_in(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings that the options ask for, by name; None where an option was not given.

    Raises:
        InputError: one was given by two names.
    """
    found = {name: given[name] for name in names}
    for name in names:
        for old in ABOUT[name].formerly:
            if (value := given[_OLD + old]) is None:
                continue
            if found[name] is not None:
                raise InputError(
                    f"{option_name(name)} is given twice, also as {option_name(old)}",
                    remedy=f"Leave {option_name(old)} out.",
                )
            hint_at(option_name(old), option_name(name))
            found[name] = value
    if found.get("choices") is not None:
        found["choices"] = choices_in(found["choices"])
        found["answer_format"] = found["answer_format"] or "choice"  # choices alone ask for one of them
    return found


def _understand_old_scenario(given: dict[str, Any], settings: dict[str, Any]) -> None:
    """Let `--config FILE` be `--scenario FILE`, and `--scenario debate`, which it was before, `--mode debate`.

    Raises:
        InputError: one thing was given by two names.
    """
    file, old = given[_SCENARIO], given[_OLD + _SCENARIO]
    if "mode" in settings and str(file) in get_args(_typed(Settings.model_fields["mode"].annotation)):
        if settings["mode"] not in (None, str(file)):
            raise InputError("--mode is given twice, also as --scenario", remedy="Leave --scenario out.")
        hint_at(f"--scenario {file}", f"--mode {file}")
        settings["mode"], file = str(file), None
    if old is not None:
        if file is not None:
            raise InputError("--scenario is given twice, also as --config", remedy="Leave --config out.")
        hint_at("--config", "--scenario")
        file = old
    given[_SCENARIO] = file
