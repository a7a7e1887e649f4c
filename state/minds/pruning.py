"""Adaptive prompt pruning: its settings, the choice of what is left out, and its record.

Source: Chu, Chen, Nakayama, *Exploring and Controlling Diversity in LLM-Agent Conversation*: equation 1 (the scores,
which `models/attention` computes) and algorithm 1 (`select`).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ..setting import no_switch

Method = Literal["attention", "embedding", "length", "random", "none"]
Query = Literal["prompt", "response"]
Fill = Literal["skip", "reach"]
Order = Literal["descending", "ascending", "random"]

REMOVABLE: Final = "bnrmpe"
"""The blocks of an utterance's prompt that can be removed whole, by their letters; c, the last utterances, cannot."""
SLACK: Final = 1e-9
"""The share of all scores by which a sum may pass its target: without it, 0.1 + 0.2 does not fit into 0.3."""
CHECKS: Final = 3
"""How many requests at once check a wording against what was left out (revision)."""
DIGITS: Final = 6
"""Significant digits of a score: further ones may differ between machines."""

TEXT: Final = 80
"""The first characters of a piece of information that are recorded."""


def _one_of_the_blocks(letter: str) -> str:
    if letter == "c":
        raise ValueError(
            "c cannot be removed: without the last utterances, an agent does not know what was said; leave c out"
        )
    if letter not in REMOVABLE or len(letter) != 1:
        raise ValueError(f"{letter!r} is no block; write one or more of the letters {', '.join(REMOVABLE)}")
    return letter


def _letters(value: Any) -> Any:
    """Letters written together (`bm`) as a list."""
    return list(value) if isinstance(value, str) else value


def _known_number(value: Any) -> Any:
    return no_switch(value)


