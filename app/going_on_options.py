"""Options of the commands that go on with a run: where one is not given, it stays as the run has it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from persimchat.app.options import COURSE, LIMITS, MODELS

Messages = Annotated[
    int | None,
    typer.Option(
        "--messages",
        "--max-messages",
        metavar="N",
        help="Utterances in all, those of the past included. [dim]default: the run's own[/dim]",
        rich_help_panel=COURSE,
    ),
]
BudgetCalls = Annotated[
    int | None,
    typer.Option(
        "--budget-calls",
        metavar="N",
        help="No more requests to models than these. [dim]default: the run's own[/dim]",
        rich_help_panel=LIMITS,
    ),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        metavar="N",
        help="No more tokens than these, read and written together. [dim]default: the run's own[/dim]",
        rich_help_panel=LIMITS,
    ),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(
        "--budget-usd",
        metavar="X",
        help="Costs no more than this. [dim]default: the run's own[/dim]",
        rich_help_panel=LIMITS,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Another model from here on, as for persimchat run. [dim]default: the run's own[/dim]",
        rich_help_panel=MODELS,
    ),
]


def changes(
    messages: int | None,
    budget_calls: int | None,
    budget_tokens: int | None,
    budget_usd: float | None,
    model: str | None,
) -> dict[str, Any]:
    """The settings that these options ask for; None where one was not given."""
    return {
        "max_messages": messages,
        "budget_calls": budget_calls,
        "budget_tokens": budget_tokens,
        "budget_usd": budget_usd,
        "model": model,
    }
