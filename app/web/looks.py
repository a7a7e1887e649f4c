"""Colours of people and emotions, and what charts have in common."""

from __future__ import annotations

from typing import Any, Final

from persimchat.state.emotion import EMOTIONS

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
"""Of participants, in order of listing; with more of them they come round again."""

MODERATOR: Final = "#475569"

EMOTION_COLOURS: Final = dict(
    zip(EMOTIONS, ("#eab308", "#3b82f6", "#ef4444", "#8b5cf6", "#22c55e", "#f97316"), strict=True)
)

EMOTION_FACES: Final = dict(zip(EMOTIONS, ("😊", "😔", "😠", "😨", "🤢", "😮"), strict=True))
CALM: Final = "😌"

AXIS: Final[dict[str, Any]] = {
    "axisLabel": {"color": "#94a3b8", "fontSize": 10},
    "splitLine": {"lineStyle": {"color": "rgba(148,163,184,.18)"}},
    "axisLine": {"lineStyle": {"color": "rgba(148,163,184,.4)"}},
    "axisTick": {"show": False},
}
"""Of every chart's axes; readable on light and dark."""

LEGEND: Final[dict[str, Any]] = {
    "bottom": 0,
    "type": "scroll",
    "icon": "circle",
    "itemWidth": 8,
    "itemHeight": 8,
    "itemGap": 8,
    "textStyle": {"color": "#94a3b8", "fontSize": 10},
}


def colour(name: str, participants: list[str]) -> str:
    """The colour of somebody who speaks."""
    return COLOURS[participants.index(name) % len(COLOURS)] if name in participants else MODERATOR
