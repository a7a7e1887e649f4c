"""The requests of a world: its ledger, which limits them by the day, and their lines in calls.jsonl.

A line says besides when the request was made, so that a day's requests are counted again after a restart, and for
whom, so that what is known of a person can be found and deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from persimchat.models.ledger import Ledger, Sink
from persimchat.models.recording import Request
from persimchat.runs.folder.calls import CALLS
from persimchat.state.errors import DayBudgetExhausted
from persimchat.state.settings import Settings

AT, PERSON = "at", "person"
"""Keys of a line of calls.jsonl: when the request was made, ISO local time, and the id of the person."""
UNASKED: Final = 0.8
"""The share of a day's requests after which agents say nothing unasked."""
_BLOCK: Final = 65_536

talking_with: ContextVar[str] = ContextVar("talking_with", default="")
"""The id of the person for whom requests are made."""

Clock = Callable[[], datetime]


def beside(now: Clock = datetime.now) -> dict[str, Any]:
    """What a line of calls.jsonl says besides the request."""
    person = talking_with.get()
    return {AT: now().isoformat(timespec="seconds"), **({PERSON: person} if person else {})}


def made_on(folder: Path, day: str) -> int:
    """How many requests calls.jsonl has of a day; reads the file from its end. Blocks.

    Args:
        folder: the world's.
        day: ISO date.
    """
    made = 0
    for line in _backwards(folder / CALLS):
        try:
            row = json.loads(line)
            when, counts = str(row[AT])[: len(day)], row.get("calls", 1)
        except (ValueError, KeyError, TypeError):
            continue
        if when < day:
            break
        made += counts if when == day else 0
    return made


def _backwards(path: Path) -> Any:
    """The lines of a file, the last one first; none if there is no file."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        place, rest = file.seek(0, 2), b""
        while place:
            start = max(0, place - _BLOCK)
            file.seek(start)
            first, *lines = (file.read(place - start) + rest).split(b"\n")
            yield from (line for line in reversed(lines) if line.strip())
            place, rest = start, first
        if rest.strip():
            yield rest


class DayLedger(Ledger):
    """The ledger of a world: refuses requests beyond `companion.calls_a_day`. A day ends at midnight, local time.

    Args:
        sink: the destination of records.
        made: requests already made today.
        where: the world, for errors.
        now: the time of the machine; a game's clock does not count, because requests cost as much as ever.
    """

    def __init__(self, sink: Sink, made: int, where: str, now: Clock = datetime.now) -> None:
        super().__init__(sink=sink)
        self._made, self._where, self._now = made, where, now
        self._day = now().date()

    @property
    def made(self) -> int:
        """Requests made today."""
        today = self._now().date()
        if today != self._day:
            self._day, self._made = today, 0
        return self._made

    def may_speak_unasked(self, settings: Settings) -> bool:
        """Whether so little is used that agents may speak unasked."""
        return self.made < UNASKED * settings.companion.calls_a_day

    def admit(self, request: Request, settings: Settings) -> None:
        """Count a request before it is made.

        Raises:
            DayBudgetExhausted: today's requests are used up.
            BudgetExhausted: it would exceed another budget.
        """
        limit = settings.companion.calls_a_day
        if self.made >= limit:
            midnight = datetime.combine(self._day + timedelta(days=1), datetime.min.time())
            raise DayBudgetExhausted(limit, midnight.isoformat(sep=" ", timespec="minutes"), where=self._where)
        super().admit(request, settings)
        self._made += 1
