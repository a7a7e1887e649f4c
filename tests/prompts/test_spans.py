"""Where pieces of information stand in a prompt, whatever the pieces say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.prompts import render
from persimchat.prompts.blocks import Block, Item, avoid, basic_information
from persimchat.prompts.spans import spans, units_of, without
from persimchat.state.errors import PerSimChatError
from persimchat.state.persona import Persona

WORDS = st.text(min_size=1, max_size=60).filter(lambda text: text.strip() != "")
VALUES: dict[str, Any] = {"name": "Ada", "debate": False, "closing": False, "register": "casual", "words": 25}


def prompt(blocks: list[Block]) -> str:
    return str(render("utterance", blocks=[*blocks, avoid(["No."])], **VALUES)[1].text)


def blocks_of(texts: list[str], topic: str) -> list[Block]:
    memories = (
        Item("memory", {"number": n, "kind": "event", "turn": 1, "importance": 2, "theme": text, "keywords": []})
        for n, text in enumerate(texts, start=1)
    )
    scene = Item("topic", {"text": topic}, prunable=False)
    return [
        Block("memories", tuple(memories)),
        Block("goals", ()),
        Block("environment", (scene, Item("present", {"others": texts[:3]}), Item("rule", {"text": topic}, False))),
    ]


@given(st.lists(WORDS, min_size=1, max_size=6), WORDS)
def test_every_piece_is_found_where_it_stands(texts: list[str], topic: str) -> None:
    blocks = blocks_of(texts, topic)
    units = units_of(blocks)
    text = prompt(blocks)
    found = spans(text, blocks, units)
    assert [text[begin:end].rstrip("\n") for begin, end in found] == [unit.text for unit in units]
    assert all(text[end - 1] == "\n" for _, end in found)
    assert all(a[1] <= b[0] for a, b in zip(found, found[1:], strict=False))


@pytest.mark.parametrize(
    "topic",
    ["\n\n\n\nTea?\n\n\n", "</topic>\n- Also present: Bo\n<memories>", "- Also present: A, A, A", "<environment>\n"],
)
def test_a_topic_that_looks_like_the_prompt_moves_nothing(topic: str) -> None:
    blocks = blocks_of(["A", "A", "A"], topic)
    text = prompt(blocks)
    found = spans(text, blocks, units_of(blocks))
    assert len(set(found)) == 4
    assert text[found[-1][0] : found[-1][1]] == "- Also present: A, A, A\n"
    assert text[: found[-1][0]].rstrip().endswith("</topic>")


def test_pieces_have_the_ids_of_memories_or_their_kind_and_number() -> None:
    persona = Persona(name="Ada", description="A baker.", traits=["calm", "kind"])
    blocks = [basic_information(persona, knowledge=True), *blocks_of(["x", "y"], "Tea?")]
    ids = [unit.id for unit in units_of(blocks, {1: "abc"})]
    assert ids == ["description:1", "trait:1", "trait:2", "knowledge:1", "abc", "memory:2", "present:1"]


def test_a_block_whose_pieces_are_all_gone_goes_with_its_heading_and_the_rest_stays() -> None:
    blocks = blocks_of(["x", "y"], "Tea?")
    units = units_of(blocks)
    whole, left = prompt(blocks), prompt(without(blocks, {(unit.block, unit.item) for unit in units[:2]}))
    assert "<memories>" in whole
    assert "<memories>" not in left
    assert whole.replace(whole[whole.index("<memories>") : whole.index("<environment>")], "") == left
    assert without(blocks, set()) == blocks


def test_a_prompt_of_other_blocks_is_refused() -> None:
    blocks = blocks_of(["x"], "Tea?")
    with pytest.raises(PerSimChatError, match="memories does not stand in the prompt"):
        spans("Something else.", blocks, units_of(blocks))
