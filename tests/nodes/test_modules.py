"""The cognitive modules in a whole conversation: what each is shown, and what it changes in the mind."""

from __future__ import annotations

import re
import threading
from collections import Counter
from typing import Any

import pytest
from loopback.planned import section

from persimchat.state.errors import ModelError

NAMES = ["Ada Lind", "Bo Říha", "李雷"]


def tags(prompt: str) -> list[str]:
    return re.findall(r"^<([a-z_]+)(?: name=\"[a-z_]+\")?>$", prompt, re.MULTILINE)


def test_profile_topic_and_goals_are_the_first_memories_and_are_pinned(group: Any) -> None:
    minds = group().talk()["agents"]
    assert [len(minds[name]["pinned"]) for name in NAMES] == [2, 2, 3]
    for mind in minds.values():
        assert list(mind["alive"])[: len(mind["pinned"])] == mind["pinned"]


@pytest.mark.proof
def test_the_percept_goes_through_short_term_memory_into_long_term_memory(group: Any) -> None:
    minds = group().talk(planning_and_reflection=False)["agents"]
    for mind in minds.values():
        assert mind["stm"]["kind"] == "perception"
        assert mind["stm"]["turn"] == 3
        assert len(mind["alive"]) == len(mind["pinned"]) + 2  # the percepts of turns 1 and 2
        assert mind["unsaved"] == []


@pytest.mark.proof
def test_reflection_makes_a_tree(group: Any) -> None:
    minds = group().talk()["agents"]
    reflected = [mind for mind in minds.values() if mind["insights"]]
    assert reflected
    for mind in reflected:
        assert len(mind["insights"]) == 5
        assert all(insight["depth"] >= 1 and insight["evidence"] for insight in mind["insights"])


@pytest.mark.proof
def test_an_insight_on_an_insight_is_deeper(group: Any) -> None:
    def on_everything(body: dict[str, Any]) -> dict[str, Any]:
        prompt = next(m["content"] for m in body["messages"] if m["role"] == "user")
        numbers = [int(n) for n in re.findall(r"^- \[(\d+)\]", section(prompt, "memories"), re.MULTILINE)][:10]
        one = {"keywords": ["tea"], "evidence": numbers, "importance": 9}
        return {"insights": [{"theme": f"Deep {n} at {len(numbers)}", **one} for n in range(5)]}

    minds = group(reflection=on_everything).talk(max_messages=5, pattern="round_robin")["agents"]
    assert max(i["depth"] for mind in minds.values() for i in mind["insights"]) >= 2


@pytest.mark.proof
def test_evidence_that_was_not_shown_falls_back_to_everything_shown(group: Any) -> None:
    insights = [{"theme": f"I{n}", "keywords": ["k"], "evidence": [99], "importance": 1} for n in range(5)]
    minds = group(reflection={"insights": insights}).talk()["agents"]
    assert all(i["evidence"] for mind in minds.values() for i in mind["insights"])


@pytest.mark.proof
def test_a_plan_goes_into_short_term_memory_and_into_what_is_said(group: Any) -> None:
    g = group(action={"reasoning": "An answer is due.", "action": "plan"})
    minds = g.talk(pattern="round_robin")["agents"]
    assert minds["Ada Lind"]["plan"]["identity"] == "I am the one who listens."
    spoken = g.scripted.prompts("utterance")
    assert "Who I am now" not in spoken[0]
    assert "- Who I am now: I am the one who listens." in section(spoken[2], "plan_and_identity")
    assert any(": Find out about tea" in section(p, "memories") for p in g.scripted.prompts("need_to_talk"))


@pytest.mark.proof
def test_memory_filtering_drops_what_the_model_drops(group: Any) -> None:
    g = group(memory_filtering={"reasoning": "Small talk.", "keep": False})
    minds = g.talk(memory_filtering=True, planning_and_reflection=False)["agents"]
    assert all(list(mind["alive"]) == mind["pinned"] for mind in minds.values())
    prompt = g.scripted.prompts("memory_filtering")[-1]
    assert "Somebody spoke of tea" in section(prompt, "leaving_memory")
    assert re.search(r"similarity to anything in long-term memory: [01]\.\d\d of 1", prompt)


def test_without_memory_filtering_nobody_is_asked(group: Any) -> None:
    g = group()
    g.talk()
    assert g.scripted.prompts("memory_filtering") == []


def test_without_planning_and_reflection_nobody_thinks(group: Any) -> None:
    g = group()
    minds = g.talk(planning_and_reflection=False)["agents"]
    asked = Counter(task for task, _ in g.scripted.asked)
    assert asked["action"] == asked["reflection"] == asked["planning"] == 0
    assert {mind["did"] for mind in minds.values()} == {"speak", ""}


@pytest.mark.proof
def test_the_blocks_of_an_utterance_come_in_their_order(group: Any) -> None:
    g = group(action={"reasoning": "r", "action": "plan"})
    ties = [{"from": "Ada Lind", "to": "Bo Říha", "type": "mentor_mentee"}]
    g.talk(given={"relationships": ties, "rules": ["Be brief."]}, pattern="round_robin", max_messages=5)
    prompt = g.scripted.prompts("utterance")[3]  # Ada's second one
    order = ["basic_information", "needs_and_emotions", "relationships", "memories", "plan_and_identity"]
    assert tags(prompt) == [*order, "environment", "topic", "last_utterances", "task"]
    assert section(prompt, "relationships") == "- Bo Říha is my mentee."
    assert "- Rule: Be brief." in section(prompt, "environment")
    assert section(prompt, "last_utterances").count("\n") == 2


