"""The server: the pages and the REST API in one application, behind the guard."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from fastapi import FastAPI
from nicegui import ui

from persimchat.app.web.api import routes
from persimchat.app.web.guard import Guard
from persimchat.app.web.live_runs import LiveRuns
from persimchat.app.web.pages import register
from persimchat.app.web.place import Place
from persimchat.models.registry import close_models

LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def api_app(place: Place) -> FastAPI:
    """The REST API alone; runs are stopped, and can be resumed, when the application ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await place.runs.close()
        await close_models()

    api = FastAPI(
        title="PerSimChat",
        description="Simulated conversations: runs, their events, and what can be done to them. "
        "Simulated people are not people.",
        version="1",
        docs_url=None,  # it would load its script from another host
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=lifespan,
    )
    routes.add(api, place)
    return api


def web_app(place: Place, *, secret: str, hosts: frozenset[str] = LOOPBACK, token: str | None = None) -> FastAPI:
    """The whole application: REST API and pages behind the guard.

    Args:
        place: what it works with.
        secret: signs the cookie by which a browser's choices (language, colours) are found again.
        hosts: names by which it may be called; empty for any.
        token: what a request has to show; None for nothing.
    """
    api = api_app(place)
    register(place)
    ui.run_with(
        api,
        title="PerSimChat",
        favicon="💬",
        language="en-US",
        storage_secret=secret,
        reconnect_timeout=5,
        show_welcome_message=False,
    )
    api.add_middleware(Guard, hosts=hosts, token=token)
    return api


def place_in(out: Path, library: Path) -> Place:
    """What the pages work with, in these folders."""
    return Place(LiveRuns(out), library)


def secret_in(folder: Path) -> str:
    """The signing secret kept in a file that only its owner can read; made where there is none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "secret"
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if kept := path.read_text(encoding="ascii"):
            return kept
        path.unlink()  # whoever made it did not come to write it
        return secret_in(folder)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        made = secrets.token_urlsafe(32)
        file.write(made)
    return made
