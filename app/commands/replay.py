"""`persimchat replay`: repeats a run from its recorded answers, at no cost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...state.errors import InputError
from ...state.plain_text import one_line
from ..output import DIFFERS, say
from . import options
from .foreground import form_of, hold_run
from .options import option

if TYPE_CHECKING:
    from ...runs.events import Event
    from ...runs.run.replay import Comparison, Replay

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat replay latest
  persimchat replay 20261121-0304 --keep replays

\b
[bold]Exit codes[/bold]
  0 the replay is the same, 1 it differs, 2 bad input, 3 it ended too early to be compared
  4 stopped by the machine (disk full), 130 interrupted
"""


def replay(
    run: options.OneRun,
    keep: Annotated[Path | None, option("replay", "keep")] = None,
    out: options.Out = options.OUT,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Repeat a run from its recorded answers, and check that the result is the same.

    It asks no model and needs no network.
    """
    form = form_of(as_json=as_json, quiet=quiet)

    from ...runs.run.replay import Replay
    from .finding import find_run

    folder = find_run(run, out)
    if keep is not None:
        _check_keep(keep, folder)
    replayed = Replay(folder, keep)
    try:
        hold_run(lambda _: _events(replayed, keep), kept=(lambda begun: keep / begun) if keep else None, form=form)
    except typer.Exit:
        if replayed.comparison is None:
            raise
    found = replayed.comparison
    if found is None:
        return
    if as_json:
        from ..views.plain_view import say_json

        say_json({"event": "comparison", "same": found.same, **asdict(found)})
    else:
        for line in _in_words(found):
            say(line)
    if not found.same:
        raise typer.Exit(DIFFERS)


def _check_keep(keep: Path, folder: Path) -> None:
    """Refuse a folder for the replay that belongs to a run.

    Raises:
        InputError: the replay would be within a run's folder, or replace a run.
    """
    from ...runs.run.resume_input import manifest_of

    whole = keep.resolve()
    within = next((place for place in (whole, *whole.parents) if (place / "run.sqlite").is_file()), None)
    if within is not None:
        raise InputError(f"{keep} is within a run's folder", where="--keep", remedy="Choose a folder outside of it.")
    taken = keep / manifest_of(folder).run
    if taken.exists():
        raise InputError(
            f"{taken} exists already, and a replay has the name of its run",
            where="--keep",
            remedy="Choose another folder.",
        )


async def _events(replayed: Replay, keep: Path | None) -> AsyncGenerator[Event, None]:
    """The replay's events; they name no folder that will be deleted."""
    from ...runs.events import Stopped

    async with aclosing(replayed.events()) as events:
        async for event in events:
            yield event.model_copy(update={"folder": None}) if isinstance(event, Stopped) and keep is None else event


def _in_words(found: Comparison) -> list[str]:
    """Whether the replay equals the run; if not, where it differs, and a likely reason."""
    from ...reports.words import count

    if found.same:
        much = f"{count(found.utterances, 'utterance')}, {count(found.minds, 'mind')}"
        lines = [f"The same, byte for byte: {much}; {count(found.calls, 'recorded answer')}, no model asked."]
    else:
        lines = ["It differs from the run:", *(f"  {one_line(part)}" for part in found.parts)]
    if found.prompts:
        turn, agent, module = found.prompts[0]
        more = f", the first at turn {turn} ({one_line(', '.join(filter(None, (agent, module))))})"
        lines.append(f"{count(len(found.prompts), 'question')} to models differ from the recorded ones{more}.")
    if found.other_prompts:
        lines.append("The prompt templates have changed since the run.")
    lines += [one_line(f"{name} was {then} and is {now}.") for name, (then, now) in found.versions.items()]
    return lines
