"""Beside a talk with a companion: the course of trust, the agent's day, and what it remembers of the person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from nicegui import ui

from ....runs.companion.changing import edit_fact, forget_fact, pin_fact
from ....state.companion import Fact, Tie, person_key
from ....state.companion.day import ASLEEP, BUSY, FREE, place_in_plan, plan_for
from ....state.errors import PerSimChatError
from ....state.plain_text import clean, one_line
from ..pairs import Pair
from ..shared.formats import joined
from ..widgets import anew, answered, card, dialog, dialog_buttons, errors_shown, icon_button, named, text_button
from ..words import t

_WIDTH: Final = 300
_HEIGHT: Final = 64
_EDGE: Final = 5
_MOST: Final = 10
_POINTS: Final = 120
"""The most exchanges that the line shows, the last ones."""


def moment(at: str) -> str:
    """A time of the world as date and hour; text that is not a time stays as it is."""
    try:
        return t("companion.moment", d=datetime.fromisoformat(at))
    except ValueError:
        return one_line(at)


def doing_in_words(activity: str) -> str:
    """What the agent does; the words that no model has written, in the page's language."""
    keys = {FREE: "companion.free", ASLEEP: "companion.asleep", BUSY: "companion.busy"}
    return t(keys[activity]) if activity in keys else one_line(activity)


def path_of(values: Sequence[int]) -> str:
    """The course of trust as a path of SVG; a single value is a line from edge to edge."""
    shown = [values[0], *values] if len(values) == 1 else values
    step = (_WIDTH - 2 * _EDGE) / (len(shown) - 1)
    points = [
        f"{_EDGE + index * step:.1f} {_HEIGHT - _EDGE - value / _MOST * (_HEIGHT - 2 * _EDGE):.1f}"
        for index, value in enumerate(shown)
    ]
    return "M" + "L".join(points)


class Course:
    """The card with the course of trust."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._drawn: list[int] | None = None
        with card(t("companion.course")):
            with ui.element("svg").classes("course w-full") as self._drawing:
                self._drawing.props(f"viewBox='0 0 {_WIDTH} {_HEIGHT}' preserveAspectRatio=none role=img")
                for height in (_EDGE, _HEIGHT / 2, _HEIGHT - _EDGE):
                    ui.element("path").classes("grid").props["d"] = f"M0 {height}H{_WIDTH}"
                self._path = ui.element("path").classes("line")
            self._words = ui.label().classes("text-xs muted tabular-nums")

    def sync(self) -> None:
        """Draw the line anew if trust has changed."""
        values = [one["trust"] for one in self._pair.exchanges if one["appraised"]][-_POINTS:]
        if values == self._drawn:
            return
        self._drawn = values
        self._drawing.set_visibility(bool(values))
        if not values:
            self._words.set_text(t("companion.course_none"))
            return
        self._path.props["d"] = path_of(values)
        low, high = min(values), max(values)
        words = t("companion.course_words", n=len(values), first=values[0], last=values[-1], low=low, high=high)
        self._words.set_text(words)
        named(self._drawing, words)


class Day:
    """The card with the day plan, as the person may see it."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._drawn: object = None
        with card(t("companion.day")):
            self._box = ui.element("ol").classes("plain w-full flex flex-col gap-1")
            self._none = ui.label(t("companion.day_none")).classes("text-sm muted")

    def sync(self) -> None:
        """Draw the plan anew if it, or the entry under way, has changed."""
        pair = self._pair
        person = pair.tie.person if pair.tie is not None else ""
        plan, at = plan_for(pair.mind, person), place_in_plan(pair.mind, pair.companion.world.now())
        if (plan, at) == self._drawn:
            return
        self._drawn = (plan, at)
        self._none.set_visibility(not plan)
        with anew(self._box):
            for index, entry in enumerate(plan):
                self._entry(entry["start"], entry["activity"], entry["place"], now=index == at)

    def _entry(self, start: str, activity: str, place: str, *, now: bool) -> None:
        with ui.element("li") as line, ui.row().classes("w-full items-baseline gap-2 no-wrap"):
            ui.label(start).classes("text-xs muted tabular-nums w-10 shrink-0")
            ui.label(doing_in_words(activity)).classes("text-sm words grow min-w-0" + (" font-semibold" if now else ""))
            if place:
                ui.label(one_line(place.split("/")[-1])).classes("text-xs muted words max-w-[40%] text-right")
        if now:
            line.classes("day-now").props("aria-current=time")


