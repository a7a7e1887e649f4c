"""The REST API as an application: all routes, and uniform errors."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from persimchat.app.web.api.companions import companions_router
from persimchat.app.web.api.control import control_router
from persimchat.app.web.api.conversations import conversations_router
from persimchat.app.web.api.events import events_router
from persimchat.app.web.api.experiments import experiments_router
from persimchat.app.web.api.interviews import interviews_router
from persimchat.app.web.api.labelled import labelled_router
from persimchat.app.web.api.model_routes import models_router
from persimchat.app.web.api.models import Problem
from persimchat.app.web.api.problems import add_problems
from persimchat.app.web.api.runs import downloads_router, runs_router
from persimchat.app.web.api.summaries import summaries_router
from persimchat.app.web.context import WebContext

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def api_app(web: WebContext) -> FastAPI:
    """The REST API alone.

    Args:
        web: the context of the pages.
    """
    api = FastAPI(
        title="PerSimChat",
        description="Simulated conversations: runs, their events and their controls; experiments; what companions "
        "remember. Simulated people are not people.",
        version="1",
        docs_url=None,  # the documentation page would load its script from another host
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    _add_routes(api, web)
    return api


def _add_routes(api: FastAPI, web: WebContext) -> None:
    """Add the routes to an application."""
    add_problems(api)
    routers = [
        make(web)
        for make in (
            runs_router,
            control_router,
            events_router,
            labelled_router,
            downloads_router,
            conversations_router,
            experiments_router,
            models_router,
            companions_router,
            summaries_router,
            interviews_router,
        )
    ]
    for router in routers:
        api.include_router(router)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]

    @api.api_route("/api/{rest:path}", methods=list(_METHODS), include_in_schema=False)
    async def nothing(request: Request) -> JSONResponse:
        """Answer unknown addresses of the API."""
        at = [route for route in routes if route.path_regex.match(request.url.path)]
        allowed = sorted({method for route in at for method in route.methods or ()})
        if allowed:
            problem = Problem(error=f"{request.method} is not allowed here", remedy=f"Use {', '.join(allowed)}.")
            return JSONResponse(problem.model_dump(), status_code=405, headers={"allow": ", ".join(allowed)})
        problem = Problem(error="there is nothing at this address", remedy="See /api/openapi.json.")
        return JSONResponse(problem.model_dump(), status_code=404)
