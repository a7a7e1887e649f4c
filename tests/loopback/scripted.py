"""A scripted answerer for the loopback server: one fixed, valid answer a task, which a test may replace."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from loopback.answering import TASK

Script = dict[str, Any] | str | Callable[[dict[str, Any]], Any]


def task_of(body: dict[str, Any]) -> str:
    """The name of the task that a request's prompt sets."""
    for message in body["messages"]:
        found = TASK.search(str(message.get("content")))
        if found:
            return found.group(1)
    raise AssertionError(f"a request without a task: {body['messages']}")


def prompt_of(body: dict[str, Any]) -> str:
    """The user's part of a request's prompt."""
    return next(str(m["content"]) for m in body["messages"] if m["role"] == "user")


def in_turn(*answers: Any) -> Callable[[Any], Any]:
    """An answerer that gives these answers one after the other, and raises an error when there are none left."""
    left = list(answers)

    def answer(_: Any) -> Any:
        assert left, "asked more often than there are answers"
        return left.pop(0)

    return answer


def participants_of(body: dict[str, Any]) -> list[str]:
    """The names of all participants, as the group block of a prompt for the judge or the selector lists them."""
    group = re.search(r"^<group>\n(.*?)^</group>", prompt_of(body), re.MULTILINE | re.DOTALL)
    assert group, "a prompt without a group"
    return re.findall(r"^- (.+?): (?:need to talk|openness|spoken) ", group.group(1), re.MULTILINE)


def answer_of(body: dict[str, Any]) -> str:
    """An answer in the form that a debate's prompt asks for: "yes", the first choice, "12", or a sentence."""
    form = re.search(r"^- The group is to agree on one answer: (.+)$", prompt_of(body), re.MULTILINE)
    words = form.group(1) if form else ""
    if words.startswith("yes or no"):
        return "yes"
    if words.startswith("one number"):
        return "12"
    return words.partition(": ")[2].split("; ")[0] if words.startswith("one of the choices") else "Tea for everybody."


def _verdict(body: dict[str, Any]) -> dict[str, Any]:
    held = [{"agent": name, "position": "Likes tea.", "agrees": True} for name in participants_of(body)]
    return {
        "reasoning": "They are still talking.", "consensus": False, "answer": None, "positions": held,
        "progress": "progressing",
    }  # fmt: skip


def _majority(body: dict[str, Any]) -> dict[str, Any]:
    return {"reasoning": "Most like tea.", "answer": answer_of(body), "supporters": participants_of(body)[:1]}


def _selection(body: dict[str, Any]) -> dict[str, Any]:
    found = re.search(r"Only these may: (.+)\.$", prompt_of(body), re.MULTILINE)
    assert found, "a prompt without candidates"
    return {"reasoning": "They have been silent.", "speaker": found.group(1).split(", ")[0]}


def _script(body: dict[str, Any]) -> str:
    speakers = re.search(r"^- The speakers: (.+?)\. Nobody", prompt_of(body), re.MULTILINE)
    count = re.search(r"to the last: (\d+) utterance", prompt_of(body))
    assert speakers and count, "a prompt without speakers or a number of utterances"
    names = speakers.group(1).split(", ")
    return "\n".join(f"{names[n % len(names)]}: I like tea number {n + 1}." for n in range(int(count.group(1))))


def _answering(body: dict[str, Any]) -> dict[str, Any]:
    return {"reasoning": "I like tea.", "answer": answer_of(body), "confidence": 0.6}


def _decision(body: dict[str, Any]) -> dict[str, Any]:
    reasoning = "The affirmative side had the better reasons."
    return {"reasoning": reasoning, "decided": True, "side": "affirmative", "answer": answer_of(body)}


def _parts(body: dict[str, Any]) -> dict[str, Any]:
    found = re.search(r"in this order: (.+?)\. Each", prompt_of(body))
    assert found, "a prompt for several parts that names none"
    return {part: ANSWERS[part] for part in found.group(1).split(", ")}


FOR_GROUPS: dict[str, Callable[[dict[str, Any]], dict[str, Any] | str]] = {
    "judge": _verdict,
    "majority": _majority,
    "selector": _selection,
    "script": _script,
    "answering": _answering,
    "mad_judge": _decision,
}
"""Answers that must name the people whom a prompt lists, or be in the form that it asks for."""

ANSWERS: dict[str, Script] = {
    "perception": {"theme": "Somebody spoke of tea", "keywords": ["tea"], "importance": 4},
    "focal_points": {"questions": ["Who likes tea?", "What do I drink?", "Why do they care?"]},
    "memory_filtering": {"reasoning": "It matters.", "keep": True},
    "need_to_talk": {"reasoning": "I might.", "need_to_talk": 5},
    "action": {"reasoning": "There is much to digest.", "action": "reflect"},
    "emotion": {
        "reasoning": "Calm.", "happiness": 3, "sadness": 0, "anger": 0, "fear": 0, "disgust": 0, "surprise": 1
    },  # fmt: skip
    "reflection": {
        "insights": [
            {"theme": f"Insight number {n}", "keywords": ["tea"], "evidence": [1], "importance": n} for n in range(1, 6)
        ]
    },
    "planning": {
        "progress": "It goes on.", "identity": "I am the one who listens.", "react": True, "reaction": "I will answer.",
        "goals": [], "theme": "Find out about tea", "keywords": ["tea"], "importance": 6,
    },  # fmt: skip
    "utterance": "I like tea a lot.",
    "group_chat": "I like tea a lot.",
    "companion": "Well, I like tea a lot.",
    "trust": {"reasoning": "Small talk.", "cause": "none", "change": 0, "wants_to_end": False},
    "consolidation": {
        "summary": "We spoke of tea.", "keywords": ["tea"], "importance": 4, "relationship": "acquaintance", "note": "",
        "promises": [], "facts": [],
    },  # fmt: skip
    "day_plan": {
        "wakes": "06:00", "sleeps": "22:00",
        "entries": [
            {"start": f"{hour:02}:00", "minutes": 120, "activity": "drink tea", "place": 1} for hour in range(8, 18, 2)
        ],
    },  # fmt: skip
    "chunks": {"chunks": [{"minutes": 120, "activity": "drink tea"}]},
    "inconsistency": {"comment": "Nothing contradicts it.", "score": 2},
    "hearing": _parts,
    "appraisal": _parts,
    "reaction": _parts,
    "openness": {"reasoning": "It is all the same to me.", "openness": 5},
    "analysis": {"reasoning": "It speaks of tea.", "coherence": 6.5, "sentiment": 7.0, "engagement": 4.5},
    **FOR_GROUPS,
}  # fmt: skip


class Scripted:
    """Answers every task as scripted; records what was asked.

    Args:
        **replaced: task → answer, or a function of the request's body that gives one.
    """

    def __init__(self, **replaced: Script) -> None:
        self.answers = {**ANSWERS, **replaced}
        self.asked: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Any:
        task = task_of(body)
        with self._lock:
            self.asked.append((task, prompt_of(body)))
        answer = self.answers[task]
        return answer(body) if callable(answer) else answer

    def prompts(self, task: str) -> list[str]:
        """The prompts of one task, in order of arrival."""
        return [prompt for asked, prompt in self.asked if asked == task]
