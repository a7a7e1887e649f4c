"""The summary of a focus group on the page: it opens at the end, and asks for positions and themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from group_runs import GUIDE, write_group
from loopback.server import LoopbackServer
from nicegui.testing import User
from run_folders import HOSTILE, PEOPLE, write_run

from persimchat.app.web.context import WebContext

pytestmark = pytest.mark.proof
Serve = Callable[..., LoopbackServer]


async def test_a_summary_is_there_and_a_model_finds_themes(user: User, web: WebContext, serving: Serve) -> None:
    quote = {"line": 6, "words": "The deposit"}
    server = serving(lambda _: {"themes": [{"name": "Deposits", "about": "They deter.", "quotes": [quote]}]})
    run = write_group(web.runs.out, {**GUIDE, "positions": []}).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("What would keep you from the app?")
    await user.should_see("Not put: What would you change first?")
    await user.should_see(f"3 answers · said nothing: {PEOPLE[2]}")
    user.find(marker="themes-by").clear().type(server.model()).trigger("blur")
    await user.should_see(f"3 calls to {server.model()}.")
    user.find(marker="ask").click()
    await user.should_see("Deposits – They deter.")


async def test_hostile_words_are_words(user: User, web: WebContext) -> None:
    guide = {**GUIDE, "questions": [{"ask": HOSTILE}] * 3, "positions": [{"ask": HOSTILE}]}
    run = write_group(web.runs.out, guide).name
    await user.open(f"/run/{run}")
    await user.should_see(marker="group-summary")
    user.find(marker="group-summary").click()
    await user.should_see("{{ 123*321 }}")


async def test_a_run_without_a_guide_offers_none(user: User, web: WebContext) -> None:
    await user.open(f"/run/{write_run(web.runs.out).name}")
    await user.should_see("The conversation is over.")
    await user.should_not_see(marker="group-summary")
