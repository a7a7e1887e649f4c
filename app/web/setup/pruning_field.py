"""The field of the setting `pruning`: one slider with what it costs, and the rest of the group under it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, get_args

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from persimchat.app.web.scorer import scorer_missing
from persimchat.app.web.setup.form import Form
from persimchat.app.web.widgets import FIELD, hint, named, whole_number
from persimchat.app.web.words import number, t
from persimchat.state.errors import PerSimChatError
from persimchat.state.pruning import REMOVABLE, Fill, Method, Query, letters_of

NAME: Final = "pruning"
STEP: Final = 0.05
"""Of the slider."""
INSTEAD: Final = "embedding"
"""The method that is offered where attention cannot score."""

Group = dict[str, Any]
"""All parts of the setting by name, as JSON has them."""


def group_of(form: Form) -> Group:
    """The values of the form's draft, valid or not."""
    given = form.value(NAME)
    own = {"lambda" if name == "strength" else name: value for name, value in given.items()} if _maps(given) else {}
    return {**form.usual()[NAME], **own}


def give(form: Form, **parts: Any) -> None:
    """Fill in some parts; the draft keeps those that differ from what counts anyway."""
    usual = form.usual()[NAME]
    now = {**group_of(form), **parts}
    form.set(NAME, {name: value for name, value in now.items() if value != usual.get(name)} or usual)


def strength_of(group: Group) -> float:
    """λ; 0 if it is none."""
    value = group["lambda"]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def cost_of(group: Group) -> list[str]:
    """What these values cost, as keys of the catalogue, a sentence each."""
    strength, method = strength_of(group), group["method"]
    if strength <= 0:
        return ["setup.pruning_off_removed" if group["remove"] else "setup.pruning_off"]
    first = group["query"] == "response" and method in ("attention", "embedding")
    found = ["setup.pruning_first" if first else "setup.pruning_free"]
    if method == "attention":
        found.append("setup.pruning_reads")
    if group["revision"] == "again":
        found.append("setup.pruning_checks")
    return found


def pruning_field(form: Form) -> None:
    """Draw the field."""
    _Field(form)


