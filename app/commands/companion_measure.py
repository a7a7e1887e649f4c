"""`persimchat companion measure`: how well an agent remembers, trusts and answers, by scripted persons."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from ...state.errors import InputError
from ..output import warn
from .foreground import run_with_models
from .options import Assignments, JsonObject, Place, option

if TYPE_CHECKING:
    from ...evaluation.companion.measuring import Plan
    from ...evaluation.companion.rows import Row
    from ...state.companion.place import Place as WholePlace
    from ...state.settings import Settings

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat companion measure trust examples/companion/ferry.yaml --seeds 2
  persimchat companion measure recall Jarmila --talks 1,5 --out results/recall
  persimchat companion measure all Jarmila --model ollama:llama3.2 --keep worlds/measured

\b
[bold]What is measured[/bold]
  recall   talks with planted facts, then questions; see docs/companion.md
  trust    four persons: friendly, hostile, apologising, neutral
  latency  how long words take, beside the same requests sent bare (HTTP servers)

\b
[bold]Exit codes[/bold]
  0 done, whatever the figures   2 bad input   3 model failure   130 interrupted
"""
_MOST_TALKS: Final = 20


def measure(
    what: Annotated[Literal["recall", "trust", "latency", "all"], option("companion measure", "what")],
    place: Place,
    model: Annotated[str | None, option("companion measure", "model")] = None,
    talks: Annotated[str, option("companion measure", "talks")] = "1,2,5",
    seeds: Annotated[int, option("companion measure", "seeds")] = 1,
    baselines: Annotated[bool, option("companion measure", "baselines")] = False,
    out: Annotated[Path | None, option("companion measure", "out")] = None,
    keep: Annotated[Path | None, option("companion measure", "keep")] = None,
    assignments: Assignments = None,
    as_json: JsonObject = False,
) -> None:
    """Measure how well an agent remembers, trusts and answers.

    Scripted persons talk with the first agent of a place, each in a new world. Nothing but the model is asked.
    """
    from ...evaluation.companion.measuring import WHAT, Plan
    from ...evaluation.companion.rows import write_rows
    from ...models.registry import model_name
    from ...personas.place_file import place_for
    from ...runs.companion.folder import companion_settings, is_world, read_place
    from .request import assigned

    plan = Plan(WHAT if what == "all" else (what,), _numbers(talks), seeds, baselines)
    found = read_place(Path(place)) if is_world(Path(place)) else place_for(place)
    given: dict[str, Any] = {"model": model} if model else {}
    settings = companion_settings(found, **assigned(assignments or (), given))
    name = model_name(settings, "", "natural_language")
    if what == "all" and name == "offline":
        plan = Plan(("recall", "trust"), plan.talks, seeds, baselines)
        warn("persimchat: the offline model is not asked over HTTP: its latency is not measured")
    warn(f"persimchat: about {plan.calls(settings):,} requests to {name}")
    rows = run_with_models(_held(plan, found, settings, keep))
    written = [write_rows(out, rows)] if out is not None else []
    from ..views.studies import companion, companion_data
    from ..views.tables import finish

    finish(as_json, lambda: companion_data(plan, rows), lambda look: companion(rows, look), written)


def _numbers(text: str) -> tuple[int, ...]:
    """The numbers of talks.

    Raises:
        InputError: they are no numbers, or out of range.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and 1 <= int(part) <= _MOST_TALKS for part in parts):
        raise InputError(
            f"{text!r} is no list of numbers from 1 to {_MOST_TALKS}",
            where="--talks",
            remedy="For example: --talks 1,2,5",
        )
    return tuple(dict.fromkeys(map(int, parts)))


async def _held(plan: Plan, place: WholePlace, settings: Settings, keep: Path | None) -> list[Row]:
    from ...evaluation.companion.measuring import measured
    from ..following import signals_cancel

    rows: list[Row] = []
    with signals_cancel(), ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="persimchat-")))
        for what, name, talks, seed in plan.worlds():
            if keep is not None and any(keep.glob(f"{name}*")):
                raise InputError(f"{keep / name} is there already", where="--keep", remedy="Name another folder.")
            rows += await measured(
                what, name, talks, seed, folder=folder, place=place, settings=settings, baselines=plan.baselines
            )
    return rows
