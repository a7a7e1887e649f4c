"""The debates mad and reconcile: who is shown what, what is counted, and when it ends; on real questions, too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback.planned import NAMES, PEOPLE, Baseline, Planned, Together, name_in, round_in, section
from loopback.scripted import in_turn, prompt_of
from loopback.server import LoopbackServer

from persimchat.state.conversation import utterances
from persimchat.state.errors import ModelError

Start = Callable[..., Baseline]

ADA, BO, LEI = NAMES
SPLIT = {ADA: ["18", "18", "18"], BO: ["20", "20", "20"], LEI: ["20", "18", "18"]}
NUMBER: dict[str, Any] = {"answer_format": "number"}


def answers(prompt: str) -> list[str]:
    """The lines of a prompt's answers."""
    found = section(prompt, "answers")
    return found.split("\n") if found else []


def test_mad_has_fixed_rounds_and_counts_the_last(baseline: Start):
    b = baseline(SPLIT)
    output = b.hold("mad", **NUMBER)
    assert b.said(output) == [(name, SPLIT[name][n]) for n in range(3) for name in NAMES]
    assert output["conclusion"] == {
        "answer": "18", "consensus": False, "reasoning": "18: Ada Lind, 李雷; 20: Bo Říha", "supporters": [ADA, LEI],
        "by": "mad",
    }  # fmt: skip
    assert (output["stop_reason"], output["stop_detail"]) == ("message_limit", "2 of 3 hold it after 3 rounds.")


def test_mad_does_not_end_early_though_all_agree(baseline: Start):
    output = baseline({name: ["18", "18.0"] for name in NAMES}).hold("mad", **NUMBER)
    assert output["turn"] == 9
    assert output["conclusion"]["consensus"]
    assert (output["stop_reason"], output["stop_detail"]) == (
        "consensus", "All 3 gave the same answer after round 3."
    )  # fmt: skip


@pytest.mark.parametrize(("order", "winner"), [([0, 1, 2], "18"), ([1, 0, 2], "20"), ([2, 1, 0], "7")])
def test_a_tie_goes_to_whoever_is_listed_first(baseline: Start, order: list[int], winner: str):
    people = [PEOPLE[place] for place in order]
    output = baseline({ADA: ["18"], BO: ["20"], LEI: ["7"]}).hold(
        "mad", given={"participants": people}, rounds=1, **NUMBER
    )
    assert (output["conclusion"]["answer"], len(output["conclusion"]["supporters"])) == (winner, 1)
    assert output["stop_detail"] == "1 of 3 holds it after 1 round."


def test_in_mad_everybody_sees_the_others_last_answers_and_knows_the_own_one(baseline: Start):
    b = baseline(SPLIT)
    b.hold("mad", **NUMBER)
    assert answers(b.answering(LEI, 1)) == []
    assert "Answer the topic on your own" in b.answering(LEI, 1)
    assert answers(b.answering(LEI, 2)) == [
        "- Ada Lind answered: 18 | because: Ada Lind thinks so in round 1.",
        "- Bo Říha answered: 20 | because: Bo Říha thinks so in round 1.",
        "- I answered: 20 | because: 李雷 thinks so in round 1.",
    ]
    assert shown_answers(b.answering(LEI, 3)) == [
        "- Ada Lind answered: 18",
        "- Bo Říha answered: 20",
        "- I answered: 18",
    ]
    assert "round 1" not in section(b.answering(LEI, 3), "answers")
    assert not any("confidence" in prompt for prompt in b.scripted.prompts("answering"))


@pytest.mark.proof
@pytest.mark.parametrize("name", ["mad", "mad_judge", "reconcile"])
def test_prompts_do_not_grow_with_the_rounds(baseline: Start, name: str):
    b = baseline(SPLIT, mad_judge=after(15, decided("affirmative", "18")))
    b.hold(name, rounds=15, **NUMBER)
    for who in NAMES:
        lengths = [len(p) for p in b.scripted.prompts("answering") if name_in(p) == who and round_in(p) > 1]
        assert max(lengths) <= min(lengths) + 10


