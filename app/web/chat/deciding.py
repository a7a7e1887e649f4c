"""The form with which a person decides: a partner or a ballot in a story, where they stand in a focus group."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from nicegui import ui

from persimchat.app.web.shared.formats import listed
from persimchat.app.web.widgets import named
from persimchat.app.web.words import t
from persimchat.runs.events import Asked
from persimchat.state.plain_text import one_line


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
    return t(
        "chat.ask_words_public" if room["public"] else "chat.ask_words_private", who=who, others=listed(room["others"])
    )


class Deciding:
    """One of several to choose, or to pass.

    Args:
        decide: answers with one of the choices.
        pass_on: answers with none.
    """

    def __init__(self, decide: Callable[[str], object], pass_on: Callable[[], object]) -> None:
        self._decide = decide
        self._candidates: list[str] = []
        self._asked: Hashable = None
        with ui.column().classes("w-full gap-2 px-2") as self._box:
            self._choice = ui.radio({}).classes("w-full deciding").mark("deciding")
            with ui.row().classes("gap-2"):
                button = ui.button(t("chat.answer"), on_click=self._answer).props("unelevated no-caps").mark("decide")
                button.bind_enabled_from(self._choice, "value", backward=lambda value: value is not None)
                ui.button(t("chat.pass"), on_click=pass_on).props("flat no-caps").mark("decide-not")
        self._box.set_visibility(False)

    def ask(self, asked: Asked | None) -> None:
        """Show a question with its choices; hide the form for None."""
        story, position = (asked.story, asked.position) if asked is not None else (None, None)
        self._box.set_visibility(asked is not None)
        about = (story["act"], story["ballot"]) if story else (position["poll"], position["when"]) if position else ()
        now = (asked.agent, asked.what, *about) if asked is not None else None
        if now == self._asked:
            return
        self._asked = now
        self._candidates = list(story["candidates"] if story else position["possible"] if position else ())
        self._choice.props(remove="inline").props("inline" if position is not None else "")
        self._choice.set_options({place: one_line(name) for place, name in enumerate(self._candidates)}, value=None)
        if asked is not None:
            named(self._choice, question_in_words(asked))

    def _answer(self) -> None:
        if isinstance(self._choice.value, int) and self._choice.value < len(self._candidates):
            self._decide(self._candidates[self._choice.value])
