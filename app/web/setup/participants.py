"""Who takes part: the list of participants, and what can be done with each."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.personas.chooser import choose_personas
from persimchat.app.web.personas.editor import edit_persona
from persimchat.app.web.place import Place
from persimchat.app.web.setup.checking import PEOPLE
from persimchat.app.web.setup.draft import Seat
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.seat_dialog import edit_seat
from persimchat.app.web.widgets import avatar, chip, explained, icon_button, named, title
from persimchat.app.web.words import t


def participants_part(place: Place, form: Form) -> None:
    """Draw the list."""

    async def add() -> None:
        form.draft.add(await choose_personas(place, form.draft.names))
        redrawn()

    async def create() -> None:
        persona = await edit_persona(None)
        if persona is not None:
            if persona.name in form.draft.names:
                ui.notify(t("setup.takes_part", name=persona.name), type="warning")
            form.draft.add([persona])
            redrawn()

    def redrawn() -> None:
        rows.refresh()
        form.changed()

    @ui.refreshable
    def rows() -> None:
        for seat in form.draft.seats:
            _row(form, seat, redrawn)
        if not form.draft.seats:
            ui.label(t("setup.nobody")).classes("text-sm muted")

    with ui.column().classes("w-full gap-2"):
        with ui.row().classes("w-full items-center justify-between no-wrap"):
            title(t("setup.participants"))
            with ui.row().classes("items-center gap-1 no-wrap"):
                button = (
                    ui.button(t("setup.add"), icon="person_add", on_click=add)
                    .props("flat dense no-caps size=sm")
                    .mark("add")
                )
                named(button, t("setup.add_help"))
                ui.button(t("setup.create"), icon="edit_note", on_click=create).props("flat dense no-caps size=sm")
                explained(t("setup.participants_help"))
        with ui.column().classes("w-full gap-2"):
            rows()
        fault = ui.label().classes("text-xs text-negative").props("role=alert")
        fault.set_visibility(False)

    def mark(told: str | None) -> None:
        fault.set_text(told or "")
        fault.set_visibility(bool(told))

    form.mark(PEOPLE, mark)
    form.redraw(rows.refresh)


def _row(form: Form, seat: Seat, redrawn: Callable[[], None]) -> None:
    with ui.row().classes("surface w-full items-center gap-3 pl-3 pr-1 py-2 no-wrap"):
        avatar(seat.name, colour(seat.name, form.draft.names), human=seat.persona.human)
        with ui.column().classes("gap-0 min-w-0 grow"):
            ui.label(seat.name).classes("text-sm font-semibold truncate w-full")
            ui.label(seat.persona.description).classes("text-xs muted truncate w-full")
            _chips(form, seat)
        _actions(form, seat, redrawn)


def _chips(form: Form, seat: Seat) -> None:
    """What this participant has of their own."""
    ties = sum(seat.name in (tie.from_, tie.to) for tie in form.draft.relationships)
    own = [
        t("setup.chip_human") if seat.persona.human else "",
        seat.model if seat.model and not seat.persona.human else "",
        t("setup.chip_goals", n=len(seat.goals)) if seat.goals else "",
        t("setup.chip_ties", n=ties) if ties else "",
    ]
    if any(own):
        with ui.row().classes("gap-1 pt-1 w-full"):
            for text in filter(None, own):
                chip(text).classes("truncate max-w-full")


def _actions(form: Form, seat: Seat, redrawn: Callable[[], None]) -> None:
    async def settings() -> None:
        if await edit_seat(form, seat):
            redrawn()

    async def edit() -> None:
        persona = await edit_persona(seat.persona)
        if persona is None:
            return
        if persona.name != seat.name and persona.name in form.draft.names:
            ui.notify(t("setup.takes_part", name=persona.name), type="warning")
            return
        form.draft.replace(seat, persona)
        redrawn()

    def remove() -> None:
        form.draft.remove(seat)
        redrawn()

    def move_up() -> None:
        form.draft.move_up(seat)
        redrawn()

    number = form.draft.seats.index(seat)
    icon_button("tune", t("setup.seat", name=seat.name), settings).props("size=sm").mark(f"seat-{number}")
    more = icon_button("more_vert", t("setup.more", name=seat.name)).props("size=sm").mark(f"more-{number}")
    with more, ui.menu().props("auto-close"):
        ui.menu_item(t("setup.edit"), edit)
        ui.menu_item(t("setup.move_up"), move_up)
        ui.menu_item(t("setup.remove"), remove).mark(f"remove-{number}")
