"""What tests of conversations with failing models share: who talks, and all events of a run."""

from __future__ import annotations

from typing import Any

import pytest

from persimchat.personas.scenario import make_scenario
from persimchat.runs.events import Event, Stopped
from persimchat.state.conversation import utterances
from persimchat.state.errors import ModelError

NAMES = ["Ada Lind", "Bo Vik", "Cleo Marsh"]


def scenario(names: list[str] = NAMES) -> Any:
    people = [{"name": name, "description": "Likes to talk."} for name in names]
    return make_scenario("Tea or coffee?", people)  # type: ignore[arg-type]


def words_in(output: Any) -> list[tuple[str, str]]:
    """Who said what in the final state of a conversation, in order."""
    return [(said["speaker"], said["text"]) for said in utterances(output["messages"])]


async def events_of(events: Any, error: str = "") -> list[Event]:
    """The events; where an error is expected, it comes after `stopped`, which tells of it."""
    told: list[Event] = []
    if not error:
        return [event async for event in events]
    with pytest.raises(ModelError, match=error) as caught:
        async for event in events:
            told.append(event)
    stopped = told[-1]
    assert isinstance(stopped, Stopped)
    assert (stopped.reason, stopped.detail) == ("error", str(caught.value))
    return told
