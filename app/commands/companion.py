"""`persimchat companion`: talk with one agent who remembers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ...state.errors import InputError
from ...state.folders import WORLDS
from ..output import Interrupted, on_terminal, warn
from . import companion_measure
from .companion_upkeep import add_to
from .option_groups import WantedTalk
from .setting_command import offer

if TYPE_CHECKING:
    from ...state.companion.place import Place
    from ...state.settings import Settings

companion = typer.Typer(
    help="Talk with one agent who remembers you: facts, promises, trust.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat companion talk Jarmila --person Petr
  persimchat companion talk examples/companion/ferry.yaml Oda --person Petr
  persimchat companion talk worlds/ferry Oda --person Petr --model ollama:llama3.2
  printf 'My sister is called Mira.\\nGoodbye!\\n' | persimchat companion talk Jarmila --person Petr

\b
[bold]What it writes[/bold]
  a world: a folder with world.sqlite, in which are the place, all words, and
  what agents know, and their memories. The next talk goes on from there

\b
[bold]Exit codes[/bold]
  0 the talk is over, 2 bad input
  3 model failure, 4 stopped by the machine (disk full), 130 interrupted: the talk stays open
"""


def talk(wanted: WantedTalk) -> None:
    """Talk with one agent, who remembers you the next time.

    PLACE is a place file, a persona, or the folder of a world. In a terminal, words stream and /help lists the
    commands; in a pipe, each line is a message, and the talk is over when the input is.
    """
    import asyncio

    from ...models.registry import close_models
    from ...runs.companion.folder import is_world, read_world
    from ...runs.companion.reembedding import cost_of
    from ...runs.companion.world import opened_world
    from ..console.companion_talk import GREETING
    from ..console.companion_talk import talk as talked
    from ..following import signals_cancel
    from .request import assigned

    folder, place = folder_and_place(wanted.place, wanted.world)
    settings = settings_for(folder, place, wanted.settings, assigned(wanted.assignments or (), wanted.arguments))
    terminal = on_terminal() and _types()
    if wanted.reembed and is_world(folder):
        cost = cost_of(folder, read_world(folder), settings)
        warn(f"persimchat: embedding again with {settings.embedding}: {cost}")

    async def held() -> None:
        with signals_cancel():
            try:
                async with opened_world(folder, place, settings, reembedding=wanted.reembed) as world:
                    known = False if wanted.stranger else None
                    session = await world.companion(wanted.agent or "", wanted.person, introduced=known)
                    if terminal:
                        warn(f"{session.agent}. {GREETING}")
                    await talked(world, session, terminal=terminal)
            except asyncio.CancelledError:
                raise Interrupted from None
            finally:
                await close_models()

    asyncio.run(held())


def folder_and_place(place: str, world: Path | None) -> tuple[Path, Place | None]:
    """The folder of the world, and its place if it is new.

    Args:
        place: a place file, a persona, or the folder of a world.
        world: the folder that was asked for, or the name of a world in `worlds`; None: one there, named after the
            place.

    Raises:
        InputError: there is no such place.
    """
    from ...personas.place_file import place_for
    from ...runs.companion.folder import is_world

    if world is not None and not is_world(world) and is_world(WORLDS / world):
        world = WORLDS / world
    if is_world(Path(place)):
        if world is not None and world.resolve() != Path(place).resolve():
            raise InputError("two worlds are named", where="--world", remedy="Leave --world out.")
        return Path(place), None
    found = place_for(place)
    if world is None:
        name = Path(place).stem if Path(place).suffix else found.agents[0].name
        world = WORLDS / (re.sub(r"\W+", "-", name).strip("-").lower() or "companion")
    return world, None if is_world(world) else found


def settings_for(folder: Path, place: Place | None, file: Path | None, arguments: Mapping[str, Any]) -> Settings:
    """The settings of a world: as it was last opened, with what is given now.

    Raises:
        InputError: a setting is wrong, or the folder holds no world and no place is given.
    """
    from ...runs.companion.folder import companion_settings, read_place, read_world

    if place is not None:
        return companion_settings(place, file=file, **arguments)
    return companion_settings(read_place(folder), read_world(folder).settings, file=file, **arguments)


def _types() -> bool:
    import sys

    return sys.stdin is not None and sys.stdin.isatty()


OF_OTHERS: Final = (
    *("mode", "max_messages", "pattern", "selection", "selection_temperature", "allow_repeated_speaker", "closing"),
    *(
        "judge",
        "judge_window",
        "judge_every",
        "answer_format",
        "choices",
        "listeners",
        "human_turns",
        "baseline",
        "ablation",
        "joined",
    ),
    *("analysis", "store", "checkpoints", "rounds", "memory_filtering", "prompt_order", "modules"),
)
"""Settings that say nothing in a talk with a companion."""

USUAL: Final = {"cognition": "lean"}
"""Defaults that are a companion's own."""
offer(companion, talk, EXAMPLES, panel="Commands", without=OF_OTHERS, usual=USUAL)
add_to(companion)
companion.command(epilog=companion_measure.EXAMPLES)(companion_measure.measure)
