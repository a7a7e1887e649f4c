"""The lines of the conversation: utterances, and what stands between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import ui

from persimchat.app.web.board import Board, Line
from persimchat.app.web.chat.facts import felt_before, head, needs, reasons, scored, strongest_change
from persimchat.app.web.looks import EMOTION_COLOURS, EMOTION_FACES, MODERATOR, colour
from persimchat.app.web.shared.formats import listed
from persimchat.app.web.widgets import avatar, chip, named
from persimchat.app.web.words import catalogue, number, t
from persimchat.runs.events import Analysed, Judged, Shortened, Silenced, Started, TopicChanged, Uttered
from persimchat.runs.folder.lines import edited
from persimchat.state.plain_text import one_line
from persimchat.state.repetition import CORRECTIONS


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


@dataclass(frozen=True)
class LineActions:
    """The actions of a line's controls.

    Attributes:
        look: opens the mind of an agent at a turn; None if minds are not shown.
        menu: fills the menu of an utterance when it opens; None if there is none.
        below: draws what belongs under an utterance's words, such as its alternatives; None for nothing.
        above: draws what stands over an utterance, such as the question of a guide that it puts; None for nothing.
    """

    look: Callable[[str, int], object] | None
    menu: Callable[[Uttered], object] | None
    below: Callable[[Uttered], None] | None = None
    above: Callable[[Uttered], None] | None = None


def draw_line(
    line: Line, board: Board, actions: LineActions, *, in_room: bool = False, numbered: bool = True
) -> ui.element:
    """Draw a line.

    Args:
        line: the line.
        board: the run's data, which has begun.
        actions: of the line's controls.
        in_room: whether it stands under the heading of a room, which says who hears it.
        numbered: whether an utterance shows its number, its time, and why its speaker spoke.

    Returns:
        The line's element; of an utterance, a `Said`.
    """
    if isinstance(line, Uttered):
        return Said(line, board, actions, in_room=in_room, numbered=numbered)
    return _aside(line)


def draw_speaker(name: str, started: Started, look: Callable[[], object] | None) -> ui.row:
    """The speaker's name, as a button if the mind can be shown; the caller adds the elements beside it."""
    shown = one_line(name)
    with ui.row().classes("items-center gap-x-2 gap-y-0 min-w-0 speaker") as row:
        if look is None:
            ui.label(shown).classes("text-sm font-semibold break-words min-w-0")
        else:
            ui.button(shown, on_click=look, color=None).props("flat dense no-caps").classes("who")
        if name not in started.participants:
            chip(t("chat.outside"), MODERATOR)
        elif name in started.people:
            chip(t("chat.person"), colour(name, started.participants))
    return row


def draw_face(name: str, started: Started, look: Callable[[], object] | None = None) -> None:
    """The speaker's picture; a click on it works like a click on the name."""
    with ui.element("div") as face:
        if name in started.participants:
            avatar(one_line(name), colour(name, started.participants), human=name in started.people)
        else:
            ui.avatar("campaign", color=None, size="36px", font_size="20px").props("aria-hidden=true").style(
                f"background:{MODERATOR}; color:var(--on)"
            )
    if look is not None:
        face.classes("cursor-pointer").on("click", look)


