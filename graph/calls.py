"""How many model calls a conversation takes, counted before it is held: what each graph does, utterance by utterance.

Calls are counted by task: the prompt's name. `MODULE_OF` names the module where that has another name. Requests that
fail or are asked again are not counted, nor are the second wordings of an utterance and what checks those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from pkgutil import resolve_name
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from ..state.baselines.rounds import rounds_of
from ..state.kinds import Mad
from ..state.poll import Guide
from ..state.settings import HEARD, Settings
from ..state.stories.story import Story
from .ending import judge_is_due, leave_takers

Floats = NDArray[np.float64]

LEAN_REFLECTS: Final = 1 / 10
"""With lean cognition, how often a mind reflects while another speaks: percepts of importance 5 until `REFLECTS_AT`."""


@dataclass(frozen=True)
class Shape:
    """The properties of a conversation that decide how many calls it takes.

    Attributes:
        participants: how many take part, people included.
        utterances: how many are made.
        reflecting: share of actions that reflect, 0 to 1.
        people: how many of the participants are people; they are assumed to speak as often as the others.
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
        """One call per utterance from this one on; 0 is the awakening."""
        calls = self.nothing()
        calls[since:] = 1.0
        return calls


def calls_of_mind(shape: Shape, settings: Settings, *, speaks: bool = True, worded: float = 1.0) -> dict[str, Floats]:
    """Calls of one mind by task, at the awakening and at each utterance.

    Args:
        shape: of the conversation.
        settings: of the simulation.
        speaks: False for the persona judge's mind, which only listens.
        worded: how many utterances its model words, as a multiple of an equal share.
    """
    speech = {task: number * worded for task, number in _calls_of_speech(shape, settings).items()} if speaks else {}
    if settings.cognition == "fixed":
        return speech
    gone, debate, own = settings.left_out, settings.mode == "debate", settings.modules if speaks else []
    heard = shape.heard(settings) if speaks else 1.0
    # Nobody speaks twice in a row; those who were asked do as they chose, except the one who speaks next.
    chosen = heard - (heard - 1 / shape.participants) / (shape.participants - 1) if speaks else 1.0
    thoughts = chosen * shape.always(since=2) if settings.thinks else shape.nothing()
    if settings.cognition == "lean":
        thoughts, shape = thoughts * LEAN_REFLECTS, replace(shape, reflecting=1.0)
    elif "action" in gone:
        shape = replace(shape, reflecting=LEAN_REFLECTS)
    calls = {"reflection": thoughts * shape.reflecting, "planning": thoughts * (1 - shape.reflecting)}
    calls |= {name: shape.nothing() for name in calls.keys() & gone}
    thoughts = calls["reflection"] + calls["planning"]
    asked = heard * shape.always(since=1)
    awakens = shape.always(since=0) - shape.always(since=1)
    if settings.memory_filtering:
        calls["memory_filtering"] = heard * shape.always(since=2) + thoughts
    calls |= speech
    felt = {"emotion", *(["need_to_talk"] if speaks else []), *(["openness"] if speaks and debate else [])} - gone
    if settings.cognition == "lean":
        reacts = own or felt or {"perception"} - gone or (settings.thinks and {"planning"} - gone)
        calls |= {"reaction": asked * bool(reacts), "appraisal": awakens * bool(felt)}
    else:
        judged = {*HEARD, *own, *(["action"] if settings.thinks else [])} - gone
        calls |= _by_answer(dict.fromkeys(felt, awakens + asked) | dict.fromkeys(judged, asked), settings)
    return {task: number for task, number in calls.items() if task not in gone}


