"""As whom somebody at the page speaks. A pure function."""

from __future__ import annotations

from collections.abc import Sequence

from persimchat.state.intervention import MODERATOR

AS_MODERATOR = f"/{MODERATOR}"
"""Stands for the moderator among names; no participant's name, as those hold no slash at their beginning."""


def voice(current: str, chosen: str | None, asked: str | None, people: Sequence[str], *, busy: bool) -> str:
    """As whom one speaks: whoever was chosen; else who is asked; else the first of the people, or the moderator.

    Args:
        current: as whom one has spoken so far.
        chosen: whom the tab has chosen; None while it has not.
        asked: who is asked; None while nobody is.
        people: the people who take part.
        busy: whether somebody is writing: their words stay theirs.
    """
    if chosen is not None and (chosen in people or chosen == AS_MODERATOR):
        return chosen
    if busy and (current in people or current == AS_MODERATOR):
        return current
    if asked is not None and asked in people:
        return asked
    return people[0] if people else AS_MODERATOR
