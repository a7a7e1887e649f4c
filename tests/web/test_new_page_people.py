"""The participants on the first screen: their goals and relationships, who comes and goes, and hostile names."""

from __future__ import annotations

import asyncio

import pytest
from nicegui.testing import User
from web.first_screen import fill, one

from persimchat.app.web.context import WebContext
from persimchat.app.web.personas import generating
from persimchat.app.web.personas.chooser import Chosen
from persimchat.app.web.personas.library import Library
from persimchat.app.web.setup import faces
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.personas.catalogue import shipped
from persimchat.state.persona import Persona

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

    async def chosen(web: WebContext, taken: list[str]) -> Chosen:
        asked.append(list(taken))
        return Chosen([shipped()[6], shipped()[0]])

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

    async def nobody(web: WebContext, _taken: list[str]) -> Chosen:
        asked.append(web)
        return Chosen()

    monkeypatch.setattr(faces, "choose_personas", nobody)  # so it ends, too, when the page is closed
    await user.open("/")
    await user.should_see(marker="seat-0")
    before = one(user, "seat-0")
    user.find(marker="add").click()
    for _ in range(20):
        await asyncio.sleep(0.01)
    assert (len(asked), one(user, "seat-0")) == (1, before)


GROUP = [Persona(name=name, description="A commuter.") for name in ("Eva Malá", "Ivo Šír", "Ota Bor")]
USUAL = [persona.name for persona in shipped()[:4]]


def names(user: User) -> list[str]:
    """Who takes part."""
    marks = sorted(
        mark for element in user.client.elements.values() for mark in element._markers if mark.startswith("seat-")
    )
    return [str(one(user, mark).props["data-who"]).split(",")[0] for mark in marks]


class Made:
    """The dialog that generates a group, which is made at once."""

    number = 3

    def __init__(self, _library: Library) -> None:
        self.kept = GROUP[: self.number]

    async def run(self) -> int:
        return len(self.kept)


async def test_a_generated_group_takes_the_place_of_those_whom_nobody_touched(
    user: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(generating, "GenerateDialog", Made)
    group = [persona.name for persona in GROUP]
    await user.open("/")
    assert names(user) == USUAL
    user.find(marker="generate").click()
    await user.should_see(f"They take the place of {', '.join(USUAL)}.")
    assert names(user) == group
    user.find(marker="keep-too").click()
    await user.should_not_see(marker="keep-too")
    assert names(user) == [*group, *USUAL]
    user.find(marker="files-reset").click()
    user.find(marker="seat-0").click()
    user.find(marker="remove-0").click()
    user.find(marker="generate").click()
    await user.should_see("Ota Bor")
    await user.should_not_see(marker="keep-too")
    assert names(user) == [*USUAL[1:], *group]


async def test_people_of_files_take_their_place_too_and_one_alone_does_not(user: User, monkeypatch: pytest.MonkeyPatch):
    async def chosen(_web: WebContext, _taken: list[str]) -> Chosen:
        return Chosen(GROUP, of_files=True)

    monkeypatch.setattr(faces, "choose_personas", chosen)
    monkeypatch.setattr(generating, "GenerateDialog", Made)
    monkeypatch.setattr(Made, "number", 1)
    await user.open("/")
    user.find(marker="generate").click()
    await user.should_see("Eva Malá")
    assert names(user) == [*USUAL, "Eva Malá"]
    user.find(marker="files-reset").click()
    user.find(marker="add").click()
    await user.should_see(marker="keep-too")
    assert names(user) == [persona.name for persona in GROUP]
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="keep-too")
    assert names(user) == USUAL


async def test_hostile_names_are_text(user: User, web: WebContext):
    hostile = '<img src=x onerror=alert(1)>" onclick="alert(2)'
    text = f"topic: '{hostile}'\nparticipants:\n  - {{name: '{hostile}', description: a}}\n  - Ha\n"
    (web.library / "scenarios").mkdir(parents=True)
    (web.library / "scenarios/evil.yaml").write_text(text, encoding="utf-8")
    await user.open("/?setup=evil")
    await user.should_see(hostile)
    keys = [key for element in user.client.elements.values() for key in element.props]
    assert "onclick" not in keys
