"""Resuming: what cannot go on says so and how, what can loses nothing."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from run_files import conversation, logged, read_whole, run_json
from run_folders import rewrite
from runs.test_log import holding
from talks import end_of, events_of

from persimchat.personas.scenario import make_scenario
from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.settings import Settings

RUN = "a-run"
PEOPLE: list[Any] = [
    {"name": "Ada Lind", "description": "A baker who gets up at three."},
    {"name": "Bo Vik", "description": "A bus driver near retirement."},
]


async def begin(out: Path, *, run: str = RUN, **more: Any) -> Path:
    """A run of four utterances that has come to its end."""
    settings = Settings(**{"model": "offline", "max_messages": 4, "closing": "off", **more})
    await events_of(run_simulation(make_scenario("Tea or coffee?", PEOPLE), settings, out=out, run=run))
    return out / run


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that every test gets a copy of."""
    return asyncio.run(begin(tmp_path_factory.mktemp("ended")))


@pytest.fixture
def folder(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended, tmp_path / RUN))


def change(folder: Path, **fields: Any) -> None:
    """Have the run's first event say something else."""
    rewrite(folder, "begun", lambda begun: {**begun, **fields})


async def resume(folder: Path, *, control: Control | None = None, **changes: Any) -> list[Event]:
    return [event async for event in resume_run(folder, changes=changes, control=control)]


async def refused(folder: Path, *words: str, **changes: Any) -> InputError:
    """Resuming raises InputError, which is one line with these words and a remedy, and leaves the folder as it was."""
    before = content(folder)
    with pytest.raises(InputError) as caught:
        await resume(folder, **changes)
    message = str(caught.value)
    assert "\n" not in message
    assert caught.value.remedy
    assert [word for word in words if word not in message] == [], message
    assert content(folder) == before
    return caught.value


def content(folder: Path) -> Any:
    """The events of a run and its readable transcript; the file itself where it is no log."""
    readable, log = folder / "transcript.md", folder / "run.sqlite"
    try:
        with sqlite3.connect(f"file:{log}?mode=ro", uri=True) as database:
            events: Any = database.execute("SELECT * FROM events").fetchall()
    except sqlite3.Error:
        events = log.read_bytes() if log.is_file() else None
    return readable.read_bytes() if readable.is_file() else None, events


DAMAGES: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "no log": (lambda folder: (folder / "run.sqlite").unlink(), ("run.sqlite",)),
    "an empty log": (lambda folder: (folder / "run.sqlite").write_bytes(b""), ("run.sqlite",)),
    "garbage": (lambda folder: (folder / "run.sqlite").write_bytes(b"no database " * 999), ("run.sqlite",)),
    "no checkpoints": (lambda folder: without_checkpoints(folder), ("kept no checkpoints",)),
    "another state": (lambda folder: change(folder, state_version=99), ("version 99", "version that made it")),
    "settings of another version": (lambda folder: change(folder, settings={"wigs": 3, "checkpoints": "run"}), ()),
    "scenario of another version": (lambda folder: change(folder, scenario={"topic": ""}), ()),
    "checkpoints in memory": (
        lambda folder: change(folder, settings={"model": "offline", "checkpoints": "memory"}),
        ("checkpoints ended with its process",),
    ),
}


def without_checkpoints(folder: Path) -> None:
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute("DROP TABLE checkpoints")


@pytest.mark.parametrize("damage", DAMAGES)
async def test_damaged_folders_say_what_is_wrong(folder: Path, damage: str) -> None:
    do, words = DAMAGES[damage]
    do(folder)
    await refused(folder, *words)


async def test_checkpoints_of_another_run(folder: Path) -> None:
    with sqlite3.connect(folder / "run.sqlite") as database:
        database.execute("DELETE FROM checkpoints")
    await refused(folder, "checkpoints")


async def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        await resume(tmp_path / "nowhere")


@pytest.mark.proof
async def test_a_run_that_a_live_process_works_on(folder: Path) -> None:
    with holding(folder) as process:
        await refused(folder, f"process {process.pid}", "Wait until it has ended", max_messages=6)
        process.communicate()
    assert [event.event for event in await resume(folder, max_messages=5)][-1] == "stopped"


async def test_the_end_is_the_end(folder: Path) -> None:
    await refused(folder, "the run has ended", "limit of 4 utterances", "--messages")
    await refused(folder, "the run has ended", max_messages=3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pattern": "round_robin"}, ("pattern cannot change", "branch")),
        ({"embedding": "minilm"}, ("embedding cannot change",)),
        ({"max_messages": 0}, ("max_messages",)),
        ({"wigs": 3}, ("wigs",)),
        ({"model": "ofline"}, ("ofline",)),
        ({"agent_models": {"Nobody": "offline"}}, ("Nobody",)),
        ({"pattern": "round_robin", "max_messages": 6}, ("pattern cannot change",)),
    ],
)
async def test_settings_that_may_not_change_or_are_wrong(
    folder: Path, changes: dict[str, Any], words: tuple[str, ...]
) -> None:
    await refused(folder, *words, **changes)


