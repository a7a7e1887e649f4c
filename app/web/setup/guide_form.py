"""The form for the guide of a focus group: who asks, the questions, what is shown, and where everybody stands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from persimchat.app.web.setup.checking import GUIDE
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.guide_draft import Asked, GuideDraft, Stand
from persimchat.app.web.widgets import FIELD, hint, icon_button, named, whole_number
from persimchat.app.web.words import t
from persimchat.state.guide import LONGEST_STIMULUS, MOST_POSITIONS, MOST_QUESTIONS
from persimchat.state.poll import LONGEST_QUESTION

ANSWERS: Final = ("yesno", "scale:1-5", "scale:1-7", "scale:0-10", "choice", "number")
"""Forms of an answer that are offered."""
_FIELD: Final = f"{FIELD} hide-bottom-space"
_ADD: Final = "flat dense no-caps padding='2px 8px'"


def guide_form(form: Form) -> None:
    """Draw the form; it is seen while the draft has a guide."""
    _GuideForm(form)


class _GuideForm:
    def __init__(self, form: Form) -> None:
        self._form = form
        self._drawn: tuple[int, tuple[str, ...]] | None = None
        with ui.column().classes("surface w-full gap-4 p-4") as self._box:
            self._inside = ui.column().classes("w-full gap-4")
            fault = ui.label().classes("text-xs text-negative").props("role=alert").mark("guide-wrong")

        def mark(told: str | None) -> None:
            fault.set_text(told or "")
            fault.set_visibility(bool(told))

        form.mark(GUIDE, mark)
        form.follow(self._follow)
        form.redraw(self._follow)
        self._follow()

    @property
    def _guide(self) -> GuideDraft:
        guide = self._form.draft.guide
        assert guide is not None, "drawn without a guide"
        return guide

    def _follow(self) -> None:
        """Draw it anew for another guide, or if somebody has come or gone."""
        guide = self._form.draft.guide
        self._box.set_visibility(guide is not None)
        now = None if guide is None else (id(guide), tuple(self._form.draft.names))
        if now != self._drawn:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        self._inside.clear()
        if self._form.draft.guide is None:
            return
        with self._inside:
            self._asks()
            self._asked = ui.column().classes("w-full gap-2")
            self._questions()
            self._stimulus()
            self._positions()

    def _again(self) -> None:
        self._draw()
        self._form.changed()

    def _bind(self, element: ValueElement[Any], take: Callable[[Any], None]) -> None:
        """Write what is given into the guide."""

        def given() -> None:
            take(element.value)
            self._form.changed()

        element.on_value_change(given)

    def _asks(self) -> None:
        guide, names = self._guide, self._form.draft.names
        with ui.row().classes("w-full gap-3 items-start"):
            who = guide.moderator if guide.moderator in names else None
            asks = ui.select(names, label=t("setup.guide_moderator"), value=who)
            asks.props(f"{_FIELD} options-dense").classes("grow basis-52").mark("guide-moderator")
            self._bind(asks, lambda value: setattr(guide, "moderator", str(value or "")))
            wordings = {name: t(f"setup.guide_{name}") for name in ("exact", "own")}
            wording = ui.select(wordings, label=t("setup.guide_wording"), value=guide.wording)
            wording.props(f"{_FIELD} options-dense").classes("grow basis-52").mark("guide-wording")
            self._bind(wording, lambda value: setattr(guide, "wording", str(value)))

    def _questions(self) -> None:
        guide = self._guide
        self._asked.clear()
        with self._asked:
            ui.label(t("setup.guide_questions")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            hint(t("setup.guide_questions_help"))
            for number, asked in enumerate(guide.questions):
                self._question(number, asked)
            if len(guide.questions) < MOST_QUESTIONS:
                add = ui.button(t("setup.guide_add"), icon="add", on_click=lambda: self._grow(guide.questions, Asked()))
                add.props(_ADD).mark("guide-add")

    def _question(self, number: int, asked: Asked) -> None:
        guide = self._guide
        with ui.row().classes("w-full items-start gap-2 no-wrap guide-row"):
            ui.label(f"{number + 1}").classes("muted text-sm pt-2 w-4 text-right").props("aria-hidden=true")
            ask = ui.textarea(value=asked.ask, placeholder=t("setup.guide_ask"))
            ask.props(f"{_FIELD} rows=1 maxlength={LONGEST_QUESTION}").classes("grow min-w-0 grows")
            named(ask, t("setup.guide_number", n=number + 1)).mark(f"guide-ask-{number}")
            self._bind(ask, lambda value: setattr(asked, "ask", value or ""))
            turns = ui.number(t("setup.guide_turns"), value=asked.turns, min=1, max=500, precision=0)
            turns.props(f'{_FIELD} stack-label placeholder="{t("setup.guide_slows")}"').classes("w-28 shrink-0")
            turns.mark(f"guide-turns-{number}")
            self._bind(turns, lambda value: setattr(asked, "turns", whole_number(value)))
            with ui.row().classes("gap-0 no-wrap shrink-0 pt-1"):
                if guide.text or guide.image:
                    shows = ui.checkbox(t("setup.guide_show"), value=asked.show).props("dense").classes("text-xs pr-1")
                    self._bind(shows, lambda value: setattr(asked, "show", bool(value)))
                up = icon_button("arrow_upward", t("setup.guide_up", n=number + 1), lambda: self._up(number))
                up.props("size=sm").set_enabled(number > 0)
                gone = t("setup.guide_remove", n=number + 1)
                icon_button("close", gone, lambda: self._drop(guide.questions, number)).props("size=sm")

    def _stimulus(self) -> None:
        guide = self._guide
        there = bool(guide.text or guide.image)
        with _folded(t("setup.guide_stimulus"), t("setup.guide_stimulus_help"), there, "guide-stimulus"):
            for name, rows, most in (("title", 1, 200), ("text", 3, LONGEST_STIMULUS), ("image", 2, LONGEST_STIMULUS)):
                field = ui.textarea(t(f"setup.guide_{name}"), value=getattr(guide, name))
                field.props(f"{_FIELD} rows={rows} maxlength={most}").classes("w-full grows").mark(f"guide-{name}")
                self._bind(field, partial(self._told, name))
                field.on("blur", self._shown_or_not)

    def _told(self, name: str, value: Any) -> None:
        setattr(self._guide, name, value or "")

    def _shown_or_not(self) -> None:
        """Offer to show the stimulus with a question once there is one; the first question shows it."""
        guide = self._guide
        there = bool(guide.text.strip() or guide.image.strip())
        if there and guide.questions and not any(asked.show for asked in guide.questions):
            guide.questions[0].show = True
        elif not there and any(asked.show for asked in guide.questions):
            for asked in guide.questions:
                asked.show = False
        else:
            return
        self._questions()  # and not the field into which the user went on
        self._form.changed()

    def _positions(self) -> None:
        guide = self._guide
        about = t("setup.guide_positions_help")
        with _folded(t("setup.guide_positions"), about, bool(guide.positions), "guide-positions"):
            for number, stand in enumerate(guide.positions):
                self._position(number, stand)
            if len(guide.positions) < MOST_POSITIONS:
                add = ui.button(
                    t("setup.guide_add_position"), icon="add", on_click=lambda: self._grow(guide.positions, Stand())
                )
                add.props(_ADD).mark("guide-add-position")

    def _position(self, number: int, stand: Stand) -> None:
        with ui.row().classes("w-full items-start gap-2 no-wrap guide-row"):
            ask = ui.textarea(value=stand.ask, placeholder=t("setup.guide_position"))
            ask.props(f"{_FIELD} rows=1 maxlength={LONGEST_QUESTION}").classes("grow min-w-0 grows")
            named(ask, t("setup.guide_position_number", n=number + 1)).mark(f"guide-position-{number}")
            self._bind(ask, lambda value: setattr(stand, "ask", value or ""))
            forms = {form: _form_of(form) for form in dict.fromkeys((*ANSWERS, stand.answer))}
            answer = ui.select(forms, label=t("setup.guide_answer"), value=stand.answer)
            answer.props(f"{_FIELD} options-dense").classes("w-40 shrink-0").mark(f"guide-answer-{number}")
            gone = t("setup.guide_remove_position", n=number + 1)
            remove = icon_button("close", gone, lambda: self._drop(self._guide.positions, number))
            remove.props("size=sm").classes("mt-1")
        options = ui.textarea(t("setup.guide_options"), value="\n".join(stand.options))
        options.props(f"{_FIELD} rows=2").classes("w-full grows").mark(f"guide-options-{number}")
        options.bind_visibility_from(answer, "value", value="choice")
        self._bind(options, lambda value: setattr(stand, "options", str(value or "").splitlines()))
        self._bind(answer, lambda value: setattr(stand, "answer", str(value)))

    def _grow(self, among: list[Any], one: Any) -> None:
        among.append(one)
        self._again()

    def _drop(self, among: list[Any], number: int) -> None:
        del among[number]
        self._again()

    def _up(self, number: int) -> None:
        questions = self._guide.questions
        questions.insert(number - 1, questions.pop(number))
        self._again()


def _folded(text: str, about: str, there: bool, marker: str) -> ui.column:
    """A part that opens on a click, and is open where something is in it."""
    expansion = ui.expansion(text, value=there).classes("bare w-full").mark(marker)
    expansion.props('dense header-class="text-sm font-semibold px-0 min-h-0"')
    with expansion:
        inside = ui.column().classes("w-full gap-2 pt-2")
        with inside:
            hint(about)
    return inside


def _form_of(answer: str) -> str:
    """The form of an answer in words."""
    kind, _, steps = answer.partition(":")
    return t("setup.answer_scale", steps=steps.replace("-", "–")) if steps else t(f"setup.answer_{kind}")
