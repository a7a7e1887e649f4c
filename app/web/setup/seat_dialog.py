"""The dialog with the model, goals and relationships of one participant."""

from __future__ import annotations

from typing import Final

from nicegui import ui

from persimchat.app.web.looks import colour
from persimchat.app.web.models.picker import model_picker
from persimchat.app.web.setup.checking import minds_refused
from persimchat.app.web.setup.draft import Seat
from persimchat.app.web.setup.form import Form
from persimchat.app.web.widgets import FIELD, answered, avatar, hint, named
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
        with ui.column().classes("w-full gap-1") as part:
            human = ui.switch(t("setup.human"), value=seat.persona.human).props("dense")
            hint(t("setup.human_help"), human)
        player = seat.persona.model_copy(update={"human": True})
        refused = minds_refused(form.draft, str(form.value("cognition")), [player]) is not None
        part.set_visibility(seat.persona.human or not refused)
        with ui.column().classes("w-full gap-1") as own:
            ui.label(t("setup.own_model")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            model = model_picker(seat.model, lambda _: None, none=t("setup.own_model_none"))
            hint(t("setup.own_model_help"))
        own.bind_visibility_from(human, "value", backward=lambda value: not value)
        with ui.column().classes("w-full gap-1"):
            goals = ui.textarea(t("setup.goals"), value="\n".join(seat.goals))
            goals.props(f"{FIELD} rows=2").classes("w-full grows").mark("seat-goals")
            hint(t("setup.goals_help"), goals)
        ties = _Ties(form, seat)
        with ui.row().classes("w-full justify-end gap-2"):
            ui.button(t("common.cancel"), on_click=lambda: dialog.submit(False)).props("flat no-caps")

            def done() -> None:
                wrong = "" if human.value else _refused(model.value)
                if wrong:
                    model.mark(wrong)
                    return
                seat.persona = seat.persona.model_copy(update={"human": bool(human.value)})
                seat.model = model.value
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
        with ui.column().classes("w-full gap-0"):
            ui.label(t("setup.ties")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            hint(t("setup.ties_help"))
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
        return error.sentence
    return ""
