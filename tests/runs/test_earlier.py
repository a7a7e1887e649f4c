"""Runs that an earlier version made: they are read, shown, resumed, branched and replayed.

`earlier/version_1.tar.xz` holds two runs of a version whose state had the persona judge apart: one that came to its
end, and the same one killed while everybody heard the third utterance. What the offline model says now may be other
words than then, so what was made then is compared, and of what is made now who says and thinks something.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from run_files import read_records, run_json

from persimchat.runs.folder.manifest import STATE_VERSION
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.state.errors import InputError

KEPT = Path(__file__).parent / "earlier" / "version_1.tar.xz"
DATA = ("transcript.jsonl", "minds.jsonl", "judge_mind.jsonl", "verdicts.jsonl")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """The folder of the runs."""
    with tarfile.open(KEPT) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path


def past(folder: Path, name: str, turns: int) -> list[dict[str, Any]]:
    """The lines of the first turns of a file."""
    return [line for line in read_records(folder / name) if line["turn"] <= turns]


def check_past(folder: Path, whole: Path, turns: int) -> None:
    """The first turns are as they were, and there are four, with everybody's mind and the judge's."""
    for name in DATA:
        assert past(folder, name, turns) == past(whole, name, turns), name
    record = read_run(folder)
    assert [u.turn for u in record.utterances] == [1, 2, 3, 4]
    assert [(m.turn, m.agent) for m in record.judge_minds] == [(turn, "Judge") for turn in range(5)]
    assert [(m.turn, m.agent) for m in record.minds] == [(m.turn, m.agent) for m in read_run(whole).minds]


@pytest.mark.proof
async def test_a_killed_run_goes_on_as_if_nothing_had_happened(runs: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert run_json(runs / "killed")["state_version"] == 1
    said = (runs / "killed" / "transcript.jsonl").read_bytes()
    events = [event async for event in resume_run(runs / "killed")]
    assert [e.turn for e in events if e.event == "utterance"] == [1, 2, 3, 4]
    # The utterance that was being heard is made again; what it was is kept, and told.
    assert (runs / "killed" / "transcript.lost.jsonl").read_bytes() == said
    assert "1 utterance after it will be made again" in events[0].notice
    check_past(runs / "killed", runs / "whole", 2)
    assert run_json(runs / "killed")["state_version"] == STATE_VERSION
    assert "unknown node" not in caplog.text
    # What came before is still of the other version, and is read from there.
    branched = [event async for event in branch_run(runs / "killed", 1, run="again")]
    assert branched[-1].event == "stopped"
    check_past(runs / "again", runs / "whole", 1)


async def test_a_run_that_came_to_its_end_is_read_and_goes_on_beyond_it(runs: Path) -> None:
    record = read_run(runs / "whole")
    assert (len(record.utterances), len(record.judge_minds)) == (4, 5)
    with pytest.raises(InputError, match="the run has ended"):
        [event async for event in resume_run(runs / "whole")]
    events = [event async for event in resume_run(runs / "whole", changes={"max_messages": 5})]
    assert [e.turn for e in events if e.event == "utterance"] == [1, 2, 3, 4, 5]
    assert [mind.turn for mind in read_run(runs / "whole").judge_minds] == list(range(6))


async def test_a_run_is_branched_and_stays_as_it_is(runs: Path) -> None:
    before = run_json(runs / "whole")
    events = [event async for event in branch_run(runs / "whole", 2, run="new")]
    assert events[-1].event == "stopped"
    check_past(runs / "new", runs / "whole", 2)
    assert run_json(runs / "whole") == before


async def test_a_run_is_replayed(runs: Path) -> None:
    replay = Replay(runs / "whole")
    assert [e.turn async for e in replay.events() if e.event == "utterance"] == [1, 2, 3, 4]
    assert replay.comparison is not None and replay.comparison.same


async def test_an_unknown_version_is_refused(runs: Path) -> None:
    changed = {**run_json(runs / "killed"), "state_version": STATE_VERSION + 1}
    (runs / "killed" / "run.json").write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(
        InputError, match=f"has version {STATE_VERSION + 1}; this PerSimChat knows only {STATE_VERSION}"
    ):
        [event async for event in resume_run(runs / "killed")]
