"""The tables of an export that runs with pruning have: pieces of information with their scores, and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import Field

from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.stored import Count, Points, Share, Turn
from persimchat.runs.reports.export_columns import UNIT, Finite, Row, column
from persimchat.runs.reports.pruning_figures import check_mean, wordings

_LAMBDA: Final = Field(
    alias="lambda", description="the share of the scores that might be left out", json_schema_extra={UNIT: "share"}
)


class PruningRow(Row):
    """One row per piece of information that could have been left out of an utterance's prompt, and utterance."""

    turn: Turn = column("number of the utterance", "utterances")
    agent: str = column("who spoke")
    strength: Annotated[Share, _LAMBDA]
    method: str = column("what scored the pieces: attention, embedding, length, random")
    scorer: str | None = column("attention: whose attention was read")
    query: str | None = column("who looked at the pieces: the end of the prompt, or a first response")
    responses: Count = column("first responses asked for", "requests")
    place: Count = column("the piece's place among those of its prompt; the first is 1", "number")
    block: str = column("the tag of its block in the prompt")
    kind: str = column("what it is, such as memory, trait, relationship")
    item: str = column("of a memory its id, as in the table memories; else its kind and number among those of its kind")
    text: str | None = column("its first 80 characters")
    words: Count = column("in it", "words")
    score: Finite | None = column("how much the answer leans on it; empty if its whole block was to go", "score")
    removed: bool = column("whether it was left out")


class PruningCheckRow(Row):
    """One row per wording that was checked for contradictions of what was left out (revision)."""

    turn: Turn = column("number of the utterance", "utterances")
    agent: str = column("who spoke")
    strength: Annotated[Share, _LAMBDA]
    wording: Count = column("the utterance's first wording is 1", "number")
    scores: list[int] = column("1 to 10 each; 10 contradicts clearly; empty if no answer was usable", "points")
    mean_score: Points | None = column("their mean", "points")
    taken: bool = column("whether this wording was said")
    comment: str | None = column("the last answer's, in the model's words")


TABLES: Final[dict[str, type[Row]]] = {"pruning": PruningRow, "pruning_checks": PruningCheckRow}
"""The tables of runs with pruning by name."""


def pruning_rows(record: Record) -> Iterator[tuple[str, dict[str, Any]]]:
    """What each utterance's prompt lacked, each row with its table's name; none of a run without pruning."""
    for one in wordings(record.minds):
        pruned = one.pruned
        base = {"turn": pruned.turn, "agent": one.agent, "lambda": pruned.strength}
        by = pruned.model_dump(include={"method", "scorer", "query", "responses"})
        for place, item in enumerate(pruned.items, start=1):
            yield "pruning", {**base, **by, "place": place, **item.model_dump(exclude={"id"}), "item": item.id}
        for number, check in enumerate(pruned.checks, start=1):
            yield "pruning_checks", {**base, "wording": number, **check.model_dump(), "mean_score": check_mean(check)}
