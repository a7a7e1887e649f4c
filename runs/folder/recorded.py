"""One request to a model, as it is read back."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from persimchat.runs.folder.stored import Count, Seconds, Stored, Turn


class RecordedCall(Stored):
    """One line of calls.jsonl: a request to a model, without what was asked and answered."""

    turn: Turn | None = None
    agent: str = ""
    module: str
    model: str
    n: Count | None = None
    calls: Annotated[int, Field(ge=0, le=1)] = 1
    seconds: Seconds | None = None
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    estimated: bool = False
    cost_usd: Seconds | None = None
    failed: str | None = None
