"""The debate mad_judge: two sides tit for tat, a judge after every round, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback.planned import NAMES, PEOPLE, Baseline, Planned, Together, name_in, round_in, section
from loopback.scripted import in_turn, prompt_of

from persimchat.state.errors import ModelError

Start = Callable[..., Baseline]

ADA, BO, LEI = NAMES
PLAN = {ADA: ["18"], BO: ["20"], LEI: ["18"]}
NUMBER: dict[str, Any] = {"answer_format": "number"}
OPEN = {"reasoning": "Both have a point.", "decided": False, "side": None, "answer": None}


def decided(side: str, answer: Any) -> dict[str, Any]:
    return {"reasoning": f"The {side} side is right.", "decided": True, "side": side, "answer": answer}


def after(number: int, decision: dict[str, Any]) -> Callable[[Any], Any]:
    """A judge that decides after so many rounds."""
    return lambda body: decision if f"Round {number} of" in prompt_of(body) else OPEN


def answers(prompt: str) -> list[str]:
    found = section(prompt, "answers")
    return [line.split(" | ")[0] for line in found.split("\n")] if found else []


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
    assert answers(b.answering(ADA, 1)) == answers(b.answering(LEI, 1)) == []
    assert "You open the debate on the affirmative side" in b.answering(ADA, 1)
    assert answers(b.answering(BO, 1)) == [
        "- Ada Lind (affirmative side) answered: 18",
        "- 李雷 (affirmative side) answered: 19",
    ]
    assert "The affirmative side answers: 18\nYou disagree." in b.answering(BO, 1)  # a tie: the first listed
    assert answers(b.answering(LEI, 2)) == ["- Bo Říha (negative side) answered: 20", "- I answered: 19"]
    assert "You stand on the affirmative side. Above is what the other side answered last" in b.answering(LEI, 2)
    assert answers(b.answering(BO, 2)) == [
        "- Ada Lind (affirmative side) answered: 18",
        "- 李雷 (affirmative side) answered: 18",
        "- I answered: 20",
    ]
    assert "You disagree" not in b.answering(BO, 2)


def test_the_judge_is_shown_the_round_and_who_is_on_which_side(baseline: Start):
    b = baseline(PLAN, mad_judge=after(2, decided("negative", "20")))
    b.hold("mad_judge", **NUMBER)
    first, second = b.scripted.prompts("mad_judge")
    assert answers(first) == [
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


def test_prompts_do_not_grow_with_the_rounds(baseline: Start):
    b = baseline(PLAN, mad_judge=after(15, decided("affirmative", "18")))
    b.hold("mad_judge", rounds=15, **NUMBER)
    lengths = [len(p) for p in b.scripted.prompts("answering") if round_in(p) > 1 and name_in(p) == BO]
    assert max(lengths) <= min(lengths) + 10
