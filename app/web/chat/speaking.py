"""The field for words of a person who is asked, of a person who wants to speak next, or of the moderator."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from nicegui import app, ui

from persimchat.app.web.chat.deciding import Deciding, question_in_words
from persimchat.app.web.context import Viewing
from persimchat.app.web.live_runs import LiveRun
from persimchat.app.web.widgets import FIELD, brief_button, icon_button, named, notify_error
from persimchat.app.web.words import t
from persimchat.nodes.saying import moderator_name
from persimchat.runs.events import Asked
from persimchat.state.errors import PerSimChatError
from persimchat.state.intervention import MODERATOR
from persimchat.state.person_answer import Question
from persimchat.state.plain_text import one_line

AS_MODERATOR = f"/{MODERATOR}"
"""The moderator's key among names; participants' names never begin with a slash."""


_ENTER = """(e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); emit(); }
}"""
_EVERYBODY = "/everybody"


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
        self._viewing = viewing
        self._player = player
        self._chosen: str | None = None
        self._voice = ""
        self._asked: Asked | None = None
        self._called = ""
        self._offered: tuple[str, int] | None = None

    def draw_choices(self) -> None:
        """Draw the choices: the speaker, who hears it, and a person's hand."""
        names = {name: one_line(name) for name in self._viewing.board.people}
        names[AS_MODERATOR] = t("chat.outside_voice")
        self._who = ui.select(names, label=t("chat.speak_as"), value=AS_MODERATOR, on_change=self._choose)
        self._who.props(f"{FIELD} options-dense").classes("min-w-0 w-40 shrink").mark("speak-as")
        self._who.set_visibility(len(names) > 1)
        self._to = ui.select({_EVERYBODY: t("chat.everybody")}, label=t("chat.heard_by"), value=_EVERYBODY)
        self._to.props(f"{FIELD} options-dense").classes("min-w-0 w-40 shrink").mark("heard-by")
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
            self._take_over = ui.button("", on_click=self._answer_for_asked).props("flat dense no-caps")

    def draw_field(self) -> None:
        """Draw the field for words, and the slider for the need to talk."""
        with ui.row().classes("w-full items-end gap-2 no-wrap") as self._field_row:
            self._words = (
                ui.textarea().props(f"{FIELD} autogrow rows=1 input-class=max-h-40").classes("grow words").mark("words")
            )
            named(self._words, t("chat.words"))
            self._words.on("keydown", self._send, js_handler=_ENTER)
            self._send_button = icon_button("send", t("chat.send"), self._send).props("color=primary").mark("send")
            self._pass_words = ui.button(t("chat.pass"), on_click=self._pass).props("flat dense no-caps no-wrap")
        with ui.row().classes("w-full items-center gap-3 no-wrap px-2") as self._need_row:
            ui.label(t("chat.need_none")).classes("text-xs muted whitespace-nowrap gt-xs").props("aria-hidden=true")
            self._need = (
                ui.slider(min=0, max=10, step=1, value=5)
                .props("label-always snap markers")
                .classes("grow mt-6")
                .mark("need")
            )
            named(self._need, t("chat.need"))
            ui.label(t("chat.need_most")).classes("text-xs muted whitespace-nowrap gt-xs").props("aria-hidden=true")
            ui.button(t("chat.answer"), on_click=self._answer_need).props("unelevated dense no-caps").classes("px-3")
            ui.button(t("chat.pass"), on_click=self._pass).props("flat dense no-caps no-wrap")
        self._deciding = Deciding(self._decide, self._pass)

    def remember(self) -> None:
        """Restore the speaker chosen in this tab before a reload."""
        kept = app.storage.tab.get(self._key)
        if isinstance(kept, str) and (kept == AS_MODERATOR or kept in self._viewing.board.people):
            self._chosen = kept
            self.sync()

    def sync(self) -> None:
        """Show who is asked, and enable the controls that apply."""
        board = self._viewing.board
        self._asked = board.asked
        if self._player is not None:
            self._play(self._player(), board.asked)
            return
        agent = board.asked.agent if board.asked is not None else None
        busy = bool(self._words.value)
        self._speak_as(voice(self._voice, self._chosen, agent, board.people, busy=busy))
        person = self._voice != AS_MODERATOR
        mine = agent is not None and agent == self._voice
        need = mine and board.asked is not None and board.asked.what == "need_to_talk"
        stands = board.asked if mine and board.asked is not None and board.asked.what == "position" else None
        chooses = stands is not None and stands.position is not None and bool(stands.position["possible"])
        self._deciding.ask(stands if chooses else None)
        self._question.set_visibility(board.asked is not None)
        if board.asked is not None:
            self._ask(board.asked, mine=mine)
        self._field_row.set_visibility(not need and not chooses)
        self._need_row.set_visibility(need)
        self._to.set_visibility(not need and stands is None)
        self._pass_words.set_visibility(mine)
        self._raise.set_visibility(person and not mine and self._voice not in board.hands)
        self._lower.set_visibility(person and not mine and self._voice in board.hands)
        if mine:
            text = t("chat.placeholder_asked")
        elif person:
            text = t("chat.placeholder_next", who=one_line(self._voice))
        else:
            text = t("chat.placeholder_outside", name=moderator_name(board.participants))
        self._words.props["placeholder"] = text
        self._call(board.asked.agent if board.asked is not None and mine else "", field=not need)

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

    def _play(self, name: str, asked: Asked | None) -> None:
        """Show a player the question to its character, and nothing of those to others."""
        self._voice = name
        mine = asked if asked is not None and asked.agent == name else None
        words = mine is not None and mine.what == "utterance"
        for hidden in (self._who, self._to, self._raise, self._lower, self._need_row, self._take_over):
            hidden.set_visibility(False)
        self._question.set_visibility(mine is not None)
        self._question_text.set_text(question_in_words(mine) if mine is not None else "")
        problem = one_line(mine.problem) if mine is not None else ""
        self._problem.set_text(problem)
        self._problem.set_visibility(bool(problem))
        self._field_row.set_visibility(words)
        self._pass_words.set_visibility(words)
        self._words.props["placeholder"] = t("chat.placeholder_asked")
        self._deciding.ask(mine if not words else None)
        self._call(name if mine is not None else "", field=words)

    def _ask(self, asked: Asked, *, mine: bool) -> None:
        who = one_line(asked.agent)
        if not mine:
            text = t("chat.other_asked", who=who)
        else:
            text = question_in_words(asked)
            self._offer(asked)
        self._question_text.set_text(text)
        self._problem.set_text(one_line(asked.problem))
        self._problem.set_visibility(bool(asked.problem))
        self._take_over.set_text(t("chat.answer_as", who=who))
        self._take_over.set_visibility(not mine)

    def _offer(self, asked: Asked) -> None:
        """Fill the field with the question of the guide that the moderator is to put, once."""
        now = (asked.agent, asked.turn)
        if asked.puts is not None and now != self._offered and not self._words.value:
            self._offered = now
            self._words.set_value(asked.puts["ask"])

    def _speak_as(self, name: str) -> None:
        if name == self._voice:
            return
        self._voice = name
        self._who.set_value(name)
        others = [other for other in self._viewing.board.participants if other != name]
        options = {other: t("chat.only", who=one_line(other)) for other in others}
        kept = self._to.value if self._to.value in options else _EVERYBODY
        self._to.set_options({_EVERYBODY: t("chat.everybody"), **options}, value=kept)

    @property
    def _key(self) -> str:
        return f"voice:{self._viewing.run}"

    def _choose(self) -> None:
        if self._who.value != self._voice:
            self._take(str(self._who.value))

    def _answer_for_asked(self) -> None:
        if self._asked is not None:
            self._take(self._asked.agent)

    def _take(self, name: str) -> None:
        self._chosen = name
        app.storage.tab[self._key] = name
        self.sync()

    def _acted(self) -> None:
        """If several people take part, let this tab stay with the person who acted in it."""
        if self._voice != AS_MODERATOR and len(self._viewing.board.people) > 1:
            self._chosen = app.storage.tab[self._key] = self._voice

    def _send(self) -> None:
        live = self._viewing.live
        if live is None:
            return
        speaker = "" if self._voice == AS_MODERATOR else self._voice
        was_asked = self._asked is not None and self._asked.agent == speaker
        if was_asked and self._asked is not None and self._asked.what == "position":
            self._decide(str(self._words.value or ""))
            return
        if was_asked and live.control.asked != (speaker, "utterance"):
            ui.notify(t("chat.answered_elsewhere"), type="warning")
            return
        heard_by = None if self._to.value == _EVERYBODY else [str(self._to.value)]
        try:
            live.control.say(self._words.value or "", speaker=speaker, heard_by=heard_by)
        except PerSimChatError as error:
            notify_error(error)
            return
        self._acted()
        self._words.set_value("")
        self._to.set_value(_EVERYBODY)
        if not was_asked:
            ui.notify(t("chat.said_paused" if live.control.paused else "chat.said_next"), type="positive")

    def _answer_need(self) -> None:
        self._answering(lambda live: live.control.answer(int(self._need.value)))

    def _decide(self, choice: str) -> None:
        field = "position" if self._asked is not None and self._asked.what == "position" else "choice"
        self._answering(lambda live: live.control.answer({field: choice}))
        if field == "position":
            self._words.set_value("")

    def _pass(self) -> None:
        self._answering(lambda live: live.control.pass_turn())

    def _answering(self, answer: Callable[[LiveRun], None]) -> None:
        """Answer, if the run still asks the person that the page shows."""
        live, asked = self._viewing.live, self._asked
        if live is None or asked is None:
            return
        if live.control.asked != (asked.agent, asked.what) or not _same(live.control.question, asked):
            ui.notify(t("chat.answered_elsewhere"), type="warning")
            return
        try:
            answer(live)
        except PerSimChatError as error:
            notify_error(error)
        else:
            self._acted()

    def _hand(self, *, raised: bool) -> None:
        live = self._viewing.live
        if live is None:
            return
        try:
            live.control.raise_hand(self._voice, raised=raised)
        except PerSimChatError as error:
            notify_error(error)
        else:
            self._acted()
            ui.notify(t("chat.hand_waits"), type="positive")
