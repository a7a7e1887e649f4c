"""How much of a conversation's prompts a server can take from its cache, because an earlier prompt begins alike."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persimchat.state.settings import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import prefix

GOALS = {("full", "discussion"): 0.65, ("full", "debate"): 0.65, ("compact", "debate"): 0.5, ("lean", "debate"): 0.5}
"""Least share of prompt characters that an earlier request of the run began with, with four agents and ten utterances.

Compact and lean cognition put fewer questions about the same moment, so there is less to share; their goal keeps what
stands before everything that changes from turn to turn: the person, and the words in which the parts are asked for."""


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize(("cognition", "mode"), GOALS)
def test_prompts_begin_like_earlier_ones(cognition: str, mode: str) -> None:
    settings = Settings(max_messages=10, mode=mode, cognition=cognition)
    shares = prefix.shares_of(asyncio.run(prefix.prompts_of(4, settings)))
    for share in shares.values():
        print(f"{share.module:16s} {share.requests:4d} {share.tokens:8.0f} {share.shared:6.1%}")
    assert shares["all"].shared >= GOALS[cognition, mode], cognition


@given(st.lists(st.text("ab", max_size=6), max_size=12))
def test_the_longest_common_beginning_with_any_earlier_prompt(prompts: list[str]) -> None:
    def common(a: str, b: str) -> int:
        return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))

    slow = [max((common(p, q) for q in prompts[:i]), default=0) for i, p in enumerate(prompts)]
    assert prefix.shared_characters(prompts) == slow
