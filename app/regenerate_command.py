"""`persimchat regenerate`: a new run in which one utterance is made again."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from persimchat.app import going_on_options, options
from persimchat.app.foreground import form_of
from persimchat.app.going_on import go_on

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat regenerate latest --turn 5
  persimchat regenerate latest --turn 5 --model openai:gpt-4o-mini

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: persimchat resume goes on
"""


def regenerate(
    run: options.OneRun,
    turn: Annotated[
        int,
        typer.Option("--turn", metavar="T", help="The utterance that is made again.", show_default=False, min=1),
    ],
    messages: going_on_options.Messages = None,
    moderate: options.Moderate = False,
    assignments: options.Changes = None,
    budget_calls: going_on_options.BudgetCalls = None,
    budget_tokens: going_on_options.BudgetTokens = None,
    budget_usd: going_on_options.BudgetUsd = None,
    model: going_on_options.Model = None,
    out: options.RunsIn = options.OUT,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Let the same participant say something else at one turn, in a new run that goes on from there."""
    from persimchat.runs.branch import regenerate_run

    go_on(
        run,
        out,
        lambda folder, changes, control: regenerate_run(folder, turn, changes=changes, out=out, control=control),
        assignments=assignments,
        changes=going_on_options.changes(messages, budget_calls, budget_tokens, budget_usd, model),
        form=form_of(as_json=as_json, quiet=quiet),
        moderate=moderate,
        at=turn - 1,
        again=True,
    )
