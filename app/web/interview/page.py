"""The page of an interview with one agent: its questions and answers, and the field for the next question."""

from __future__ import annotations

import asyncio
from typing import Final

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from persimchat.app.web.board import Board
from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.interview.beginning import begun
from persimchat.app.web.looks import colour
from persimchat.app.web.models.picker import model_picker
from persimchat.app.web.shared.navigation import interview_of, page_of
from persimchat.app.web.widgets import FIELD, avatar, named, notify_error
from persimchat.app.web.words import t
from persimchat.evaluation.interviews import Interview
from persimchat.evaluation.transcripts import has_words_of_people
from persimchat.runs.folder.interviews import InterviewAnswer, interviews, read_interviews
from persimchat.state.errors import PerSimChatError
from persimchat.state.interview import LONGEST_QUESTION
from persimchat.state.plain_text import clean, one_line

_SHOWN: Final = 60
"""The most characters of a first question in the list of interviews."""
_ENTER: Final = """(e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); emit(); }
}"""
_REASONS: Final = ("unparseable", "refused", "too long")


async def interview_page(
    web: WebContext, run: str, board: Board, agent: str, turn: int | None = None, number: int | None = None
) -> None:
    """Draw the page.

    Args:
        web: what the pages work with.
        run: the run's id.
        board: its data.
        agent: who is interviewed.
        turn: utterances so far; None for the end.
        number: the interview that goes on; None for a new one.
    """
    held = await begun(web, run, agent, turn=None if number else turn, going_on=number)
    earlier = [
        rows
        for rows in interviews(await asyncio.to_thread(read_interviews, held.record.path))
        if rows[0].agent == held.agent
    ]
    frame = Frame(t("interview.with", name=one_line(held.agent)))
    with frame.status:
        back = ui.link(t("interview.back"), page_of(run, held.turn if held.turn < board.turn else None))
        back.classes("text-sm text-primary no-underline")
    with ui.element("div").classes("interview-page"):
        _head(run, board, held)
        _chooser(run, held, earlier)
        _Talk(board, held, _Answering(web, run, held))
        disclaimer()


def _head(run: str, board: Board, held: Interview) -> None:
    """Who is interviewed, as of when, and what that means."""
    name = one_line(held.agent)
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        avatar(held.agent, colour(held.agent, board.participants), "48px")
        with ui.column().classes("gap-0 min-w-0 grow"):
            heading = ui.label(t("interview.with", name=name)).classes("text-xl font-semibold break-words")
            heading.props("role=heading aria-level=1")
            topic = one_line(board.started.topic) if board.started else run
            when = t("interview.at_end") if held.turn >= board.turn else t("interview.at_turn", turn=held.turn)
            ui.label(f"{when} · {topic}").classes("text-sm muted break-words")
    ui.label(t("interview.explained", name=name)).classes("text-sm muted")


def _chooser(run: str, held: Interview, earlier: list[list[InterviewAnswer]]) -> None:
    """The interviews that were held with this agent before, and a new one."""
    if not earlier:
        return
    titles = {rows[0].interview: _title(rows) for rows in earlier}
    choices = {0: t("interview.new"), **titles}
    with ui.row().classes("w-full items-center gap-2 no-wrap"):
        field = ui.select(
            choices,
            value=held.number,
            label=t("interview.which"),
            on_change=lambda event: ui.navigate.to(
                interview_of(run, held.agent, None if event.value else held.turn, number=event.value or None)
            ),
        )
        field.props(f"{FIELD} options-dense").classes("grow min-w-0").mark("interview")


def _title(rows: list[InterviewAnswer]) -> str:
    question = one_line(rows[0].question)
    short = question if len(question) <= _SHOWN else f"{question[: _SHOWN - 1]}…"
    return t("interview.titled", number=rows[0].interview, turn=rows[0].turn, question=short, n=len(rows))


