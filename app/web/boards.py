"""The board of a run that is kept: from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from persimchat.app.web.board import Board
from persimchat.runs.events import Totals
from persimchat.runs.past import UNKNOWN, past_events
from persimchat.runs.reading import Record, calls_of, read_run
from persimchat.runs.totals import totals


def earlier_totals(folder: Path, turn: int) -> dict[int, Totals]:
    """What a run that goes on had used by the end of each of its past turns; blocks."""
    return totals_by_turn(read_run(folder), turn)


def board_of(folder: Path) -> Board:
    """Read a run from its folder; blocks.

    Raises:
        InputError: the folder is no run's, or is damaged.
    """
    record = read_run(folder)
    board = Board(kept=True)
    for event in past_events(record):
        board.take(event)
    board.totals = totals_by_turn(record, board.turn)
    return board


def totals_by_turn(record: Record, last: int) -> dict[int, Totals]:
    """What was used up to the end of each turn, from the journal of calls; unknown where a run has none."""
    used: dict[int, list[dict[str, Any]]] = {}
    for call in calls_of(record):
        row = call.model_dump(include={"input_tokens", "output_tokens", "estimated", "cost_usd"})
        used.setdefault(min(call.turn or 0, last), []).append({"calls": 1, **row})
    found: dict[int, Totals] = {}
    total = Totals()
    for turn in sorted(used):
        total = found[turn] = totals([total.model_dump(), *used[turn]])
    return found or dict.fromkeys(range(last + 1), UNKNOWN)
