"""What tests of the first screen share: its fields by their marks, and the start of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from nicegui.testing import User
from web.conftest import until

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import LiveRun


def one(user: User, marker: str) -> Any:
    """The element of a mark."""
    (element,) = user.find(marker=marker).elements
    return element


def fill(user: User, marker: str, value: Any) -> None:
    """Write into a field."""
    with user:
        one(user, marker).set_value(value)


def setting(user: User, name: str, value: Any) -> None:
    """Fill in a setting."""
    fill(user, f"setting-{name}", value)


def fields(user: User) -> set[str]:
    """The settings that have a field, folded ones included."""
    marks = (mark for element in user.client.elements.values() for mark in element._markers)
    return {mark.removeprefix("setting-") for mark in marks if mark.startswith("setting-")}


async def more_settings(user: User) -> None:
    """Open all settings, unless they are open."""
    if one(user, "more-settings").props["aria-expanded"] == "false":
        user.find(marker="more-settings").click()
    await user.should_see(marker="part-talk")


async def choose(user: User, kind: str) -> None:
    """Choose a kind of conversation."""
    user.find(marker=f"kind-{kind}").click()
    await until(lambda: one(user, f"kind-{kind}").props["aria-checked"] == "true")


async def begun(web: WebContext, press: Callable[[], object]) -> LiveRun:
    """Do what starts a run, and wait for it."""
    runs: asyncio.Queue[LiveRun] = asyncio.Queue()
    start = web.runs.start

    async def told(*given: Any) -> LiveRun:
        live = await start(*given)
        runs.put_nowait(live)
        return live

    web.runs.start = told
    press()
    return await asyncio.wait_for(runs.get(), 60)


async def started(user: User, web: WebContext) -> str:
    """Press the button, and wait for the run's end."""
    live = await begun(web, lambda: user.find(marker="start").click())
    await live.ended()
    return live.run
