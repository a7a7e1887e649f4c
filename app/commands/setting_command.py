"""Commands with the options of settings; the options are made when a command is called, so the list stays fast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import typer
from typer.core import TyperCommand


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
    """Add a command whose parameters are options, or classes of them (`wanted.py`).

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
        from persimchat.app.commands.setting_options import offered, with_options

        one = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        names = [name for name in offered(later) if name not in without]
        one.command(command.__name__, epilog=epilog)(with_options(command, names, later=later is not None, usual=usual))
        return typer.main.get_command(one)

    def listed() -> None:
        """Replaced by the command's own."""

    listed.__name__, listed.__doc__ = command.__name__, command.__doc__
    listed.make_command = make_command  # type: ignore[attr-defined]
    app.command(cls=_Called, rich_help_panel=panel)(listed)
