"""What the agent remembers of the person: to read, to correct, to keep, and to have forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from nicegui import ui

from persimchat.app.web.companion.talk import moment
from persimchat.app.web.pairs import Pair
from persimchat.app.web.shared.formats import joined
from persimchat.app.web.widgets import FIELD, answered, card, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.state.companion import Fact, Tie, person_key
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import clean, one_line

_LONGEST = 300
"""The most characters of a statement."""


class Remembered:
    """The cards with facts and summaries, and the button that has everything forgotten.

    Args:
        pair: whose facts they are.
        outside: an element that outlives the lines; it owns the dialogs.
        forget: has the agent forget the person.
    """

    def __init__(self, pair: Pair, outside: ui.element, forget: Callable[[], Awaitable[None]]) -> None:
        self._pair = pair
        self._forget = forget
        self._outside = outside
        self._drawn: Tie | None = None
        self._person = one_line(pair.companion.person)
        self._agent = one_line(pair.companion.agent)
        with card(t("companion.remembered", person=self._person)):
            self._empty = ui.label(t("companion.remembered_none")).classes("text-sm muted")
            self._facts = ui.element("ul").classes("plain w-full flex flex-col gap-3")
            self._old = ui.column().classes("w-full gap-0")
        self._talks = ui.column().classes("w-full gap-0")
        with card(t("companion.forget_title")):
            ui.label(t("companion.forget_what", agent=self._agent)).classes("text-sm")
            button = ui.button(t("companion.forget"), icon="delete_forever", on_click=self._ask_forget)
            button.props("outline no-caps color=negative").classes("self-start").mark("forget-me")

    def sync(self) -> None:
        """Draw the lines anew if something has changed."""
        tie = self._pair.tie
        known = tie.model_copy(update={"talk": None, "over": []}) if tie is not None else None
        if known == self._drawn and self._drawn is not None:
            return
        self._drawn = known
        self._facts.clear()
        self._old.clear()
        self._talks.clear()
        facts = tie.facts if tie is not None else []
        current = [fact for fact in facts if fact.in_force]
        old = [fact for fact in facts if not fact.in_force]
        self._empty.set_visibility(not current)
        with self._facts:
            for fact in reversed(current):
                self._fact(fact)
        self._old.set_visibility(bool(old))
        if old:
            with self._old, ui.expansion(t("companion.replaced", n=len(old))) as fold:
                fold.props("dense").classes("bare w-full")
                with ui.element("ul").classes("plain w-full flex flex-col gap-2 pt-1"):
                    for fact in reversed(old):
                        self._fact(fact)
        if tie is not None and (tie.summary or tie.promises):
            with self._talks, card(t("companion.talks", n=tie.talks)):
                if tie.summary:
                    ui.label(clean(tie.summary)).classes("text-sm words")
                for promise in tie.promises:
                    ui.label(t("companion.promise", what=one_line(promise))).classes("text-sm words")
                if tie.last_met:
                    ui.label(t("companion.last_met", when=moment(tie.last_met))).classes("text-xs muted")
                if tie.talks > 1:
                    ui.button(t("companion.all_talks"), on_click=self._show_talks).props("flat dense no-caps")

    def _fact(self, fact: Fact) -> None:
        with (
            ui.element("li").classes("fact" if fact.in_force else "fact replaced"),
            ui.column().classes("w-full gap-0"),
        ):
            with ui.row().classes("w-full items-start gap-1 no-wrap"):
                words = ui.label(clean(fact.statement)).classes("text-sm words grow min-w-0")
                if not fact.in_force:
                    words.classes("muted line-through")
                self._acts(fact)
            if fact.quote:
                ui.label(t("companion.quote", words=one_line(fact.quote))).classes("text-xs words")
            edited = t("companion.edited", who=one_line(fact.edited_by)) if fact.edited_by else ""
            until = t("companion.until", when=moment(fact.replaced_at)) if fact.replaced_at else ""
            ui.label(joined([moment(fact.at), edited, until])).classes("text-xs muted words")

    def _acts(self, fact: Fact) -> None:
        """The buttons of a line; a replaced fact can only be forgotten."""
        what = one_line(fact.statement)

        async def edit() -> None:
            await self._ask_edit(fact)

        async def pin() -> None:
            await self._do(self._pair.pin(fact.id, not fact.pinned))

        async def forget() -> None:
            await self._ask_forget_one(fact)

        with ui.row().classes("gap-0 no-wrap shrink-0"):
            if fact.in_force:
                _act("edit", t("companion.edit"), what, edit)
                name = t("companion.unpin" if fact.pinned else "companion.pin")
                button = _act("push_pin", name, what, pin)
                button.props["aria-pressed"] = "true" if fact.pinned else "false"
                if fact.pinned:
                    button.props("color=primary")
            _act("close", t("companion.forget_one"), what, forget)

    async def _do(self, doing: Awaitable[None]) -> None:
        """Do something to what is known; an error is shown."""
        try:
            await doing
        except PerSimChatError as error:
            notify_error(error)

    async def _show_talks(self) -> None:
        """Show the summaries of all talks."""
        try:
            talks = await self._pair.talks()
        except PerSimChatError as error:
            notify_error(error)
            return
        with self._outside, _dialog(t("companion.all_talks")) as dialog:
            with ui.element("ul").classes("plain w-full flex flex-col gap-2"):
                for at, summary in reversed(talks):
                    with ui.element("li"):
                        ui.label(moment(at)).classes("text-xs muted")
                        ui.label(clean(summary)).classes("text-sm words")
            ui.button(t("common.close"), on_click=dialog.close).props("flat no-caps").classes("self-end")
        await answered(dialog)

    async def _ask_edit(self, fact: Fact) -> None:
        with self._outside, _dialog(t("companion.edit_title")) as dialog:
            ui.label(t("companion.edit_why", person=self._person)).classes("text-sm muted")
            field = ui.textarea(t("companion.statement"), value=fact.statement).props(f"{FIELD} autogrow")
            field.props(f"maxlength={_LONGEST}").classes("w-full").mark("statement")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
                ui.button(t("companion.save"), on_click=lambda: dialog.submit(field.value)).props("unelevated no-caps")
        statement = await answered(dialog)
        if isinstance(statement, str) and statement.strip() not in ("", fact.statement):
            await self._do(self._pair.edit(fact.id, statement[:_LONGEST]))

    async def _ask_forget_one(self, fact: Fact) -> None:
        with self._outside, _dialog(t("companion.forget_one_title")) as dialog:
            ui.label(clean(fact.statement)).classes("text-sm words")
            ui.label(t("companion.forget_one_why")).classes("text-sm muted")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
                button = ui.button(t("companion.forget_one"), on_click=lambda: dialog.submit(True))
                button.props("unelevated no-caps color=negative").mark("forget-one")
        if await answered(dialog):
            await self._do(self._pair.forget_fact(fact.id))

    async def _ask_forget(self) -> None:
        """Ask for the name, and forget the person."""
        with self._outside, _dialog(t("companion.forget_title")) as dialog:
            ui.label(t("companion.forget_does", agent=self._agent)).classes("text-sm")
            ui.label(t("companion.forget_not")).classes("text-sm muted")
            field = ui.input(t("companion.forget_name", person=self._person)).props(FIELD).classes("w-full")
            field.mark("forget-name")
            with ui.row().classes("w-full justify-end gap-2"):
                ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
                button = ui.button(t("companion.forget"), on_click=lambda: dialog.submit(True))
                button.props("unelevated no-caps color=negative").mark("forget-now")
            button.bind_enabled_from(field, "value", self._is_name)
        if await answered(dialog):
            await self._do(self._forget())

    def _is_name(self, typed: object) -> bool:
        """Whether the person's name was typed."""
        try:
            return person_key(str(typed or "")) == person_key(self._pair.companion.person)
        except PerSimChatError:
            return False


@contextmanager
def _dialog(heading: str) -> Iterator[ui.dialog]:
    """A dialog with a heading, to be filled."""
    with ui.dialog() as dialog, ui.card().classes("surface w-[28rem] max-w-full gap-3"):
        named(dialog, heading)
        ui.label(heading).classes("text-lg font-semibold").props("role=heading aria-level=2")
        yield dialog


def _act(icon: str, name: str, what: str, on_click: Callable[[], Awaitable[None]]) -> ui.button:
    """A small button of a line, named for screen readers with the line's words."""
    button = icon_button(icon, name, on_click).props("size=sm")
    named(button, t("companion.act_on", act=name, what=what))
    return button
