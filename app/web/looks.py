"""Colours of participants and emotions, and the common look of charts."""

from __future__ import annotations

from typing import Any, Final

from persimchat.memory.retrieval import COMPONENTS
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line

COLOURS: Final = (
    "#6366f1",
    "#0284c7",
    "#059669",
    "#d97706",
    "#db2777",
    "#7c3aed",
    "#0d9488",
    "#dc2626",
    "#65a30d",
    "#475569",
)
"""Of participants, in order of listing; with more of them they repeat."""

MODERATOR: Final = "#475569"

EMOTION_COLOURS: Final = dict(
    zip(EMOTIONS, ("#eab308", "#3b82f6", "#ef4444", "#8b5cf6", "#22c55e", "#f97316"), strict=True)
)

EMOTION_FACES: Final = dict(zip(EMOTIONS, ("😊", "😔", "😠", "😨", "🤢", "😮"), strict=True))
CALM: Final = "😌"

CHART_TEXT: Final = "#748096"
"""Text in charts keeps its colour when the page turns dark, so it must be readable on both."""

AXIS: Final[dict[str, Any]] = {
    "axisLabel": {"color": CHART_TEXT, "fontSize": 10},
    "splitLine": {"lineStyle": {"color": "rgba(148,163,184,.18)"}},
    "axisLine": {"lineStyle": {"color": "rgba(148,163,184,.4)"}},
    "axisTick": {"show": False},
}
"""Of every chart's axes; readable on light and dark."""


PART_COLOURS: Final = dict(zip(COMPONENTS, ("#0284c7", "#d97706", "#6366f1", "#db2777", "#0d9488"), strict=True))
"""Of the five parts of a memory's score."""

BLOCK_COLOURS: Final = {
    "basic_information": "#6366f1",
    "needs_and_emotions": "#db2777",
    "relationships": "#059669",
    "memories": "#0284c7",
    "plan_and_identity": "#d97706",
    "environment": "#0d9488",
}
"""Of the blocks of an utterance's prompt, by tag; stories have further ones."""

VERDICT_COLOURS: Final = {
    "consensus": "#059669",
    "overruled": "#d97706",
    "progressing": "#6366f1",
    "circling": "#94a3b8",
}

TOOLTIP: Final[dict[str, Any]] = {
    "confine": True,
    "renderMode": "richText",
    "backgroundColor": "rgba(15,23,42,.94)",
    "borderWidth": 0,
    "padding": 8,
    "textStyle": {"color": "#f1f5f9", "fontSize": 11},
}
"""Of every chart; drawn as text, so that no name in it is read as HTML."""

_MOST_LETTERS: Final = 26
_MARKUP: Final = str.maketrans("{|}", "｛｜｝")  # similar characters without a meaning to ECharts


def colour(name: str, participants: list[str]) -> str:
    """The colour of a speaker."""
    return COLOURS[participants.index(name) % len(COLOURS)] if name in participants else MODERATOR


def chart_name(name: str) -> str:
    """A name that is safe in charts: on one short line, without markup of ECharts or script of NiceGUI.

    Use it in values of a chart's options, never in keys: NiceGUI runs the value of a key that begins with a colon.
    """
    plain = one_line(name).translate(_MARKUP).lstrip(":").strip() or "?"
    return plain if len(plain) <= _MOST_LETTERS else plain[: _MOST_LETTERS - 1] + "…"
