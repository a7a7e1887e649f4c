"""Parts of a story's records: the result of its vote, and where a character stands after an update."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from persimchat.runs.folder.stored import Count, Stored


class StoryOutcome(Stored):
    """The result of a story's vote."""

    winners: list[str] = Field(default=[], description="one; several after a draw; none if nobody voted")
    decided: str = Field(default="", description="the choice of a decider who decides alone")
    ceded: str = Field(default="", description="whom the decider, a main character, has put in its own place")
    appointed: str = Field(default="", description="whom the decider would have if it could not have itself")
    elected: list[str] = Field(default=[], description="who has most open ballots after the rules for ties")
    open: dict[str, Count] = Field(default={}, description="open ballots by candidate")
    closed: dict[str, Count] = Field(default={}, description="closed ballots by candidate")


class StoryStanding(Stored):
    """Where a character of a story stands after an update."""

    main: bool = False
    beliefs: list[dict[str, Any]] = Field(default=[], description="text, score, and for whom; empty for nobody")
    closeness: dict[str, int] = Field(default={}, description="to each of the others, 0–100")
    supports: str = Field(default="", description="the main character supported; empty for nobody")
    review: str = Field(default="", description="the sentence of the last review")
