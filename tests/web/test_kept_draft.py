"""The draft that a browser keeps: it comes back as it was, valid or not, without keys, and is limited in size."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nicegui.testing import User
from web.first_screen import choose, fill, more_settings, one, setting

from persimchat.app.web.setup.draft import Draft, Seat
from persimchat.app.web.setup.guide_draft import Asked, GuideDraft, Stand
from persimchat.app.web.setup.kept_draft import LARGEST, draft_text, read_draft
from persimchat.personas.catalogue import shipped
from persimchat.personas.scenario import load_story
from persimchat.state.persona import Persona
from persimchat.state.relationship import Relationship
from persimchat.state.settings import Settings


def whole() -> Draft:
    """A draft with something in every field, much of it not valid."""
    ada, bob = shipped()[0], Persona(name="Bob", human=True)
    guide = GuideDraft(
        "Nobody", "own", "Title", "Text", "", [Asked(), Asked("Why?", 3, show=True)], [Stand("Yes?", "choice", ["a"])]
    )
    return Draft(
        "",
        [Seat(ada, "openai:x", ["win"]), Seat(bob)],
        [Relationship(from_=ada.name, to="Bob", type="friend")],
        ["Be kind."],
        {"max_messages": "many", "mode": "debate", "weights": {"recency": 1000}},
        guide=guide,
        chosen_pace="one",
    )


@pytest.mark.parametrize("draft", [whole(), Draft(), Draft.of(load_story())], ids=["whole", "empty", "story"])
def test_it_comes_back_as_it_was(draft: Draft):
    assert read_draft(draft_text(draft)) == draft


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "m@http://user:hunter22@127.0.0.1:9/v1"},
        {"model": "openai:sk-hunter2200000000"},
        {"checkpoints": "postgresql://user:hunter22@host/db"},
        {"module_models": {"judge": "m@https://hunter22@host/v1"}},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_keys_are_not_kept(settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOME_API_KEY", "plain-words-here")
    text = draft_text(Draft("Tea?", [Seat(shipped()[0], "m@http://host/v1/plain-words-here")], settings=settings))
    assert "hunter22" not in text
    assert "plain-words-here" not in text


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "nothing", '{"settings": {}}', '{"settings": {}, "topic": 1, "seats": [1]}']
)
def test_what_is_damaged_is_refused(text: str):
    with pytest.raises(ValueError):
        read_draft(text)


def test_settings_that_are_none_any_more_are_left_out():
    kept = json.loads(draft_text(Draft(settings={"max_messages": 3})))
    kept["settings"]["shouting"] = 3
    assert read_draft(json.dumps(kept)).settings == {"max_messages": 3}


@pytest.mark.proof
async def test_the_page_shows_it_again(user: User):
    await user.open("/")
    await more_settings(user)
    fill(user, "topic", "Cats or dogs?")
    setting(user, "utterance_words", "33")
    await choose(user, "focus")
    fill(user, "guide-ask-0", "Who has a cat?")
    await user.open("/")
    assert one(user, "topic").value == "Cats or dogs?"
    assert one(user, "guide-ask-0").value == "Who has a cat?"
    await more_settings(user)
    assert one(user, "setting-utterance_words").value == "33"
    user.find(marker="files-reset").click()
    assert one(user, "topic").value == ""
    await user.open("/")
    assert one(user, "topic").value == ""
    await user.should_not_see(marker="guide-ask-0")


@pytest.mark.proof
async def test_what_is_too_large_is_not_kept_and_said(user: User):
    await user.open("/")
    await more_settings(user)
    await user.should_not_see(marker="too-large")
    fill(user, "rules", "\n".join(["A rule of some length."] * (LARGEST // 20)))
    await user.should_see(marker="too-large")
    await user.open("/")
    await more_settings(user)
    assert one(user, "rules").value == ""


def test_a_draft_of_before_there_was_a_pace():
    kept = json.loads(draft_text(Draft(chosen_pace=5)))
    del kept["pace"]
    assert read_draft(json.dumps(kept)).chosen_pace is None
    with pytest.raises(ValueError):
        read_draft(json.dumps({**kept, "pace": "fast"}))


@pytest.mark.proof
async def test_open_groups_stay_open_until_one_starts_over(user: User):
    await user.open("/")
    await more_settings(user)
    one(user, "part-minds").set_value(True)
    await user.open("/")
    await user.should_see(marker="part-minds")
    assert [one(user, f"part-{part}").value for part in ("talk", "minds", "models")] == [False, True, False]
    user.find(marker="files-reset").click()
    await user.should_not_see(marker="part-minds")
    await user.open("/")
    await user.should_not_see(marker="part-minds")


def test_a_fresh_draft_is_small():
    assert len(draft_text(Draft.fresh(Settings()))) < LARGEST / 10
