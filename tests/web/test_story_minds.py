"""How the minds of a story think, in the set-up: only what its stages and its people allow is offered."""

from __future__ import annotations

from pathlib import Path

import pytest
from nicegui import ui
from nicegui.testing import User
from web.first_screen import choose, more_settings

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.draft import Draft
from persimchat.app.web.setup.form import offered, problems, specs
from persimchat.app.web.setup.scenario_files import SavedSetups
from persimchat.nodes.assembling import unfit_minds
from persimchat.personas.scenario import load_scenario
from persimchat.state.kinds import is_open
from persimchat.state.settings import Settings

WORKSHOP = Path(__file__).parents[2] / "examples" / "stories" / "workshop.yaml"
ALL = ["full", "compact", "lean", "strategist"]
OF_CONVERSATIONS = [*ALL[:3], "fixed"]


def workshop() -> Draft:
    return Draft.of(load_scenario(WORKSHOP))


def played() -> Draft:
    draft = Draft.small_story(Settings())
    draft.seats[0].persona = draft.seats[0].persona.model_copy(update={"human": True})
    return draft


def without_planning() -> Draft:
    draft = Draft.small_story(Settings())
    assert draft.story is not None
    draft.story = draft.story.model_copy(update={"ablation": ["planning"]})
    return draft


@pytest.mark.parametrize(
    ("draft", "kinds"),
    [
        (Draft.fresh(Settings()), [*ALL[:3], "fixed"]),
        (Draft.small_story(Settings()), ALL),
        (workshop(), ALL[:3]),
        (played(), ["strategist"]),
        (without_planning(), ["strategist"]),
    ],
    ids=["no story", "a story", "breakouts", "played", "ablated"],
)
def test_what_is_refused_is_not_offered(draft: Draft, kinds: list[str]) -> None:
    assert offered(draft, specs()["cognition"]) == kinds
    assert is_open("cognition", {"mode": "story"}) and not is_open("listeners", {"mode": "story"})
    if draft.story is None:
        return
    for kind in ALL:
        people = [seat.persona for seat in draft.seats]
        settings = Settings.model_validate({"mode": "story", "cognition": kind})
        assert (not list(unfit_minds(draft.story, people, settings))) is (kind in kinds)


def test_a_kind_that_does_not_go_with_the_story_is_marked() -> None:
    draft = played()
    assert problems(draft) == {}
    draft.settings["cognition"] = "lean"
    assert list(problems(draft)) == ["cognition"]
    draft = workshop()
    assert problems(draft) == {}
    del draft.settings["cognition"]
    assert "Plenary and rooms go by need to talk" in problems(draft)["cognition"]


@pytest.mark.proof
async def test_the_form_offers_them(user: User, web: WebContext) -> None:
    await user.open("/")
    await more_settings(user)
    (field,) = user.find(marker="setting-cognition").elements
    assert isinstance(field, ui.select)
    assert list(field.options) == OF_CONVERSATIONS
    user.find(marker="kind-story").click()
    await user.should_see("Main characters: 3, others: 1. A round has 3 stages. At the end there is a vote.")
    assert (list(field.options), field.value) == (ALL, "strategist")
    field.set_value("compact")
    user.find(marker="seat-0").click()
    user.find(marker="settings-0").click()
    await user.should_see(marker="seat-goals")
    await user.should_not_see("A person takes this part")
    user.find("Cancel").click()
    field.set_value("strategist")
    user.find(marker="seat-0").click()
    user.find(marker="settings-0").click()
    await user.should_see("A person takes this part")
    user.find("Cancel").click()
    await choose(user, "discussion")
    await user.should_see(marker="setting-pattern")
    assert (list(field.options), field.value) == (OF_CONVERSATIONS, "full")


@pytest.mark.proof
async def test_the_form_of_a_workshop(user: User, web: WebContext) -> None:
    SavedSetups(web.library).save("workshop", workshop())
    await user.open("/?setup=workshop")
    await user.should_see("6 participants. A round has 3 stages. There is no vote.")
    await more_settings(user)
    (field,) = user.find(marker="setting-cognition").elements
    assert isinstance(field, ui.select)
    assert (list(field.options), field.value) == (ALL[:3], "full")
    await user.should_not_see("Main characters: 0")
