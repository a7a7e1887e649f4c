"""Stories with models behind a server: every form of answer, and a server that fails for one character."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault, natural_answer
from loopback.server import LoopbackServer
from run_files import read_records, run_json

from persimchat.personas.scenario import load_story
from persimchat.runs.events import Silenced, Stopped
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.settings import Settings

pytestmark = [pytest.mark.proof, pytest.mark.usefixtures("quick_retries")]


async def held(out: Path, server: LoopbackServer) -> list[Any]:
    story = load_story()
    settings = Settings(**{**story.settings, "model": server.model()})
    return [event async for event in run_simulation(story, settings, out=out, run="r")]


@pytest.mark.parametrize("refuses", [(), ("json_schema",), ("json_schema", "tools", "json_object")])
async def test_a_story_is_held_in_every_form_of_answer(
    refuses: tuple[str, ...], serving: Callable[..., LoopbackServer], tmp_path: Path
) -> None:
    events = await held(tmp_path, serving(natural_answer, refuses=refuses))
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "settled"
    assert not [event for event in events if isinstance(event, Silenced)]
    counts = run_json(tmp_path / "r")["judgements"]
    assert {name: row["asked"] for name, row in counts.items()} == {
        "stocktaking": 12, "choice": 6, "summary": 12, "review": 8, "ballot": 9
    }  # fmt: skip
    assert all(row["valid"] == row["asked"] for row in counts.values())


async def test_where_a_server_fails_for_one_character_the_others_go_on(
    serving: Callable[..., LoopbackServer], tmp_path: Path
) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return (
            Fault(status=401)
            if "- Name: Veikko Koskela" in json.dumps(body, ensure_ascii=False)
            else natural_answer(body)
        )

    events = await held(tmp_path, serving(answer))
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "settled"
    silent = [event for event in events if isinstance(event, Silenced)]
    assert {event.agent for event in silent} == {"Veikko Koskela"}
    assert {event.step for event in silent} >= {"awaken", "stocktake", "address", "review", "ballot"}
    happened = read_records(tmp_path / "r" / "story.jsonl")
    assert not [one for one in happened if one["do"] == "met" and one["speaker"] == "Veikko Koskela"]
    assert {one["speaker"] for one in happened if one["do"] == "ballot"} == {"Aino Koskela", "Tuuli Koskela"}
