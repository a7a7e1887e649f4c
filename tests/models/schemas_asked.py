"""Every schema that a model is asked to answer in, also those that are made for one conversation."""

from __future__ import annotations

from pydantic import BaseModel

from persimchat.nodes.onlookers import selection_schema
from persimchat.personas.conversion.drafts import ReadPeople
from persimchat.personas.generation import CHARACTERISTICS, answer_schema
from persimchat.state import assessment
from persimchat.state.assessment import FoundThemes, InterviewReply
from persimchat.state.baselines.rounds import answering_schema, decision_schema
from persimchat.state.companion import judgement as companion_judgement
from persimchat.state.debates.answers import AnswerFormat
from persimchat.state.debates.verdict import majority_schema, verdict_schema
from persimchat.state.minds import judgement
from persimchat.state.poll import Poll, reply_schema
from persimchat.state.stories import judgement as story_judgement

NAMES = ("Eva Horáková", "李雷", 'Bo "B." O\'Hara', "Ann-Marie {x}")
CHOICES = ("trams", "a bus", 'the "other" one', "-30 °C", "none")
FORMS: tuple[tuple[AnswerFormat, tuple[str, ...]], ...] = (
    ("free", ()),
    ("yesno", ()),
    ("choice", CHOICES),
    ("number", ()),
)
ANSWERED_AT_ONCE = (
    ("perception", "focal_points"),
    ("emotion", "need_to_talk", "action", "openness"),
    tuple(part for part in judgement.PARTS if part != "focal_points"),
)


def asked() -> dict[str, type[BaseModel]]:
    """All of them, by a name that says which."""
    found: dict[str, type[BaseModel]] = {
        kind.__name__: kind
        for kind in (
            judgement.Percept,
            judgement.FocalPoints,
            judgement.Consolidation,
            judgement.NeedToTalk,
            judgement.Openness,
            judgement.Action,
            judgement.Feeling,
            judgement.Reflection,
            judgement.BriefReflection,
            judgement.Plan,
            judgement.Score,
            judgement.Inconsistency,
            judgement.TrustChange,
            companion_judgement.RatedEvents,
            companion_judgement.Reaction,
            companion_judgement.DayPlan,
            companion_judgement.Chunks,
            companion_judgement.TalkDigest,
            assessment.DimensionScore,
            assessment.ChangeScore,
            assessment.PairScores,
            ReadPeople,
            InterviewReply,
            FoundThemes,
        )
    }
    for form, choices in FORMS:
        for number in (2, len(NAMES)):
            found[f"Verdict, {form}, {number}"] = verdict_schema(NAMES[:number], form, choices)
            found[f"Majority, {form}, {number}"] = majority_schema(NAMES[:number], form, choices)
        for confident in (False, True):
            found[f"Answering, {form}, {confident}"] = answering_schema(form, choices, confident=confident)
        for reasoned in (False, True):
            found[f"Solution, {form}, {reasoned}"] = assessment.solution_schema(form, choices, reasoned=reasoned)
        for last in (False, True):
            found[f"Decision, {form}, {last}"] = decision_schema(form, choices, last=last)
    found |= {kind.__name__: kind for kind in (story_judgement.Stock, story_judgement.Summary)}
    found["Choice"] = story_judgement.choice_schema(NAMES)
    found["Ballot"] = story_judgement.ballot_schema(NAMES)
    found |= {f"Review, {beliefs}": story_judgement.review_schema(NAMES, beliefs, 10) for beliefs in (0, 3)}
    for poll in (Poll(ask="?"), Poll(ask="?", answer="scale:1-5"), Poll(ask="?", answer="choice", options=("a", "b"))):
        found[f"PollReply, {poll.answer}"] = reply_schema(poll)
    found |= {f"Parts, {len(parts)}": judgement.in_parts(*parts) for parts in ANSWERED_AT_ONCE}
    found |= {f"Selection, {n}": selection_schema(NAMES[:n]) for n in (2, len(NAMES))}
    found["GeneratedPersona"] = answer_schema(frozenset())
    found["GeneratedPersona, half"] = answer_schema(frozenset(list(CHARACTERISTICS)[::2]))
    found["GeneratedPersona, least"] = answer_schema(frozenset(CHARACTERISTICS))
    return found