@pytest.mark.parametrize("name", ["mad", "reconcile"])
def test_a_round_is_one_model_call_deep(baseline: Start, name: str):
    planned, together = Planned(SPLIT), Together(3)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        together()
        return planned(body)

    b = baseline(answering=answer)
    assert b.hold(name, **NUMBER)["turn"] == 9
    assert not together.barrier.broken


def test_one_after_the_other_on_request(baseline: Start):
    b = baseline(SPLIT)
    b.hold("mad", concurrent=False, **NUMBER)
    assert b.server.most_at_once == 1


def test_who_answers_late_is_still_where_they_are_listed(baseline: Start):
    import time

    planned = Planned(SPLIT)

    def slow(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.2 if f"- Name: {ADA}" in prompt_of(body) else 0)
        return planned(body)

    output = baseline(answering=slow).hold("mad", rounds=2, **NUMBER)
    assert [u["speaker"] for u in utterances(output["messages"])] == NAMES * 2


def test_reconcile_votes_by_confidence(baseline: Start):
    """One who is sure outweighs two who are not: 1.0 against 0.1 + 0.3."""
    b = baseline({ADA: [("20", 0.5)], BO: [("18", 1.0)], LEI: [("20", 0.7)]})
    output = b.hold("reconcile", **NUMBER)
    assert output["turn"] == 9
    assert output["conclusion"]["answer"] == "18"
    assert output["conclusion"]["reasoning"] == "18: Bo Říha (weight 1); 20: Ada Lind, 李雷 (weight 0.4)"
    assert output["stop_detail"] == "1 of 3 holds it after 3 rounds."
    assert b.hold("mad", **NUMBER)["conclusion"]["answer"] == "20"
    assert [u["confidence"] for u in utterances(output["messages"])] == [0.5, 1.0, 0.7] * 3


def test_reconcile_ends_as_soon_as_all_agree(baseline: Start):
    b = baseline({ADA: ["18"], BO: ["20", "18.0"], LEI: ["18"]})
    output = b.hold("reconcile", **NUMBER)
    assert (output["turn"], output["stop_reason"]) == (6, "consensus")
    assert output["stop_detail"] == "All 3 gave the same answer after round 2."
    assert output["conclusion"]["supporters"] == NAMES
    at_once = baseline({name: ["18"] for name in NAMES}).hold("reconcile", **NUMBER)
    assert (at_once["turn"], at_once["stop_reason"]) == (3, "consensus")


def test_in_reconcile_answers_come_in_groups_with_reasons_and_confidences(baseline: Start):
    b = baseline({ADA: [("18", 0.95)], BO: [("20", 0.4)], LEI: [("20", 0.857)]})
    b.hold("reconcile", rounds=2, **NUMBER)
    assert answers(b.answering(BO, 1)) == []
    assert answers(b.answering(BO, 2)) == [
        "- Held by 2 of 3: 20",
        "- I answered: 20 | confidence: 0.40 | because: Bo Říha thinks so in round 1.",
        "- 李雷 answered: 20 | confidence: 0.86 | because: 李雷 thinks so in round 1.",
        "- Held by 1 of 3: 18",
        "- Ada Lind answered: 18 | confidence: 0.95 | because: Ada Lind thinks so in round 1.",
    ]


