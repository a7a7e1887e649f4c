"""The page of the companion: a talk with an agent of the open world, or the way to one."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from nicegui import app, ui

from ....runs.companion.folder import is_world, served_at
from ....runs.companion.world import World
from ....runs.folder.lock import is_held
from ....state.companion import LONGEST_PERSON, Exchange, Label, person_name
from ....state.companion.day import activity_at
from ....state.document import table
from ....state.errors import PerSimChatError
from ....state.folders import WORLDS
from ....state.plain_text import clean, one_line
from ..context import WebContext
from ..frame import Frame, disclaimer, page, page_title
from ..pairs import Pair
from ..shared.formats import joined
from ..widgets import (
    EMOTION_COLOURS,
    MODERATOR,
    anew,
    avatar,
    bar,
    card,
    centred,
    chip,
    colour,
    command,
    fill,
    follow,
    icon_button,
    named,
    say_in,
    sent_with_enter,
    text_button,
)
from ..words import t
from .companion_memory import Course, Day, Remembered, doing_in_words, moment
from .lines import bubble, draw_turn
from .speaking import composer_bar, words_field
from .transcript import Item, Transcript

_NEW: Final = "persimchat companion serve PLACE.yaml --world worlds/NAME"
_REFRESH_S: Final = 5.0
"""How often an open page reads what the world's clock or another client has changed."""
_KEPT: Final = "companion-person"
"""Under this key a browser keeps the name that its user gave last."""
_HELP: Final = "https://findahelpline.com"
LONGEST: Final = 8_000
"""The most characters of a message."""
_LONGEST_EVENT: Final = 200
_MOST_TRUST: Final = 10


# Without an open world: which worlds there are, and the command that opens one


@dataclass(frozen=True)
class Found:
    """A world on disk.

    Attributes:
        folder: the world's.
        held: whether another process has it open.
        address: where that process serves it; empty if it does not.
    """

    folder: Path
    held: bool = False
    address: str = ""


def worlds_in(folder: Path) -> list[Found]:
    """The worlds in a folder by name; none if there is no folder. Blocks."""
    try:
        places = sorted(path for path in folder.iterdir() if is_world(path))
    except OSError:
        return []
    return [Found(path, True, served_at(path)) if is_held(path) else Found(path) for path in places]


async def companion_page(web: WebContext, agent: str, person: str) -> None:
    """Draw the page.

    Args:
        web: the context of the pages.
        agent: the agent's name; empty to choose.
        person: the person's name; empty to ask.
    """
    if web.world is None:
        _closed(await asyncio.to_thread(worlds_in, WORLDS))
        return
    if not agent or not person:
        _choose(web.world, agent)
        return
    try:
        pair = await web.pairs.of(web.world, agent, person)
    except PerSimChatError as error:
        _choose(web.world, agent, str(error))
        return
    app.storage.user[_KEPT] = pair.companion.person
    _talk_page(web, web.world, pair)


def _closed(worlds: list[Found]) -> None:
    with page(t("common.companion"), 760):
        page_title(t("common.companion"))
        with ui.column().classes("w-full gap-1"):
            ui.label(t("companion.closed")).classes("text-lg font-semibold").props("role=heading aria-level=2")
            ui.label(t("companion.closed_why")).classes("muted")
        with card(t("companion.worlds"), "px-4"):
            if worlds:
                ui.label(t("companion.open_one")).classes("text-sm")
            else:
                ui.label(t("companion.no_worlds", folder=f"{WORLDS}/")).classes("text-sm muted")
            for one in worlds:
                if one.held:
                    ui.label(one_line(one.folder.name)).classes("font-semibold words")
                    served = t("companion.held_at", address=one.address) if one.address else t("companion.held")
                    ui.label(served).classes("text-sm muted words")
                else:
                    command(shlex.join(["persimchat", "serve", "--world", str(one.folder)]))
        with card(t("companion.new_world"), "px-4"):
            command(_NEW)
        disclaimer()


