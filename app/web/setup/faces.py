"""Who takes part: a row of faces, the ways to add one, and the dialog of one participant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from nicegui import app, ui

from ....state.persona import RELATIONSHIP_TYPES, Persona, Relationship
from ....state.plain_text import one_line, visible_form
from ..context import WebContext
from ..models.picker import ModelPicker
from ..personas.chooser import choose_personas
from ..personas.editor import edit_persona
from ..personas.library import Library
from ..shared.dialogs import Window
from ..widgets import anew, avatar, colour, hint, named, text_button, title
from ..words import t
from .draft import Seat
from .form import PEOPLE, Form, minds_refused, model_refused
from .kinds import roves, stop

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
    window = Window(seat.name)
    with window.body:
        with ui.column().classes("w-full gap-1") as part:
            human = ui.switch(t("setup.human"), value=seat.persona.human).props("dense")
            hint(t("setup.human_help"), human)
        player = seat.persona.model_copy(update={"human": True})
        refused = minds_refused(form.draft, str(form.value("cognition")), [player]) is not None
        part.set_visibility(seat.persona.human or not refused)
        with ui.column().classes("w-full gap-1") as own:
            ui.label(t("setup.own_model")).classes("text-sm font-semibold").props("role=heading aria-level=3")
            model = ModelPicker(seat.model, lambda _: None, none=t("setup.own_model_none"))
            hint(t("setup.own_model_help"))
        own.bind_visibility_from(human, "value", backward=lambda value: not value)
        with ui.column().classes("w-full gap-1"):
            goals = ui.textarea(t("setup.goals"), value="\n".join(seat.goals))
            goals.props("rows=2").classes("w-full grows").mark("seat-goals")
            hint(t("setup.goals_help"), goals)
        ties = _Ties(form, seat)

    def done() -> None:
        if not human.value and model.value.strip() and (wrong := model_refused(model.value)):
            model.mark(wrong)
            return
        seat.persona = seat.persona.model_copy(update={"human": bool(human.value)})
        seat.model = model.value
        seat.goals = [line.strip() for line in (goals.value or "").splitlines() if line.strip()]
        ties.take_over()
        window.submit(True)

    window.offer(t("setup.done"), done)
    return bool(await window.closed())


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
                    chosen.props("options-dense").classes("grow min-w-0").mark(f"tie-{other}")
                note = ui.input(t("setup.tie_note"), value=tie.note if tie else "").props("maxlength=500")
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


# Who takes part: a row of faces, and the ways to add one


_ME: Final = "my_name"
"""Where a browser keeps the name under which its user takes part."""
_LONGEST_NAME: Final = 60


class Faces:
    """The part of the page."""

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
                        button.props("flat dense padding='2px 8px'").props["title"] = t(f"setup.{key}_help")
            self._row = ui.row().classes("w-full gap-1 items-start").props("role=toolbar")
            named(self._row, t("setup.participants"))
            roves(self._row)
            with ui.row().classes("w-full items-center gap-x-2 gap-y-0").mark("in-place") as self._gone:
                self._gone_names = ui.label().classes("text-sm muted [overflow-wrap:anywhere]").props("role=status")
                look = "flat dense padding='2px 8px'"
                text_button(t("setup.keep_too"), self._bring_back, look=look).mark("keep-too")
            self._left: list[Seat] = []
            self._tell_who_left([])
            form.fault(PEOPLE)
        form.redraw(self._anew)
        form.follow(lambda: choosing.set_visibility(form.draft.story is None))
        self._draw()

    def _draw(self) -> None:
        with anew(self._row):
            for number, seat in enumerate(self._form.draft.seats):
                self._face(number, seat)
            if not self._form.draft.seats:
                ui.label(t("setup.nobody")).classes("text-sm muted py-2")

    def _anew(self) -> None:
        """Draw another draft, in which nobody took a place."""
        self._tell_who_left([])
        self._draw()

    def _change(self, act: Callable[[Seat], None], seat: Seat) -> None:
        act(seat)
        self._changed()

    def _changed(self) -> None:
        self._anew()
        self._form.changed()

    def _face(self, number: int, seat: Seat) -> None:
        draft = self._form.draft
        notes = _notes(self._form, seat)
        with ui.button(color=None).props("flat").classes("face-button").mark(f"seat-{number}") as button:
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
                    ui.menu_item(t("setup.move_up"), lambda: self._change(draft.move_up, seat))
                    ui.menu_item(t("setup.remove"), lambda: self._change(draft.remove, seat)).mark(f"remove-{number}")

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
        from ..personas.generating import GenerateDialog

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
    window = Window(t("setup.me_heading"), width="small")
    with window.body:
        name = ui.input(t("setup.me_name"), value=str(app.storage.user.get(_ME, ""))).mark("me-name")
        name.props(f"autofocus hide-bottom-space maxlength={_LONGEST_NAME}").classes("w-full")
        about = ui.input(t("setup.me_about")).props("hide-bottom-space maxlength=1000").classes("w-full")
        about.mark("me-about")
        hint(t("setup.me_about_help"), about)

    def done() -> None:
        chosen = one_line(name.value or "").strip()
        if not visible_form(chosen):
            name.error = t("setup.me_nameless")
        elif visible_form(chosen) in map(visible_form, taken):
            name.error = t("setup.takes_part", name=chosen)
        else:
            app.storage.user[_ME] = chosen
            described = {"description": text} if (text := (about.value or "").strip()) else {}
            window.submit(Persona.model_validate({"name": chosen, "human": True, **described}))

    window.offer(t("setup.me_do"), done).mark("me-do")
    for field in (name, about):
        field.on("keydown.enter", done)
    name.on_value_change(lambda: setattr(name, "error", None))
    answer = await window.closed()
    return answer if isinstance(answer, Persona) else None