class _Field:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._missing: PerSimChatError | None = None
        self._known = self._early = False
        self._showing = False
        self._shows: list[Callable[[Group], None]] = []
        with ui.column().classes("w-full gap-1 pt-1") as self._box:
            ui.label(t("settings.pruning")).classes("text-sm").props("aria-hidden=true")
            self._slider()
            hint(t("settings.pruning.help"))
            self._cost = ui.label().classes("text-xs muted").props("aria-live=polite").mark("pruning-cost")
            self._fault = ui.label().classes("text-xs text-negative").props("role=alert").mark("pruning-wrong")
            self._note = ui.column().classes("w-full gap-1 tint").mark("pruning-missing")
            self._note.style("padding:8px 12px; border-radius:12px").set_visibility(False)
            self._more = ui.expansion(t("setup.pruning_more")).classes("bare w-full").mark("pruning-more")
            self._more.props('dense header-class="text-xs muted px-0 min-h-0"')
            with self._more, ui.column().classes("w-full gap-2"):
                self._parts()
        form.mark(NAME, self._mark)
        form.redraw(self._show)
        form.follow(self._show)
        self._show()
        ui.timer(0, self._ask, once=True)

    def _slider(self) -> None:
        with ui.row().classes("w-full items-center gap-3 no-wrap"):
            slider = ui.slider(min=0, max=1, step=STEP, value=0).classes("grow min-w-0 mx-1").mark("setting-pruning")
            named(slider, t("settings.pruning"))
            value = ui.label().classes("text-xs tabular-nums whitespace-nowrap")
        with ui.row().classes("w-full justify-between no-wrap text-xs muted").props("aria-hidden=true"):
            ui.label(t("setup.pruning_least"))
            ui.label(t("setup.pruning_most")).classes("text-right")

        def show(group: Group) -> None:
            strength = strength_of(group)
            slider.set_value(strength)
            value.set_text(f"λ {number(strength, 2)}")
            slider.props["aria-valuetext"] = t("setup.pruning_value", percent=round(strength * 100))

        self._shows.append(show)
        slider.on_value_change(lambda: self._moved(round(float(slider.value or 0), 4)))

    def _moved(self, strength: float) -> None:
        if not self._showing and strength != strength_of(group_of(self._form)):
            self._early = self._early or not self._known
            self._moved_to(strength)

    def _moved_to(self, strength: float) -> None:
        """Take over λ, and a method that can score if the draft's own cannot."""
        method = group_of(self._form)["method"]
        unfit = method == "none" or (method == "attention" and self._missing is not None)
        give(self._form, **{"lambda": strength}, **({"method": INSTEAD} if strength > 0 and unfit else {}))

    def _parts(self) -> None:
        self._choice("method", get_args(Method))
        self._choice("query", get_args(Query))
        self._responses()
        self._choice("fill", get_args(Fill))
        blocks = {letter: t(f"setup.pruning_block_{letter}") for letter in REMOVABLE}
        remove = ui.select(blocks, label=t("setup.pruning_remove"), multiple=True)
        remove.props(f"{FIELD} options-dense use-chips").classes("w-full")
        self._part("remove", remove, _letters, _letters)
        ui.label(t("setup.pruning_remove_help")).classes("text-xs muted")
        again = ui.switch(t("setup.pruning_revision")).props("dense").classes("py-1 text-sm")
        self._part("revision", again, lambda value: "again" if value else "off", lambda value: value == "again")

    def _choice(self, name: str, values: tuple[str, ...]) -> None:
        words = {value: t(f"setup.pruning_{name}_{value}") for value in values}
        select = ui.select(words, label=t(f"setup.pruning_{name}")).props(f"{FIELD} options-dense").classes("w-full")
        if name == "method":
            self._shows.append(lambda group: self._offer(select, words, group))
        self._part(name, select, lambda value: value)

    def _offer(self, select: ui.select, words: Mapping[str, str], group: Group) -> None:
        """The methods that do something here, and the one that the draft has."""
        now = group["method"]
        left_out = {"none", *(["attention"] if self._missing else [])} - {now}
        options = {value: text for value, text in words.items() if value not in left_out}
        if options != select.options:
            select.set_options(options)

    def _responses(self) -> None:
        field = ui.number(t("setup.pruning_responses"), min=1, max=10, precision=0).props(FIELD).classes("w-full")
        self._part("responses", field, lambda value: value if (whole := whole_number(value)) is None else whole)

        def offer(group: Group) -> None:
            field.set_visibility(group["query"] == "response")

        self._shows.append(offer)

    def _part(
        self,
        name: str,
        element: ValueElement[Any],
        read: Callable[[Any], Any],
        write: Callable[[Any], Any] = lambda value: value,
    ) -> None:
        """Bind an element to a part of the setting."""
        element.mark(f"pruning-{name}")

        def show(group: Group) -> None:
            element.set_value(write(group[name]))

        def given() -> None:
            if not self._showing and (value := read(element.value)) != group_of(self._form)[name]:
                give(self._form, **{name: value})

        self._shows.append(show)
        element.on_value_change(given)

    def _show(self) -> None:
        if self._showing:
            return
        group, self._showing = group_of(self._form), True
        try:
            for show in self._shows:
                show(group)
        finally:
            self._showing = False
        self._cost.set_text(" ".join(t(key, n=group["responses"]) for key in cost_of(group)))
        self._note.set_visibility(self._missing is not None and strength_of(group) > 0)
        active = strength_of(group) > 0 or bool(group["remove"])
        self._box.set_visibility(active or not self._form.value("baseline"))

    def _mark(self, told: str | None) -> None:
        self._fault.set_text(told or "")
        self._fault.set_visibility(bool(told))
        if told:
            self._more.open()

    async def _ask(self) -> None:
        """Find out whether attention can score, and say what gets it if not."""
        self._missing = await asyncio.to_thread(scorer_missing)
        self._known = True
        if self._missing is None or self._note.is_deleted:
            return
        self._note.clear()
        with self._note:
            ui.label(t("setup.pruning_missing")).classes("text-xs")
            why = t("setup.pruning_why", what=self._missing.what, remedy=self._missing.remedy)
            ui.label(why).classes("text-xs words")
        if self._early:  # the slider was moved before this was known
            self._moved_to(strength_of(group_of(self._form)))
        self._show()


def _maps(value: Any) -> bool:
    return isinstance(value, Mapping)


def _letters(value: Any) -> list[str]:
    return list(letters_of(value or ()))
