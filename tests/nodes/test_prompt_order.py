"""The setting `prompt_order`: the blocks of an utterance's prompt in another order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import persimchat
from persimchat.nodes.natural_language import in_order
from persimchat.prompts.blocks import Block
from persimchat.state.errors import InputError
from persimchat.state.settings import PROMPT_ORDER, Settings

TAGS = {
    "b": "basic_information",
    "n": "needs_and_emotions",
    "r": "relationships",
    "m": "memories",
    "p": "plan_and_identity",
    "e": "environment",
    "c": "last_utterances",
}


@given(st.permutations(PROMPT_ORDER))
def test_blocks_stand_in_the_order_asked_for(letters: list[str]):
    common = {tag: Block(tag, ()) for tag in [*TAGS.values(), "scene", "progress"]}
    assert [block.tag for block in in_order(common, "".join(letters))] == [TAGS[letter] for letter in letters]


@pytest.mark.parametrize("order", ["", "bnrmpe", "bnrmpecc", "bnrmpex", "BNRMPEC"])
def test_any_other_order_is_refused(order: str):
    with pytest.raises(InputError, match="each of the letters b, n, r, m, p, e, c exactly once"):
        persimchat.simulate("Tea or coffee?", participants=2, max_messages=1, model="offline", prompt_order=order)


def test_a_conversation_in_another_order():
    assert Settings().prompt_order == "bnrmpec"
    result = persimchat.simulate(
        "Tea or coffee?", participants=2, max_messages=2, model="offline", prompt_order="cepmrnb"
    )
    assert len(result.utterances) == 2
