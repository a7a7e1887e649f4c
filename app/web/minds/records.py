"""A mind as the dialog reads it: a line of minds.jsonl with everything that the dialog shows."""

from __future__ import annotations

from persimchat.runs.recorded import Thought, WholeMind


class SeenThought(Thought):
    """A memory, a plan or an insight, whole.

    Attributes:
        id: of a memory; empty for a plan.
        kind: of a memory; empty for a plan.
        keywords: and standout words.
        evidence: ids of the memories that an insight rests on.
        progress: a plan's view of where the conversation stands.
        react: whether a plan says to react to what was said.
        goals: of a plan.
    """

    id: str = ""
    kind: str = ""
    keywords: list[str] = []
    evidence: list[str] = []
    progress: str = ""
    react: bool | None = None
    goals: list[str] = []


class SeenMind(WholeMind):
    """One mind after one utterance."""

    short_term_memory: SeenThought | None = None
    plan: SeenThought | None = None
    insights: list[SeenThought] = []  # type: ignore[assignment]  # narrower, and nobody adds to it