class Said(ui.column):
    """An utterance: who, what, and what is known of it.

    Args:
        said: the utterance.
        board: the run's data, which has begun.
        actions: of the line's controls.
        in_room: whether it stands under the heading of a room, which says who hears it.
        numbered: whether it shows its number, its time, and why its speaker spoke.
    """

    def __init__(self, said: Uttered, board: Board, actions: LineActions, *, in_room: bool, numbered: bool) -> None:
        super().__init__()
        started = board.started
        assert started is not None  # utterances come after it
        self.said = said
        self._numbered = numbered
        self._scored = False
        is_agent = said.speaker in started.participants and said.speaker not in started.people
        minds = is_agent and started.baseline is None
        shown = actions.look if minds else None
        look = None if shown is None else lambda: shown(said.speaker, said.turn)
        mine = said.speaker in started.people
        whisper = said.heard_by if not in_room else None
        kinds = {
            "mine flex-row-reverse": mine,
            "moderated": said.speaker not in started.participants,
            "whispered": whisper is not None,
            "edited": said.edited_by is not None,
        }
        self.classes("w-full gap-3")
        with self:
            if actions.above is not None:
                actions.above(said)
            row = ui.row().classes("w-full gap-3 no-wrap items-start said")
            row.classes(" ".join(kind for kind, holds in kinds.items() if holds))
            row.style(f"--c:{colour(said.speaker, started.participants)}")
        with row:
            draw_face(said.speaker, started, look)
            with ui.column().classes("gap-1 min-w-0" + (" items-end" if mine else "")):
                with ui.row().classes("items-start gap-1 no-wrap max-w-full"):
                    with draw_speaker(said.speaker, started, look) as above:
                        if numbered:
                            _felt(said, board)
                            ui.label(head(said, started)).classes("text-xs muted whitespace-nowrap")
                    if actions.menu is not None:
                        _more(said, actions.menu)
                if look is not None:
                    button = next(child for child in above if isinstance(child, ui.button))
                    named(button, t("chat.look", who=one_line(said.speaker), turn=said.turn))
                if whisper is not None:
                    _note("visibility_off", t("chat.whisper", who=listed(whisper)))
                if said.edited_by is not None:
                    _note("edit", put_in(said.edited_by)).classes("put-in")
                ui.label(said.text).classes("bubble text-sm max-w-full")
                if numbered:
                    self._facts = ui.row().classes("items-center gap-x-2 gap-y-0 max-w-full text-xs muted facts-of")
                    with self._facts:
                        _why(said, board)
                    self._facts.set_visibility(bool(self._facts.default_slot.children))
                    self.score(board.scores.get(said.turn))
                _after(said)
                if actions.below is not None:
                    with ui.element("div").classes("below max-w-full"):
                        actions.below(said)

    def score(self, score: Analysed | None) -> None:
        """Show the scores of its analysis once they have come, which is after the utterance itself."""
        if score is None or self._scored or not self._numbered:
            return
        self._scored = True
        with self._facts:
            label = ui.label(scored(score)).classes("min-w-0 break-words").mark("scores")
            if score.reasoning:
                label.props["title"] = one_line(score.reasoning)
        self._facts.set_visibility(True)


def _note(icon: str, text: str) -> ui.row:
    """A remark between an utterance's speaker and its words."""
    with ui.row().classes("items-center gap-1 no-wrap max-w-full muted text-xs") as row:
        ui.icon(icon, size="14px").props("aria-hidden=true")
        ui.label(text).classes("min-w-0 break-words")
    return row


def _felt(said: Uttered, board: Board) -> None:
    """The emotion that has changed most since the speaker spoke last; nothing if none has."""
    change = strongest_change(felt_before(board, said), said.emotion)
    if change is None:
        return
    name = t(f"common.emotion_{change.emotion}")
    levels = t("chat.changed", name=name, before=change.before, now=change.now)
    chip(f"{EMOTION_FACES[change.emotion]} {levels}", EMOTION_COLOURS[change.emotion])


def _why(said: Uttered, board: Board) -> None:
    """Why the speaker spoke; everybody's need to talk on hover, and on a click for keyboards and touch screens."""
    found = reasons(said, board.utterances[said.turn - 2] if said.turn > 1 else None)
    if not found:
        return
    text, all_needs = " · ".join(found), needs(said)
    if not all_needs:
        ui.label(text).classes("min-w-0 break-words")
        return
    with ui.button(text, color=None).props("flat dense no-caps").classes("why-spoken") as button:
        pass
    button.props["title"] = t("chat.needs", who=all_needs)

    def show() -> None:
        button.clear()
        with button, ui.menu().props("max-width=320px") as menu:
            ui.label(t("chat.needs", who=all_needs)).classes("text-sm p-3 break-words")
        menu.open()

    button.on_click(show)


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
