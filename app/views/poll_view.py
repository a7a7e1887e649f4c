"""What `persimchat poll` prints: who answered what at which turn, and how often each answer was given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from rich.console import Group, RenderableType
from rich.text import Text

from persimchat.app.views.evaluate_view import reasons
from persimchat.app.views.run_tables import Look, table
from persimchat.evaluation.polls import Tally, tallies
from persimchat.runs.folder.polls import PollAnswer
from persimchat.runs.reports.words import UNKNOWN
from persimchat.state.poll import Poll


def shown(poll: Poll, answers: Mapping[str, Sequence[PollAnswer]], look: Look, notes: Iterable[str]) -> RenderableType:
    """The answers to a poll, by run."""
    asked = look(f"{poll.ask} ({poll.described}; poll {poll.id})")
    asked.stylize("bold")
    return Group(asked, *_tables(poll, answers, look), *map(look, notes))


def _tables(poll: Poll, answers: Mapping[str, Sequence[PollAnswer]], look: Look) -> Iterator[RenderableType]:
    for run, rows in answers.items():
        turns = sorted({row.turn for row in rows})
        named = {row.agent: None for row in rows}
        columns = ("agent", *(f"at turn {turn}" for turn in turns))

        def cells(agent: str, rows: Sequence[PollAnswer] = rows, turns: Sequence[int] = turns) -> list[str]:
            return [agent, *(_given([row for row in rows if (row.agent, row.turn) == (agent, t)]) for t in turns)]

        yield table(look, run if len(answers) > 1 else "Answers", columns, map(cells, named))
        yield Text("")
    counted = tallies(row for rows in answers.values() for row in rows)
    if counted:
        yield _counts(counted, look)
        yield Text("")


def _given(rows: Sequence[PollAnswer]) -> str:
    return " ".join(row.answer if row.answer is not None else f"({row.missing})" for row in rows) or UNKNOWN


def _summed(tally: Tally) -> str:
    """How often each answer was given; of any numbers, their middle and their ends."""
    if tally.poll.possible or not tally.n:
        return ", ".join(f"{answer} {times}" for answer, times in tally.counts.items()) or UNKNOWN
    every = sorted(float(answer) for answer, times in tally.counts.items() for _ in range(times))
    return f"median {median(every):g}, {every[0]:g} to {every[-1]:g}"


def _counts(counted: Sequence[Tally], look: Look) -> RenderableType:
    def cells(tally: Tally) -> list[str]:
        return [str(tally.turn), _summed(tally), str(tally.n), reasons(tally.missing)]

    return table(look, "How often", ("turn", "answers", "n", "missing"), map(cells, counted))
