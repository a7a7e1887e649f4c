"""The names of nodes, and what they say about how far a turn is."""

from __future__ import annotations

from typing import Any

import pytest

from persimchat.graph import phases
from persimchat.graph.baselines import BUILDERS
from persimchat.graph.conversation import build_conversation
from persimchat.graph.stories.story import build_story

NAMED = {value for name, value in vars(phases).items() if name.isupper() and isinstance(value, str)}
assert set(phases.ALL) == NAMED


@pytest.mark.parametrize("build", [build_conversation, build_story, *BUILDERS.values()])
def test_every_node_has_its_name_from_there(build: Any) -> None:
    nodes = set(build().nodes) - {"__start__"}
    assert nodes <= NAMED
    assert phases.ASSEMBLE in nodes
    assert phases.turn_end("story" if build is build_story else "discussion") in nodes


def test_no_name_is_left_over() -> None:
    used = set().union(*(build().nodes for build in (build_conversation, build_story, *BUILDERS.values())))
    assert used >= NAMED


@pytest.mark.parametrize(
    ("nodes", "awakening", "hearing", "between"),
    [
        ((), False, False, True),
        (("awaken",), True, False, False),
        (("speak", "think"), False, False, True),
        (("publish",), False, False, False),
        (("hear", "analyse"), False, True, False),
        (("analyse",), False, True, False),
        (("answer", "analyse"), False, False, True),
        (("end_check",), False, True, False),
        (("count_votes",), False, False, False),
        (("agenda",), False, True, False),
        (("stocktake",), False, False, True),
        (("address", "address"), False, False, True),
    ],
)
def test_how_far_a_turn_is(nodes: tuple[str, ...], awakening: bool, hearing: bool, between: bool) -> None:
    found = (phases.awakening(nodes), phases.hearing(nodes), phases.between_utterances(nodes))
    assert found == (awakening, hearing, between)