@pytest.mark.proof
def test_relationships_and_goals_can_be_switched_off(group: Any) -> None:
    g = group()
    ties = [{"from": "Ada Lind", "to": "Bo Říha", "type": "enemy"}]
    minds = g.talk(given={"relationships": ties}, relationships=False, social_goals=False)["agents"]
    assert not any("enemy" in prompt or "Be heard" in prompt for _, prompt in g.scripted.asked)
    assert minds["李雷"]["goals"] == []


@pytest.mark.proof
def test_only_the_speakers_own_knowledge_level_is_shown_and_only_for_speaking(group: Any) -> None:
    g = group()
    g.talk(pattern="round_robin")
    levels = [re.findall(r"Knowledge: level (\d)", prompt) for prompt in g.scripted.prompts("utterance")]
    assert levels == [["3"], ["3"], ["2"]]
    assert not any("Knowledge: level" in prompt for task, prompt in g.scripted.asked if task != "utterance")


def test_somebody_addressed_by_name_is_told_so(group: Any) -> None:
    g = group(utterance="What about you, Bo?")
    g.talk(pattern="round_robin", max_messages=1)
    told = [p for p in g.scripted.prompts("need_to_talk") if "spoken to by name" in p]
    assert len(told) == 1
    assert "- Name: Bo Říha" in told[0]


@pytest.mark.proof
def test_profile_and_topic_are_not_shown_twice(group: Any) -> None:
    g = group()
    g.talk()
    assert not any(": Tea?" in section(prompt, "memories") for _, prompt in g.scripted.asked)


@pytest.mark.proof
def test_prompts_do_not_grow_with_the_conversation(group: Any) -> None:
    g = group()
    g.talk(max_messages=20, memory_tokens=100, closing="off")
    lengths = [len(prompt) for prompt in g.scripted.prompts("utterance")]
    assert max(lengths[10:]) <= 1.1 * max(lengths[4:10])


class Together:
    """Lets nobody pass until as many have come as belong to one step; a step in sequence would never be complete."""

    def __init__(self, parties: int) -> None:
        self.barrier = threading.Barrier(parties, timeout=20)

    def __call__(self) -> None:
        self.barrier.wait()


@pytest.mark.proof
@pytest.mark.parametrize(
    ("parties", "settings"),
    [
        # speak ‖ think×2, (perceive ‖ wonder)×3, appraisals×3
        ((3, 6, 9), {}),
        # the judge's mind thinks, hears and appraises beside them; openness is one appraisal more
        ((4, 8, 14), {"mode": "debate", "judge": "persona", "judge_every": 9}),
    ],
)
def test_one_turn_is_three_model_calls_deep(group: Any, parties: tuple[int, ...], settings: dict[str, Any]) -> None:
    """All calls of a step are under way at the same time; a judge that is asked comes behind them."""
    speaking, perceiving, appraising = map(Together, parties)
    started = threading.Event()

    def gate(meeting: Together, answer: Any) -> Any:
        def meet(body: dict[str, Any]) -> Any:
            if started.is_set():
                meeting()
            return answer

        return meet

    def speak(body: dict[str, Any]) -> str:
        if started.is_set():
            speaking()
        started.set()  # the awakening and the first speaking, when nobody thinks yet, are over
        return "I like tea a lot."

    openness = {"reasoning": "Fine.", "openness": 5}
    disagree = [{"agent": name, "position": "Tea.", "agrees": False} for name in NAMES]
    g = group(
        openness=openness,
        judge={"reasoning": "r", "consensus": False, "answer": None, "positions": disagree, "progress": "circling"},
        majority={"reasoning": "r", "answer": "Tea.", "supporters": NAMES[:1]},
    )
    answers = dict(g.scripted.answers)
    meetings = {
        "reflection": speaking, "perception": perceiving, "focal_points": perceiving,
        "need_to_talk": appraising, "openness": appraising, "action": appraising, "emotion": appraising,
    }  # fmt: skip
    for task, meeting in meetings.items():
        g.scripted.answers[task] = gate(meeting, answers[task])
    g.scripted.answers["utterance"] = speak
    assert g.talk(max_messages=4, **settings)["turn"] == 4
    assert not any(m.barrier.broken for m in (speaking, perceiving, appraising))


def test_sequential_calls_on_request(group: Any) -> None:
    g = group()
    g.talk(concurrent=False, max_messages=1)
    assert g.server.most_at_once == 1


def test_where_answers_are_strict_a_wrong_one_twice_ends_the_run_with_its_names(group: Any) -> None:
    g = group(need_to_talk={"reasoning": "r", "need_to_talk": 11})
    with pytest.raises(ModelError) as caught:
        g.talk(strict_answers=True)
    message = str(caught.value)
    assert "need_to_talk" in message
    assert caught.value.agent in NAMES
    assert caught.value.turn == 0
    assert g.server.model() in message
    assert "\n" not in message


@pytest.mark.proof
def test_capacity_is_kept_and_what_is_pinned_stays(group: Any) -> None:
    minds = group().talk(max_messages=6, ltm_capacity=10)["agents"]
    for mind in minds.values():
        assert len(mind["alive"]) == 10
        assert set(mind["pinned"]) <= set(mind["alive"])