# What the agent remembers: to read, to correct, to keep, and to have forgotten


_LONGEST: Final = 300
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
            button.props("outline color=negative").classes("self-start").mark("forget-me")

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
                    text_button(t("companion.all_talks"), self._show_talks, look="flat dense")

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

        def act(icon: str, name: str, on_click: Callable[[], Awaitable[None]]) -> ui.button:
            button = icon_button(icon, name, on_click).props("size=sm")
            named(button, t("companion.act_on", act=name, what=one_line(fact.statement)))
            return button

        with ui.row().classes("gap-0 no-wrap shrink-0"):
            if fact.in_force:
                act("edit", t("companion.edit"), partial(self._ask_edit, fact))
                name = t("companion.unpin" if fact.pinned else "companion.pin")
                button = act("push_pin", name, partial(self._do, pin_fact, fact.id, not fact.pinned))
                button.props["aria-pressed"] = "true" if fact.pinned else "false"
                if fact.pinned:
                    button.props("color=primary")
            act("close", t("companion.forget_one"), partial(self._ask_forget_one, fact))

    async def _do(self, how: Callable[..., Awaitable[object]], *given: object) -> None:
        """Do something to what is known; an error is shown."""
        with errors_shown():
            await self._pair.change(how, *given)

    async def _show_talks(self) -> None:
        """Show the summaries of all talks."""
        with errors_shown():
            talks = await self._pair.talks()
            with self._outside, dialog(t("companion.all_talks"), "w-[28rem]") as box:
                with ui.element("ul").classes("plain w-full flex flex-col gap-2"):
                    for at, summary in reversed(talks):
                        with ui.element("li"):
                            ui.label(moment(at)).classes("text-xs muted")
                            ui.label(clean(summary)).classes("text-sm words")
                text_button(t("common.close"), box.close).classes("self-end")

    async def _ask_edit(self, fact: Fact) -> None:
        with self._outside, dialog(t("companion.edit_title"), "w-[28rem]") as box:
            ui.label(t("companion.edit_why", person=self._person)).classes("text-sm muted")
            field = ui.textarea(t("companion.statement"), value=fact.statement).props("autogrow")
            field.props(f"maxlength={_LONGEST}").classes("w-full").mark("statement")
            dialog_buttons(box, t("companion.save"), lambda: box.submit(field.value))
        statement = await answered(box)
        if isinstance(statement, str) and statement.strip() not in ("", fact.statement):
            await self._do(edit_fact, fact.id, statement[:_LONGEST], self._pair.companion.person)

    async def _ask_forget_one(self, fact: Fact) -> None:
        with self._outside, dialog(t("companion.forget_one_title"), "w-[28rem]") as box:
            ui.label(clean(fact.statement)).classes("text-sm words")
            ui.label(t("companion.forget_one_why")).classes("text-sm muted")
            button = dialog_buttons(box, t("companion.forget_one"), lambda: box.submit(True))
            button.props("color=negative").mark("forget-one")
        if await answered(box):
            await self._do(forget_fact, fact.id)

    async def _ask_forget(self) -> None:
        """Ask for the name, and forget the person."""
        with self._outside, dialog(t("companion.forget_title"), "w-[28rem]") as box:
            ui.label(t("companion.forget_does", agent=self._agent)).classes("text-sm")
            ui.label(t("companion.forget_not")).classes("text-sm muted")
            field = ui.input(t("companion.forget_name", person=self._person)).classes("w-full").mark("forget-name")
            button = dialog_buttons(box, t("companion.forget"), lambda: box.submit(True))
            button.props("color=negative").mark("forget-now").bind_enabled_from(field, "value", self._is_name)
        if await answered(box):
            with errors_shown():
                await self._forget()

    def _is_name(self, typed: object) -> bool:
        """Whether the person's name was typed."""
        try:
            return person_key(str(typed or "")) == person_key(self._pair.companion.person)
        except PerSimChatError:
            return False
