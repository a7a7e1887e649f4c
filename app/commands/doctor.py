"""`persimchat doctor`: checks what a run needs, with a remedy for each problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from ...state.plain_text import one_line
from ..output import say, waits_shown
from .options import Assignments, option

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat doctor
  persimchat doctor --model ollama:llama3.2 --embedding lexical
  persimchat doctor --set store=./memories
  persimchat doctor --scenario examples/stories/ferries.yaml

\b
[bold]Exit codes[/bold]
  0 no problem   2 a setting, key or folder is wrong   3 the model or embedding fails
"""


def doctor(
    model: Annotated[str | None, option("doctor", "model")] = None,
    embedding: Annotated[str | None, option("doctor", "embedding")] = None,
    scenario: Annotated[Path | None, option("doctor", "scenario")] = None,
    assignments: Assignments = None,
) -> None:
    """Check Python, model, embedding and memory store, with a remedy for each problem.

    It sends one tiny question to a remote model, and one short text to a remote embedding.
    """
    from ...personas.scenario import load_scenario
    from ...reports.words import count
    from ..doctor_checks import examine
    from .foreground import run_with_models
    from .option_groups import Wanted
    from .request import notes_on, settings_of

    wanted = Wanted(arguments={"model": model, "embedding": embedding}, assignments=assignments)
    held = load_scenario(scenario) if scenario is not None else None
    settings = settings_of(wanted, held)
    if held is not None:
        say(f"ok       scenario   {one_line(str(scenario))}: {count(len(held.participants), 'participant')}")
        for note in notes_on(held.story) if held.story is not None else ():
            say(f"note     scenario   {one_line(note)}")

    async def report() -> list[int]:
        codes = []
        with waits_shown():
            async for finding in examine(settings):
                word = "problem" if finding.exit_code else "note" if finding.part == "note" else "ok"
                part = "model" if finding.part == "note" else finding.part
                say(f"{word:<8} {part:<10} {one_line(finding.text)}")
                codes.append(finding.exit_code)
        return [code for code in codes if code]

    problems = run_with_models(report())
    say(f"{count(len(problems), 'problem')} found." if problems else "All is well.")
    if problems:
        raise typer.Exit(max(problems))