def _choose(world: World, agent: str, problem: str = "") -> None:
    """The page on which the person gives a name and chooses an agent."""
    with page(t("common.companion"), 760):
        page_title(t("common.companion"))
        ui.label(t("companion.about", world=one_line(world.place.world))).classes("muted")
        name = ui.input(t("companion.your_name"), value=str(app.storage.user.get(_KEPT, "")))
        name.props(f"maxlength={LONGEST_PERSON} autocomplete=off").classes("w-full max-w-sm").mark("person")
        if problem:
            ui.label(problem).classes("text-sm text-negative words").props("role=alert")
        ui.label(t("companion.name_why")).classes("text-xs muted")

        def talk(to: str) -> None:
            try:
                person = person_name(str(name.value or ""))
            except PerSimChatError as error:
                name.error = error.sentence
                return
            ui.navigate.to("/companion?" + urlencode({"agent": to, "person": person}))

        agents = [one.persona for one in world.place.agents]
        order = [one.name for one in agents]
        with ui.column().classes("w-full gap-3").props("role=list"):
            for one in agents:
                with card(look="px-4") as box:
                    box.props("role=listitem")
                    with ui.row().classes("w-full items-center gap-3 no-wrap"):
                        avatar(one.name, colour(one.name, order))
                        ui.label(one_line(one.name)).classes("font-semibold grow min-w-0 break-words")
                        look = "unelevated" if one.name == agent or not agent else "outline"
                        button = text_button(t("companion.talk"), partial(talk, one.name), icon="chat", look=look)
                        named(button, t("companion.talk_with", agent=one_line(one.name)))
                    ui.label(clean(one.description)).classes("text-sm muted persona-text")
        disclaimer()


# The talk, and beside it what the agent knows; on a phone one of the two


def _talk_page(web: WebContext, world: World, pair: Pair) -> None:
    agent = one_line(pair.companion.agent)
    frame = Frame(agent)
    ui.query(".nicegui-content").classes("p-0 gap-0")

    async def forget() -> None:
        await web.pairs.forget(world, pair.companion.agent, pair.companion.person)

    with ui.column().classes("page-height w-full gap-0 no-wrap") as box:
        with ui.element("div").classes("duo shows-talk") as duo:
            with ui.element("section") as section:
                named(section, t("companion.talk"))
                parts = [Head(pair).sync, Talk(pair).sync, Composer(pair).sync]
            with ui.element("aside") as aside:
                named(aside, t("companion.beside"))
                with ui.column().classes("scroll w-full grow gap-3 p-3 no-wrap").props("tabindex=0 role=group") as side:
                    named(side, t("companion.beside"))
                    parts += [Course(pair).sync, Day(pair).sync, Remembered(pair, duo, forget).sync]
        _phone_bar()

    seen = -1

    def sync() -> None:
        nonlocal seen
        if pair.revision == seen:
            return
        seen = pair.revision
        if pair.gone:
            timer.cancel()
            with anew(box), centred("delete_forever", t("companion.forgotten", agent=agent)):
                text_button(t("companion.other"), lambda: ui.navigate.to("/companion"), look="unelevated")
            return
        for draw in parts:
            draw()

    with frame.actions:
        icon_button("switch_account", t("companion.other"), lambda: ui.navigate.to("/companion"))
    timer = follow(sync)
    ui.timer(_REFRESH_S, pair.refresh)


def _phone_bar() -> None:
    """The bar that chooses what a phone shows."""
    with ui.element("nav").classes("nav bar w-full justify-around") as nav:
        named(nav, t("common.views"))
        for key, icon, name in (("talk", "chat", "companion.talk"), ("mind", "psychology", "companion.beside")):
            show = (
                "() => { const d = document.querySelector('.duo'); "
                f"d.className = d.className.replace(/shows-\\w+/, 'shows-{key}') }}"
            )
            button = ui.button(t(name), icon=icon, color=None).props("flat stack").classes("nav-view")
            button.on("click", js_handler=show)


# The head of a talk: the agent's face, what it feels and does, and how far it trusts the person


