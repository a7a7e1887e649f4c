"""Commands whose parameters are classes of options: each field is an option of its own. It imports little."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from ...state.errors import InputError
from .option_groups import SETTINGS


def with_classes(command: Callable[..., None]) -> Callable[..., None]:
    """A command as Typer takes it, whose classes of options are replaced by their fields."""
    taken = inspect.signature(command, eval_str=True).parameters.values()

    def called(**given: Any) -> None:
        command(**gathered(taken, given))

    return as_command(command, called, [option for one in taken for option in options_of(one)])


def options_of(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The fields of a class of options as parameters; else the parameter itself."""
    kind = parameter.annotation
    if not is_dataclass(kind):
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(kind, include_extras=True)
    defaults = inspect.signature(kind).parameters  # type: ignore[arg-type]
    for one in fields(kind):
        yield defaults[one.name].replace(annotation=hints[one.name], kind=inspect.Parameter.KEYWORD_ONLY)


def gathered(taken: Collection[inspect.Parameter], given: Mapping[str, Any], otherwise: Any = None) -> dict[str, Any]:
    """The arguments of a command, with its classes of options made of their fields.

    Args:
        taken: the command's own parameters.
        given: the options by name.
        otherwise: of fields that are no options.
    """
    arguments: dict[str, Any] = {}
    for parameter in taken:
        if is_dataclass(kind := parameter.annotation):
            values = {one.name: given.get(one.name, otherwise) for one in fields(kind)}
            arguments[parameter.name] = kind(**values)  # type: ignore[operator]
        else:
            arguments[parameter.name] = given[parameter.name]
    return arguments


def as_command(
    command: Callable[..., None], called: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    """A function with a command's name and docstring, and with these parameters."""
    called.__name__, called.__doc__ = command.__name__, command.__doc__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


# Makes the options of settings from the fields of `Settings` and their metadata (`state/setting.py`)


def option_name(setting: str) -> str:
    """The option of the command line: `--max-messages`."""
    return "--" + setting.replace("_", "-")


def default_in_words(setting: str) -> str:
    """A setting's default: `10; debates: 60`, `no`, `not set`."""
    from ...state.kinds import Debate
    from ...state.kinds.groups import ABOUT, USUAL

    if usual := ABOUT[setting].usual:
        return usual
    free, debate = (_in_words({**USUAL, **own}[setting]) for own in ({}, Debate.DEFAULTS))
    return free if free == debate else f"{free}; debates: {debate}"


def condition_in_words(setting: str) -> str:
    """The values of other settings that it depends on: `pattern=need_to_talk and selection=softmax`; empty if none."""
    from ...state.kinds import conditions

    return ", or ".join(
        " and ".join(f"{name}={' or '.join(values)}" for name, values in way.items()) for way in conditions(setting)
    )


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "not set"
    return str(value) if value not in ([], {}) else "none"


def offered(later: Literal["resume", "branch"] | None) -> list[str]:
    """The settings with an option of their own: all, or those that may change when a run is resumed or branched."""
    from ...state.settings import ABOUT

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
                parameters += [_option(name, usual=default_of(name)) for name in names]
            else:
                parameters.append(one)

    def called(**given: Any) -> None:
        settings = _settings_in(given, names)
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


def _option(name: str, *, usual: str) -> inspect.Parameter:
    """A setting's option."""
    from ...state.setting import GROUPS
    from ...state.settings import ABOUT, Settings

    about, kind = ABOUT[name], _typed(Settings.model_fields[name].annotation)
    shown = typer.Option(
        option_name(name),
        *about.also,
        metavar=about.option,
        help=_help(name, usual),
        rich_help_panel=GROUPS[about.group],
    )
    kinds = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kinds, default=None, annotation=Annotated[kind | None, shown])


def _typed(annotation: Any) -> Any:
    """The type of an option for a field; text if the field is not of a simple type."""
    if get_origin(annotation) in (Union, UnionType):
        given = [part for part in get_args(annotation) if part is not type(None)]
        return _typed(given[0]) if len(given) == 1 else str
    return annotation if annotation in (int, float, bool) or get_origin(annotation) is Literal else str


def _help(name: str, usual: str) -> str:
    """The option's help: what it does, its condition, its values and its default."""
    from ...state.settings import ABOUT, Settings

    about, field = ABOUT[name], Settings.model_fields[name]
    told = about.help or field.description or ""
    words = [f"{told[:1].upper()}{told[1:]}."]
    if condition := " and ".join(part for part in condition_in_words(name).split(" and ") if part != "mode=debate"):
        words.append(f"Only with {condition}.")
    kind = _typed(field.annotation)
    values = f"{', '.join(get_args(kind))}; " if get_origin(kind) is Literal else ""
    return " ".join([*words, f"[dim]{values}default: {usual}[/dim]"])


def _settings_in(given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The settings that the options ask for, by name; None where an option was not given."""
    found = {name: given[name] for name in names}
    if found.get("choices") is not None:
        found["choices"] = choices_in(found["choices"])
        found["answer_format"] = found["answer_format"] or "choice"  # --choices alone means: one of them
    return found


# Commands with the options of settings; the options are made when a command is called, so the list stays fast


class _Called(TyperCommand):
    """A placeholder in the list of commands; makes the real command when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        made = self.callback.make_command()  # type: ignore[union-attr]
        return made.make_context(info_name, args, parent=parent, **extra)


def offer(
    app: typer.Typer,
    command: Callable[..., None],
    epilog: str,
    *,
    panel: str,
    without: tuple[str, ...] = (),
    later: Literal["resume", "branch"] | None = None,
    usual: Mapping[str, str] | None = None,
) -> None:
    """Add a command whose parameters are options, or classes of them (`option_groups.py`).

    Args:
        app: to which the command is added.
        command: the function; its name and docstring are the command's.
        epilog: the text below its help.
        panel: the part of the list of commands in which it stands.
        without: settings that get no option.
        later: only settings that may change when a run is resumed, or branched, get one; None for all settings.
        usual: defaults that are the command's own, in words, by setting.
    """

    def make_command() -> Any:
        one = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        names = [name for name in offered(later) if name not in without]
        one.command(command.__name__, epilog=epilog)(with_options(command, names, later=later is not None, usual=usual))
        return typer.main.get_command(one)

    def listed() -> None:
        """Replaced by the command's own."""

    listed.__name__, listed.__doc__ = command.__name__, command.__doc__
    listed.make_command = make_command  # type: ignore[attr-defined]
    app.command(cls=_Called, rich_help_panel=panel)(listed)
