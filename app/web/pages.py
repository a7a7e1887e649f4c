"""The pages and their addresses."""

from __future__ import annotations

from typing import Final

from fastapi import Request, Response
from nicegui import Client, app, ui

from persimchat.app.web.conversation_page import conversation_page, new_page
from persimchat.app.web.frame import Frame
from persimchat.app.web.past.compare_page import compare_page
from persimchat.app.web.past.runs_page import runs_page
from persimchat.app.web.personas.personas_page import personas_page
from persimchat.app.web.place import Place
from persimchat.app.web.viewing import Viewing
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError

_DIGITS: Final = 9
"""The longest number that a turn may have in an address."""


def register(place: Place) -> None:
    """Register every page with NiceGUI's application."""

    @ui.page("/")
    async def _new(like: str = "", setup: str = "") -> None:
        await new_page(place, like=like, setup=setup)

    @ui.page("/run/{run}")
    async def _run(run: str, turn: str = "") -> None:
        try:
            board = await place.runs.board(run)
        except PerSimChatError as error:
            _nothing(str(error))
            return
        await conversation_page(Viewing(place, run, board, _turn(turn)))

    @ui.page("/runs")
    async def _runs() -> None:
        await runs_page(place)

    @ui.page("/compare")
    async def _compare(a: str = "", b: str = "") -> None:
        await compare_page(place, a, b)

    @ui.page("/personas")
    async def _personas() -> None:
        await personas_page(place)

    @app.exception_handler(404)
    async def _missing(request: Request, _: Exception) -> Response:
        with Client(ui.page(""), request=request) as client:
            _nothing(t("common.missing_why"))
        return client.build_response(request, 404)


def _turn(given: str) -> int | None:
    """The turn that an address names; None for the newest, also where what it says is no turn."""
    return int(given) if given.isdecimal() and len(given) <= _DIGITS else None


def _nothing(why: str) -> None:
    """A page that says why there is nothing to see."""
    Frame(t("common.missing"))
    with ui.column().classes("m-auto items-center gap-3 p-6 text-center"):
        ui.icon("search_off", size="64px", color="primary").props("aria-hidden=true")
        ui.label(t("common.missing")).classes("text-2xl font-semibold").props("role=heading aria-level=1")
        ui.label(why).classes("muted")
        ui.button(t("common.runs"), on_click=lambda: ui.navigate.to("/runs")).props("unelevated no-caps")