@pytest.mark.proof
def test_free_text_ends_with_one_call_to_the_judge(baseline: Start):
    majority = {"reasoning": "Two mean tea.", "answer": "Tea for all.", "supporters": [ADA, "李雷"]}
    plan = {ADA: ["Tea, hot."], BO: ["Milk."], LEI: ["Hot tea."]}
    for name in ("mad", "reconcile"):
        b = baseline(plan, majority=majority)
        output = b.hold(name, rounds=2)
        (prompt,) = b.scripted.prompts("majority")
        assert re.findall(r"spoken (\d) times, last in turn (\d)$", section(prompt, "group"), re.MULTILINE) == [
            ("2", "4"), ("2", "5"), ("2", "6")
        ]  # fmt: skip
        assert output["conclusion"]["by"] == name
        assert (output["conclusion"]["answer"], output["conclusion"]["supporters"]) == ("Tea for all.", [ADA, LEI])
        assert output["stop_detail"] == "2 of 3 hold it after 2 rounds."


def test_different_models_may_sit_at_the_table(baseline: Start):
    b = baseline(SPLIT)
    with LoopbackServer(answer=Planned({BO: ["18"]})) as other:
        output = b.hold("reconcile", agent_models={BO: other.model("another")}, rounds=1, **NUMBER)
        assert len(other.bodies()) == 1
    assert b.said(output)[1] == (BO, "18")
    assert {key.split("|")[2] for key in output["usage"]} == {b.server.model(), other.model("another")}


@pytest.mark.parametrize("name", ["mad", "mad_judge", "reconcile"])
def test_a_wrong_form_is_asked_again_and_twice_is_an_error(baseline: Start, name: str):
    b = baseline({ADA: ["18"], BO: ["eighteen or so"], LEI: ["18"]})
    with pytest.raises(ModelError) as caught:
        b.hold(name, **NUMBER)
    assert (caught.value.agent, caught.value.module) == (BO, "answering")
    assert "'eighteen or so' is not one number" in str(caught.value)
    assert "\n" not in str(caught.value)
    mine = [body for body in b.server.bodies() if f"- Name: {BO}" in prompt_of(body)]
    assert len(mine) == 2


def real(shared: Path, file: str) -> list[dict[str, Any]]:
    text = (shared / "data/benchmarks" / file).read_text(encoding="utf-8")
    return json.loads(text) if text.lstrip().startswith("[") else [json.loads(line) for line in text.splitlines()]


@pytest.mark.proof
def test_grade_school_mathematics(baseline: Start, shared: Path):
    """GSM8K: one is right, two are not; the two are convinced one by one, and the majority has it."""
    for question in real(shared, "gsm8k_test.jsonl")[:4]:
        gold = question["answer"].rpartition("#### ")[2]
        wrong = str(float(gold.replace(",", "")) + 1)
        b = baseline({ADA: [f"${gold}.00"], BO: [wrong, wrong, f"{gold} dollars"], LEI: [wrong, gold]})
        given = {"topic": question["question"]}
        mad = b.hold("mad", given=given, rounds=2, **NUMBER)
        assert float(mad["conclusion"]["answer"]) == float(gold.replace(",", ""))
        assert mad["conclusion"]["supporters"] == [ADA, LEI]
        table = b.hold("reconcile", given=given, **NUMBER)
        assert (table["turn"], table["stop_reason"]) == (9, "consensus")
        assert all(" ".join(question["question"].split()) in " ".join(p.split()) for _, p in b.scripted.asked)


@pytest.mark.proof
def test_algebra_with_choices(baseline: Start, shared: Path):
    """AQuA: answers come as letters, with labels, as text; choices that differ in a sign alone stay apart."""
    for question in real(shared, "aqua_test.json")[:12]:
        options = question["options"]
        right, wrong = (next(o for o in options if o.startswith(f"{x})")) for x in (question["correct"], "E"))
        if right == wrong:
            wrong = options[0]
        b = baseline({ADA: [wrong], BO: [question["correct"]], LEI: [right]})
        output = b.hold("mad", given={"topic": question["question"]}, rounds=1, answer_format="choice", choices=options)
        assert (output["conclusion"]["answer"], output["conclusion"]["supporters"]) == (right, [BO, LEI])


