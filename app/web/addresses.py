"""The addresses of the pages. What a page is made of is loaded when somebody opens it first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal

from fastapi import Request, Response
from nicegui import Client, app, ui

from ...state.errors import PerSimChatError
from ...state.plain_text import capitalised
from .board import Board
from .context import Viewing, WebContext
from .frame import Frame, disclaimer
from .widgets import centred, errors_shown, text_button
from .words import t

if TYPE_CHECKING:
    from .shared.runs import StoryPlan

_PATIENCE_S: Final = 60.0
"""Seconds that a page may take to be drawn; after NiceGUI's usual three, a busy machine would show an empty one."""
_DIGITS: Final = 9
"""The most digits of a turn in an address."""


def register(web: WebContext) -> None:
    """Register every page with NiceGUI's application."""

    @ui.page("/", response_timeout=_PATIENCE_S)
    async def _new(like: str = "", setup: str = "") -> None:
        from .setup.new_page import new_conversation

        Frame(t("common.new"))
        await new_conversation(web, like=like, setup=setup)
        disclaimer()

    @ui.page("/run/{run}", response_timeout=_PATIENCE_S)
    async def _run(run: str, turn: str = "") -> None:
        from .chat.story import StoryView
        from .pages import conversation_page, story_page

        try:
            board = await web.runs.board(run)
            plan = await _plan(web, run, board)
        except PerSimChatError as error:
            _nothing(str(error))
            return
        viewing = Viewing(web, run, board, _turn(turn))
        with errors_shown():
            await viewing.read()
        await (conversation_page(viewing) if plan is None else story_page(StoryView(viewing, plan)))

    @ui.page("/run/{run}/interview/{agent}", response_timeout=_PATIENCE_S)
    async def _interview(run: str, agent: str, turn: str = "", number: str = "") -> None:
        from .chat.interview import interview_page
        from .chat.story import StoryView

        try:
            board = await web.runs.board(run)
            plan = await _plan(web, run, board)
            if plan is not None and StoryView(Viewing(web, run, board), plan).played:
                _nothing(t("interview.not_yet"))
                return
            await interview_page(web, run, board, agent, _turn(turn), _turn(number))
        except PerSimChatError as error:
            _nothing(str(error))

    @ui.page("/runs", response_timeout=_PATIENCE_S)
    async def _runs() -> None:
        from .past.runs_page import runs_page

        await runs_page(web)

    @ui.page("/compare", response_timeout=_PATIENCE_S)
    async def _compare(a: str = "", b: str = "") -> None:
        from .past.compare_page import compare_page

        await compare_page(web, a, b)

    @ui.page("/personas", response_timeout=_PATIENCE_S)
    async def _personas() -> None:
        from .personas.personas_page import personas_page

        await personas_page(web)

    @ui.page("/experiments", response_timeout=_PATIENCE_S)
    async def _experiments() -> None:
        from .experiments.experiments_page import experiments_page

        await experiments_page(web)

    @ui.page("/experiments/{name}", response_timeout=_PATIENCE_S)
    async def _experiment(name: str) -> None:
        from .experiments.experiments_page import experiment_page

        try:
            web.experiments.place(name)
        except PerSimChatError as error:
            _nothing(str(error), among="experiments")
            return
        experiment_page(web, name)

    @ui.page("/models", response_timeout=_PATIENCE_S)
    async def _models() -> None:
        from .models.models_page import models_page

        models_page(web)

    @ui.page("/companion", response_timeout=_PATIENCE_S)
    async def _companion(agent: str = "", person: str = "") -> None:
        from .chat.companion import companion_page

        await companion_page(web, agent, person)

    @app.exception_handler(404)
    async def _missing(request: Request, _: Exception) -> Response:
        with Client(ui.page(""), request=request) as client:
            _nothing(t("common.missing_why"))
        return client.build_response(request, 404)


async def _plan(web: WebContext, run: str, board: Board) -> StoryPlan | None:
    """The story that a run is; None if it is none."""
    from .shared.runs import read_plan

    if board.started is None or board.started.mode != "story":
        return None
    return await asyncio.to_thread(read_plan, web.runs.folder(run))


def _turn(given: str) -> int | None:
    """The turn in an address; None, the newest, if there is none or if it is not a turn."""
    return int(given) if given.isdecimal() and len(given) <= _DIGITS else None


def _nothing(why: str, among: Literal["runs", "experiments"] = "runs") -> None:
    """A page with an error in place of content, and a way to what there is."""
    Frame(t("common.missing"))
    with centred("search_off", t("common.missing")):
        ui.label(capitalised(why)).classes("muted")
        text_button(t(f"common.{among}"), lambda: ui.navigate.to(f"/{among}"), look="unelevated")
