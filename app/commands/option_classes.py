"""Commands whose parameters are classes of options: each field is an option of its own. It imports little."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


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
