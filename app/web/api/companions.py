"""Routes: what an agent of the open world remembers of a person, and having it forgotten."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter

from persimchat.app.web.api.models import Problem
from persimchat.app.web.api.problems import RESPONSES, NoCompanionError
from persimchat.app.web.context import WebContext
from persimchat.runs.companion.export import Remembered, remembered
from persimchat.runs.companion.forgetting import Forgotten
from persimchat.runs.companion.world import World
from persimchat.state.companion import Tie
from persimchat.state.errors import InputError

_NOBODY: Final[dict[int | str, dict[str, Any]]] = {
    404: {"model": Problem, "description": "No world is open, or it has no such agent, or they have never talked."}
}


def companions_router(web: WebContext) -> APIRouter:
    """The routes, over the world that the server has opened."""
    router = APIRouter(prefix="/api/companions", tags=["companions"], responses=RESPONSES)

    @router.get("/{agent}/people/{person}", responses=_NOBODY)
    async def known(agent: str, person: str) -> Remembered:
        """What the agent remembers: facts with quotes and dates, also replaced ones; talks, insights, trust, words."""
        world = _world(web)
        async with world.gate.beside():
            who, tie = await _pair(world, agent, person)
            return await remembered(world, who, tie.name)

    @router.delete("/{agent}/people/{person}", responses=_NOBODY)
    async def forget_person(agent: str, person: str) -> Forgotten:
        """Have the agent forget the person; an open talk is ended first. It cannot be undone."""
        world = _world(web)
        async with world.gate.beside():
            who, tie = await _pair(world, agent, person)
        return await web.pairs.forget(world, who, tie.name)

    return router


def _world(web: WebContext) -> World:
    """The open world.

    Raises:
        NoCompanionError: there is none.
    """
    if web.world is None:
        raise NoCompanionError(
            "no world is open", remedy="Start the server with one: persimchat serve --world worlds/NAME."
        )
    return web.world


async def _pair(world: World, agent: str, person: str) -> tuple[str, Tie]:
    """The agent's name, and what it knows of a person.

    Raises:
        NoCompanionError: there is no such agent, or they have never talked.
    """
    try:
        who = world.agent_named(agent)
    except InputError as error:
        raise NoCompanionError(error.what, where=error.where, remedy=error.remedy) from None
    tie = await world.records.tie(who, (await world.person(person))["id"])
    if tie is None:
        raise NoCompanionError(
            f"{who} has never talked with this person", where="person", remedy="Check the name of the person."
        )
    return who, tie
