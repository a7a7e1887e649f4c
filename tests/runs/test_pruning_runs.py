"""Runs whose prompts leave something out, and whose utterances are revised: equal, replayed, resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.failing import Failing
from loopback.scripted import Scripted, task_of
from loopback.server import LoopbackServer
from run_files import logged, read_whole, run_json
from story_talks import scenario as story
from talks import NAMES, check_replay, end_of, events_of, scenario

import persimchat
from persimchat.models.attention import scoring
from persimchat.models.attention.scores import Scores
from persimchat.nodes.minds import pruning
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.reports.estimate import estimate
from persimchat.runs.events import Stopped
from persimchat.runs.folder.parts import totals_by
from persimchat.runs.folder.reading import read_run
from persimchat.runs.run.at_turn import foreseen_at, foreseen_from, past_prompts
from persimchat.runs.run.branch import branch_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.minds.pruning import Pruned, Pruning
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

BY_WORDS: dict[str, Any] = {"lambda": 0.6, "method": "embedding", "query": "response"}


async def held(out: Path, run: str = "r", **given: Any) -> Path:
    chosen = {"model": "offline", "max_messages": 3, "closing": "off", "pruning": BY_WORDS, "cognition": "lean"}
    events = await events_of(run_simulation(scenario(), Settings(**{**chosen, **given}), out=out, run=run))
    assert isinstance(events[-1], Stopped)
    return out / run


def records(folder: Path) -> list[dict[str, Any]]:
    return [{**line["pruned"], "agent": line["agent"]} for line in logged(folder, "mind") if "pruned" in line]


@pytest.mark.proof
async def test_every_utterance_has_a_record_of_what_its_prompt_lacked(tmp_path: Path) -> None:
    folder = await held(tmp_path)
    said = [(line["turn"], line["speaker"]) for line in logged(folder, "utterance")]
    found = records(folder)
    assert [(record["turn"], record["agent"]) for record in found] == said
    assert all(0 < record["removed"] < record["units"] for record in found)
    assert all(record["share"] <= 0.6 and record["responses"] == 1 for record in found)
    assert run_json(folder)["settings"]["pruning"]["lambda"] == 0.6
    rows = [row for row in logged(folder, "asked_model") if row["module"] == "pruning"]
    assert [row["part"] for row in rows] == ["raw:0", "score"] * 3
    assert [row.get("calls", 1) for row in rows] == [1, 0] * 3
    assert [row["output_tokens"] for row in rows if row["part"] == "score"] == [0] * 3


@pytest.mark.proof
async def test_the_same_settings_give_the_same_bytes_and_a_replay_is_equal(tmp_path: Path) -> None:
    first, second = await held(tmp_path / "1"), await held(tmp_path / "2")
    assert read_whole(first) == read_whole(second)
    calls = [sorted(map(str, logged(folder, "asked_model"))) for folder in (first, second)]
    assert calls[0] == calls[1]  # agents ask at the same time, so their order may differ
    await check_replay(first)


class Scoring:
    """A scorer that can be taken away."""

    name, context = "here", 100_000

    def count(self, system: str, user: str, response: str = "") -> int:
        """One."""
        return 1

    def scores(self, system: str, user: str, spans: Sequence[tuple[int, int]], responses: Sequence[str] = ()) -> Scores:
        """By length."""
        return Scores(tuple(float(b - a) for a, b in spans), 1)


@pytest.mark.proof
async def test_a_replay_needs_no_scorer_and_says_so_if_the_prompt_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pruning, "scorer_of", lambda _: Scoring())
    with monkeypatch.context() as there:
        there.setattr(scoring, "check_scorer", lambda _: None)
        folder = await held(tmp_path, pruning={"lambda": 0.5, "scorer": "/nowhere/model.gguf"}, max_messages=2)
    assert {record["scorer"] for record in records(folder)} == {"/nowhere/model.gguf"}

    def gone(_: str) -> Scoring:
        raise AssertionError("a replay loaded the scorer")

    monkeypatch.setattr(pruning, "scorer_of", gone)
    await check_replay(folder)
    for goes_on in (resume_run(folder, changes={"max_messages": 3}), branch_run(folder, 1)):
        with pytest.raises(InputError, match=r"there is no scorer '/nowhere/model.gguf' \(pruning.scorer\)"):
            await events_of(goes_on)
    every = pruning.units_of
    monkeypatch.setattr(pruning, "units_of", lambda *given: every(*given)[1:])
    events = await events_of(Replay(folder).events())
    assert "no answer for agent Ada Lind, module pruning" in end_of(events).detail


@pytest.mark.proof
async def test_a_branch_takes_another_lambda_from_a_turn_on(tmp_path: Path) -> None:
    folder = await held(tmp_path, max_messages=5, pruning={})
    changes = {"pruning": {"lambda": 1, "method": "length"}}
    events = await events_of(branch_run(folder, 3, run="b", changes=changes))
    assert isinstance(events[-1], Stopped)
    before, after = (logged(tmp_path / run, "utterance") for run in ("r", "b"))
    assert before[:3] == after[:3]
    assert before[3:] != after[3:]
    assert not records(folder)
    found = records(tmp_path / "b")
    assert [record["turn"] for record in found] == [4, 5]
    assert all(record["removed"] == record["units"] for record in found)


@pytest.mark.proof
@pytest.mark.parametrize("mode", ["discussion", "debate"])
async def test_the_estimate_is_the_number_of_calls_made(tmp_path: Path, mode: str) -> None:
    given: dict[str, Any] = {"mode": mode, "pruning": {**BY_WORDS, "responses": 2}}
    given |= {"judge_every": 1000} if mode == "debate" else {}
    folder = await held(tmp_path, **given)
    made = [row["module"] for row in logged(folder, "asked_model") if row.get("calls", 1)]
    settings = Settings.model_validate(run_json(folder)["settings"])
    expected = estimate(scenario(), settings).by("module")
    assert made.count("pruning") == expected["pruning"].calls == 6
    assert made.count("natural_language") == expected["natural_language"].calls == 3


@pytest.mark.long
@pytest.mark.proof
async def test_in_a_story_each_speaker_s_own_prompt_is_pruned_also_of_words_made_at_once(tmp_path: Path) -> None:
    stages = [{"kind": "private", "exchanges": 1}, {"kind": "group"}]
    made = story(2, 1, stages=stages)
    own = {"mode": "story", "cognition": "lean", "model": "offline", "rounds": 1, "pruning": BY_WORDS}
    chosen = Settings(**{**made.settings, **own})
    await events_of(run_simulation(made, chosen, out=tmp_path, run="r"))
    folder = tmp_path / "r"
    said = [(line["turn"], line["speaker"]) for line in logged(folder, "utterance")]
    assert sorted((record["turn"], record["agent"]) for record in records(folder)) == said
    await check_replay(folder)
    expected = estimate(made, chosen).by("module")["pruning"].calls
    asked = [row for row in logged(folder, "asked_model") if row["module"] == "pruning" and row.get("calls", 1)]
    assert len(asked) == expected == len(said)
    record = read_run(folder)
    units = {(one["turn"], one["agent"]): one["units"] for one in records(folder)}
    for turn, speaker in said:
        foreseen = await foreseen_at(record, turn, Pruning(**{"lambda": 0.5, "method": "length"}))
        assert foreseen.units == units[turn, speaker]


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("status", [401, 500])
async def test_an_agent_whose_first_response_fails_is_silent_and_says_nothing_unpruned(
    tmp_path: Path, status: int
) -> None:
    ill = Failing(Fault(status), tasks=["utterance"])
    with LoopbackServer() as well, LoopbackServer(ill) as broken:
        models = {"model": well.model(), "agent_models": {NAMES[1]: broken.model("bo")}}
        folder = await held(tmp_path, **models, pattern="round_robin")
        asked = [request for request in broken.requests if task_of(request.body) == "utterance"]
    assert run_json(folder)["silences"] > 0
    rows = [row for row in logged(folder, "asked_model") if row["agent"] == NAMES[1]]
    assert len(asked) == sum(row["module"] == "pruning" and row.get("calls", 1) for row in rows) > 0
    assert not any(row["module"] == "natural_language" for row in rows)
    assert NAMES[1] not in {line["speaker"] for line in logged(folder, "utterance")}
    await check_replay(folder)


@pytest.mark.proof
async def test_a_budget_holds_for_first_responses(tmp_path: Path) -> None:
    folder = await held(tmp_path, budget_calls=8)
    assert sum(row.get("calls", 1) for row in logged(folder, "asked_model")) <= 8
    assert run_json(folder)["stop_reason"] == "budget"


@pytest.mark.proof
async def test_the_prompt_of_a_past_utterance_is_made_again(tmp_path: Path) -> None:
    chosen = {**BY_WORDS, "query": "prompt"}
    folder = await held(tmp_path, pruning=chosen, cognition="full", max_messages=4)
    record = read_run(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    own = [{name: value for name, value in one.items() if name != "agent"} for one in records(folder)]
    for turn in (1, 4):
        again = await foreseen_at(record, turn, Pruning(**chosen))
        assert again.model_dump(mode="json") == own[turn - 1]
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    for turn in (0, 5):
        with pytest.raises(InputError, match=f"there is no utterance {turn}"):
            await past_prompts(record, [turn])
    past = (await past_prompts(record, [1]))[0]
    remote = past.settings.model_copy(update={"embedding": "m@http://127.0.0.1:9/v1"})
    with pytest.raises(InputError, match="ask the embedding's server"):
        await foreseen_from(replace(past, settings=remote), Pruning(**chosen))


PRUNING = {"lambda": 1, "method": "embedding", "query": "response", "revision": "again"}

RUN = "a-run"


def scenario_revised(*, goal: str = "win the others for leaving things alone") -> Scenario:
    """One in which an utterance contradicts a goal that was left out; without a goal, none does."""
    people = default_participants(3)
    goals = {people[0].name: [goal]} if goal else {}
    return make_scenario("Should the square be free of cars?", people).model_copy(update={"social_goals": goals})


async def held_revised(out: Path, **more: Any) -> Path:
    settings = Settings(**{"model": "offline", "seed": 3, "max_messages": 4, "pruning": PRUNING, **more})
    await events_of(run_simulation(scenario_revised(), settings, out=out, run=RUN))
    return out / RUN


def written(folder: Path) -> list[Any]:
    return [logged(folder, kind) for kind in ("utterance", "mind")]


@pytest.mark.proof
async def test_a_revised_run_is_recorded_and_replayed_without_a_model(tmp_path: Path) -> None:
    folder = await held_revised(tmp_path)
    said = logged(folder, "utterance")
    revised = [line["turn"] for line in said if "revised" in line["corrections"]]
    assert revised
    minds = [line for line in logged(folder, "mind") if "pruned" in line]
    checks = {line["turn"]: Pruned.model_validate(line["pruned"]).checks for line in minds}
    assert [turn for turn, made in checks.items() if len(made) > 1] == revised
    assert all(checks.values())
    rows = [row for row in logged(folder, "asked_model") if row["turn"] == revised[0] - 1 and "part" in row]
    asked = [(row["module"], row["part"]) for row in rows]
    three = [[("revision", f"check:{wording}.{n}") for n in range(3)] for wording in range(2)]
    assert asked[:2] == [("pruning", "raw:0"), ("pruning", "score")]
    assert (sorted(asked[2:5]), asked[5], sorted(asked[6:9])) == (three[0], ("natural_language", "again:1"), three[1])
    await replayed_revised(folder, tmp_path / "again")


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
        more = {"max_messages": 3, "pattern": "round_robin", "pruning": pruning}
        folder = await held_revised(tmp_path, model=server.model(), **more)
    assert run_json(folder)["silences"] == 0
    for line in logged(folder, "mind"):
        if "pruned" in line:
            made = Pruned.model_validate(line["pruned"]).checks
            assert [check.scores for check in made] == [[9, 9], [9, 9]]
    said = logged(folder, "utterance")
    assert [line["corrections"] for line in said] == [["still_inconsistent"]] * 3
    await replayed_revised(folder, tmp_path / "again")


async def replayed_revised(folder: Path, out: Path) -> None:
    """The replay of a run is the same byte for byte."""
    await check_replay(folder, out)
    assert written(out / RUN) == written(folder)


@pytest.mark.long
@pytest.mark.proof
async def test_it_can_stop_at_any_request_and_go_on(tmp_path: Path) -> None:
    whole = await held_revised(tmp_path / "whole", max_messages=2)
    used = run_json(whole)["usage"]["total"]["calls"]
    for budget in range(used // 4, used, 3):
        folder = await held_revised(tmp_path / str(budget), max_messages=2, budget_calls=budget)
        await events_of(resume_run(folder, changes={"budget_calls": 1000}))
        assert written(folder) == written(whole), budget


@pytest.mark.proof
@pytest.mark.parametrize("more", [{}, {"cognition": "lean", "mode": "debate"}])
async def test_without_a_conflict_there_are_as_many_calls_as_estimated(tmp_path: Path, more: dict[str, Any]) -> None:
    settings = Settings(model="offline", max_messages=3, pruning={**PRUNING, "lambda": 0.6}, **more)
    run = await persimchat.asimulate(scenario_revised(goal=""), settings=settings)
    foreseen = estimate(scenario_revised(goal=""), settings, utterances=len(run.utterances)).by("module")
    used = totals_by(run.usage, "module")
    assert foreseen["revision"].calls == used["revision"].calls == 3 * len(run.utterances)
    assert foreseen["revision"].input_tokens == pytest.approx(used["revision"].input_tokens, rel=0.2)
    assert foreseen["revision"].output_tokens == pytest.approx(used["revision"].output_tokens, rel=0.15)
