"""The REST API as an application: all routes, and uniform errors."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel

from ..context import WebContext
from . import resources, runs
from .bodies import METHODS, add_problems, problem
from .events import stream

_ROUTERS: Final = (
    runs.setting_up,
    runs.list_of_runs,
    runs.one_run,
    runs.going_on,
    runs.afterwards,
    runs.downloads,
    stream,
    resources.experiments,
    resources.one_experiment,
    resources.models,
    resources.companions,
)


class Health(BaseModel):
    """The server is up."""

    status: Literal["ok"] = "ok"


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
    api.state.web = web
    add_problems(api)
    for router in _ROUTERS:
        api.include_router(router)
    routes = [route for router in _ROUTERS for route in router.routes if isinstance(route, APIRoute)]

    @api.get("/api/health", tags=["health"])
    async def health() -> Health:
        """Whether the server is up: for proxies and containers, without a token."""
        return Health()

    @api.api_route("/api/{rest:path}", methods=list(METHODS), include_in_schema=False)
    async def nothing(request: Request) -> JSONResponse:
        """Answer unknown addresses of the API."""
        at = [route for route in routes if route.path_regex.match(request.url.path)]
        allowed = ", ".join(sorted({method for route in at for method in route.methods or ()}))
        if allowed:
            return problem(405, f"{request.method} is not allowed here", "", f"Use {allowed}.", allow=allowed)
        return problem(404, "there is nothing at this address", "", "See /api/openapi.json.")

    return api
