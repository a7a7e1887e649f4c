"""A finished simulation as one value, for those who do not follow its events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from persimchat.runs.events import (
    Analysed,
    Concluded,
    Event,
    Happened,
    Judged,
    MindChanged,
    MindRecord,
    Started,
    Stopped,
    StopReason,
    StoryOutcome,
    Totals,
    Uttered,
)
from persimchat.runs.folder.lines import DISCLAIMER


class Result(BaseModel):
    """What a simulation gave."""

    model_config = ConfigDict(frozen=True)

    run: str
    utterances: list[Uttered]
    minds: list[MindRecord]
    stop_reason: StopReason
    stop_source: str = ""
    """Whose rule ended it: message_limit, closing, judge, guide, or a baseline's name."""
    stop_detail: str = ""
    """The rule's own words."""
    conclusion: Concluded | None = None
    """What a debate came to: the answer, and whether it is a consensus; None for discussions."""
    verdicts: list[Judged] = []
    """What the judge of a debate said, in order of turns."""
    outcome: StoryOutcome | None = None
    """The result of a story's vote; None for all other conversations."""
    happenings: list[Happened] = []
    """What happened in a story beside words: stages, meetings, standings, ballots."""
    scores: list[Analysed] = []
    """Analysis: coherence, sentiment and engagement of every utterance."""
    totals: Totals
    usage: list[dict[str, Any]]
    folder: str | None
    notice: str = ""
    """Something the user should know, for example that no model was chosen and the offline model spoke."""
    disclaimer: str = DISCLAIMER

    def transcript(self) -> str:
        """The conversation to read: one utterance a line, speaker first."""
        return "\n".join(f"{u.speaker}: {u.text}" for u in self.utterances)


async def collected(events: AsyncIterator[Event]) -> Result:
    """The result of an event stream that runs to its end."""
    return result_of([event async for event in events])


def result_of(events: Iterable[Event]) -> Result:
    """The result of all events of a run that came to its end."""
    seen = list(events)
    stopped = next(e for e in reversed(seen) if isinstance(e, Stopped))
    return Result(
        run=stopped.run,
        utterances=[e for e in seen if isinstance(e, Uttered)],
        minds=[e.record for e in seen if isinstance(e, MindChanged)],
        stop_reason=stopped.reason,
        stop_source=stopped.source,
        stop_detail=stopped.detail,
        conclusion=stopped.conclusion,
        verdicts=[e for e in seen if isinstance(e, Judged)],
        outcome=stopped.outcome,
        happenings=[e for e in seen if isinstance(e, Happened)],
        scores=[e for e in seen if isinstance(e, Analysed)],
        totals=stopped.totals,
        usage=stopped.usage,
        folder=stopped.folder,
        notice=next((e.notice for e in seen if isinstance(e, Started)), ""),
    )
