"""The settings of a companion, one group of the settings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ..setting import no_switch

_Number = BeforeValidator(lambda value: no_switch(value))


class CompanionSettings(BaseModel):
    """How one agent talks with one person, and who they are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    world: str = Field(
        default="companion",
        pattern=r"^[A-Za-z0-9_-]{1,64}$",
        description="the world in which agent and person know each other",
    )
    agent: str = Field(
        default="", max_length=200, description="the agent's name; empty: the first agent of the world's place"
    )
    person: str = Field(default="guest", min_length=1, max_length=80, description="the person's name")
    introduced: bool = Field(
        default=True, description="whether agent and person know each other by name when they meet"
    )
    talk_exchanges: Annotated[int, _Number] = Field(
        default=200, ge=1, le=10_000, description="a talk ends after so many exchanges at the latest"
    )
    silence_minutes: Annotated[float, _Number] = Field(
        default=10, gt=0, le=100_000, description="a talk ends after so many minutes without words"
    )
    emotion_floor: Annotated[int, _Number] = Field(
        default=3, ge=0, le=10, description="the emotion in one word is neutral if no level is above this"
    )
    reflection_trigger: Annotated[int, _Number] = Field(
        default=150,
        ge=1,
        le=1_000_000,
        description="the agent reflects when the memories since its last reflection add up to this importance",
    )
    retention: Annotated[int, _Number] = Field(
        default=5, ge=0, le=100, description="an event is new if it is not among the last so many"
    )
    talk_cooldown_ticks: Annotated[int, _Number] = Field(
        default=8, ge=0, le=1_000_000, description="ticks after a talk in which the agent begins none by itself"
    )
    overlap: Literal["auto", "on", "off"] = Field(
        default="auto",
        description="whether the judgements of the person's words begin with the first word of the answer (on), or "
        "after its last one (off); auto: on, unless only one request may run at a time",
    )
    recency_decay: Annotated[float, _Number] = Field(
        default=0.995,
        gt=0,
        le=1,
        allow_inf_nan=False,
        description="recency is this to the power of the ticks since a memory was last recalled",
    )
    paper_retrieval: bool = Field(
        default=False, description="recall by recency, importance and relevance alone, as in the paper"
    )
    candour: bool = Field(default=True, description="asked in earnest, the agent says that it is simulated")
    calls_a_day: Annotated[int, _Number] = Field(
        default=2_000,
        ge=1,
        le=100_000_000,
        description="requests to models in one world and day; words that nobody asked for stop at 80 % of it",
    )
    facts_tokens: Annotated[int, _Number] = Field(
        default=300, ge=0, le=100_000, description="limit on tokens (estimated) of known facts in one prompt"
    )
    window: Annotated[int, _Number] = Field(
        default=24,
        ge=2,
        le=48,
        description="number of last lines that a prompt gives word by word; when there are more, half of them go",
    )
