"""Options and arguments that several commands share; `setting_options.py` makes those of settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from ...state.folders import CONVERSATIONS

OUT: Final = CONVERSATIONS
"""The default folder of runs."""

SERVER: Final = "Server"
HOST: Final = "127.0.0.1"
PORT: Final = 8080
LIBRARY: Final = Path("library")

_TOLD: Final[dict[str, dict[str, dict[str, Any]]]] = json.loads(
    (files("persimchat.app.commands") / "options.yaml").read_text(encoding="utf-8")
)
"""By command and parameter. The file is YAML that is JSON, too: --help waits for no reader of YAML."""


def option(*key: str) -> Any:
    """What typer is told of an option or an argument.

    Args:
        key: the command and the parameter in `options.yaml`; of one that commands share, its name alone.
    """
    entry = dict(_TOLD[key[0] if len(key) > 1 else "shared"][key[-1]])
    names, panel = entry.pop("names", "").split(), entry.pop("panel", None)
    made: Callable[..., Any] = typer.Option if names else typer.Argument
    return made(*names, rich_help_panel=panel, **entry)


Place = Annotated[str, option("place")]
World = Annotated[Path | None, option("world")]
Participants = Annotated[str | None, option("participants")]
Humans = Annotated[list[str] | None, option("humans")]
SettingsFile = Annotated[Path | None, option("settings_file")]
Assignments = Annotated[list[str] | None, option("assignments")]
Model = Annotated[str | None, option("model")]
Out = Annotated[Path, option("out")]
RunsOut = Annotated[Path, option("runs_out")]
RunsIn = Annotated[Path, option("runs_in")]
"""The same where `--out` is the folder of what the command writes."""
Json = Annotated[bool, option("json")]
ReportLanguage = Annotated[str | None, option("report_language")]
JsonObject = Annotated[bool, option("json_object")]
Quiet = Annotated[bool, option("quiet")]
Host = Annotated[str, option("host")]
Name = Annotated[list[str] | None, option("name")]
Port = Annotated[int, option("port")]
Library = Annotated[Path, option("library")]
Results = Annotated[Path, option("results")]
OneRun = Annotated[str, option("one_run")]
Runs = Annotated[list[str], option("runs")]
Yes = Annotated[bool, option("yes")]
BudgetCalls = Annotated[int | None, option("budget_calls")]
BudgetTokens = Annotated[int | None, option("budget_tokens")]
BudgetUsd = Annotated[float | None, option("budget_usd")]