@pytest.mark.proof
async def test_going_on_beyond_the_end_loses_nothing(folder: Path, tmp_path: Path) -> None:
    """A run with a higher limit goes on as one that had it from the start; `closing` is off, so nobody knew of it."""
    before = conversation(folder)
    events = await resume(folder, max_messages=7)
    assert [event.turn for event in events if event.event == "utterance"] == list(range(1, 8))
    assert conversation(folder)[: len(before)] == before
    turns = [line["turn"] for line in logged(folder, "mind")]
    assert turns == [turn for turn in range(8) for _ in PEOPLE]
    readable = (folder / "transcript.md").read_text(encoding="utf-8")
    assert readable.count("The limit of") == 1
    assert "The limit of 7 utterances was reached." in readable
    manifest = run_json(folder)
    assert (manifest["turn"], manifest["settings"]["max_messages"]) == (7, 7)
    assert [(entry["turn"], entry["changed"]) for entry in manifest["resumed"]] == [(4, {"max_messages": 7})]
    assert manifest["usage"]["total"]["calls"] == len(logged(folder, "asked_model"))


@pytest.mark.proof
async def test_a_debate_that_went_on_beyond_its_limit_is_replayed_whole(tmp_path: Path) -> None:
    """The replay, too, comes to the first end, judge and conclusion included, and goes on from there."""
    folder = await begin(tmp_path, mode="debate", max_messages=2)
    await resume(folder, max_messages=4)
    await resume(folder, max_messages=5)
    assert [entry["reopened"] for entry in run_json(folder)["resumed"]] == [True, True]
    replay = Replay(folder)
    assert [event.turn async for event in replay.events() if event.event == "utterance"] == [1, 2, 3, 4, 5]
    assert replay.comparison is not None and replay.comparison.whole
    assert replay.comparison.same, replay.comparison.parts


async def test_a_run_of_a_version_that_knew_fewer_settings_goes_on(folder: Path) -> None:
    manifest = run_json(folder)
    new = {"cognition", "listeners", "strict_answers", "prompt_order", "answer_tokens"}
    change(folder, settings={name: value for name, value in manifest["settings"].items() if name not in new})
    events = await resume(folder, max_messages=5)
    assert end_of(events).reason == "message_limit"
    await refused(folder, "cognition cannot change", max_messages=6, cognition="lean")
    await refused(folder, "listeners cannot change", max_messages=6, listeners=2)


@pytest.mark.proof
async def test_a_budget_raised(tmp_path: Path) -> None:
    whole = await begin(tmp_path, run="whole")
    folder = await begin(tmp_path, budget_calls=30)
    assert run_json(folder)["stop_reason"] == "budget"
    await refused(folder, "budget is used up", "--budget-calls")
    events = await resume(folder, budget_calls=35)
    assert (end_of(events).reason, end_of(events).totals.calls) == ("budget", 35)
    events = await resume(folder, budget_calls=10_000)
    assert end_of(events).reason == "message_limit"
    assert read_whole(folder) == read_whole(whole)


@pytest.mark.proof
async def test_a_person_who_was_being_asked_is_asked_again(tmp_path: Path) -> None:
    scenario = make_scenario("Tea or coffee?", [*PEOPLE, {"name": "Li", "human": True}])
    settings = Settings(model="offline", max_messages=3, pattern="round_robin", closing="off")
    events = [event async for event in run_simulation(scenario, settings, out=tmp_path, run=RUN)]
    asked = next(event for event in events if event.event == "asked")
    assert (asked.agent, asked.turn) == ("Li", 2)
    assert (end_of(events).reason, end_of(events).source) == ("stopped", "person")
    assert [event.event for event in await resume(tmp_path / RUN)][-2:] == ["asked", "stopped"]
    control, told = Control(), []
    async for event in resume_run(tmp_path / RUN, control=control):
        told.append(event)
        if event.event == "asked":
            control.answer("Water, please.")
    spoken = [(event.speaker, event.text) for event in told if event.event == "utterance"]
    assert len(spoken) == 3
    assert spoken[2] == ("Li", "Water, please.")
    records = logged(tmp_path / RUN, "intervention")
    assert [(record["turn"], record["do"], record["agent"]) for record in records] == [(2, "answer", "Li")]
