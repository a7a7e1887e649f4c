"""The cognitive modules in a whole conversation: what each is shown, and what it changes in the mind."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Refused
from hypothesis import given
from hypothesis import strategies as st
from loopback.planned import Together, section
from loopback.scripted import ANSWERS, Scripted
from loopback.server import LoopbackServer
from run_files import logged, run_json
from talks import check_replay

import persimchat
from persimchat.memory.store import held_store
from persimchat.nodes.minds.appraising import (
    as_heard,
    choose_action,
    feel,
    judge_need_to_talk,
    judge_openness,
    perceive,
    wonder,
)
from persimchat.nodes.minds.thinking import plan, reflect
from persimchat.personas.catalogue import load_persona
from persimchat.personas.scenario import load_scenario, make_scenario
from persimchat.reports.estimate import estimate
from persimchat.runs.events import MindChanged
from persimchat.state.errors import InputError, ModelError
from persimchat.state.minds.emotion import EmotionalState
from persimchat.state.minds.judgement import FocalPoints
from persimchat.state.minds.memory import given_memories
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

NAMES = ["Ada Lind", "Bo Říha", "李雷"]


def tags(prompt: str) -> list[str]:
    return re.findall(r"^<([a-z_]+)(?: name=\"[a-z_]+\")?>$", prompt, re.MULTILINE)


@pytest.mark.proof
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


@pytest.mark.proof
def test_without_memory_filtering_nobody_is_asked(group: Any) -> None:
    g = group()
    g.talk()
    assert g.scripted.prompts("memory_filtering") == []


@pytest.mark.proof
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


@pytest.mark.proof
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


@pytest.mark.long
@pytest.mark.proof
def test_prompts_do_not_grow_with_the_conversation(group: Any) -> None:
    g = group()
    g.talk(max_messages=20, memory_tokens=100, closing="off")
    lengths = [len(prompt) for prompt in g.scripted.prompts("utterance")]
    assert max(lengths[10:]) <= 1.1 * max(lengths[4:10])


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


@pytest.mark.proof
def test_sequential_calls_on_request(group: Any) -> None:
    g = group()
    g.talk(concurrent=False, max_messages=1)
    assert g.server.most_at_once == 1


@pytest.mark.proof
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


# Memories that a persona has from before the conversation: read, stored, recalled, and always there in fixed minds


MEMORIES: list[Any] = [
    "I burnt the bread on Monday.",
    {"text": "Bo owes me ten crowns.", "importance": 8, "keywords": ["money"]},
]
ADA = {"name": "Ada Lind", "description": "A baker.", "memories": MEMORIES}
BO = {"name": "Bo Říha", "description": "A driver."}


def scenario(ada: dict[str, Any] = ADA) -> Scenario:
    return make_scenario("Tea?", [ada, BO])


def test_texts_and_mappings_are_read_and_written() -> None:
    persona = Persona.model_validate(ADA)
    assert [(m.text, m.importance, m.keywords) for m in persona.memories] == [
        ("I burnt the bread on Monday.", 5, []),
        ("Bo owes me ten crowns.", 8, ["money"]),
    ]
    assert Persona.model_validate(persona.model_dump()) == persona
    assert "memories" not in Persona.model_validate(BO).model_dump(), "a persona without them is written as ever"
    twice = given_memories(Persona.model_validate({**ADA, "memories": ["The same.", "The same."]}))
    assert len({memory.id for memory in twice}) == 2


@pytest.mark.parametrize(
    ("memories", "field", "says"),
    [
        ("One text.", "memories", "valid list"),
        ([""], "memories[0]", "1 character"),
        (["Fine.", 3], "memories[1]", "mapping"),
        (["Fine.", {"importance": 3}], "memories[1].text", "missing"),
        ([{"text": "Fine.", "importance": 11}], "memories[0].importance", "10"),
        ([{"text": "Fine.", "importance": True}], "memories[0].importance", ""),
        ([{"text": "Fine.", "when": "May"}], "memories[0].when", "unknown field 'when'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    memories: Any, field: str, says: str, tmp_path: Path, refused: Refused
) -> None:
    file = tmp_path / "ada.json"
    file.write_text(json.dumps({**ADA, "memories": memories}), encoding="utf-8")
    refused(lambda: load_persona(file), f"field {field}", says)


def test_a_scenario_gives_memories_to_a_persona_by_name_and_fragments_share_them(tmp_path: Path) -> None:
    (tmp_path / "village.yaml").write_text("memories: [The pond froze over.]\n")
    (tmp_path / "s.yaml").write_text(
        "topic: Tea?\nparticipants:\n  - {persona: Inés, memories: [I lost my keys.]}\n"
        "  - {name: Bo, description: A driver., include: village.yaml, memories: [I found keys.]}\n"
    )
    first, second = load_scenario(tmp_path / "s.yaml").participants
    assert [memory.text for memory in first.memories] == ["I lost my keys."]
    assert [memory.text for memory in second.memories] == ["I found keys.", "The pond froze over."]


def test_more_than_long_term_memory_has_room_for_are_refused() -> None:
    full = scenario({**ADA, "memories": [f"Day {n}." for n in range(8)]})
    assert persimchat.simulate(full, model="offline", max_messages=1, ltm_capacity=10, cognition="fixed").utterances
    for more in ({"memories": [f"Day {n}." for n in range(9)]}, {"social_goals": ["Win."]}):
        given = {**full.participants[0].model_dump(), **more}
        with pytest.raises(InputError, match=r"room for \d beside profile.*Leave 1 out, or set a greater ltm_capacity"):
            persimchat.simulate(scenario(given), model="offline", max_messages=1, ltm_capacity=10)
    crowd = scenario({**ADA, "memories": [f"Day {n}." for n in range(30)]})
    asked = {"model": "offline", "max_messages": 1, "ltm_capacity": 10, "baseline": "group_chat"}
    assert persimchat.simulate(crowd, **asked).utterances, "a baseline has no memories"


@pytest.mark.proof
@pytest.mark.parametrize("cognition", ["fixed", "lean"])
def test_they_are_stored_and_recalled(cognition: Any, tmp_path: Path) -> None:
    run = persimchat.simulate(
        scenario(), model="offline", max_messages=2, cognition=cognition, pattern="round_robin", out=tmp_path
    )
    assert run.folder is not None
    folder = Path(run.folder)
    minds = [mind for mind in logged(folder, "mind") if mind["agent"] == "Ada Lind"]
    told = [(memory["kind"], memory["theme"]) for mind in minds for memory in mind["recalled"]]
    assert ("event", "Bo owes me ten crowns.") in told
    assert minds[0]["long_term_memories"] == 4
    ids = [memory.id for memory in given_memories(Persona.model_validate(ADA))]
    with held_store(str(folder / "memory")) as store:
        kept = store.load(folder.name, "Ada Lind", "lexical", ids)
    assert [kept[id_][0].theme for id_ in ids] == ["I burnt the bread on Monday.", "Bo owes me ten crowns."]
    assert run_json(folder)["scenario"]["participants"][0]["memories"][1]["importance"] == 8


def test_fixed_minds_have_them_in_every_prompt_in_order_within_the_budget() -> None:
    scripted = Scripted()
    with LoopbackServer(answer=scripted) as server:
        many = scenario({**ADA, "memories": [*MEMORIES, *(f"On day {n} it rained all day." for n in range(40))]})
        persimchat.simulate(
            many, model=server.model(), max_messages=3, cognition="fixed", closing="off", memory_tokens=60
        )
    assert [task for task, _ in scripted.asked] == ["utterance"] * 3
    first, bo, third = (prompt.split("<memories>")[1:] for prompt in scripted.prompts("utterance"))
    assert not bo
    for (block,) in (first, third):
        lines = block.split("</memories>")[0].strip().splitlines()
        assert lines[0] == "- [1] event, turn 0, importance 5: I burnt the bread on Monday."
        assert lines[1] == "- [2] event, turn 0, importance 8: Bo owes me ten crowns. | money"
        assert len(lines) == 3, "the budget has room for so many"


@pytest.mark.proof
def test_the_estimate_knows_them() -> None:
    for cognition in ("fixed", "full"):
        settings = Settings(model="offline", cognition=cognition, max_messages=4)  # type: ignore[arg-type]
        assert (
            estimate(scenario(), settings).total.calls
            == estimate(make_scenario("Tea?", [{**ADA, "memories": []}, BO]), settings).total.calls
        )
        with_them, without = (
            estimate(scenario({**ADA, "memories": memories}), settings).total.input_tokens
            for memories in (MEMORIES, [])
        )
        assert with_them > without


@pytest.mark.proof
def test_minds_do_not_carry_them_to_later_steps() -> None:
    events = persimchat.stream_events(scenario(), model="offline", max_messages=3, cognition="compact")
    last = [event.record for event in events if isinstance(event, MindChanged) and event.record.turn == 3]
    recalled = {memory.theme for mind in last for memory in mind.recalled if memory.kind == "event"}
    assert recalled == {"I burnt the bread on Monday.", "Bo owes me ten crowns."}


@pytest.mark.proof
async def test_a_replay_is_equal(tmp_path: Path) -> None:
    run = persimchat.simulate(scenario(), model="offline", max_messages=4, cognition="compact", out=tmp_path)
    assert run.folder is not None
    await check_replay(Path(run.folder))


# What each module of a mind makes of an answer that is of no use: things stay as they were


CALM = EmotionalState().model_dump()
FIXED = [
    "What do I know and think of this: Tea?",
    "What do I know about Bo Říha?",
    "What do I want, and what matters to me?",
]


@pytest.mark.parametrize(
    ("node", "before", "left"),
    [
        (feel, {}, {"emotion": CALM}),
        (feel, {"emotion": {**CALM, "anger": 7}}, {"emotion": {**CALM, "anger": 7}}),
        (judge_need_to_talk, {}, {"need_to_talk": 5, "need_reasoning": ""}),
        (judge_need_to_talk, {"need_to_talk": 8, "emotion": CALM}, {"need_to_talk": 8, "need_reasoning": ""}),
        (judge_openness, {}, {}),
        (choose_action, {}, {"action": "plan"}),
        (choose_action, {"action": "reflect"}, {"action": "reflect"}),
        (plan, {"plan": ANSWERS["planning"], "emotion": CALM}, {"arriving": []}),
        (reflect, {"emotion": CALM}, {"arriving": [], "insights": []}),
        (wonder, {}, {"focal_points": FIXED}),
        (
            perceive,
            {},
            {"percept": {"theme": "Bo Říha: Tea warms.", "keywords": ["warms"], "importance": 5}},
        ),
    ],
)
async def test_things_stay_as_they_were(
    alone: Callable[..., Any], node: Any, before: dict[str, Any], left: dict[str, Any]
) -> None:
    update = await alone(node, None, **before)
    assert {key: value for key, value in update.items() if key != "outcomes"} == left


async def test_fixed_questions_fill_up(alone: Callable[..., Any]) -> None:
    own = FocalPoints.model_construct(questions=["Who likes tea?"])
    assert (await alone(wonder, own))["focal_points"] == ["Who likes tea?", *FIXED[:2]]


@given(st.text(min_size=1))
def test_whatever_was_said_is_a_percept(text: str) -> None:
    percept = as_heard({"speaker": "Bo", "text": text})  # type: ignore[typeddict-item]
    assert 4 <= len(percept["theme"]) <= 4 + 200
    assert "\n" not in percept["theme"]
    assert len(percept["keywords"]) <= 5
    assert all(word in " ".join(text.split()) for word in percept["keywords"])


def test_a_percept_without_a_model_is_a_sentence_and_its_longest_words() -> None:
    said = "I have never liked the bitter, bitter coffee of my grandmother's kitchen! But tea?"
    percept = as_heard({"speaker": "Bo", "text": said})  # type: ignore[typeddict-item]
    assert percept["theme"] == f"Bo: {said.split('!')[0]}!"
    assert percept["keywords"] == ["never", "bitter", "coffee", "grandmother", "kitchen"]
