"""Routes: the summary of a focus group, as a page to print and as JSON; asking what it needs."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from persimchat.app.web.api.bodies import JsonRoute
from persimchat.app.web.api.problems import CONFLICT, NO_RUN, RESPONSES
from persimchat.app.web.api.runs import HTML, as_page, check_own, check_run
from persimchat.app.web.context import WebContext
from persimchat.app.web.shared.summaries import asked_about
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.guide_page import summary_page
from persimchat.runs.reports.guide_summary import summary_of


class Asking(BaseModel):
    """What is asked about a focus group."""

    model_config = ConfigDict(extra="forbid")

    by: Annotated[str, Field(max_length=300, description="the model that finds themes; empty for none")] = ""
    positions: Annotated[bool, Field(description="whether everybody is asked where they stood")] = True
    with_people: Annotated[bool, Field(description="whether the model may read words of people")] = False


def summaries_router(web: WebContext) -> APIRouter:
    """The routes, over these runs."""
    router = APIRouter(route_class=JsonRoute, prefix="/api/runs/{run}", tags=["downloads"], responses=RESPONSES)

    @router.get("/summary.html", response_class=Response, responses={**NO_RUN, **HTML})
    async def page(run: str) -> HTMLResponse:
        """The summary as one page to print, without scripts; nothing is asked."""
        check_run(web, run)
        return as_page(await asyncio.to_thread(lambda: summary_page(summary_of(read_run(web.runs.folder(run))))))

    @router.get("/summary", responses=NO_RUN)
    async def summary(run: str) -> dict[str, Any]:
        """Who said what about each question, themes with quotes, positions before and after; nothing is asked."""
        check_run(web, run)
        return await asyncio.to_thread(lambda: summary_of(read_run(web.runs.folder(run))).data())

    @router.post("/summary", responses={**NO_RUN, **CONFLICT})
    async def ask(run: str, wanted: Asking) -> dict[str, Any]:
        """Ask everybody for their positions, and a model for themes; what was asked before is not asked again."""
        check_own(web, run)
        folder = web.runs.folder(run)
        notes = await asked_about(folder, by=wanted.by, positions=wanted.positions, with_people=wanted.with_people)
        found = await asyncio.to_thread(lambda: summary_of(read_run(folder)).data())
        return {**found, "notes": notes}

    return router
