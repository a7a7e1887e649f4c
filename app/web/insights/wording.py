"""Numbers and names in the words of the page's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from persimchat.app.web import words
from persimchat.app.web.words import t
from persimchat.runs.report_charts import Point
from persimchat.runs.report_words import trend
from persimchat.state.plain_text import one_line


def number(value: float | None, decimals: int = 1) -> str:
    """A number as the language writes it; a dash where it is not known."""
    return t("insights.unknown") if value is None else words.number(value, decimals)


def whole(value: int | None) -> str:
    """A whole number."""
    return number(value, 0)


def seconds(value: float | None) -> str:
    """Seconds with three significant digits or so."""
    if value is None:
        return t("insights.unknown")
    return t("insights.seconds", value=number(value, 0 if value >= 100 else 1 if value >= 10 else 2))


def dollars(value: float | None) -> str:
    """US dollars; a dash where a price is not known."""
    if value is None:
        return t("insights.unknown")
    return t("insights.dollars", value=number(value, 4 if 0 < value < 1 else 2))


def trended(value: float | None, unit: str = "") -> str:
    """A trend as an arrow and the change from one message to the next; nothing where it is not known."""
    return "" if value is None else t("insights.trend", trend=words.localised(trend(value, unit)))


def joined(parts: Iterable[str]) -> str:
    """What is known of several parts, side by side."""
    return " · ".join(part for part in parts if part)


def names(of: Sequence[str], most: int = 3) -> str:
    """Names in a row, the first ones of many."""
    return ", ".join(one_line(name) for name in of[:most]) + ("…" if len(of) > most else "")


def course(name: str, points: Sequence[Point], decimals: int = 0) -> str:
    """How a line goes, for those who do not see it; nothing of a line without points."""
    if not points:
        return ""
    values = [value for _, value in points]
    ends = {"first": values[0], "last": values[-1], "low": min(values), "high": max(values)}
    return t("insights.course", name=one_line(name), **{key: number(value, decimals) for key, value in ends.items()})