@pytest.mark.proof
def test_common_sense(baseline: Start, shared: Path):
    """StrategyQA: yes or no, where the sure minority outweighs the unsure majority."""
    for question in real(shared, "strategyqa_dev.json")[:4]:
        gold, other = ("Yes.", "no") if question["answer"] else ("No", "Yes, I think")
        b = baseline({ADA: [(other, 0.55)], BO: [(other, 0.65)], LEI: [(gold, 0.9)]})
        output = b.hold("reconcile", given={"topic": question["question"]}, answer_format="yesno")
        assert output["conclusion"]["answer"] == re.sub(r"\W", "", gold).lower()


# The debate mad_judge: two sides tit for tat, a judge after every round, and how it ends


PLAN = {ADA: ["18"], BO: ["20"], LEI: ["18"]}
OPEN = {"reasoning": "Both have a point.", "decided": False, "side": None, "answer": None}


def decided(side: str, answer: Any) -> dict[str, Any]:
    return {"reasoning": f"The {side} side is right.", "decided": True, "side": side, "answer": answer}


def after(number: int, decision: dict[str, Any]) -> Callable[[Any], Any]:
    """A judge that decides after so many rounds."""
    return lambda body: decision if f"Round {number} of" in prompt_of(body) else OPEN


def shown_answers(prompt: str) -> list[str]:
    return [line.split(" | ")[0] for line in answers(prompt)]


def test_the_sides_alternate_and_the_affirmative_speaks_first(baseline: Start):
    b = baseline(PLAN, mad_judge=after(2, decided("negative", "20")))
    output = b.hold("mad_judge", **NUMBER)
    assert [name for name, _ in b.said(output)] == [ADA, LEI, BO] * 2
    tasks = [task for task, _ in b.scripted.asked]
    assert tasks == ["answering", "answering", "answering", "mad_judge"] * 2
    minds = [name_in(p) for task, p in b.scripted.asked if task == "answering"]
    assert (set(minds[:2]), minds[2], set(minds[3:5]), minds[5]) == ({ADA, LEI}, BO, {ADA, LEI}, BO)


def test_each_side_is_shown_what_the_other_said_last(baseline: Start):
    b = baseline({**PLAN, LEI: ["19", "18"]}, mad_judge=after(2, decided("negative", "20")))
    b.hold("mad_judge", **NUMBER)
    assert shown_answers(b.answering(ADA, 1)) == shown_answers(b.answering(LEI, 1)) == []
    assert "You open the debate on the affirmative side" in b.answering(ADA, 1)
    assert shown_answers(b.answering(BO, 1)) == [
        "- Ada Lind (affirmative side) answered: 18",
        "- 李雷 (affirmative side) answered: 19",
    ]
    assert "The affirmative side answers: 18\nYou disagree." in b.answering(BO, 1)  # a tie: the first listed
    assert shown_answers(b.answering(LEI, 2)) == ["- Bo Říha (negative side) answered: 20", "- I answered: 19"]
    assert "You stand on the affirmative side. Above is what the other side answered last" in b.answering(LEI, 2)
    assert shown_answers(b.answering(BO, 2)) == [
        "- Ada Lind (affirmative side) answered: 18",
        "- 李雷 (affirmative side) answered: 18",
        "- I answered: 20",
    ]
    assert "You disagree" not in b.answering(BO, 2)


def test_the_judge_is_shown_the_round_and_who_is_on_which_side(baseline: Start):
    b = baseline(PLAN, mad_judge=after(2, decided("negative", "20")))
    b.hold("mad_judge", **NUMBER)
    first, second = b.scripted.prompts("mad_judge")
    assert shown_answers(first) == [
        "- Ada Lind (affirmative side) answered: 18",
        "- 李雷 (affirmative side) answered: 18",
        "- Bo Říha (negative side) answered: 20",
    ]
    assert "Round 1 of at most 3 is over" in first and "last round" not in first
    assert "round 2." in second and "round 1." not in second
    assert not any("- Name: " in prompt for prompt in (first, second))


