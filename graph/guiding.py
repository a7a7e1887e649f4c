"""The guide of a focus group: which question is due, who may speak between two, and when the guide is done.

Pure functions of the conversation's state. Nothing of it is stored beside the utterances: each that puts a question has
its number, so a resumed run, a branch and a replay find the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Literal

from ..state.conversation import Conversation, each_utterance, participants
from ..state.minds.mind import GuideSituation, Utterance
from ..state.person_answer import PositionQuestion, Put
from ..state.poll import REPLIES, Guide, Poll
from ..state.settings import Settings

CALM: Final = 5
"""Talk slows when everybody has answered and no need to talk is above this."""


@dataclass(frozen=True)
class Course:
    """How far a guide is.

    Attributes:
        guide: the guide.
        number: of the question put last, from 1; 0 before the first.
        put: the words with which it was put; empty before the first.
        since: the turn at which it was put.
        answers: the turns of the answers to it: utterances of others than the moderator since.
        answered: who has answered.
        replies: utterances of the moderator since.
        last: the last utterance; None before the first.
    """

    guide: Guide
    number: int
    put: str
    since: int
    answers: tuple[int, ...]
    answered: frozenset[str]
    replies: int
    last: Utterance | None

    @property
    def next(self) -> int | None:
        """The number of the next question; None if all were put."""
        return self.number + 1 if self.number < len(self.guide.questions) else None


def course_of(state: Mapping[str, Any]) -> Course | None:
    """How far the guide is; None if there is no guide."""
    if not state.get("guide"):
        return None
    guide, present = Guide.model_validate(state["guide"]), participants(state)
    answers: list[int] = []
    answered: set[str] = set()
    replies, last = 0, None
    for said in each_utterance(islice(reversed(state["messages"]), state["turn"])):
        last = last or said
        if (number := said.get("question")) is not None:
            return Course(guide, number, said["text"], said["turn"], tuple(answers), frozenset(answered), replies, last)
        if said["speaker"] == guide.moderator:
            replies += 1
        elif said["speaker"] in present:
            answers.append(said["turn"])
            answered.add(said["speaker"])
    return Course(guide, 0, "", 0, tuple(answers), frozenset(answered), replies, last)


def is_over(course: Course, state: Conversation, settings: Settings) -> bool:
    """Whether enough was said about the question put last; before the first question always.

    With `turns`, so many answers are enough. Without, talk has slowed when half of the others have answered and none of
    them needs to talk more than `closing_need`; or when all have answered and no need is above `CALM`. Twice as many
    answers as there are others are always enough.
    """
    if not course.number:
        return True
    turns, others = course.guide.questions[course.number - 1].turns, _others(course.guide, state)
    answers = len(course.answers)
    if turns is not None:
        return answers >= turns
    if answers >= course.guide.most_answers(course.number, len(others)):
        return True
    gone = {name for name, mind in others.items() if mind.get("passed", 0) > course.since}
    everybody = others.keys() <= course.answered | gone
    needs = [mind.get("need_to_talk") for mind in others.values() if not mind.get("human")]
    known = [need for need in needs if need is not None]
    if len(known) < len(needs):  # minds that stay as they are have no need to talk
        return everybody
    greatest = max(known, default=0)
    return (everybody and greatest <= CALM) or (2 * answers >= len(others) and greatest <= settings.closing_need)


def question_due(state: Conversation, settings: Settings) -> int | None:
    """The number of the question that the moderator puts next; None if none is due.

    A person who moderates may pass when a question is due: then the others talk on, until there are as many more
    answers as there are others.
    """
    course = course_of(state)
    if course is None or course.next is None or not is_over(course, state, settings):
        return None
    passed = state["agents"][course.guide.moderator].get("passed", 0)
    if passed > course.since and sum(turn >= passed for turn in course.answers) < len(_others(course.guide, state)):
        return None
    return course.next


def question_early(state: Conversation, name: str) -> int | None:
    """The number of the question that a participant puts next, due or not.

    None if they do not moderate, or if no question is left.
    """
    course = course_of(state)
    return course.next if course is not None and course.guide.moderator == name else None


def is_done(state: Conversation, settings: Settings) -> bool:
    """Whether all questions of the guide were put, and enough was said about the last."""
    course = course_of(state)
    return course is not None and course.next is None and is_over(course, state, settings)


def resting(state: Conversation) -> frozenset[str]:
    """Who does not speak now, unless nobody else can: the moderator between two questions.

    An agent who moderates answers once between two questions, when the last utterance addresses it by name. A person
    who moderates may speak whenever they want to.
    """
    course = course_of(state)
    if course is None:
        return frozenset()
    name = course.guide.moderator
    mind = state["agents"][name]
    if mind.get("human"):
        return frozenset() if mind.get("need_to_talk") else frozenset({name})
    asked = course.last is not None and name in course.last["addressees"] and course.last["speaker"] != name
    return frozenset() if asked and course.replies < REPLIES else frozenset({name})


def positions_due(state: Conversation, *, over: bool) -> dict[str, list[PositionQuestion]]:
    """Where people are to say that they stand now, by name: before the first utterance, and after the last.

    Nobody is asked twice, and the moderator never. Agents are polled afterwards, as they were.

    Args:
        state: the conversation.
        over: whether it came to its end.
    """
    if not state.get("guide") or (state["turn"] and not over):
        return {}
    guide = Guide.model_validate(state["guide"])
    when: Literal["before", "after"] = "after" if over else "before"
    done = {(one["agent"], one["poll"], one["when"]) for one in state["carried_out"] if one.get("what") == "position"}
    due = {
        name: [asked_as(poll, when) for poll in guide.positions if (name, poll.id, when) not in done]
        for name, mind in _others(guide, state).items()
        if mind.get("human")
    }
    return {name: asked for name, asked in due.items() if asked}


def asked_as(poll: Poll, when: Literal["before", "after"]) -> PositionQuestion:
    """A poll as a question to a person."""
    return {
        "poll": poll.id,
        "when": when,
        "ask": poll.ask,
        "answer": poll.answer,
        "options": list(poll.options),
        "possible": list(poll.possible),
    }


def limit_of(state: Mapping[str, Any], settings: Settings) -> int:
    """The message limit: what the settings say; if they say nothing, as many utterances as the guide can have."""
    if not state.get("guide") or "max_messages" in settings.model_fields_set:
        return settings.max_messages
    return Guide.model_validate(state["guide"]).most_said(len(participants(state)))


def with_limit(settings: Settings, guide: Guide | None, everybody: int) -> Settings:
    """The settings of a run; if they set no message limit, a guide gives it.

    Args:
        settings: as given.
        guide: None without one.
        everybody: how many take part, the moderator included.
    """
    if guide is None or "max_messages" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"max_messages": guide.most_said(everybody)})


def as_seen(state: Mapping[str, Any]) -> GuideSituation | None:
    """The guide as everybody sees it now; None if there is no guide."""
    course = course_of(state)
    if course is None:
        return None
    guide = course.guide
    seen: GuideSituation = {
        "moderator": guide.moderator,
        "number": course.number,
        "of": len(guide.questions),
        "put": course.put,
    }
    if guide.shown_by(course.number) and guide.stimulus is not None:
        seen["stimulus"] = guide.stimulus.model_dump(exclude_none=True)
    return seen


def to_put(state: Mapping[str, Any], number: int) -> Put:
    """The question that the moderator is to put."""
    guide = Guide.model_validate(state["guide"])
    put: Put = {"number": number, "of": len(guide.questions), "ask": guide.questions[number - 1].ask}
    if guide.questions[number - 1].show and guide.stimulus is not None:
        put["stimulus"] = guide.stimulus.model_dump(exclude_none=True)
    return put


def _others(guide: Guide, state: Mapping[str, Any]) -> dict[str, Any]:
    """The minds of all participants but the moderator."""
    return {name: mind for name, mind in participants(state).items() if name != guide.moderator}
