"""Routes: personas, settings and estimates for a new conversation; and the scenario that a request asks for."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.models import Conversation, EstimateInfo, PersonaInfo
from persimchat.app.web.api.problems import RESPONSES
from persimchat.app.web.context import WebContext
from persimchat.app.web.personas.library import Library
from persimchat.models.naming import default_model_name
from persimchat.personas.catalogue import shipped
from persimchat.personas.files import is_path
from persimchat.personas.names import with_full_names
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.reports.estimate import estimate
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.normalise import folded, visible_form
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings


async def understood(web: WebContext, wanted: Conversation) -> tuple[Scenario, Settings]:
    """The scenario and the settings that a request asks for; raises InputError if they are wrong."""
    own = await asyncio.to_thread(Library(web.library).personas)
    people = [_participant(one, list(own.values())) for one in wanted.participants] or list(default_participants())
    scenario = make_scenario(
        wanted.topic,
        people,
        relationships=wanted.relationships,
        social_goals=wanted.social_goals,
        rules=wanted.rules,
        settings=wanted.settings,
        story=wanted.story,
        guide=wanted.guide,
    )
    settings = load_settings(None, scenario=scenario.settings)
    return scenario, with_full_names(settings, [persona.name for persona in scenario.participants])


def _participant(given: str | Persona, own: list[Persona]) -> Any:
    """A persona of the library by name, or what `make_scenario` finds; never a file of the server."""
    if isinstance(given, Persona):
        return given
    alike = [persona for persona in own if folded(persona.name) == folded(given)]
    found = [persona for persona in alike if visible_form(persona.name) == visible_form(given)] or alike
    if len({persona.name for persona in found}) > 1:
        names = " or ".join(ascii(persona.name) for persona in found)
        remedy = "Write the full name."
        raise InputError(f"{given!r} may be {names}", where="participants", remedy=remedy)
    if found:
        return found[-1]
    if is_path(given):
        raise InputError(
            f"{given!r} is a path", where="participants", remedy="Give the name of a persona, or the persona itself."
        )
    return given


def conversations_router(web: WebContext) -> APIRouter:
    """The routes, over this library."""
    router = APIRouter(route_class=JsonRoute, prefix="/api", tags=["setting up"], responses=RESPONSES)

    @router.get("/personas")
    async def personas() -> list[PersonaInfo]:
        """Personas that can take part by name: the library's, then the shipped ones."""
        own = await asyncio.to_thread(Library(web.library).personas)
        return [
            *(PersonaInfo(persona=persona, own=True) for persona in own.values()),
            *(PersonaInfo(persona=persona, own=False) for persona in shipped()),
        ]

    @router.get("/settings")
    async def settings() -> dict[str, Any]:
        """The JSON schema of the settings: names, bounds, defaults and meanings."""
        return Settings.model_json_schema()

    @router.post("/estimate")
    async def estimated(wanted: Conversation) -> EstimateInfo:
        """Estimate calls, tokens and cost of a conversation without starting it."""
        scenario, settings = await understood(web, wanted)
        model, _ = default_model_name(settings.model)
        settings = settings.model_copy(update={"model": model})
        found = await asyncio.to_thread(estimate, scenario, settings)
        return EstimateInfo(
            utterances=found.utterances,
            totals=found.total,
            exceeded=found.exceeded(settings),
            unpriced=found.unpriced(),
        )

    return router
