"""The options of the commands that hold a conversation, each written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

import typer

OUT: Final = Path("conversations")
"""Where runs are kept unless somebody says otherwise, relative to the working directory."""

WHO: Final = "Who and what about"
COURSE: Final = "The course of the conversation"
JUDGE: Final = "Answer and judge"
PEOPLE: Final = "Taking part"
LIMITS: Final = "Limits"
MODELS: Final = "Models"
OUTPUT: Final = "Output"

Topic = Annotated[
    str | None,
    typer.Argument(metavar="TOPIC", help="What they talk about. Optional with --config.", show_default=False),
]
Question = Annotated[
    str | None,
    typer.Argument(metavar="QUESTION", help="What they debate. Optional with --config.", show_default=False),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="A scenario (YAML): topic, participants, relationships, social_goals, rules, settings. "
        "What else is on the command line goes before it.",
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
Kind = Annotated[
    Literal["discussion", "debate"] | None,
    typer.Option(
        "--scenario",
        metavar="KIND",
        help="discussion, or debate until a judge finds consensus (see: persimchat debate --help). "
        "[dim]default: discussion[/dim]",
        rich_help_panel=COURSE,
    ),
]
Messages = Annotated[
    int | None,
    typer.Option(
        "--messages",
        "--max-messages",
        metavar="N",
        help="Utterances in all. [dim]default: 10; debates: at most 60[/dim]",
        rich_help_panel=COURSE,
    ),
]
Pattern = Annotated[
    Literal["need_to_talk", "round_robin", "selector"] | None,
    typer.Option(
        "--pattern",
        metavar="NAME",
        help="Who speaks next: need_to_talk (whoever needs it most), round_robin, or selector (a model that takes no "
        "part names them). [dim]default: need_to_talk[/dim]",
        rich_help_panel=COURSE,
    ),
]
Selection = Annotated[
    Literal["argmax", "softmax"] | None,
    typer.Option(
        "--selection",
        metavar="NAME",
        help="By need to talk: argmax (the greatest speaks) or softmax (one is drawn). [dim]default: argmax[/dim]",
        rich_help_panel=COURSE,
    ),
]
Temperature = Annotated[
    float | None,
    typer.Option(
        "--temperature",
        metavar="T",
        help="Of softmax: low prefers the greatest need, high makes all alike. [dim]default: 1.0[/dim]",
        rich_help_panel=COURSE,
    ),
]
Repetition = Annotated[
    bool | None,
    typer.Option(
        "--allow-repetition",
        metavar="",
        help="May one speak twice in a row. [dim]default: no[/dim]",
        rich_help_panel=COURSE,
    ),
]
Closing = Annotated[
    Literal["off", "near_limit", "on"] | None,
    typer.Option(
        "--closing",
        metavar="WHEN",
        help="They take leave before the end: off, near_limit, or on (also when nobody needs to talk any more). "
        "[dim]default: near_limit; debates: off[/dim]",
        rich_help_panel=COURSE,
    ),
]
Analysis = Annotated[
    bool | None,
    typer.Option(
        "--analysis",
        metavar="",
        help="A model scores every utterance's coherence, sentiment and engagement. [dim]default: no[/dim]",
        rich_help_panel=COURSE,
    ),
]
Baseline = Annotated[
    Literal["single_agent", "mad", "mad_judge", "reconcile"] | None,
    typer.Option(
        "--baseline",
        metavar="NAME",
        help="A method of the literature in place of minds, to compare with: single_agent (discussions), mad, "
        "mad_judge, reconcile (debates).",
        rich_help_panel=COURSE,
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        metavar="N",
        help="mad, mad_judge, reconcile: rounds of answers at most. [dim]default: 3[/dim]",
        rich_help_panel=COURSE,
    ),
]
BudgetCalls = Annotated[
    int | None,
    typer.Option(
        "--budget-calls",
        metavar="N",
        help="No more requests to models than these. [dim]default: no limit[/dim]",
        rich_help_panel=LIMITS,
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        metavar="N",
        help="No more tokens than these, read and written together. [dim]default: no limit[/dim]",
        rich_help_panel=LIMITS,
    ),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="X",
        help="Costs no more than this. [dim]default: no limit[/dim]",
        rich_help_panel=LIMITS,
    ),
]
Answer = Annotated[
    Literal["free", "yesno", "choice", "number"] | None,
    typer.Option(
        "--answer",
        metavar="FORM",
        help="Form of the answer: free, yesno, choice (one of --choices) or number. [dim]default: free[/dim]",
        rich_help_panel=JUDGE,
    ),
]
Choices = Annotated[
    str | None,
    typer.Option(
        "--choices",
        metavar="'A,B'",
        help="What there is to choose from, separated by commas, or by semicolons where a choice has a comma.",
        rich_help_panel=JUDGE,
    ),
]
Judge = Annotated[
    Literal["sliding_window", "persona"] | None,
    typer.Option(
        "--judge",
        metavar="KIND",
        help="sliding_window (reads the last utterances) or persona (has a mind and memories of its own). "
        "[dim]default: sliding_window[/dim]",
        rich_help_panel=JUDGE,
    ),
]
Window = Annotated[
    int | None,
    typer.Option(
        "--window",
        metavar="N",
        help="Utterances that a sliding_window judge reads. [dim]default: 10[/dim]",
        rich_help_panel=JUDGE,
    ),
]
JudgeEvery = Annotated[
    int | None,
    typer.Option(
        "--judge-every",
        metavar="N",
        help="The judge is asked after every N utterances. [dim]default: 1[/dim]",
        rich_help_panel=JUDGE,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", help="All randomness comes from it. [dim]default: 0[/dim]", rich_help_panel=COURSE
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE",
        help="Settings (YAML). They go before the scenario's; PERSIMCHAT_* and the command line go before them.",
        rich_help_panel=COURSE,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other setting; as often as needed. For example --set utterance_words=40.",
        rich_help_panel=COURSE,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="offline, openai:<model>, azure:<deployment>, ollama:<model>, <model>@http://host:port/v1, "
        "llamacpp:<file.gguf>. [dim]default: PERSIMCHAT_MODEL; else OpenAI with OPENAI_API_KEY; else offline[/dim]",
        rich_help_panel=MODELS,
    ),
]
Embedding = Annotated[
    str | None,
    typer.Option(
        "--embedding",
        metavar="MODEL",
        help="lexical, minilm, openai:<model>, <model>@http://host:port/v1. [dim]default: lexical, offline[/dim]",
        rich_help_panel=MODELS,
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="The run leaves a folder of its own in there. [dim]default: ./conversations[/dim]",
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
RunsIn = Annotated[
    Path,
    typer.Option(
        "--out",
        metavar="DIR",
        help="Where runs are. [dim]default: ./conversations[/dim]",
        show_default=False,
        rich_help_panel=OUTPUT,
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
        rich_help_panel=COURSE,
    ),
]
Runs = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folders of runs, their ids or the beginnings of them, or latest.", show_default=False
    ),
]
