"""`persimchat run`: a conversation in the foreground."""

from __future__ import annotations

from typing import Final

from persimchat.app import options
from persimchat.app.foreground import form_of, hold
from persimchat.app.wanted import Wanted

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat run "Should our town close its centre to cars?"
  persimchat run "Tea or coffee?" -n 3 --messages 6 --seed 1
  persimchat run --config examples/family.yaml --model ollama:llama3.2
  persimchat run "Tea or coffee?" --pattern selector --analysis
  persimchat run "Tea or coffee?" --set speech_register=formal --out ./runs
  persimchat run "Tea or coffee?" --human Petr --moderate
  persimchat run "Tea or coffee?" --json > events.jsonl

\b
[bold]What it leaves[/bold]
  a folder with transcript.md to read; transcript.jsonl and minds.jsonl to
  analyse; run.json, with all that is needed to repeat it

\b
[bold]Exit codes[/bold]
  0 done, 2 bad input, 3 model failure, 130 interrupted: persimchat resume goes on
"""


def run(
    topic: options.Topic = None,
    config: options.Config = None,
    participants: options.Participants = None,
    number: options.Number = None,
    humans: options.Humans = None,
    moderate: options.Moderate = False,
    scenario: options.Kind = None,
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
    """Let personas talk about a topic, and keep what they said.

    Nothing is needed but a topic: without a key or a server, the offline model speaks.
    In a terminal you see the conversation live; in a pipe it is plain text.
    """
    arguments = {
        "mode": scenario,
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
            topic, config, participants, number, arguments, settings_file, tuple(assignments or ()), tuple(humans or ())
        ),
        out,
        form=form_of(as_json=as_json, quiet=quiet),
        moderate=moderate,
    )
