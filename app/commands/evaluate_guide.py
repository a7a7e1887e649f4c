"""`persimchat evaluate guide`: what came of a focus group: positions, who said what, themes, one page to print."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Final

import typer

from persimchat.app.commands.option_classes import with_classes
from persimchat.app.commands.options import OUT, RunsIn
from persimchat.app.commands.wanted import WantedAsking
from persimchat.app.output import is_unicode, on_terminal, say

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


@with_classes
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
    *,
    asking: WantedAsking,
) -> None:
    """Show what came of a focus group: positions before and after, who said what about each question, themes.

    Nothing of it enters the run. Every quote of a theme is checked against what was said. Positions are kept in the
    run's folder (polls.jsonl), and so are themes (themes.jsonl).
    """
    from persimchat.app.commands.finding import find_run
    from persimchat.app.commands.judging import Plan, judge_of
    from persimchat.app.commands.request import assigned
    from persimchat.evaluation.guide.asking import by_lot, to_ask
    from persimchat.runs.folder.reading import read_run
    from persimchat.runs.reports.guide_page import write_summary
    from persimchat.runs.reports.guide_summary import summary_of

    folder = find_run(wanted, runs)
    judge = judge_of(by, asking) if by is not None else None
    questions = asyncio.run(
        to_ask(
            folder,
            judge=judge,
            positions=not no_positions,
            with_people=asking.with_people,
            changes=assigned(asking.assignments or (), {}),
            budgets=asking.budgets,
        )
    )
    notes = by_lot(questions)
    for one in questions:
        plan = Plan(one.respondent, [one.part], "1 focus group", command="persimchat evaluate guide")
        notes += plan.carry_out(yes=asking.yes)
    found = summary_of(read_run(folder), judge.name if judge is not None else None)
    if out is not None:
        write_summary(found, out, force=force)
    if asking.as_json:
        say(json.dumps({**found.data(), "notes": notes}, ensure_ascii=False, indent=2))
        return
    from persimchat.app.views.guide_view import shown
    from persimchat.app.views.printing import print_all
    from persimchat.app.views.run_tables import Look

    print_all(shown(found, Look(terminal=on_terminal(), unicode=is_unicode()), notes))
    if out is not None:
        say(str(out))
