"""The list of participants, and the dialog with the model, goals and relationships of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.looks import colour
from persimchat.app.web.personas.chooser import choose_personas
from persimchat.app.web.personas.editor import edit_persona
from persimchat.app.web.setup.checking import PEOPLE, in_words, minds_refused
from persimchat.app.web.setup.draft import Seat
from persimchat.app.web.setup.form import Form
from persimchat.app.web.setup.setting_field import MODELS, suggesting
from persimchat.app.web.widgets import FIELD, answered, avatar, chip, explained, icon_button, named, title
from persimchat.app.web.words import t
from persimchat.models.naming import parse_model_name
from persimchat.state.errors import InputError
from persimchat.state.relationship import RELATIONSHIP_TYPES, Relationship

NONE: Final = ""
"""The choice "no relationship"."""


def sides() -> dict[str, str]:
    """Relationships to choose from, by `type`, or `type.from` and `type.to` if the direction matters."""
    found = {NONE: t("setup.tie.none")}
    for name, (_, directed) in RELATIONSHIP_TYPES.items():
        for side in (".from", ".to") if directed else ("",):
            found[name + side] = t(f"setup.tie.{name}{side}")
    return found


async def edit_seat(form: Form, seat: Seat) -> bool:
    """Let the user change a participant's model, goals and relationships; returns whether something was changed."""
    with ui.dialog() as dialog, ui.card().classes("setup surface w-[34rem] max-w-full gap-3 no-wrap"):
        named(dialog, t("setup.seat", name=seat.name))
        with ui.row().classes("w-full items-center gap-3 no-wrap"):
            avatar(seat.name, colour(seat.name, form.draft.names))
            ui.label(seat.name).classes("text-lg font-semibold").props("role=heading aria-level=2")
        with ui.row().classes("w-full items-center gap-1 no-wrap") as part:
            human = ui.switch(t("setup.human"), value=seat.persona.human).props("dense").classes("grow")
            explained(t("setup.human_help"))
        player = seat.persona.model_copy(update={"human": True})
        refused = minds_refused(form.draft, str(form.value("cognition")), [player]) is not None
        part.set_visibility(seat.persona.human or not refused)
        with ui.row().classes("w-full items-start gap-1 no-wrap") as own:
            model = ui.input(t("setup.own_model"), value=seat.model, placeholder=t("setup.own_model_none"))
            model.props(FIELD).classes("grow min-w-0").mark("seat-model")
            suggesting(model, MODELS)
            explained(t("setup.own_model_help"))
        own.bind_visibility_from(human, "value", backward=lambda value: not value)
        with ui.row().classes("w-full items-start gap-1 no-wrap"):
            goals = ui.textarea(t("setup.goals"), value="\n".join(seat.goals))
            goals.props(f"{FIELD} rows=2").classes("grow min-w-0 grows").mark("seat-goals")
            explained(t("setup.goals_help"))
        ties = _Ties(form, seat)
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=lambda: dialog.submit(False)).props("flat no-caps")

            def done() -> None:
                wrong = "" if human.value else _refused(model.value or "")
                if wrong:
                    model.error = wrong
                    return
                seat.persona = seat.persona.model_copy(update={"human": bool(human.value)})
                seat.model = (model.value or "").strip()
                seat.goals = [line.strip() for line in (goals.value or "").splitlines() if line.strip()]
                ties.take_over()
                dialog.submit(True)

            ui.button(t("setup.done"), on_click=done).props("unelevated no-caps")
    return bool(await answered(dialog))


class _Ties:
    """The fields for a participant's relationship to each of the others."""

    def __init__(self, form: Form, seat: Seat) -> None:
        self._draft, self._name = form.draft, seat.name
        self._fields: dict[str, tuple[ui.select, ui.input]] = {}
        others = [name for name in form.draft.names if name != seat.name]
        if not others:
            return
        with ui.row().classes("w-full items-center gap-1 no-wrap"):
            ui.label(t("setup.ties")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            explained(t("setup.ties_help"))
        for other in others:
            tie = form.draft.between(seat.name, other)
            with ui.column().classes("w-full gap-1"):
                with ui.row().classes("w-full items-center gap-2 no-wrap"):
                    avatar(other, colour(other, form.draft.names), "24px")
                    label = t("setup.tie_to", name=seat.name, other=other)
                    chosen = ui.select(sides(), label=label, value=self._side(tie))
                    chosen.props(f"{FIELD} options-dense").classes("grow min-w-0").mark(f"tie-{other}")
                note = ui.input(t("setup.tie_note"), value=tie.note if tie else "").props(f"{FIELD} maxlength=500")
                note.classes("w-full pl-8").bind_visibility_from(chosen, "value", backward=lambda value: bool(value))
            self._fields[other] = (chosen, note)

    def take_over(self) -> None:
        """Write the fields into the draft; unchanged relationships stay."""
        for other, (chosen, note) in self._fields.items():
            before = self._draft.between(self._name, other)
            said = (note.value or "").strip()
            if chosen.value == self._side(before) and said == (before.note if before else ""):
                continue
            self._draft.relate(self._name, other, self._tie(str(chosen.value or NONE), other, said))

    def _side(self, tie: Relationship | None) -> str:
        if tie is None:
            return NONE
        if not RELATIONSHIP_TYPES[tie.type][1]:
            return tie.type
        return f"{tie.type}.{'from' if tie.from_ == self._name else 'to'}"

    def _tie(self, side: str, other: str, note: str) -> Relationship | None:
        if side == NONE:
            return None
        kind, _, end = side.partition(".")
        first, second = (other, self._name) if end == "to" else (self._name, other)
        return Relationship(from_=first, to=second, type=kind, note=note)


def _refused(model: str) -> str:
    """The error of a participant's own model; empty if it is valid or not set."""
    try:
        if model.strip():
            parse_model_name(model)
    except InputError as error:
        return in_words(error)
    return ""


def participants_part(web: WebContext, form: Form) -> None:
    """Draw the list."""

    async def add() -> None:
        form.draft.add(await choose_personas(web, form.draft.names))
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
            with ui.row().classes("items-center gap-1 no-wrap") as choosing:
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
    form.follow(lambda: choosing.set_visibility(form.draft.story is None))


def _row(form: Form, seat: Seat, redrawn: Callable[[], None]) -> None:
    with ui.row().classes("surface w-full items-center gap-3 pl-3 pr-1 py-2 no-wrap"):
        avatar(seat.name, colour(seat.name, form.draft.names), human=seat.persona.human)
        with ui.column().classes("gap-0 min-w-0 grow"):
            ui.label(seat.name).classes("text-sm font-semibold truncate w-full")
            ui.label(seat.persona.description).classes("text-xs muted truncate w-full")
            _chips(form, seat)
        _actions(form, seat, redrawn)


def _chips(form: Form, seat: Seat) -> None:
    """Chips for the participant's own model, goals and relationships."""
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
    if form.draft.story is not None:  # its participants have parts in it
        return
    more = icon_button("more_vert", t("setup.more", name=seat.name)).props("size=sm").mark(f"more-{number}")
    with more, ui.menu().props("auto-close"):
        ui.menu_item(t("setup.edit"), edit)
        ui.menu_item(t("setup.move_up"), move_up)
        ui.menu_item(t("setup.remove"), remove).mark(f"remove-{number}")
