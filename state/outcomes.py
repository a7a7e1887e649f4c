"""How the judgements of minds came out: counts for a run, and modules that fail everybody turn after turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, get_args

from typing_extensions import TypedDict

from persimchat.state.settings import MODULES

Outcome = Literal["valid", "again", "corrected", "failed"]
"""Right at first try; right at second try; a number or list was put right; wrong twice, so things stay as they were."""

OUTCOMES: Final[tuple[Outcome, ...]] = get_args(Outcome)

NEUTRAL: Final = 5
"""What stands for a level from 0 to 10 that no model has judged yet."""

_TURNS: Final = 2
_JUDGEMENTS: Final = 4
"""So many turns running, and so many judgements in them, does a module fail for everybody before the run stops: one
agent's bad luck, where it alone was asked, stops nothing."""


class Judged(TypedDict):
    """How one judgement of a mind came out."""

    module: str
    model: str
    turn: int
    outcome: Outcome


def judged(calls: Iterable[Mapping[str, Any]]) -> list[Judged]:
    """The judgements that were asked for: one a call, or one a module where an answer has those of several.

    Args:
        calls: of a step; those without an outcome asked for something else.
    """
    found = []
    for call in calls:
        own = {call["module"]: call["outcome"]} if "outcome" in call else {}
        for module, outcome in call.get("outcomes", own).items():
            found.append(Judged(module=module, model=call["model"], turn=call["turn"], outcome=outcome))
    return found


class Weak(TypedDict):
    """What was wrong with a mind's judgements in one turn, by modules."""

    turn: int
    failed: list[str]
    """Wrong twice: things are as they were."""
    corrected: list[str]
    """A number was moved into its range, or a list put right."""


def weak_judgements(before: Weak | None, judgements: Sequence[Judged], turn: int) -> Weak | None:
    """What was wrong with a mind's judgements in a turn so far; None where nothing was.

    Args:
        before: what is known; another turn's does not count.
        judgements: those of a step.
        turn: the step's: thinking belongs to the turn of the utterance that is made meanwhile.
    """
    known = before if before and before["turn"] == turn else Weak(turn=turn, failed=[], corrected=[])
    found = {kind: {one["module"] for one in judgements if one["outcome"] == kind} for kind in OUTCOMES}
    failed = found["failed"].union(known["failed"])
    corrected = found["corrected"].union(known["corrected"])
    if not failed and not corrected:
        return None
    return Weak(
        turn=turn,
        failed=[module for module in MODULES if module in failed],
        corrected=[module for module in MODULES if module in corrected],
    )


Counts = dict[str, dict[str, int]]


def add_outcomes(counts: Counts, writes: Sequence[Any]) -> Counts:
    """Reducer: how often which outcome was, by "module|model".

    Args:
        counts: so far; not changed.
        writes: lists of calls, of which those without an outcome do not count, or counts; None empties them.
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
    """Of every module, in alphabetical order, how many judgements were `asked`, and how many of each outcome."""
    result: dict[str, dict[str, int]] = {}
    for key in sorted(counts):
        row = result.setdefault(key.partition("|")[0], dict.fromkeys(("asked", *OUTCOMES), 0))
        for outcome, number in counts[key].items():
            row["asked"] += number
            row[outcome] += number
    return result


def first_try(counts: Counts, module: str) -> dict[str, tuple[int, int]]:
    """By model: how many of a module's judgements were right at first try, and how many there were."""
    rows = {key.partition("|")[2]: row for key, row in sorted(counts.items()) if key.startswith(f"{module}|")}
    return {model: (row.get("valid", 0), sum(row.values())) for model, row in rows.items()}


class Streak(TypedDict):
    """How long a module has failed for everybody."""

    turn: int
    """The last turn in which it was asked."""
    asked: int
    """Judgements in that turn."""
    failed: int
    """Of them, those that failed."""
    turns: int
    """Turns running before that one in which all failed; turns in which it was not asked do not count."""
    judgements: int
    """Judgements in those turns."""


def add_to_streaks(streaks: dict[str, Streak], writes: Sequence[Any]) -> dict[str, Streak]:
    """Reducer: by module, how long it has failed for everybody.

    Args:
        streaks: so far; not changed.
        writes: lists of calls, oldest first; or streaks, which replace those of their modules. None ends all of them.
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
    """For how many turns running everybody's judgement failed, and how many judgements that were."""
    if streak["failed"] < streak["asked"]:
        return 0, 0
    return streak["turns"] + 1, streak["judgements"] + streak["failed"]


def hopeless(streaks: Mapping[str, Streak]) -> str | None:
    """The module that fails for everybody, turn after turn; None where none does."""
    for module in MODULES:
        if module in streaks:
            turns, judgements = _running(streaks[module])
            if turns >= _TURNS and judgements >= _JUDGEMENTS:
                return module
    return None
