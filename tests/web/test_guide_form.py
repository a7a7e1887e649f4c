"""The form for the guide of a focus group: what is in it is in the run, and what is wrong is said."""

from __future__ import annotations

import pytest
from nicegui.testing import User
from web.conftest import until
from web.first_screen import begun, choose, fill, one

from persimchat.app.web.context import WebContext
from persimchat.app.web.setup.checking import problems
from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.guide_draft import Asked, GuideDraft, Stand, moderator
from persimchat.app.web.setup.scenario_files import scenario_text, uploaded
from persimchat.personas.catalogue import shipped
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.guide import Guide
from persimchat.state.persona import Persona

GUIDE = {
    "moderator": "Mira Solheim",
    "wording": "own",
    "stimulus": {"title": "The app", "text": "Borrow a drill for a day."},
    "questions": [{"ask": "When did you last borrow something?", "turns": 4, "show": True}, {"ask": "Why not?"}],
    "positions": [{"ask": "Would you use it?", "answer": "scale:1-5"}],
}


def draft_with(guide: GuideDraft, *more: Persona) -> Draft:
    return Draft("Tools", [Seat(one) for one in (moderator(), *shipped()[:2], *more)], guide=guide)


def test_a_guide_comes_back_from_file_and_scenario():
    guide = GuideDraft.of(Guide.model_validate(GUIDE))
    assert guide.data() == GUIDE
    draft = draft_with(guide)
    assert problems(draft) == {}
    assert uploaded("x.yaml", scenario_text(draft).encode()).guide == guide
    assert Draft.of(draft.scenario()).guide == guide


def test_what_is_left_empty_is_left_out():
    guide = GuideDraft("Mira Solheim", questions=[Asked("Why?"), Asked("  ")], positions=[Stand(" ")], title=" ")
    assert guide.data() == {"moderator": "Mira Solheim", "questions": [{"ask": "Why?"}]}


@pytest.mark.parametrize(
    ("guide", "says"),
    [
        (GuideDraft("Somebody", questions=[Asked("Why?")]), "Nobody asks the questions."),
        (GuideDraft("Mira Solheim", questions=[Asked(" ")]), "The guide has no question."),
        (GuideDraft("Mira Solheim", questions=[Asked("Why?", show=True)]), "there is none"),
        (GuideDraft("Mira Solheim", questions=[Asked("Why?")], positions=[Stand("a", "choice", ["b"])]), "two or more"),
    ],
)
def test_what_is_wrong_is_said(guide: GuideDraft, says: str):
    assert says in problems(draft_with(guide))["guide"]


def test_a_renamed_moderator_goes_on_asking():
    draft = draft_with(GuideDraft("Mira Solheim", questions=[Asked("Why?")]))
    draft.replace(draft.seats[0], moderator().model_copy(update={"name": "Ida"}))
    assert problems(draft) == {}
    draft.remove(draft.seats[2])
    assert "two others" in problems(draft)["guide"]


@pytest.mark.proof
async def test_a_focus_group_is_set_up_and_started(user: User, web: WebContext):
    await user.open("/")
    fill(user, "topic", "An app to borrow tools")
    await choose(user, "focus")
    assert one(user, "guide-moderator").value == "Mira Solheim"
    assert "asks" in one(user, "seat-0").props["data-who"]
    assert one(user, "setting-max_messages").value == "30"  # all that it can take, so that no question is cut off
    fill(user, "guide-ask-0", "When did you last borrow a tool?")
    fill(user, "guide-turns-0", 2)
    user.find(marker="guide-add").click()
    fill(user, "guide-ask-3", "Anything else?")
    assert one(user, "setting-max_messages").value == "34"  # it follows the guide
    assert "at most 34 messages" in one(user, "echo").text
    user.find(marker="guide-add-position").click()
    fill(user, "guide-position-0", "Would you use it?")
    live = await begun(web, lambda: user.find(marker="start").click())
    guide = read_manifest(web.runs.folder(live.run)).scenario.model_extra["guide"]
    assert [question["ask"] for question in guide["questions"]][::3] == [
        "When did you last borrow a tool?",
        "Anything else?",
    ]
    assert guide["questions"][0]["turns"] == 2
    assert guide["positions"][0]["answer"] == "scale:1-5"


@pytest.mark.proof
async def test_a_limit_of_the_users_own_stays(user: User):
    await user.open("/")
    await choose(user, "focus")
    fill(user, "setting-max_messages", "12")
    user.find(marker="guide-add").click()
    fill(user, "guide-ask-3", "Anything else?")
    assert one(user, "setting-max_messages").value == "12"


@pytest.mark.proof
async def test_a_field_stays_when_the_stimulus_is_new(user: User):
    await user.open("/")
    await choose(user, "focus")
    image = one(user, "guide-image")
    fill(user, "guide-text", "Borrow a drill.")
    user.find(marker="guide-text").trigger("blur")
    await user.should_see("show")
    assert one(user, "guide-image") is image  # whoever types there goes on


@pytest.mark.proof
async def test_the_moderator_leaves_with_the_guide(user: User):
    await user.open("/")
    await choose(user, "focus")
    await user.should_see(marker="seat-4")
    fill(user, "guide-moderator", shipped()[0].name)
    await choose(user, "debate")
    await user.should_not_see(marker="seat-4")
    await user.should_not_see(marker="guide-moderator")
    assert one(user, "setting-max_messages").value == "60"


@pytest.mark.proof
async def test_me(user: User):
    await user.open("/")
    user.find(marker="me").click()
    await user.should_see(marker="me-name")
    fill(user, "me-name", shipped()[0].name)
    user.find(marker="me-do").click()
    assert "already takes part" in one(user, "me-name").error
    fill(user, "me-name", "Petr")
    user.find(marker="me-do").click()
    await user.should_see(marker="seat-4")
    assert one(user, "seat-4").props["data-who"] == "Petr, a person"
    assert "5 participants" in one(user, "echo").text
    await until(lambda: " to " in one(user, "estimate").text)  # a range, as nobody knows what a person does
    await choose(user, "focus")
    assert one(user, "guide-moderator").value == "Petr"  # a person among them asks
