"""Initials, colours and order of participants in the report, and the colours of emotions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from persimchat.runs.reports.palette import places
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line


@dataclass(frozen=True)
class Person:
    """A participant in the report.

    Attributes:
        name: as it is shown.
        initials: one to three letters, different for everybody as far as two letters and a number can be.
        style: class of the style sheet that has the colour: `p` and its place in the palette; `neutral` of moderators.
        place: in order of listing, from 0; also part of ids in the page.
        role: "person" or "moderator", and empty for an agent.
    """

    name: str
    initials: str
    style: str
    place: int
    role: str = ""


def initials(name: str) -> str:
    """The first letters of the first and the last word of a name, in capitals; `?` if it has no letters."""
    words = ["".join(c for c in word if c.isalnum()) for word in one_line(name).split()]
    words = [word for word in words if word]
    if not words:
        return "?"
    return "".join(word[0] for word in words[:: max(1, len(words) - 1)][:2]).upper()


def emotion_style(name: str) -> str:
    """The style sheet's class for an emotion; "calm" has none of its own colour."""
    return f"e{EMOTIONS.index(name)}" if name in EMOTIONS else name


def people(names: Sequence[str], roles: Mapping[str, str] | None = None) -> dict[str, Person]:
    """All participants by name. Equal initials get a number.

    Args:
        names: in order of listing.
        roles: of those who are not agents, by name.
    """
    found: dict[str, Person] = {}
    colours = places(name for name in names if (roles or {}).get(name) != "moderator")
    for place, name in enumerate(names):
        letters = initials(name)
        taken = {person.initials for person in found.values()}
        different = next(
            letters + ending for ending in ("", *map(str, range(2, len(names) + 2))) if letters + ending not in taken
        )
        style = f"p{colours[name]}" if name in colours else "neutral"
        found[name] = Person(one_line(name), different, style, place, (roles or {}).get(name, ""))
    return found
