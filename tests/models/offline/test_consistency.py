"""The offline model's answer to whether words contradict what was left out of their prompt."""

from __future__ import annotations

import json
from typing import Any

from persimchat.models.offline import OfflineChatModel
from persimchat.prompts import render
from persimchat.prompts.blocks import Block, Item, wording
from persimchat.state.judgement import Inconsistency

SCENE = Block("scene", (Item("topic", {"text": "Is tea better than coffee?"}),))
WORDS = "I prefer coffee on rainy mornings."


def checked(words: str, *items: Item, seed: int = 0) -> Inconsistency:
    given: Any = {"left_out": [Block("plan_and_identity", items)] if items else [], "scene": SCENE, "name": "Eva"}
    asked = render("inconsistency", **given, wording=wording("Eva Malá", words, ["Bo"]))
    return Inconsistency.model_validate(json.loads(str(OfflineChatModel(seed=seed).invoke(asked).content)))


def test_words_for_another_position_contradict_an_identity_or_a_goal() -> None:
    for item in (Item("identity", {"text": "I stand for tea."}), Item("goal", {"text": "win the others for tea"})):
        answer = checked(WORDS, item)
        assert answer.score >= 7
        assert answer.comment == "Eva Malá speaks for coffee, but is for tea."


def test_all_else_contradicts_nothing() -> None:
    tea = Item("identity", {"text": "I stand for tea."})
    heard = {
        "number": 1,
        "kind": "perception",
        "turn": 1,
        "importance": 3,
        "theme": "Bo spoke for tea.",
        "keywords": (),
    }
    others = [Item("trait", {"text": "hates coffee"}), Item("memory", heard)]
    for words, *items in (("I prefer tea.", tea), ("It rains.", tea), (WORDS,), (WORDS, *others)):
        assert checked(words, *items).score <= 3


def test_its_seed_alone_tells_one_check_from_another() -> None:
    scores = [checked("It rains.", seed=seed).score for seed in range(20)]
    assert set(scores) == {1, 2, 3}
    assert scores == [checked("It rains.", seed=seed).score for seed in range(20)]
