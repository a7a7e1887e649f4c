"""What tests of conversations share: who talks, all events of a run and its end, and its replay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from persimchat.personas.scenario import make_scenario
from persimchat.runs.events import Event, Stopped
from persimchat.runs.run.replay import Replay
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
    stopped = end_of(told)
    assert (stopped.reason, stopped.detail) == ("error", str(caught.value))
    return told


def end_of(events: Sequence[Event]) -> Stopped:
    """How a run ended: its last event."""
    stopped = events[-1]
    assert isinstance(stopped, Stopped)
    return stopped


async def check_replay(folder: Path, out: Path | None = None, error: str = "") -> None:
    """Its record makes the run once more, to the byte, from the same prompts."""
    replay = Replay(folder, out)
    await events_of(replay.events(), error)
    assert replay.comparison is not None
    assert replay.comparison.same, replay.comparison.parts
    assert replay.comparison.prompts == []