class _Answering:
    """Which model answers: a line that says so, and below it, unfolded, the field for another one."""

    def __init__(self, web: WebContext, run: str, held: Interview) -> None:
        self._web, self._run, self._held = web, run, held
        self._by, self._people = "", False
        self._asked = (self._by, self._people)
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center gap-x-2 gap-y-1"):
                ui.icon("memory", size="20px").classes("muted").props("aria-hidden=true")
                self._line = ui.label().classes("text-sm [overflow-wrap:anywhere]").props("role=status")
                self._change = ui.button(t("interview.another_model"), on_click=self._toggle).mark("model-change")
                self._change.props("flat dense no-caps padding='2px 8px' aria-expanded=false")
            with ui.column().classes("surface w-full p-3 gap-2") as self._box:
                model_picker("", self._choose, none=t("interview.own_model"))
                if has_words_of_people(held.record):
                    ui.checkbox(t("interview.with_people"), on_change=self._allow).props("dense").mark("with-people")
        self._box.set_visibility(False)
        self._choose("")

    async def interview(self) -> Interview:
        """The interview, with the model that is chosen; raises as `begun`."""
        if (self._by, self._people) != self._asked:
            held = self._held
            self._held = await begun(
                self._web,
                self._run,
                held.agent,
                turn=held.turn,
                going_on=held.number or None,
                by=self._by,
                with_people=self._people,
            )
            self._asked = (self._by, self._people)
        return self._held

    def _toggle(self) -> None:
        self._box.set_visibility(not self._box.visible)
        self._change.props(f"aria-expanded={'true' if self._box.visible else 'false'}")

    def _choose(self, name: str) -> None:
        self._by = name
        self._line.set_text(t("interview.by_other", model=name) if name else t("interview.by_own"))

    def _allow(self, event: ValueChangeEventArguments[bool | None]) -> None:
        self._people = bool(event.value)


class _Talk:
    """Questions and answers, while the page is open."""

    def __init__(self, board: Board, held: Interview, answering: _Answering) -> None:
        self._answering = answering
        self._colour = colour(held.agent, board.participants)
        self._box = ui.column().classes("w-full gap-4").props("role=log aria-live=polite")
        named(self._box, t("interview.log"))
        with self._box:
            self._empty = ui.label(t("interview.empty")).classes("text-sm muted")
            for row in held.answers:
                self._draw(row)
        self._empty.set_visibility(not held.answers)
        self._waiting = ui.row().classes("items-center gap-2")
        with self._waiting:
            ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
            ui.label(t("interview.waiting", name=one_line(held.agent))).classes("text-sm muted").props("role=status")
        self._waiting.set_visibility(False)
        with ui.row().classes("interview-ask surface w-full items-end gap-2 no-wrap p-2"):
            self._field = ui.textarea(placeholder=t("interview.question")).props(
                f"borderless dense autogrow autofocus maxlength={LONGEST_QUESTION}"
            )
            named(self._field.classes("grow min-w-0 px-2"), t("interview.question")).mark("question")
            self._field.on("keydown", self._ask, js_handler=_ENTER)
            self._button = ui.button(t("interview.ask"), icon="send", on_click=self._ask).props("unelevated no-caps")
            self._button.mark("ask")

    async def _ask(self) -> None:
        """Put the question; while it is under way, no other one."""
        question = (self._field.value or "").strip()
        if not question or not self._button.enabled:
            return
        self._button.disable()
        self._waiting.set_visibility(True)
        try:
            row = await (await self._answering.interview()).ask(question)
        except PerSimChatError as error:
            if not self._box.is_deleted:
                notify_error(error)
            return
        finally:
            if not self._box.is_deleted:
                self._button.enable()
                self._waiting.set_visibility(False)
        if self._box.is_deleted or row is None:
            return
        self._field.set_value("")
        self._empty.set_visibility(False)
        with self._box:
            self._draw(row)
        ui.run_javascript("window.scrollTo({top: document.body.scrollHeight})")

    def _draw(self, row: InterviewAnswer) -> None:
        with ui.column().classes("w-full gap-2"):
            ui.label(clean(row.question)).classes("interview-question")
            if row.answer is not None:
                words = ui.label(clean(row.answer)).classes("interview-answer surface")
                words.style(f"--c:{self._colour}").props("dir=auto")
            else:
                reason = _REASONS.index(row.missing) if row.missing in _REASONS else 0
                ui.label(t(f"interview.missing_{_REASONS[reason].replace(' ', '_')}")).classes("text-sm muted")
