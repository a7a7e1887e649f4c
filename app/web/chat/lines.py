"""The lines of the page's transcript: an utterance, what its speaker felt anew, why they spoke, how it was scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from nicegui import ui

from ....models.naming import OFFLINE
from ....runs.events import Analysed, Judged, Shortened, Silenced, Started, TopicChanged, Uttered
from ....runs.folder.lines import edited
from ....state.minds.emotion import EMOTIONS
from ....state.minds.speech import CORRECTIONS
from ....state.plain_text import clean, one_line
from ....state.wording import listed
from ..board import Board, Line
from ..widgets import (
    EMOTION_COLOURS,
    EMOTION_FACES,
    MODERATOR,
    avatar,
    chip,
    colour,
    menu_made_anew,
    named,
    plain_button,
)
from ..words import number, t, t_or


def strongest_change(before: Mapping[str, int], now: Mapping[str, int]) -> tuple[str, int, int] | None:
    """The emotion that changed most, its level before and now; None if none did, or if they are not known."""
    if not before or not now:
        return None
    changes = [(name, before.get(name, 0), now.get(name, 0)) for name in EMOTIONS]
    most = max(changes, key=lambda change: abs(change[2] - change[1]))  # the first one of several alike
    return most if most[1] != most[2] else None


def felt_before(board: Board, said: Uttered) -> Mapping[str, int]:
    """The speaker's emotions at their utterance before this one, or at their awakening; empty if they are not known."""
    for earlier in reversed(board.utterances[: said.turn - 1]):
        if earlier.speaker == said.speaker and earlier.emotion:
            return earlier.emotion
    awoken = board.minds.get(0, {}).get(said.speaker)
    return awoken.emotion if awoken is not None else {}


def response_time(value: float) -> str:
    """Seconds with one decimal; below one second, with two."""
    return f"{number(value, 1 if value >= 1 else 2)} s"


def head(said: Uttered, started: Started) -> str:
    """An utterance's number, and how long its model took; the offline model's seconds are made up and left out."""
    turn = t("chat.turn", n=said.turn)
    measured = said.response_time_s and started.models.get(said.speaker) != OFFLINE
    return f"{turn} · {response_time(said.response_time_s)}" if measured else turn


def reasons(said: Uttered, before: Uttered | None) -> list[str]:
    """To whom an utterance is, and why its speaker spoke: their need to talk, and whether they were addressed.

    Args:
        said: the utterance.
        before: the utterance before it; None for the first.
    """
    found = []
    if said.addressees and said.heard_by is None:
        found.append(t("chat.to", who=listed(said.addressees)))
    if said.edited_by is not None:
        return found  # somebody else decided that these words come here
    if said.speaker in said.need_to_talk:
        found.append(t("chat.need_was", n=said.need_to_talk[said.speaker]))
    if before is not None and said.speaker in before.addressees and before.heard_by is None:
        found.append(t("chat.was_addressed", who=one_line(before.speaker)))
    return found


def needs(said: Uttered) -> str:
    """How much everybody needed to talk when the speaker was chosen, most first; empty if it is not known."""
    ordered = sorted(said.need_to_talk.items(), key=lambda one: -one[1])
    return " · ".join(f"{one_line(name)} {need}" for name, need in ordered) if len(ordered) > 1 else ""


def scored(score: Analysed) -> str:
    """An utterance's scores in words."""
    if not score.is_scored:
        return t("chat.not_scored", why=one_line(score.failed))
    shown = {name: number(getattr(score, name), 1) for name in ("coherence", "sentiment", "engagement")}
    return t("chat.scored", **shown)


# The lines of the conversation: utterances, and what stands between them


