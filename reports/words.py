"""Figures and endings in words, shared by terminal, page and reports; in the current language."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeGuard

from ..runs.events import Totals
from ..runs.folder.manifest import Branch, JudgementCounts, Resumed
from ..state.plain_text import clean
from ..state.stories.story import NOBODY
from ..state.templates import SHIPPED
from ..state.wording import localised, t, t_or

UNKNOWN: Final = "–"
"""Shown for a figure that is not known."""

_RISING, _FALLING, _STEADY = "↑", "↓", "→"
_TRENDS: Final = {_RISING: "rising", _FALLING: "falling", _STEADY: "steady"}
_PLAIN: Final = str.maketrans({"λ": "lambda", _RISING: "^", _FALLING: "v", _STEADY: "->", "–": "-", "−": "-"})


def plain(text: str) -> str:
    """A text of this file for a terminal that lacks its signs."""
    return text.translate(_PLAIN)


def spaced(name: str) -> str:
    """A name of the code in words: "round_robin" becomes "round robin"."""
    return name.replace("_", " ")


def is_number(value: Any) -> TypeGuard[int | float]:
    """Whether a value is a number; true and false, which Python counts as numbers, are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def module_name(name: str) -> str:
    """A module's name in the current language; an unknown one as it is."""
    return t_or(f"minds.module_{name}", spaced(clean(name)))


def emotion_name(name: str) -> str:
    """An emotion, or calm, in the current language."""
    return t_or(f"common.emotion_{name}", name)


def stance_name(stance: str | None) -> str:
    """A stance as it is shown: nobody, whom a story's character supports, and no clear one, in words."""
    return t("charts.unclear") if stance is None else t("report.nobody") if stance == NOBODY else stance


def block_name(tag: str) -> str:
    """The name of a prompt's block in the current language; another one's tag in words."""
    return t_or(f"minds.block_{tag}", spaced(tag))


def correction_name(name: str) -> str:
    """A correction of an utterance's wording in the current language."""
    return t_or(f"chat.corrected_{name}", spaced(name))


def why_over(reason: str | None) -> str:
    """Why a run is over, by its stop_reason; None is a run without an ending."""
    return t("report.ended_none") if reason is None else t_or(f"report.ended_{reason}", spaced(reason))


def count(number: int, thing: str) -> str:
    """A number and its noun in English: "1 utterance", "2,000 utterances"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def when(moment: str) -> str:
    """A moment as people write it: "2026-01-01 12:00 UTC"; text that is not a time stays as it is."""
    try:
        return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError):
        return moment


def whole(value: int | None) -> str:
    """A whole number, thousands apart."""
    return UNKNOWN if value is None else localised(f"{value:,}")


def plain_number(value: float) -> str:
    """A number with as many digits as it needs, at most six: "7", "7.4"."""
    return localised(f"{value:g}")


def decimal(value: float | None) -> str:
    """A number with one decimal."""
    return UNKNOWN if value is None else localised(f"{value:,.1f}")


def number_of_words(value: float) -> str:
    """A number of words, with one decimal where it is none."""
    return t("insights.words", n=int(value)) if value == int(value) else decimal(value)


def seconds(value: float | None) -> str:
    """Seconds with three significant digits or so: "0.93 s", "16.0 s", "1,250 s"."""
    if value is None:
        return UNKNOWN
    return t("insights.seconds", value=localised(f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"))


def trend(value: float | None, unit: str = "") -> str:
    """A trend as an arrow and the change from one utterance to the next: "↑ +0.60 s"; empty if it is not known."""
    if value is None:
        return UNKNOWN
    shown = f"{value:+,.2f}"
    if shown in ("+0.00", "-0.00"):
        arrow, shown = _STEADY, "0.00"
    else:
        arrow = _RISING if value > 0 else _FALLING
    return f"{arrow} {localised(shown.replace('-', '−'))}{' ' + unit if unit else ''}"


def trend_in_words(value: float | None) -> str:
    """The explanation of a trend's arrow."""
    return "" if value is None else t(f"report.trend_{_TRENDS[trend(value)[0]]}")


def from_to(first: int | None, last: int | None) -> str:
    """A change: "4 → 7"."""
    return UNKNOWN if first is None or last is None else f"{first} {_STEADY} {last}"


def cost(totals: Totals) -> str:
    """What was paid."""
    if totals.cost_usd is None:
        return t("report.cost_unknown")
    if not totals.cost_usd:
        return t("report.cost_none")
    return t("insights.dollars", value=localised(f"{totals.cost_usd:,.4f}"))


def with_people(names: list[str], people: list[str]) -> list[str]:
    """Names; people are marked."""
    return [t("minds.person", name=name) if name in people else name for name in names]


def lineage(branch: Branch | None, resumed: list[Resumed]) -> str:
    """Of which run a branch is one, and when the run was resumed; empty if neither applies."""
    parts = []
    if branch is not None:
        why = f" ({spaced(branch.why)})" if branch.why else ""
        changed = _changed(branch.changed)
        parts.append("; ".join(filter(None, [t("report.branch", of=branch.of, turn=branch.turn) + why, changed])))
    for again in resumed:
        begun = t("report.resumed") if again.turn is None else t("report.resumed_at", turn=again.turn)
        parts.append(f"{begun} ({_changed(again.changed)})" if again.changed else begun)
    return "; ".join(parts)


def _changed(settings: dict[str, Any]) -> str:
    """What was changed, in words; of templates only their names."""
    prompts = {"prompts": list(settings["prompts"]) or SHIPPED} if "prompts" in settings else {}
    return t("report.changed", what=compact({**settings, **prompts})) if settings else ""


def compact(value: Any) -> str:
    """Any recorded value in short: words as they are, names and values in a row."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return ", ".join(f"{key} {compact(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(compact, value))
    return json.dumps(value)


def came_out(
    counts: Mapping[str, JudgementCounts],
    outcome: Literal["failed", "corrected"],
    named: Callable[[str], str] = spaced,
) -> str:
    """Modules with such judgements, and how many: "emotion 3 of 15, planning 1 of 8"; empty for none."""
    shown = {name: (getattr(row, outcome), row.asked) for name, row in counts.items()}
    return ", ".join(
        f"{named(name)} {t('report.of', n=number, of=asked)}" for name, (number, asked) in shown.items() if number
    )


def corrections(counts: dict[str, int], named: Callable[[str], str] = spaced) -> str:
    """Corrections and how often each was made: "asked again 2, name removed 1"."""
    return ", ".join(f"{named(name)} {whole(number)}" for name, number in counts.items())
