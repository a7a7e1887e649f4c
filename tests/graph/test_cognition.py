"""The setting `cognition`: the same judgements in fewer answers."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from loopback.answering import Reply
from loopback.planned import Together
from loopback.scripted import ANSWERS, Script, Scripted, prompt_of
from loopback.server import LoopbackServer
from run_files import logged, run_json
from talks import check_replay

import persimchat
from persimchat.graph import build_conversation
from persimchat.graph.calls import Shape, calls_of_mind
from persimchat.nodes.minds.appraising import REFLECTS_AT
from persimchat.runs.events import MindChanged
from persimchat.state.errors import InputError, ModelError
from persimchat.state.minds.judgement import PARTS, in_parts
from persimchat.state.settings import APPRAISED, HEARD, Settings

PEOPLE: list[dict[str, Any]] = [
    {"name": "Ada Lind", "description": "A baker."},
    {"name": "Bo Říha", "description": "A driver."},
    {"name": "李雷", "description": "A student."},
]
AN_UTTERANCE = {
    "full": {"perception": 3, "focal_points": 3, "need_to_talk": 3, "action": 3, "emotion": 3},
    "compact": {"hearing": 3, "appraisal": 3},
    "lean": {"reaction": 3},
}
NAME = re.compile(r"^- Name: (.+)$", re.MULTILINE)
BEFORE_THE_FIRST = {"full": {"emotion": 3, "need_to_talk": 3}, "compact": {"appraisal": 3}, "lean": {"appraisal": 3}}


def hold(scripted: Scripted, *, messages: int = 2, **settings: Any) -> dict[str, Any]:
    with LoopbackServer(answer=scripted) as server:
        context = Settings(model=server.model(), max_messages=messages, closing="off", **settings)
        given = {"topic": "Tea?", "participants": PEOPLE}
        return build_conversation().invoke(given, context=context)


def minds_of(reaction: Any, *, messages: int = 1) -> list[Any]:
    """The minds of two people who have such reactions."""
    with LoopbackServer(answer=Scripted(reaction=reaction)) as server:
        settings: dict[str, Any] = {"max_messages": messages, "closing": "off", "cognition": "lean"}
        events = persimchat.stream_events("Tea?", participants=2, model=server.model(), **settings)
        return [event.record for event in events if isinstance(event, MindChanged)]


async def test_a_mind_is_asked_before_the_next_one_prepares() -> None:
    began: list[tuple[str, str]] = []
    context = Settings(model="offline", max_messages=1, cognition="lean", closing="off")
    given = {"topic": "Tea?", "participants": PEOPLE}
    async for place, task in build_conversation().astream(given, context=context, stream_mode="tasks", subgraphs=True):
        if "input" in task and place and place[0].startswith("hear:"):
            began.append((place[0], task["name"]))
    minds = list(dict.fromkeys(mind for mind, _ in began))
    assert len(minds) == 3
    for mind, next_one in zip(minds, minds[1:], strict=False):
        assert began.index((mind, "react_at_once")) < began.index((next_one, "recall_by_words"))


@pytest.mark.proof
@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
def test_what_an_utterance_takes(cognition: str) -> None:
    scripted = Scripted()
    hold(scripted, cognition=cognition)
    expected = Counter(BEFORE_THE_FIRST[cognition])
    for _ in range(2):
        expected.update(AN_UTTERANCE[cognition], utterance=1)
    if cognition != "lean":  # a mind reflects when what it has perceived weighs enough, after some seven utterances
        expected.update(reflection=2)  # while the second utterance is made, the two others do what they chose
    assert Counter(task for task, _ in scripted.asked) == expected


JOINED = {
    "hearing": ["perception", "focal_points"],
    "all": [*HEARD, *APPRAISED],
    "what is felt and what follows": ["emotion", "need_to_talk"],
    "what is felt, which alone is asked for at first": ["emotion", "action"],
    "what follows from what is felt": ["need_to_talk", "openness"],
    "one that follows, and the action": ["action", "openness"],
}


def parts_told(task: str, prompt: str) -> list[str]:
    """The judgements that a prompt asks for."""
    return [line[3:] for line in prompt.splitlines() if line.startswith("## ")] or [task]


@pytest.mark.proof
@pytest.mark.parametrize("joined", JOINED.values(), ids=JOINED)
def test_what_is_joined_is_asked_for_in_one_answer(joined: list[str]) -> None:
    """Every judgement is made as often as in calls of their own, in as many calls as an estimate says."""
    apart, together, mode = Scripted(), Scripted(), {"mode": "debate", "joined": joined}
    hold(apart, mode="debate")
    hold(together, **mode)

    of_minds = {*HEARD, *APPRAISED}
    made = Counter(part for task, prompt in together.asked for part in parts_told(task, prompt))
    alone = Counter(task for task, _ in apart.asked)
    assert {part: made[part] for part in of_minds} == {part: alone[part] for part in of_minds}
    calls = Counter(task for task, _ in together.asked)
    assert not calls.keys() & {*joined}
    shape = Shape(participants=3, utterances=2, reflecting=1.0)
    told = calls_of_mind(shape, Settings(max_messages=2, **mode))
    for task in {*of_minds, "hearing", "appraisal"} - {*joined}:
        assert calls[task] == 3 * told[task].sum() if task in told else not calls[task], task


@pytest.mark.parametrize("thinking", [{"planning_and_reflection": False}, {"ablation": ["reflection", "planning"]}])
@pytest.mark.parametrize("mode", ["discussion", "debate"])
def test_minds_that_do_not_think_have_joined_calls(mode: str, thinking: dict[str, Any]) -> None:
    joined = ["emotion", "need_to_talk"]
    held = persimchat.simulate("Tea?", 2, model="offline", max_messages=2, mode=mode, joined=joined, **thinking)
    assert len(held.utterances) == 2
    assert {row["module"] for row in held.usage} >= {"appraisal"}
    assert not {row["module"] for row in held.usage} & {"action", "reflection", "planning"}


def test_all_joined_is_compact() -> None:
    joined, compact = Scripted(), Scripted()
    hold(joined, joined=["perception", "focal_points", "emotion", "need_to_talk", "action"])
    hold(compact, cognition="compact")
    assert sorted(str(asked) for asked in joined.asked) == sorted(str(asked) for asked in compact.asked)


@pytest.mark.parametrize(
    ("joined", "said"),
    [
        ("perception", r"joined has only perception of its step\. Add another of it \(focal_points\), or take"),
        (
            "emotion",
            r"joined has only emotion of its step\. Add another of it \(need_to_talk, action\), or take emotion",
        ),
        ("reflection,emotion", "joined has 'reflection', but only these can share a call: perception, .*action"),
        ("openness,emotion,action", r"joined has openness, but only debates judge it\. Take openness out of joined"),
    ],
)
def test_what_cannot_share_a_call_is_refused_in_one_sentence(joined: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        persimchat.simulate("Tea or coffee?", 2, model="offline", joined=joined)


@pytest.mark.proof
@pytest.mark.parametrize("cognition", ["compact", "lean"])
def test_nobody_waits_for_anybody(cognition: str) -> None:
    """All agents are asked at the same time, so that an utterance is as many calls deep as there are kinds of them."""

    def together(task: str) -> Any:
        meet = Together(len(PEOPLE))

        def answer(body: dict[str, Any]) -> Any:
            meet()
            return ANSWERS[task](body)  # type: ignore[operator]

        return answer

    tasks = ("hearing", "appraisal", "reaction")
    hold(Scripted(**{task: together(task) for task in tasks}), cognition=cognition)


@pytest.mark.parametrize("cognition", ["full", "compact", "lean"])
def test_minds_hold_the_same_whatever_the_cognition(cognition: str) -> None:
    events = persimchat.stream_events(
        "Tea or coffee?", participants=2, max_messages=2, mode="debate", cognition=cognition, model="offline"
    )
    minds = [event.record for event in events if isinstance(event, MindChanged)]
    assert [mind.turn for mind in minds] == [0, 0, 1, 1, 2, 2]
    for mind in minds:
        assert mind.need_to_talk is not None and mind.openness is not None
        assert set(mind.emotion) == {"happiness", "sadness", "anger", "fear", "disgust", "surprise"}
        if mind.turn:
            assert mind.percept and mind.percept["theme"] and mind.percept["keywords"]
            assert mind.action in (("",) if cognition == "lean" else ("reflect", "plan"))
            assert mind.focal_points and mind.recalled
            assert mind.short_term_memory and mind.short_term_memory["theme"]


def of_ada(prompts: list[str]) -> str:
    return next(prompt for prompt in reversed(prompts) if "- Name: Ada Lind" in prompt)


@pytest.mark.proof
def test_parts_come_in_the_order_of_the_modules_and_are_told_in_their_words() -> None:
    scripted = Scripted()
    hold(scripted, messages=1, cognition="lean", mode="debate")
    prompt = of_ada(scripted.prompts("reaction"))
    order = ["perception", "emotion", "need_to_talk", "openness", "planning"]
    assert parts_told("reaction", prompt) == order
    assert list(in_parts(*order).model_fields) == order
    full = Scripted()
    hold(full, messages=1, mode="debate")
    for module in ("perception", "emotion", "openness"):  # need to talk has its anchors, planning its null
        alone = of_ada(full.prompts(module)).split(f'<task name="{module}">\n')[1].split("</task>")[0].strip()
        assert set(alone.splitlines()) <= set(prompt.splitlines())


def test_an_answer_of_no_use_leaves_every_part_as_it_was() -> None:
    minds = minds_of({"emotion": "none"})
    for was, mind in zip(minds[:2], minds[2:], strict=True):
        assert mind.percept and mind.percept["theme"].endswith("I like tea a lot.")
        assert (mind.emotion, mind.need_to_talk, mind.action) == (was.emotion, was.need_to_talk, "")
        assert mind.failed == ["perception", "need_to_talk", "emotion"]


def spoilt(task: str, wrong: dict[str, Any], *, awake: bool = True) -> Script:
    """The scripted answer with parts of it replaced; before the first word only where not `awake`."""

    def answer(body: dict[str, Any]) -> Any:
        whole = ANSWERS[task](body)  # type: ignore[operator]
        return {**whole, **wrong} if not awake or "<heard" in prompt_of(body) else whole

    return answer


@pytest.mark.proof(cases=1)
@pytest.mark.parametrize(
    ("cognition", "wrong", "failed"),
    [
        ("lean", {"reaction": {"emotion": "?", "need_to_talk": {"reasoning": "Oh.", "need_to_talk": "9/10"}}}, []),
        ("compact", {"hearing": {"perception": {}}, "appraisal": {"emotion": "?"}}, ["perception"]),
    ],
)
async def test_what_is_right_in_an_answer_is_kept(
    tmp_path: Path, cognition: str, wrong: dict[str, dict[str, Any]], failed: list[str]
) -> None:
    """Of a wrong part things stay as they were, and it alone counts as failed; replayed and resumed it is the same."""
    with LoopbackServer(answer=Scripted(**{task: spoilt(task, parts) for task, parts in wrong.items()})) as server:
        given: dict[str, Any] = {"participants": 2, "closing": "off", "cognition": cognition, "model": server.model()}
        whole = await persimchat.asimulate("Tea?", **given, max_messages=2, out=tmp_path / "whole")
        short = await persimchat.asimulate("Tea?", **given, max_messages=1, out=tmp_path / "short")
        assert whole.folder is not None and short.folder is not None
        await persimchat.aresume(short.folder, max_messages=2)
    minds = logged(whole.folder, "mind")
    calm = minds[0]["emotion"]
    for mind in minds:
        assert mind.get("failed", []) == ([*failed, "emotion"] if mind["turn"] else [])
        assert mind["emotion"] == calm
        if mind["turn"]:
            assert mind["percept"]["theme"] != "Somebody spoke of tea" or not failed
            assert mind["need_to_talk"] == (9 if cognition == "lean" else 5)
            assert mind["focal_points"] and mind["action"] == ("" if cognition == "lean" else "reflect")
    await check_replay(Path(whole.folder))
    for folder in (whole.folder, short.folder):
        counts = run_json(folder)["judgements"]
        assert counts["emotion"] == {"asked": 6, "valid": 2, "again": 0, "corrected": 0, "failed": 4}
        last = "planning" if cognition == "lean" else "action"
        assert counts[last] == {"asked": 4, "valid": 0, "again": 4, "corrected": 0, "failed": 0}
        assert counts["need_to_talk"]["corrected"] == (4 if cognition == "lean" else 0)
        assert not {"hearing", "appraisal", "reaction"} & counts.keys()
    kept = ("turn", "agent", "percept", "need_to_talk", "emotion", "action", "failed", "corrected")
    again = logged(short.folder, "mind")
    assert [[mind.get(key) for key in kept] for mind in again] == [[mind.get(key) for key in kept] for mind in minds]


def test_a_part_that_was_right_at_first_is_kept_where_the_second_answer_is_of_no_use() -> None:
    first = spoilt("reaction", {"emotion": "?"})
    said: Counter[str] = Counter()

    def answer(body: dict[str, Any]) -> Any:
        said[prompt_of(body)] += 1
        return first(body) if said[prompt_of(body)] == 1 else "I do not know."  # type: ignore[operator]

    minds = minds_of(answer)[2:]
    assert [mind.failed for mind in minds] == [["emotion"]] * 2
    assert [mind.percept and mind.percept["theme"] for mind in minds] == ["Somebody spoke of tea"] * 2


@pytest.mark.parametrize(
    ("ends_with", "twice", "failed"),
    [
        ('"planning": {"theme": "To', False, []),
        ('"planning": {"theme": "To', True, ["planning"]),
        ('"need_to_talk": {"reasoning": "Much.", "need_to_talk": 1', True, ["need_to_talk", "planning"]),
    ],
    ids=["asked again", "without a plan", "in a number"],
)
def test_of_an_answer_that_is_cut_off_twice_the_whole_parts_count(
    ends_with: str, twice: bool, failed: list[str]
) -> None:
    begins, said = ends_with.partition(":")[0], Counter[str]()

    def answer(body: dict[str, Any]) -> Any:
        whole = ANSWERS["reaction"](body)  # type: ignore[operator]
        agent = NAME.findall(prompt_of(body))[0]
        said[agent] += 1
        if said[agent] > 1 and not twice:
            return whole
        return Reply(json.dumps(whole).partition(begins)[0] + ends_with, finish_reason="length")

    minds = minds_of(answer)[2:]
    assert [mind.failed for mind in minds] == [failed] * 2
    assert set(said.values()) == {2}
    assert [mind.percept and mind.percept["theme"] for mind in minds] == ["Somebody spoke of tea"] * 2
    assert [mind.plan is None for mind in minds] == [twice] * 2


def test_a_part_that_fails_everybody_ends_the_run_and_its_answer_is_named_as_what_is_to_be_changed(
    tmp_path: Path,
) -> None:
    wrong = {task: spoilt(task, {"openness": "?"}, awake=False) for task in ("appraisal", "reaction")}
    with LoopbackServer(answer=Scripted(**wrong)) as server:
        given: dict[str, Any] = {"participants": 2, "mode": "debate", "closing": "off", "cognition": "lean"}
        models = {"reaction": server.model()}
        with pytest.raises(ModelError) as caught:
            persimchat.simulate("Tea?", **given, max_messages=4, model=server.model(), module_models=models)
    assert "The module openness had no usable answer for anybody" in str(caught.value)
    assert "right at first try were 0 of 4" in str(caught.value)
    assert "module_models={reaction: …}" in str(caught.value)


def test_with_strict_answers_a_wrong_part_is_a_wrong_answer() -> None:
    with (
        LoopbackServer(answer=Scripted(appraisal=spoilt("appraisal", {"emotion": "?"}, awake=False))) as server,
        pytest.raises(ModelError, match="wrong answer twice: emotion"),
    ):
        persimchat.simulate(
            "Tea?", participants=2, max_messages=1, cognition="lean", model=server.model(), strict_answers=True
        )


def test_a_number_out_of_its_range_is_put_right_inside_a_part() -> None:
    parts = {name: ANSWERS[name] for name in ("perception", "emotion", "action")}
    minds = minds_of({**parts, "need_to_talk": {"reasoning": "Much.", "need_to_talk": 14}})
    assert [mind.need_to_talk for mind in minds[2:]] == [10, 10]


def test_only_known_ways_are_taken() -> None:
    with pytest.raises(InputError, match="cognition"):
        persimchat.simulate("Tea?", participants=2, max_messages=1, cognition="fast")
    of_appraisal = {"perception", "focal_points", "emotion", "need_to_talk", "action", "openness", "trust"}
    assert set(PARTS) == {*of_appraisal, "planning"}


@pytest.mark.proof
def test_lean_reflects_when_what_was_perceived_weighs_enough() -> None:
    scripted, weight = Scripted(), ANSWERS["perception"]["importance"]  # type: ignore[index]
    due = -(-REFLECTS_AT // weight)
    hold(scripted, cognition="lean", messages=due + 1)
    asked = Counter(task for task, _ in scripted.asked)
    # While the utterance after the one that was due is made, all but its speaker reflect.
    assert (asked["reflection"], asked["planning"], asked["reaction"]) == (2, 0, (due + 1) * len(PEOPLE))


def test_lean_keeps_its_plan_until_it_changes() -> None:
    """A plan is null where the old one holds; one that is given shapes what is said, and is remembered."""
    changes = iter([True, True, False, False])

    def answer(body: dict[str, Any]) -> Any:
        whole = ANSWERS["reaction"](body)  # type: ignore[operator]
        return whole if next(changes) else {**whole, "planning": None}

    minds = minds_of(answer, messages=2)[2:]
    assert [mind.plan is not None for mind in minds] == [True, True, False, False]
    assert [mind.failed for mind in minds] == [[]] * 4
    assert {mind.short_term_memory["kind"] for mind in minds[:2] if mind.short_term_memory} == {"plan"}
    assert {mind.short_term_memory["kind"] for mind in minds[2:] if mind.short_term_memory} == {"perception"}
