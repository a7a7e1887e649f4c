"""What a run came to, in the page's language."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from persimchat.app.web.words import catalogue, t
from persimchat.runs.report_words import compact, spaced

_COLOURS: Final = {
    "message_limit": "#6366f1",
    "closed": "#6366f1",
    "consensus": "#059669",
    "budget": "#d97706",
    "stopped": "#64748b",
    "error": "#dc2626",
    "unfinished": "#d97706",
}
LIVE: Final = "#059669"


def moment(started: str) -> str:
    """When a run began, by the clock of the server; what is no moment stays as it is."""
    try:
        return t("past.moment", d=datetime.fromisoformat(started).astimezone())
    except (ValueError, OverflowError):
        return started or t("past.unknown")


def ending(reason: str) -> str:
    """Why a run is over, or that it is not (`runs.listing.UNFINISHED`)."""
    key = f"past.ended_{reason}"
    return t(key) if key in catalogue() else spaced(reason)


def ending_colour(reason: str) -> str:
    """The colour of a kind of ending."""
    return _COLOURS.get(reason, "#64748b")


def value(given: object) -> str:
    """Any recorded value in short."""
    return t("past.unknown") if given is None else compact(given)
