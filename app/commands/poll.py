"""`persimchat poll`: a question put in private to everybody, as they were at a turn of a recorded run."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from ...state.errors import InputError
from ...state.folders import RESULTS
from .options import (
    OUT,
    Assignments,
    BudgetCalls,
    BudgetTokens,
    BudgetUsd,
    JsonObject,
    RunsIn,
    SettingsFile,
    Yes,
    option,
)

if TYPE_CHECKING:
    from ...evaluation.polls import Polled
    from ...state.poll import Poll

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat poll latest --ask "Should the centre close to cars?" --answer yesno
  persimchat poll latest --ask "How warm is this group?" --answer scale:1-5 --at 0,4,end --repeats 3
  persimchat poll conversations/2026* --ask "Tea or coffee?" --answer choice --options "tea,coffee"
  persimchat poll --config town.yaml --ask "Would you cycle?" --answer yesno --out results/poll

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input   3 a model failed: the same command goes on
"""
_PROFILES: Final = RESULTS / "poll"
_MOST_REPEATS: Final = 1000
_NUMBER: Final = re.compile(r"[0-9]{1,7}")


def poll(
    wanted: Annotated[list[str] | None, option("poll", "wanted")] = None,
    ask: Annotated[str | None, option("poll", "ask")] = None,
    answer: Annotated[str | None, option("poll", "answer")] = None,
    options: Annotated[str | None, option("poll", "options")] = None,
    at: Annotated[str, option("poll", "at")] = "start,end",
    repeats: Annotated[int, option("poll", "repeats")] = 1,
    named: Annotated[str | None, option("poll", "named")] = None,
    by: Annotated[str | None, option("poll", "by")] = None,
    config: Annotated[Path | None, option("poll", "config")] = None,
    runs: RunsIn = OUT,
    out: Annotated[Path | None, option("poll", "out")] = None,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    settings: SettingsFile = None,
    assignments: Assignments = None,
    with_people: Annotated[bool, option("poll", "with_people")] = False,
    yes: Yes = False,
    as_json: JsonObject = False,
) -> None:
    """Ask everybody the same question in private, as they were at a turn of a conversation that is over.

    Nothing of it enters the run: its states, memories and words stay as they are. Each agent's own model answers, from
    its mind of then and the memories that were alive; a baseline's participants from persona and transcript. People are
    not asked. Answers are kept with the run; what is there is not asked again.
    """
    from ...evaluation.asking import everybody
    from ...evaluation.polls import of_profiles, tallies
    from .judging import Plan, made
    from .option_groups import Wanted
    from .request import understood

    if bool(wanted) == (config is not None):
        raise InputError(
            "runs and --config contradict each other" if wanted else "there is nobody to poll",
            where="persimchat poll",
            remedy="Name runs, or a scenario with --config.",
        )
    question = _question(ask, answer, options, named, by)
    budgets = {"budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd}
    if config is not None:
        about = Wanted(scenario=config, arguments=budgets, settings=settings, assignments=assignments)
        scenario, own = understood(about)
        parts = [of_profiles(made(out or _PROFILES), scenario, question, own, repeats=repeats)]
    else:
        if settings is not None:
            raise InputError("--settings goes with --config", remedy="Runs are polled with their own; use --set.")
        parts = _in_runs(
            wanted or [], runs, question, _turns(at), repeats, budgets, assignments, with_people=with_people
        )
    asked = everybody(parts[0].settings, (unit.asked for part in parts for unit in part.units))
    what = f"{len(parts)} runs" if len(parts) > 1 else "1 run" if config is None else str(config)
    plan = Plan(asked, parts, what, command="persimchat poll")
    notes = plan.carry_out(yes=yes)
    if asked.draws_lots:
        from ...models.offline.onlookers import BY_LOT

        notes.insert(0, BY_LOT.replace("This answer is", "These answers are"))
    answers = {part.run or str(config): part.answers() for part in parts}
    from ...evaluation.tables import write_polls
    from ..views.evaluations import polled as shown
    from ..views.tables import finish

    written = [write_polls(out, {part.run: part.answers() for part in parts})] if out is not None else []

    def data() -> dict[str, Any]:
        counted = {
            run: [{"turn": t.turn, "counts": t.counts, "missing": t.missing} for t in tallies(rows)]
            for run, rows in answers.items()
        }
        each = [
            {"run": run, **row.model_dump(mode="json", exclude={"question", "measure", "poll"})}
            for run, rows in answers.items()
            for row in rows
        ]
        kept = {"poll": question.id, **question.model_dump(mode="json", include={"ask", "answer", "options"})}
        asked = {"asked": plan.answered, "already": plan.already}
        return {**kept, **asked, "counts": counted, "answers": each, "notes": notes}

    finish(as_json, data, lambda look: shown(question, answers, look, notes), written)


def _question(ask: str | None, answer: str | None, options: str | None, named: str | None, by: str | None) -> Poll:
    """The poll that the options describe."""
    from pydantic import ValidationError

    from ...state.document import Document
    from ...state.poll import Poll
    from ...state.validation_errors import input_error

    if ask is None:
        raise InputError("no question is asked", where="persimchat poll", remedy='Add --ask "…?".')
    given = {
        "ask": ask,
        "answer": answer or ("choice" if options else "yesno"),
        "options": [option.strip() for option in (options or "").split(",") if option.strip()],
        "named": named or "",
        "by": by or "",
    }
    try:
        return Poll.model_validate(given)
    except ValidationError as error:
        raise input_error(error, Poll, Document(given), where="persimchat poll") from None


def _turns(at: str) -> list[str | int]:
    """The turns that --at names."""
    from ...evaluation.polls import END, START

    words = [word.strip() for word in at.split(",") if word.strip()]
    wrong = next((word for word in words if word not in (START, END) and not _NUMBER.fullmatch(word)), None)
    if wrong is not None or not words:
        raise InputError(
            "no turn is named" if wrong is None else f"{wrong!r} is no turn",
            where="--at",
            remedy="Name start, end or numbers of utterances, separated by commas: --at start,4,end.",
        )
    return [int(word) if word.isdigit() else word for word in words]


def _in_runs(
    wanted: Sequence[str],
    runs: Path,
    poll: Poll,
    at: Sequence[str | int],
    repeats: int,
    budgets: dict[str, Any],
    assignments: Sequence[str] | None,
    *,
    with_people: bool,
) -> list[Polled]:
    """The poll in each of the runs."""
    from ...evaluation.polls import in_run
    from ...evaluation.transcripts import has_words_of_people, refuse_words_of_people
    from ...runs.folder.lock import check_free
    from ...runs.folder.reading import Record, read_run
    from .finding import find_run
    from .request import assigned

    records: dict[str, Record] = {}
    for folder in [find_run(name, runs) for name in wanted]:
        check_free(folder)
        record = read_run(folder)
        if record.manifest.run in records:
            raise InputError(f"the run {record.manifest.run} is given twice", remedy="Leave one of them out.")
        records[record.manifest.run] = record
        if poll.by and has_words_of_people(record):
            refuse_words_of_people(
                [record.manifest.run], allowed=with_people, readers="another model than the agents' own"
            )
    changes = assigned(assignments or (), {})

    async def every() -> list[Polled]:
        return [
            await in_run(record, [poll], at, repeats=repeats, changes=changes, budgets=budgets)
            for record in records.values()
        ]

    return asyncio.run(every())
