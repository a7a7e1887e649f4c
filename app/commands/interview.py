"""`persimchat interview`: questions to one agent after a conversation, in private."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.options import (
    OUT,
    Assignments,
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    JsonObject,
    RunsIn,
)
from persimchat.app.output import say, warn
from persimchat.state.errors import InputError
from persimchat.state.plain_text import clean, one_line

if TYPE_CHECKING:
    from persimchat.evaluation.interviews import Interview
    from persimchat.runs.folder.interviews import InterviewAnswer

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat interview latest Jarmila
  persimchat interview latest Jarmila --ask "What moved you most?" --ask "And who?"
  persimchat interview latest Jarmila --ask "Would you say so today?" --continue
  persimchat interview 2026 Łukasz --at 4 --ask "What do you expect of the others?"

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input   3 a model failed: answers so far are kept
"""
_LEAVE: Final = "Ask your questions, one on a line; an empty line or Ctrl-D ends the interview."


def interview(
    wanted: Annotated[str, typer.Argument(metavar="RUN", help="A run: folder, id, beginning of an id, or latest.")],
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who is interviewed: a name, or part of it.")],
    ask: Annotated[
        list[str] | None,
        typer.Option("--ask", metavar="QUESTION", help="A question; may be repeated. [dim]default: type them[/dim]"),
    ] = None,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            metavar="TURN",
            min=0,
            help="The agent as it was after so many utterances. [dim]default: the end[/dim]",
        ),
    ] = None,
    going_on: Annotated[
        bool, typer.Option("--continue", metavar="", help="Go on with the last interview with this agent.")
    ] = False,
    by: Annotated[
        str | None, typer.Option("--by", metavar="MODEL", help="The model that answers, not the agent's own.")
    ] = None,
    runs: RunsIn = OUT,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    assignments: Assignments = None,
    with_people: Annotated[
        bool,
        typer.Option("--with-people", metavar="", help="With --by: it may read the words of people who took part."),
    ] = False,
    as_json: JsonObject = False,
) -> None:
    """Ask one agent questions in private, as it was at the end of a conversation, or at a turn of it.

    Nothing of it enters the run: its states, memories and words stay as they are. The agent answers from its mind of
    then and the memories that were alive; it knows its last answers of the same interview. Questions and answers are
    kept in the run's folder (interviews.jsonl), and `show`, `export` and the report have them.
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.app.commands.request import assigned
    from persimchat.evaluation.interviews import begin
    from persimchat.runs.folder.reading import read_run

    budgets: dict[str, Any] = {
        "budget_calls": budget_calls,
        "budget_tokens": budget_tokens,
        "budget_usd": budget_usd,
    }
    held = begin(
        read_run(find_run(wanted, runs)),
        agent,
        turn=at,
        going_on=0 if going_on else None,
        by=by or "",
        changes=assigned(assignments or (), {}),
        budgets=budgets,
        with_people=with_people,
    )
    if not ask:
        warn(f"persimchat: {one_line(held.agent)} answers as after utterance {held.turn}. {_LEAVE}")
    before = len(held.answers)
    asyncio.run(_held(held, ask, quiet=as_json))
    rows = held.answers[before:]
    if held.exhausted:
        warn(f"persimchat: {held.exhausted} With --continue and a higher budget it goes on.")
    if as_json:
        say(json.dumps(_data(held, rows), ensure_ascii=False, indent=2))


async def _held(held: Interview, ask: Sequence[str] | None, *, quiet: bool) -> None:
    """Put the questions, given or typed."""
    from persimchat.models.registry import close_models

    try:
        for question in ask if ask else _typed():
            row = await held.ask(question)
            if row is None:
                return
            if not quiet:
                _tell(row, asked=bool(ask))
    finally:
        await close_models()


def _typed() -> Iterator[str]:
    """The lines of standard input, until an empty one."""
    if sys.stdin is None:
        raise InputError("there is nothing to read questions from", remedy='Add --ask "…?".')
    asking = sys.stdin.isatty()
    while True:
        if asking:
            sys.stderr.write("? ")
            sys.stderr.flush()
        line = sys.stdin.readline().strip()
        if not line:
            return
        yield line


def _tell(row: InterviewAnswer, *, asked: bool) -> None:
    if asked:
        say(f"? {one_line(row.question)}")
    say(f"{one_line(row.agent)}: {clean(row.answer)}\n" if row.answer is not None else f"({row.missing})\n")


def _data(held: Interview, rows: Sequence[InterviewAnswer]) -> dict[str, Any]:
    return {
        "run": held.record.manifest.run,
        "agent": held.agent,
        "turn": held.turn,
        "interview": held.number,
        "answers": [row.model_dump(mode="json", exclude={"measure", "agent", "turn", "interview"}) for row in rows],
    }
