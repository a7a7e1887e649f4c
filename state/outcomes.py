"""Outcomes of the minds' judgements: counts for a run, and modules that fail for all agents turn after turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from typing_extensions import TypedDict

from .settings import modules

Outcome = Literal["valid", "again", "corrected", "failed"]
"""Valid at the first try; valid at the second; a number or list was corrected; invalid twice, so nothing changes."""

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

NEUTRAL: Final = 5
"""The value of a level from 0 to 10 that no model has judged yet."""

_TURNS: Final = 2
_JUDGEMENTS: Final = 4
"""The run stops when a module has failed for all agents in so many turns in a row, with so many judgements in them. The
second number keeps one agent that was asked alone from stopping the run."""


class Judged(TypedDict):
    """The outcome of one judgement of a mind."""

    module: str
    model: str
    turn: int
    outcome: Outcome


def judged(calls: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """The outcomes of calls: one per call, or one per module if an answer combines several judgements.

    Args:
        calls: of a step; calls without an outcome asked for something else.
    """
    found = []
    for call in calls:
        own = {call["module"]: call["outcome"]} if "outcome" in call else {}
        for module, outcome in call.get("outcomes", own).items():
            found.append(Judged(module=module, model=call["model"], turn=call["turn"], outcome=outcome))
    return found


class Weak(TypedDict):
    """The modules of a mind whose judgements failed or were corrected in one turn."""

    turn: int
    failed: list[str]
    """The answer was invalid twice, and nothing changed."""
    corrected: list[str]
    """A number was moved into its range, or a list was corrected."""


def weak_judgements(before: Weak | None, judgements: Sequence[Judged], turn: int) -> Weak | None:
    """The failed and the corrected judgements of a mind in a turn so far; None if there are none.

    Args:
        before: the record so far; ignored if it is another turn's.
        judgements: those of a step.
        turn: the step's turn; thinking belongs to the turn of the utterance made at the same time.
    """
    known = before if before and before["turn"] == turn else Weak(turn=turn, failed=[], corrected=[])
    found = {kind: {one["module"] for one in judgements if one["outcome"] == kind} for kind in OUTCOMES}
    failed = found["failed"].union(known["failed"])
    corrected = found["corrected"].union(known["corrected"])
    if not failed and not corrected:
        return None
    return Weak(
        turn=turn,
        failed=[module for module in modules() if module in failed],
        corrected=[module for module in modules() if module in corrected],
    )


Counts = dict[str, dict[str, int]]


def add_outcomes(counts: Counts, writes: Sequence[Any]) -> Counts:
    """Reducer: count the outcomes by "module|model".

    Args:
        counts: so far; not changed.
        writes: lists of calls (those without an outcome are ignored), or counts to add; None empties the counts.
    """
    result = {key: dict(row) for key, row in counts.items()}
    for write in writes:
        if write is None:
            result = {}
        rows = write.items() if isinstance(write, dict) else map(_counted, write or ())
        for key, row in rows:
            for outcome, number in row.items():
                result.setdefault(key, {})[outcome] = result.get(key, {}).get(outcome, 0) + number
    return result


def _counted(call: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
    outcome = call.get("outcome")
    return f"{call['module']}|{call['model']}", {outcome: 1} if outcome else {}


def by_module(counts: Counts) -> dict[str, dict[str, int]]:
    """For every module, in alphabetical order, how many judgements were `asked`, and how many had each outcome."""
    result: dict[str, dict[str, int]] = {}
    for key in sorted(counts):
        row = result.setdefault(key.partition("|")[0], dict.fromkeys(("asked", *OUTCOMES), 0))
        for outcome, number in counts[key].items():
            row["asked"] += number
            row[outcome] += number
    return result


def first_try(counts: Counts, module: str) -> dict[str, tuple[int, int]]:
    """By model: how many of a module's judgements were valid at the first try, and how many there were."""
    rows = {key.partition("|")[2]: row for key, row in sorted(counts.items()) if key.startswith(f"{module}|")}
    return {model: (row.get("valid", 0), sum(row.values())) for model, row in rows.items()}


class Streak(TypedDict):
    """How long a module has failed for all agents."""

    turn: int
    """The last turn in which it was asked."""
    asked: int
    """Judgements in that turn."""
    failed: int
    """Of them, those that failed."""
    turns: int
    """Turns in a row before that one in which all failed; turns in which it was not asked do not count."""
    judgements: int
    """Judgements in those turns."""


def add_to_streaks(streaks: dict[str, Streak], writes: Sequence[Any]) -> dict[str, Streak]:
    """Reducer: by module, how long it has failed for all agents.

    Args:
        streaks: so far; not changed.
        writes: lists of calls, oldest first; or streaks, which replace those of their modules. None ends all streaks.
    """
    result = dict(streaks)
    for write in writes:
        if write is None or isinstance(write, dict):
            result = {**result, **write} if write is not None else {}
            continue
        for call in write:
            if call.get("outcome"):
                result[call["module"]] = _longer(result.get(call["module"]), call)
    return result


def _longer(streak: Streak | None, call: Mapping[str, Any]) -> Streak:
    failed = int(call["outcome"] == "failed")
    if streak is not None and streak["turn"] == call["turn"]:
        return {**streak, "asked": streak["asked"] + 1, "failed": streak["failed"] + failed}
    turns, judgements = _running(streak) if streak is not None else (0, 0)
    return Streak(turn=call["turn"], asked=1, failed=failed, turns=turns, judgements=judgements)


def _running(streak: Streak) -> tuple[int, int]:
    """The number of turns in a row in which all agents' judgements failed, and the number of these judgements."""
    if streak["failed"] < streak["asked"]:
        return 0, 0
    return streak["turns"] + 1, streak["judgements"] + streak["failed"]


def hopeless(streaks: Mapping[str, Streak]) -> str | None:
    """The first module that has failed for all agents long enough to stop the run; None if there is none."""
    for module in modules():
        if module in streaks:
            turns, judgements = _running(streaks[module])
            if turns >= _TURNS and judgements >= _JUDGEMENTS:
                return module
    return None
