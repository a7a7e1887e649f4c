"""What stands after the last line: what a conversation came to, why it ended, and what can be done with it now."""

from __future__ import annotations

import asyncio
from collections import Counter

from nicegui import context, ui

from ....evaluation.polls import origin_of
from ....evaluation.themes import ToAsk, ask
from ....evaluation.transcripts import has_words_of_people
from ....reports.guide import MOST_QUOTES, Answers, GroupSummary, Positions, summary_of
from ....runs.events import Concluded, Standing, Stopped
from ....runs.folder.answers import Theme
from ....runs.folder.reading import read_run
from ....state.errors import PerSimChatError
from ....state.plain_text import capitalised, one_line
from ....state.settings import BASELINES
from ....state.wording import listed
from ..board import Board
from ..context import Viewing
from ..shared.navigation import interview_of, printed_summary_of
from ..shared.runs import questions_about
from ..widgets import anew, card, colour, errors_shown, item, table, tall_dialog, text_button
from ..words import t


def ended(stopped: Stopped) -> str:
    """Why a run has ended, in a sentence."""
    if stopped.source in BASELINES:
        return t("chat.ended_baseline")
    if stopped.reason == "stopped" and stopped.source in ("user", "moderator", "person"):
        return t(f"chat.stopped_by_{stopped.source}")
    return t(f"chat.ended_{stopped.reason}")


def failed(board: Board) -> bool:
    """Whether an error has ended the run."""
    return bool(board.error) or board.stopped is not None and board.stopped.reason == "error"


def standings(board: Board) -> list[Standing]:
    """Where everybody stands at the end of a debate: their position, and their last words that all heard.

    Conclusions under conditions say so themselves; else the positions are those of the judge's last verdict, or the
    participants' own answers. Empty for a conversation without positions.
    """
    if board.stopped is None or board.stopped.conclusion is None:
        return []
    if board.stopped.conclusion.positions:
        return board.stopped.conclusion.positions
    words = {said.speaker: said.text for said in board.utterances if said.heard_by is None}
    positions = {said.speaker: said.answer for said in board.utterances if said.answer is not None}
    if board.verdicts:
        positions |= {one.agent: one.position for one in board.verdicts[-1].positions}
    return [
        Standing(agent=name, position=positions[name], words=words.get(name, ""))
        for name in board.participants
        if name in positions
    ]


def draw_end(board: Board, *, result: str = "", counted: bool = True) -> None:
    """Draw the card of a run that has ended.

    Args:
        board: the run's.
        result: a sentence on the result of a story's vote; empty if there is none.
        counted: whether to say how much was said.
    """
    stopped = board.stopped
    if failed(board):
        _failure(board)
        return
    with ui.column().classes("surface w-full gap-2 p-4 the-end"):
        why = ended(stopped) if stopped is not None else ""
        detail = _detail(stopped)
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            ui.icon("flag", size="20px").classes("muted").props("aria-hidden=true")
            heading = t("chat.the_end", why=why)
            ui.label(heading).classes("text-sm font-semibold").props("role=heading aria-level=2")
        if stopped is not None and stopped.conclusion is not None:
            _conclusion(stopped.conclusion)
            _standings(board)
            _reasons(stopped.conclusion)
        if result:
            ui.label(result).classes("conclusion w-full p-3 text-base font-semibold break-words")
        if detail and not result:
            ui.label(detail).classes("text-sm muted break-words whitespace-pre-wrap")
        if stopped is not None and counted:
            ui.label(t("chat.summary", n=board.turn)).classes("text-xs muted")


def _failure(board: Board) -> None:
    """The red card of a run that an error ended: what went wrong, what is kept, and what to do."""
    what = board.error or (board.stopped.detail if board.stopped is not None else "")
    with ui.column().classes("w-full gap-2 p-4 the-end failure").props("role=alert"):
        with ui.row().classes("w-full items-center gap-2 no-wrap"):
            ui.icon("error", size="22px").props("aria-hidden=true")
            ui.label(t("chat.failed")).classes("text-base font-semibold").props("role=heading aria-level=2")
        if what:
            ui.label(capitalised(what)).classes("text-sm break-words whitespace-pre-wrap")
        kept = t("chat.failed_kept", n=board.turn) if board.turn else ""
        ui.label(f"{kept} {t('chat.failed_todo')}".strip()).classes("text-sm")