def put_in(by: str) -> str:
    """The note on an utterance whose words were replaced, by its `edited_by`."""
    return t_or(f"chat.put_in_{by}", one_line(edited(by)))


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
        case Shortened() if line.characters is not None:
            texts = {"model": one_line(line.model), "who": one_line(line.agent)}
            return t("chat.cut", characters=number(line.characters), **texts)
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
            plain_button(shown, look).classes("who")
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
            picture = ui.avatar("campaign", color=None, size="36px", font_size="20px").props("aria-hidden=true")
            picture.style(f"background:{MODERATOR}; color:var(--on)")
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
                        more = ui.button(icon="more_horiz").props("flat round dense size=sm color=grey-7")
                        named(more, t("chat.more", turn=said.turn, who=one_line(said.speaker)))
                        menu_made_anew(more, partial(actions.menu, said))
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
    emotion, before, now = change
    levels = t("chat.changed", name=t(f"common.emotion_{emotion}"), before=before, now=now)
    chip(f"{EMOTION_FACES[emotion]} {levels}", EMOTION_COLOURS[emotion])


def _why(said: Uttered, board: Board) -> None:
    """Why the speaker spoke; everybody's need to talk on hover, and on a click for keyboards and touch screens."""
    found = reasons(said, board.utterances[said.turn - 2] if said.turn > 1 else None)
    if not found:
        return
    text, all_needs = " · ".join(found), needs(said)
    if not all_needs:
        ui.label(text).classes("min-w-0 break-words")
        return
    everybody = t("chat.needs", who=all_needs)
    button = plain_button(text).classes("why-spoken")
    button.props["title"] = everybody
    menu_made_anew(button, lambda: ui.label(everybody).classes("text-sm p-3 break-words"))


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


def _aside(line: Line) -> ui.element:
    assert not isinstance(line, Uttered)
    with ui.row().classes("w-full justify-center items-center gap-1 no-wrap aside") as row:
        ui.label(aside(line)).classes("text-xs muted text-center break-words min-w-0 max-w-prose")
        if isinstance(line, Judged):
            why = ui.button(icon="help_outline").props("flat round dense size=sm color=grey-7")
            named(why, f"{t('chat.why')} {aside(line)}")
            menu_made_anew(why, partial(_reasons, line))
    return row


def _reasons(line: Judged) -> None:
    """The judge's reasons, and who holds what."""
    with ui.column().classes("p-3 gap-2"):
        ui.label(line.reasoning).classes("text-sm whitespace-pre-wrap break-words")
        if line.positions:
            ui.label(t("chat.positions")).classes("panel-title")
        for position in line.positions:
            agrees = f" ({t('chat.agrees')})" if position.agrees else ""
            ui.label(f"{one_line(position.agent)}: {position.position}{agrees}").classes("text-sm break-words")


def told(said: Uttered) -> str:
    """A finished utterance as it is announced to screen readers, and copied."""
    marked = f" ({put_in(said.edited_by)})" if said.edited_by is not None else ""
    return f"{one_line(said.speaker)}{marked}: {said.text}"


def draw_being_said(board: Board) -> ui.label:
    """Draw who is just speaking; returns the place for their words."""
    assert board.speaking is not None and board.started is not None  # whoever speaks does so in a run that has begun
    with ui.row().classes("w-full gap-3 no-wrap items-start said live") as row:
        row.style(f"--c:{colour(board.speaking.speaker, board.started.participants)}")
        draw_face(board.speaking.speaker, board.started)
        with ui.column().classes("gap-1 min-w-0"):
            draw_speaker(board.speaking.speaker, board.started, None)
            return ui.label().classes("bubble text-sm max-w-full")


# The turns of a talk between two: a companion's and a person's, an agent's and an interviewer's


def draw_turn(name: str, own: str, *, mine: bool = False, live: bool = False) -> ui.column:
    """A line with the speaker's picture; returns the place for their words.

    Args:
        name: the speaker's.
        own: the speaker's colour.
        mine: whether it is the reader who speaks.
        live: whether the words are just being said.
    """
    kind = "mine flex-row-reverse" if mine else "live" if live else ""
    with ui.row().classes(f"w-full gap-3 no-wrap items-start said {kind}").style(f"--c:{own}"):
        avatar(name, own, "32px", human=mine)
        ui.label(name).classes("sr-only")
        return ui.column().classes("gap-1 min-w-0" + (" items-end" if mine else ""))


def bubble(text: str) -> ui.label:
    """The words of a turn."""
    return ui.label(clean(text)).classes("bubble text-base max-w-full")