def test_a_side_answers_at_the_same_time(baseline: Start):
    people = [*PEOPLE, {"name": "Dov Katz", "description": "A cook."}]
    planned, together = Planned({**PLAN, "Dov Katz": ["20"]}), Together(2)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        together()
        return planned(body)

    b = baseline(answering=answer, mad_judge=after(2, decided("negative", "20")))
    output = b.hold("mad_judge", given={"participants": people}, **NUMBER)
    assert [name for name, _ in b.said(output)] == [ADA, LEI, BO, "Dov Katz"] * 2
    assert b.server.most_at_once == 2
    assert not together.barrier.broken


def test_the_judge_ends_it_as_soon_as_it_is_decided(baseline: Start):
    b = baseline(PLAN, mad_judge=after(1, decided("negative", "$20")))
    output = b.hold("mad_judge", **NUMBER)
    assert (output["turn"], output["stop_reason"], output["stop_source"]) == (3, "closed", "mad_judge")
    assert output["stop_detail"] == "The judge decided for the negative side after 1 round; 1 of 3 holds its answer."
    assert output["conclusion"] == {
        "answer": "20", "consensus": False, "reasoning": "The negative side is right.", "supporters": [BO],
        "by": "mad_judge",
    }  # fmt: skip
    (verdict,) = output["verdicts"]
    assert (verdict["turn"], verdict["consensus"]) == (3, False)


def test_it_is_a_consensus_only_where_everybody_holds_the_answer(baseline: Start):
    b = baseline({**PLAN, BO: ["20", "18.0"]}, mad_judge=after(2, decided("affirmative", 18)))
    output = b.hold("mad_judge", **NUMBER)
    assert (output["turn"], output["stop_reason"]) == (6, "consensus")
    assert (output["conclusion"]["consensus"], output["conclusion"]["supporters"]) == (True, NAMES)
    assert [(v["consensus"], v["answer"], v["progress"]) for v in output["verdicts"]] == [
        (False, "", "progressing"), (True, "18", "progressing")
    ]  # fmt: skip


def test_after_the_last_round_it_has_to_decide(baseline: Start):
    b = baseline(PLAN, mad_judge=after(3, decided("affirmative", "18")))
    output = b.hold("mad_judge", **NUMBER)
    assert (output["turn"], output["stop_reason"]) == (9, "message_limit")
    assert output["stop_detail"].startswith("The judge decided for the affirmative side after 3 rounds; 2 of 3 hold")
    assert "This was the last round, so decide now" in b.scripted.prompts("mad_judge")[-1]
    assert [v["progress"] for v in output["verdicts"]] == ["progressing", "circling", "circling"]


def test_a_judge_that_will_not_decide_after_the_last_round_is_an_error(baseline: Start):
    b = baseline(PLAN, mad_judge=OPEN)
    with pytest.raises(ModelError) as caught:
        b.hold("mad_judge", rounds=2, **NUMBER)
    assert (caught.value.agent, caught.value.module, caught.value.turn) == ("Judge", "judge", 6)
    assert "wrong answer twice" in str(caught.value) and "\n" not in str(caught.value)
    assert len(b.scripted.prompts("mad_judge")) == 3


def test_a_judge_that_answers_nonsense_is_asked_once_more(baseline: Start):
    b = baseline(PLAN, mad_judge=in_turn(decided("negative", "several"), decided("negative", "20")))
    output = b.hold("mad_judge", **NUMBER)
    assert output["conclusion"]["answer"] == "20"
    assert output["usage"][f"judge|Judge|{b.server.model()}"]["calls"] == 2


def test_nobody_need_hold_what_the_judge_finds_right(baseline: Start):
    b = baseline(PLAN, mad_judge=after(1, decided("affirmative", "19")))
    output = b.hold("mad_judge", **NUMBER)
    assert (output["conclusion"]["answer"], output["conclusion"]["supporters"]) == ("19", [])
    assert output["stop_detail"].endswith("0 of 3 hold its answer.")
