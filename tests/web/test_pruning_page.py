"""Pruning on the page: the slider, the card of what a prompt lacked, the insights, and what would go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nicegui import ui
from nicegui.testing import User
from pruned_lines import PIECES, pruned
from run_folders import HOSTILE, PEOPLE, mind, write_run
from web.conftest import begin
from web.first_screen import begun, fill, more_settings, one
from web.test_insights import look_at
from web.test_minds import show

from persimchat.app.web.context import WebContext
from persimchat.app.web.live_runs import scorer_missing
from persimchat.app.web.panel import pruning as would_go
from persimchat.app.web.setup import setting_field
from persimchat.runs.folder.reading import read_manifest
from persimchat.state.errors import MissingExtraError

pytestmark = pytest.mark.proof

EVA, BO, LI = PEOPLE
CHECKS = [
    {"scores": [8, 7, 9], "comment": "It forgets the hives.", "taken": False},
    {"scores": [2, 1, 2], "comment": "", "taken": True},
]


@pytest.fixture(autouse=True)
def without_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine of these tests has the extra or the model."""
    for place in (setting_field, would_go):
        monkeypatch.setattr(place, "scorer_missing", lambda: MissingExtraError("smollm2", "pruning"))


def written(out: Path, **more: Any) -> Path:
    """A run in which the prompt of Eva's utterance, the first, was pruned."""
    minds = [mind(turn, name) for turn in range(4) for name in PEOPLE if (turn, name) != (1, EVA)]
    return write_run(out, None, [*minds, mind(1, EVA, pruned=pruned(1, **more))])


async def look(user: User, web: WebContext, folder: Path, agent: str, turn: int, ready: str = "left-out") -> None:
    """Open a mind, and wait until it is read."""
    await show(user, web, folder, agent, turn)
    await user.should_see(marker=ready)


def is_shown(user: User, marker: str) -> bool:
    """Whether the element of a marker is visible."""
    (found,) = (element for element in user.client.elements.values() if marker in element._markers)
    return found.visible


def struck(user: User) -> list[str]:
    """The pieces that are struck through, in order."""
    found = [element for element in user.client.elements.values() if element.tag == "del"]
    return [label.text for element in found for label in element.descendants() if isinstance(label, ui.label)]


async def test_one_slider_and_what_it_costs(user: User, web: WebContext):
    await user.open("/")
    await more_settings(user)
    await user.should_see(marker="pruning-cost")
    assert one(user, "pruning-cost").text == "Nothing is left out. No further calls."
    assert not is_shown(user, "pruning-missing")
    fill(user, "setting-pruning", 0.6)
    await user.should_see("pip install 'persimchat[pruning]'")
    assert one(user, "pruning-cost").text == "No further calls, and no turn takes more steps."
    assert one(user, "pruning-method").value == "embedding"  # attention cannot score here
    assert "attention" not in one(user, "pruning-method").options
    fill(user, "pruning-query", "response")
    fill(user, "pruning-responses", 3)
    assert one(user, "pruning-cost").text.startswith("3 further calls for every message")
    fill(user, "pruning-responses", None)
    assert "responses" in one(user, "pruning-wrong").text
    fill(user, "pruning-responses", 2)
    assert not is_shown(user, "pruning-wrong")
    fill(user, "pruning-query", "prompt")
    fill(user, "pruning-remove", ["m", "b"])
    fill(user, "topic", "Tea?")
    fill(user, "setting-max_messages", "2")
    live = await begun(web, lambda: user.find(marker="start").click())
    await live.ended()
    held = read_manifest(web.runs.folder(live.run)).settings.model_dump()["pruning"]
    assert (held["lambda"], held["method"], held["remove"]) == (0.6, "embedding", ["b", "m"])
    assert live.board.left_out


