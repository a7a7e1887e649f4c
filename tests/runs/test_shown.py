"""What a run has is shown wherever it is shown: conditions, words put in, weak answers, cached tokens, temperatures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from loopback.answering import TASK, Reply
from loopback.scripted import Scripted
from loopback.server import LoopbackServer
from run_files import logged, read_table, run_json
from run_folders import PEOPLE, call, mind, put, write_run
from runs.test_control import ADA, BO, LI, SCENARIO
from story_talks import scenario
from talks import check_replay, end_of, events_of

import persimchat
from persimchat.app.cli import main
from persimchat.app.views.text import used
from persimchat.app.web.board import Board
from persimchat.models.usage import summed
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.prompts import blocks
from persimchat.reports.diff_parting import parting
from persimchat.reports.export import export_runs
from persimchat.reports.export_rows import rows_of
from persimchat.reports.report import report_html
from persimchat.reports.summary import summarise
from persimchat.reports.words import came_out
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Stopped, Totals, Uttered
from persimchat.runs.folder.manifest import Manifest
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.resume_input import changed_settings
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import OF_STORIES, Settings

QUESTION = "Should our town close its centre to cars?"


async def debate(out: Path, seed: int, **more: Any) -> Path:
    settings = Settings(**{"model": "offline", "mode": "debate", "answer_format": "yesno", "seed": seed, **more})
    await events_of(run_simulation(make_scenario(QUESTION, default_participants(3)), settings, out=out, run="run"))
    return out / "run"


@pytest.mark.proof
async def test_everybody_said_yes_with_conditions(tmp_path: Path) -> None:
    folder = await debate(tmp_path, 2)
    conclusion = run_json(folder)["conclusion"]
    assert (conclusion["answer"], conclusion["consensus"]) == ("yes", True)
    assert conclusion["conditional"] == "nobody named them"
    names = [person.name for person in default_participants(3)]
    assert [one["agent"] for one in conclusion["positions"]] == names
    assert all("a yes with conditions" in one["position"] for one in conclusion["positions"])
    said = {u.speaker: u.text for u in read_run(folder).utterances}
    assert [one["words"] for one in conclusion["positions"]] == [said[name] for name in names]
    assert "nobody holds back" not in conclusion["reasoning"]
    verdict = logged(folder, "verdict")[-1]
    assert verdict["conditional"] == "nobody named them"

    text = (folder / "transcript.md").read_text(encoding="utf-8")
    assert "**Conditions:** nobody named them" in text
    assert all(f"- {name}: " in text for name in names)
    record = read_run(folder)
    page = report_html(record)
    assert "<b>Conditions:</b> nobody named them" in page
    assert "Consensus, under conditions" in page
    assert page.count(" messages): ") + page.count(" message): ") == len(names)
    *_, stopped = past_events(record)
    assert stopped.event == "stopped"
    assert stopped.conclusion is not None
    assert stopped.conclusion.model_dump() == conclusion
    export_runs([folder], tmp_path / "tables", "jsonl")
    (row,) = (tmp_path / "tables" / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(row)["conditional"] == "nobody named them"
    assert list(json.loads(row)["standings"]) == names


@pytest.mark.long
async def test_conditions_of_some_are_theirs(tmp_path: Path) -> None:
    found = 0
    for seed in range(10):
        conclusion = run_json(await debate(tmp_path / str(seed), seed))["conclusion"]
        stands = conclusion.get("positions", [])
        holders = [one["agent"] for one in stands if one["position"].endswith("a yes with conditions.")]
        if 0 < len(holders) < 3:
            found += 1
            assert conclusion["conditional"] == f"nobody named them ({' and '.join(holders)})"
    assert found


@pytest.mark.proof
async def test_without_conditions_nothing_is_written(tmp_path: Path) -> None:
    folder = await debate(tmp_path, 0, max_messages=2, answer_format="free")
    assert "conditional" not in str(logged(folder, "verdict"))
    assert run_json(folder)["conclusion"].keys() == {"answer", "consensus", "reasoning", "supporters", "by"}


@pytest.mark.proof
@pytest.mark.parametrize("baseline", ["reconcile", "mad_judge"])
async def test_votes_are_counted_with_their_conditions(baseline: str, tmp_path: Path) -> None:
    folder = await debate(tmp_path, 1, baseline=baseline)
    conclusion = run_json(folder)["conclusion"]
    assert conclusion["answer"] == "yes"
    assert conclusion["conditional"] == "a yes with conditions"
    positions = {one["agent"]: one["position"] for one in conclusion["positions"]}
    assert [positions[name] for name in conclusion["supporters"]] == ["yes (a yes with conditions)"] * 2


SETTINGS = Settings(model="offline", max_messages=4, closing="off", human_turns="hand")


def marks(folder: Path) -> list[str | None]:
    return [line.get("edited_by") for line in logged(folder, "utterance")]


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
    await events_of(
        branch_run(folder, 3, say=("Ada", "I never\nliked tea."), run="branch", changes={"max_messages": 5})
    )
    return out / "branch"


@pytest.fixture(scope="module")
def branched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch with other words of Ada's, from a run in which a moderator gave Bo words."""
    return asyncio.run(made(tmp_path_factory.mktemp("runs")))


