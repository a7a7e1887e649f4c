"""Debates with a scripted model on a real server: the judge's time, its answers, and what ends a debate."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fixtures import Serve
from langgraph.checkpoint.memory import InMemorySaver
from loopback.scripted import Scripted, in_turn, prompt_of
from loopback.server import LoopbackServer
from run_files import logged, run_json

import persimchat
from persimchat.memory.store import store as memories
from persimchat.runs.api import Result
from persimchat.state.errors import InputError, ModelError
from persimchat.state.settings import Settings

pytestmark = pytest.mark.proof

PEOPLE = [
    {"name": "Ada Lind", "description": "A baker.", "social_goals": ["Never give in to the others."]},
    {"name": "Bo Hall", "description": "A driver.", "social_goals": ["Win, whatever it takes."]},
    {"name": "Cy Orr", "description": "A student."},
]
NAMES = [str(person["name"]) for person in PEOPLE]


def positions(*agree: bool) -> list[dict[str, Any]]:
    return [{"agent": n, "position": "Tea.", "agrees": a} for n, a in zip(NAMES, agree, strict=True)]


NO = {"reasoning": "Bo differs.", "consensus": False, "answer": None, "positions": positions(True, False, True),
      "progress": "circling"}  # fmt: skip
YES = {"reasoning": "All say tea.", "consensus": True, "answer": "Tea for all.",
       "positions": positions(True, True, True), "progress": "progressing"}  # fmt: skip
MAJORITY = {"reasoning": "Two of three.", "answer": "Tea", "supporters": ["cy", "Ada Lind"]}


class Debate:
    """Runs debates against one scripted server."""

    def __init__(self, server: LoopbackServer, scripted: Scripted, out: Path) -> None:
        self.server, self.scripted, self.out = server, scripted, out

    def hold(self, **settings: Any) -> Result:
        given = {"mode": "debate", "model": self.server.model(), "repetition_check": False, "max_messages": 8}
        return persimchat.simulate(
            "Tea?", PEOPLE, settings=Settings.model_validate({**given, **settings}), out=self.out
        )


@pytest.fixture
def debate(tmp_path: Path, serving: Serve) -> Callable[..., Debate]:
    """`debate(judge=answer, …)`: a server with these answers, stopped after the test."""

    def start(**replaced: Any) -> Debate:
        answers = {"openness": {"reasoning": "Fine.", "openness": 7}, "majority": MAJORITY, "judge": NO}
        scripted = Scripted(**{**answers, **replaced})
        return Debate(serving(scripted), scripted, tmp_path)

    return start


def test_consensus_ends_a_debate_everywhere_it_is_told(debate: Any) -> None:
    d = debate(judge=in_turn(NO, NO, YES))
    result = d.hold()
    assert (result.stop_reason, result.stop_source) == ("consensus", "judge")
    assert result.stop_detail == "The sliding-window judge found consensus after 5 utterances."
    assert [v.turn for v in result.verdicts] == [3, 4, 5] and len(result.utterances) == 5
    assert result.conclusion is not None
    assert result.conclusion.model_dump() == {
        "answer": "Tea for all.", "consensus": True, "reasoning": "All say tea.", "supporters": NAMES, "by": "judge"
    }  # fmt: skip
    folder = Path(str(result.folder))
    manifest = run_json(folder)
    assert manifest["stop_reason"] == "consensus" and manifest["stop_source"] == "judge"
    assert manifest["conclusion"] == result.conclusion.model_dump()
    ending = (folder / "transcript.md").read_text(encoding="utf-8").split("\n\n")[-2:]
    assert (
        ending[0] == "**Consensus:** Tea for all. (held by Ada Lind, Bo Hall, Cy Orr)"
        and "found consensus" in ending[1]
    )
    assert [row["consensus"] for row in logged(result.folder, "verdict")] == [False, False, True]
    assert not d.scripted.prompts("majority")
    minds = logged(result.folder, "mind")
    assert {row["openness"] for row in minds} == {7} and {row["turn"] for row in minds} == set(range(6))


def test_the_graph_s_output_holds_the_answer(debate: Any) -> None:
    from persimchat.graph import build_conversation

    d = debate(judge=YES)
    settings = Settings(mode="debate", model=d.server.model(), repetition_check=False)
    output = build_conversation().invoke({"topic": "Tea?", "participants": PEOPLE}, context=settings)
    assert output["conclusion"]["answer"] == "Tea for all." and output["stop_reason"] == "consensus"
    assert [verdict["turn"] for verdict in output["verdicts"]] == [3] and len(output["messages"]) == 3


def test_at_the_limit_the_majority_is_worded_and_marked(debate: Any) -> None:
    result = debate().hold(max_messages=4)
    assert (result.stop_reason, result.stop_source) == ("message_limit", "message_limit")
    assert result.conclusion is not None and not result.conclusion.consensus
    assert (result.conclusion.answer, result.conclusion.supporters) == ("Tea", ["Ada Lind", "Cy Orr"])
    text = (Path(str(result.folder)) / "transcript.md").read_text(encoding="utf-8")
    assert "**No consensus. The majority's position:** Tea" in text


def test_the_judge_is_asked_every_so_often(debate: Any) -> None:
    d = debate()
    assert [v.turn for v in d.hold(judge_every=2).verdicts] == [3, 5, 7, 8]
    assert [v.turn for v in d.hold(judge_every=10).verdicts] == [3, 8]


def test_the_window_is_what_the_judge_reads(debate: Any) -> None:
    d = debate(utterance=in_turn(*(f"Point number {n}." for n in range(1, 9))))
    d.hold(judge_window=2)
    assert ["Point number 4." in p for p in d.scripted.prompts("judge")] == [False, True, True, False, False, False]
    last = d.scripted.prompts("judge")[-1]
    assert "openness 7 of 10" in last and "need to talk 5 of 10" in last and "(happiness 3, surprise 1): Point" in last
    assert last.count("): Point number") == 2


def test_a_persona_judge_has_a_mind_and_a_collection_of_its_own(debate: Any, tmp_path: Path) -> None:
    d = debate(judge=in_turn(NO, NO, YES))
    store = str(tmp_path / "store")
    result = d.hold(judge="persona", store=store)
    assert result.stop_detail.startswith("The persona judge found consensus after 5")
    rows = logged(result.folder, "judge_mind")
    assert [row["turn"] for row in rows] == list(range(6))
    assert {row["agent"] for row in rows} == {"Judge"} and {row["need_to_talk"] for row in rows} == {None}
    assert rows[-1]["recalled"] and rows[-1]["insights"]
    assert memories(store).agents(result.run) == sorted([*NAMES, "Judge"])
    prompt = d.scripted.prompts("judge")[-1]
    assert "- Name: Judge" in prompt and "Somebody spoke of tea" in prompt and "<last_utterances>" not in prompt
    assert {m.agent for m in result.minds} == set(NAMES)
    asked = {(row["agent"], row["module"]) for row in result.usage}
    assert ("Judge", "perception") in asked and ("Judge", "need_to_talk") not in asked


def test_a_persona_judge_s_records_say_what_it_did_and_not_what_it_will_do(debate: Any) -> None:
    def action(body: Any) -> dict[str, Any]:
        done = int(re.findall(r"- Progress: (\d+) of", prompt_of(body))[0])
        return {"reasoning": "Now this.", "action": "plan" if done % 2 else "reflect"}

    rows = logged(debate(action=action).hold(judge="persona", max_messages=4).folder, "judge_mind")
    assert [row["action"] for row in rows] == ["", "plan", "reflect", "plan", "reflect"]
    assert [row["did"] for row in rows] == ["", "", "plan", "reflect", "plan"]
    assert [row["plan"] is not None for row in rows] == [False, False, True, False, True]
    assert [bool(row["insights"]) for row in rows] == [False, False, False, True, False]


def test_positions_and_supporters_are_in_order_of_listing(debate: Any) -> None:
    result = debate(judge={**YES, "positions": positions(True, True, True)[::-1]}).hold()
    assert [position.agent for position in result.verdicts[-1].positions] == NAMES
    assert result.conclusion is not None and result.conclusion.supporters == NAMES


def test_the_conversation_of_minds_does_not_pass_for_a_baseline() -> None:
    from persimchat.graph import build_conversation

    settings = Settings(mode="debate", model="offline", baseline="mad")
    with pytest.raises(InputError, match=r"cannot run a baseline \(setting baseline=mad\)"):
        build_conversation().invoke({"topic": "Tea?", "participants": PEOPLE}, context=settings)


def test_the_judge_may_be_another_model(debate: Any) -> None:
    d = debate(judge=YES)
    result = d.hold(judge="persona", module_models={"judge": d.server.model().replace("test-model", "judge-model")})
    models = {(row["agent"], row["model"].partition("@")[0]) for row in result.usage}
    assert {model for agent, model in models if agent == "Judge"}.isdisjoint(
        {model for agent, model in models if agent != "Judge"}
    )


def test_nobody_is_declared_agreed_against_their_own_openness(debate: Any) -> None:
    """A judge that always finds consensus does not end a debate of people who accept no common answer."""

    def openness(body: Any) -> dict[str, Any]:
        stubborn = "Never give in" in prompt_of(body) or "whatever it takes" in prompt_of(body)
        return {"reasoning": "I never give in." if stubborn else "Fine.", "openness": 0 if stubborn else 8}

    d = debate(judge=YES, openness=openness)
    result = d.hold(max_messages=5)
    assert result.stop_reason == "message_limit" and result.conclusion is not None
    assert not result.conclusion.consensus
    assert {v.overruled for v in result.verdicts} == {"Openness is 0: Ada Lind, Bo Hall."}
    assert not any(v.consensus or v.answer for v in result.verdicts)


def test_a_verdict_that_contradicts_itself_is_asked_for_again(debate: Any) -> None:
    wrong = {**YES, "positions": positions(True, False, True)}
    d = debate(judge=in_turn(wrong, NO))
    result = d.hold(max_messages=3)
    assert result.stop_reason == "message_limit" and [v.consensus for v in result.verdicts] == [False]
    assert len(d.scripted.prompts("judge")) == 2


def test_a_judge_that_answers_nonsense_ends_the_run_with_one_line(debate: Any) -> None:
    d = debate(judge="I am tired.")
    with pytest.raises(ModelError) as caught:
        d.hold()
    message = str(caught.value)
    assert "\n" not in message and "agent Judge" in message and "module judge" in message and "turn 3" in message
    (folder,) = d.out.iterdir()
    manifest = run_json(folder)
    assert manifest["stop_reason"] == "error" and manifest["turn"] == 3


@pytest.mark.parametrize(
    ("settings", "said", "answer"),
    [
        ({"answer_format": "yesno"}, ["maybe", "Yes, tea."], "yes"),
        ({"answer_format": "number"}, ["some", "12 cups"], "12"),
        (
            {"answer_format": "choice", "choices": ["Green tea", "Black tea"]},
            ["White tea", "b) black tea"],
            "Black tea",
        ),
    ],
)
def test_an_answer_of_another_form_is_asked_for_again(
    debate: Any, settings: dict[str, Any], said: list[str], answer: str
) -> None:
    d = debate(judge=in_turn(*({**YES, "answer": text} for text in said)))
    result = d.hold(**settings)
    assert result.conclusion is not None and result.conclusion.answer == answer
    assert len(d.scripted.prompts("judge")) == 2 and len(result.verdicts) == 1


def test_rules_and_judge_compose(debate: Any) -> None:
    """A debate that closes for want of needs still comes to a conclusion, and says which rule ended it."""
    d = debate(need_to_talk={"reasoning": "Enough.", "need_to_talk": 1})
    result = d.hold(closing="on", max_messages=30)
    assert (result.stop_reason, result.stop_source) == ("closed", "closing")
    assert result.conclusion is not None and not result.conclusion.consensus
    assert len(result.utterances) == 2 + 3 and {u.speaker for u in result.utterances[2:]} == set(NAMES)
    told = ["this is your last word" in prompt for prompt in d.scripted.prompts("utterance")]
    assert told == [False, False, True, True, True]


def test_a_selector_names_the_speaker_and_never_a_stranger(debate: Any) -> None:
    strangers = ({"reasoning": "r", "speaker": "Eve"}, {"reasoning": "r", "speaker": "cy"})
    d = debate(selector=in_turn(*strangers, *({"reasoning": "r", "speaker": n} for n in ("Bo", "ADA LIND", "Cy Orr"))))
    result = d.hold(mode="discussion", pattern="selector", max_messages=4, closing="off")
    assert [u.speaker for u in result.utterances] == ["Cy Orr", "Bo Hall", "Ada Lind", "Cy Orr"]
    prompts = d.scripted.prompts("selector")
    assert len(prompts) == 5 and "need to talk" not in "".join(p.split("<task")[0] for p in prompts)
    assert "Only these may: Ada Lind, Bo Hall." in prompts[2]


def test_a_selector_that_knows_only_strangers_ends_the_run(debate: Any) -> None:
    d = debate(selector={"reasoning": "r", "speaker": "Eve"})
    with pytest.raises(ModelError, match="wrong answer twice.*module selector"):
        d.hold(mode="discussion", pattern="selector")


@pytest.mark.long
def test_the_same_debate_twice_is_the_same(debate: Any) -> None:
    first, second = (debate(judge=in_turn(NO, NO, YES)).hold(judge="persona", seed=4) for _ in range(2))
    assert [u.text for u in first.utterances] == [u.text for u in second.utterances]
    for kind in ("utterance", "mind", "verdict", "judge_mind"):
        rows = [[{**row, "response_time_s": 0} for row in logged(r.folder, kind)] for r in (first, second)]
        assert rows[0] == rows[1] and rows[0]


def test_analysis_scores_every_utterance_beside_hearing(debate: Any) -> None:
    d = debate(analysis={"reasoning": "Fine.", "coherence": 7.26, "sentiment": 5, "engagement": 9.0})
    result = d.hold(mode="discussion", analysis=True, max_messages=3)
    assert [(s.turn, s.speaker) for s in result.scores] == [(u.turn, u.speaker) for u in result.utterances]
    assert {(s.coherence, s.sentiment, s.engagement) for s in result.scores} == {(7.3, 5.0, 9.0)}
    assert [row["turn"] for row in logged(result.folder, "analysis")] == [1, 2, 3]


@pytest.mark.long
def test_invoke_and_ainvoke_of_a_debate_agree(debate: Any) -> None:
    from persimchat.graph.conversation import graph

    d = debate(judge=in_turn(NO, YES, NO, YES))
    settings = Settings(mode="debate", judge="persona", model=d.server.model(), repetition_check=False)
    given = {"topic": "Tea?", "participants": PEOPLE}
    one = graph.invoke({**given, "simulation": "a"}, context=settings)
    two = asyncio.run(graph.ainvoke({**given, "simulation": "b"}, context=settings))
    assert one["conclusion"] == two["conclusion"] and one["turn"] == two["turn"] == 4


@pytest.mark.parametrize("before", ["judge", "end_check"])
def test_a_debate_goes_on_where_it_was_interrupted(debate: Any, before: str) -> None:
    """Nobody hears, speaks or judges twice, whether it stopped before the judge or between judge and end check."""
    from persimchat.graph import build_conversation

    d = debate(judge=in_turn(NO, YES))
    settings = Settings(mode="debate", judge="persona", model=d.server.model(), repetition_check=False)
    checkpointed = build_conversation(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"topic": "Tea?", "participants": PEOPLE}
    output: Any = checkpointed.invoke(given, config, context=settings, interrupt_before=[before])
    while checkpointed.get_state(config).next:
        output = checkpointed.invoke(None, config, context=settings, interrupt_before=[before])
    assert output["stop_reason"] == "consensus" and output["conclusion"]["answer"] == "Tea for all."
    assert [verdict["turn"] for verdict in output["verdicts"]] == [3, 4] and len(d.scripted.prompts("judge")) == 2
    assert len(d.scripted.prompts("perception")) == 4 * (len(PEOPLE) + 1) and len(output["messages"]) == 4


@pytest.mark.long
def test_nothing_of_a_debate_is_left_in_the_next_conversation_on_its_thread(debate: Any) -> None:
    from persimchat.graph import build_conversation

    d = debate(judge=YES)
    settings = Settings(mode="debate", judge="persona", analysis=True, model=d.server.model(), repetition_check=False)
    checkpointed = build_conversation(InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"topic": "Tea?", "participants": PEOPLE}
    assert checkpointed.invoke(given, config, context=settings)["stop_reason"] == "consensus"
    talk = settings.model_copy(update={"mode": "discussion", "analysis": False, "max_messages": 2})
    output: Any = checkpointed.invoke({"topic": "Cats?", "participants": PEOPLE[:2]}, config, context=talk)
    assert (output["stop_reason"], output["conclusion"]) == ("message_limit", None)
    assert output["verdicts"] == output["scores"] == []
    assert "Judge" not in checkpointed.get_state(config).values["agents"]
    again: Any = checkpointed.invoke(given, config, context=settings)
    assert [verdict["turn"] for verdict in again["verdicts"]] == [3] and [s["turn"] for s in again["scores"]] == [
        1,
        2,
        3,
    ]


def test_an_utterance_that_cannot_be_scored_ends_nothing(debate: Any) -> None:
    d = debate(analysis="I would rather not.")
    result = d.hold(mode="discussion", analysis=True, max_messages=2)
    assert result.stop_reason == "message_limit" and len(result.utterances) == 2
    assert [s.coherence for s in result.scores] == [None, None] and "wrong answer twice" in result.scores[0].failed


def test_a_budget_stops_a_debate_before_the_call_that_would_pass_it(debate: Any) -> None:
    result = debate().hold(budget_calls=60, max_messages=50)
    assert (result.stop_reason, result.stop_source, result.totals.calls) == ("budget", "budget_calls", 60)
    assert result.conclusion is None and 1 < len(result.utterances) < 5
