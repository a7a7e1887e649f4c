"""Stories from beginning to end: stages, rooms, votes, a server's answers, the shipped examples."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from loopback.answering import Fault, natural_answer
from loopback.server import LoopbackServer
from page_parts import Page
from run_files import conversation, drop, logged, read_whole, run_json
from talks import check_replay, end_of, events_of

from persimchat.personas.scenario import load_scenario, load_story, make_scenario
from persimchat.reports.diff import compare
from persimchat.reports.estimate import estimate
from persimchat.reports.export import seen_by
from persimchat.reports.report import report_html
from persimchat.runs.api import result_of
from persimchat.runs.control import Control
from persimchat.runs.events import Event, Happened, MindChanged, Silenced, TurnEnded, Uttered
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

RUN = "a-story"


def settings_of(scenario: Scenario, **more: Any) -> Settings:
    return Settings(**{**scenario.settings, "model": "offline", "seed": 1, **more})


async def begin(out: Path, scenario: Scenario | None = None, **more: Any) -> list[Event]:
    story = scenario or load_story()
    return [event async for event in run_simulation(story, settings_of(story, **more), out=out, run=RUN)]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The small story, held once, and its events."""
    out = tmp_path_factory.mktemp("held")
    return out / RUN, asyncio.run(begin(out))


