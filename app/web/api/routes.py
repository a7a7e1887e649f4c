"""All routes of the REST API."""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from persimchat.app.web.api.about import about_router
from persimchat.app.web.api.downloads import downloads_router
from persimchat.app.web.api.events import events_router
from persimchat.app.web.api.going_on import going_on_router
from persimchat.app.web.api.models import Problem
from persimchat.app.web.api.problems import add_problems
from persimchat.app.web.api.runs import runs_router
from persimchat.app.web.place import Place

_METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")


def add(api: FastAPI, place: Place) -> None:
    """Add the routes to an application, before its pages."""
    add_problems(api)
    routers = [make(place) for make in (runs_router, going_on_router, events_router, downloads_router, about_router)]
    for router in routers:
        api.include_router(router)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]

    @api.api_route("/api/{rest:path}", methods=list(_METHODS), include_in_schema=False)
    async def nothing(request: Request) -> JSONResponse:
        """What is no route; without this, the pages would answer."""
        at = [route for route in routes if route.path_regex.match(request.url.path)]
        allowed = sorted({method for route in at for method in route.methods or ()})
        if allowed:
            problem = Problem(error=f"{request.method} is not done here", remedy=f"Use {', '.join(allowed)}.")
            return JSONResponse(problem.model_dump(), status_code=405, headers={"allow": ", ".join(allowed)})
        problem = Problem(error="there is nothing at this address", remedy="See /api/openapi.json.")
        return JSONResponse(problem.model_dump(), status_code=404)
