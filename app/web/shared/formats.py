"""Formats numbers, amounts and names in the page's language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from ....reports.charts.model import Point
from ....reports.words import trend
from ....runs.events import Totals
from ....state.plain_text import one_line
from .. import words
from ..words import t


def number(value: float | None, decimals: int = 1) -> str:
    """A number as the language writes it; a dash where it is not known."""
    return t("insights.unknown") if value is None else words.number(value, decimals)


def dollars(value: float | None, decimals: int | None = None) -> str:
    """US dollars; a dash where the price is not known.

    Args:
        value: the amount.
        decimals: how many are shown; None shows four below a dollar and two from there on.
    """
    if value is None:
        return t("insights.unknown")
    if decimals is None:
        decimals = 4 if 0 < value < 1 else 2
    return t("insights.dollars", value=number(value, decimals))


def trended(value: float | None, unit: str = "") -> str:
    """A trend as an arrow and the change from one message to the next; empty if it is not known."""
    return "" if value is None else t("insights.trend", trend=trend(value, unit))


def joined(parts: Iterable[str]) -> str:
    """The parts that are not empty, side by side."""
    return " · ".join(part for part in parts if part)


def names(of: Sequence[str], most: int = 3) -> str:
    """Names in a row, the first ones of many."""
    return ", ".join(one_line(name) for name in of[:most]) + ("…" if len(of) > most else "")


def course(name: str, points: Sequence[Point], decimals: int = 0) -> str:
    """A line of a chart in words, for screen readers; empty for a line without points."""
    if not points:
        return ""
    values = [value for _, value in points]
    ends = {"first": values[0], "last": values[-1], "low": min(values), "high": max(values)}
    return t("insights.course", name=one_line(name), **{key: number(value, decimals) for key, value in ends.items()})


def short(value: float) -> str:
    """A large number in short: 950, 12.4 k, 3.1 M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{words.number(value / size, 1)} {unit}"
    return words.number(value)


def tokens(count: float) -> str:
    """A number of tokens in short."""
    return t("chat.tokens", n=count, shown=short(count))


def cost(totals: Totals) -> str:
    """The cost in US dollars."""
    if totals.cost_usd is None:
        return t("chat.cost_unknown")
    if not totals.cost_usd:
        return t("chat.cost_none")
    return dollars(totals.cost_usd)


def moment(started: str, form: str = "common.moment") -> str:
    """When a run began, in the server's time zone, in a form of the catalogue; text that is no time stays as it is."""
    try:
        return t(form, d=datetime.fromisoformat(started).astimezone())
    except (ValueError, OverflowError):
        return started or t("past.unknown")
