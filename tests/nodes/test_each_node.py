"""Each node alone: what it makes of an answer, of one that is of no use, and what it changes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from loopback.scripted import ANSWERS
from nodes.conftest import CALL, PEOPLE, mind_of

from persimchat.memory.recollection import memories_of
from persimchat.models.asking import Spoken
from persimchat.nodes import people as person
from persimchat.nodes.assembling import assemble
from persimchat.nodes.baselines import script
from persimchat.nodes.baselines.rounds import counted
from persimchat.nodes.debates.judge import give_verdict, word_majority
from persimchat.nodes.minds import natural_language
from persimchat.nodes.minds.appraising import (
    appraise_at_once,
    choose_action,
    feel,
    hear_at_once,
    judge_need_to_talk,
    judge_openness,
    perceive,
    react_at_once,
    wonder,
)
from persimchat.nodes.minds.awakening import settle, settle_unfelt
from persimchat.nodes.minds.context import shown_memories
from persimchat.nodes.minds.overhearing import overhear
from persimchat.nodes.minds.remembering import (
    filter_memory,
    recall_by_words,
    remember_percept,
    remember_thoughts,
    save_memories,
)
from persimchat.nodes.minds.revision import checked
from persimchat.nodes.minds.thinking import plan, reflect
from persimchat.nodes.onlookers import select_speaker
from persimchat.nodes.people import intervene, say
from persimchat.state.minds.emotion import EmotionalState
from persimchat.state.minds.judgement import (
    Action,
    Consolidation,
    Feeling,
    FocalPoints,
    NeedToTalk,
    Openness,
    Percept,
    Plan,
    Reflection,
)
from persimchat.state.minds.memory import new_memory
from persimchat.state.minds.speech import ASKED_AGAIN_FOR_REPETITION
from persimchat.state.settings import Settings

Alone = Callable[..., Any]
ADA, BO, LI = (person["name"] for person in PEOPLE)
CALM = EmotionalState().model_dump()
JOY = {**CALM, "happiness": 3, "surprise": 1}
PERCEPT: Any = ANSWERS["perception"]
PLAN: Any = ANSWERS["planning"]
DEBATE = {"format": "yesno", "choices": []}


def memory(theme: str, turn: int = 1) -> dict[str, Any]:
    return new_memory(ADA, turn, "perception", theme, ["tea"], 4, EmotionalState().vector()).model_dump()


@pytest.mark.parametrize(
    ("node", "answer", "changed"),
    [
        (feel, Feeling.model_validate(ANSWERS["emotion"]), {"emotion": JOY}),
        (
            judge_need_to_talk,
            NeedToTalk(reasoning="I might.", need_to_talk=8),
            {"need_to_talk": 8, "need_reasoning": "I might."},
        ),
        (choose_action, Action(reasoning="Well.", action="reflect"), {"action": "reflect"}),
        (perceive, Percept.model_validate(PERCEPT), {"percept": PERCEPT}),
        (
            wonder,
            FocalPoints.model_validate(ANSWERS["focal_points"]),
            {"focal_points": ["Who likes tea?", "What do I drink?", "Why do they care?"]},
        ),
    ],
)
async def test_a_judgement_is_taken_over(alone: Alone, node: Any, answer: Any, changed: dict[str, Any]) -> None:
    update = await alone(node, answer, emotion=CALM)
    (outcome,) = update.pop("outcomes")
    assert update == changed
    assert (outcome["outcome"], outcome["turn"]) == ("valid", 1)


@pytest.mark.parametrize(("answer", "openness"), [(Openness(reasoning="r", openness=2), 2), (None, 7)])
async def test_openness_in_a_debate(alone: Alone, answer: Any, openness: int) -> None:
    situation = {**mind_of()["situation"], "debate": DEBATE}
    assert (await alone(judge_openness, answer, openness=7, situation=situation))["openness"] == openness


async def test_openness_is_not_asked_for_in_a_discussion(alone: Alone) -> None:
    assert await alone(judge_openness, Openness(reasoning="r", openness=2)) == {}


async def test_no_action_where_nobody_thinks(alone: Alone) -> None:
    off = Settings(model="offline", planning_and_reflection=False)
    assert await alone(choose_action, Action(reasoning="r", action="plan"), off) == {"action": ""}


async def test_a_plan_is_kept_and_remembered(alone: Alone) -> None:
    update = await alone(plan, Plan.model_validate(PLAN), emotion=CALM)
    (arriving,) = update["arriving"]
    assert update["plan"]["identity"] == PLAN["identity"]
    assert (arriving["kind"], arriving["theme"], arriving["turn"]) == ("plan", PLAN["theme"], 1)


async def test_five_insights_rest_on_what_was_shown(alone: Alone) -> None:
    update = await alone(reflect, Reflection.model_validate(ANSWERS["reflection"]), emotion=CALM, stm=memory("Tea"))
    assert len(update["insights"]) == 5
    assert update["arriving"] == update["insights"]
    assert all(insight["evidence"] == [memory("Tea")["id"]] for insight in update["insights"])


@pytest.mark.parametrize(
    ("answer", "kept"), [(Consolidation(reasoning="r", keep=False), False), (None, True)], ids=["no", "of no use"]
)
async def test_a_memory_leaves_only_where_the_model_says_so(alone: Alone, answer: Any, kept: bool) -> None:
    settings = Settings(model="offline", memory_filtering=True, store="ephemeral")
    assert (await alone(filter_memory, answer, settings, stm=memory("Tea"), emotion=CALM))["keep"] is kept


PARTS: dict[str, Any] = {
    "perception": Percept.model_validate(PERCEPT),
    "focal_points": None,
    "emotion": None,
    "need_to_talk": NeedToTalk(reasoning="r", need_to_talk=9),
    "action": Action(reasoning="r", action="reflect"),
    "planning": None,
}


@pytest.mark.parametrize(
    ("node", "changed"),
    [
        (hear_at_once, {"percept", "focal_points"}),
        (appraise_at_once, {"emotion", "need_to_talk", "need_reasoning", "action"}),
        (react_at_once, {"percept", "emotion", "need_to_talk", "need_reasoning", "action", "undigested"}),
    ],
)
async def test_parts_of_one_answer_stand_for_themselves(alone: Alone, node: Any, changed: set[str]) -> None:
    update = await alone(node, PARTS, settings=Settings(model="offline", cognition="compact"), emotion=JOY)
    assert update.keys() - {"outcomes"} == changed
    action = "" if node is react_at_once else "reflect"
    told = {**PARTS, "percept": PERCEPT, "emotion": JOY, "need_to_talk": 9, "action": action}
    assert all(update[key] == told[key] for key in changed & {"percept", "emotion", "need_to_talk", "action"})
    assert len(update.get("focal_points", "123")) == 3, "of no use: the fixed ones"


VERDICT = {
    "reasoning": "r", "consensus": True, "answer": "yes", "conditional": None, "progress": "progressing",
    "positions": [SimpleNamespace(agent=name, model_dump=lambda name=name, **_: {"agent": name}) for name in (LI, ADA)],
}  # fmt: skip


@pytest.mark.parametrize(("openness", "agreed"), [(5, True), (0, False)])
async def test_a_verdict_waits_for_everybodys_openness(answered: Any, openness: int, agreed: bool) -> None:
    settings = Settings(model="offline", mode="debate", answer_format="yesno")
    mind = {**mind_of(settings=settings), "openness": openness, "need_to_talk": 5}
    minds = {ADA: mind, LI: {**mind, "name": LI, "openness": 5}}
    answered(give_verdict, SimpleNamespace(**VERDICT))
    verdict = await give_verdict(mind["situation"], minds, None, settings)
    assert (verdict["consensus"], verdict["answer"]) == (agreed, "yes" if agreed else "")
    assert [position["agent"] for position in verdict["positions"]] == [ADA, LI]
    assert bool(verdict["overruled"]) is not agreed


async def test_the_majority_is_worded_by_the_judge(answered: Any) -> None:
    settings = Settings(model="offline", mode="debate", answer_format="free")
    mind = {**mind_of(settings=settings), "openness": 5, "need_to_talk": 5}
    answered(word_majority, SimpleNamespace(reasoning="r", answer="Tea.", supporters=[LI, ADA], conditional=None))
    minds = {name: {**mind, "name": name} for name in (ADA, BO, LI)}
    found = await word_majority(mind["situation"], minds, None, settings, verdict=None, said=[])
    assert (found["answer"], found["consensus"], found["supporters"]) == ("Tea.", False, [ADA, LI])


async def test_the_selector_names_one_of_several(answered: Any) -> None:
    answered(select_speaker, SimpleNamespace(speaker=LI, reasoning="r"))
    minds, settings = {name: {**mind_of(), "name": name} for name in (ADA, BO, LI)}, Settings(model="offline")
    situation = mind_of()["situation"]
    chosen = await select_speaker(situation, minds, [ADA, LI], settings)
    assert chosen == {"speaker": LI, "reasoning": "r", "turn": 1}
    assert (await select_speaker(situation, minds, [BO], settings))["speaker"] == BO, "nobody is asked"


async def test_profile_topic_and_goals_are_settled() -> None:
    settings = Settings(model="offline")
    update = await settle(mind_of(LI), settings)
    assert [whole["kind"] for whole in update["unsaved"]] == ["profile", "topic", "social_goals"]
    assert list(update["alive"]) == update["pinned"] == [whole["id"] for whole in update["unsaved"]]
    unfelt = await settle_unfelt(mind_of(LI), settings)
    assert (unfelt["emotion"], unfelt["need_to_talk"], unfelt["pinned"]) == (CALM, 5, update["pinned"])


async def test_the_percept_goes_through_short_term_memory() -> None:
    settings = Settings(model="offline")
    mind = mind_of(emotion=CALM, percept=PERCEPT, stm=memory("Milk", 0), keep=True)
    update = await remember_percept(mind, settings)
    assert (update["stm"]["theme"], list(update["alive"])) == (PERCEPT["theme"], [memory("Milk", 0)["id"]])
    dropped = await remember_percept({**mind, "keep": False}, settings)
    assert (dropped["alive"], dropped["unsaved"]) == ({}, [])
    thought = await remember_thoughts({**mind, "arriving": [memory("Plan")]}, settings)
    assert thought["stm"]["theme"] == "Plan"


async def test_words_recall_what_is_alive_and_saving_empties_the_mind() -> None:
    settings = Settings(model="offline", store="ephemeral")
    kept = memory("Tea warms", 0)
    mind = mind_of(emotion=CALM, alive={kept["id"]: 0}, unsaved=[kept])
    update = await recall_by_words(mind, settings)
    assert update["focal_points"] == ["Tea warms. Always."]
    assert ([found["id"] for found in update["recalled"]], update["alive"]) == ([kept["id"]], {kept["id"]: 1})
    assert await save_memories(mind, settings) == {"unsaved": []}
    simulation = mind["situation"]["simulation"]
    assert [m.theme for m in await memories_of(settings, simulation, ADA, [kept["id"]], [])] == ["Tea warms"]


async def test_overhearing_asks_nobody() -> None:
    settings = Settings(model="offline", listeners=1)
    listening = {"asked": 0, "overheard": 0, "missed": 1, "temper": CALM}
    update = await overhear(mind_of(emotion=JOY, need_to_talk=5, listening=listening), settings, agents=3)
    assert update["percept"]["theme"] == f"{BO}: Tea warms."
    assert update["stm"]["theme"] == update["percept"]["theme"]
    assert "focal_points" not in update, "they were empty before"


async def test_words_that_are_given_are_said() -> None:
    given: Any = {"situation": mind_of()["situation"], "needs": {ADA: 5}, "text": "Bo, hush.", "heard_by": [BO]}
    moderator = await say({**given, "mind": None}, Settings())
    assert "agents" not in moderator
    (message,) = (await say({**given, "mind": mind_of(emotion=CALM)}, Settings()))["messages"]
    said = message.additional_kwargs["utterance"]
    assert (said["speaker"], said["turn"], said["heard_by"], said["edited_by"]) == (ADA, 2, [BO], "moderator")


async def test_an_intervention_is_carried_out_and_recorded() -> None:
    minds = {name: mind_of(name, pinned=["profile", "topic"], alive={"topic": 0}) for name in (ADA, BO)}
    state: Any = {"turn": 1, "agents": minds, "interventions": [{"do": "topic", "topic": "Milk?"}, {"do": "stop"}]}
    update = await intervene(state, Settings())
    assert (update["topic"], update["stop_reason"], update["interventions"]) == ("Milk?", "stopped", [])
    assert [done["do"] for done in update["carried_out"]] == ["topic", "stop"]
    assert all(mind["pinned"][0] == "profile" and mind["pinned"][1] != "topic" for mind in update["agents"].values())


@pytest.mark.parametrize(
    ("node", "answers", "own"),
    [
        (person.person_speaks, [{"text": " "}, {"pass": True}], {"passed": 2, "hand": False, "need_to_talk": 0}),
        (person.person_speaks, [{"text": "Water."}], {"utterances": 1, "last_spoke": 2, "hand": False}),
        (person.person_appraises, [{"need_to_talk": 11}, {"need_to_talk": 6}], {"need_to_talk": 6}),
    ],
)
async def test_a_person_is_asked_until_the_answer_is_right(
    monkeypatch: pytest.MonkeyPatch, node: Any, answers: list[Any], own: dict[str, Any]
) -> None:
    problems: list[str] = []

    def interrupt(asked: dict[str, Any]) -> Any:
        problems.append(asked["problem"])
        return answers[len(problems) - 1]

    monkeypatch.setattr(person, "interrupt", interrupt)
    update = await node(mind_of(human=True, hand=True, needs={}, emotion={}), Settings())
    assert own.items() <= update["agents"][ADA].items()
    assert [bool(problem) for problem in problems] == [False, True][: len(answers)]
    assert update["carried_out"][0]["agent"] == ADA


async def test_a_wording_loses_what_is_not_its_speakers() -> None:
    mind = mind_of(said=["I would like a cup of tea, please."])
    assert (await checked(f"{ADA}: Milk.", mind, Settings())).text == "Milk."
    again = await checked("I would like a cup of tea, please.", mind, Settings())
    assert again.repeated == ("I would like a cup of tea, please.",)


@pytest.mark.parametrize(
    ("answers", "text", "corrections"),
    [
        (["Milk."], "Milk.", []),
        (["I would like a cup of tea, please.", "Milk."], "Milk.", [ASKED_AGAIN_FOR_REPETITION]),
    ],
)
async def test_an_utterance_is_worded(
    monkeypatch: pytest.MonkeyPatch, answers: list[str], text: str, corrections: list[str]
) -> None:
    left = list(answers)

    async def speak(*_: Any, message_id: str, **__: Any) -> Spoken:
        words = left.pop(0)
        call = {**CALL, "calls": 1, "seconds": 0.1, "cost_usd": None, "estimated": False}
        return Spoken(text=words, message=AIMessage(words), response_time_s=0.1, call=call)  # type: ignore[arg-type]

    monkeypatch.setattr(natural_language, "speak", speak)
    mind = mind_of(emotion=CALM, need_to_talk=5, needs={ADA: 5}, said=["I would like a cup of tea, please."])
    utterance = (await natural_language.word_utterance(mind, Settings(model="offline"), "id")).utterance
    assert (utterance["turn"], utterance["speaker"], utterance["text"]) == (2, ADA, text)
    assert (utterance["corrections"], left) == (corrections, [])


def test_answers_are_counted_by_name_and_confidence() -> None:
    held = [{"speaker": name, "answer": answer, "confidence": sure} for name, answer, sure in
            ((ADA, "18", 0.6), (BO, "20", 1.0), (LI, "18", 0.6))]  # fmt: skip
    settings = Settings(mode="debate", answer_format="number")
    assert counted(held, settings, weighted=False)[0].supporters == [ADA, LI]  # type: ignore[arg-type]
    assert counted(held, settings, weighted=True)[0].supporters == [BO]  # type: ignore[arg-type]


async def test_a_script_without_a_known_speaker_is_written_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    left = ["Narrators: They talk.", f"{ADA}: Tea.\n{BO}: Milk, Ada?\n{ADA}: Hm."]

    async def written(*_: Any) -> Any:
        return left.pop(0), 1.0, None

    monkeypatch.setattr(script, "_written", written)
    people = [(mind_of(name), mind_of(name)["situation"]) for name in (ADA, BO)]
    made = await script.write_script(people, Settings(model="offline", max_messages=2))
    assert [(said["speaker"], said["text"]) for said in made.utterances] == [(ADA, "Tea."), (BO, "Milk, Ada?")]
    assert (made.utterances[1]["addressees"], made.cut, left) == ([ADA], 1, [])


def test_minds_are_assembled_from_what_is_given() -> None:
    state: Any = {"topic": " Tea? ", "participants": PEOPLE}
    update = assemble(state, Settings(social_goals=False), "thread")
    earlier, minds = update["agents"]
    assert (update["turn"], earlier, list(minds)) == (0, {}, [ADA, BO, LI])
    assert (minds[LI]["goals"], minds[ADA]["alive"], minds[ADA]["emotion"]) == ([], {}, {})
    judged = assemble(state, Settings(mode="debate", judge="persona"), "thread")["agents"][1]
    assert [name for name, mind in judged.items() if mind.get("role") == "judge"] == ["Judge"]


async def test_what_has_a_block_of_its_own_is_not_shown_as_a_memory() -> None:
    settings, kept = Settings(model="offline"), memory("Milk")
    pinned = {**kept, "id": "p", "kind": "topic"}
    mind = mind_of(recalled=[{"id": "p"}, {"id": kept["id"]}], unsaved=[pinned, kept])
    assert [shown.theme for shown in await shown_memories(mind, settings)] == ["Milk"]


def test_no_node_is_forgotten(root: Path) -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (root / "tests/nodes").glob("test_*.py"))
    whole = ", ".join(re.findall(r"from persimchat\.nodes import (.+)", tests)).split(", ")
    modules = {path.stem for path in (root / "nodes").glob("*.py")} - {"__init__"}
    assert sorted(name for name in modules if f"persimchat.nodes.{name} " not in tests and name not in whole) == []
