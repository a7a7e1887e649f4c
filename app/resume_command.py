"""`persimchat resume`: a run that was interrupted, failed or killed goes on."""

from __future__ import annotations

from typing import Final

from persimchat.app import going_on_options, options
from persimchat.app.foreground import form_of
from persimchat.app.going_on import go_on

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat resume latest
  persimchat resume 20261121-0304 --budget-calls 2000
  persimchat resume latest --messages 40 --model ollama:llama3.2

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: resume goes on again
"""


def resume(
    run: options.OneRun,
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
    """Go on with a run that was interrupted, failed or killed, in its own folder.

    A run that came to its message limit or used up its budget goes on with a higher one.
    """
    from persimchat.runs.resume import resume_run

    go_on(
        run,
        out,
        lambda folder, changes, control: resume_run(folder, changes=changes, control=control),
        assignments=assignments,
        changes=going_on_options.changes(messages, budget_calls, budget_tokens, budget_usd, model),
        form=form_of(as_json=as_json, quiet=quiet),
        moderate=moderate,
    )