@pytest.mark.proof
def test_the_record_says_who_did_it(branched: Path) -> None:
    assert marks(branched.parent / "source") == [None, None, "moderator", None]
    assert "edited_by" not in logged(branched, "utterance")[0]
    assert marks(branched) == [None, None, "moderator", "branch", None]


@pytest.mark.proof
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
    await events_of(branch_run(branched, 4, run="second", changes={"max_messages": 6}))
    second = branched.parent / "second"
    assert marks(second)[:4] == [None, None, "moderator", "branch"]
    await check_replay(branched)
    found = parting(read_run(branched.parent / "source"), read_run(branched))
    assert found is not None
    assert found.b is not None
    assert found.b.edited_by == "branch"


@pytest.mark.proof
async def test_what_a_model_says_again_is_its_own(branched: Path) -> None:
    await events_of(regenerate_run(branched, 4, run="anew"))
    assert marks(branched.parent / "anew")[:4] == [None, None, "moderator", None]


@pytest.mark.parametrize("by", ["branch", "moderator"])
def test_nobody_in_the_conversation_is_told(by: str) -> None:
    said: Any = {"turn": 1, "speaker": ADA, "text": "I never liked tea.", "addressees": [], "emotion": {}}
    given: Any = {**said, "edited_by": by}
    assert blocks.last_utterances([given], BO) == blocks.last_utterances([said], BO)
    assert blocks.observed([given]) == blocks.observed([said])


COUNTS = {"emotion": {"asked": 15, "valid": 9, "again": 2, "corrected": 3, "failed": 1}}


def test_they_are_counted_everywhere(tmp_path: Path) -> None:
    minds = [mind(0, PEOPLE[0], failed=["emotion"], corrected=["need_to_talk", "openness"]), mind(0, PEOPLE[1])]
    folder = write_run(tmp_path, minds=minds, judgements=COUNTS)
    summary = summarise(read_run(folder))
    assert came_out(summary.judgements, "failed") == "emotion 1 of 15"
    assert came_out(summary.judgements, "corrected") == "emotion 3 of 15"
    rows = list(rows_of(read_run(folder, whole=True)))
    run = next(row for table, row in rows if table == "runs").model_dump()
    assert [run[f"judgements{of}"] for of in ("", "_first_try", "_corrected", "_failed")] == [15, 9, 3, 1]
    told = [row.model_dump() for table, row in rows if table == "minds"]
    assert [(row["failed"], row["corrected"]) for row in told] == [
        (["emotion"], ["need_to_talk", "openness"]),
        ([], []),
    ]
    board = Board(kept=True)
    for event in past_events(read_run(folder)):
        board.take(event)
    weak = [mind for mind in board.minds[0].values() if mind.failed or mind.corrected]
    assert [(mind.failed, mind.corrected) for mind in weak] == [(["emotion"], ["need_to_talk", "openness"])]


class Cached(Reply):
    """A reply of which the server says that half of the prompt came from its cache."""

    where = "openai"

    def completion(self, body: dict[str, Any], *, usage: bool) -> dict[str, Any]:
        return self._with(super().completion(body, usage=usage))

    def chunks(self, body: dict[str, Any], *, usage: bool) -> list[dict[str, Any]]:
        *pieces, last = super().chunks(body, usage=usage)
        return [*pieces, self._with(last)]

    def _with(self, answer: dict[str, Any]) -> dict[str, Any]:
        usage = dict(answer["usage"])
        half = usage["prompt_tokens"] // 2
        match self.where:
            case "openai":
                usage["prompt_tokens_details"] = {"cached_tokens": half}
            case "deepseek":
                usage |= {"prompt_cache_hit_tokens": half, "prompt_cache_miss_tokens": usage["prompt_tokens"] - half}
            case "llama.cpp":
                return {**answer, "usage": usage, "timings": {"cache_n": half, "prompt_n": 1}}
            case "absurd":
                usage["prompt_tokens_details"] = {"cached_tokens": 10**9}
        return {**answer, "usage": usage}


