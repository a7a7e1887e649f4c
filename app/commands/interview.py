"""`persimchat interview`: questions to one agent after a conversation, in private."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from ...state.errors import InputError
from ...state.plain_text import clean, one_line
from ..output import say, say_object, warn
from .foreground import run_with_models
from .options import (
    OUT,
    Assignments,
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    JsonObject,
    RunsIn,
    option,
)

if TYPE_CHECKING:
    from ...evaluation.interviews import Interview
    from ...runs.folder.answers import InterviewAnswer

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
    wanted: Annotated[str, option("interview", "wanted")],
    agent: Annotated[str, option("interview", "agent")],
    ask: Annotated[list[str] | None, option("interview", "ask")] = None,
    at: Annotated[int | None, option("interview", "at")] = None,
    going_on: Annotated[bool, option("interview", "going_on")] = False,
    by: Annotated[str | None, option("interview", "by")] = None,
    runs: RunsIn = OUT,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    assignments: Assignments = None,
    with_people: Annotated[bool, option("interview", "with_people")] = False,
    as_json: JsonObject = False,
) -> None:
    """Ask one agent questions in private, as it was at the end of a conversation, or at a turn of it.

    Nothing of it enters the run: its states, memories and words stay as they are. The agent answers from its mind of
    then and the memories that were alive; it knows its last answers of the same interview. Questions and answers are
    kept with the run, and `show`, `export` and the report have them.
    """
    from ...evaluation.interviews import begin
    from ...runs.folder.reading import read_run
    from .finding import find_run
    from .request import assigned

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
    run_with_models(_held(held, ask, quiet=as_json))
    rows = held.answers[before:]
    if held.exhausted:
        warn(f"persimchat: {held.exhausted} With --continue and a higher budget it goes on.")
    if as_json:
        say_object(_data(held, rows))


async def _held(held: Interview, ask: Sequence[str] | None, *, quiet: bool) -> None:
    """Put the questions, given or typed."""
    for question in ask if ask else _typed():
        row = await held.ask(question)
        if row is None:
            return
        if not quiet:
            _tell(row, asked=bool(ask))


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
