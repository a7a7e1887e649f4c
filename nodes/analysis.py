"""Analysis: how coherent, how kindly meant and how involved one utterance is (thesis, 5.3).

It belongs to no agent's mind and nobody in the conversation learns of it, so it runs beside hearing and delays nothing.
"""

from __future__ import annotations

from typing import Any, Final

from typing_extensions import TypedDict

from persimchat.models.asking import ask
from persimchat.models.failures import TransientModelError
from persimchat.prompts import blocks
from persimchat.state.errors import ModelError
from persimchat.state.judgement import Score
from persimchat.state.mind import Situation, Utterance
from persimchat.state.settings import Settings

ANALYST: Final = "Analysis"
"""On whose behalf the model is asked, in accounting, settings and errors: no agent has this part."""

_NOBODY: Final = ""
"""Whose ears the blocks are made for: an onlooker is nobody among those present."""


class Given(TypedDict):
    """What the analysis is given for one utterance."""

    situation: Situation
    """The conversation as an onlooker finds it; `recent` may hold the utterance itself, and what came later."""
    heard: Utterance
    """The utterance to score."""


async def analyse(given: Given, settings: Settings) -> dict[str, Any]:
    """Score one utterance in its conversation.

    Returns:
        An update of the conversation: `scores`, one record with `turn`, `speaker`, `reasoning`, and `coherence`,
        `sentiment` and `engagement` (0–10, one decimal), None where the model failed for good, and why (`failed`); and
        `usage`.
    """
    situation, heard = given["situation"], given["heard"]
    before = [utterance for utterance in situation["recent"] if utterance["turn"] < heard["turn"]]
    scored = {"turn": heard["turn"], "speaker": heard["speaker"]}
    try:
        answer = await ask(
            "analysis",
            Score,
            settings=settings,
            agent=ANALYST,
            module="analysis",
            turn=heard["turn"],
            environment=blocks.environment(situation, _NOBODY),
            last_utterances=blocks.observed(before),
            heard=blocks.heard(heard, _NOBODY),
        )
    except TransientModelError:
        raise  # tried again
    except ModelError as error:  # it belongs to nobody in the conversation, which goes on without it
        unscored = dict.fromkeys(Score.model_fields)
        return {"scores": [{**scored, **unscored, "failed": str(error)}]}
    return {"scores": [{**scored, **answer.value.model_dump(), "failed": ""}], "usage": [answer.call]}