@pytest.fixture(params=["openai", "deepseek", "llama.cpp", "absurd"])
def server(request: pytest.FixtureRequest) -> Iterator[LoopbackServer]:
    kind = type("Kind", (Cached,), {"where": request.param})
    scripted = Scripted()
    with LoopbackServer(answer=lambda body: kind(**vars(Reply.of(scripted(body), body)))) as running:
        yield running


@pytest.mark.proof
def test_from_the_answer_to_the_folder_and_the_replay(server: LoopbackServer, tmp_path: Path) -> None:
    absurd = server.answer({"messages": [{"role": "user", "content": '<task name="emotion">'}]}).where == "absurd"  # type: ignore[misc, union-attr]
    settings = Settings(model=server.model(), max_messages=2, prices={server.model(): (2.0, 0.0, 1.0)})
    result = persimchat.simulate("Tea?", participants=2, settings=settings, out=tmp_path)
    (folder,) = (path.parent for path in tmp_path.rglob("run.sqlite"))
    rows = logged(folder, "asked_model")
    cached, given = sum(row.get("cached_tokens", 0) for row in rows), sum(row["input_tokens"] for row in rows)
    assert cached == sum(0 if absurd else row["input_tokens"] // 2 for row in rows)
    total = run_json(folder)["usage"]["total"]
    assert (total["input_tokens"], total.get("cached_tokens", 0)) == (given, cached)
    assert result.totals.cached_tokens == cached
    assert result.totals.cost_usd == pytest.approx((2 * given - cached) / 1e6)
    assert ("cached_tokens" in total) is not absurd
    assert main(["replay", str(folder)]) == 0


@pytest.mark.proof
def test_shown_exported_and_added_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    totals = {"calls": 3, "input_tokens": 1000, "cached_tokens": 640, "output_tokens": 200, "estimated": False}
    sums = {"total": totals, "by_module": {"emotion": totals}, "by_agent": {}, "by_model": {}, "rows": []}
    folder = write_run(tmp_path, usage=sums)
    put(folder, "asked_model", [call(1, "Eva", cached_tokens=6), call(2, "Eva")])
    assert main(["show", str(folder)]) == 0
    assert "640" in capsys.readouterr().out
    export_runs([folder], tmp_path / "tables")
    assert [row["cached_tokens"] for row in read_table(tmp_path / "tables/calls.csv")] == ["6", "0"]
    assert read_table(tmp_path / "tables/runs.csv")[0]["cached_tokens"] == "640"


@pytest.mark.proof
def test_sums_have_them_only_where_there_were_some() -> None:
    row = {"module": "m", "agent": "a", "model": "x", "calls": 1, "input_tokens": 9, "output_tokens": 1}
    row |= {"estimated": False, "cost_usd": 0.0}
    assert "cached_tokens" not in summed(row, row)
    both = summed(summed(row, row | {"cached_tokens": 4}), row | {"cached_tokens": 3})
    assert both["cached_tokens"] == 7


@pytest.mark.proof
def test_totals_keep_them_out_of_events_while_there_are_none() -> None:
    assert "cached_tokens" not in Totals(calls=1).model_dump()
    assert "cached" not in used(Totals(calls=1, input_tokens=5))
    assert "5 tokens in (4 cached)" in used(Totals(calls=1, input_tokens=5, cached_tokens=4))


@pytest.mark.proof
@pytest.mark.parametrize("price", [[1.0], [1.0, 2.0, 3.0, 4.0], [1.0, -1.0], [1.0, 2.0, True]])
def test_prices_are_two_or_three_numbers(price: list[Any]) -> None:
    with pytest.raises(ValueError, match="prices"):
        Settings.model_validate({"prices": {"m": price}})


WORDS = ("utterance", "story_utterance")


def discussion() -> Scenario:
    return make_scenario("Tea?", [{"name": name, "description": "Somebody."} for name in ("Ada Lind", "Bo Vik")])


async def held(given: Scenario, out: Path, **settings: Any) -> list[Event]:
    chosen = Settings(**{**given.settings, **settings})
    return [event async for event in run_simulation(given, chosen, out=out, run="r")]


def temperatures(server: LoopbackServer, since: int = 0) -> dict[str, set[float | None]]:
    """The temperatures that the server received, by module."""
    found: dict[str, set[float | None]] = {}
    for request in server.requests[since:]:
        task = TASK.findall(request.text)[-1]
        found.setdefault("natural_language" if task in WORDS else task, set()).add(request.body.get("temperature"))
    return found


@pytest.mark.proof
async def test_each_module_of_a_discussion_asks_with_its_own_temperature(serving: Serve, tmp_path: Path) -> None:
    server = serving()
    own = {"natural_language": 0.9, "perception": 0.0, "need_to_talk": 1.5}
    chosen: dict[str, Any] = {"model": server.model(), "max_messages": 2, "closing": "off", "repetition_check": False}
    await held(discussion(), tmp_path, **chosen, module_temperatures=own, model_temperature=0.4)
    received = temperatures(server)
    assert {name: received[name] for name in own} == {name: {value} for name, value in own.items()}
    others = {name: values for name, values in received.items() if name not in own}
    assert len(others) > 3
    assert set(map(frozenset, others.values())) == {frozenset({0.4})}
    assert run_json(tmp_path / "r")["settings"]["module_temperatures"] == own


@pytest.mark.proof
async def test_the_strategist_s_modules_ask_with_their_own_temperature(serving: Serve, tmp_path: Path) -> None:
    server = serving()
    own = {"stocktaking": 0.5, "choice": 0.0, "summary": 0.1, "review": 0.6, "ballot": 0.3, "natural_language": 0.7}
    made = scenario(2, 0, stages=[{"kind": "private", "exchanges": 1}])
    events = await held(made, tmp_path, mode="story", model=server.model(), rounds=1, module_temperatures=own)
    assert end_of(events).reason == "settled"
    assert temperatures(server) == {name: {value} for name, value in own.items()}
    assert own.keys() == {*OF_STORIES, "natural_language"}


@pytest.mark.proof
async def test_without_the_setting_no_temperature_is_sent_or_written(serving: Serve, tmp_path: Path) -> None:
    server = serving()
    await held(discussion(), tmp_path, model=server.model(), max_messages=1, closing="off")
    assert {value for values in temperatures(server).values() for value in values} == {None}
    assert "module_temperatures" not in run_json(tmp_path / "r")["settings"]
    assert "module_temperatures" not in Settings().model_dump()


@pytest.mark.proof
async def test_a_run_goes_on_with_its_temperatures_or_with_new_ones_and_is_replayed(
    serving: Serve, tmp_path: Path
) -> None:
    server = serving()
    chosen: dict[str, Any] = {"model": server.model(), "closing": "off"}
    await held(discussion(), tmp_path, **chosen, max_messages=1, module_temperatures={"perception": 0.2})
    since = len(server.bodies())
    events = [event async for event in resume_run(tmp_path / "r", changes={"max_messages": 2})]
    assert isinstance(events[-1], Stopped)
    received = temperatures(server, since)
    assert (received["perception"], received["natural_language"]) == ({0.2}, {None})
    since = len(server.bodies())
    changes = {"max_messages": 3, "module_temperatures": {"natural_language": 1.1}}
    said = [event async for event in resume_run(tmp_path / "r", changes=changes) if isinstance(event, Uttered)]
    assert said[-1].turn == 3
    received = temperatures(server, since)
    assert (received["perception"], received["natural_language"]) == ({0.2}, {1.1})
    manifest = run_json(tmp_path / "r")
    assert manifest["settings"]["module_temperatures"] == {"perception": 0.2, "natural_language": 1.1}
    assert manifest["resumed"][-1]["changed"].keys() == {"max_messages", "module_temperatures"}
    since = len(server.bodies())
    await check_replay(tmp_path / "r")
    assert len(server.bodies()) == since


def test_a_run_that_never_had_the_setting_says_so_when_it_gets_it() -> None:
    manifest = Manifest.begun("r", discussion(), Settings(model="offline"), "")
    own = Settings(model="offline", module_temperatures={"choice": 0.0})
    assert changed_settings(manifest, own) == {"module_temperatures": {"choice": 0.0}}
    assert changed_settings(manifest, Settings(model="offline")) == {}


def test_a_setting_back_at_its_default_has_changed() -> None:
    """Also one that records leave out where it has its default."""
    manifest = Manifest.begun("r", discussion(), Settings(model="test-model", language="cs"), "")
    assert changed_settings(manifest, Settings(model="test-model")) == {"language": "en"}


@pytest.mark.parametrize("module", ["judge", "perception"])
def test_the_persona_judge_s_mind_asks_with_the_judge_s_temperature(module: str) -> None:
    given = {"module_temperatures": {"judge": 0.0, "perception": 1.0}, "model_temperature": 0.5}
    assert Settings(**given).of_judge().of_module(module).model_temperature == 0.0  # type: ignore[arg-type]
    without = Settings(model_temperature=0.5, module_temperatures={"perception": 1.0}).of_judge()
    assert without.of_module(module).model_temperature == {"judge": 0.5, "perception": 1.0}[module]