async def test_where_attention_can_score_it_is_offered(user: User, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(setting_field, "scorer_missing", lambda: None)
    await user.open("/")
    await more_settings(user)
    await user.should_see(marker="pruning-cost")
    fill(user, "setting-pruning", 0.6)
    assert one(user, "pruning-method").value == "attention"
    assert not is_shown(user, "pruning-missing")
    assert "reads every prompt" in one(user, "pruning-cost").text


def test_what_is_missing_names_its_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PERSIMCHAT_MODELS", str(tmp_path))
    missing = scorer_missing()
    assert missing is not None
    assert "pip install" in missing.remedy or "persimchat models get smollm2" in missing.remedy


async def test_the_card_of_a_speaker(user: User, web: WebContext):
    await look(user, web, written(web.runs.out, checks=CHECKS), EVA, 1)
    assert one(user, "left-sentence").text == f"{EVA} spoke without these 2 of 5 pieces of information."
    await user.should_see("λ = 0.60, scored by similarity (embedding). 8 of 22 words are left out.")
    assert struck(user) == ["Description: A keeper of bees.", "Trait: patient"]
    for text in ("Memory 1: the hives in March", "It forgets the hives.", "8.0 on average (8, 7, 9).", "Memories"):
        await user.should_see(text)
    await user.should_see("This wording was said.")


async def test_who_only_listened_has_no_card(user: User, web: WebContext):
    await show(user, web, written(web.runs.out), BO, 1)
    await user.should_see("Questions to memory")
    await user.should_not_see(marker="left-out")


async def test_who_spoke_with_everything(user: User, web: WebContext):
    await look(user, web, write_run(web.runs.out), EVA, 1)
    await user.should_see(f"{EVA} spoke with everything: this conversation leaves nothing out.")
    await user.should_see(marker="would-ask")


async def test_markup_in_a_piece_is_text(user: User, web: WebContext):
    pieces = [(*PIECES[0][:3], f"- Name: {HOSTILE}", 3, 0.5), *PIECES[1:]]
    checks = [{"scores": [9], "comment": HOSTILE, "taken": True}]
    await look(user, web, written(web.runs.out, pieces=pieces, checks=checks), EVA, 1)
    assert "<img src=x onerror=alert(2)>" in struck(user)[0]
    await user.should_not_see(kind=ui.html)
    await user.should_not_see("\u202e")


async def test_the_insights_count_words(user: User, web: WebContext):
    await look_at(user, web, written(web.runs.out))
    assert one(user, "left-out-total").text == "8 of 22 words in 1 prompt"
    assert is_shown(user, "left-out-insights")
    for text in ("Who I am", "8 of 8", "0 of 10", "0 of 4"):
        await user.should_see(text)


async def test_without_pruning_the_insights_have_no_card_of_it(user: User, web: WebContext):
    await look_at(user, web, write_run(web.runs.out))
    assert not is_shown(user, "left-out-insights")


async def test_what_would_go_without_a_request(user: User, web: WebContext):
    live = await begin(web, messages=3)
    await live.ended()
    folder, speaker = web.runs.folder(live.run), live.board.utterances[1].speaker
    before = {path: path.read_bytes() for path in folder.glob("*.jsonl")}
    await look(user, web, folder, speaker, 2)
    user.find(marker="would-ask").click()
    await user.should_see(f"What would go: {speaker}, message 2")
    await user.should_see("pieces of information.")
    assert list(one(user, "would-method").options) == ["embedding", "length", "random"]
    some = struck(user)
    assert some
    fill(user, "would-strength", 1)
    await user.should_see("λ = 1.00")
    everything = struck(user)
    assert len(everything) > len(some)
    fill(user, "would-strength", 0)
    await user.should_see("nothing is left out")
    assert struck(user) == []
    fill(user, "would-method", "length")
    fill(user, "would-strength", 1)
    await user.should_see("scored by length")
    assert struck(user) == everything
    assert {path: path.read_bytes() for path in folder.glob("*.jsonl")} == before


async def test_what_cannot_be_made_again_says_why(user: User, web: WebContext):
    await look(user, web, write_run(web.runs.out), EVA, 1)
    user.find(marker="would-ask").click()
    await user.should_see(marker="would-status")
    await user.should_see("checkpoints")
