"""Makes the options of settings from the fields of `Settings` and their metadata (`state/setting.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import typer

from persimchat.app.commands.option_classes import as_command, gathered, options_of
from persimchat.app.commands.wanted import SETTINGS
from persimchat.state.errors import InputError
from persimchat.state.setting import GROUPS, hint_at
from persimchat.state.settings import ABOUT, Settings


def option_name(setting: str) -> str:
    """The option of the command line: `--max-messages`."""
    return "--" + setting.replace("_", "-")


def default_in_words(setting: str) -> str:
    """A setting's default: `10; debates: 60`, `no`, `not set`."""
    field, about = Settings.model_fields[setting], ABOUT[setting]
    if about.usual:
        return about.usual
    free, debate = (
        _in_words(field.get_default(call_default_factory=True, validated_data={"mode": mode}))
        for mode in ("discussion", "debate")
    )
    return free if free == debate else f"{free}; debates: {debate}"


def condition_in_words(setting: str) -> str:
    """The values of other settings that it depends on: `pattern=need_to_talk and selection=softmax`; empty if none."""
    about = ABOUT[setting]
    ways = [" and ".join(f"{name}={' or '.join(values)}" for name, values in way.items()) for way in about.conditions]
    return ", or ".join(ways)


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "not set"
    return str(value) if value not in ([], {}) else "none"


_OLD: Final = "old_"
"""Prefix of the parameters for options' old names."""
_SCENARIO: Final = "scenario"
"""The parameter that names a scenario's file."""


def offered(later: Literal["resume", "branch"] | None) -> list[str]:
    """The settings with an option of their own: all, or those that may change when a run is resumed or branched."""
    allowed = {None: ("resume", "branch", "never"), "branch": ("resume", "branch"), "resume": ("resume",)}[later]
    return [name for name, about in ABOUT.items() if about.option is not None and about.changes in allowed]


def with_options(
    command: Callable[..., None], names: Sequence[str], *, later: bool = False, usual: Mapping[str, str] | None = None
) -> Callable[..., None]:
    """A command as Typer takes it: one parameter per option.

    Args:
        command: the function; classes among its parameters are replaced by their fields.
        names: settings that have an option.
        later: whether the command continues a run, which has values of its own.
        usual: defaults that are the command's own, in words, by setting.
    """

    def default_of(name: str) -> str:
        return "the run's own" if later else (usual or {}).get(name) or default_in_words(name)

    taken = inspect.signature(command, eval_str=True).parameters.values()
    parameters: list[inspect.Parameter] = []
    for parameter in taken:
        for one in options_of(parameter):
            if _stands_for_settings(one.annotation):
                parameters += [made for name in names for made in _parameters(name, usual=default_of(name))]
            else:
                parameters.append(one)

    by_file = any(parameter.name == _SCENARIO for parameter in parameters)
    if by_file:
        parameters.append(_parameter(_OLD + _SCENARIO, Annotated[Path | None, typer.Option("--config", hidden=True)]))

    def called(**given: Any) -> None:
        settings = _settings_in(given, names)
        if by_file:
            _understand_old_scenario(given, settings)
        command(**gathered(taken, given, settings))

    return as_command(command, called, parameters)


def choices_in(text: str) -> list[str]:
    """The choices in a typed list, separated by semicolons if it has any, else by commas.

    Raises:
        InputError: a choice between two separators is empty.
    """
    choices = [choice.strip() for choice in text.split(";" if ";" in text else ",")]
    if not all(choices):
        raise InputError(
            "a choice is missing", where="--choices", remedy='Separate choices by commas: --choices "A,B".'
        )
    return choices


def _stands_for_settings(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and SETTINGS in get_args(annotation)


def _parameters(name: str, *, usual: str) -> Iterator[inspect.Parameter]:
    """A setting's option, and hidden ones for its old names."""
    about, kind = ABOUT[name], _typed(Settings.model_fields[name].annotation)
    shown = typer.Option(
        option_name(name),
        *about.also,
        metavar=about.option,
        help=_help(name, usual),
        rich_help_panel=GROUPS[about.group],
    )
    yield _parameter(name, Annotated[kind | None, shown])
    for old in about.formerly:
        yield _parameter(_OLD + old, Annotated[kind | None, typer.Option(option_name(old), hidden=True)])


def _parameter(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _typed(annotation: Any) -> Any:
    """The type of an option for a field; text if the field is not of a simple type."""
    if get_origin(annotation) in (Union, UnionType):
        given = [part for part in get_args(annotation) if part is not type(None)]
        return _typed(given[0]) if len(given) == 1 else str
    return annotation if annotation in (int, float, bool) or get_origin(annotation) is Literal else str


def _help(name: str, usual: str) -> str:
    """The option's help: what it does, its condition, its values and its default."""
    about, field = ABOUT[name], Settings.model_fields[name]
    told = about.help or field.description or ""
    words = [f"{told[:1].upper()}{told[1:]}."]
    if condition := " and ".join(part for part in condition_in_words(name).split(" and ") if part != "mode=debate"):
        words.append(f"Only with {condition}.")
    kind = _typed(field.annotation)
    values = f"{', '.join(get_args(kind))}; " if get_origin(kind) is Literal else ""
    return " ".join([*words, f"[dim]{values}default: {usual}[/dim]"])


def _settings_in(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings that the options ask for, by name; None where an option was not given.

    Raises:
        InputError: a setting was given by two names.
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
        found["answer_format"] = found["answer_format"] or "choice"  # --choices alone means: one of them
    return found


def _understand_old_scenario(given: dict[str, Any], settings: dict[str, Any]) -> None:
    """Read the old `--config FILE` as `--scenario FILE`, and the old `--scenario debate` as `--mode debate`.

    Raises:
        InputError: an option was given by its old and its new name.
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
