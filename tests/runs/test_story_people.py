"""People in stories, and rooms in which several talk at once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from minds_told import breakouts
from run_files import conversation, drop, logged, read_whole, run_json
from runs.test_story_runs import as_told
from story_talks import NAMES, scenario
from talks import check_replay, end_of, events_of

from persimchat.personas.scenario import load_story, with_people
from persimchat.reports.diff import compare
from persimchat.reports.estimate import estimate
from persimchat.reports.export import seen_by
from persimchat.reports.report import report_html
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Event, Started, Stopped, Uttered
from persimchat.runs.folder.reading import past_events, read_run
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.stories.story import Character

RUN = "a-played-story"

CY = NAMES[2]

AINO, OLLE, TUULI = "Aino Koskela", "Olle Granat", "Tuuli Koskela"


def story(*people: str) -> Scenario:
    return with_people(load_story(), people or ("Aino",))


def settings_of(scenario: Scenario, **more: Any) -> Settings:
    return Settings(**{**scenario.settings, "model": "offline", "seed": 1, **more})


class Player:
    """Answers every question the same way wherever it is asked, up to a number of answers.

    Args:
        answers: how many are given; then nobody attends any more. None: all.
    """

    def __init__(self, answers: int | None = None) -> None:
        self.control, self.left = Control(), answers
        self.asked: list[Asked] = []
        self.events: list[Event] = []

    async def follow(self, events: AsyncIterator[Event]) -> Player:
        async for event in events:
            self.events.append(event)
            if isinstance(event, Asked):
                self.asked.append(event)
                self._answer(event)
        return self

    def _answer(self, asked: Asked) -> None:
        assert asked.story is not None
        if self.left == 0:
            self.control.leave()
            return
        self.left = self.left - 1 if self.left is not None else None
        number = asked.story["act"]
        if number % 5 == 0:
            self.control.pass_turn()
        elif asked.what == "utterance":
            self.control.answer(f"Word {number}.")
        else:
            self.control.answer(1 + number % len(asked.story["candidates"]))


async def play(out: Path, scenario: Scenario | None = None, answers: int | None = None, **more: Any) -> Player:
    made, player = scenario or story(), Player(answers)
    run = run_simulation(made, settings_of(made, **more), out=out, run=RUN, control=player.control)
    return await player.follow(run)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Player]:
    """The small story with a person as host, played once to its end."""
    out = tmp_path_factory.mktemp("played")
    return out / RUN, asyncio.run(play(out))


def files(folder: Path) -> dict[str, Any]:
    kinds = ("utterance", "happening", "mind", "silenced", "intervention")
    return {kind: logged(folder, kind) for kind in kinds} | {"text": (folder / "transcript.md").read_bytes()}


@pytest.mark.long
@pytest.mark.proof
async def test_a_played_story_ends_and_a_replay_is_the_same(whole: tuple[Path, Player]) -> None:
    folder, player = whole
    assert run_json(folder)["stop_reason"] == "settled"
    kinds = {asked.what for asked in player.asked}
    assert kinds == {"choice", "utterance", "ballot"}
    assert any(one.get("passes") for one in logged(folder, "intervention"))
    await check_replay(folder)


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("answers", (0, 1, 4, 7, 9))
async def test_a_resumed_story_goes_on_where_the_person_was_asked(
    answers: int, whole: tuple[Path, Player], tmp_path: Path
) -> None:
    left = await play(tmp_path, answers=answers)
    stopped = end_of(left.events)
    assert (stopped.reason, stopped.source) == ("stopped", "person")
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, control=again.control))
    assert again.asked[0] == left.asked[-1], "the same question, with the same knowledge"
    assert files(tmp_path / RUN) == files(whole[0])
    await check_replay(tmp_path / RUN)


@pytest.mark.proof
async def test_several_people_play_and_a_replay_is_the_same(tmp_path: Path) -> None:
    player = await play(tmp_path, story("Aino", "Olle"))
    assert {asked.agent for asked in player.asked} == {AINO, OLLE}
    await check_replay(tmp_path / RUN)
    rooms = [one for one in logged(tmp_path / RUN, "happening") if one["do"] == "met"]
    two = [one for one in rooms if {one["speaker"], *one["others"]} == {AINO, OLLE}]
    assert two, "two people met"
    summaries = [one["speaker"] for one in logged(tmp_path / RUN, "happening") if one["do"] == "summary"]
    assert set(summaries) == {"Veikko Koskela", TUULI}


@pytest.mark.proof
async def test_a_branch_asks_again_and_may_say_something_else(whole: tuple[Path, Player], tmp_path: Path) -> None:
    folder, player = whole
    said = next(e for e in player.events if isinstance(e, Uttered) and e.speaker == AINO and e.heard_by)
    again = Player()
    source = Path(shutil.copytree(folder, tmp_path / RUN))
    await again.follow(branch_run(source, said.turn - 1, out=tmp_path, run="branch", control=again.control))
    assert again.asked[0].what == "utterance"
    assert files(tmp_path / "branch") == {**files(folder), "intervention": files(tmp_path / "branch")["intervention"]}
    other = Player()
    words = {"say": (AINO, "Something else."), "control": other.control}
    await other.follow(branch_run(source, said.turn - 1, out=tmp_path, run="other", **words))
    lines = logged(tmp_path / "other", "utterance")
    assert (lines[said.turn - 1]["text"], lines[said.turn - 1]["heard_by"]) == ("Something else.", said.heard_by)
    assert run_json(tmp_path / "other")["stop_reason"] == "settled"


@pytest.mark.proof
async def test_only_a_models_words_are_made_again(whole: tuple[Path, Player], tmp_path: Path) -> None:
    folder, player = whole
    source = Path(shutil.copytree(folder, tmp_path / RUN))
    own = next(e for e in player.events if isinstance(e, Uttered) and e.speaker == AINO)
    with pytest.raises(InputError, match="own; no model can make it again"):
        await events_of(regenerate_run(source, own.turn, out=tmp_path))
    others = next(e for e in player.events if isinstance(e, Uttered) and e.speaker != AINO and e.heard_by)
    again = Player()
    await again.follow(regenerate_run(source, others.turn, out=tmp_path, run="again", control=again.control))
    assert run_json(tmp_path / "again")["stop_reason"] == "settled"


@pytest.mark.proof
async def test_a_budget_ends_a_played_story_and_it_goes_on(whole: tuple[Path, Player], tmp_path: Path) -> None:
    short = await play(tmp_path, budget_calls=20)
    stopped = end_of(short.events)
    assert stopped.reason == "budget"
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, changes={"budget_calls": None}, control=again.control))
    assert files(tmp_path / RUN) == files(whole[0])


@pytest.mark.proof
async def test_stopping_while_a_person_is_asked(tmp_path: Path) -> None:
    made, control = story(), Control()
    seen: list[Event] = []
    async for event in run_simulation(made, settings_of(made), out=tmp_path, run=RUN, control=control):
        seen.append(event)
        if isinstance(event, Asked):
            control.stop()
    assert (end_of(seen).reason, end_of(seen).source) == ("stopped", "moderator")
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, control=again.control))
    assert run_json(tmp_path / RUN)["stop_reason"] == "settled"


@pytest.mark.proof
async def test_the_moderator_speaks_and_the_player_hears_it(tmp_path: Path) -> None:
    made, player = story(), Player()
    told = False
    async for event in run_simulation(made, settings_of(made), out=tmp_path, run=RUN, control=player.control):
        player.events.append(event)
        if isinstance(event, Started):
            assert event.people == [AINO]
        if isinstance(event, Uttered) and not told:
            told = True
            player.control.say("Keep it short, please.")
        if isinstance(event, Asked):
            player.asked.append(event)
            player._answer(event)
    assert player.asked[-1].story is not None
    heard = [line["text"] for line in player.asked[-1].story["knows"]["heard"] if line["who"] == "Moderator"]
    assert heard == ["Keep it short, please."]
    await check_replay(tmp_path / RUN)


@pytest.mark.proof
def test_people_are_no_part_of_an_estimate(whole: tuple[Path, Player]) -> None:
    made = load_story()
    everybody = estimate(made, settings_of(made))
    for name in (AINO, OLLE):
        one = estimate(story(name), settings_of(made))
        own = [row for row in everybody.rows if row["agent"] == name]
        assert one.rows == [row for row in everybody.rows if row["agent"] != name]
        assert abs(everybody.total.calls - one.total.calls - sum(row["calls"] for row in own)) < 1
    rows = logged(whole[0], "asked_model")
    assert AINO not in {row["agent"] for row in rows}


@pytest.mark.proof
async def test_calls_are_as_many_as_estimated(tmp_path: Path) -> None:
    """Nobody can choose the person, so it is certain who talks to whom."""
    made = scenario(2, 1, settlement={"voters": "all"})
    assert made.story is not None
    parts = {**made.story.characters, CY: Character(approachable=False)}
    told = made.model_copy(update={"story": made.story.model_copy(update={"characters": parts})})
    played = with_people(told, (CY,))
    player = Player()
    settings = Settings(mode="story", model="offline", seed=1, rounds=2)
    await player.follow(run_simulation(played, settings, out=tmp_path, run=RUN, control=player.control))
    rows = logged(tmp_path / RUN, "asked_model")
    said = logged(tmp_path / RUN, "utterance")
    again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
    assert estimate(played, settings).total.calls == len(rows) - again


@pytest.mark.proof
def test_the_players_own_story_is_what_the_player_was_told(whole: tuple[Path, Player]) -> None:
    folder, player = whole
    eyes = seen_by(read_run(folder, whole=True), "Aino")
    last = player.asked[-1].story
    assert last is not None
    told = [line["text"] for line in last["knows"]["heard"] if line["do"] == "words"]
    assert told == [said.text for said in eyes.utterances]


RUN_BREAKOUT = "a-workshop"

STAGES: list[dict[str, Any]] = [
    {"kind": "plenary", "utterances": 2},
    {"kind": "rooms", "split": {"size": 2}, "utterances": 2, "report": True},
    {"kind": "plenary", "utterances": 3},
]

WORKSHOP = breakouts(4, STAGES)


def settings_of_breakout(scenario: Scenario, **more: Any) -> Settings:
    given = {"model": "offline", "seed": 1, "rounds": 1, "cognition": "lean", **more}
    return Settings(**{**scenario.settings, **given})


async def begin(out: Path, scenario: Scenario = WORKSHOP, control: Control | None = None, **more: Any) -> list[Event]:
    run = run_simulation(scenario, settings_of_breakout(scenario, **more), out=out, run=RUN_BREAKOUT, control=control)
    return [event async for event in run]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The workshop, held once, and its events."""
    out = tmp_path_factory.mktemp("held")
    return out / RUN_BREAKOUT, asyncio.run(begin(out))