def _by_answer(calls: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """How often each answer of full and compact minds is asked for, from how often each of their judgements is made."""
    joined = settings.in_one_answer
    answers = {module: number for module, number in calls.items() if module not in joined}
    for answer, parts in ("hearing", joined & {*HEARD}), ("appraisal", joined - {*HEARD}):
        if made := [calls[part] for part in calls.keys() & parts]:
            answers[answer] = reduce(np.maximum, made)
    return answers


def _calls_of_speech(shape: Shape, settings: Settings) -> dict[str, Floats]:
    """Calls with which one mind words its utterances."""
    uttered = shape.always(since=1) / shape.participants
    calls = {"utterance": uttered}
    if settings.pruning.asks_first:
        calls["first_response"] = settings.pruning.asks_first * uttered
    if settings.pruning.checks:
        calls["inconsistency"] = settings.pruning.checks * uttered
    return calls


def worded_shares(guide: Guide, participants: int) -> tuple[float, float]:
    """How many utterances the moderator's model words in a focus group, and those of the others, by equal shares.

    Args:
        guide: the guide.
        participants: how many take part, the moderator included.
    """
    whole, questions = guide.length(participants), len(guide.questions)
    share = whole / participants
    own = questions if guide.wording == "own" else 0
    return own / share, (whole - questions) / (participants - 1) / share


def calls_of_onlookers(shape: Shape, settings: Settings) -> dict[str, Floats]:
    """Calls of judge, selector and analysis by task, as for `calls_of_mind`."""
    calls = {}
    if settings.mode == "debate":
        due = [judge_is_due(turn, shape.participants, settings) for turn in range(1, shape.utterances + 1)]
        calls["judge"] = np.array([0.0, *due], dtype=np.float64)
        if shape.utterances == settings.max_messages:
            calls["majority"] = shape.nothing()
            calls["majority"][-1] = 1.0
    if settings.pattern == "selector" or settings.baseline == "group_chat":
        calls["selector"] = _selections(shape, settings)
    if settings.analysis:
        calls["analysis"] = shape.always(since=1)
    return calls


def _selections(shape: Shape, settings: Settings) -> Floats:
    """The selector is not asked if only one may speak: in turns of two, and for the last goodbye."""
    calls = shape.always(since=1)
    if shape.participants == 2 and not settings.allow_repeated_speaker:
        calls[2:] = 0.0
    everybody_leaves = leave_takers(shape.participants, settings.max_messages) == shape.participants
    if settings.closing != "off" and everybody_leaves and shape.utterances == settings.max_messages:
        calls[-1] = 0.0
    return calls


def calls_of_answers(shape: Shape, settings: Settings) -> dict[str, Floats]:
    """Calls of one participant of a baseline, by task, as for `calls_of_mind`: one answer a round, or its utterances.

    The single_agent baseline asks no participant.
    """
    if settings.baseline == "single_agent":
        return {}
    task = "group_chat" if settings.baseline == "group_chat" else "answering"
    return {task: shape.always(since=1) / shape.participants}


def calls_beside_answers(shape: Shape, settings: Settings) -> dict[str, Floats]:
    """All other calls of a baseline, by task, as for `calls_of_mind`, if it is held to its last round.

    Args:
        shape: of the conversation, with as many utterances as `utterances_at_most` says, or fewer whole rounds.
        settings: with a baseline.
    """
    if settings.baseline == "group_chat":
        return calls_of_onlookers(shape, settings)
    calls: dict[str, Floats] = {}
    if settings.baseline == "single_agent":
        calls["script"] = shape.always(since=0) - shape.always(since=1)
    if settings.baseline == "mad_judge":
        calls["mad_judge"] = shape.nothing()
        calls["mad_judge"][shape.participants :: shape.participants] = 1.0
    if settings.baseline in ("mad", "reconcile") and settings.answer_format == "free":
        calls["majority"] = shape.nothing()  # if no two answers are in the same words
        calls["majority"][-1] = 1.0
    if settings.analysis:
        calls["analysis"] = shape.always(since=1)
    return calls


def calls_of_added(shape: Shape, settings: Settings) -> dict[str, Floats]:
    """Calls of one participant of a kind of another package, by task, as for `calls_of_mind`.

    The tasks are those of this package whose prompts and answers are about as long.
    """
    return cast(dict[str, Floats], resolve_name(settings.kind.CALLS)(shape, settings))


def utterances_at_most(participants: int, settings: Settings) -> int:
    """How many utterances a conversation makes if nothing ends it early: in debate baselines, whole rounds.

    Raises:
        InputError: the message limit is smaller than one round.
    """
    if not issubclass(settings.kind, Mad):
        return settings.max_messages
    return rounds_of(participants, settings) * participants


@dataclass(frozen=True)
class Hearing:
    """How often the minds of a story that hear and think are asked.

    Attributes:
        heard: utterances heard, added up over all who hear them, their speakers included.
        by_two: those of them that are heard in talks of two.
        thoughts: thoughts while others speak.
    """

    heard: int
    by_two: int
    thoughts: int


def hearing_of_story(story: Story, settings: Settings) -> Hearing:
    """How often minds hear and think in a story, if every host finds a partner and nobody falls silent.

    Beside every utterance, all others where it is made think.

    Args:
        story: its section of the scenario.
        settings: `rounds` and `cognition` are read; strategists neither hear nor think.
    """
    if settings.cognition == "strategist":
        return Hearing(0, 0, 0)
    everybody, mains = len(story.characters), len(story.mains)
    talks = [(everybody, everybody)] if story.settlement is not None else []
    by_two = 0
    for stage in story.stages:
        if stage.by_two:
            by_two += settings.rounds * 2 * stage.made(everybody, mains)
        else:
            sizes = stage.split.sizes(everybody) if stage.split is not None else [everybody]
            talks += settings.rounds * [(size, stage.made(everybody, mains) // len(sizes)) for size in sizes]
    heard = sum(size * made for size, made in talks)
    thoughts = sum((size - 1) * made for size, made in talks) + by_two // 2
    return Hearing(heard + by_two, by_two, thoughts if settings.planning_and_reflection else 0)


def calls_of_story(story: Story, settings: Settings, reflecting: float) -> dict[str, float]:
    """How many calls a story makes by task, if every host finds a partner and nobody falls silent.

    Args:
        story: its section of the scenario.
        settings: `rounds`, `cognition` and what minds do are read.
        reflecting: share of thoughts that reflect, 0 to 1.
    """
    everybody, mains, voters = len(story.characters), len(story.mains), len(story.voters)
    rooms = settings.rounds * mains * sum(stage.by_two for stage in story.stages)
    together = settings.rounds * everybody * sum(stage.split is not None for stage in story.stages)
    second = sum(not story.outcomes and any(one != voter for one in story.mains) for voter in story.voters)
    reviews = everybody * (settings.rounds + story.first_impressions) if mains else 0
    made = story.most_said(settings.rounds)
    calls: dict[str, float] = {
        "stocktaking": 2 * rooms,
        "choice": rooms,
        "story_utterance" if settings.cognition == "strategist" else "utterance": made,
        "first_response": settings.pruning.asks_first * made,
        "inconsistency": settings.pruning.checks * made,
        "summary": 2 * rooms + together,
        "review": reviews,
        "ballot": 2 * voters + second,
    }
    if settings.cognition != "strategist":
        calls |= _calls_of_hearing(hearing_of_story(story, settings), everybody, settings, reflecting)
    return {task: number for task, number in calls.items() if number}


def _calls_of_hearing(hearing: Hearing, everybody: int, settings: Settings, reflecting: float) -> dict[str, float]:
    """The calls of minds that hear and think, by task."""
    heard, thoughts = hearing.heard, float(hearing.thoughts)
    if settings.cognition == "lean":
        thoughts, reflecting = thoughts * LEAN_REFLECTS, 1.0
    calls: dict[str, float] = {"reflection": thoughts * reflecting, "planning": thoughts * (1 - reflecting)}
    if settings.memory_filtering:  # before its first thought or percept, a mind has nothing to filter
        calls["memory_filtering"] = max(0, heard + thoughts - everybody)
    if settings.cognition == "lean":
        return calls | {"reaction": heard, "appraisal": everybody}
    felt = dict.fromkeys(("emotion", "need_to_talk"), heard + everybody)
    judged = dict.fromkeys(
        (*HEARD, *(["action"] if settings.planning_and_reflection else []), *settings.modules), heard
    )
    return calls | _by_answer(felt | judged, settings)


MODULE_OF: Final = {
    "utterance": "natural_language",
    "group_chat": "natural_language",
    "story_utterance": "natural_language",
    "first_response": "pruning",
    "inconsistency": "revision",
    "majority": "judge",
    "mad_judge": "judge",
}
"""The module by which a task's calls are counted, where that has another name."""
