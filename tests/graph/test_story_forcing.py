"""A branch chooses whom a host talks to: what follows, who learns of it, and what is refused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from story_talks import Telling, last_of, leaks, scenario

from persimchat.graph.stories.story import build_story
from persimchat.nodes.intervening import intervene
from persimchat.state.conversation import participants
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

SETTINGS = Settings(mode="story", model="offline", rounds=1)
ADA, BO, CY = "Ada Lind", "Bo Vik", "Cy Dahl"
STAGES = [{"kind": "private", "exchanges": 1}, {"kind": "confidential", "exchanges": 1, "partners": "others"}]


class Told:
    """A story that the scripted model has held, and what follows when it goes on otherwise."""

    def __init__(self, graph: Any, config: Any, told: Telling) -> None:
        self.graph, self.config, self.told = graph, config, told

    async def forced(self, host: str, partner: str, *, stage: int = 0, do: str = "stocktake") -> dict[str, Any]:
        """The last state, once a partner is chosen for a host before the first act of a kind in a stage."""
        async for snapshot in self.graph.aget_state_history(self.config):
            act = snapshot.values.get("act", {})
            if snapshot.next == (do,) and (act["host"], act["stage"]) == (host, stage) and not act["room"]:
                wanted = [{"do": "choose", "host": host, "partner": partner}]
                self.told.prompts.clear()
                at = await self.graph.aupdate_state(snapshot.config, {"interventions": wanted}, as_node="intervene")
                return await last_of(self.graph.astream(None, at, context=SETTINGS, stream_mode="values"))
        raise AssertionError(f"{host} has no such act")


@pytest.fixture
async def story(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Told]:
    told = Telling().install(monkeypatch)
    graph: Any = build_story(InMemorySaver())
    config = {"configurable": {"thread_id": "forcing"}}
    given = scenario(2, 1, stages=STAGES).model_dump(by_alias=True, exclude={"settings"})
    await last_of(graph.astream(given, config, context=SETTINGS, stream_mode="values"))
    yield Told(graph, config, told)


def of(state: dict[str, Any], do: str, who: str) -> list[dict[str, Any]]:
    return [one for one in state["happenings"] if one["do"] == do and one["speaker"] == who]


async def test_a_host_talks_to_the_partner_that_was_chosen_and_plans_it_itself(story: Told) -> None:
    state = await story.forced(ADA, CY)
    choice = of(state, "choice", ADA)[0]
    assert (choice["choice"], choice["chosen_by"], choice["heard_by"]) == (CY, "branch", [])
    assert choice["lines"]
    assert of(state, "met", ADA)[0]["others"] == [CY]
    (asked,) = [text for task, name, text in story.told.prompts if (task, name) == ("choice", ADA)][:1]
    assert "May be chosen: Cy Dahl" in asked
    assert "May be chosen: Bo Vik" not in asked
    assert "chosen_by" not in of(state, "choice", ADA)[1]
    assert "chosen_by" not in of(state, "choice", BO)[0]
    assert state["carried_out"] == [{"turn": 0, "do": "choose", "host": ADA, "partner": CY}]
    assert state["interventions"] == []
    assert state["stop_reason"] == "settled"


async def test_a_host_for_whom_nobody_is_chosen_has_no_room(story: Told) -> None:
    state = await story.forced(ADA, "")
    first = of(state, "choice", ADA)[0]
    assert (first.get("choice", ""), first["chosen_by"]) == ("", "branch")
    assert [room["members"][0] for room in state["rooms"].values() if room["stage"] == 0] == [BO]
    assert len(of(state, "met", ADA)) == 1
    assert of(state, "stock", ADA), "it took stock all the same"


async def test_nobody_is_given_what_they_did_not_hear(story: Told) -> None:
    state = await story.forced(ADA, CY)
    minds = ((name, json.dumps(mind)) for name, mind in participants(state).items())
    assert leaks(state, ((name, text) for _, name, text in story.told.prompts)) == []
    assert leaks(state, minds) == []
    for _, name, text in story.told.prompts:
        assert name in (ADA, CY) or f"talked with {CY} alone" not in text


REFUSED = {
    "a partner that the stage does not allow": ((ADA, BO, 1, "stocktake"), "may not choose Bo Vik in this stage"),
    "a host that is not about to choose": ((ADA, CY, 0, "choose"), "is not about to choose"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_cannot_be_chosen_is_refused(story: Told, case: str) -> None:
    (host, partner, stage, do), words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        await story.forced(host, partner, stage=stage, do=do)


async def test_only_stories_have_choices() -> None:
    agents: dict[str, Any] = {name: {"name": name} for name in (ADA, BO)}
    state: Any = {"turn": 0, "agents": agents, "interventions": [{"do": "choose", "host": ADA, "partner": BO}]}
    with pytest.raises(InputError, match="this is no story"):
        await intervene(state, SETTINGS)
