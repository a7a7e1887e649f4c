"""An interview with one agent of a run that is over: begun for the page and for the REST API, and its page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from nicegui import ui

from ....evaluation.interviews import MODULE, Interview, begin
from ....evaluation.transcripts import has_words_of_people
from ....runs.folder.answers import InterviewAnswer, interviews
from ....runs.folder.reading import read_interviews, read_run
from ....state.assessment import LONGEST_QUESTION
from ....state.errors import InputError, PerSimChatError
from ....state.plain_text import clean, one_line
from ....state.settings import BUDGETS
from ..board import Board
from ..context import WebContext
from ..frame import Frame, disclaimer
from ..live_runs import refuse_model_files
from ..models.picker import ModelPicker
from ..shared.navigation import interview_of, page_of
from ..widgets import MODERATOR, avatar, colour, named, notify_error
from ..words import t
from .lines import bubble, draw_turn
from .speaking import composer_bar, words_field
from .transcript import Transcript

_SHOWN: Final = 60
"""The most characters of a first question in the list of interviews."""


async def begun(
    web: WebContext,
    run: str,
    agent: str,
    *,
    turn: int | None = None,
    going_on: int | None = None,
    by: str = "",
    settings: Mapping[str, Any] | None = None,
    with_people: bool = False,
) -> Interview:
    """An interview in a run of this server; see `begin`.

    Args:
        web: what the pages work with.
        run: its id.
        agent: who is interviewed.
        turn: utterances so far; None for the end.
        going_on: the number of an interview that goes on; None for a new one.
        by: the model that answers in place of the agent's own.
        settings: others than in the run; the budgets among them are the interview's.
        with_people: with `by`: whether that model may read the words of people who took part.

    Raises:
        InputError: as `begin`; the run is a cell of an experiment, or still going on; or a model is a file.
    """
    if web.runs.experiment_of(run):
        raise InputError("the run is a cell of an experiment", where=run, remedy="Interview somebody in another run.")
    await web.runs.closed(run)
    if web.runs.going_on(run):
        raise InputError("the run is still going on", where=run, remedy="Wait until it is over, or stop it.")
    given = dict(settings or {})
    refuse_model_files({**given, f"module_models.{MODULE}": by})
    budgets = {str(name): given.pop(name) for name in BUDGETS if name in given}
    asked = partial(begin, turn=turn, going_on=going_on, by=by, changes=given, budgets=budgets, with_people=with_people)
    return await asyncio.to_thread(lambda: asked(read_run(web.runs.own_folder(run)), agent))


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
    answers = await asyncio.to_thread(read_interviews, held.record.path)
    earlier = [rows for rows in interviews(answers) if rows[0].agent == held.agent]
    frame = Frame(t("interview.with", name=one_line(held.agent)))
    with frame.status:
        back = ui.link(t("interview.back"), page_of(run, held.turn if held.turn < board.turn else None))
        back.classes("text-sm text-primary no-underline")
    ui.query(".nicegui-content").classes("p-0 gap-0")
    with ui.column().classes("page-height w-full gap-0 no-wrap"):
        with ui.column().classes("w-full max-w-3xl mx-auto px-4 pt-3 gap-2"):
            _head(run, board, held)
            if earlier:
                _chooser(run, held, earlier)
        _Talk(web, run, board, held)
        disclaimer()


def _head(run: str, board: Board, held: Interview) -> None:
    """Who is interviewed, and as of when."""
    with ui.row().classes("w-full items-center gap-3 no-wrap"):
        avatar(held.agent, colour(held.agent, board.participants), "48px")
        with ui.column().classes("gap-0 min-w-0 grow"):
            heading = ui.label(t("interview.with", name=one_line(held.agent)))
            heading.classes("text-xl font-semibold break-words").props("role=heading aria-level=1")
            topic = one_line(board.started.topic) if board.started else run
            when = t("interview.at_end") if held.turn >= board.turn else t("interview.at_turn", turn=held.turn)
            ui.label(f"{when} · {topic}").classes("text-sm muted break-words")


def _chooser(run: str, held: Interview, earlier: list[list[InterviewAnswer]]) -> None:
    """The interviews that were held with this agent before, and a new one."""
    choices = {0: t("interview.new")}
    for rows in earlier:
        question = one_line(rows[0].question)
        short = question if len(question) <= _SHOWN else f"{question[: _SHOWN - 1]}…"
        title = t("interview.titled", number=rows[0].interview, turn=rows[0].turn, question=short, n=len(rows))
        choices[rows[0].interview] = title
    field = ui.select(choices, value=held.number, label=t("interview.which"))
    field.props("options-dense").classes("w-full").mark("interview")
    field.on_value_change(
        lambda event: ui.navigate.to(
            interview_of(run, held.agent, None if event.value else held.turn, number=event.value or None)
        )
    )


class _Talk(Transcript):
    """Questions and answers, and below them which model answers and the field for the next question."""

    def __init__(self, web: WebContext, run: str, board: Board, held: Interview) -> None:
        super().__init__(t("interview.log"))
        self._web, self._run, self._held = web, run, held
        self._colour = colour(held.agent, board.participants)
        self._rows = list(held.answers)
        self._by, self._people, self._asking = "", False, False
        self._asked = (self._by, self._people)
        with self.head:
            ui.label(t("interview.explained", name=one_line(held.agent))).classes("text-sm muted")
        with composer_bar():
            self._draw_model()
            with ui.row().classes("w-full items-end gap-2 no-wrap"):
                self._field, button = words_field(t("interview.question"), self._ask, f"maxlength={LONGEST_QUESTION}")
                self._field.props("autofocus").mark("question").props["placeholder"] = t("interview.question")
                named(button, t("interview.ask")).mark("ask")
        self.sync()

    def _draw_model(self) -> None:
        """Which model answers: a line that says so, and below it, unfolded, the field for another one."""
        with ui.row().classes("w-full items-center gap-x-2 gap-y-1"):
            ui.icon("memory", size="20px").classes("muted").props("aria-hidden=true")
            self._line = ui.label(t("interview.by_own")).classes("text-sm [overflow-wrap:anywhere]")
            self._line.props("role=status")
            self._change = ui.button(t("interview.another_model"), on_click=self._toggle).mark("model-change")
            self._change.props("flat dense padding='2px 8px' aria-expanded=false")
        with ui.column().classes("surface w-full p-3 gap-2") as self._models:
            ModelPicker("", self._choose, none=t("interview.own_model"))
            if has_words_of_people(self._held.record):
                allow = ui.checkbox(t("interview.with_people")).props("dense").mark("with-people")
                allow.on_value_change(lambda event: setattr(self, "_people", bool(event.value)))
        self._models.set_visibility(False)

    def _toggle(self) -> None:
        self._models.set_visibility(not self._models.visible)
        self._change.props(f"aria-expanded={'true' if self._models.visible else 'false'}")

    def _choose(self, name: str) -> None:
        self._by = name
        self._line.set_text(t("interview.by_other", model=name) if name else t("interview.by_own"))

    def sync(self) -> None:
        """Show the questions and answers, and whether one is under way."""
        self.show([((row.interview, row.number), partial(self._draw, row)) for row in self._rows])
        waiting = t("interview.waiting", name=one_line(self._held.agent))
        self.do(waiting if self._asking else "" if self._rows else t("interview.empty"), busy=self._asking)

    async def _interview(self) -> Interview:
        """The interview, with the model that is chosen; raises as `begun`."""
        if (self._by, self._people) != self._asked:
            held, by, people = self._held, self._by, self._people
            again = partial(begun, self._web, self._run, held.agent, turn=held.turn, going_on=held.number or None)
            self._held = await again(by=by, with_people=people)
            self._asked = (by, people)
        return self._held

    async def _ask(self) -> None:
        """Put the question; while it is under way, no other one."""
        question = (self._field.value or "").strip()
        if not question or self._asking:
            return
        self._asking, row, problem = True, None, None
        self.sync()
        try:
            row = await (await self._interview()).ask(question)
        except PerSimChatError as error:
            problem = error
        finally:
            self._asking = False
        if self.root.is_deleted:
            return
        if problem is not None:
            notify_error(problem)
        if row is not None:
            self._field.set_value("")
            self._rows.append(row)
            self.announce([clean(row.answer or "")])
        self.sync()

    def _draw(self, row: InterviewAnswer) -> ui.element:
        with ui.column().classes("w-full gap-4") as box:
            with draw_turn(t("interview.you"), MODERATOR, mine=True):
                bubble(row.question)
            with draw_turn(one_line(self._held.agent), self._colour):
                if row.answer is not None:
                    bubble(row.answer).props("dir=auto")
                else:
                    missing = row.missing if row.missing in ("unparseable", "refused", "too long") else "unparseable"
                    ui.label(t(f"interview.missing_{missing.replace(' ', '_')}")).classes("text-sm muted")
        return box
