"""People who play characters: what they are asked, what their answers do, and that a question leaks nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import pytest
from fixtures import Refused
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from story_talks import NAMES, WORD, Telling, leaks, scenario

from persimchat.graph.stories import situation as playing
from persimchat.graph.stories.story import build_story
from persimchat.personas.scenario import with_people
from persimchat.state.conversation import participants, utterances
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

ADA, BO, CY, DEE = NAMES[:4]
PASS = {"pass": True}
Answering = Callable[[Mapping[str, Any]], Any]


def choosing(name: str, values: Any) -> dict[str, Any]:
    """What the scripted model chooses: so that of every shape somebody misses a room."""
    return {"reasoning": "So it is.", "partner": values["names"][0 if name == ADA else -1], "plan": ["Flour."]}


class Played:
    """A story on a thread of its own, in which people take part."""

    def __init__(self, story: Scenario, people: tuple[str, ...], patch: pytest.MonkeyPatch, **options: Any) -> None:
        self.told = Telling(choice=choosing).install(patch)
        self.asked: list[dict[str, Any]] = []
        self._given = with_people(story, people).model_dump(by_alias=True, exclude={"settings"})
        self._made = Settings(mode="story", model="offline", **{"rounds": 1, **options})
        self.config: Any = {"configurable": {"thread_id": uuid4().hex}}
        self.graph = build_story(InMemorySaver())

    async def play(self, answering: Answering, *, first: Any = None) -> dict[str, Any]:
        """Answer every question until the end; the last state."""
        given = self._given if first is None else first
        while True:
            await self.graph.ainvoke(given, self.config, context=self._made)
            state = await self.graph.aget_state(self.config)
            if not state.interrupts:
                return dict(state.values)
            questions = [(one.id, one.value) for one in state.interrupts]
            self.asked += [question for _, question in questions]
            given = Command(resume={key: answering(question) for key, question in questions})

    def asked_for(self, what: str) -> list[dict[str, Any]]:
        """The questions of a kind."""
        return [question for question in self.asked if question["what"] == what]


class Telltale:
    """Answers as a person: a nonsense word in each utterance, the first candidate otherwise."""

    def __init__(self) -> None:
        self._said = 9000

    def __call__(self, question: Mapping[str, Any]) -> Any:
        if question["what"] != "utterance":
            return question["story"]["candidates"][0]
        self._said += 1
        return f"zyx{self._said}q and so on"


def given_to(told: Telling, asked: list[dict[str, Any]], state: dict[str, Any]) -> list[tuple[str, str]]:
    """All that was given to somebody: prompts, questions to people, minds."""
    return [
        *((name, text) for _, name, text in told.prompts),
        *((question["agent"], json.dumps(question)) for question in asked),
        *((name, json.dumps(mind)) for name, mind in participants(state).items()),
    ]


@pytest.mark.parametrize(
    ("mains", "person"),
    [
        pytest.param(2, ADA, id="host"),
        pytest.param(3, ADA, id="host who decides", marks=pytest.mark.proof),
        pytest.param(3, CY, id="another host", marks=pytest.mark.proof),
        pytest.param(3, DEE, id="partner and voter", marks=pytest.mark.proof),
    ],
)
async def test_nobody_is_asked_with_what_they_did_not_hear(
    mains: int, person: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = scenario(mains, 1, settlement={"voters": "all", "decider": ADA})
    played = Played(story, (person,), monkeypatch)
    state = await played.play(Telltale())
    assert state["stop_reason"] == "settled"
    assert leaks(state, iter(given_to(played.told, played.asked, state))) == []
    words = {word for said in utterances(state["messages"]) for word in WORD.findall(said["text"])}
    heard = {word for question in played.asked for word in WORD.findall(json.dumps(question))}
    assert heard, "the person heard nothing"
    assert words - heard, "the person heard everything"
    assert {task for task, name, _ in played.told.prompts if name == person} == set()
    assert played.asked_for("ballot")


@pytest.mark.proof
async def test_the_test_notices_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(scenario(2, 1), (CY,), monkeypatch)
    monkeypatch.setattr(playing, "is_heard", lambda utterance, name: True)
    state = await played.play(Telltale())
    assert leaks(state, iter(given_to(played.told, played.asked, state)))


@pytest.mark.proof
async def test_a_question_knows_all_that_the_character_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(scenario(2, 1, settlement={"voters": "all"}), (CY,), monkeypatch, rounds=2)
    state = await played.play(Telltale())
    last = played.asked[-1]["story"]["knows"]
    told = [line["text"] for line in last["heard"] if line["do"] == "words"]
    heard = [u["text"] for u in utterances(state["messages"]) if CY in [*u.get("heard_by", [CY]), u["speaker"]]]
    assert told == heard
    assert (last["name"], last["known_as"], last["main"]) == (CY, "number 2", False)
    assert [one["name"] for one in last["cast"]] == [ADA, BO]
    assert last["resources"][0]["name"] == "Mill"
    assert {line["round"] for line in last["heard"]} == {1, 2, 3}
    assert "goals" in last
    assert "Keep it." not in json.dumps(played.asked), "another's goal"
    assert "I should lead." not in json.dumps(played.asked), "another's belief"


@pytest.mark.proof
async def test_a_host_chooses_speaks_and_votes_and_is_asked_for_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(scenario(2, 1), (ADA,), monkeypatch)
    state = await played.play(Telltale())
    asked = [(one["what"], one["story"]["stage"], one["story"]["ballot"]) for one in played.asked]
    assert asked[:2] == [("choice", "private", ""), ("utterance", "private", "")]
    assert asked[-4:] == [
        ("ballot", "settlement", "guess"),
        ("utterance", "settlement", ""),
        ("ballot", "settlement", "open"),
        ("ballot", "settlement", "closed"),
    ]
    assert played.asked[0]["story"]["candidates"] == [BO, CY]
    assert played.asked[-1]["story"]["candidates"] == [BO]
    own = state["agents"][ADA]
    assert own["story"]["closeness"] == {BO: 10, CY: 10}
    assert [belief["score"] for belief in own["story"]["beliefs"]] == [60, 10]
    assert own["stm"] is None
    assert state["agents"][BO]["story"]["closeness"][ADA] != 10, "the others do change"
    done = {one["do"] for one in state["happenings"] if one["speaker"] == ADA}
    assert done == {"choice", "met", "standing", "guess", "ballot", "closed_ballot"}
    assert all(m.type == "human" for m in state["messages"] if m.name == ADA)
    records = [one for one in state["carried_out"] if one["do"] == "answer"]
    keys = [(one["turn"], one["what"], one["act"], one.get("ballot")) for one in records]
    assert len(keys) == len(set(keys)) == len(played.asked)


@pytest.mark.proof
async def test_words_of_a_chat_round_are_known_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    story = scenario(3, 1, stages=[{"kind": "group", "exchanges": 2}], settlement=None)
    played = Played(story, (ADA, DEE), monkeypatch)
    state = await played.play(Telltale())
    assert [(one["agent"], one["story"]["left"]) for one in played.asked] == [(ADA, 2), (DEE, 2), (ADA, 1), (DEE, 1)]
    spoken = [
        [line["text"] for line in one["story"]["knows"]["heard"] if line["do"] == "words"] for one in played.asked
    ]
    assert [len(words) for words in spoken] == [0, 0, 4, 4]
    assert [u["speaker"] for u in utterances(state["messages"])] == [ADA, BO, CY, DEE] * 2


@pytest.mark.proof
@pytest.mark.parametrize("people", [(ADA,), (BO,), (CY,), (ADA, BO)])
async def test_who_passes_everything_keeps_nobody_from_the_end(
    people: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played(scenario(2, 1, settlement={"voters": "all"}), people, monkeypatch)
    state = await played.play(lambda _: PASS)
    assert state["stop_reason"] == "settled"
    assert not {u["speaker"] for u in utterances(state["messages"])} & set(people)
    done = {one["do"] for one in state["happenings"] if one["speaker"] in people}
    assert done <= {"standing"}
    votes = [one["speaker"] for one in state["happenings"] if one["do"] == "ballot"]
    assert votes == [name for name in NAMES[:3] if name not in people]
    assert all(state["agents"][name]["silent"]["why"] == "passed" for name in people)


async def test_a_passed_turn_leaves_the_room_its_others(monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [{"kind": "private", "exchanges": 3}]
    played = Played(scenario(2, 0, stages=stages, settlement=None), (BO,), monkeypatch)
    answers = iter([PASS, "One.", PASS, "Two.", PASS, "Three."])  # the first three in Ada's room
    state = await played.play(lambda question: ADA if question["what"] == "choice" else next(answers))
    said = [(u["speaker"], u["text"]) for u in utterances(state["messages"]) if u["speaker"] == BO]
    assert state["stop_reason"] == "finished"
    assert [text for _, text in said] == ["One.", "Two.", "Three."]
    rooms = list(state["rooms"].values())
    assert [(room["passed"], room["open"]) for room in rooms] == [(2, False), (1, False)]


@pytest.mark.proof
async def test_a_choice_that_is_passed_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(scenario(2, 1), (ADA,), monkeypatch)
    state = await played.play(lambda question: PASS if question["what"] == "choice" else Telltale()(question))
    assert {room["members"][0] for room in state["rooms"].values()} == {BO}


@pytest.mark.parametrize("answer", [BO.split()[0].lower(), "1", 1, {"choice": BO}])
async def test_a_partner_by_name_or_number(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    stages = [{"kind": "confidential", "exchanges": 1}]
    played = Played(scenario(2, 1, stages=stages, settlement=None), (ADA,), monkeypatch)
    state = await played.play(lambda question: answer if question["what"] == "choice" else "Well.")
    assert next(iter(state["rooms"].values()))["members"] == [ADA, BO]


@pytest.mark.proof
@pytest.mark.parametrize(
    ("what", "answer", "words"),
    [
        ("choice", ADA, "cannot be chosen now"),
        ("choice", 9, "cannot be chosen now"),
        ("choice", {"text": "Bo"}, "no field 'text'"),
        ("utterance", {"text": "Psst.", "heard_by": [CY]}, "nobody whispers"),
        ("utterance", "  ", "no words"),
        ("ballot", "Nobody At All", "cannot be chosen now"),
    ],
)
async def test_a_wrong_answer_is_asked_again(
    what: str, answer: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = Played(scenario(2, 1), (ADA,), monkeypatch)
    wrong = [answer]
    right = Telltale()

    state = await played.play(lambda q: wrong.pop() if q["what"] == what and wrong else right(q))
    again = next(one for one in played.asked if one["problem"])
    assert words in again["problem"]
    assert "\n" not in again["problem"]
    before = played.asked[played.asked.index(again) - 1]
    assert {**again, "problem": ""} == before
    assert state["stop_reason"] == "settled"


@pytest.mark.proof
async def test_outcomes_are_voted_on_with_one_ballot(monkeypatch: pytest.MonkeyPatch) -> None:
    settlement = {"candidates": ["guilty", "not guilty"], "voters": "all", "decider": CY}
    played = Played(scenario(2, 1, settlement=settlement), (CY,), monkeypatch)
    state = await played.play(lambda q: "2" if q["what"] == "ballot" else "Well.")
    assert [one["story"]["ballot"] for one in played.asked_for("ballot")] == ["guess", "open"]
    assert state["outcome"]["decided"] == "not guilty"


def test_who_cannot_be_played(refused: Refused) -> None:
    refused(lambda: with_people(scenario(2, 0), (ADA, BO)), "all participants are people")
    refused(lambda: with_people(scenario(2, 0), ("Zoe",)), "'Zoe' has no part in the story", ADA)
