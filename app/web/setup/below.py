"""Below the set-up: a finished sample that plays quietly, and the latest runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from nicegui import ui

from persimchat.app.web.context import WebContext
from persimchat.app.web.looks import colour
from persimchat.app.web.setup.starting import Starter
from persimchat.app.web.shared.navigation import page_of
from persimchat.app.web.shared.stories import closed_runs
from persimchat.app.web.widgets import avatar, named, title
from persimchat.app.web.words import t
from persimchat.models.naming import OFFLINE
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.listing import ListedRun
from persimchat.state.errors import PerSimChatError
from persimchat.state.plain_text import one_line
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

RECENT: Final = 5
"""How many of the latest runs are shown."""
_FACES: Final = 4
_LINE_S: Final = 2.5
"""Seconds from one line of the sample to the next."""
_MESSAGES: Final = 12


@cache
def sample() -> dict[str, Any]:
    """The sample: topic, participants, lines."""
    text = files("persimchat.app.web.setup").joinpath("sample.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def sample_part(web: WebContext) -> None:
    """Draw the sample, with a button that holds a conversation like it."""
    shown = sample()
    with ui.column().classes("surface w-full gap-3 p-4") as box:
        named(box, t("setup.sample"))
        with ui.row().classes("w-full items-center justify-between gap-2"):
            with ui.column().classes("gap-0 min-w-0"):
                title(t("setup.sample"))
                ui.label(shown["topic"]).classes("text-sm font-semibold").props("lang=en")
            button = ui.button(t("setup.demo"), icon="play_circle").props("outline no-caps padding='4px 12px'")
            button.mark("demo").on_click(Starter(web, button, _demo).start)
        with ui.element("ol").classes("plain sample").props("lang=en"):
            for number, line in enumerate(shown["lines"]):
                with ui.element("li").classes("sample-line").style(f"animation-delay:{number * _LINE_S:g}s"):
                    avatar(line["speaker"], colour(line["speaker"], shown["participants"]), "28px")
                    with ui.column().classes("gap-0 min-w-0"):
                        with ui.row().classes("gap-x-2 gap-y-0 items-baseline"):
                            ui.label(line["speaker"]).classes("text-xs font-semibold")
                            told = t("setup.sample_line", to=line["to"], need=line["need"])
                            ui.label(told).classes("text-xs muted")
                        ui.label(line["text"]).classes("text-sm")
        ui.label(t("setup.sample_about")).classes("text-xs muted")


@dataclass(frozen=True)
class Latest:
    """The latest runs, and the folders of those whose course is told to nobody yet."""

    runs: list[ListedRun]
    closed: frozenset[str]


async def latest_runs(web: WebContext) -> Latest:
    """The latest runs; none if their folder cannot be read, about which the page of the runs tells."""
    try:
        runs: list[ListedRun] = (await web.runs.runs()).runs[:RECENT]
        return Latest(runs, await asyncio.to_thread(closed_runs, runs))
    except PerSimChatError:
        return Latest([], frozenset())


def recent_part(latest: Latest) -> None:
    """Draw the latest runs; nothing if there are none."""
    if not latest.runs:
        return
    with ui.column().classes("w-full gap-2"):
        with ui.row().classes("w-full items-center justify-between"):
            title(t("setup.recent"))
            ui.link(t("setup.recent_all"), "/runs").classes("text-sm no-underline text-primary")
        with ui.column().classes("surface w-full gap-0 py-1").props("role=list"):
            for listed in latest.runs:
                _recent(listed, secret=listed.folder in latest.closed)


def _recent(listed: ListedRun, *, secret: bool) -> None:
    topic = one_line(listed.topic)
    link = ui.link(target=page_of(listed.folder.rpartition("/")[2])).classes("recent no-underline text-inherit")
    with ui.element("div").classes("w-full").props("role=listitem") as item:
        link.move(item)
    with link:
        with ui.row().classes("faces no-wrap shrink-0 gap-0"):
            for name in listed.participants[:_FACES]:
                avatar(name, colour(name, listed.participants), "26px")
        ui.label(topic).classes("text-sm grow min-w-0 line-clamp-1 [overflow-wrap:anywhere]")
        told = _moment(listed.started)
        if listed.active:
            told = t("setup.recent_running")
        elif not secret:
            told = t("setup.recent_about", n=listed.utterances, when=told)
        ui.label(told).classes("text-xs muted whitespace-nowrap")


def _moment(started: str) -> str:
    """The day of a run, in the server's time zone; text that is not a time stays as it is."""
    try:
        return t("setup.recent_day", d=datetime.fromisoformat(started).astimezone())
    except (ValueError, OverflowError):
        return started


def _demo() -> tuple[Scenario, Settings]:
    scenario = make_scenario(t("setup.example_cars_topic"), default_participants())
    return scenario, Settings(model=OFFLINE, max_messages=_MESSAGES)
