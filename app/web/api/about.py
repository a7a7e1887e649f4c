"""Routes: what a conversation can be made of, and what it will take."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter

from persimchat.app.web.api.finding import understood
from persimchat.app.web.api.models import Conversation, EstimateInfo, PersonaInfo
from persimchat.app.web.api.problems import RESPONSES
from persimchat.app.web.personas.library import Library
from persimchat.app.web.place import Place
from persimchat.models.naming import default_model_name
from persimchat.personas.catalogue import shipped
from persimchat.runs.estimate import estimate
from persimchat.state.settings import Settings


def about_router(place: Place) -> APIRouter:
    """The routes, over this library."""
    router = APIRouter(prefix="/api", tags=["setting up"], responses=RESPONSES)

    @router.get("/personas")
    async def personas() -> list[PersonaInfo]:
        """Personas that can take part by name: one's own, then those that are shipped."""
        own = await asyncio.to_thread(Library(place.library).personas)
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
        """Calls, tokens and cost of a conversation, before it is held; nothing is started."""
        scenario, settings = await understood(place, wanted)
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
