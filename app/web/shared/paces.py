"""How fast a conversation goes on the page: the paces that are offered, in words, and the one to begin with."""

from __future__ import annotations

from typing import Final, Literal

from persimchat.app.web.words import t
from persimchat.runs.control import Control

Pace = int | Literal["one"]
"""Seconds from message to message at least, 0 as fast as the models answer; "one": one message, then a pause."""
ONE: Final = "one"
SECONDS: Final = (0, 2, 5, 10, 30)
"""The seconds that are offered."""
WITH_PEOPLE_S: Final = 5
"""The pace of a run in which people take part, unless another is chosen: they read before they can raise a hand."""


def usual_pace(*, with_people: bool) -> Pace:
    """The pace of a run for which none was chosen."""
    return WITH_PEOPLE_S if with_people else 0


def begin_at(control: Control, pace: Pace) -> None:
    """Let a run go at a pace."""
    if pace == ONE:
        control.one_turn()
    else:
        control.pace(pace)


def pace_words(pace: Pace) -> str:
    """A pace in words."""
    if pace == ONE:
        return t("common.pace_one")
    return t("common.pace_each", n=pace) if pace else t("common.pace_none")
