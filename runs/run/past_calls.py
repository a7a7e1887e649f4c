"""The requests with which an utterance came about and was heard: what models were asked, and what they answered.

Answers are recorded; of a prompt the record has a digest only. So the prompts are made again by a replay of that turn:
nothing is asked, and the run stays as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from persimchat.models.recording import Request, Row, asking_of, prompt_digest
from persimchat.runs.folder.calls import calls_in
from persimchat.runs.run.going_on import manifest_of
from persimchat.runs.run.replay import Replay
from persimchat.state.errors import InputError

_WORDING: Final = frozenset({"natural_language", "pruning", "revision"})
"""The modules that make an utterance; they ask before it counts, so their turn is one less."""


class PromptPart(BaseModel):
    """One message of a prompt."""

    model_config = ConfigDict(frozen=True)

    role: str = Field(description="system, human or ai")
    text: str


class PastCall(BaseModel):
    """A request of a recorded run."""

    model_config = ConfigDict(frozen=True)

    turn: int = Field(description="utterances when it was asked")
    agent: str = Field(description="on whose behalf; empty for nobody's, such as the judge's")
    module: str
    part: str = Field(description="what distinguishes it from others of the same turn, agent and module; mostly empty")
    n: int = Field(description="its number within the exchange, from 0; others follow where an answer was unusable")
    model: str
    seconds: float
    input_tokens: int
    output_tokens: int
    estimated: bool = Field(description="whether the tokens are an estimate")
    failed: str | None = Field(description="why it failed; null if it was answered")
    answer: str | None = Field(description="in the model's words; null if there is none")
    prompt: list[PromptPart] | None = Field(
        default=None, description="made again; null if it was not asked for, or cannot be made again"
    )
    same: bool | None = Field(
        default=None, description="whether the prompt is the one of then, by its digest; null without a prompt"
    )


def belongs(turn: int, asked_at: int, module: str) -> bool:
    """Whether a request belongs to an utterance: it made its words, or came when it was heard.

    Args:
        turn: number of the utterance; 1 has the awakening before it, too.
        asked_at: utterances when it was asked.
        module: the module that asked.
    """
    if module in _WORDING:
        return asked_at == turn - 1
    return asked_at == turn or turn == 1 and asked_at == 0


def recorded_calls(folder: Path, turn: int) -> list[PastCall]:
    """The requests of an utterance, without their prompts, those that made its words first. Blocks.

    Args:
        folder: of the run.
        turn: number of the utterance.

    Raises:
        InputError: the record cannot be read, or is damaged.
    """
    return [_call(row) for row in _rows(folder, turn)]


async def past_calls(folder: Path, turn: int) -> list[PastCall]:
    """The requests of an utterance with their prompts, those that made its words first.

    Args:
        folder: of the run.
        turn: number of the utterance.

    Raises:
        InputError: the folder is not a run's, it kept no record, or somebody is working on it.
    """
    rows = await asyncio.to_thread(_rows, folder, turn)
    if not rows:
        return []
    asked = await _asked(folder, turn)
    exact = {prompt_digest(request.messages, request.schema): request for request in asked}
    latest = {asking_of(request): request for request in asked}
    return [_call(row, exact.get(row.prompt), latest.get(asking_of(row))) for row in rows]


def _rows(folder: Path, turn: int) -> list[Row]:
    found = [row for row in calls_in(folder) if belongs(turn, row.turn, row.module)]
    return sorted(found, key=lambda row: (row.module not in _WORDING, row.turn))  # stable: else as they ended


async def _asked(folder: Path, turn: int) -> Sequence[Request]:
    """The questions around an utterance: from the state before it, or, without one, from the run's beginning."""
    settings = (await asyncio.to_thread(manifest_of, folder)).settings
    if turn > 1 and settings.baseline is None:
        try:
            return await Replay(folder, since=turn - 1).asked(turn)
        except InputError:  # it kept none there: a run without checkpoints, an act of several utterances
            pass
    return await Replay(folder).asked(turn)


def _call(row: Row, exact: Request | None = None, latest: Request | None = None) -> PastCall:
    found = exact or latest
    return PastCall(
        **row.model_dump(include=PastCall.model_fields.keys() - {"answer", "prompt", "same"}),
        answer=None if row.answer is None else str(row.answer.get("content", "")),
        prompt=None if found is None else list(_parts(found)),
        same=None if found is None else exact is not None,
    )


def _parts(request: Request) -> Iterable[PromptPart]:
    return (PromptPart(role=message.type, text=str(message.text)) for message in request.messages)
