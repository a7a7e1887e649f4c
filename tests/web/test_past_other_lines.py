"""The alternatives of a line, under it on the page of a run."""

from __future__ import annotations

import asyncio

import pytest
from nicegui import ui
from nicegui.testing import User
from web.conftest import begin
from web.past_pages import named

from persimchat.app.web.context import WebContext
from persimchat.app.web.shared.navigation import page_of

pytestmark = pytest.mark.proof

"""Tries of a tenth of a second: a busy machine is slow, and a fault is one after a minute, too."""
WORDS = 'Neither: <img src=x onerror="window.__x=1"> water.'


async def test_they_lead_to_the_run_that_said_them(user: User, web: WebContext):
    origin = await begin(web, messages=4)
    await origin.ended()
    speaker = origin.board.utterances[1].speaker
    branch = await web.runs.branch(origin.run, 1, say=(speaker, WORDS))
    await user.open(page_of(branch.run))  # before its own line is said
    await branch.ended()
    await user.should_see("2 of 2 wordings")
    first = named(user, f"Alternative 1 of 2: {speaker}: {origin.board.utterances[1].text[:60]}", begins=True)
    assert first.props["href"] == page_of(origin.run, 2)
    assert not [one for one in user.find(kind=ui.label).elements if one.text.endswith("of 1 wordings")]
    await user.open(page_of(origin.run))
    await user.should_see("1 of 2 wordings")
    other = named(user, f"Alternative 2 of 2: {speaker}: {WORDS}")
    assert other.props["href"] == page_of(branch.run, 2)
    assert not named(user, "No more alternatives").enabled


async def test_they_come_to_an_open_page(user: User, web: WebContext):
    origin = await begin(web, messages=4)
    await origin.ended()
    transcript = web.runs.out / origin.run / "transcript.jsonl"
    said = transcript.read_bytes()
    await user.open(page_of(origin.run))
    await user.should_see(origin.board.utterances[3].text)
    transcript.unlink()  # as if it could not be read just now
    branch = await web.runs.branch(origin.run, 1, say=(origin.board.utterances[1].speaker, WORDS))
    await branch.ended()
    transcript.write_bytes(said)
    await user.should_see("1 of 2 wordings")


async def test_a_run_without_relatives_has_none(user: User, web: WebContext):
    live = await begin(web, messages=2)
    await live.ended()
    other = await begin(web, messages=2, topic="Cats or dogs?")
    await other.ended()
    await user.open(page_of(live.run))
    await user.should_see(live.board.utterances[1].text)
    await asyncio.sleep(0.3)
    assert not [one for one in user.find(kind=ui.element).elements if "other-lines" in one.classes]
