"""Stories in which people play, as runs: resumed, replayed, branched, killed and short of budget, they lose nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from run_files import read_records, run_json
from story_talks import NAMES, scenario

from persimchat.personas.people import with_people
from persimchat.personas.scenario import load_story
from persimchat.runs.control import Control
from persimchat.runs.events import Asked, Event, Started, Stopped, Uttered
from persimchat.runs.folder.reading import read_run
from persimchat.runs.reports.estimate import estimate
from persimchat.runs.reports.export import seen_by
from persimchat.runs.run.branch import branch_run, regenerate_run
from persimchat.runs.run.replay import Replay
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.story import Character

pytestmark = pytest.mark.proof

RUN = "a-played-story"
FILES = ("transcript.jsonl", "transcript.md", "story.jsonl", "minds.jsonl", "silences.jsonl", "control.jsonl")
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


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


async def replayed(folder: Path) -> list[Any]:
    replay = Replay(folder)
    async for _ in replay.events():
        pass
    assert replay.comparison is not None
    assert replay.comparison.prompts == []
    return [] if replay.comparison.same else [replay.comparison.parts]


async def test_a_played_story_ends_and_a_replay_is_the_same(whole: tuple[Path, Player]) -> None:
    folder, player = whole
    assert run_json(folder)["stop_reason"] == "settled"
    kinds = {asked.what for asked in player.asked}
    assert kinds == {"choice", "utterance", "ballot"}
    assert any(one.get("passes") for one in read_records(folder / "control.jsonl"))
    assert await replayed(folder) == []


@pytest.mark.parametrize("answers", (0, 1, 4, 7, 9))
async def test_a_resumed_story_goes_on_where_the_person_was_asked(
    answers: int, whole: tuple[Path, Player], tmp_path: Path
) -> None:
    left = await play(tmp_path, answers=answers)
    stopped = left.events[-1]
    assert isinstance(stopped, Stopped)
    assert (stopped.reason, stopped.source) == ("stopped", "person")
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, control=again.control))
    assert again.asked[0] == left.asked[-1], "the same question, with the same knowledge"
    assert files(tmp_path / RUN) == files(whole[0])
    assert await replayed(tmp_path / RUN) == []


async def test_several_people_play_and_a_replay_is_the_same(tmp_path: Path) -> None:
    player = await play(tmp_path, story("Aino", "Olle"))
    assert {asked.agent for asked in player.asked} == {AINO, OLLE}
    assert await replayed(tmp_path / RUN) == []
    rooms = [one for one in read_records(tmp_path / RUN / "story.jsonl") if one["do"] == "met"]
    two = [one for one in rooms if {one["speaker"], *one["others"]} == {AINO, OLLE}]
    assert two, "two people met"
    summaries = [one["speaker"] for one in read_records(tmp_path / RUN / "story.jsonl") if one["do"] == "summary"]
    assert set(summaries) == {"Veikko Koskela", TUULI}


async def test_a_branch_asks_again_and_may_say_something_else(whole: tuple[Path, Player], tmp_path: Path) -> None:
    folder, player = whole
    said = next(e for e in player.events if isinstance(e, Uttered) and e.speaker == AINO and e.heard_by)
    again = Player()
    source = Path(shutil.copytree(folder, tmp_path / RUN))
    await again.follow(branch_run(source, said.turn - 1, out=tmp_path, run="branch", control=again.control))
    assert again.asked[0].what == "utterance"
    assert files(tmp_path / "branch") == {**files(folder), "control.jsonl": files(tmp_path / "branch")["control.jsonl"]}
    other = Player()
    words = {"say": (AINO, "Something else."), "control": other.control}
    await other.follow(branch_run(source, said.turn - 1, out=tmp_path, run="other", **words))
    lines = read_records(tmp_path / "other" / "transcript.jsonl")
    assert (lines[said.turn - 1]["text"], lines[said.turn - 1]["heard_by"]) == ("Something else.", said.heard_by)
    assert run_json(tmp_path / "other")["stop_reason"] == "settled"


async def test_only_a_models_words_are_made_again(whole: tuple[Path, Player], tmp_path: Path) -> None:
    folder, player = whole
    source = Path(shutil.copytree(folder, tmp_path / RUN))
    own = next(e for e in player.events if isinstance(e, Uttered) and e.speaker == AINO)
    with pytest.raises(InputError, match="own; no model can make it again"):
        async for _ in regenerate_run(source, own.turn, out=tmp_path):
            pass
    others = next(e for e in player.events if isinstance(e, Uttered) and e.speaker != AINO and e.heard_by)
    again = Player()
    await again.follow(regenerate_run(source, others.turn, out=tmp_path, run="again", control=again.control))
    assert run_json(tmp_path / "again")["stop_reason"] == "settled"


async def test_a_budget_ends_a_played_story_and_it_goes_on(whole: tuple[Path, Player], tmp_path: Path) -> None:
    short = await play(tmp_path, budget_calls=20)
    stopped = short.events[-1]
    assert isinstance(stopped, Stopped)
    assert stopped.reason == "budget"
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, changes={"budget_calls": None}, control=again.control))
    assert files(tmp_path / RUN) == files(whole[0])


async def test_stopping_while_a_person_is_asked(tmp_path: Path) -> None:
    made, control = story(), Control()
    seen: list[Event] = []
    async for event in run_simulation(made, settings_of(made), out=tmp_path, run=RUN, control=control):
        seen.append(event)
        if isinstance(event, Asked):
            control.stop()
    assert isinstance(seen[-1], Stopped)
    assert (seen[-1].reason, seen[-1].source) == ("stopped", "moderator")
    again = Player()
    await again.follow(resume_run(tmp_path / RUN, control=again.control))
    assert run_json(tmp_path / RUN)["stop_reason"] == "settled"


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
    assert await replayed(tmp_path / RUN) == []


def test_people_are_no_part_of_an_estimate(whole: tuple[Path, Player]) -> None:
    made = load_story()
    everybody = estimate(made, settings_of(made))
    for name in (AINO, OLLE):
        one = estimate(story(name), settings_of(made))
        own = [row for row in everybody.rows if row["agent"] == name]
        assert one.rows == [row for row in everybody.rows if row["agent"] != name]
        assert abs(everybody.total.calls - one.total.calls - sum(row["calls"] for row in own)) < 1
    rows = read_records(whole[0] / "calls.jsonl")
    assert AINO not in {row["agent"] for row in rows}


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
    rows = read_records(tmp_path / RUN / "calls.jsonl")
    said = read_records(tmp_path / RUN / "transcript.jsonl")
    again = sum("asked_again_for_repetition" in one["corrections"] for one in said)
    assert estimate(played, settings).total.calls == len(rows) - again


def test_the_players_own_story_is_what_the_player_was_told(whole: tuple[Path, Player]) -> None:
    folder, player = whole
    eyes = seen_by(read_run(folder, whole=True), "Aino")
    last = player.asked[-1].story
    assert last is not None
    told = [line["text"] for line in last["knows"]["heard"] if line["do"] == "words"]
    assert told == [said.text for said in eyes.utterances]
