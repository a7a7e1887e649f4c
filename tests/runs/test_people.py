"""Runs in which people take part: who is asked when, what they answer, and what happens where nobody does."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from loopback.scripted import Scripted, participants_of, prompt_of
from loopback.server import LoopbackServer
from run_files import logged, read_whole

from persimchat.runs.control import Control
from persimchat.runs.events import Event
from persimchat.runs.run.resume import resume_run
from persimchat.runs.run.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

ADA, BO, LI, EVA = "Ada Lind", "Bo Říha", "李雷", "Eva Horáková"
AGENTS = [
    {"name": ADA, "description": "A baker who gets up at three."},
    {"name": BO, "description": "A bus driver near retirement."},
]


def scenario(*people: str) -> Scenario:
    persons = [{"name": name, "human": True} for name in people or (LI,)]
    return Scenario.model_validate({"topic": "Tea or coffee?", "participants": [*AGENTS, *persons]})


class Person:
    """Answers whenever somebody is asked.

    Args:
        words: what everybody says at their turn; they pass where it is None.
        need: their need to talk.
    """

    def __init__(self, words: Any = "I would rather have water.", need: Any = 10) -> None:
        self.words, self.need = words, need
        self.control = Control()
        self.events: list[Any] = []

    def asked(self) -> list[tuple[str, str, int]]:
        return [(event.agent, event.what, event.turn) for event in self.events if event.event == "asked"]

    def said(self) -> list[tuple[str, str]]:
        return [(event.speaker, event.text) for event in self.events if event.event == "utterance"]

    def on(self, event: Event) -> None:
        """Take an event, and answer straight from it."""
        self.events.append(event)
        if event.event == "asked":
            words = {"pass": True} if self.words is None else self.words
            self.control.answer(self.need if event.what == "need_to_talk" else words)

    async def run(self, people: Scenario | None = None, out: Path | None = None, **more: Any) -> Person:
        """Hold a run to its end."""
        settings = Settings(**{"model": "offline", "max_messages": 6, "closing": "off", **more})
        async for event in run_simulation(people or scenario(), settings, out=out, run="r", control=self.control):
            self.on(event)
        return self

    async def resume(self, folder: Path, **more: Any) -> Person:
        """Hold a run that goes on."""
        async for event in resume_run(folder, control=self.control, **more):
            self.on(event)
        return self


@pytest.mark.proof
async def test_in_turn_everybody_is_asked() -> None:
    person = await Person().run(pattern="round_robin")
    assert person.asked() == [(LI, "utterance", 2), (LI, "utterance", 5)]
    assert [name for name, _ in person.said()] == [ADA, BO, LI, ADA, BO, LI]
    started, stopped = person.events[0], person.events[-1]
    assert started.people == [LI]
    assert LI not in started.models
    assert LI not in {row["agent"] for row in stopped.usage}
    assert stopped.reason == "message_limit"


@pytest.mark.proof
async def test_a_person_who_is_spoken_to_is_asked() -> None:
    with LoopbackServer(answer=Scripted(utterance=f"{LI}, what do you drink?")) as server:
        more = {"model": server.model(), "repetition_check": False, "max_messages": 3}
        person = await Person().run(**more)
        assert person.asked()[0] == (LI, "utterance", 1)
        assert person.said()[1] == (LI, "I would rather have water.")
        by_hand = await Person().run(**more, human_turns="hand")
        assert by_hand.asked() == []


@pytest.mark.proof
async def test_a_need_to_talk_is_asked_for_after_every_utterance(tmp_path: Path) -> None:
    person = await Person(need="3").run(scenario(LI, EVA), tmp_path, human_turns="need", max_messages=3)
    needs = [asked for asked in person.asked() if asked[1] == "need_to_talk"]
    assert needs == [(name, "need_to_talk", turn) for turn in (1, 2, 3) for name in (LI, EVA)]
    recorded = [line for line in logged(tmp_path / "r", "intervention") if line.get("what") == "need_to_talk"]
    assert [(line["agent"], line["turn"], line["need_to_talk"]) for line in recorded] == [
        (name, turn, 3) for name, _, turn in needs
    ]


@pytest.mark.proof
async def test_the_greatest_need_is_a_persons() -> None:
    person = await Person(need=10).run(human_turns="need")
    speakers = [name for name, _ in person.said()]
    assert speakers[1::2] == [LI] * 3
    assert LI not in speakers[0::2]


@pytest.mark.proof
@pytest.mark.parametrize("pattern", ["round_robin", "need_to_talk", "selector"])
async def test_a_person_who_passes_for_ever(pattern: str) -> None:
    person = await asyncio.wait_for(Person(None, need=10).run(pattern=pattern, human_turns="need"), 60)
    assert len(person.said()) == 6
    assert {name for name, _ in person.said()} == {ADA, BO}
    assert person.events[-1].reason == "message_limit"
    passes = [event for event in person.events if event.event == "silenced"]
    assert {(event.agent, event.step, event.why) for event in passes} <= {(LI, "speak", "passed")}


@pytest.mark.proof
async def test_an_agent_and_two_who_pass() -> None:
    people = Scenario.model_validate(
        {"topic": "Tea?", "participants": [AGENTS[0], *({"name": name, "human": True} for name in (LI, EVA))]}
    )
    person = await asyncio.wait_for(Person(None).run(people, pattern="round_robin", max_messages=4), 60)
    assert [name for name, _ in person.said()] == [ADA] * 4


@pytest.mark.proof
async def test_nobody_is_there_and_somebody_comes_back(tmp_path: Path) -> None:
    settings = Settings(model="offline", max_messages=4, closing="off", pattern="round_robin")
    events = [event async for event in run_simulation(scenario(), settings, out=tmp_path, run="r")]
    stopped: Any = events[-1]
    assert (stopped.reason, stopped.source, stopped.turn) == ("stopped", "person", 2)
    assert events[-2].event == "asked"
    again = await Person().resume(tmp_path / "r")
    assert again.said()[2] == (LI, "I would rather have water.")
    assert again.events[-1].reason == "message_limit"
    whole = await Person().run(out=tmp_path / "whole", max_messages=4, pattern="round_robin")
    assert again.said() == whole.said()
    assert read_whole(tmp_path / "r") == read_whole(tmp_path / "whole" / "r")
    calls = [sorted((c["turn"], c["agent"], c["module"]) for c in logged(p, "asked_model")) for p in
             (tmp_path / "r", tmp_path / "whole" / "r")]  # fmt: skip
    assert calls[0] == calls[1], "somebody was asked twice"


async def test_nobody_is_there_and_nothing_is_kept() -> None:
    settings = Settings(model="offline", max_messages=4, closing="off", pattern="round_robin")
    events: list[Any] = [event async for event in run_simulation(scenario(), settings)]
    assert (events[-1].reason, events[-1].source, events[-1].folder) == ("stopped", "person", None)


@pytest.mark.proof
async def test_a_person_leaves_while_they_are_asked(tmp_path: Path) -> None:
    control, events = Control(), []
    settings = Settings(model="offline", max_messages=4, closing="off", pattern="round_robin")
    async for event in run_simulation(scenario(), settings, out=tmp_path, run="r", control=control):
        events.append(event)
        if event.event == "asked":
            control.leave()
    assert (events[-1].reason, events[-1].source) == ("stopped", "person")
    again = await Person().resume(tmp_path / "r")
    assert len(again.said()) == 4


@pytest.mark.proof
async def test_wrong_words_in_an_answer_ask_again_in_the_run() -> None:
    control, asked = Control(), []
    settings = Settings(model="offline", max_messages=3, closing="off", pattern="round_robin")
    async for event in run_simulation(scenario(), settings, control=control):
        if event.event == "asked":
            asked.append(event.problem)
            control.say("Water.", speaker=LI)
    assert asked == [""]


@pytest.mark.proof
@pytest.mark.parametrize("judge", ["sliding_window", "persona"])
async def test_a_debate_with_a_person(judge: str, tmp_path: Path) -> None:
    with LoopbackServer(answer=(scripted := Scripted())) as server:
        more = {"mode": "debate", "judge": judge, "analysis": True, "max_messages": 6, "pattern": "round_robin"}
        person = await Person().run(out=tmp_path, model=server.model(), repetition_check=False, **more)
    judged = scripted.prompts("judge")
    assert judged
    group = [line for line in judged[-1].splitlines() if line.startswith(f"- {LI}: ") and "spoken" in line]
    assert len(group) == 1
    assert "openness" not in group[0]
    assert any(line.startswith(f"- {ADA}: ") and "openness" in line for line in judged[-1].splitlines())
    verdicts = [event for event in person.events if event.event == "verdict"]
    assert verdicts
    assert all([p.agent for p in verdict.positions] == [ADA, BO, LI] for verdict in verdicts)
    scored = [event.speaker for event in person.events if event.event == "analysis"]
    assert scored.count(LI) == 2
    assert person.events[-1].conclusion is not None
    assert "water" in judged[-1] or judge == "persona"
    assert not [prompt for task, prompt in scripted.asked if f"- Name: {LI}" in prompt]


@pytest.mark.proof
async def test_the_selector_may_name_a_person() -> None:
    def select(body: dict[str, Any]) -> dict[str, Any]:
        able = prompt_of(body).rpartition("Only these may: ")[2].split(".")[0].split(", ")
        return {"reasoning": "They are silent.", "speaker": LI if LI in able else able[0]}

    with LoopbackServer(answer=(scripted := Scripted(selector=select))) as server:
        person = await Person().run(model=server.model(), repetition_check=False, pattern="selector", max_messages=4)
        assert [name for name, _ in person.said()][0] == LI
        assert LI in participants_of({"messages": [{"role": "user", "content": scripted.prompts("selector")[0]}]})


@pytest.mark.proof
@pytest.mark.parametrize("words", ["Good night.", None])
async def test_people_take_leave_or_pass(words: str | None) -> None:
    person = await Person(words).run(closing="near_limit", max_messages=12, human_turns="hand")
    stopped = person.events[-1]
    assert stopped.reason == "closed"
    assert stopped.detail.startswith("Everybody took leave")
    assert [agent for agent, _, _ in person.asked()].count(LI) == 1
    leaving = [name for name, _ in person.said()][9:]
    assert sorted(leaving) == sorted([ADA, BO, LI] if words else [ADA, BO])


@pytest.mark.proof
async def test_a_person_has_no_mind_on_disk(tmp_path: Path) -> None:
    await Person().run(out=tmp_path, pattern="round_robin", mode="debate", judge="persona")
    folder = tmp_path / "r"
    assert {line["agent"] for line in logged(folder, "mind")} == {ADA, BO}
    mine = [line for line in logged(folder, "utterance") if line["speaker"] == LI]
    assert len(mine) == 2
    assert LI not in {line["agent"] for line in logged(folder, "asked_model")}
    answers = [line for line in logged(folder, "intervention") if line["do"] == "answer"]
    assert [line["turn"] for line in answers] == [2, 5]
