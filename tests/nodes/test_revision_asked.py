"""Revision against a scripted server: what is asked in which order, which wording is said, and what is recorded."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from loopback.answering import Fault
from loopback.scripted import in_turn, task_of

import persimchat
from persimchat.state.conversation import participants, utterances

pytestmark = pytest.mark.proof

PRUNED = {"lambda": 1, "method": "length", "revision": "again"}
WORDINGS = (
    "The old station should become a library, because the town has none.",
    "I'd rather keep the market where it is, people know the way there.",
    "As a nurse I see every night how tired all of these people are.",
    "Nobody asked the children, and they would choose a swimming pool.",
)


class Checks:
    """Answers checks with these scores: three of each wording, in the order of wordings and seeds."""

    def __init__(self, *scores: Any) -> None:
        self.scores, self.wordings, self.lock = scores, list[str](), threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        words = re.findall(r"^- Words: (.*)$", str(body["messages"][1]["content"]), re.MULTILINE)[0]
        with self.lock:
            if words not in self.wordings:
                self.wordings.append(words)
            number = self.wordings.index(words)
        score = self.scores[number][body["seed"] % 3]
        return {"comment": f"It is a {score}.", "score": score} if isinstance(score, int) else score


def revised(group: Any, *scores: Any, words: Any = WORDINGS, **settings: Any) -> Any:
    """One utterance that is checked with these scores: the group, the utterance, and the record of the checks."""
    made = group(utterance=in_turn(*words), inconsistency=Checks(*scores))
    state = made.talk(**{"max_messages": 1, "pruning": PRUNED, "pattern": "round_robin", **settings})
    said = utterances(state["messages"])[0]
    return made, said, participants(state)[said["speaker"]]["pruned"].get("checks", [])


def bodies(group: Any, task: str) -> list[dict[str, Any]]:
    return [body for body in group.server.bodies() if task_of(body) == task]


def test_first_responses_the_pruned_prompt_and_its_checks_come_in_this_order(group: Any) -> None:
    pruning = {**PRUNED, "method": "embedding", "query": "response", "responses": 2}
    made, said, checks = revised(group, [2, 3, 1], words=["Raw one.", "Raw two.", WORDINGS[0]], pruning=pruning)
    tasks = [task for task, _ in made.scripted.asked if task in ("utterance", "inconsistency")]
    assert tasks == ["utterance"] * 3 + ["inconsistency"] * 3
    whole, _, pruned = made.scripted.prompts("utterance")
    removed = [line for line in whole.splitlines() if line.startswith("- ") and line not in pruned.splitlines()]
    assert "- Description: A baker who gets up at three." in removed
    for check in made.scripted.prompts("inconsistency"):
        assert [line for line in removed if line not in check.splitlines()] == []
        assert f"- Speaker: Ada Lind\n- Speaks to: everybody\n- Words: {WORDINGS[0]}\n" in check
        assert "Tea?" in check
    assert (said["text"], said["corrections"]) == (WORDINGS[0], [])
    assert checks == [{"scores": [2, 3, 1], "comment": "It is a 1.", "taken": True}]


@pytest.mark.parametrize(
    ("scores", "taken", "corrections"),
    [
        ([[7, 7, 6]], 0, []),
        ([[7, 7, 7], [7, 7, 6]], 1, ["revised"]),
        ([[9, 9, 9], [8, 8, 9], [7, 8, 7], [7, 7, 8]], 2, ["still_inconsistent"]),
        ([[8, 8, 8], [8, 9, 9], [10, 10, 10], [8, 8, 8]], 0, ["still_inconsistent"]),
        ([[Fault(400), 6, 7]], 0, []),
        ([[Fault(400), 7, 7], [Fault(400), None, 1]], 1, ["revised"]),
        ([[Fault(400), None, "no score"]], 0, ["not_checked"]),
        ([[9, 9, 9], [Fault(503), Fault(503), Fault(503)]], 1, ["not_checked"]),
    ],
)
def test_which_wording_is_said(group: Any, scores: list[list[Any]], taken: int, corrections: list[str]) -> None:
    made, said, checks = revised(group, *scores)
    assert (said["text"], said["corrections"]) == (WORDINGS[taken], corrections)
    usable = [[score for score in three if isinstance(score, int)] for three in scores]
    assert [check["scores"] for check in checks] == usable
    assert [check["taken"] for check in checks] == [n == taken for n in range(len(scores))]
    prompts = made.scripted.prompts("utterance")
    assert prompts == [prompts[0]] * len(scores), "the same prompt for all of them"
    assert [body["seed"] for body in bodies(made, "utterance")] == list(range(len(scores)))
    assert len({body["seed"] for body in bodies(made, "inconsistency")}) == 3 * len(scores)


def test_words_that_repeat_count_as_a_contradiction_and_are_not_checked(group: Any) -> None:
    words = in_turn(WORDINGS[0], WORDINGS[1], WORDINGS[0], WORDINGS[2])
    made = group(utterance=words, inconsistency=Checks([1] * 3, [8] * 3, [2] * 3))
    state = made.talk(max_messages=2, pruning=PRUNED, pattern="round_robin")
    said = utterances(state["messages"])[1]
    assert (said["text"], said["corrections"]) == (WORDINGS[2], ["revised"])
    checks = participants(state)[said["speaker"]]["pruned"]["checks"]
    assert [check["scores"] for check in checks] == [[8, 8, 8], [10], [2, 2, 2]]
    assert len(bodies(made, "inconsistency")) == 9


def test_words_that_there_are_stand_where_no_others_can_be_had(group: Any) -> None:
    for failures in ([Fault(400)], [Fault(503), Fault(503)], [None, None]):
        _, said, checks = revised(group, [8, 8, 8], words=[WORDINGS[0], *failures])
        assert (said["text"], said["corrections"]) == (WORDINGS[0], ["still_inconsistent"])
        assert [check["scores"] for check in checks] == [[8, 8, 8]]


def test_words_for_others_count_as_a_contradiction_too(group: Any) -> None:
    _, said, checks = revised(group, [8, 8, 8], [3, 3, 3], words=[WORDINGS[0], f"Bo: {WORDINGS[1]}", WORDINGS[2]])
    assert (said["text"], said["corrections"]) == (WORDINGS[2], ["revised"])
    assert [check["scores"] for check in checks] == [[8, 8, 8], [10], [3, 3, 3]]


NEVER = ({**PRUNED, "revision": "off"}, {**PRUNED, "lambda": 0}, {"remove": ["r"], "revision": "again"})


@pytest.mark.parametrize("pruning", NEVER)
def test_nothing_is_checked_where_it_is_off_or_nothing_was_left_out(group: Any, pruning: dict[str, Any]) -> None:
    made = group()
    state = made.talk(max_messages=1, pruning=pruning)
    assert bodies(made, "inconsistency") == []
    assert not any(mind.get("pruned", {}).get("checks") for mind in participants(state).values())


@pytest.mark.parametrize("budget", [8, 10])
def test_a_budget_holds_for_checks_and_for_other_words(group: Any, budget: int) -> None:
    made = group(utterance=WORDINGS[0], inconsistency=Checks([9] * 3))
    state = made.talk(max_messages=1, pruning=PRUNED, budget_calls=budget)
    assert len(made.server.bodies()) == budget
    assert utterances(state["messages"]) == []


async def test_who_follows_sees_other_words_replace_the_first_and_no_check(group: Any) -> None:
    people = [{"name": name, "description": "Somebody."} for name in ("Ada Lind", "Bo Říha")]
    made = group(utterance=in_turn(*WORDINGS[:2]), inconsistency=Checks([8] * 3, [2] * 3))
    settings = {"pattern": "round_robin", "max_messages": 1, "pruning": PRUNED}
    events = persimchat.astream_events("Tea?", people, model=made.server.model(), **settings)
    told = [event async for event in events if event.event in ("speaking", "token", "utterance")]
    words = "".join(event.text if event.event == "token" else f"<{event.event}>" for event in told)
    assert words == f"<speaking>{WORDINGS[0]}<speaking>{WORDINGS[1]}<utterance>"
    assert told[-1].text == WORDINGS[1]