def _detail(stopped: Stopped | None) -> str:
    """The rule's explanation, unless the heading says the same."""
    if stopped is None or stopped.reason == "stopped":
        return ""
    said = stopped.reason in ("consensus", "message_limit", "guide") and not stopped.source.startswith("mad")
    return "" if said else stopped.detail


def _conclusion(found: Concluded) -> None:
    """The answer; one that holds under conditions is an outcome of its own."""
    if found.consensus:
        heading = "chat.agreed_conditionally" if found.conditional else "chat.agreed_on"
    else:
        heading = "chat.majority_conditionally" if found.conditional else "chat.majority"
    with ui.column().classes("conclusion w-full gap-1 p-3" + (" conditional" if found.conditional else "")):
        ui.label(t(heading)).classes("text-xs font-semibold")
        ui.label(found.answer).classes("text-lg font-semibold break-words whitespace-pre-wrap")
        if found.conditional:
            ui.label(t("chat.condition", what=one_line(found.conditional))).classes("font-semibold break-words")
        if found.supporters:
            ui.label(t("chat.held_by", who=listed(found.supporters))).classes("text-sm break-words")


def _standings(board: Board) -> None:
    """Everybody's position, with their last words and how often they spoke."""
    held = standings(board)
    if not held:
        return
    spoken = Counter(said.speaker for said in board.utterances)
    ui.label(t("chat.positions")).classes("text-xs font-semibold muted pt-1").props("role=heading aria-level=3")
    with ui.element("ul").classes("plain w-full standings"):
        for one in held:
            with ui.element("li").style(f"--c:{colour(one.agent, board.participants)}"):
                with ui.row().classes("w-full items-baseline gap-2 no-wrap"):
                    ui.label(one_line(one.agent)).classes("text-sm font-semibold break-words min-w-0")
                    ui.label(t("chat.summary", n=spoken[one.agent])).classes("text-xs muted whitespace-nowrap")
                ui.label(one_line(one.position)).classes("text-sm break-words")
                if one.words:
                    ui.label(t("common.quoted", words=one_line(one.words))).classes("text-sm muted break-words clamped")


def _reasons(found: Concluded) -> None:
    by = t("chat.said_by_judge") if found.by == "judge" else t("chat.said_by", by=one_line(found.by))
    if found.reasoning:
        ui.label(found.reasoning).classes("text-sm muted words")
    ui.label(by).classes("text-sm muted break-words")


# What can be done with a run that is over: interviews, and a focus group's summary


def draw_afterwards(viewing: Viewing) -> None:
    """Draw the buttons; none where nothing can be done."""
    board = viewing.board
    agents = [name for name in board.participants if name not in board.people]
    with ui.row().classes("w-full gap-2"):
        if board.started is not None and board.started.guide is not None:
            button = text_button(t("groups.open"), icon="summarize", look="outline").mark("group-summary")
            button.on_click(lambda: show_group_summary(viewing))
        if agents and not viewing.experiment and viewing.live is None and not board.elsewhere:
            look = "outline icon-right=expand_more aria-haspopup=menu"
            button = text_button(t("interview.somebody"), icon="record_voice_over", look=look)
            with button.mark("interview-somebody"), ui.menu().props("role=menu"):
                for name in agents:
                    told = t("interview.open", name=one_line(name))
                    item("person", told, href=interview_of(viewing.run, name)).mark("interview-of")


async def show_group_summary(viewing: Viewing) -> None:
    """Open the dialog with the summary of a focus group: what it shows without asking, and asking for more."""
    client = context.client
    with errors_shown():
        record = await asyncio.to_thread(read_run, viewing.web.runs.folder(viewing.run))
        found = await asyncio.to_thread(summary_of, record)
        with client.content:
            opened = _Summary(viewing, found, people=has_words_of_people(record), shared=bool(origin_of(record)))
        await opened.count()


