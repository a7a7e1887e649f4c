"""The lines of the conversation, and the card after the last one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from persimchat.app.web.board import Board, Line
from persimchat.app.web.looks import CALM, EMOTION_COLOURS, EMOTION_FACES, MODERATOR, colour
from persimchat.app.web.shared.formats import cost, listed, tokens
from persimchat.app.web.widgets import avatar, chip, named
from persimchat.app.web.words import catalogue, number, t
from persimchat.runs.events import Concluded, Judged, Shortened, Silenced, Started, Stopped, TopicChanged, Uttered
from persimchat.runs.folder.lines import edited
from persimchat.state.emotion import dominant
from persimchat.state.plain_text import one_line
from persimchat.state.repetition import CORRECTIONS
from persimchat.state.settings import BASELINES


def response_time(value: float) -> str:
    """Seconds with one decimal; below one second, with two."""
    return f"{number(value, 1 if value >= 1 else 2)} s"


def put_in(by: str) -> str:
    """The note on an utterance whose words were replaced, by its `edited_by`."""
    key = f"chat.put_in_{by}"
    return t(key) if key in catalogue() else one_line(edited(by))


def aside(line: Silenced | TopicChanged | Judged | Shortened) -> str:
    """A line between utterances, in words."""
    match line:
        case TopicChanged():
            return t("chat.topic_is_now", topic=one_line(line.topic))
        case Silenced():
            who = one_line(line.agent)
            if line.why == "passed":
                return t("chat.passes", who=who)
            return t(f"chat.silent_{line.step}", who=who, why=one_line(line.why))
        case Judged():
            return verdict(line)
        case Shortened():
            return t(
                "chat.shortened",
                model=one_line(line.model),
                tokens=number(line.context_tokens),
                memories=number(line.memories),
                utterances=number(line.utterances),
                who=one_line(line.agent),
            )


def verdict(line: Judged) -> str:
    """The judge's verdict, in a line."""
    if line.consensus:
        agreed = t("chat.judge_agreed", answer=one_line(line.answer))
        return f"{agreed} {t('chat.condition', what=one_line(line.conditional))}" if line.conditional else agreed
    if line.overruled:
        return t("chat.judge_overruled", why=one_line(line.overruled))
    agree = sum(position.agrees for position in line.positions)
    progress = line.progress if line.progress in ("progressing", "circling") else "open"
    return t(f"chat.judge_{progress}", n=agree, of=len(line.positions))


def corrected(corrections: list[str]) -> str:
    """The corrections of an utterance; empty if there are none."""
    return " · ".join(t(f"chat.corrected_{name}") if name in CORRECTIONS else one_line(name) for name in corrections)


def ended(stopped: Stopped) -> str:
    """Why a run has ended, in a sentence."""
    if stopped.source in BASELINES:
        return t("chat.ended_baseline")
    if stopped.reason == "stopped" and stopped.source in ("user", "moderator", "person"):
        return t(f"chat.stopped_by_{stopped.source}")
    return t(f"chat.ended_{stopped.reason}")


@dataclass(frozen=True)
class LineActions:
    """The actions of a line's controls.

    Attributes:
        look: opens the mind of an agent at a turn; None if minds are not shown.
        menu: fills the menu of an agent's utterance when it opens; None if there is none.
        below: draws what belongs under an utterance's words, such as its alternatives; None for nothing.
    """

    look: Callable[[str, int], object] | None
    menu: Callable[[Uttered], object] | None
    below: Callable[[Uttered], None] | None = None


def draw_line(
    line: Line, started: Started, actions: LineActions, *, in_room: bool = False, numbered: bool = True
) -> ui.element:
    """Draw a line.

    Args:
        line: the line.
        started: the run's first event.
        actions: of the line's controls.
        in_room: whether it stands under the heading of a room, which says who hears it.
        numbered: whether an utterance shows its number and time.
    """
    if isinstance(line, Uttered):
        return _utterance(line, started, actions, in_room=in_room, numbered=numbered)
    return _aside(line)


def draw_speaker(name: str, started: Started, look: Callable[[], object] | None) -> ui.row:
    """The speaker's name, as a button if the mind can be shown; the caller adds the elements beside it."""
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
    """The speaker's picture; a click on it works like a click on the name."""
    with ui.element("div") as face:
        if name in started.participants:
            avatar(one_line(name), colour(name, started.participants), human=name in started.people)
        else:
            ui.avatar("campaign", color=None, text_color="white", size="36px", font_size="20px").props(
                "aria-hidden=true"
            ).style(f"background:{MODERATOR}")
    if look is not None:
        face.classes("cursor-pointer").on("click", look)