@pytest.fixture
def folder(held: tuple[Path, list[Event]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(held[0], tmp_path / RUN))


@pytest.mark.proof
def test_a_folder_holds_rooms_standings_ballots_and_the_winner(held: tuple[Path, list[Event]]) -> None:
    folder, events = held
    manifest, happened = run_json(folder), logged(folder, "happening")
    assert (manifest["stop_reason"], manifest["turn"]) == ("settled", 20)
    assert manifest["outcome"]["winners"]
    assert sum(one["do"] == "met" for one in happened) == 6
    assert sum(one["do"] == "standing" for one in happened) == 8
    assert sum(one["do"] in ("ballot", "closed_ballot", "guess") for one in happened) == 9
    minds = logged(folder, "mind")
    assert [mind["turn"] for mind in minds] == [0] * 4 + [16] * 4
    assert minds[4]["story"]["closeness"].keys() == {"Veikko Koskela", "Tuuli Koskela", "Olle Granat"}
    read = (folder / "transcript.md").read_text(encoding="utf-8")
    assert "## Round 1, private" in read
    assert "meet alone; nobody else knows." in read
    assert manifest["detail"] in read
    stopped = end_of(events)
    assert stopped.outcome is not None
    assert result_of(events).outcome == stopped.outcome


@pytest.mark.proof
def test_the_story_that_the_document_tells_is_this_one(held: tuple[Path, list[Event]]) -> None:
    met = [one for one in logged(held[0], "happening") if one["do"] == "met"]
    pairs = [(one["stage"], one["speaker"].split()[0], one["others"][0].split()[0]) for one in met]
    assert pairs == [
        *(("private", *two) for two in (("Aino", "Olle"), ("Tuuli", "Aino"), ("Veikko", "Aino"))),
        *(("confidential", *two) for two in (("Aino", "Olle"), ("Tuuli", "Olle"), ("Veikko", "Aino"))),
    ]
    knows = seen_by(read_run(held[0], whole=True), "Veikko").happenings
    met_aino = [one for one in knows if one.do == "met" and one.speaker == "Tuuli Koskela"]
    assert [one.others for one in met_aino] == [["Olle Granat"]]


@pytest.mark.proof
def test_the_report_shows_who_is_close_who_knew_and_who_voted(held: tuple[Path, list[Event]]) -> None:
    record = read_run(held[0])
    html = report_html(record)
    page = Page(html)
    assert [key for key, number in Counter(page.ids).items() if number > 1] == []
    assert {a["href"] for a in page.all("a")} <= {f"#{key}" for key in page.ids}
    assert len(page.all("caption")) == len(page.all("table"))
    last = {one.speaker: one for one in record.happenings if one.do == "standing"}
    heat = re.findall(r'<td style="--v: ([\d.]+)">(\d+)', html)
    assert heat == [
        (f"{value / 100:.2f}", str(value)) for one in last.values() for value in in_listing(one.closeness, list(last))
    ]
    knowing = re.findall(r'<span class="unseen">(hears it|knows of it|nothing)</span>', html)
    assert Counter(knowing) == {"hears it": 12, "knows of it": 6, "nothing": 6}
    assert "The company should be sold." in page.words
    assert page.words.count("heard by") == 12
    assert "Beliefs of Aino Koskela" in page.words
    for one in record.happenings:
        assert one.do != "ballot" or one.text in page.words


def in_listing(closeness: dict[str, int], names: list[str]) -> list[int]:
    return [closeness[name] for name in names if name in closeness]


def as_told(all_: Any) -> list[Any]:
    """What words, happenings and minds a story's events tell of; totals are not known afterwards."""
    shown = [event for event in all_ if isinstance(event, (Uttered, Happened, MindChanged, TurnEnded))]
    return [e.model_copy(update={"totals": None}) if isinstance(e, TurnEnded) else e for e in shown]


@pytest.mark.proof
def test_the_past_of_a_story_is_told_as_it_happened(held: tuple[Path, list[Event]]) -> None:
    folder, events = held
    then, now = as_told(events), as_told(past_events(read_run(folder, whole=True)))
    assert [type(e).__name__ for e in now] == [type(e).__name__ for e in then]
    assert now == then


@pytest.mark.proof
def test_calls_are_as_many_as_estimated_but_for_words_asked_for_again(held: tuple[Path, list[Event]]) -> None:
    story = load_story()
    found = estimate(story, settings_of(story))
    rows = logged(held[0], "asked_model")
    made: dict[str, int] = {}
    for row in rows:
        made[row["module"]] = made.get(row["module"], 0) + 1
    again = sum("asked_again_for_repetition" in u["corrections"] for u in logged(held[0], "utterance"))
    made["natural_language"] -= again
    assert {module: totals.calls for module, totals in found.by("module").items()} == made
    assert found.total.calls == 67
    assert found.utterances == 20
    assert len({(row["turn"], row["agent"], row["module"], row.get("part", ""), row["n"]) for row in rows}) >= 67


@pytest.mark.proof
async def test_a_replay_is_the_same_byte_for_byte(folder: Path) -> None:
    await check_replay(folder)


@pytest.mark.proof
async def test_a_settled_story_does_not_go_on(folder: Path) -> None:
    with pytest.raises(InputError, match="the story is settled"):
        await events_of(resume_run(folder, changes={"rounds": 2}))


async def stopped_at(out: Path, turn: int, scenario: Scenario | None = None, **more: Any) -> Path:
    """A run that its moderator stopped after so many utterances."""
    control, story = Control(), scenario or load_story()
    async for event in run_simulation(story, settings_of(story, **more), out=out, run=RUN, control=control):
        if isinstance(event, Uttered) and event.turn == turn:
            control.stop()
    return out / RUN


async def resumed(folder: Path, **changes: Any) -> list[Event]:
    return [event async for event in resume_run(folder, changes=changes)]


@pytest.mark.proof
@pytest.mark.parametrize(
    "turn", [3, pytest.param(9, marks=pytest.mark.proof), pytest.param(16, marks=pytest.mark.proof)]
)
async def test_a_story_that_was_stopped_ends_as_if_it_had_not_been(
    turn: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    folder = await stopped_at(tmp_path, turn)
    assert run_json(folder)["stop_reason"] == "stopped"
    drop(folder, "checkpoint = (SELECT max(checkpoint) FROM events)")
    await resumed(folder)
    assert [one for one in conversation(folder) if one[0] != "intervention"] == conversation(held[0])


@pytest.mark.proof
@pytest.mark.parametrize("calls", [2, 6, 9, 20, 37, 55, 60, 65])
async def test_a_story_whose_budget_is_used_up_anywhere_goes_on_from_there(
    calls: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    events = await begin(tmp_path, budget_calls=calls, concurrent=False)
    last = end_of(events)
    assert last.reason == "budget"
    await resumed(tmp_path / RUN, budget_calls=1000)
    assert conversation(tmp_path / RUN) == conversation(held[0])


@pytest.mark.proof
async def test_a_story_without_a_vote_goes_on_with_more_rounds(tmp_path: Path) -> None:
    given = load_story().model_dump(by_alias=True)
    story = Scenario.model_validate({**given, "story": {**given["story"], "settlement": None}})
    events = await begin(tmp_path, story)
    assert end_of(events).reason == "finished"
    more = await resumed(tmp_path / RUN, rounds=2)
    assert (end_of(more).reason, end_of(more).turn) == ("finished", 32)
    with pytest.raises(InputError, match="rounds are over"):
        await resumed(tmp_path / RUN, model="offline", timeout_s=50)


@pytest.mark.long
@pytest.mark.proof
async def test_a_story_whose_minds_go_without_a_part_is_kept_replayed_and_resumed_as_such(tmp_path: Path) -> None:
    given = load_story().model_dump(by_alias=True)
    left_out = ["planning", "thinking", "reflection", "memory"]
    story = Scenario.model_validate({**given, "story": {**given["story"], "ablation": left_out}})
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    await begin(whole, story)
    manifest = run_json(whole / RUN)
    assert manifest["scenario"]["story"]["ablation"] == left_out
    await check_replay(whole / RUN)
    await begin(parted, story, budget_calls=20, concurrent=False)
    await resumed(parted / RUN, budget_calls=1000)
    assert conversation(parted / RUN) == conversation(whole / RUN)
    happened = logged(whole / RUN, "happening")
    assert not [one for one in happened if one["do"] in ("choice", "review", "ballot") and one.get("text")]


@pytest.mark.proof
async def test_a_branch_says_something_else_in_a_room_and_only_that_room_hears_it(folder: Path, tmp_path: Path) -> None:
    said = logged(folder, "utterance")
    speaker = said[2]["speaker"]
    words = "I know of the offer."
    await events_of(branch_run(folder, 2, say=(speaker, words), run="branch"))
    made = logged(tmp_path / "branch", "utterance")
    assert made[:2] == said[:2]
    assert (made[2]["text"], made[2]["heard_by"]) == (words, said[2]["heard_by"])
    assert run_json(tmp_path / "branch")["stop_reason"] == "settled"
    await check_replay(tmp_path / "branch")


@pytest.mark.proof
async def test_two_runs_are_compared_by_where_their_characters_stand(folder: Path, tmp_path: Path) -> None:
    said = logged(folder, "utterance")
    await events_of(branch_run(folder, 2, say=(said[2]["speaker"], "I speak for Veikko."), run="branch"))
    a, b = (read_run(path, whole=True) for path in (folder, tmp_path / "branch"))
    found = compare(a, b)
    assert [one.name for one in found.standings] == a.manifest.names
    assert all(one.a.startswith("behind ") and "influence" in one.b for one in found.standings)
    assert not found.equal
    assert compare(a, a).equal


@pytest.mark.proof
async def test_a_branch_refuses_who_is_not_next_and_the_middle_of_a_chat_round(folder: Path) -> None:
    said = logged(folder, "utterance")
    other = next(name for name in ("Olle Granat", "Tuuli Koskela") if name != said[2]["speaker"])
    with pytest.raises(InputError, match="cannot speak there: .* speaks next, in the room of"):
        await events_of(branch_run(folder, 2, say=(other, "Me first.")))
    with pytest.raises(InputError, match="cannot continue after utterance 13"):
        await events_of(branch_run(folder, 13))


@pytest.mark.proof
async def test_an_utterance_of_a_room_is_made_again(folder: Path, tmp_path: Path) -> None:
    said = logged(folder, "utterance")
    await events_of(regenerate_run(folder, 3, run="again"))
    made = logged(tmp_path / "again", "utterance")
    assert (made[2]["speaker"], made[2]["heard_by"]) == (said[2]["speaker"], said[2]["heard_by"])
    assert made[2]["text"] != said[2]["text"]


@pytest.mark.proof
def test_an_export_for_a_character_s_eyes_has_only_what_it_knows(folder: Path) -> None:
    record = read_run(folder, whole=True)
    for name in record.manifest.names:
        seen = seen_by(record, name)
        assert {one.speaker for one in seen.happenings if one.heard_by == []} <= {name}
        assert all(one.heard_by is None or name in (one.speaker, *one.heard_by) for one in seen.happenings)
        assert len(seen.utterances) < len(record.utterances)
        assert seen.manifest.outcome is None


@pytest.mark.proof
def test_runs_without_a_story_do_not_mention_one(tmp_path: Path) -> None:
    people: list[Any] = [{"name": name, "description": "Somebody."} for name in ("Ada Lind", "Bo Vik")]

    async def hold() -> None:
        made = Settings(model="offline", max_messages=2)
        await events_of(run_simulation(make_scenario("Tea?", people), made, out=tmp_path, run="plain"))

    asyncio.run(hold())
    manifest = run_json(tmp_path / "plain")
    assert "story" not in json.dumps(manifest["scenario"])
    assert "outcome" not in manifest
    assert not {"stocktaking", "ballot"} & set(manifest["models"]["Ada Lind"])
    assert logged(tmp_path / "plain", "happening") == []
    for kind in ("mind", "asked_model"):
        assert all("story" not in line and "part" not in line for line in logged(tmp_path / "plain", kind))


CALLS = {"ferries": 471, "thinkers": 498, "festival": 415, "museum": 258}


async def held_example(name: str, root: Path, out: Path, seed: int = 1) -> Path:
    scenario = load_scenario(root / "examples" / "stories" / f"{name}.yaml")
    settings = Settings(**{**scenario.settings, "model": "offline", "seed": seed})
    await events_of(run_simulation(scenario, settings, out=out, run=name))
    return out / name


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CALLS)
async def test_calls_are_as_estimated_and_a_replay_is_equal(name: str, root: Path, tmp_path: Path) -> None:
    folder = await held_example(name, root, tmp_path)
    scenario = load_scenario(root / "examples" / "stories" / f"{name}.yaml")
    found = estimate(scenario, Settings(**{**scenario.settings, "model": "offline"}))
    rows, said = logged(folder, "asked_model"), logged(folder, "utterance")
    again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
    assert (found.total.calls, len(rows) - again) == (CALLS[name], CALLS[name])
    assert found.utterances == len(said)
    assert run_json(folder)["stop_reason"] == "settled"
    await check_replay(folder)


@pytest.mark.proof
@pytest.mark.timeout(400)
@pytest.mark.long
async def test_a_seed_gives_the_same_story_and_other_seeds_other_winners(root: Path, tmp_path: Path) -> None:
    winners = set()
    for seed in (1, 2, 4):
        folder = await held_example("ferries", root, tmp_path / str(seed), seed)
        winners |= set(run_json(folder)["outcome"]["winners"])
    assert len(winners) > 1
    again = await held_example("ferries", root, tmp_path / "again", 4)
    assert read_whole(folder) == read_whole(again)


async def held_served(out: Path, server: LoopbackServer) -> list[Any]:
    story = load_story()
    settings = Settings(**{**story.settings, "model": server.model()})
    return [event async for event in run_simulation(story, settings, out=out, run="r")]


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
@pytest.mark.parametrize("refuses", [(), ("json_schema",), ("json_schema", "tools", "json_object")])
async def test_a_story_is_held_in_every_form_of_answer(
    refuses: tuple[str, ...], serving: Serve, tmp_path: Path
) -> None:
    events = await held_served(tmp_path, serving(natural_answer, refuses=refuses))
    assert end_of(events).reason == "settled"
    assert not [event for event in events if isinstance(event, Silenced)]
    counts = run_json(tmp_path / "r")["judgements"]
    assert {name: row["asked"] for name, row in counts.items()} == {
        "stocktaking": 12, "choice": 6, "summary": 12, "review": 8, "ballot": 9
    }  # fmt: skip
    assert all(row["valid"] == row["asked"] for row in counts.values())


@pytest.mark.proof
@pytest.mark.usefixtures("quick_retries")
async def test_where_a_server_fails_for_one_character_the_others_go_on(serving: Serve, tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return (
            Fault(status=401)
            if "- Name: Veikko Koskela" in json.dumps(body, ensure_ascii=False)
            else natural_answer(body)
        )

    events = await held_served(tmp_path, serving(answer))
    assert end_of(events).reason == "settled"
    silent = [event for event in events if isinstance(event, Silenced)]
    assert {event.agent for event in silent} == {"Veikko Koskela"}
    assert {event.step for event in silent} >= {"awaken", "stocktake", "address", "review", "ballot"}
    happened = logged(tmp_path / "r", "happening")
    assert not [one for one in happened if one["do"] == "met" and one["speaker"] == "Veikko Koskela"]
    assert {one["speaker"] for one in happened if one["do"] == "ballot"} == {"Aino Koskela", "Tuuli Koskela"}
