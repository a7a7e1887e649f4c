"""Options and arguments that several commands share; `setting_options.py` makes those of settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from persimchat.state.folders import CONVERSATIONS
from persimchat.state.setting import GROUPS

OUT: Final = CONVERSATIONS
"""The default folder of runs."""

WHO: Final = "Who and what about"
PEOPLE: Final = "Taking part"
SETTINGS: Final = "Any setting"
OUTPUT: Final = "Output"
SERVER: Final = "Server"
HOST: Final = "127.0.0.1"
PORT: Final = 8080
LIBRARY: Final = Path("library")

Topic = Annotated[
    str | None,
    typer.Argument(
        metavar="TOPIC|FILE",
        help="What they talk about, or a scenario file (.yaml, .json). Optional with --scenario.",
        show_default=False,
    ),
]
StoryFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A scenario file with a section story.", show_default=False),
]
Place = Annotated[
    str,
    typer.Argument(
        metavar="PLACE",
        help="A place file (.yaml), a persona (see: persimchat personas list), or the folder of a world.",
        show_default=False,
    ),
]
Agent = Annotated[
    str | None,
    typer.Argument(
        metavar="AGENT",
        help="Whom you talk with, by full or first name. [dim]default: the first of the place[/dim]",
        show_default=False,
    ),
]
Person = Annotated[
    str, typer.Option("--person", metavar="NAME", help="Who you are.", show_default=False, rich_help_panel=PEOPLE)
]
World = Annotated[
    Path | None,
    typer.Option(
        "--world",
        metavar="DIR",
        help="The world: its folder, or its name in ./worlds. [dim]default: ./worlds/NAME, named after the place[/dim]",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
Stranger = Annotated[
    bool,
    typer.Option(
        "--stranger",
        metavar="",
        help="You have not been introduced: the agent does not know your name until you say it.",
        rich_help_panel=PEOPLE,
    ),
]
Reembed = Annotated[
    bool,
    typer.Option("--reembed", metavar="", help="Embed all memories again, if --embedding is another one than before."),
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
        help="A human participant: the name of a participant, or a new name to add. May be repeated.",
        rich_help_panel=PEOPLE,
    ),
]
Moderate = Annotated[
    bool,
    typer.Option(
        "--moderate",
        metavar="",
        help="Be the moderator: speak, whisper, change the topic (type /help).",
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
        help="Any other setting; may be repeated. For example --set utterance_words=40 --set pruning.lambda=0.6.",
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
        help="The folder that holds runs, each in a folder of its own. [dim]default: ./conversations[/dim]",
        show_default=False,
        rich_help_panel=OUTPUT,
    ),
]
_RUNS: Final = "The folder that holds runs. [dim]default: ./conversations[/dim]"
RunsOut = Annotated[Path, typer.Option("--out", metavar="DIR", help=_RUNS, show_default=False)]
RunsIn = Annotated[Path, typer.Option("--runs", metavar="DIR", help=_RUNS, show_default=False)]
"""The same where `--out` is the folder of what the command writes."""
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON event per line.", rich_help_panel=OUTPUT)
]
JsonObject = Annotated[bool, typer.Option("--json", metavar="", help="Print one JSON object.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", metavar="", help="Print only the run's folder, at the end.", rich_help_panel=OUTPUT),
]
Host = Annotated[
    str,
    typer.Option(
        "--host",
        help="Address to listen on; any but loopback asks visitors for a token.",
        rich_help_panel=SERVER,
    ),
]
Port = Annotated[
    int,
    typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 for any free one.", rich_help_panel=SERVER),
]
Library = Annotated[
    Path,
    typer.Option("--library", help="Folder of your own personas and saved set-ups.", rich_help_panel=SERVER),
]
Results = Annotated[
    Path,
    typer.Option(
        "--results",
        metavar="DIR",
        help="The folder that holds experiments, which the page shows. [dim]default: ./results[/dim]",
        show_default=False,
        rich_help_panel=SERVER,
    ),
]
Udp = Annotated[
    str | None,
    typer.Option(
        "--udp",
        metavar="[HOST:]PORT",
        help="Take messages of games here, on loopback. [dim]default: none[/dim]",
        rich_help_panel=SERVER,
    ),
]
UdpReply = Annotated[
    int | None,
    typer.Option(
        "--udp-reply",
        metavar="PORT",
        min=1,
        max=65535,
        help="Answer games on this port. [dim]default: the sender's[/dim]",
        rich_help_panel=SERVER,
    ),
]
DefaultPerson = Annotated[
    str,
    typer.Option("--person", metavar="NAME", help="Who talks if a client does not say.", rich_help_panel=SERVER),
]
ClientSystem = Annotated[
    Literal["data", "ignore"],
    typer.Option(
        "--client-system",
        help="What a client's system messages are: data on the scene, or nothing.",
        rich_help_panel=SERVER,
    ),
]
OneRun = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="A run: its folder, its id, the beginning of its id, or latest.", show_default=False
    ),
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a setting from here on; may be repeated.",
        rich_help_panel=SETTINGS,
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(metavar="RUN...", help="Runs: folders, ids, beginnings of ids, or latest.", show_default=False),
]
Yes = Annotated[
    bool, typer.Option("--yes", metavar="", help="Do not ask before more than 1,000 calls, or calls with a price.")
]
WithPeople = Annotated[
    bool, typer.Option("--with-people", metavar="", help="The judge may read the words of people who took part.")
]
BudgetCalls = Annotated[int | None, typer.Option("--budget-calls", metavar="N", help="At most so many calls.")]
BudgetTokens = Annotated[int | None, typer.Option("--budget-tokens", metavar="N", help="At most so many tokens.")]
BudgetUsd = Annotated[float | None, typer.Option("--budget-usd", metavar="USD", help="At most so many US dollars.")]

Engine = Annotated[
    Literal["local", "ray"],
    typer.Option("--engine", metavar="NAME", help="local: one process; ray: many, also on other machines (extra ray)."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="Processes of Ray. [dim]default: one a processor of this machine[/dim]"
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="HOST:PORT",
        help="A Ray cluster that runs, or auto. [dim]default: Ray is started on this machine[/dim]",
    ),
]
