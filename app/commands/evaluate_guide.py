"""`persimchat evaluate guide`: what came of a focus group: positions, who said what, themes, one page to print."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from persimchat.app.commands.evaluate import BudgetCalls, BudgetTokens, BudgetUsd, WithPeople, Yes
from persimchat.app.commands.options import OUT, Assignments, JsonObject, RunsIn, SettingsFile
from persimchat.app.output import is_unicode, on_terminal, say

if TYPE_CHECKING:
    from persimchat.runs.folder.reading import Record
    from persimchat.runs.reports.guide_summary import GroupSummary

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat evaluate guide latest
  persimchat evaluate guide latest --by openai:gpt-4o --out summary.html
  persimchat evaluate guide 20261121-0304 --no-positions --json

\b
[bold]What is asked[/bold]
  The guide's positions, of each agent's own model: as it was before the talk
  and after it, in private. With --by, the themes of the answers to each
  question, of that model. What is there is not asked again.

\b
[bold]Exit codes[/bold]
  0 done, or a budget was used up   2 bad input, or no guide   3 a model failed: the same command goes on
"""


def guide(
    wanted: Annotated[
        str, typer.Argument(metavar="RUN", help="A run of a scenario with a guide: its id, folder, or latest.")
    ],
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="MODEL",
            help="The model that finds themes; without one, words that participants share are shown.",
            show_default=False,
        ),
    ] = None,
    no_positions: Annotated[
        bool, typer.Option("--no-positions", metavar="", help="Ask nobody for their position before and after.")
    ] = False,
    runs: RunsIn = OUT,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write the summary there, as one page to print (HTML)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", metavar="", help="Replace the file of --out.")] = False,
    with_people: WithPeople = False,
    budget_calls: BudgetCalls = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
    settings: SettingsFile = None,
    assignments: Assignments = None,
    yes: Yes = False,
    as_json: JsonObject = False,
) -> None:
    """Show what came of a focus group: positions before and after, who said what about each question, themes.

    Nothing of it enters the run. Every quote of a theme is checked against what was said. Positions are kept in the
    run's folder (polls.jsonl), and so are themes (themes.jsonl).
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.app.commands.judging import Plan, judge_of
    from persimchat.evaluation.guide.themes import JudgedThemes
    from persimchat.evaluation.transcripts import has_words_of_people, refuse_words_of_people
    from persimchat.runs.folder.lock import check_free
    from persimchat.runs.folder.reading import read_run
    from persimchat.runs.reports.guide_summary import summary_of

    folder = find_run(wanted, runs)
    check_free(folder)
    record = read_run(folder)
    summary_of(record)  # refuses a run without a guide before anybody is asked
    notes: list[str] = []
    budgets = {"budget_calls": budget_calls, "budget_tokens": budget_tokens, "budget_usd": budget_usd}
    if by is not None:
        refuse_words_of_people([record.manifest.run] * has_words_of_people(record), allowed=with_people)
        judge = judge_of(by, settings, assignments, budget_calls, budget_tokens, budget_usd)
    if not no_positions:
        notes += _positions(record, budgets, assignments, yes=yes)
    if by is not None:
        notes += Plan(judge, [JudgedThemes.of(record)], "1 focus group").carry_out(yes=yes)
    found = summary_of(read_run(folder), judge.name if by is not None else None)
    if out is not None:
        from persimchat.runs.reports.guide_summary import write_summary

        write_summary(found, out, force=force)
    if as_json:
        say(json.dumps(_data(found, notes), ensure_ascii=False, indent=2))
        return
    from persimchat.app.views.guide_view import shown
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(shown(found, Look(terminal=on_terminal(), unicode=is_unicode()), notes))
    if out is not None:
        say(str(out))


def _positions(record: Record, budgets: dict[str, Any], assignments: list[str] | None, *, yes: bool) -> list[str]:
    """Ask everybody where they stood; what a reader must know of it."""
    from persimchat.app.commands.judging import Plan
    from persimchat.app.commands.request import assigned
    from persimchat.evaluation.guide.positions import polled
    from persimchat.evaluation.polls import Everybody

    part = asyncio.run(polled(record, changes=assigned(assignments or (), {}), budgets=budgets))
    if part is None:
        return []
    everybody = Everybody(part.settings, (unit.asked for unit in part.units))
    notes = Plan(everybody, [part], "1 focus group", command="persimchat evaluate guide").carry_out(yes=yes)
    if everybody.draws_lots:
        from persimchat.models.offline.polling import BY_LOT

        notes.insert(0, BY_LOT.replace("This answer is", "Positions are"))
    return notes


def _data(found: GroupSummary, notes: list[str]) -> dict[str, Any]:
    """The summary as JSON."""
    questions = [
        {
            "question": one.section.number,
            "ask": one.section.question.ask if one.section.question else None,
            "turns": one.section.turns,
            "voices": [asdict(voice) for voice in one.section.voices],
            "themes": [theme.model_dump(mode="json") for theme in one.themes],
            "found_by": one.found.judge if one.found else None,
        }
        for one in found.answers
    ]
    positions = [
        {
            "poll": one.poll.id,
            "ask": one.poll.ask,
            "moved": one.moved,
            "means": one.means(),
            "stands": [asdict(stand) for stand in one.stands],
        }
        for one in found.positions
    ]
    return {
        "run": found.run,
        "topic": found.topic,
        "moderator": found.guide.moderator,
        "people": list(found.people),
        "questions": questions,
        "not_put": [question.ask for question in found.not_put],
        "positions": positions,
        "invented_quotes": found.invented,
        "notes": notes,
    }
