"""The participants on the first screen: their goals and relationships, who comes and goes, and hostile names."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from nicegui.testing import User
from web.first_screen import fill, one

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup import faces
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.personas.catalogue import shipped

pytestmark = pytest.mark.proof


async def test_a_participant_has_goals_and_relationships(user: User, web: WebContext):
    first, second = shipped()[0].name, shipped()[1].name
    await user.open("/")
    user.find(marker="seat-0").click()
    user.find(marker="settings-0").click()
    await user.should_see(marker="seat-goals")
    fill(user, "model-provider", "other")
    fill(user, "model-name", "nonsense")
    user.find("Done").click()
    assert "nonsense" in one(user, "model-name").error
    fill(user, "model-provider", "ollama")
    fill(user, "model-name", "qwen2.5:7b")
    fill(user, "seat-goals", "win\n\nbe liked")
    fill(user, f"tie-{second}", "parent_child.to")
    user.find("Done").click()
    await user.should_see("2 goals")
    await user.should_see("ollama:qwen2.5:7b")
    fill(user, "topic", "Tea?")
    user.find(marker="files").click()
    user.find(marker="files-save").click()
    await user.should_see(marker="save-name")
    user.find(marker="save-do").click()
    await user.should_see("Saved as tea.")
    draft = SavedSetups(web.library).load("tea")
    assert (draft.seats[0].model, draft.seats[0].goals) == ("ollama:qwen2.5:7b", ["win", "be liked"])
    (tie,) = draft.relationships
    assert (tie.from_, tie.to, tie.type) == (second, first, "parent_child")


async def test_participants_come_and_go(user: User, monkeypatch: pytest.MonkeyPatch):
    asked: list[list[str]] = []

    async def chosen(web: WebContext, taken: list[str]) -> list[Any]:
        asked.append(list(taken))
        return [shipped()[6], shipped()[0]]

    monkeypatch.setattr(faces, "choose_personas", chosen)  # a dialog of its own, with tests of its own
    await user.open("/")
    user.find(marker="add").click()
    await user.should_see(shipped()[6].name)
    assert asked == [[persona.name for persona in shipped()[:4]]]
    for persona in shipped()[:4]:
        user.find(marker="seat-0").click()
        user.find(marker="remove-0").click()
        await user.should_see(marker="seat-0")
        assert persona.name not in one(user, "seat-0").props["data-who"]
    user.find(marker="start").click()
    await user.should_see("Please correct: Topic, Participants")


async def test_choosing_nobody_draws_nothing(user: User, monkeypatch: pytest.MonkeyPatch):
    asked: list[WebContext] = []

    async def nobody(web: WebContext, _taken: list[str]) -> list[Any]:
        asked.append(web)
        return []

    monkeypatch.setattr(faces, "choose_personas", nobody)  # so it ends, too, when the page is closed
    await user.open("/")
    await user.should_see(marker="seat-0")
    before = one(user, "seat-0")
    user.find(marker="add").click()
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert (len(asked), one(user, "seat-0")) == (1, before)


async def test_hostile_names_are_text(user: User, web: WebContext):
    hostile = '<img src=x onerror=alert(1)>" onclick="alert(2)'
    text = f"topic: '{hostile}'\nparticipants:\n  - {{name: '{hostile}', description: a}}\n  - Ha\n"
    (web.library / "scenarios").mkdir(parents=True)
    (web.library / "scenarios/evil.yaml").write_text(text, encoding="utf-8")
    await user.open("/?setup=evil")
    await user.should_see(hostile)
    keys = [key for element in user.client.elements.values() for key in element.props]
    assert "onclick" not in keys
