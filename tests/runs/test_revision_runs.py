"""Runs whose utterances are revised: equal twice, replayed, and stopped anywhere and resumed; and as estimated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import read_records, run_json

import persimchat
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.runs.folder.totals import totals_by
from persimchat.runs.reports.estimate import estimate
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.pruning import Pruned
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

PRUNING = {"lambda": 1, "method": "embedding", "query": "response", "revision": "again"}
RUN = "a-run"
FILES = ("transcript.jsonl", "minds.jsonl")


def scenario(*, goal: str = "win the others for leaving things alone") -> Scenario:
    """One in which an utterance contradicts a goal that was left out; without a goal, none does."""
    people = default_participants(3)
    goals = {people[0].name: [goal]} if goal else {}
    return make_scenario("Should the square be free of cars?", people).model_copy(update={"social_goals": goals})


async def held(out: Path, **more: Any) -> Path:
    settings = Settings(**{"model": "offline", "seed": 3, "max_messages": 4, "pruning": PRUNING, **more})
    async for _ in run_simulation(scenario(), settings, out=out, run=RUN):
        pass
    return out / RUN


def written(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in FILES]


@pytest.mark.proof
async def test_a_revised_run_is_recorded_and_replayed_without_a_model(tmp_path: Path) -> None:
    folder = await held(tmp_path)
    said = read_records(folder / "transcript.jsonl")
    revised = [line["turn"] for line in said if "revised" in line["corrections"]]
    assert revised
    minds = [line for line in read_records(folder / "minds.jsonl") if "pruned" in line]
    checks = {line["turn"]: Pruned.model_validate(line["pruned"]).checks for line in minds}
    assert [turn for turn, made in checks.items() if len(made) > 1] == revised
    assert all(checks.values())
    rows = [row for row in read_records(folder / "calls.jsonl") if row["turn"] == revised[0] - 1 and "part" in row]
    asked = [(row["module"], row["part"]) for row in rows]
    three = [[("revision", f"check:{wording}.{n}") for n in range(3)] for wording in range(2)]
    assert asked[:2] == [("pruning", "raw:0"), ("pruning", "score")]
    assert (sorted(asked[2:5]), asked[5], sorted(asked[6:9])) == (three[0], ("natural_language", "again:1"), three[1])
    await replayed(folder, tmp_path / "again")


@pytest.mark.proof
async def test_what_fails_in_a_revision_silences_nobody_and_is_replayed(tmp_path: Path) -> None:
    """One check of every wording fails for good, and a server that is busy gives no other words for one utterance."""
    words = iter(range(100))

    def utterance(body: dict[str, Any]) -> Any:
        return f"These are my words number {next(words)} about it all." if body["seed"] != 5 else Fault(503)

    def check(body: dict[str, Any]) -> Any:
        return Fault(503) if body["seed"] % 3 == 0 else {"comment": "They differ.", "score": 9 - body["seed"] // 9}

    with LoopbackServer(answer=Scripted(utterance=utterance, inconsistency=check)) as server:
        pruning = {**PRUNING, "query": "prompt"}
        folder = await held(tmp_path, model=server.model(), max_messages=3, pattern="round_robin", pruning=pruning)
    assert run_json(folder)["silences"] == 0
    for line in read_records(folder / "minds.jsonl"):
        if "pruned" in line:
            made = Pruned.model_validate(line["pruned"]).checks
            assert [check.scores for check in made] == [[9, 9], [9, 9]]
    said = read_records(folder / "transcript.jsonl")
    assert [line["corrections"] for line in said] == [["still_inconsistent"]] * 3
    await replayed(folder, tmp_path / "again")


async def replayed(folder: Path, out: Path) -> None:
    """The replay of a run is the same byte for byte."""
    replay = Replay(folder, out)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert (replay.comparison.parts, replay.comparison.prompts) == ([], [])
    assert written(out / RUN) == written(folder)


@pytest.mark.proof
async def test_it_can_stop_at_any_request_and_go_on(tmp_path: Path) -> None:
    whole = await held(tmp_path / "whole", max_messages=2)
    used = run_json(whole)["usage"]["total"]["calls"]
    for budget in range(used // 4, used, 3):
        folder = await held(tmp_path / str(budget), max_messages=2, budget_calls=budget)
        async for _ in resume_run(folder, changes={"budget_calls": 1000}):
            pass
        assert written(folder) == written(whole), budget


@pytest.mark.parametrize("more", [{}, {"cognition": "lean", "mode": "debate"}])
async def test_without_a_conflict_there_are_as_many_calls_as_estimated(tmp_path: Path, more: dict[str, Any]) -> None:
    settings = Settings(model="offline", max_messages=3, pruning={**PRUNING, "lambda": 0.6}, **more)
    run = await persimchat.asimulate(scenario(goal=""), settings=settings)
    foreseen = estimate(scenario(goal=""), settings, utterances=len(run.utterances)).by("module")
    used = totals_by(run.usage, "module")
    assert foreseen["revision"].calls == used["revision"].calls == 3 * len(run.utterances)
    assert foreseen["revision"].input_tokens == pytest.approx(used["revision"].input_tokens, rel=0.2)
    assert foreseen["revision"].output_tokens == pytest.approx(used["revision"].output_tokens, rel=0.15)
