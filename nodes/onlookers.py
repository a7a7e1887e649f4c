"""Models that take no part: the selector of the next speaker, and the analysis of utterances.

The selector is the baseline that most frameworks of multi-agent conversation use (thesis, 6; AutoGen's selector group
chat). The analysis says how coherent, how friendly and how engaged one utterance is (thesis, 5.3); no participant
learns of it, so it runs in parallel with hearing and delays nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, create_model
from typing_extensions import TypedDict

from ..models.asking import ask
from ..models.failures import TransientModelError
from ..prompts import blocks
from ..state.errors import ModelError
from ..state.minds.addressing import addressees
from ..state.minds.judgement import Judgement, Reason, Score
from ..state.minds.mind import Situation, Utterance
from ..state.plain_text import full_names
from ..state.settings import Settings

_BEFORE_NAMES: Final = re.compile(r"(?:^|(?<=\s))(?:\w+\s*[:：]|\d+\s*[.)]|[@#*-])\s*")
"""What stands before a name in an answer: "Role:", "1.", "@"."""
SELECTOR: Final = "Selector"
"""The name under which the selector's calls are counted."""


class Selection(Judgement):
    """Who speaks next; made for those who may by `selection_schema`."""

    reasoning: Reason = Field(description="one sentence: why they")
    speaker: str


@lru_cache(maxsize=256)
def selection_schema(candidates: tuple[str, ...]) -> type[Selection]:
    """The schema of a selection among these names. First names and other spellings are understood."""
    name: Any = Annotated[Literal[candidates], BeforeValidator(_the_one_of(candidates))]
    return create_model(
        "Selection",
        __base__=Selection,
        speaker=(name, Field(description="the name of the one who speaks next")),
    )


def _the_one_of(candidates: tuple[str, ...]) -> Callable[[Any], Any]:
    """A validator that also finds the one candidate whom an answer names among other words ("Role: Eva", "1. Eva")."""
    full = full_names(candidates)

    def one(value: Any) -> Any:
        given = full(value)
        if not isinstance(given, str) or given in candidates:
            return given
        found = addressees(f", {_BEFORE_NAMES.sub('', given)},", "", candidates)
        return found[0] if len(found) == 1 else value

    return one


async def select_speaker(
    situation: Situation, minds: Mapping[str, Mapping[str, Any]], candidates: Sequence[str], settings: Settings
) -> dict[str, Any]:
    """Ask the selector who speaks next; only one of the candidates is ever accepted.

    Args:
        situation: the conversation as an onlooker sees it.
        minds: the participants', by name.
        candidates: names of those who may speak; if there is only one, no model is asked.
        settings: of the simulation.

    Returns:
        `speaker`, `reasoning` and `turn` (utterances so far).
    """
    turn = situation["turn"]
    if len(candidates) == 1:
        return {"speaker": candidates[0], "reasoning": "Nobody else may speak now.", "turn": turn}
    # This baseline works without need to talk, so the selector does not see it.
    shown = [{key: mind[key] for key in ("name", "utterances", "last_spoke")} for mind in minds.values()]
    answer = await ask(
        "selector",
        selection_schema(tuple(candidates)),
        settings=settings,
        agent=SELECTOR,
        module="selector",
        turn=turn,
        environment=blocks.environment(situation, ""),
        group=blocks.group(shown),
        last_utterances=blocks.observed(situation["recent"]),
        candidates=list(candidates),
    )
    return {"speaker": answer.value.speaker, "reasoning": answer.value.reasoning, "turn": turn}


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