class _Summary:
    """What can be asked, and below it the summary."""

    def __init__(self, viewing: Viewing, found: GroupSummary, *, people: bool, shared: bool) -> None:
        self._folder = viewing.web.runs.folder(viewing.run)
        self._asks = not viewing.experiment  # nobody writes into the folder of an experiment's cell
        with tall_dialog(t("groups.open"), "groups"):
            with ui.row().classes("w-full items-baseline justify-between gap-x-4 gap-y-1"):
                ui.label(t("groups.about")).classes("text-sm muted")
                link = ui.link(t("groups.print"), printed_summary_of(viewing.run), new_tab=True)
                link.classes("text-sm text-primary")
            if self._asks:
                self._asking(found, people=people, shared=shared)
            self._shown = ui.column().classes("w-full gap-3")
            self._draw(found)

    def _asking(self, found: GroupSummary, *, people: bool, shared: bool) -> None:
        with card(t("groups.more")):
            self._by = ui.input(t("groups.by")).props("maxlength=300").classes("w-full").mark("themes-by")
            ui.label(t("groups.by_help")).classes("text-xs muted")
            asked = bool(found.positions) and not shared
            self._positions = ui.checkbox(t("groups.positions"), value=asked).props("dense").mark("ask-positions")
            self._positions.set_visibility(asked)
            if found.positions:
                told = t("groups.positions_branch" if shared else "groups.positions_help")
                ui.label(told).classes("text-xs muted")
            self._people = ui.checkbox(t("groups.with_people")).props("dense")
            self._people.set_visibility(people)
            with ui.row().classes("w-full items-center gap-3"):
                self._button = text_button(t("groups.ask"), self._ask, look="unelevated").mark("ask")
                self._told = ui.label().classes("text-sm muted grow").props("aria-live=polite").mark("asked")
        for field in (self._positions, self._by, self._people):
            field.on("blur", self.count) if field is self._by else field.on_value_change(self.count)

    async def _questions(self) -> list[ToAsk]:
        return await questions_about(
            self._folder,
            by=(self._by.value or "").strip(),
            positions=bool(self._positions.value and self._positions.visible),
            with_people=bool(self._people.value),
        )

    async def count(self) -> None:
        """Say how many calls it would take, and of which models."""
        if not self._asks:
            return
        try:
            questions = await self._questions()
        except PerSimChatError as error:
            self._told.set_text(capitalised(str(error)))
            self._button.disable()
            return
        left = [one for one in questions if one.calls]
        models = listed([one.respondent.name for one in left])
        count = sum(one.calls for one in left)
        self._button.set_enabled(bool(left))
        nothing = t("groups.nothing_left" if questions else "groups.nothing_to_ask")
        self._told.set_text(t("groups.calls", n=count, models=models) if left else nothing)

    async def _ask(self) -> None:
        self._button.props(add="loading").disable()
        try:
            with errors_shown():
                notes = await ask(await self._questions())
                self._draw(await asyncio.to_thread(lambda: summary_of(read_run(self._folder))))
                self._told.set_text(" ".join(notes) or t("groups.nothing_left"))
                return
            self._button.enable()
        finally:
            self._button.props(remove="loading")

    def _draw(self, found: GroupSummary) -> None:
        with anew(self._shown):
            for positions in found.positions:
                if positions.known:
                    _positions(positions)
            for answers in found.answers:
                _question(answers)
            for question in found.not_put:
                ui.label(t("groups.not_put", ask=one_line(question.ask))).classes("text-sm muted break-words")


def _positions(found: Positions) -> None:
    def shown(held: str | None, moved: bool = False) -> str:
        return ("–" if held is None else one_line(held)) + (f" ({t('groups.moved')})" if moved else "")

    with card(one_line(found.poll.ask)):
        rows = [(one_line(one.name), shown(one.before), shown(one.after, bool(one.moved))) for one in found.stands]
        table(("", t("groups.before"), t("groups.after")), rows)


def _question(found: Answers) -> None:
    part = found.section
    with card():
        number = t("groups.question", n=part.number) if part.question else t("groups.opening")
        ui.label(number).classes("panel-title").props("role=heading aria-level=3")
        if part.question:
            ui.label(one_line(part.question.ask)).classes("text-base font-semibold break-words")
        silent = f" · {t('groups.silent', names=listed(part.silent))}" if part.silent else ""
        ui.label(f"{t('groups.answers', n=len(part.answers))}{silent}").classes("text-xs muted break-words")
        if not found.themes:
            ui.label(t("groups.no_theme")).classes("text-sm muted")
            return
        ui.label(t("groups.themes" if found.found else "groups.shared")).classes("text-xs muted")
        for theme in found.themes:
            _theme(theme)


def _theme(theme: Theme) -> None:
    with ui.column().classes("w-full gap-0"):
        about = f" – {one_line(theme.about)}" if theme.about else ""
        ui.label(f"{one_line(theme.name)}{about}").classes("text-sm font-semibold break-words")
        for words in theme.quotes[:MOST_QUOTES]:
            quoted = t("common.quoted", words=one_line(words.words))
            said = t("groups.said_in", name=one_line(words.speaker), turn=words.turn)
            ui.label(f"{quoted} {said}").classes("text-sm muted break-words pl-3")
