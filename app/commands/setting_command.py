"""Commands with the options of settings, which are made when a command is called: the list of commands needs none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import typer
from typer.core import TyperCommand


class _Called(TyperCommand):
    """Stands for a command in the list of commands, and makes it when it is called."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        made = self.callback.make_command()  # type: ignore[union-attr]
        return made.make_context(info_name, args, parent=parent, **extra)


def offer(
    app: typer.Typer,
    command: Callable[..., None],
    epilog: str,
    *,
    without: tuple[str, ...] = (),
    later: Literal["resume", "branch"] | None = None,
) -> None:
    """Add a command whose parameters are options, or classes of them (`wanted.py`).

    Args:
        app: to which it is added.
        command: the function; its name and docstring are the command's.
        epilog: what stands below its help.
        without: settings that are given no option.
        later: only settings that a run may change when it is resumed or branched are given one; all where it is None.
    """

    def make_command() -> Any:
        from persimchat.app.commands.setting_options import offered, with_options

        one = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
        names = [name for name in offered(later) if name not in without]
        one.command(command.__name__, epilog=epilog)(with_options(command, names, later=later is not None))
        return typer.main.get_command(one)

    def listed() -> None:
        """Replaced by the command's own."""

    listed.__name__, listed.__doc__ = command.__name__, command.__doc__
    listed.make_command = make_command  # type: ignore[attr-defined]
    app.command(cls=_Called)(listed)
