"""Colours of participants and emotions, and the common look of charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from persimchat.runs.reports.palette import (
    BLOCK_STYLES,
    EMOTION_TINTS,
    NEUTRAL,
    PART_STYLES,
    PEOPLE,
    places,
    preferred,
)
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line

COLOURS: Final = tuple(tint.light for tint in PEOPLE)
"""Of participants."""

MODERATOR: Final = NEUTRAL.light

EMOTION_COLOURS: Final = {name: tint.light for name, tint in EMOTION_TINTS.items()}

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


PART_COLOURS: Final = PART_STYLES
"""Of the five parts of a memory's score."""

BLOCK_COLOURS: Final = BLOCK_STYLES
"""Of the blocks of an utterance's prompt, by tag; stories have further ones."""

VERDICT_COLOURS: Final = {
    "consensus": NEUTRAL.light,
    "overruled": NEUTRAL.light,
    "progressing": "#64748b",
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


def colour(name: str, participants: Sequence[str]) -> str:
    """The colour of a speaker in the company of a run; slate for those who are not participants."""
    place = places(participants).get(name)
    return MODERATOR if place is None else COLOURS[place]


def own_colour(name: str) -> str:
    """The colour of a persona in no company, as in the library."""
    return COLOURS[preferred(name)]


def chart_name(name: str) -> str:
    """A name that is safe in charts: on one short line, without markup of ECharts or script of NiceGUI.

    Use it in values of a chart's options, never in keys: NiceGUI runs the value of a key that begins with a colon.
    """
    plain = one_line(name).translate(_MARKUP).lstrip(":").strip() or "?"
    return plain if len(plain) <= _MOST_LETTERS else plain[: _MOST_LETTERS - 1] + "…"