@pytest.fixture
def folder(held: tuple[Path, list[Event]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(held[0], tmp_path / RUN_BREAKOUT))


@pytest.mark.proof
def test_a_folder_tells_of_rooms_and_of_minds_after_each_turn(held: tuple[Path, list[Event]]) -> None:
    folder, events = held
    assert (run_json(folder)["stop_reason"], run_json(folder)["turn"]) == ("finished", 9)
    happened = logged(folder, "happening")
    assert [one["do"] for one in happened] == ["stage", "stage", "met", "met", *["summary"] * 4, "stage"]
    minds = logged(folder, "mind")
    assert [mind["turn"] for mind in minds[::4]] == [0, 1, 2, 4, 6, 7, 8, 9]
    assert all(mind["percept"] for mind in minds[4:]), "everybody has heard something in each turn"
    read = (folder / "transcript.md").read_text(encoding="utf-8")
    assert "## Round 1, rooms" in read
    assert "*Room 1: Ada Lind and" in read
    assert isinstance(events[-1], Stopped)


@pytest.mark.proof
def test_the_past_is_told_as_it_happened(held: tuple[Path, list[Event]]) -> None:
    folder, events = held
    assert as_told(past_events(read_run(folder, whole=True))) == as_told(events)


@pytest.mark.long
@pytest.mark.proof(cases=1)
@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
async def test_calls_are_those_estimated(cognition: str, tmp_path: Path) -> None:
    for number, story in enumerate((WORKSHOP, load_story())):
        out = tmp_path / str(number)
        await begin(out, story, cognition=cognition)
        said = logged(out / RUN_BREAKOUT, "utterance")
        again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
        found = estimate(story, settings_of_breakout(story, cognition=cognition))
        asked = [one["module"] for one in logged(out / RUN_BREAKOUT, "asked_model")]
        foreseen = {name: one.calls for name, one in found.by("module").items()}
        if cognition == "lean":  # of reflection, only an expectation is known
            asked = [module for module in asked if module != "reflection"]
            foreseen.pop("reflection")
        assert len(asked) - again == sum(foreseen.values())
        assert len(said) == found.utterances
        expected = {"full": 391, "compact": 219, "lean": 131}[cognition]
        assert found.total.calls == expected or story is WORKSHOP


@pytest.mark.proof
async def test_a_replay_is_the_same_byte_for_byte(folder: Path) -> None:
    await check_replay(folder)


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("turn", [1, 4, 6, 8])
async def test_a_workshop_that_was_stopped_ends_as_if_it_had_not_been(
    turn: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    control = Control()
    run = run_simulation(WORKSHOP, settings_of_breakout(WORKSHOP), out=tmp_path, run=RUN_BREAKOUT, control=control)
    async for event in run:
        if isinstance(event, Uttered) and event.turn == turn:
            control.stop()
    drop(tmp_path / RUN_BREAKOUT, "checkpoint = (SELECT max(checkpoint) FROM events)")
    await events_of(resume_run(tmp_path / RUN_BREAKOUT))
    told = [one for one in conversation(tmp_path / RUN_BREAKOUT) if one[0] != "intervention"]
    assert told == conversation(held[0])


@pytest.mark.proof(cases=2)
@pytest.mark.parametrize("calls", [3, 7, 14, 20, 33, 40])
async def test_a_workshop_whose_budget_is_used_up_anywhere_goes_on_from_there(
    calls: int, held: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    events = await begin(tmp_path, budget_calls=calls, concurrent=False)
    assert end_of(events).reason == "budget"
    await events_of(resume_run(tmp_path / RUN_BREAKOUT, changes={"budget_calls": 1000}))
    assert read_whole(tmp_path / RUN_BREAKOUT) == read_whole(held[0])


@pytest.mark.long
@pytest.mark.proof
async def test_a_workshop_goes_on_with_more_rounds_and_a_branch_with_other_words(folder: Path, tmp_path: Path) -> None:
    events = [event async for event in resume_run(folder, changes={"rounds": 2})]
    assert (end_of(events).reason, end_of(events).turn) == ("finished", 18)
    said = logged(folder, "utterance")
    await events_of(branch_run(folder, 1, say=(said[1]["speaker"], "I would rather have a bakery."), run="branch"))
    made = logged(tmp_path / "branch", "utterance")
    assert (made[0], made[1]["text"]) == (said[0], "I would rather have a bakery.")
    assert "heard_by" not in made[1]
    a, b = (read_run(path, whole=True) for path in (folder, tmp_path / "branch"))
    assert not compare(a, b).equal
    await check_replay(tmp_path / "branch")


@pytest.mark.proof
async def test_the_middle_of_a_lockstep_cannot_be_branched_and_a_plenary_s_words_are_made_again(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot continue after utterance 3"):
        await events_of(branch_run(folder, 3))
    with pytest.raises(InputError, match="all speak at once there"):
        await events_of(branch_run(folder, 2, say=("Ada Lind", "Me first.")))
    said = logged(folder, "utterance")
    await events_of(regenerate_run(folder, 8, run="again"))
    made = logged(tmp_path / "again", "utterance")
    assert made[7]["speaker"] == said[7]["speaker"]


@pytest.mark.proof
def test_an_export_for_somebody_has_its_own_room_alone(held: tuple[Path, list[Event]]) -> None:
    record = read_run(held[0], whole=True)
    for name in record.manifest.names:
        own = seen_by(record, name)
        assert [
            one.turn for one in own.utterances if one.heard_by is not None and name not in [one.speaker, *one.heard_by]
        ] == []
        assert len(own.utterances) == 2 + 2 + 3
        assert [one.speaker for one in own.happenings if one.do == "summary"] == [name]
        assert sum(one.do == "met" for one in own.happenings) == 2, "all know who is in which room"


@pytest.mark.proof
def test_a_report_shows_the_rooms(held: tuple[Path, list[Event]]) -> None:
    assert "Room 2: " in report_html(read_run(held[0], whole=True))
