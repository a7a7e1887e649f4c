"""Words that somebody put into another's mouth are marked wherever they are shown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from run_files import read_records

from persimchat.prompts import blocks
from persimchat.runs.control import Control
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.diff_parting import parting
from persimchat.runs.reports.export import export_runs
from persimchat.runs.reports.report import report_html
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

ADA, BO, LI = "Ada Lind", "Bo Říha", "李雷"
SCENARIO = Scenario.model_validate(
    {
        "topic": "Tea or coffee?",
        "participants": [
            {"name": ADA, "description": "A baker who gets up at three."},
            {"name": BO, "description": "A bus driver near retirement."},
            {"name": LI, "human": True},
        ],
    }
)
SETTINGS = Settings(model="offline", max_messages=4, closing="off", human_turns="hand")


def marks(folder: Path) -> list[str | None]:
    return [line.get("edited_by") for line in read_records(folder / "transcript.jsonl")]


async def source(out: Path) -> Path:
    """A moderator speaks, gives an agent words, and a person speaks: the agent's words alone are not their own."""
    control = Control()
    async for event in run_simulation(SCENARIO, SETTINGS, out=out, run="source", control=control):
        if event.event == "utterance" and event.turn == 1:
            control.say("And the price?")
            control.say("I give in.", speaker=BO)
            control.say("Water.", speaker=LI)
    return out / "source"


async def made(out: Path) -> Path:
    folder = await source(out)
    async for _ in branch_run(folder, 3, say=("Ada", "I never\nliked tea."), run="branch", changes={"max_messages": 5}):
        pass
    return out / "branch"


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch with other words of Ada's, from a run in which a moderator gave Bo words."""
    return asyncio.run(made(tmp_path_factory.mktemp("runs")))


@pytest.mark.proof
def test_the_record_says_who_did_it(branched: Path) -> None:
    assert marks(branched.parent / "source") == [None, None, "moderator", None]
    assert "edited_by" not in read_records(branched / "transcript.jsonl")[0]
    assert marks(branched) == [None, None, "moderator", "branch", None]


def test_it_is_shown_everywhere(branched: Path) -> None:
    text = (branched / "transcript.md").read_text(encoding="utf-8")
    assert f"**{BO}:** *(words put in by the moderator)* I give in" in text
    assert f"**{ADA}:** *(words put in for a branch)* I never" in text
    record = read_run(branched)
    page = report_html(record)
    assert page.count("words put in for a branch") == page.count("words put in by the moderator") == 1
    events = [event for event in past_events(record) if event.event == "utterance"]
    assert [event.edited_by for event in events] == [None, None, "moderator", "branch", None]
    assert "edited_by" not in events[0].model_dump_json()
    export_runs([branched], branched.parent / "tables", "jsonl")
    lines = (branched.parent / "tables" / "utterances.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["edited_by"] for line in lines] == [None, None, "moderator", "branch", None]
    assert "edited_by" in (branched.parent / "tables" / "codebook.md").read_text(encoding="utf-8")


@pytest.mark.proof
async def test_it_follows_through_branches_replays_and_comparisons(branched: Path) -> None:
    async for _ in branch_run(branched, 4, run="second", changes={"max_messages": 6}):
        pass
    second = branched.parent / "second"
    assert marks(second)[:4] == [None, None, "moderator", "branch"]
    replayed = branched.parent / "replays"
    async for _ in Replay(branched, replayed).events():
        pass
    assert read_records(replayed / "branch" / "transcript.jsonl") == read_records(branched / "transcript.jsonl")
    found = parting(read_run(branched.parent / "source"), read_run(branched))
    assert found is not None
    assert found.b is not None
    assert found.b.edited_by == "branch"


@pytest.mark.proof
async def test_what_a_model_says_again_is_its_own(branched: Path) -> None:
    async for _ in regenerate_run(branched, 4, run="anew"):
        pass
    assert marks(branched.parent / "anew")[:4] == [None, None, "moderator", None]


@pytest.mark.parametrize("by", ["branch", "moderator"])
def test_nobody_in_the_conversation_is_told(by: str) -> None:
    said: Any = {"turn": 1, "speaker": ADA, "text": "I never liked tea.", "addressees": [], "emotion": {}}
    given: Any = {**said, "edited_by": by}
    assert blocks.last_utterances([given], BO) == blocks.last_utterances([said], BO)
    assert blocks.observed([given]) == blocks.observed([said])
