"""Analysis: how coherent, how friendly and how engaged one utterance is (thesis, 5.3).

It belongs to no agent's mind, and no participant learns of it, so it runs in parallel with hearing and delays nothing.
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
"""The name of the analysis in accounting, settings and errors; not that of an agent."""

_NOBODY: Final = ""
"""The name in place of a participant's, for blocks as an onlooker sees them."""


class Given(TypedDict):
    """What the analysis is given for one utterance."""

    situation: Situation
    """The conversation as an onlooker sees it; `recent` may hold the utterance itself, and later ones."""
    heard: Utterance
    """The utterance to score."""


async def analyse(given: Given, settings: Settings) -> dict[str, Any]:
    """Score one utterance in its conversation.

    Returns:
        An update of the conversation: `scores`, one record with `turn`, `speaker`, `reasoning`, and `coherence`,
        `sentiment` and `engagement` (0–10, one decimal), None where the model failed for good, and why (`failed`).
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
    except ModelError as error:  # no participant needs it: the conversation continues without it
        unscored = dict.fromkeys(Score.model_fields)
        return {"scores": [{**scored, **unscored, "failed": str(error)}]}
    return {"scores": [{**scored, **answer.value.model_dump(), "failed": ""}]}
