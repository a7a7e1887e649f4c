"""Routes: a run's name and tags, and the alternatives of its lines."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.models import NewLabels
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES
from persimchat.app.web.api.runs import check_own, check_run
from persimchat.app.web.context import WebContext
from persimchat.runs.folder.labels import Labels, labels, read_labels, write_labels
from persimchat.runs.reports.alternatives import Alternatives, alternatives


def labelled_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(
        route_class=JsonRoute, prefix="/api/runs/{run}", tags=["afterwards"], responses={**RESPONSES, **NO_RUN}
    )

    @router.get("/labels")
    async def look(run: str) -> NewLabels:
        """A run's name and tags."""
        check_run(web, run)
        return _told(await asyncio.to_thread(read_labels, web.runs.folder(run)))

    @router.put("/labels", responses=CONFLICT)
    async def label(run: str, wanted: NewLabels) -> NewLabels:
        """Replace a run's name and tags; empty ones take them away. Nothing else in its folder changes."""
        check_own(web, run)
        given = labels(wanted.name, wanted.tags)
        await asyncio.to_thread(write_labels, web.runs.own_folder(run), given)
        return _told(given)

    @router.get("/alternatives")
    async def others(run: str) -> list[Alternatives]:
        """The lines in whose place runs of the same family said something else, after the same past."""
        check_run(web, run)
        listing = await web.runs.runs()
        return await asyncio.to_thread(alternatives, web.runs.folder(run), listing.runs)

    return router


def _told(given: Labels) -> NewLabels:
    return NewLabels(name=given.name, tags=given.tags)
