"""The pages and their addresses."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import Request, Response
from nicegui import Client, app, ui

from persimchat.app.web.board import Board
from persimchat.app.web.chat.chat_panel import chat_panel
from persimchat.app.web.chat.composer import composer
from persimchat.app.web.chat.status import run_status
from persimchat.app.web.companion.page import companion_page
from persimchat.app.web.context import Viewing, WebContext
from persimchat.app.web.experiments.experiment_page import experiment_page
from persimchat.app.web.experiments.experiments_page import experiments_page
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.insights.charts_part import charts_part
from persimchat.app.web.insights.people_part import people_part
from persimchat.app.web.interview.page import interview_page
from persimchat.app.web.minds.mind_part import mind_part
from persimchat.app.web.models.models_page import models_page
from persimchat.app.web.panes import PanelPart, Panes
from persimchat.app.web.past.actions import run_actions
from persimchat.app.web.past.compare_page import compare_page
from persimchat.app.web.past.other_lines import OtherLines
from persimchat.app.web.past.runs_page import runs_page
from persimchat.app.web.past.time_bar import time_bar
from persimchat.app.web.personas.personas_page import personas_page
from persimchat.app.web.setup.new_page import new_conversation
from persimchat.app.web.shared.stories import StoryPlan, read_plan
from persimchat.app.web.story.panel import rooms_part, standing_part
from persimchat.app.web.story.stage_bar import stage_bar
from persimchat.app.web.story.transcript import Transcript
from persimchat.app.web.story.view import StoryView
from persimchat.app.web.words import t
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised

_PATIENCE_S: Final = 60.0
"""Seconds that a page may take to be drawn; after NiceGUI's usual three, a busy machine would show an empty one."""
_DIGITS: Final = 9
"""The most digits of a turn in an address."""


async def new_page(web: WebContext, *, like: str = "", setup: str = "") -> None:
    """The page of a new conversation.

    Args:
        web: the context of the pages.
        like: a run whose set-up is copied.
        setup: a saved set-up of the library to copy.
    """
    Frame(t("common.new"))
    await new_conversation(web, like=like, setup=setup)
    disclaimer()


async def conversation_page(viewing: Viewing) -> None:
    """The page of a run: the conversation, and the panel on its people, charts and minds."""
    frame = Frame(_topic(viewing))
    parts = (
        PanelPart("people", t("common.people"), "groups", lambda: people_part(viewing)),
        PanelPart("charts", t("common.charts"), "insights", lambda: charts_part(viewing)),
        PanelPart("mind", t("common.mind"), "psychology", lambda: mind_part(viewing)),
    )
    panes = Panes(viewing, parts)
    with panes.main:
        chat_panel(viewing, below=OtherLines(viewing).below)
        time_bar(viewing)
        composer(viewing)
        disclaimer()
    with frame.status:
        run_status(viewing)
    with frame.actions:
        run_actions(viewing)
        panes.button()


async def story_page(view: StoryView) -> None:
    """The page of a story's run: stages with what was said, and the panel: where its characters stand, rooms, minds.

    While people play, nothing on it tells what their characters do not know: minds, actions and slider come at last.
    """
    viewing, played = view.viewing, view.played
    frame = Frame(_topic(viewing))
    first = "story.standing" if view.plan.story.mains else "story.cast"
    parts = [
        PanelPart("people", t(first), "groups", lambda: standing_part(view)),
        PanelPart("rooms", t("story.rooms"), "meeting_room", lambda: rooms_part(view)),
    ]
    if not played:
        minds = PanelPart("mind", t("common.mind"), "psychology", lambda: mind_part(viewing, lambda: view.minds))
        parts.append(minds)
    panes = Panes(viewing, parts, lambda: (viewing.revision, view.revision))
    with panes.main:
        head = ui.element("div").classes("w-full")
        transcript = Transcript(view, below=None if played else OtherLines(viewing).below)
        with head:
            stage_bar(view, transcript.show)
        if not played:
            time_bar(viewing)
        composer(viewing, player=(lambda: view.eyes or "") if played else None)
        disclaimer()
    with frame.status:
        run_status(viewing, secret=played)
    with frame.actions:
        if not played:
            run_actions(viewing)
        panes.button()


def _topic(viewing: Viewing) -> str:
    """What the page of a run is called."""
    return viewing.board.started.topic[:80] if viewing.board.started else viewing.run


def register(web: WebContext) -> None:
    """Register every page with NiceGUI's application."""

    @ui.page("/", response_timeout=_PATIENCE_S)
    async def _new(like: str = "", setup: str = "") -> None:
        await new_page(web, like=like, setup=setup)

    @ui.page("/run/{run}", response_timeout=_PATIENCE_S)
    async def _run(run: str, turn: str = "") -> None:
        try:
            board = await web.runs.board(run)
            plan = await _plan(web, run, board)
        except PerSimChatError as error:
            _nothing(str(error))
            return
        viewing = Viewing(web, run, board, _turn(turn))
        await (conversation_page(viewing) if plan is None else story_page(StoryView(viewing, plan)))

    @ui.page("/run/{run}/interview/{agent}", response_timeout=_PATIENCE_S)
    async def _interview(run: str, agent: str, turn: str = "", number: str = "") -> None:
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
        await runs_page(web)

    @ui.page("/compare", response_timeout=_PATIENCE_S)
    async def _compare(a: str = "", b: str = "") -> None:
        await compare_page(web, a, b)

    @ui.page("/personas", response_timeout=_PATIENCE_S)
    async def _personas() -> None:
        await personas_page(web)

    @ui.page("/experiments", response_timeout=_PATIENCE_S)
    async def _experiments() -> None:
        await experiments_page(web)

    @ui.page("/experiments/{name}", response_timeout=_PATIENCE_S)
    async def _experiment(name: str) -> None:
        try:
            web.experiments.place(name)
        except PerSimChatError as error:
            _nothing(str(error))
            return
        experiment_page(web, name)

    @ui.page("/models", response_timeout=_PATIENCE_S)
    async def _models() -> None:
        models_page(web)

    @ui.page("/companion", response_timeout=_PATIENCE_S)
    async def _companion(agent: str = "", person: str = "") -> None:
        await companion_page(web, agent, person)

    @app.exception_handler(404)
    async def _missing(request: Request, _: Exception) -> Response:
        with Client(ui.page(""), request=request) as client:
            _nothing(t("common.missing_why"))
        return client.build_response(request, 404)


async def _plan(web: WebContext, run: str, board: Board) -> StoryPlan | None:
    """The story that a run is; None if it is none."""
    if board.started is None or board.started.mode != "story":
        return None
    return await asyncio.to_thread(read_plan, web.runs.folder(run))


def _turn(given: str) -> int | None:
    """The turn in an address; None, the newest, if there is none or if it is not a turn."""
    return int(given) if given.isdecimal() and len(given) <= _DIGITS else None


def _nothing(why: str) -> None:
    """A page with an error in place of content."""
    Frame(t("common.missing"))
    with ui.column().classes("m-auto items-center gap-3 p-6 text-center"):
        ui.icon("search_off", size="64px", color="primary").props("aria-hidden=true")
        ui.label(t("common.missing")).classes("text-2xl font-semibold").props("role=heading aria-level=1")
        ui.label(capitalised(why)).classes("muted")
        ui.button(t("common.runs"), on_click=lambda: ui.navigate.to("/runs")).props("unelevated no-caps")
