"""From a request to what it means: runs by id, conversations from their fields."""

from __future__ import annotations

import asyncio
from typing import Any

from persimchat.app.web.api.models import Conversation
from persimchat.app.web.api.problems import ConflictError, NoRunError
from persimchat.app.web.board import Board
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.personas.library import Library
from persimchat.app.web.place import Place
from persimchat.personas.files import SUFFIXES
from persimchat.personas.names import with_full_names
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.folding import folded
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


async def board_of(place: Place, run: str) -> Board:
    """What is to be seen of a run; raises NoRunError where there is none."""
    if place.runs.get(run) is None:
        check_run(place, run)
    return await place.runs.board(run)


def check_run(place: Place, run: str) -> None:
    """Raise NoRunError where there is no such run."""
    try:
        place.runs.folder(run)
    except InputError as error:
        raise NoRunError(error.what, where=run, remedy="See /api/runs for those that there are.") from None


def live_run(place: Place, run: str) -> LiveRun:
    """A run that goes on; raises NoRunError or ConflictError where it does not."""
    live = place.runs.get(run)
    if live is None:
        check_run(place, run)
    if live is None or live.over:
        raise ConflictError("the run is not going on", where=run, remedy="Resume it, or branch it.")
    return live


async def understood(place: Place, wanted: Conversation) -> tuple[Scenario, Settings]:
    """The scenario and the settings that a request asks for; raises InputError where they are wrong."""
    own = await asyncio.to_thread(Library(place.library).personas)
    known = {folded(persona.name): persona for persona in own.values()}
    people = [_participant(one, known) for one in wanted.participants] or list(default_participants())
    scenario = make_scenario(
        wanted.topic,
        people,
        relationships=wanted.relationships,
        social_goals=wanted.social_goals,
        rules=wanted.rules,
        settings=wanted.settings,
    )
    settings = load_settings(None, scenario=scenario.settings)
    return scenario, with_full_names(settings, [persona.name for persona in scenario.participants])


def _participant(given: str | Persona, own: dict[str, Persona]) -> Any:
    """A persona of one's own by name, or what `make_scenario` finds; never a file, which a request could not name."""
    if isinstance(given, Persona):
        return given
    if folded(given) in own:
        return own[folded(given)]
    if given.strip().lower().endswith(SUFFIXES) or "/" in given or "\\" in given:
        raise InputError(
            f"{given!r} is a path", where="participants", remedy="Name a persona, or write it out in its place."
        )
    return given