COLOURS: Final[Mapping[Label, str]] = {
    "happy": EMOTION_COLOURS["happiness"],
    "angry": EMOTION_COLOURS["anger"],
    "disgust": EMOTION_COLOURS["disgust"],
    "fear": EMOTION_COLOURS["fear"],
    "surprised": EMOTION_COLOURS["surprise"],
    "sad": EMOTION_COLOURS["sadness"],
    "neutral": "#64748b",
}


@cache
def expressions() -> Mapping[Label, list[dict[str, str]]]:
    """The shapes of each expression of a face."""
    found: Any = table(__file__, "../faces.yaml")
    return {label: found[label] for label in COLOURS}


class Head:
    """The strip above the talk, at every width."""

    def __init__(self, pair: Pair) -> None:
        self._pair, self._shown = pair, ""
        self._agent = one_line(pair.companion.agent)
        with ui.row().classes("companion-head w-full items-center gap-3 no-wrap px-4 py-2"):
            self._face = ui.element("svg").classes("face shrink-0").style("width:60px; height:60px")
            self._face.props("viewBox='0 0 64 64' role=img")
            with ui.column().classes("gap-0 grow min-w-0"):
                name = ui.label(self._agent).classes("text-lg font-semibold break-words")
                name.props("role=heading aria-level=1")
                self._now = ui.label().classes("text-sm muted break-words").mark("now")
            with ui.column().classes("gap-1 shrink-0 companion-trust"):
                with ui.row().classes("w-full items-baseline justify-between no-wrap gap-2"):
                    ui.label(t("companion.trust")).classes("text-xs muted")
                    self._trust = ui.label().classes("text-sm font-semibold tabular-nums whitespace-nowrap")
                self._trust.mark("trust")
                self._meter = named(ui.element("div"), t("companion.trust"))
                self._meter.props("role=meter aria-valuemin=0 aria-valuemax=10").classes("flex w-full")
                with self._meter:
                    self._bar = bar(0, "var(--ring)")

    def sync(self) -> None:
        """Show what is true now."""
        pair, tie = self._pair, self._pair.tie
        feels = t(f"companion.emotion_{pair.emotion}")
        if pair.emotion != self._shown:
            self._shown = pair.emotion
            self._draw_face(pair.emotion)
            named(self._face, t("companion.face", who=self._agent, emotion=feels))
        doing = activity_at(pair.mind, pair.companion.world.now(), tie.person if tie is not None else "")
        self._now.set_text(joined([feels, doing_in_words(doing)]))
        self._trust.set_text(t("companion.of_ten", n=pair.trust))
        self._meter.props["aria-valuenow"] = pair.trust
        fill(self._bar, pair.trust / _MOST_TRUST)

    def _draw_face(self, emotion: Label) -> None:
        with anew(self._face.style(f"--c:{COLOURS[emotion]}")):
            ui.element("circle").props("cx=32 cy=32 r=30").classes("head")
            for shape in expressions()[emotion]:
                drawn = ui.element(shape.get("tag", "path")).classes(shape.get("class", ""))
                drawn.props.update({name: value for name, value in shape.items() if name not in ("tag", "class")})


