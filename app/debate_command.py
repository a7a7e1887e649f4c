"""`persimchat debate`: a group debate in the foreground, until a judge finds consensus."""

from __future__ import annotations

from typing import Any, Final

from persimchat.app import options
from persimchat.app.foreground import form_of, hold
from persimchat.app.wanted import Wanted
from persimchat.state.errors import InputError

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat debate "Should our town close its centre to cars?" --answer yesno
  persimchat debate "Which city hosts the fair?" --answer choice --choices "Brno,Lviv,Porto"
  persimchat debate "How many hours should a school day have?" --answer number -n 3
  persimchat debate "Tea or coffee?" --judge persona --max-messages 30
  persimchat debate "Tea or coffee?" --baseline reconcile --rounds 2

\b
[bold]How it ends[/bold]
  with consensus, as soon as the judge finds that everybody agrees; or at the
  message limit, where the judge words the position of the majority. run.json
  and the end of transcript.md have the answer, verdicts.jsonl what the judge
  said after every utterance

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: persimchat resume goes on
"""


def debate(
    question: options.Question = None,
    config: options.Config = None,
    participants: options.Participants = None,
    number: options.Number = None,
    humans: options.Humans = None,
    moderate: options.Moderate = False,
    answer: options.Answer = None,
    choices: options.Choices = None,
    judge: options.Judge = None,
    window: options.Window = None,
    judge_every: options.JudgeEvery = None,
    messages: options.Messages = None,
    pattern: options.Pattern = None,
    selection: options.Selection = None,
    temperature: options.Temperature = None,
    allow_repetition: options.Repetition = None,
    closing: options.Closing = None,
    analysis: options.Analysis = None,
    baseline: options.Baseline = None,
    rounds: options.Rounds = None,
    seed: options.Seed = None,
    budget_calls: options.BudgetCalls = None,
    budget_tokens: options.BudgetTokens = None,
    budget_usd: options.BudgetUsd = None,
    settings_file: options.SettingsFile = None,
    assignments: options.Assignments = None,
    model: options.Model = None,
    embedding: options.Embedding = None,
    out: options.Out = options.OUT,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Let personas debate a question until a judge finds consensus, and word the answer.

    The judge takes no part. Without consensus at the message limit, it words the position of the majority.
    """
    arguments = {
        "mode": "debate",
        **answer_settings(answer, choices),
        "judge": judge,
        "window_size": window,
        "judge_every": judge_every,
        "max_messages": messages,
        "pattern": pattern,
        "selection": selection,
        "temperature": temperature,
        "allow_repetition": allow_repetition,
        "closing": closing,
        "analysis": analysis,
        "baseline": baseline,
        "rounds": rounds,
        "seed": seed,
        "budget_calls": budget_calls,
        "budget_tokens": budget_tokens,
        "budget_usd": budget_usd,
        "model": model,
        "embedding": embedding,
    }
    hold(
        Wanted(
            question,
            config,
            participants,
            number,
            arguments,
            settings_file,
            tuple(assignments or ()),
            tuple(humans or ()),
        ),
        out,
        form=form_of(as_json=as_json, quiet=quiet),
        moderate=moderate,
    )


def answer_settings(answer: str | None, choices: str | None) -> dict[str, Any]:
    """The settings of --answer and --choices; choices alone ask for one of them.

    Raises:
        InputError: there is nothing between two separators.
    """
    listed = None if choices is None else choices_in(choices)
    return {"answer_format": "choice" if listed and answer is None else answer, "choices": listed}


def choices_in(text: str) -> list[str]:
    """The choices of a list as one types it: separated by semicolons where there are any, else by commas.

    Raises:
        InputError: there is nothing between two separators.
    """
    choices = [choice.strip() for choice in text.split(";" if ";" in text else ",")]
    if not all(choices):
        raise InputError(
            "a choice is missing", where="--choices", remedy='Separate choices by commas: --choices "A,B".'
        )
    return choices
