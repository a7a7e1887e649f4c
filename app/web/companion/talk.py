"""The talk: what both have said, what is being said, and the field for the person's words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from nicegui import ui

from persimchat.app.web.companion.face import COLOURS
from persimchat.app.web.looks import MODERATOR, colour
from persimchat.app.web.pairs import Pair
from persimchat.app.web.widgets import FIELD, avatar, chip, icon_button, named
from persimchat.app.web.words import t
from persimchat.state.companion import Exchange
from persimchat.state.plain_text import clean, one_line

SHOWN: Final = 60
"""How many exchanges a page shows at first, and how many more at a time."""
LONGEST: Final = 8_000
"""The most characters of a message."""
_LONGEST_EVENT: Final = 200
_ENTER: Final = """(e) => {
  if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) { e.preventDefault(); emit(); }
}"""
_HELP: Final = "https://findahelpline.com"


def moment(at: str) -> str:
    """A time of the world as date and hour; text that is not a time stays as it is."""
    try:
        return t("companion.moment", d=datetime.fromisoformat(at))
    except ValueError:
        return one_line(at)


class Talk:
    """The bubbles of both."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._agent, self._person = one_line(pair.companion.agent), one_line(pair.companion.person)
        self._most = SHOWN
        self._drawn: list[Exchange] = []
        self._rows: list[ui.element] = []
        self._told = len(pair.exchanges)
        with ui.element("div").classes("scroll w-full grow flex flex-col-reverse chat") as root:
            root.props("tabindex=0 role=log aria-live=off")
            named(root, t("companion.log"))
            with ui.column().classes("w-full max-w-3xl mx-auto gap-4 px-4 py-5 mb-auto"):
                self._earlier = ui.button(t("chat.earlier"), icon="expand_less", on_click=self._more)
                self._earlier.props("flat dense no-caps").classes("mx-auto")
                self._empty = ui.label(t("companion.empty", agent=self._agent)).classes("text-sm muted mx-auto")
                self._box = ui.column().classes("w-full gap-4")
                self._now = ui.column().classes("w-full gap-4 live-now")
                with self._now:
                    with _row(self._person, mine=True) as self._said_row:
                        self._said = _bubble()
                    self._failed = ui.label(t("companion.unanswered")).classes("text-xs muted mx-auto")
                    with _row(self._agent, mine=False) as self._words_row:
                        self._words_row.classes("live")
                        self._words = _bubble()
                    with ui.row().classes("items-center gap-2 no-wrap") as self._doing:
                        ui.spinner("dots", size="28px", color="primary").props("aria-hidden=true")
                        self._does = ui.label().classes("text-xs muted")
                self._over = ui.column().classes("w-full gap-1 surface p-3 the-end")
                with self._over:
                    ui.label(t("companion.over")).classes("text-sm font-semibold").props("role=heading aria-level=2")
                    self._kept = ui.label().classes("text-sm words")
        self._announced = ui.label().classes("sr-only").props("aria-live=polite").mark("announced")

    def _more(self) -> None:
        self._most += SHOWN
        self.sync()

    def sync(self) -> None:
        """Show what has been said since."""
        pair = self._pair
        shown = list(pair.exchanges[-self._most :])
        if shown != self._drawn:
            self._draw(shown)
        self._earlier.set_visibility(len(pair.exchanges) > self._most)
        self._empty.set_visibility(not shown and not pair.answering)
        self._said.set_text(clean(pair.said))
        self._said_row.set_visibility(bool(pair.said))
        self._failed.set_visibility(bool(pair.said) and bool(pair.problem))
        self._words.set_text(clean(pair.words))
        self._words_row.set_visibility(bool(pair.words))
        self._doing.set_visibility(pair.answering and not pair.words)
        self._does.set_text(t("companion.ending" if pair.ending else "companion.thinking", agent=self._agent))
        self._over.set_visibility(pair.over is not None)
        if pair.over is not None:
            self._kept.set_text(clean(pair.over.summary))
        self._tell(pair.exchanges)

    def _draw(self, shown: list[Exchange]) -> None:
        """Draw the exchanges that are new or have changed, and all behind them."""
        same = 0
        for old, new in zip(self._drawn, shown, strict=False):
            if old != new:
                break
            same += 1
        for row in self._rows[same:]:
            row.delete()
        del self._rows[same:]
        with self._box:
            for index in range(same, len(shown)):
                begins = index == 0 or shown[index]["talk"] != shown[index - 1]["talk"]
                self._rows.append(self._exchange(shown[index], begins=begins))
        self._drawn = shown

    def _exchange(self, one: Exchange, *, begins: bool) -> ui.element:
        with ui.column().classes("w-full gap-4") as box:
            if begins:
                ui.label(moment(one["at"])).classes("text-xs muted mx-auto talk-begins")
            for event in one.get("events", []):
                ui.label(one_line(event)).classes("text-xs muted text-center mx-auto max-w-prose break-words")
            if one["said"]:
                with _row(self._person, mine=True):
                    _bubble(one["said"])
            if one["utterance"]:
                with _row(self._agent, mine=False), ui.column().classes("gap-1 min-w-0"):
                    _bubble(one["utterance"])
                    if one["emotion"] != "neutral":
                        chip(t(f"companion.emotion_{one['emotion']}"), COLOURS[one["emotion"]])
        return box

    def _tell(self, exchanges: Sequence[Exchange]) -> None:
        """Announce each finished answer once to screen readers."""
        new = [one["utterance"] for one in exchanges[self._told :] if one["utterance"]]
        self._told = len(exchanges)
        if new:
            self._announced.set_text("\n".join(f"{self._agent}: {clean(words)}" for words in new))


