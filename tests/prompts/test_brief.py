"""What lean minds read: feelings in words, memories without weight and keywords, the end without a count."""

from __future__ import annotations

from os.path import commonprefix
from typing import Any

import pytest
from offline_prompts import CALM, blocks_of, situation, utterance

from persimchat.nodes.minds.appraising import prompt_values
from persimchat.prompts import render
from persimchat.prompts.blocks import Block, Item, basic_information, brief
from persimchat.prompts.rendering import worded_item
from persimchat.state.minds.emotion import EMOTIONS
from persimchat.state.minds.memory import new_memory
from persimchat.state.persona import Persona

FELT = CALM | {"anger": 9, "fear": 4, "sadness": 3}
ADA = Persona(name="Ada Lind", description="A baker.")
PARTS = ("perception", "emotion", "need_to_talk", "planning")


def reaction(mind: dict[str, Any], *, closing: bool, counted: bool = False) -> str:
    """The prompt for a lean mind's reaction to Bo's words."""
    mind = {"name": ADA.name, "need_to_talk": 5, "emotion": FELT, **mind}
    said = utterance("Bo Říha", "Tea, then!", anger=8)
    where = situation([ADA.name, "Bo Říha"], "Tea?", [said], closing=closing)
    remembered = [new_memory(ADA.name, 1, "perception", "Bo wants tea", ["tea"], 7, [0] * 6)]
    common = blocks_of(mind, where, ADA.name, remembered) | {"basic_information": basic_information(ADA)}
    told = {"counted": counted}
    shown = {key: brief(it, **told) if isinstance(it, Block) else it for key, it in common.items()} | {"brief": told}
    return str(render("parts", **prompt_values("reaction", PARTS, shown))[1].content)


def test_what_a_lean_mind_reads() -> None:
    prompt = reaction({}, closing=False)
    for line in (
        "- Need to talk: 5 of 10",
        "- Feelings: overwhelming anger (9), some fear (4)",
        "- The speaker shows: strong anger",
        "- [1] perception, turn 1: Bo wants tea",
        "- perception, turn 1: Bo wants tea",
        "- The conversation is under way",
    ):
        assert f"\n{line}\n" in prompt
    for gone in ("importance 7", "| tea", "1 of 20", "emotional state:", "sadness"):
        assert gone not in prompt.partition("</parts>")[2]


@pytest.mark.parametrize(("kind", "emotion", "said"), [
    ("feelings", CALM, "- Feelings: none that is strong"),
    ("feelings", CALM | {"fear": 7}, "- Feelings: strong fear (7)"),
    ("progress", CALM, "- The conversation has not begun"),
])  # fmt: skip
def test_nothing_felt_and_nothing_said(kind: str, emotion: dict[str, int], said: str) -> None:
    assert worded_item(Item(kind, {"emotion": emotion, "turn": 0, "limit": 9, "brief": True})) == f"{said}\n"


def test_where_nobody_takes_leave_utterances_are_counted() -> None:
    prompt = reaction({}, closing=False, counted=True)
    assert "- Progress: 1 of 20 utterances made" in prompt and "how far the conversation is" in prompt
    assert "how far the conversation is" not in reaction({}, closing=False)


def test_all_data_stays_in_the_items() -> None:
    felt = [Item("emotion", {"name": name, "level": FELT[name]}) for name in EMOTIONS]
    memory = new_memory(ADA.name, 1, "perception", "Tea", ["tea"], 7, [0] * 6).model_dump()
    shown = brief(Block("memories", (Item("stm", memory), *felt, Item("goal", {"text": "x"}))), counted=False)
    assert [item.kind for item in shown.items] == ["stm", "goal", "feelings"]
    assert (shown.items[0]["importance"], shown.items[0]["keywords"]) == (7, ("tea",))
    assert dict(shown.items[2]["emotion"]) == FELT


def test_the_end_that_comes_near_changes_nothing_in_front_of_what_changes_anyway() -> None:
    """A server's cache keeps what is asked and who it is, and the plan as long as it holds."""
    planned = {"plan": {"identity": "I bake", "react": True, "reaction": "nod", "theme": "bread"}}
    near, far = (reaction(planned, closing=closing) for closing in (True, False))
    assert commonprefix([near, far]).partition("</plan>")[1]
    for said in ("The end of the conversation is near", "A plan says how to bring the talk to a close"):
        assert said in near and said not in far