def _utterance(said: Uttered, started: Started, actions: LineActions, *, in_room: bool, numbered: bool) -> ui.element:
    is_agent = said.speaker in started.participants and said.speaker not in started.people
    minds = is_agent and started.baseline is None
    shown = actions.look if minds else None
    look = None if shown is None else lambda: shown(said.speaker, said.turn)
    whisper = said.heard_by if not in_room else None

    mine = " mine flex-row-reverse" if said.speaker in started.people else ""
    moderated = " moderated" if said.speaker not in started.participants else ""
    whispered = " whispered" if whisper is not None else ""
    with ui.row().classes(f"w-full gap-3 no-wrap items-start said{mine}{moderated}{whispered}") as row:
        draw_face(said.speaker, started, look)
        with ui.column().classes("gap-1 min-w-0" + (" items-end" if mine else "")):
            with ui.row().classes("items-start gap-1 no-wrap max-w-full"):
                with draw_speaker(said.speaker, started, look) as head:
                    _emotion(said)
                    if numbered:
                        timing = f" · {response_time(said.response_time_s)}" if said.response_time_s else ""
                        number_of = ui.label(f"{t('chat.turn', n=said.turn)}{timing}")
                        number_of.classes("text-[11px] muted whitespace-nowrap")
                if minds and actions.menu is not None:
                    _more(said, actions.menu)
            if look is not None:
                button = next(child for child in head if isinstance(child, ui.button))
                named(button, t("chat.look", who=one_line(said.speaker), turn=said.turn))
            if whisper is not None:
                with ui.row().classes("items-center gap-1 no-wrap max-w-full muted text-xs"):
                    ui.icon("visibility_off", size="14px").props("aria-hidden=true")
                    ui.label(t("chat.whisper", who=listed(whisper))).classes("min-w-0 break-words")
            if said.edited_by is not None:
                with ui.row().classes("items-center gap-1 no-wrap max-w-full muted text-xs put-in"):
                    ui.icon("edit", size="14px").props("aria-hidden=true")
                    ui.label(put_in(said.edited_by)).classes("min-w-0 break-words")
            ui.label(said.text).classes("bubble text-[15px] max-w-full")
            _after(said)
            if actions.below is not None:
                with ui.element("div").classes("below max-w-full"):
                    actions.below(said)
    return row


def _emotion(said: Uttered) -> None:
    if not said.emotion:
        return
    feeling = dominant(said.emotion)
    face = EMOTION_FACES.get(feeling, CALM)
    level = f" {said.emotion[feeling]}" if feeling in said.emotion else ""  # 0–10; calm has none
    chip(f"{face} {t(f'common.emotion_{feeling}')}{level}", EMOTION_COLOURS.get(feeling, "#64748b"))


def _after(said: Uttered) -> None:
    """Facts about an utterance, below its words."""
    notes = []
    if said.answer is not None:
        notes.append(t("chat.answers", answer=one_line(said.answer)))
    if said.conditional is not None:
        notes.append(t("chat.condition", what=one_line(said.conditional)))
    if said.confidence is not None:
        notes.append(t("chat.confidence", n=number(said.confidence * 100)))
    if said.corrections:
        notes.append(t("chat.corrected", what=corrected(said.corrections)))
    if notes:
        ui.label(" · ".join(notes)).classes("text-xs muted break-words")


def _more(said: Uttered, fill: Callable[[Uttered], object]) -> None:
    """The menu of an utterance; it is made anew each time it opens, because its entries change."""
    with ui.button(icon="more_horiz").props("flat round dense size=sm color=grey-7") as button:
        pass
    named(button, t("chat.more", turn=said.turn, who=one_line(said.speaker)))

    def show() -> None:
        button.clear()
        with button, ui.menu() as menu:
            fill(said)
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
    """The judge's reasons, made when the user opens them."""
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


def draw_end(board: Board, *, result: str = "", accounts: bool = True) -> None:
    """Draw the card of a run that has ended.

    Args:
        board: the run's.
        result: a sentence on the result of a story's vote; empty if there is none.
        accounts: whether to say how much was said and used.
    """
    stopped = board.stopped
    with ui.column().classes("surface w-full gap-2 p-4 the-end"):
        with ui.row().classes("items-center gap-2"):
            ui.icon("error_outline" if failed(board) else "flag", size="20px", color="primary").props(
                "aria-hidden=true"
            )
            ui.label(t("chat.the_end")).classes("text-sm font-semibold").props("role=heading aria-level=2")
        if stopped is not None and stopped.conclusion is not None:
            _conclusion(stopped.conclusion)
        if result:
            ui.label(result).classes("conclusion w-full p-3 text-base font-semibold break-words")
        ui.label(ended(stopped) if stopped is not None else t("chat.ended_error")).classes("text-sm")
        detail = _detail(board, stopped)
        if detail and not result:
            ui.label(detail).classes("text-sm muted break-words whitespace-pre-wrap")
        if stopped is not None and accounts:
            used = stopped.totals
            taken = tokens(used.input_tokens + used.output_tokens)
            ui.label(f"{t('chat.summary', n=board.turn)} · {taken} · {cost(used)}").classes("text-xs muted")


def failed(board: Board) -> bool:
    """Whether an error has ended the run."""
    return bool(board.error) or board.stopped is not None and board.stopped.reason == "error"


def _detail(board: Board, stopped: Stopped | None) -> str:
    """The rule's explanation, unless the sentence before says the same."""
    if board.error:
        return board.error
    if stopped is None or stopped.reason in ("consensus", "message_limit") and not stopped.source.startswith("mad"):
        return ""
    return stopped.detail if stopped.reason != "stopped" else ""


def _conclusion(found: Concluded) -> None:
    with ui.column().classes("conclusion w-full gap-1 p-3"):
        ui.label(t("chat.agreed_on" if found.consensus else "chat.majority")).classes("text-xs font-semibold")
        ui.label(found.answer).classes("text-lg font-semibold break-words whitespace-pre-wrap")
        if found.conditional:
            ui.label(t("chat.condition", what=one_line(found.conditional))).classes("font-semibold break-words")
        if found.supporters:
            ui.label(t("chat.held_by", who=listed(found.supporters))).classes("text-sm break-words")
    if found.positions:
        ui.label(t("chat.positions")).classes("panel-title")
    for held in found.positions:
        stand = f"{one_line(held.agent)}: {one_line(held.position)} “{one_line(held.words)}”"
        ui.label(stand).classes("text-sm break-words")
    by = t("chat.said_by_judge") if found.by == "judge" else t("chat.said_by", by=one_line(found.by))
    if found.reasoning:
        ui.label(found.reasoning).classes("text-sm muted words")
    ui.label(by).classes("text-sm muted break-words")
