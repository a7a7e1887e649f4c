"""Figures and endings in words, shared by the report and the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal

from ..runs.events import Totals
from ..runs.folder.manifest import Branch, JudgementCounts, Resumed

ENDINGS: Final = {
    "message_limit": "the message limit was reached",
    "consensus": "consensus was reached",
    "closed": "the conversation came to its end",
    "guide": "the last question of the guide was done",
    "settled": "the story was settled",
    "finished": "the story's rounds were over",
    "budget": "the budget was used up",
    "stopped": "it was stopped before its end",
    "error": "an error ended it",
}
"""Why a run is over, by its stop_reason."""

NO_ENDING: Final = "no ending is recorded (it is still running, or was killed)"
UNKNOWN: Final = "–"
"""Shown for a figure that is not known."""

_RISING, _FALLING, _STEADY = "↑", "↓", "→"
_PLAIN: Final = str.maketrans({"λ": "lambda", _RISING: "^", _FALLING: "v", _STEADY: "->", "–": "-", "−": "-"})


def plain(text: str) -> str:
    """A text of this file for a terminal that lacks its signs."""
    return text.translate(_PLAIN)


def spaced(name: str) -> str:
    """A name of the code in words: "round_robin" becomes "round robin"."""
    return name.replace("_", " ")


def count(number: int, thing: str) -> str:
    """A number and its noun: "1 utterance", "2,000 utterances"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def when(moment: str) -> str:
    """A moment as people write it: "2026-01-01 12:00 UTC"; text that is not a time stays as it is."""
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError):
        return moment


def whole(value: int | None) -> str:
    """A whole number, thousands apart."""
    return UNKNOWN if value is None else f"{value:,}"


def decimal(value: float | None) -> str:
    """A number with one decimal."""
    return UNKNOWN if value is None else f"{value:,.1f}"


def seconds(value: float | None) -> str:
    """Seconds with three significant digits or so: "0.93 s", "16.0 s", "1,250 s"."""
    if value is None:
        return UNKNOWN
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f} s"


def trend(value: float | None, unit: str = "") -> str:
    """A trend as an arrow and the change from one utterance to the next: "↑ +0.60 s"; empty if it is not known."""
    if value is None:
        return UNKNOWN
    shown = f"{value:+,.2f}"
    if shown in ("+0.00", "-0.00"):
        arrow, shown = _STEADY, "0.00"
    else:
        arrow = _RISING if value > 0 else _FALLING
    return f"{arrow} {shown.replace('-', '−')}{' ' + unit if unit else ''}"


def trend_in_words(value: float | None) -> str:
    """The explanation of a trend's arrow."""
    return "" if value is None else {"↑": "rising", "↓": "falling", "→": "steady"}[trend(value)[0]]


def from_to(first: int | None, last: int | None) -> str:
    """A change: "4 → 7"."""
    return UNKNOWN if first is None or last is None else f"{first} {_STEADY} {last}"


def cost(totals: Totals) -> str:
    """What was paid."""
    if totals.cost_usd is None:
        return "unknown"
    return f"${totals.cost_usd:,.4f}" if totals.cost_usd else "none"


def listed(names: list[str]) -> str:
    """Names in a row: "A", "A and B", "A, B and C"."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def with_people(names: list[str], people: list[str]) -> list[str]:
    """Names; people are marked."""
    return [f"{name} (person)" if name in people else name for name in names]


def lineage(branch: Branch | None, resumed: list[Resumed]) -> str:
    """Of which run a branch is one, and when the run was resumed; empty if neither applies."""
    parts = []
    if branch is not None:
        why = f" ({spaced(branch.why)})" if branch.why else ""
        changed = f"; changed: {compact(branch.changed)}" if branch.changed else ""
        parts.append(f"a branch of {branch.of} at turn {branch.turn}{why}{changed}")
    for again in resumed:
        where = "" if again.turn is None else f" at turn {again.turn}"
        changed = f" (changed: {compact(again.changed)})" if again.changed else ""
        parts.append(f"resumed{where}{changed}")
    return "; ".join(parts)


def compact(value: Any) -> str:
    """Any recorded value in short: words as they are, names and values in a row."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ", ".join(f"{key} {compact(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(compact, value))
    return json.dumps(value)


def came_out(counts: Mapping[str, JudgementCounts], outcome: Literal["failed", "corrected"]) -> str:
    """Modules with such judgements, and how many: "emotion 3 of 15, planning 1 of 8"; empty for none."""
    shown = {name: (getattr(row, outcome), row.asked) for name, row in counts.items()}
    return ", ".join(f"{spaced(name)} {number:,} of {asked:,}" for name, (number, asked) in shown.items() if number)


def corrections(counts: dict[str, int]) -> str:
    """Corrections and how often each was made: "asked again 2, name removed 1"."""
    return ", ".join(f"{spaced(name)} {number:,}" for name, number in counts.items())
