"""How often each task is put to a model, utterance by utterance: what the graph does, counted from the settings.

Source: `graph/conversation.py` and `graph/minds.py`. Counts are expected values where people choose: who speaks, and
whether they reflect or plan meanwhile. Their sums over an utterance are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from persimchat.graph.ending import judge_is_due, leave_takers
from persimchat.state.settings import Settings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Course:
    """What of a conversation decides how many calls it takes.

    Attributes:
        participants: how many take part, people included.
        utterances: how many are made.
        reflecting: share of actions that reflect, 0 to 1.
        people: how many of the participants are people; they are taken to speak as often as everybody else.
    """

    participants: int
    utterances: int
    reflecting: float
    people: int = 0

    def heard(self, settings: Settings) -> float:
        """The share of utterances about which one agent's model is asked: its own, and those that concern it."""
        agents = self.participants - self.people
        if settings.listeners == "all" or not agents:
            return 1.0
        own = 1 / self.participants
        if agents == 1:
            return 1.0
        by_agents = own * (agents - 1) * min(1.0, settings.listeners / (agents - 1))
        return own + by_agents + own * self.people * min(1.0, settings.listeners / agents)

    def nothing(self) -> Floats:
        """No calls: one number for the awakening (0) and one for each utterance."""
        return np.zeros(self.utterances + 1)

    def always(self, *, since: int) -> Floats:
        """One call an utterance from this one on; 0 is the awakening."""
        calls = self.nothing()
        calls[since:] = 1.0
        return calls


def calls_of_mind(course: Course, settings: Settings, *, speaks: bool = True) -> dict[str, Floats]:
    """Calls of one mind by task, at the awakening and at each utterance.

    Args:
        course: of the conversation.
        settings: of the simulation.
        speaks: False for the persona judge's mind, which only listens.
    """
    debate, thinks = settings.mode == "debate", settings.planning_and_reflection
    heard = course.heard(settings) if speaks else 1.0
    # Nobody speaks twice in a row; those who were asked do as they chose, but for the one of them who speaks next.
    chosen = heard - (heard - 1 / course.participants) / (course.participants - 1) if speaks else 1.0
    thoughts = chosen * course.always(since=2) if thinks else course.nothing()
    calls = {"reflection": thoughts * course.reflecting, "planning": thoughts * (1 - course.reflecting)}
    asked = heard * course.always(since=1)
    awakens = course.always(since=0) - course.always(since=1)
    if settings.memory_filtering:
        calls["memory_filtering"] = heard * course.always(since=2) + thoughts
    if speaks:
        calls["utterance"] = course.always(since=1) / course.participants
    match settings.cognition:
        case "full":
            calls |= {"perception": asked, "focal_points": asked, "emotion": awakens + asked}
            if thinks:
                calls["action"] = asked
            if speaks:
                calls["need_to_talk"] = awakens + asked
            if speaks and debate:
                calls["openness"] = awakens + asked
        case "compact":
            calls |= {"hearing": asked, "appraisal": awakens + asked}
        case "lean":
            calls |= {"reaction": asked, "appraisal": awakens}
    return calls


def calls_of_onlookers(course: Course, settings: Settings) -> dict[str, Floats]:
    """Calls of those who take no part: judge, selector and analysis, by task, as for `calls_of_mind`."""
    calls = {}
    if settings.mode == "debate":
        due = [judge_is_due(turn, course.participants, settings) for turn in range(1, course.utterances + 1)]
        calls["judge"] = np.array([0.0, *due], dtype=np.float64)
        if course.utterances == settings.max_messages:
            calls["majority"] = course.nothing()
            calls["majority"][-1] = 1.0
    if settings.pattern == "selector":
        calls["selector"] = _selections(course, settings)
    if settings.analysis:
        calls["analysis"] = course.always(since=1)
    return calls


def _selections(course: Course, settings: Settings) -> Floats:
    """Nobody is asked where only one may speak: in turns of two, and as the last to take leave."""
    calls = course.always(since=1)
    if course.participants == 2 and not settings.allow_repeated_speaker:
        calls[2:] = 0.0
    everybody_leaves = leave_takers(course.participants, settings.max_messages) == course.participants
    if settings.closing != "off" and everybody_leaves and course.utterances == settings.max_messages:
        calls[-1] = 0.0
    return calls
