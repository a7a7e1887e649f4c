"""`persimchat companion list`, `export` and `forget`: who is known in which world, and what of it goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from ...state.errors import InputError
from ...state.folders import WORLDS
from ...state.plain_text import one_line
from ..output import on_terminal, say, say_object, warn
from .options import option

if TYPE_CHECKING:
    from ...runs.companion.forgetting import Forgotten

EXAMPLES: Final = """\b
[bold]Examples[/bold]
  persimchat companion list
  persimchat companion export --agent Oda --person Petr --md
  persimchat companion forget --agent Oda --person Petr --yes
  persimchat companion forget --all-agents --person Petr --mentions --yes

\b
[bold]Exit codes[/bold]
  0 done   2 bad input, or another process works on the world   4 a file cannot be written: nothing has changed
"""

World = Annotated[str | None, option("companion upkeep", "world")]


def add_to(companion: typer.Typer) -> None:
    """Add the commands to the command `companion`."""
    companion.command("list", epilog=EXAMPLES)(list_people)
    companion.command(epilog=EXAMPLES)(export)
    companion.command(epilog=EXAMPLES)(forget)


def list_people(
    world: World = None,
    as_json: Annotated[bool, option("companion upkeep", "as_json")] = False,
) -> None:
    """List worlds, their agents, and the people whom these know: trust, talks, facts, the last meeting."""
    from ...reports.words import count
    from ...runs.companion.folder import list_worlds

    found, unread = list_worlds(WORLDS if world is None else found_world(world))
    for problem in unread:
        warn(f"persimchat: left out: {one_line(problem)}")
    if as_json:
        rows = [
            {
                "world": str(one.folder),
                "agents": one.agents,
                "in_use": one.in_use,
                "people": [
                    {"agent": agent, "person": tie.name, "trust": tie.trust, "type": tie.type, "talks": tie.talks}
                    | {"facts": len(tie.in_force), "last_met": tie.last_met}
                    for agent, tie in one.ties
                ],
            }
            for one in found
        ]
        say_object(rows)
        return
    if not found:
        say(f"There are no worlds in {WORLDS}. Begin one: persimchat companion talk PLACE --person NAME")
    for one in found:
        say(f"{one_line(str(one.folder))}{'  (in use)' if one.in_use else ''}")
        for agent, tie in one.ties:
            met = f", last {tie.last_met.replace('T', ' ')[:16]}" if tie.last_met else ""
            told = f"trust {tie.trust}, {count(tie.talks, 'talk')}, {count(len(tie.in_force), 'fact')}{met}"
            say(f"  {one_line(agent)}  {one_line(tie.name)}: {told}")
        if not one.ties:
            say("  nobody has talked here yet")


def export(
    person: Annotated[str | None, option("companion upkeep", "person")] = None,
    agent: Annotated[str | None, option("companion upkeep", "remembers")] = None,
    world: World = None,
    as_markdown: Annotated[bool, option("companion upkeep", "as_markdown")] = False,
    place: Annotated[bool, option("companion upkeep", "place")] = False,
) -> None:
    """Print what an agent remembers of a person: facts, talks, insights, the course of trust, the transcript.

    Facts have the person's words and their date; replaced ones are marked.
    """
    from ...personas.place_file import place_text
    from ...reports.world_export import as_markdown as worded
    from ...reports.world_export import remembered_in
    from ...runs.companion.folder import read_place

    folder = found_world(world)
    if place:
        say(place_text(read_place(folder)).rstrip("\n"))
        return
    if person is None or agent is None:
        raise InputError(
            "it is not clear what to print", where="persimchat companion export", remedy="Give --agent and --person."
        )
    found = remembered_in(folder, agent, person)
    if as_markdown:
        say(worded(found).rstrip("\n"))
    else:
        say_object(found)


def forget(
    person: Annotated[str, option("companion upkeep", "person")],
    agent: Annotated[str | None, option("companion upkeep", "forgets")] = None,
    all_agents: Annotated[bool, option("companion upkeep", "all_agents")] = False,
    mentions: Annotated[bool, option("companion upkeep", "mentions")] = False,
    yes: Annotated[bool, option("companion upkeep", "yes")] = False,
    world: World = None,
) -> None:
    """Delete all that a world has of a person: talks, facts, memories, insights, plans, promises.

    The files that held it are written anew. Without --mentions, what others told of the person is listed and stays.
    """
    if (agent is None) != all_agents:
        raise InputError(
            "it is not clear who forgets" if agent is None else "--agent and --all-agents contradict each other",
            where="persimchat companion forget",
            remedy="Give --agent NAME, or --all-agents.",
        )
    from ...runs.companion.forgetting import forget as forget_in

    folder = found_world(world)
    if not yes:
        _ask(person, agent, folder)
    _show(forget_in(folder, person, agent, mentions=mentions), mentions)


def _ask(person: str, agent: str | None, folder: Path) -> None:
    """Ask whether this is meant.

    Raises:
        InputError: nobody can be asked.
        typer.Abort: it is not meant.
    """
    if not on_terminal():
        raise InputError(
            "forgetting cannot be undone, and nobody can be asked",
            where="persimchat companion forget",
            remedy="Add --yes.",
        )
    who = "All agents" if agent is None else one_line(agent)
    typer.confirm(f"{who} in {one_line(str(folder))}: forget {one_line(person)}? It cannot be undone.", abort=True)


def _show(done: Forgotten, mentions: bool) -> None:
    agents = " and ".join(map(one_line, done.agents)) or "Nobody"
    say(f"{one_line(done.person)} is forgotten by {agents}.")
    for what, number in sorted(done.counts.items()):
        say(f"  {what}: {number:,}")
    if done.mentions:
        say(f"Other people's memories with the name, {'deleted' if mentions else 'kept (--mentions deletes them)'}:")
        for agent, theme in done.mentions:
            say(f"  {one_line(agent)}: {one_line(theme)}")
    if done.left:
        say(f"Files that still have the name, in others' words or in the place: {', '.join(done.left)}")
    say(f"Out of reach: {'; '.join(done.beyond)}.")


def found_world(wanted: str | None) -> Path:
    """The folder of a world.

    Args:
        wanted: a folder, or a name in `worlds/`; None: the only world there.

    Raises:
        InputError: there is none, or several.
    """
    from ...runs.companion.folder import is_world
    from ...state.errors import suggestion

    names = sorted(path.name for path in WORLDS.glob("*") if is_world(path))
    if wanted is not None:
        folder = next((path for path in (Path(wanted), WORLDS / wanted) if is_world(path)), None)
        if folder is not None:
            return folder
        remedy = suggestion(wanted, names, otherwise="Give the folder of a world.")
        raise InputError(f"there is no world {one_line(wanted)!r}", where="--world", remedy=remedy)
    if len(names) == 1:
        return WORLDS / names[0]
    raise InputError(
        f"there are {len(names)} worlds in {WORLDS}: {', '.join(names)}" if names else f"there is no world in {WORLDS}",
        where="--world",
        remedy="Name one with --world." if names else "Give the folder of a world with --world.",
    )
