"""`persimchat run`: a conversation in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from persimchat.state.errors import InputError

OUT: Final = Path("conversations")
"""Where runs are kept unless somebody says otherwise, relative to the working directory."""

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat run "Should our town close its centre to cars?"
  persimchat run "Tea or coffee?" -n 3 --messages 6 --seed 1
  persimchat run --config examples/family.yaml --model ollama:llama3.2
  persimchat run "Tea or coffee?" --set speech_register=formal --out ./runs
  persimchat run "Tea or coffee?" --json > events.jsonl

\b
[bold]What it leaves[/bold]
  a folder with transcript.md to read; transcript.jsonl and minds.jsonl to
  analyse; run.json, with all that is needed to repeat it

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: what was said is on disk
"""

_WHO: Final = "Who and what about"
_COURSE: Final = "The course of the conversation"
_MODELS: Final = "Models"
_OUTPUT: Final = "Output"

Topic = Annotated[
    str | None,
    typer.Argument(metavar="TOPIC", help="What they talk about. Optional with --config.", show_default=False),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A scenario (YAML): topic, participants, relationships, social_goals, rules, settings. "
        "What else is on the command line goes before it.",
        rich_help_panel=_WHO,
    ),
]
Participants = Annotated[
    str | None,
    typer.Option(
        "--participants",
        metavar="'A,B,C'",
        help="Who talks: names or first names of shipped personas (see: persimchat personas list), or persona files.",
        rich_help_panel=_WHO,
    ),
]
Number = Annotated[
    int | None,
    typer.Option(
        "-n",
        "--number",
        metavar="N",
        help="The first N shipped personas talk. [dim]default: 4[/dim]",
        rich_help_panel=_WHO,
    ),
]
Messages = Annotated[
    int | None,
    typer.Option("--messages", metavar="N", help="Utterances in all. [dim]default: 10[/dim]", rich_help_panel=_COURSE),
]
Pattern = Annotated[
    Literal["need_to_talk", "round_robin"] | None,
    typer.Option(
        "--pattern",
        metavar="NAME",
        help="Who speaks next: need_to_talk (whoever needs it most) or round_robin. [dim]default: need_to_talk[/dim]",
        rich_help_panel=_COURSE,
    ),
]
Selection = Annotated[
    Literal["argmax", "softmax"] | None,
    typer.Option(
        "--selection",
        metavar="NAME",
        help="By need to talk: argmax (the greatest speaks) or softmax (one is drawn). [dim]default: argmax[/dim]",
        rich_help_panel=_COURSE,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        metavar="T",
        help="Of softmax: low prefers the greatest need, high makes all alike. [dim]default: 1.0[/dim]",
        rich_help_panel=_COURSE,
    ),
]
Repetition = Annotated[
    bool | None,
    typer.Option(
        "--allow-repetition",
        metavar="",
        help="May one speak twice in a row. [dim]default: no[/dim]",
        rich_help_panel=_COURSE,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", help="All randomness comes from it. [dim]default: 0[/dim]", rich_help_panel=_COURSE
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Settings (YAML). They go before the scenario's; PERSIMCHAT_* and the command line go before them.",
        rich_help_panel=_COURSE,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other setting; as often as needed. For example --set utterance_words=40.",
        rich_help_panel=_COURSE,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="offline, openai:<model>, azure:<deployment>, ollama:<model>, <model>@http://host:port/v1, "
        "llamacpp:<file.gguf>. [dim]default: PERSIMCHAT_MODEL; else OpenAI with OPENAI_API_KEY; else offline[/dim]",
        rich_help_panel=_MODELS,
    ),
]
Embedding = Annotated[
    str | None,
    typer.Option(
        "--embedding",
        metavar="MODEL",
        help="lexical, minilm, openai:<model>, <model>@http://host:port/v1. [dim]default: lexical, offline[/dim]",
        rich_help_panel=_MODELS,
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The run leaves a folder of its own in there. [dim]default: ./conversations[/dim]",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="One JSON event a line on standard output.", rich_help_panel=_OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", metavar="", help="Only the run's folder on standard output, at the end.", rich_help_panel=_OUTPUT
    ),
]


def run(
    topic: Topic = None,
    config: Config = None,
    participants: Participants = None,
    number: Number = None,
    messages: Messages = None,
    pattern: Pattern = None,
    selection: Selection = None,
    temperature: Temperature = None,
    allow_repetition: Repetition = None,
    seed: Seed = None,
    settings_file: SettingsFile = None,
    assignments: Assignments = None,
    model: Model = None,
    embedding: Embedding = None,
    out: Out = OUT,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let personas talk about a topic, and keep what they said.

    Nothing is needed but a topic: without a key or a server, the offline model speaks.
    In a terminal you see the conversation live; in a pipe it is plain text.
    """
    if as_json and quiet:
        raise InputError("--json and --quiet contradict each other", remedy="Leave one of them out.")

    # The rooms that a run needs take a second to load; --help and a wrong option should not wait for them.
    import asyncio

    from persimchat.app.following import follow
    from persimchat.app.output import warn
    from persimchat.app.request import Wanted, scenario_of, settings_of
    from persimchat.app.view import view_for

    arguments = {
        "max_messages": messages,
        "pattern": pattern,
        "selection": selection,
        "temperature": temperature,
        "allow_repetition": allow_repetition,
        "seed": seed,
        "model": model,
        "embedding": embedding,
    }
    wanted = Wanted(topic, config, participants, number, arguments, settings_file, tuple(assignments or ()))
    scenario, notes = scenario_of(wanted)
    settings = settings_of(wanted, scenario)
    for note in notes:
        warn(f"persimchat: {note}")
    view = view_for("json" if as_json else "quiet" if quiet else "text")
    asyncio.run(follow(scenario, settings, out, view))
