"""Focal points: the questions that direct retrieval (thesis, 5.2.1; specification, step 3)."""

from __future__ import annotations

from typing import Final

from persimchat.models.asking import appraise
from persimchat.nodes.context import common_blocks, question
from persimchat.prompts import render
from persimchat.state.judgement import FocalPoints
from persimchat.state.mind import Step
from persimchat.state.outcomes import judged
from persimchat.state.settings import Settings

_QUESTIONS: Final = 3


async def wonder(mind: Step, settings: Settings) -> Step:
    """Ask the three most salient questions about what just happened."""
    answer = await appraise(
        "focal_points", FocalPoints, **question(mind, settings, "focal_points"), **common_blocks(mind)
    )
    return {**asked(mind, answer.value), "outcomes": judged([answer.call])}


def asked(mind: Step, judged: FocalPoints | None) -> Step:
    """The questions; if there are too few, fixed ones about topic, speaker and oneself are added."""
    own = judged.questions if judged is not None else []
    return {"focal_points": own if len(own) >= _QUESTIONS else [*own, *_fixed(mind)][:_QUESTIONS]}


def _fixed(mind: Step) -> list[str]:
    _, worded = render("fixed_questions", topic=mind["situation"]["topic"], speaker=mind["heard"]["speaker"])
    return str(worded.text).splitlines()
