"""`persimchat branch`: a new run that shares another one's past."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from persimchat.app import going_on_options, options
from persimchat.app.foreground import form_of
from persimchat.app.going_on import go_on, said_by

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat branch latest --at 4
  persimchat branch latest --at 4 --model openai:gpt-4o-mini
  persimchat branch latest --at 4 --set selection=softmax --messages 20
  persimchat branch latest --at 4 --say "Jarmila: I have changed my mind."
  persimchat branch latest --at 4 --say "Moderator: What would a child say?"

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: persimchat resume goes on
"""


def branch(
    run: options.OneRun,
    at: Annotated[
        int,
        typer.Option(
            "--at", metavar="TURN", help="So many utterances are shared; 0 shares none.", show_default=False, min=0
        ),
    ],
    say: Annotated[
        str | None,
        typer.Option(
            "--say",
            metavar="'NAME: TEXT'",
            help="The next utterance: a participant's, or Moderator's.",
            show_default=False,
        ),
    ] = None,
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
    """Begin a new run with the past of another, and go on in another way.

    Everybody remembers what they did then. The new run's folder stands beside the old one's.
    """
    spoken = said_by(say) if say is not None else None

    from persimchat.runs.branch import branch_run

    go_on(
        run,
        out,
        lambda folder, changes, control: branch_run(folder, at, changes=changes, say=spoken, out=out, control=control),
        assignments=assignments,
        changes=going_on_options.changes(messages, budget_calls, budget_tokens, budget_usd, model),
        form=form_of(as_json=as_json, quiet=quiet),
        moderate=moderate,
        at=at,
    )
