"""How a line of the conversation looks: an utterance as a bubble, everything else as a quiet line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from persimchat.app.web.board import Line
from persimchat.app.web.chat.wording import aside, corrected, dominant, listed, seconds
from persimchat.app.web.looks import CALM, EMOTION_COLOURS, EMOTION_FACES, MODERATOR, colour
from persimchat.app.web.widgets import avatar, chip, named
from persimchat.app.web.words import number, t
from persimchat.runs.events import Judged, Started, Uttered
from persimchat.state.plain_text import one_line


@dataclass(frozen=True)
class Deeds:
    """What a line's controls do.

    Attributes:
        look: opens the mind of an agent at a turn.
        menu: fills the menu of an agent's utterance, when it is opened first.
    """

    look: Callable[[str, int], object]
    menu: Callable[[Uttered], object]


def draw_line(line: Line, started: Started, deeds: Deeds) -> ui.element:
    """Draw a line where the page is being drawn."""
    return _utterance(line, started, deeds) if isinstance(line, Uttered) else _aside(line)


def draw_speaker(name: str, started: Started, look: Callable[[], object] | None) -> ui.row:
    """The name of who speaks, as a button where there is a mind to look into; what stands beside it goes inside."""
    shown = one_line(name)
    with ui.row().classes("items-center gap-x-2 gap-y-0 min-w-0 speaker") as row:
        if look is None:
            ui.label(shown).classes("text-sm font-semibold break-words min-w-0")
        else:
            ui.button(shown, on_click=look, color=None).props("flat dense no-caps").classes("who")
        if name not in started.participants and shown != t("chat.moderator"):
            chip(t("chat.moderator"), MODERATOR)
        elif name in started.people:
            chip(t("chat.person"), colour(name, started.participants))
    return row


def draw_face(name: str, started: Started, look: Callable[[], object] | None = None) -> None:
    """Somebody's picture; a click is the same as one on the name, which stands beside it for the keyboard."""
    with ui.element("div") as face:
        if name in started.participants:
            avatar(one_line(name), colour(name, started.participants), human=name in started.people)
        else:
            ui.avatar("campaign", color=None, text_color="white", size="36px", font_size="20px").props(
                "aria-hidden=true"
            ).style(f"background:{MODERATOR}")
    if look is not None:
        face.classes("cursor-pointer").on("click", look)


def _utterance(said: Uttered, started: Started, deeds: Deeds) -> ui.element:
    is_agent = said.speaker in started.participants and said.speaker not in started.people
    minds = is_agent and started.baseline is None

    def look() -> object:
        return deeds.look(said.speaker, said.turn)

    mine = " mine flex-row-reverse" if said.speaker in started.people else ""
    moderated = " moderated" if said.speaker not in started.participants else ""
    whispered = " whispered" if said.heard_by is not None else ""
    with ui.row().classes(f"w-full gap-3 no-wrap items-start said{mine}{moderated}{whispered}") as row:
        draw_face(said.speaker, started, look if minds else None)
        with ui.column().classes("gap-1 min-w-0" + (" items-end" if mine else "")):
            with ui.row().classes("items-start gap-1 no-wrap max-w-full"):
                with draw_speaker(said.speaker, started, look if minds else None) as head:
                    _emotion(said)
                    timing = f" · {seconds(said.response_time_s)}" if said.response_time_s else ""
                    ui.label(f"{t('chat.turn', n=said.turn)}{timing}").classes("text-[11px] muted whitespace-nowrap")
                if minds:
                    _more(said, deeds)
            if minds:
                button = next(child for child in head if isinstance(child, ui.button))
                named(button, t("chat.look", who=one_line(said.speaker), turn=said.turn))
            if said.heard_by is not None:
                with ui.row().classes("items-center gap-1 no-wrap max-w-full muted text-xs"):
                    ui.icon("visibility_off", size="14px").props("aria-hidden=true")
                    ui.label(t("chat.whisper", who=listed(said.heard_by))).classes("min-w-0 break-words")
            ui.label(said.text).classes("bubble text-[15px] max-w-full")
            _after(said)
    return row


def _emotion(said: Uttered) -> None:
    if not said.emotion:
        return
    feeling = dominant(said.emotion)
    face = EMOTION_FACES.get(feeling, CALM)
    level = f" {said.emotion[feeling]}" if feeling in said.emotion else ""  # 0–10; calm has none
    chip(f"{face} {t(f'common.emotion_{feeling}')}{level}", EMOTION_COLOURS.get(feeling, "#64748b"))


def _after(said: Uttered) -> None:
    """What is known of an utterance beside its words."""
    notes = []
    if said.answer is not None:
        notes.append(t("chat.answers", answer=one_line(said.answer)))
    if said.confidence is not None:
        notes.append(t("chat.confidence", n=number(said.confidence * 100)))
    if said.corrections:
        notes.append(t("chat.corrected", what=corrected(said.corrections)))
    if notes:
        ui.label(" · ".join(notes)).classes("text-xs muted break-words")


def _more(said: Uttered, deeds: Deeds) -> None:
    """The menu of an utterance; it is made whenever it is opened, and says what can be done now."""
    with ui.button(icon="more_horiz").props("flat round dense size=sm color=grey-7") as button:
        pass
    named(button, t("chat.more", turn=said.turn, who=one_line(said.speaker)))

    def show() -> None:
        button.clear()
        with button, ui.menu() as menu:
            deeds.menu(said)
        menu.open()

    button.on_click(show)


def _aside(line: Line) -> ui.element:
    assert not isinstance(line, Uttered)
    with ui.row().classes("w-full justify-center items-center gap-1 no-wrap aside") as row:
        ui.label(aside(line)).classes("text-xs muted text-center break-words min-w-0 max-w-prose")
        if isinstance(line, Judged):
            _reasons(line)
    return row


def _reasons(line: Judged) -> None:
    """Why the judge has found so; made when somebody asks."""
    with ui.button(icon="help_outline").props("flat round dense size=sm color=grey-7") as button:
        pass
    named(button, f"{t('chat.why')} {aside(line)}")

    def show() -> None:
        button.clear()
        with button, ui.menu().props("max-width=420px") as menu, ui.column().classes("p-3 gap-2"):
            ui.label(line.reasoning).classes("text-sm whitespace-pre-wrap break-words")
            if line.positions:
                ui.label(t("chat.positions")).classes("panel-title")
            for position in line.positions:
                agrees = f" ({t('chat.agrees')})" if position.agrees else ""
                ui.label(f"{one_line(position.agent)}: {position.position}{agrees}").classes("text-sm break-words")
        menu.open()

    button.on_click(show)