class Talk(Transcript):
    """What both have said, and what is being said."""

    def __init__(self, pair: Pair) -> None:
        super().__init__(t("companion.log"))
        self._pair = pair
        self._agent, self._person = one_line(pair.companion.agent), one_line(pair.companion.person)
        self._told = len(pair.exchanges)
        self.end.classes("gap-1 surface p-3 the-end")
        with self.end:
            ui.label(t("companion.over")).classes("text-sm font-semibold").props("role=heading aria-level=2")
            self._kept = ui.label().classes("text-sm words")

    def sync(self) -> None:
        """Show what has been said since."""
        pair, said = self._pair, self._pair.exchanges
        begins = [n == 0 or one["talk"] != said[n - 1]["talk"] for n, one in enumerate(said)]
        items: list[Item] = [
            ((n, repr(one)), partial(self._exchange, one, begins=begins[n])) for n, one in enumerate(said)
        ]
        if pair.said:
            items.append((("said", pair.said), partial(self._asking, pair.said)))
        if pair.said and pair.problem:
            items.append(("failed", lambda: ui.label(t("companion.unanswered")).classes("text-xs muted mx-auto")))
        self.show(items)
        self.say(self._agent, self._being_said_row, clean(pair.words))
        doing = t("companion.ending" if pair.ending else "companion.thinking", agent=self._agent)
        empty = "" if items or pair.answering else t("companion.empty", agent=self._agent)
        self.do(doing if pair.answering and not pair.words else empty, busy=pair.answering)
        self.end.set_visibility(pair.over is not None)
        if pair.over is not None:
            self._kept.set_text(clean(pair.over.summary))
        self.announce(f"{self._agent}: {clean(one['utterance'])}" for one in said[self._told :] if one["utterance"])
        self._told = len(said)

    def _line(self, name: str, words: str) -> ui.element:
        mine = name == self._person
        with draw_turn(name, MODERATOR if mine else colour(name, [name]), mine=mine) as row:
            bubble(words)
        return row

    def _asking(self, words: str) -> ui.element:
        with ui.column().classes("w-full") as box:
            self._line(self._person, words)
        return box

    def _being_said_row(self) -> ui.label:
        with draw_turn(self._agent, colour(self._agent, [self._agent]), live=True):
            return bubble("")

    def _exchange(self, one: Exchange, *, begins: bool) -> ui.element:
        with ui.column().classes("w-full gap-4") as box:
            if begins:
                ui.label(moment(one["at"])).classes("text-xs muted mx-auto talk-begins")
            for event in one.get("events", []):
                ui.label(one_line(event)).classes("text-xs muted text-center mx-auto max-w-prose break-words")
            if one["said"]:
                self._line(self._person, one["said"])
            if one["utterance"]:
                with self._line(self._agent, one["utterance"]):
                    if one["emotion"] != "neutral":
                        chip(t(f"companion.emotion_{one['emotion']}"), COLOURS[one["emotion"]])
        return box


class Composer:
    """The field for words, for events, and the end of the talk."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        with composer_bar():
            self._problem = ui.label().classes("text-sm text-negative words w-full").props("role=alert")
            self._care = self._draw_care()
            with ui.row().classes("w-full items-end gap-2 no-wrap"):
                self._words, self._send = words_field(t("companion.words"), self._say, f"maxlength={LONGEST}")
                self._words.props["placeholder"] = t("companion.say_to", agent=one_line(pair.companion.agent))
            with ui.row().classes("w-full items-end gap-2 no-wrap") as self._event_row:
                self._event = ui.input(placeholder=t("companion.event_example"))
                self._event.props(f"maxlength={_LONGEST_EVENT}").classes("grow").mark("event")
                named(self._event, t("companion.event_what"))
                sent_with_enter(self._event, self._happen)
                self._happens = icon_button("bolt", t("companion.event_send"), self._happen).props("color=primary")
            with ui.row().classes("w-full items-center justify-between gap-2 no-wrap"):
                self._toggle = ui.button(t("companion.event"), icon="bolt", on_click=self._show_event)
                self._toggle.props("flat dense aria-expanded=false").classes("text-sm")
                self._end = ui.button(t("companion.end"), icon="waving_hand", on_click=pair.end)
                self._end.props("flat dense").classes("text-sm")
            ui.label(t("companion.notice")).classes("text-xs muted text-center w-full")
        self._event_row.set_visibility(False)

    def _draw_care(self) -> ui.row:
        """Where help is."""
        with ui.row().classes("w-full items-start gap-2 no-wrap your-turn px-3 py-2").mark("care") as row:
            ui.icon("support", size="20px").props("aria-hidden=true")
            with ui.column().classes("gap-1 grow min-w-0").props("role=status"):
                ui.label(t("companion.care")).classes("text-sm break-words")
                link = ui.link(_HELP.partition("://")[2], _HELP, new_tab=True).props("rel='noopener noreferrer'")
                link.classes("text-sm text-inherit underline self-start")
            icon_button("close", t("common.close"), self._pair.close_care)
        return row

    def sync(self) -> None:
        """Enable what can be done now."""
        pair = self._pair
        say_in(self._problem, pair.problem)
        self._care.set_visibility(pair.care)
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
