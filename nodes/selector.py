"""The selector: a separate model names the next speaker (specification, *Who speaks next*).

The baseline that most frameworks of multi-agent conversation use (thesis, 6; AutoGen's selector group chat).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field, create_model

from persimchat.models.asking import ask
from persimchat.prompts import blocks
from persimchat.state.judgement import Judgement, Reason
from persimchat.state.mind import Situation
from persimchat.state.names import full_names
from persimchat.state.settings import Settings

SELECTOR: Final = "Selector"
"""The name under which the selector's calls are counted."""


class Selection(Judgement):
    """Who speaks next; made for those who may by `selection_schema`."""

    reasoning: Reason = Field(description="one sentence: why they")
    speaker: str


@lru_cache(maxsize=256)
def selection_schema(candidates: tuple[str, ...]) -> type[Selection]:
    """The schema of a selection among these names. First names and other spellings are understood."""
    name: Any = Annotated[Literal[candidates], BeforeValidator(full_names(candidates))]
    return create_model(
        "Selection",
        __base__=Selection,
        speaker=(name, Field(description="the name of the one who speaks next")),
    )


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
