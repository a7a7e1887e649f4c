"""The page of the companion: a talk with an agent of the open world, or the way to one."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import app, ui

from persimchat.app.web.companion.beside import Course, Day
from persimchat.app.web.companion.head import Head
from persimchat.app.web.companion.remembered import Remembered
from persimchat.app.web.companion.talk import Composer, Talk
from persimchat.app.web.companion.worlds import closed_page
from persimchat.app.web.context import WebContext
from persimchat.app.web.frame import Frame, disclaimer
from persimchat.app.web.looks import colour
from persimchat.app.web.pairs import Pair
from persimchat.app.web.widgets import FIELD, avatar, card, icon_button, named
from persimchat.app.web.words import t
from persimchat.runs.companion.world import World
from persimchat.state.companion import LONGEST_PERSON, person_name
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import clean, one_line

_POLL_S = 0.15
_REFRESH_S = 5.0
"""How often an open page reads what the world's clock or another client has changed."""
_KEPT = "companion-person"
"""Under this key a browser keeps the name that its user gave last."""


async def companion_page(web: WebContext, agent: str, person: str) -> None:
    """Draw the page.

    Args:
        web: the context of the pages.
        agent: the agent's name; empty to choose.
        person: the person's name; empty to ask.
    """
    if web.world is None:
        await closed_page()
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


def address_of(agent: str, person: str) -> str:
    """The page of a talk."""
    return "/companion?" + urlencode({"agent": agent, "person": person})


def _choose(world: World, agent: str, problem: str = "") -> None:
    """The page on which the person gives a name and chooses an agent."""
    Frame(t("common.companion"))
    ui.query(".nicegui-content").classes("p-0")
    with ui.column().classes("w-full max-w-[760px] mx-auto p-4 gap-4"):
        ui.label(t("common.companion")).classes("text-2xl font-bold").props("role=heading aria-level=1")
        ui.label(t("companion.about", world=one_line(world.place.world))).classes("muted")
        name = ui.input(t("companion.your_name"), value=str(app.storage.user.get(_KEPT, "")))
        name.props(f"{FIELD} maxlength={LONGEST_PERSON} autocomplete=off").classes("w-full max-w-sm").mark("person")
        if problem:
            ui.label(problem).classes("text-sm text-negative words").props("role=alert")
        ui.label(t("companion.name_why")).classes("text-xs muted")

        def talk(to: str) -> None:
            try:
                person = person_name(str(name.value or ""))
            except PerSimChatError as error:
                name.error = error.sentence
                return
            ui.navigate.to(address_of(to, person))

        agents = [one.persona for one in world.place.agents]
        order = [one.name for one in agents]
        with ui.column().classes("w-full gap-3").props("role=list"):
            for one in agents:
                with card() as box:
                    box.props("role=listitem").classes("px-4")
                    with ui.row().classes("w-full items-center gap-3 no-wrap"):
                        avatar(one.name, colour(one.name, order))
                        ui.label(one_line(one.name)).classes("font-semibold grow min-w-0 break-words")
                        button = ui.button(t("companion.talk"), icon="chat", on_click=lambda who=one.name: talk(who))
                        button.props("unelevated no-caps" if one.name == agent or not agent else "outline no-caps")
                        named(button, t("companion.talk_with", agent=one_line(one.name)))
                    ui.label(clean(one.description)).classes("text-sm muted persona-text")
        disclaimer()


def _talk_page(web: WebContext, world: World, pair: Pair) -> None:
    """The talk, and beside it what the agent knows; on a phone one of the two."""
    frame = Frame(one_line(pair.companion.agent))
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
        if pair.revision != seen:
            seen = pair.revision
            if pair.gone:
                timer.cancel()
                box.clear()
                with box:
                    _gone(one_line(pair.companion.agent))
                return
            for draw in parts:
                draw()

    with frame.actions:
        icon_button("switch_account", t("companion.other"), lambda: ui.navigate.to("/companion"))
    timer = ui.timer(_POLL_S, sync)
    ui.timer(_REFRESH_S, pair.refresh)
    sync()


def _gone(agent: str) -> None:
    """What a page shows once the agent has forgotten the person."""
    with ui.column().classes("m-auto items-center gap-3 p-6 text-center"):
        ui.icon("delete_forever", size="64px", color="primary").props("aria-hidden=true")
        words = t("companion.forgotten", agent=agent)
        ui.label(words).classes("text-xl font-semibold").props("role=heading aria-level=1")
        ui.button(t("companion.other"), on_click=lambda: ui.navigate.to("/companion")).props("unelevated no-caps")


def _phone_bar() -> None:
    """The bar that chooses what a phone shows."""
    with ui.element("nav").classes("nav bar w-full justify-around") as nav:
        named(nav, t("common.views"))
        for key, icon, name in (("talk", "chat", "companion.talk"), ("mind", "psychology", "companion.beside")):
            show = (
                "() => { const d = document.querySelector('.duo'); "
                f"d.className = d.className.replace(/shows-\\w+/, 'shows-{key}') }}"
            )
            button = ui.button(t(name), icon=icon, color=None).props("flat stack no-caps").classes("nav-view")
            button.on("click", js_handler=show)
