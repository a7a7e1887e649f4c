"""The table of an export that interviews have: one row per question that was put to an agent afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from persimchat.runs.folder.reading import Record
from persimchat.runs.folder.stored import Count, Seconds, Turn
from persimchat.runs.reports.export_columns import Row, column


class InterviewRow(Row):
    """One row per question of an interview with an agent, held in private, afterwards, with the agent as at a turn."""

    interview: Count = column("number of the interview in its run; the first is 1", "number")
    number: Count = column("number of the question in its interview; the first is 1", "number")
    turn: Turn = column("utterances so far when the agent was as it was asked", "utterances")
    agent: str = column("who answered")
    question: str = column("what was asked")
    answer: str | None = column("the answer; empty if it is missing")
    missing: str | None = column("why there is no answer: unparseable, refused or too long; empty if there is one")
    answered_by: str = column("the model that answered; the offline model answers in set phrases")
    request: str = column("digest of the question: equal for equal minds, wording and answers before")
    calls: Count = column("requests made", "requests")
    input_tokens: Count = column("tokens read", "tokens")
    output_tokens: Count = column("tokens written", "tokens")
    cost_usd: Seconds | None = column("cost; empty if the model's price is not known", "USD")


TABLES: Final[dict[str, type[Row]]] = {"interviews": InterviewRow}


def interview_rows(record: Record) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The rows of a run: table, number and columns."""
    for number, row in enumerate(record.interviews, start=1):
        values = row.model_dump(include=InterviewRow.model_fields.keys() - Row.model_fields.keys())
        yield "interviews", number, {**values, "answered_by": row.judge}