class Pruning(BaseModel):
    """How much of an utterance's prompt is left out, and by what: a group of settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    strength: Annotated[float, BeforeValidator(_known_number)] = Field(
        default=0.0,
        ge=0,
        le=1,
        alias="lambda",
        allow_inf_nan=False,
        description="λ, the share of the prompt's information that is left out, what the answer leans on most first: 0 "
        "nothing, 1 everything that may go. The more is left out, the more repeated runs differ",
    )
    method: Method = Field(
        default="attention",
        description="what scores the pieces of information: the attention of a small local model (attention), their "
        "similarity to the last words (embedding), their length, a draw (random), or nothing (none)",
    )
    scorer: str = Field(
        default="smollm2",
        min_length=1,
        max_length=4096,
        description="for attention: the local model whose attention is read: smollm2, a .gguf file, or a folder of a "
        "transformers model",
    )
    query: Query = Field(
        default="prompt",
        description="who looks at the pieces of information: the end of the prompt (no further request), or a first "
        "response that is thrown away",
    )
    responses: Annotated[int, BeforeValidator(_known_number)] = Field(
        default=1, ge=1, le=10, description="for query=response: how many first responses are averaged"
    )
    fill: Fill = Field(
        default="skip",
        description="a piece that would pass the share is skipped and smaller ones are tried (skip), or is the last "
        "that goes (reach)",
    )
    remove: Annotated[list[Annotated[str, AfterValidator(_one_of_the_blocks)]], BeforeValidator(_letters)] = Field(
        default_factory=list,
        max_length=len(REMOVABLE),
        description="blocks of the prompt that always go whole: b who I am, n need to talk and emotions, r "
        "relationships, m memories, p plan and identity, e environment; names, topic and orders stay",
    )
    revision: Literal["off", "again"] = Field(
        default="off",
        description="an utterance that contradicts what was left out is worded again (again)",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Pruning:
        if self.strength > 0 and self.method == "none":
            raise ValueError("pruning.method=none prunes nothing; set lambda=0")
        if len(set(self.remove)) < len(self.remove):
            raise ValueError("remove names a block twice; name each once")
        return self

    @property
    def active(self) -> bool:
        """Whether anything may be left out."""
        return self.strength > 0 or bool(self.remove)

    @property
    def asks_first(self) -> int:
        """How many first responses are asked for before each utterance."""
        return self.responses if self.strength > 0 and self.query == "response" and self.reads_responses else 0

    @property
    def checks(self) -> int:
        """How many requests check the first wording of each utterance, if something was left out of its prompt."""
        return CHECKS if self.active and self.revision == "again" else 0

    @property
    def reads_responses(self) -> bool:
        """Whether the method compares pieces of information with words; the others need none."""
        return self.method in ("attention", "embedding")


def letters_of(blocks: Iterable[str]) -> str:
    """The blocks that are removed whole as letters in one order, so that equal ones are written alike."""
    removed = set(blocks)
    return "".join(letter for letter in REMOVABLE if letter in removed)


def rounded(score: float) -> float:
    """A score with six significant digits; negative ones count as 0."""
    return float(f"{max(score, 0.0):.{DIGITS - 1}e}")


def select(
    scores: Sequence[float],
    strength: float,
    *,
    fill: Fill = "skip",
    order: Order = "descending",
    seed: int | str = 0,
) -> list[int]:
    """Which pieces of information go, in order of removal (algorithm 1 of the paper).

    A piece without a score goes only if everything goes: it adds nothing to the share.

    With `skip`, the listing of the paper, a piece that would pass the share is skipped and smaller ones are tried, so
    the share removed never exceeds λ, and a greater λ may remove fewer and other pieces. With `reach`, as the paper's
    text has it, pieces go from the top until their sum reaches the share.

    Args:
        scores: of the removable pieces, rounded (`rounded`), none negative; equal ones go in the order given.
        strength: λ, 0 to 1; from 1 on everything goes, whatever the scores are.
        fill: "skip" or "reach".
        order: the greatest score goes first, the least, or as drawn; for studies.
        seed: of the draw.
    """
    ranked = list(range(len(scores)))
    if order == "random":
        random.Random(str(seed)).shuffle(ranked)
    else:
        ranked.sort(key=lambda unit: (-scores[unit] if order == "descending" else scores[unit], unit))
    if strength >= 1:
        return ranked
    total = math.fsum(scores)
    if strength <= 0 or total <= 0:
        return []
    target, slack = strength * total, SLACK * total
    gone, taken = 0.0, []
    for unit in ranked:
        if scores[unit] <= 0:
            continue
        if fill == "reach" or gone + scores[unit] <= target + slack:
            gone += scores[unit]
            taken.append(unit)
        if gone >= target - slack:
            break
    return taken


Score = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
"""How much the answer leans on a piece of information."""
_Count = Annotated[int, Field(ge=0)]
_Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class PrunedItem(BaseModel):
    """One removable piece of information of a prompt."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    block: str = Field(description="the tag of its block in the prompt")
    kind: str = Field(description="what it is: memory, trait, relationship, …")
    id: str = Field(description="of a memory: its id; else its kind and its number among those of its kind")
    text: str = Field(description="the first 80 characters")
    words: _Count
    score: Score | None = Field(default=None, description="six digits; null if its whole block was to go (remove)")
    removed: bool


class Check(BaseModel):
    """How far one wording contradicts what was left out: the scores of one question asked several times."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    scores: list[Annotated[int, Field(ge=1, le=10)]] = Field(
        description="1 to 10 each; 10 contradicts clearly; [10] if other words repeat what was said, which are not "
        "checked; empty if no answer was usable"
    )
    comment: str = Field(default="", description="the last answer's")
    taken: bool = Field(description="whether this wording was said")


class Pruned(BaseModel):
    """What one prompt lacked: `pruned` in the speaker's row of the table minds."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, serialize_by_alias=True)

    turn: Annotated[int, Field(ge=0, le=10_000_000)] = Field(description="number of the utterance")
    strength: _Share = Field(alias="lambda", description="λ, 0 to 1")
    method: str
    scorer: str = Field(default="", description="for attention: whose attention was read")
    query: str = Field(default="prompt", description="prompt or response")
    responses: _Count = Field(default=0, description="how many first responses were asked for")
    units: _Count = Field(description="removable pieces of information")
    removed: _Count = Field(description="how many of them went")
    words: _Count = Field(description="words of all removable pieces")
    words_removed: _Count
    share: _Share | None = Field(
        default=None, description="the share of the scores that went, 0 to 1; null if nothing was scored"
    )
    items: list[PrunedItem] = Field(description="in the order of the prompt")
    checks: list[Check] = Field(
        default=[], exclude_if=lambda value: not value, description="with revision: of each wording, in order"
    )