def _row(name: str, *, mine: bool) -> ui.row:
    """A line with the speaker's picture, to be filled."""
    own = MODERATOR if mine else colour(name, [name])
    with ui.row().classes("w-full gap-3 no-wrap items-start said" + (" mine flex-row-reverse" if mine else "")) as row:
        row.style(f"--c:{own}")
        avatar(name, own, "32px", human=mine)
        ui.label(name).classes("sr-only")
    return row


def _bubble(text: str = "") -> ui.label:
    return ui.label(clean(text)).classes("bubble text-base max-w-full")


class Composer:
    """The field for words, for events, and the end of the talk."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        agent = one_line(pair.companion.agent)
        with (
            ui.column().classes("composer bar w-full gap-2 px-4 py-3"),
            ui.column().classes("w-full max-w-3xl mx-auto"),
        ):
            self._problem = ui.label().classes("text-sm text-negative words w-full").props("role=alert")
            self._care()
            with ui.row().classes("w-full items-end gap-2 no-wrap"):
                self._words = ui.textarea(placeholder=t("companion.say_to", agent=agent))
                self._words.props(f"{FIELD} autogrow rows=1 maxlength={LONGEST}").classes("grow words").mark("words")
                named(self._words, t("companion.words"))
                self._words.on("keydown", self._say, js_handler=_ENTER)
                self._send = icon_button("send", t("chat.send"), self._say).props("color=primary").mark("send")
            with ui.row().classes("w-full items-end gap-2 no-wrap") as self._event_row:
                self._event = ui.input(placeholder=t("companion.event_example"))
                self._event.props(f"{FIELD} maxlength={_LONGEST_EVENT}").classes("grow").mark("event")
                named(self._event, t("companion.event_what"))
                self._event.on("keydown", self._happen, js_handler=_ENTER)
                self._happens = icon_button("bolt", t("companion.event_send"), self._happen).props("color=primary")
            with ui.row().classes("w-full items-center justify-between gap-2 no-wrap"):
                self._toggle = ui.button(t("companion.event"), icon="bolt", on_click=self._show_event)
                self._toggle.props("flat dense no-caps aria-expanded=false").classes("text-sm")
                self._end = ui.button(t("companion.end"), icon="waving_hand", on_click=pair.end)
                self._end.props("flat dense no-caps").classes("text-sm")
            ui.label(t("companion.notice")).classes("text-xs muted text-center w-full")
        self._event_row.set_visibility(False)

    def _care(self) -> None:
        with ui.row().classes("w-full items-start gap-2 no-wrap your-turn px-3 py-2") as self._care_row:
            ui.icon("support", size="20px").props("aria-hidden=true")
            with ui.column().classes("gap-1 grow min-w-0").props("role=status"):
                ui.label(t("companion.care")).classes("text-sm break-words")
                ui.link(_HELP.partition("://")[2], _HELP, new_tab=True).classes(
                    "text-sm text-inherit underline self-start"
                ).props("rel='noopener noreferrer'")
            icon_button("close", t("common.close"), self._pair.close_care)
        self._care_row.mark("care")

    def sync(self) -> None:
        """Enable what can be done now."""
        pair = self._pair
        self._problem.set_text(pair.problem)
        self._problem.set_visibility(bool(pair.problem))
        self._care_row.set_visibility(pair.care)
        for button in (self._send, self._happens):
            button.set_enabled(not pair.answering)
        self._end.set_enabled(not pair.answering and pair.tie is not None and pair.tie.talk is not None)

    def _show_event(self) -> None:
        shown = not self._event_row.visible
        self._event_row.set_visibility(shown)
        self._toggle.props["aria-expanded"] = "true" if shown else "false"
        if shown:
            self._event.run_method("focus")

    def _say(self) -> None:
        if not self._pair.answering:
            self._pair.say(str(self._words.value or "")[:LONGEST])
            self._words.set_value("")

    def _happen(self) -> None:
        if not self._pair.answering:
            self._pair.happen(str(self._event.value or "")[:_LONGEST_EVENT])
            self._event.set_value("")
