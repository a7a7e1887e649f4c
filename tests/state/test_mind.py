"""What a mind keeps, and what it is given for one step."""

from __future__ import annotations

from persimchat.nodes.assembling import assemble
from persimchat.state.mind import STORED, Mind, Step, in_step
from persimchat.state.settings import Settings


def test_a_step_has_what_a_mind_keeps_and_what_it_is_given() -> None:
    assert set(Mind.__annotations__) == STORED < set(Step.__annotations__)
    assert {"situation", "heard", "outcomes", "arriving", "keep", "beside"} <= set(Step.__annotations__) - STORED


def test_everything_in_a_mind_that_begins_is_kept() -> None:
    settings = Settings(model="offline", mode="debate", judge="persona", max_messages=3)
    people = [{"name": "Bo", "human": True}, {"name": "Cy", "description": "Likes tea."}]
    minds = assemble({"topic": "Tea?", "participants": people}, settings, "t")["agents"][1]
    assert [mind.get("role") for mind in minds.values()] == [None, None, "judge"]
    for mind in minds.values():
        assert set(mind) <= STORED


def test_a_mind_is_not_changed_by_its_step() -> None:
    mind: Mind = {"name": "Bo", "utterances": 2}
    assert in_step(mind, required=True) == {"name": "Bo", "utterances": 2, "required": True}
    assert mind == {"name": "Bo", "utterances": 2}
