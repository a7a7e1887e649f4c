"""Options and arguments of several commands that are no settings; those of settings are made (`setting_options.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from persimchat.state.setting import GROUPS

OUT: Final = Path("conversations")
"""Where runs are kept unless somebody says otherwise, relative to the working directory."""

WHO: Final = "Who and what about"
PEOPLE: Final = "Taking part"
SETTINGS: Final = "Any setting"
OUTPUT: Final = "Output"

Topic = Annotated[
    str | None,
    typer.Argument(metavar="TOPIC", help="What they talk about. Optional with --scenario.", show_default=False),
]
Question = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="What they debate. Optional with --scenario.", show_default=False),
]
ScenarioFile = Annotated[
    Path | None,
    typer.Option(
        "--scenario",
        metavar="FILE",
        help="A scenario (YAML): topic, participants, relationships, social_goals, rules, settings. "
        "The command line overrides it.",
        rich_help_panel=WHO,
    ),
]
Participants = Annotated[
    str | None,
    typer.Option(
        "--participants",
        metavar="'A,B,C'",
        help="Who talks: names or first names of shipped personas (see: persimchat personas list), or persona files.",
        rich_help_panel=WHO,
    ),
]
Number = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--number",
        metavar="N",
        help="The first N shipped personas talk. [dim]default: 4[/dim]",
        rich_help_panel=WHO,
    ),
]
Humans = Annotated[
    list[str] | None,
    typer.Option(
        "--human",
        metavar="NAME",
        help="A person who takes part: one of the participants, or somebody who joins; as often as needed.",
        rich_help_panel=PEOPLE,
    ),
]
Moderate = Annotated[
    bool,
    typer.Option(
        "--moderate",
        metavar="",
        help="You are the moderator: say something, whisper, change the topic (type /help).",
        rich_help_panel=PEOPLE,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Settings (YAML). They override the scenario's; PERSIMCHAT_* and the command line override them.",
        rich_help_panel=SETTINGS,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other setting; as often as needed. For example --set utterance_words=40.",
        rich_help_panel=SETTINGS,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="The model that writes, as for persimchat run.",
        rich_help_panel=GROUPS["model"],
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where runs are, each in a folder of its own. [dim]default: ./conversations[/dim]",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="One JSON event a line on standard output.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", metavar="", help="Only the run's folder on standard output, at the end.", rich_help_panel=OUTPUT
    ),
]
OneRun = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="The folder of a run, its id or the beginning of it, or latest.", show_default=False
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting that is to be another from here on; as often as needed.",
        rich_help_panel=SETTINGS,
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folders of runs, their ids or the beginnings of them, or latest.", show_default=False
    ),
]
