"""The dialog with the summary of a focus group: what it shows without asking, and asking for more."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from nicegui import context, ui

from persimchat.app.web.context import Viewing
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.shared.summaries import questions_about
from persimchat.app.web.widgets import FIELD, card, icon_button, notify_error
from persimchat.app.web.words import t
from persimchat.evaluation.guide.asking import ToAsk, ask
from persimchat.evaluation.guide.positions import origin_of
from persimchat.evaluation.transcripts import has_words_of_people
from persimchat.runs.folder.reading import read_run
from persimchat.runs.folder.themes import Theme
from persimchat.runs.reports.guide import Positions
from persimchat.runs.reports.guide_summary import MOST_QUOTES, Answers, GroupSummary, summary_of
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import capitalised, one_line


async def show_group_summary(viewing: Viewing) -> None:
    """Open the dialog."""
    client = context.client
    folder = viewing.web.runs.folder(viewing.run)
    try:
        record = await asyncio.to_thread(read_run, folder)
        found = await asyncio.to_thread(summary_of, record)
    except PerSimChatError as error:
        notify_error(error)
        return
    with client.content:
        dialog = _Dialog(viewing, found, people=has_words_of_people(record), shared=bool(origin_of(record)))
    dialog.open()
    await dialog.count()


class _Dialog:
    """What can be asked, and below it the summary."""

    def __init__(self, viewing: Viewing, found: GroupSummary, *, people: bool, shared: bool) -> None:
        self._folder = viewing.web.runs.folder(viewing.run)
        self._asks = not viewing.experiment  # nobody writes into the folder of an experiment's cell
        self._dialog = ui.dialog()
        with self._dialog, ui.card().classes("surface w-[min(760px,94vw)] max-w-none gap-3 p-4 group-summary"):
            with ui.row().classes("w-full items-center justify-between no-wrap"):
                ui.label(t("groups.open")).classes("text-lg font-semibold").props("role=heading aria-level=2")
                icon_button("close", t("common.close"), self._dialog.close)
            with ui.row().classes("w-full items-baseline justify-between gap-x-4 gap-y-1"):
                ui.label(t("groups.about")).classes("text-sm muted")
                address = f"/api/runs/{quote(viewing.run, safe='')}/summary.html"
                ui.link(t("groups.print"), address, new_tab=True).classes("text-sm text-primary")
            if self._asks:
                self._asking(found, people=people, shared=shared)
            self._shown = ui.column().classes("w-full gap-3")
        self._dialog.on("hide", self._dialog.delete)
        self._draw(found)

    def open(self) -> None:
        """Show it."""
        self._dialog.open()

    def _asking(self, found: GroupSummary, *, people: bool, shared: bool) -> None:
        with card(t("groups.more")):
            self._by = ui.input(t("groups.by")).props(f"{FIELD} maxlength=300").classes("w-full").mark("themes-by")
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
                self._button = ui.button(t("groups.ask"), on_click=self._ask).props("unelevated no-caps").mark("ask")
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
            notes = await ask(await self._questions())
            self._draw(await asyncio.to_thread(lambda: summary_of(read_run(self._folder))))
            self._told.set_text(" ".join(notes) or t("groups.nothing_left"))
        except PerSimChatError as error:
            notify_error(error)
            self._button.enable()
        finally:
            self._button.props(remove="loading")

    def _draw(self, found: GroupSummary) -> None:
        self._shown.clear()
        with self._shown:
            for positions in found.positions:
                if positions.known:
                    _positions(positions)
            for answers in found.answers:
                _question(answers)
            for question in found.not_put:
                ui.label(t("groups.not_put", ask=one_line(question.ask))).classes("text-sm muted break-words")


def _positions(found: Positions) -> None:
    with card(one_line(found.poll.ask)), ui.element("table").classes("facts w-full text-sm"):
        with ui.element("thead"), ui.element("tr"):
            for text in ("", t("groups.before"), t("groups.after")):
                with ui.element("th").props("scope=col"):
                    ui.label(text)
        with ui.element("tbody"):
            for stand in found.stands:
                with ui.element("tr"):
                    with ui.element("th").props("scope=row"):
                        ui.label(one_line(stand.name))
                    moved = f" ({t('groups.moved')})" if stand.moved else ""
                    for held, more in ((stand.before, ""), (stand.after, moved)):
                        with ui.element("td"):
                            ui.label(f"{'–' if held is None else one_line(held)}{more}")


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
            said = t("groups.said_in", name=one_line(words.speaker), turn=words.turn)
            ui.label(f"“{one_line(words.words)}” {said}").classes("text-sm muted break-words pl-3")
