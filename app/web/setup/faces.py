"""Who takes part: a row of faces, and the ways to add one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from nicegui import app, ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.looks import colour
from persimchat.app.web.personas.chooser import choose_personas
from persimchat.app.web.personas.editor import edit_persona
from persimchat.app.web.personas.library import Library
from persimchat.app.web.setup.checking import PEOPLE
from persimchat.app.web.setup.draft import Seat
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.roving import roves, stop
from persimchat.app.web.setup.seat_dialog import edit_seat
from persimchat.app.web.widgets import FIELD, answered, avatar, hint, named, title
from persimchat.app.web.words import t
from persimchat.state.normalise import visible_form
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line

_ME: Final = "my_name"
"""Where a browser keeps the name under which its user takes part."""
_LONGEST_NAME: Final = 60


def faces(web: WebContext, form: Form) -> None:
    """Draw the part."""
    _Faces(web, form)


class _Faces:
    def __init__(self, web: WebContext, form: Form) -> None:
        self._web, self._form = web, form
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("w-full items-center justify-between gap-x-4 gap-y-1"):
                title(t("setup.who"))
                with ui.row().classes("items-center gap-1 who-acts") as choosing:
                    for key, icon, act in (
                        ("add", "person_add", self._add),
                        ("create", "edit_note", self._create),
                        ("generate", "auto_awesome", self._generate),
                        ("me", "person", self._me),
                    ):
                        button = ui.button(t(f"setup.{key}"), icon=icon, on_click=act).mark(key)
                        button.props("flat dense no-caps padding='2px 8px'").props["title"] = t(f"setup.{key}_help")
            self._row = ui.row().classes("w-full gap-1 items-start").props("role=toolbar")
            named(self._row, t("setup.participants"))
            roves(self._row)
            with ui.row().classes("w-full items-center gap-x-2 gap-y-0").mark("in-place") as self._gone:
                self._gone_names = ui.label().classes("text-sm muted [overflow-wrap:anywhere]").props("role=status")
                self._keep_too = ui.button(t("setup.keep_too"), on_click=self._bring_back).mark("keep-too")
                self._keep_too.props("flat dense no-caps padding='2px 8px'")
            self._left: list[Seat] = []
            self._tell_who_left([])
            fault = ui.label().classes("text-xs text-negative").props("role=alert")
            fault.set_visibility(False)

        def mark(told: str | None) -> None:
            fault.set_text(told or "")
            fault.set_visibility(bool(told))

        form.mark(PEOPLE, mark)
        form.redraw(self._anew)
        form.follow(lambda: choosing.set_visibility(form.draft.story is None))
        self._draw()

    def _draw(self) -> None:
        self._row.clear()
        with self._row:
            for number, seat in enumerate(self._form.draft.seats):
                self._face(number, seat)
            if not self._form.draft.seats:
                ui.label(t("setup.nobody")).classes("text-sm muted py-2")

    def _anew(self) -> None:
        """Draw another draft, in which nobody took a place."""
        self._tell_who_left([])
        self._draw()

    def _changed(self) -> None:
        self._anew()
        self._form.changed()

    def _face(self, number: int, seat: Seat) -> None:
        draft = self._form.draft
        notes = _notes(self._form, seat)
        with ui.button(color=None).props("flat no-caps").classes("face-button").mark(f"seat-{number}") as button:
            button.props["data-who"] = ", ".join([one_line(seat.name), *notes])
            button.props["title"] = one_line(seat.persona.description)
            stop(button, first=number == 0)
            avatar(seat.name, colour(seat.name, draft.names), "48px", human=seat.persona.human)
            ui.label(one_line(seat.name)).classes("text-xs line-clamp-2 [overflow-wrap:anywhere]")
            if notes:
                ui.label(" · ".join(notes)).classes("text-xs muted line-clamp-2 [overflow-wrap:anywhere]")
            with ui.menu().props("auto-close"):
                ui.menu_item(t("setup.seat_settings"), lambda: self._settings(seat)).mark(f"settings-{number}")
                if draft.story is None:  # in a story, they have parts
                    ui.menu_item(t("setup.edit"), lambda: self._edit(seat))
                    ui.menu_item(t("setup.move_up"), lambda: self._move_up(seat))
                    ui.menu_item(t("setup.remove"), lambda: self._remove(seat)).mark(f"remove-{number}")

    async def _settings(self, seat: Seat) -> None:
        if await edit_seat(self._form, seat):
            self._changed()

    async def _edit(self, seat: Seat) -> None:
        persona = await edit_persona(seat.persona, keep_in=Library(self._web.library))
        if persona is None:
            return
        if persona.name != seat.name and persona.name in self._form.draft.names:
            ui.notify(t("setup.takes_part", name=persona.name), type="warning")
            return
        self._form.draft.replace(seat, persona)
        self._changed()

    def _move_up(self, seat: Seat) -> None:
        self._form.draft.move_up(seat)
        self._changed()

    def _remove(self, seat: Seat) -> None:
        self._form.draft.remove(seat)
        self._changed()

    def _join(self, personas: Iterable[Persona]) -> None:
        self._form.draft.add(personas)
        self._changed()

    def _take_over(self, personas: Sequence[Persona]) -> None:
        """Let a group take the place of those whom the page began with, if nobody has touched these."""
        left = self._form.draft.stand_ins() if len(personas) > 1 else []
        for seat in left:
            self._form.draft.remove(seat)
        self._join(personas)
        self._tell_who_left([seat for seat in left if visible_form(seat.name) not in self._there()])

    def _there(self) -> set[str]:
        return set(map(visible_form, self._form.draft.names))

    def _tell_who_left(self, seats: list[Seat]) -> None:
        self._left = seats
        self._gone.set_visibility(bool(seats))
        names = ", ".join(one_line(seat.name) for seat in seats)
        self._gone_names.set_text(t("setup.in_place_of", names=names) if seats else "")

    def _bring_back(self) -> None:
        left, self._left = self._left, []
        self._join(seat.persona for seat in left)

    async def _add(self) -> None:
        chosen = await choose_personas(self._web, self._form.draft.names)
        if chosen.of_files:
            self._take_over(chosen.personas)
        elif chosen.personas:  # if the page was closed meanwhile, there is nothing to draw on
            self._join(chosen.personas)

    async def _create(self) -> None:
        persona = await edit_persona(None, keep_in=Library(self._web.library))
        if persona is not None:
            if persona.name in self._form.draft.names:
                ui.notify(t("setup.takes_part", name=persona.name), type="warning")
            self._join([persona])

    async def _generate(self) -> None:
        from persimchat.app.web.personas.generating import GenerateDialog

        dialog = GenerateDialog(Library(self._web.library))
        await dialog.run()
        if dialog.kept:
            self._take_over(dialog.kept)

    async def _me(self) -> None:
        if (persona := await ask_me(self._form.draft.names)) is not None:
            self._join([persona])


def _notes(form: Form, seat: Seat) -> list[str]:
    """What is special about a participant here, in a word or two each."""
    draft = form.draft
    ties = sum(seat.name in (tie.from_, tie.to) for tie in draft.relationships)
    found = [
        t("setup.chip_asks") if draft.guide is not None and draft.guide.moderator == seat.name else "",
        t("setup.chip_human") if seat.persona.human else "",
        seat.model if seat.model and not seat.persona.human else "",
        t("setup.chip_goals", n=len(seat.goals)) if seat.goals else "",
        t("setup.chip_ties", n=ties) if ties else "",
    ]
    return [note for note in found if note]


async def ask_me(taken: list[str]) -> Persona | None:
    """Ask under which name the user takes part; None if they do not.

    Args:
        taken: the names of those who take part already.
    """
    with ui.dialog() as dialog, ui.card().classes("surface w-96 max-w-full gap-3"):
        named(dialog, t("setup.me_heading"))
        ui.label(t("setup.me_heading")).classes("text-lg font-semibold").props("role=heading aria-level=2")
        name = ui.input(t("setup.me_name"), value=str(app.storage.user.get(_ME, ""))).mark("me-name")
        name.props(f"{FIELD} autofocus hide-bottom-space maxlength={_LONGEST_NAME}").classes("w-full")
        about = ui.input(t("setup.me_about")).props(f"{FIELD} hide-bottom-space maxlength=1000").classes("w-full")
        about.mark("me-about")
        hint(t("setup.me_about_help"), about)
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(t("setup.me_do"), on_click=lambda: done()).props("unelevated no-caps").mark("me-do")

    def done() -> None:
        chosen = one_line(name.value or "").strip()
        if not visible_form(chosen):
            name.error = t("setup.me_nameless")
        elif visible_form(chosen) in map(visible_form, taken):
            name.error = t("setup.takes_part", name=chosen)
        else:
            app.storage.user[_ME] = chosen
            described = {"description": text} if (text := (about.value or "").strip()) else {}
            dialog.submit(Persona.model_validate({"name": chosen, "human": True, **described}))

    for field in (name, about):
        field.on("keydown.enter", done)
    name.on_value_change(lambda: setattr(name, "error", None))
    answer = await answered(dialog)
    return answer if isinstance(answer, Persona) else None
