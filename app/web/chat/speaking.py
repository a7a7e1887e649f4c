"""The field for words of a person who is asked, of one who wants to speak next, or of the moderator; and decisions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from nicegui import app, ui

from ....nodes.people import moderator_name
from ....runs.events import Asked
from ....state.errors import PerSimChatError
from ....state.intervention import MODERATOR
from ....state.person_answer import Question
from ....state.plain_text import one_line
from ....state.wording import listed
from ..context import Viewing
from ..live_runs import LiveRun
from ..widgets import brief_button, icon_button, named, notify_error, say_in, sent_with_enter, text_button
from ..words import t

AS_MODERATOR: Final = f"/{MODERATOR}"
"""The moderator's key among names; participants' names never begin with a slash."""
_EVERYBODY: Final = "/everybody"


@contextmanager
def composer_bar() -> Iterator[ui.element]:
    """The bar below a transcript in which people write, to be filled."""
    with (
        ui.element("div").classes("bar composer w-full py-3") as bar,
        ui.column().classes("w-full max-w-3xl mx-auto px-4 gap-2"),
    ):
        yield bar


def words_field(name: str, send: Callable[[], object], properties: str = "") -> tuple[ui.textarea, ui.button]:
    """Draw the field for words into a row, and the button that sends them; Enter does, too."""
    field = ui.textarea().props(f"autogrow rows=1 input-class=max-h-40 {properties}").classes("grow words")
    named(field, name).mark("words")
    sent_with_enter(field, send)
    return field, icon_button("send", t("chat.send"), send).props("color=primary").mark("send")


def act(viewing: Viewing, do: Callable[[LiveRun], object], told: str = "") -> bool:
    """Do something to a run that goes on; an error is shown, else what was done. Returns whether it was done."""
    live = viewing.live
    if live is None:
        return False
    try:
        do(live)
    except PerSimChatError as error:
        notify_error(error)
        return False
    if told:
        ui.notify(told, type="positive")
    return True


def question_in_words(asked: Asked) -> str:
    """The question to a person; in a story, with who will hear the answer."""
    who, story = one_line(asked.agent), asked.story
    if asked.position is not None:
        when = asked.position["when"]
        return t(f"chat.ask_position_{when}", who=who, question=one_line(asked.position["ask"]))
    if asked.puts is not None:
        return t("chat.puts", who=who, number=asked.puts["number"], of=asked.puts["of"])
    if asked.what == "need_to_talk":
        return t("chat.asked_need", who=who)
    if story is None:
        return t("chat.your_turn", who=who)
    if asked.what == "choice":
        return t("chat.ask_choice", who=who)
    if asked.what == "ballot":
        return t(f"chat.ask_{story['ballot']}", who=who)
    room = story["room"]
    if room is None:
        return t("chat.ask_words_all", who=who)
    public = "public" if room["public"] else "private"
    return t(f"chat.ask_words_{public}", who=who, others=listed(room["others"]))


def candidates_of(asked: Asked) -> list[str]:
    """Those among whom a person is to choose: partners or candidates in a story, positions in a focus group."""
    if asked.story is not None:
        return list(asked.story["candidates"])
    return list(asked.position["possible"]) if asked.position is not None else []


def _about(asked: Asked) -> tuple[object, ...]:
    """What is asked, so that it is the same if it is asked again because its answer could not be used."""
    story, position = asked.story, asked.position
    about = (story["act"], story["ballot"]) if story else (position["poll"], position["when"]) if position else ()
    return (asked.agent, asked.what, *about)


def voice(current: str, chosen: str | None, asked: str | None, people: Sequence[str], *, busy: bool) -> str:
    """The speaker for whom the user writes: the chosen one, the one asked, the first person, or the moderator.

    Args:
        current: the present speaker.
        chosen: the speaker chosen in this tab; None if none is.
        asked: the person who is asked; None if nobody is.
        people: the people who take part.
        busy: whether the user is writing; then the present speaker stays.
    """
    if chosen is not None and (chosen in people or chosen == AS_MODERATOR):
        return chosen
    if busy and (current in people or current == AS_MODERATOR):
        return current
    if asked is not None and asked in people:
        return asked
    return people[0] if people else AS_MODERATOR


def _same(question: Question | None, asked: Asked) -> bool:
    """Whether a question is the one that the page shows: two ballots of one act differ by their kind only."""
    if asked.position is not None:
        return question is not None and question.get("position") == asked.position
    if asked.story is None or question is None or "story" not in question:
        return asked.story is None
    now = question["story"]
    return (now["act"], now["ballot"]) == (asked.story["act"], asked.story["ballot"])


class Speaking:
    """The field and its controls.

    The choices are drawn apart, in a line with other controls. A player of a story has none, and answers when asked.

    Args:
        viewing: the run.
        player: the character whose part the tab has in a story; None for all other runs.
    """

    def __init__(self, viewing: Viewing, player: Callable[[], str] | None = None) -> None:
        self._viewing, self._player = viewing, player
        self._key = f"voice:{viewing.run}"
        self._chosen: str | None = None
        self._voice = self._called = ""
        self._asked: Asked | None = None
        self._choosing: tuple[object, ...] | None = None
        self._offered: tuple[str, int] | None = None

    def draw_choices(self) -> None:
        """Draw the choices: the speaker, who hears it, and a person's hand."""
        names = {name: one_line(name) for name in self._viewing.board.people}
        names[AS_MODERATOR] = t("chat.outside_voice")
        self._who = ui.select(names, label=t("chat.speak_as"), value=AS_MODERATOR, on_change=self._choose)
        self._who.mark("speak-as")
        self._to = ui.select({_EVERYBODY: t("chat.everybody")}, label=t("chat.heard_by"), value=_EVERYBODY)
        self._to.mark("heard-by").on_value_change(lambda: self.sync())
        for field in (self._who, self._to):
            field.props("options-dense").classes("min-w-0 w-40 shrink")
        raise_, lower = t("chat.raise_hand"), t("chat.lower_hand")
        self._raise = brief_button(raise_, raise_, lambda: self._hand(raised=True), icon="back_hand").mark("hand")
        self._lower = brief_button(lower, lower, lambda: self._hand(raised=False), icon="do_not_touch")

    def draw_question(self) -> None:
        """Draw the question: who is asked, and for what."""
        with ui.row().classes("w-full items-center gap-2 your-turn px-3 py-2 no-wrap") as self._question:
            ui.icon("record_voice_over", size="20px").props("aria-hidden=true")
            with ui.column().classes("gap-0 min-w-0 grow"):
                self._question_text = ui.label().classes("text-sm font-semibold break-words").props("role=status")
                self._problem = ui.label().classes("text-xs break-words")
            self._take_over = text_button("", self._answer_for_asked, look="flat dense")

    def draw_field(self) -> None:
        """Draw what a person answers with: words, how much they need to talk, or a choice."""
        with ui.row().classes("w-full items-end gap-2 no-wrap") as self._field_row:
            self._words, _ = words_field(t("chat.words"), self._send)
            self._pass_words = text_button(t("chat.pass"), self._pass, look="flat dense no-wrap")
        self._only = ui.label().classes("text-xs muted px-2 break-words").mark("only-hint")
        self._pending = ui.label().classes("text-xs px-2 break-words").props("role=status").mark("pending")
        with ui.row().classes("w-full items-center gap-3 no-wrap px-2") as self._need_row:
            ends = "text-xs muted whitespace-nowrap gt-xs"
            ui.label(t("chat.need_none")).classes(ends).props("aria-hidden=true")
            self._need = ui.slider(min=0, max=10, step=1, value=5).props("label-always snap markers")
            named(self._need.classes("grow mt-6"), t("chat.need")).mark("need")
            ui.label(t("chat.need_most")).classes(ends).props("aria-hidden=true")
            text_button(t("chat.answer"), self._answer_need, look="unelevated dense").classes("px-3")
            text_button(t("chat.pass"), self._pass, look="flat dense no-wrap")
        with ui.column().classes("w-full gap-2 px-2") as self._choice_box:
            self._choice = ui.radio({}).classes("w-full deciding").mark("deciding")
            with ui.row().classes("gap-2"):
                button = text_button(t("chat.answer"), self._answer_choice, look="unelevated")
                button.mark("decide").bind_enabled_from(self._choice, "value", backward=lambda value: value is not None)
                text_button(t("chat.pass"), self._pass).mark("decide-not")

    def remember(self) -> None:
        """Restore the speaker chosen in this tab before a reload."""
        kept = app.storage.tab.get(self._key)
        if isinstance(kept, str) and (kept == AS_MODERATOR or kept in self._viewing.board.people):
            self._chosen = kept
            self.sync()

    def sync(self) -> None:
        """Show who is asked, and the controls that apply; a player sees no question to others."""
        board, player = self._viewing.board, self._player
        asked = board.asked
        if player is None:
            agent = asked.agent if asked is not None else None
            self._speak_as(voice(self._voice, self._chosen, agent, board.people, busy=bool(self._words.value)))
        else:
            self._voice = player()
            asked = asked if asked is not None and asked.agent == self._voice else None
        self._asked = asked
        mine = asked if asked is not None and asked.agent == self._voice else None
        what = mine.what if mine is not None else ""
        need = what == "need_to_talk"
        chooses = mine if mine is not None and what not in ("utterance", "need_to_talk") else None
        if chooses is not None and what == "position" and not candidates_of(chooses):
            chooses = None  # any words are a position
        self._ask(asked, mine=mine is not None)
        self._offer_choice(chooses)
        words = not need and chooses is None and (player is None or mine is not None)
        may_raise = player is None and self._voice != AS_MODERATOR and mine is None
        for element, shown in (
            (self._who, player is None and bool(board.people)),
            (self._to, player is None and not need and what != "position"),
            (self._raise, may_raise and self._voice not in board.hands),
            (self._lower, may_raise and self._voice in board.hands),
            (self._field_row, words),
            (self._pass_words, mine is not None),
            (self._need_row, need),
            (self._choice_box, chooses is not None),
        ):
            element.set_visibility(shown)
        if mine is not None or player is not None:
            text = t("chat.placeholder_asked")
        elif self._voice != AS_MODERATOR:
            text = t("chat.placeholder_next", who=one_line(self._voice))
        else:
            text = t("chat.placeholder_outside", name=moderator_name(board.participants))
        only = "" if self._to.value == _EVERYBODY or not self._to.visible else one_line(str(self._to.value))
        if only:
            text = f"{text} ({t('chat.only', who=only)})"
            self._only.set_text(t("chat.only_hint", who=only))
        self._only.set_visibility(bool(only) and words)
        live = self._viewing.live
        self._pending.set_visibility(live is not None and live.control.wanted(board.turn) and bool(self._pending.text))
        self._words.props["placeholder"] = text
        self._call(mine.agent if mine is not None else "", field=words)

    def _ask(self, asked: Asked | None, *, mine: bool) -> None:
        """Show who is asked, and for what; nothing if nobody is."""
        self._question.set_visibility(asked is not None)
        if asked is None:
            return
        who = one_line(asked.agent)
        self._question_text.set_text(question_in_words(asked) if mine else t("chat.other_asked", who=who))
        say_in(self._problem, one_line(asked.problem))
        self._take_over.set_text(t("chat.answer_as", who=who))
        self._take_over.set_visibility(not mine)
        now = (asked.agent, asked.turn)
        if mine and asked.puts is not None and now != self._offered and not self._words.value:
            self._offered = now  # the question of the guide that the moderator is to put, once
            self._words.set_value(asked.puts["ask"])

    def _offer_choice(self, asked: Asked | None) -> None:
        """Offer those among whom a person is to choose; nothing is chosen yet."""
        now = _about(asked) if asked is not None else None
        if now == self._choosing:
            return
        self._choosing = now
        if asked is None:
            return
        self._choice.props(remove="inline").props("inline" if asked.position is not None else "")
        names = {place: one_line(name) for place, name in enumerate(candidates_of(asked))}
        self._choice.set_options(names, value=None)
        named(self._choice, question_in_words(asked))

    def _call(self, who: str, *, field: bool) -> None:
        """Say in the title of the tab that it is somebody's turn here, and put the cursor into the field.

        Args:
            who: the person whose turn it is; empty if it is nobody's.
            field: whether words are asked for.
        """
        if who == self._called:
            return
        self._called = who
        title = t("chat.your_turn", who=one_line(who)) if who else ""
        ui.run_javascript(f"window.titled ??= document.title; document.title = {json.dumps(title)} || window.titled")
        if who and field:
            self._words.run_method("focus")

    def _speak_as(self, name: str) -> None:
        if name == self._voice:
            return
        self._voice = name
        self._who.set_value(name)
        others = [other for other in self._viewing.board.participants if other != name]
        options = {other: t("chat.only", who=one_line(other)) for other in others}
        kept = self._to.value if self._to.value in options else _EVERYBODY
        self._to.set_options({_EVERYBODY: t("chat.everybody"), **options}, value=kept)

    def _choose(self) -> None:
        if self._who.value != self._voice:
            self._take(str(self._who.value))

    def _answer_for_asked(self) -> None:
        if self._asked is not None:
            self._take(self._asked.agent)

    def _take(self, name: str) -> None:
        self._chosen = app.storage.tab[self._key] = name
        self.sync()

    def _acted(self) -> None:
        """If several people take part, let this tab stay with the person who acted in it."""
        if self._voice != AS_MODERATOR and len(self._viewing.board.people) > 1:
            self._chosen = app.storage.tab[self._key] = self._voice

    def _send(self) -> None:
        live, words = self._viewing.live, str(self._words.value or "")
        if live is None:
            return
        speaker = "" if self._voice == AS_MODERATOR else self._voice
        mine = self._asked if self._asked is not None and self._asked.agent == speaker else None
        if mine is not None and mine.what == "position":
            self._decide(words)
            return
        if mine is not None and live.control.asked != (speaker, "utterance"):
            ui.notify(t("chat.answered_elsewhere"), type="warning")
            return
        heard_by = None if self._to.value == _EVERYBODY else [str(self._to.value)]
        if act(self._viewing, lambda live: live.control.say(words, speaker=speaker, heard_by=heard_by)):
            self._acted()
            if mine is None:
                told = t("chat.said_paused" if live.control.paused else "chat.said_next")
                self._pending.set_text(f"{told} {one_line(words)}")
            self._words.set_value("")
            self.sync()

    def _answer_need(self) -> None:
        self._answer(lambda live: live.control.answer(int(self._need.value)))

    def _answer_choice(self) -> None:
        candidates = candidates_of(self._asked) if self._asked is not None else []
        if isinstance(self._choice.value, int) and self._choice.value < len(candidates):
            self._decide(candidates[self._choice.value])

    def _decide(self, choice: str) -> None:
        field = "position" if self._asked is not None and self._asked.what == "position" else "choice"
        self._answer(lambda live: live.control.answer({field: choice}))
        if field == "position":
            self._words.set_value("")

    def _pass(self) -> None:
        self._answer(lambda live: live.control.pass_turn())

    def _answer(self, answer: Callable[[LiveRun], None]) -> None:
        """Answer, if the run still asks the person that the page shows."""
        live, asked = self._viewing.live, self._asked
        if live is None or asked is None:
            return
        if live.control.asked != (asked.agent, asked.what) or not _same(live.control.question, asked):
            ui.notify(t("chat.answered_elsewhere"), type="warning")
        elif act(self._viewing, answer):
            self._acted()

    def _hand(self, *, raised: bool) -> None:
        told = t("chat.hand_waits") if raised else ""
        if act(self._viewing, lambda live: live.control.raise_hand(self._voice, raised=raised), told):
            self._acted()
