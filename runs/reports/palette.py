"""The one palette of report and pages: people, emotions, scores, blocks of a prompt, parts of a memory's score.

Each entry is a pair of colours, for light and for dark grounds, with a contrast of at least 4.5 to these grounds; so it
serves for text, lines and areas, and behind text in the colour `--on`. `style()` declares them as variables of a style
sheet: everything else names a variable, so that a drawing changes with its page.

The accent of buttons and links is indigo; no person has indigo or violet. Verdicts, the judge and the moderator are
slate, told apart by shapes.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from persimchat.memory.retrieval import COMPONENTS
from persimchat.state.emotion import EMOTIONS
from persimchat.state.plain_text import one_line


class Tint(NamedTuple):
    """A colour on light and on dark grounds."""

    light: str
    dark: str


LIGHT_GROUNDS: Final = ("#ffffff", "#f5f7fb", "#f1f4f9")
DARK_GROUNDS: Final = ("#141d33", "#0b1120", "#0f172a")
"""On which the colours are readable: cards, pages, bubbles."""

ACCENT: Final = Tint("#4f46e5", "#a5b4fc")
NEUTRAL: Final = Tint("#475569", "#94a3b8")
"""Of the judge, the moderator and of verdicts."""

PEOPLE: Final = (
    Tint("#0b70c1", "#12bffb"),
    Tint("#c24408", "#ee9338"),
    Tint("#0a7f2a", "#4ccb5f"),
    Tint("#cb0a90", "#ff74da"),
    Tint("#594d0e", "#f2dc4a"),
    Tint("#833b71", "#ffd3f4"),
    Tint("#960b0b", "#ff5464"),
    Tint("#063382", "#4c8eff"),
    Tint("#631040", "#c67fb4"),
    Tint("#0a7c7b", "#8df3e2"),
)
"""Blue, orange, green, pink, olive, plum, red, navy, wine and teal; lightness tells near hues apart.

The first six differ most.
"""

EMOTION_TINTS: Final = dict(
    zip(
        EMOTIONS,
        (
            Tint("#b45309", "#fbbf24"),
            Tint("#1d4ed8", "#60a5fa"),
            Tint("#c81e1e", "#f87171"),
            Tint("#7e22ce", "#c084fc"),
            Tint("#15803d", "#4ade80"),
            Tint("#0e7490", "#22d3ee"),
        ),
        strict=True,
    )
)

_NAMED: Final = (PEOPLE[0], PEOPLE[2], PEOPLE[1], PEOPLE[3], Tint("#0f766e", "#2dd4bf"), PEOPLE[4])
"""Of things that are no people; their names always stand beside them."""

_BLOCKS: Final = {
    "basic_information": 5,
    "needs_and_emotions": 3,
    "relationships": 1,
    "memories": 0,
    "plan_and_identity": 2,
    "environment": 4,
}
"""The place of a block's colour, in the order of the blocks in a prompt."""

GROUPS: Final[Mapping[str, Sequence[Tint]]] = {
    "p": PEOPLE,
    "e": tuple(EMOTION_TINTS.values()),
    "a": _NAMED,
}
"""The colours by the letter of their variables: `--p0` is a person's, `--e0` an emotion's, `--a0` another thing's."""

EMOTION_STYLES: Final = {name: f"var(--e{place})" for place, name in enumerate(EMOTIONS)}
BLOCK_STYLES: Final = {name: f"var(--a{place})" for name, place in _BLOCKS.items()}
"""Of the blocks of an utterance's prompt, by tag; stories have further ones."""

PART_STYLES: Final = {name: f"var(--a{place})" for place, name in enumerate(COMPONENTS)}
"""Of the five parts of a memory's score."""

_SPREAD: Final = 296853
"""A number with which all shipped personas have colours of their own; a test says so when it must be another one."""


def preferred(name: str) -> int:
    """The colour of somebody whose company is not known: the same for the same name, a place in `PEOPLE`."""
    return zlib.crc32(f"{_SPREAD} {one_line(name)}".encode()) % len(PEOPLE)


def places(names: Iterable[str]) -> dict[str, int]:
    """The colours of people in one company, as places in `PEOPLE`.

    Everybody keeps their preferred colour unless somebody before them has it; then they get the next free one. So a
    persona looks the same wherever it appears, and whoever joins changes nobody's colour. Among more people
    than colours, these repeat evenly.

    Args:
        names: in order of listing.
    """
    return dict(_places(tuple(names)))


@lru_cache(maxsize=512)
def _places(names: tuple[str, ...]) -> dict[str, int]:
    used = [0] * len(PEOPLE)
    found: dict[str, int] = {}
    for name in names:
        if name not in found:
            start = preferred(name)
            order = [(start + step) % len(PEOPLE) for step in range(len(PEOPLE))]
            found[name] = min(order, key=lambda place: used[place])
            used[found[name]] += 1
    return found


def person_style(name: str, names: Sequence[str]) -> str:
    """The colour of somebody, for a style sheet; the neutral one for those who are not among `names`.

    Args:
        name: of a participant.
        names: of all participants, in order of listing.
    """
    place = _places(tuple(names)).get(name)
    return "var(--neutral)" if place is None else f"var(--p{place})"


def style(*, dark: bool = False) -> str:
    """The declarations of all variables, for the light or the dark style of a page."""
    tints = {f"{letter}{place}": tint for letter, group in GROUPS.items() for place, tint in enumerate(group)}
    tints |= {"accent": ACCENT, "neutral": NEUTRAL, "on": Tint("#ffffff", "#0b1120")}
    return " ".join(f"--{name}: {tint[dark]};" for name, tint in tints.items())


def classes() -> str:
    """The rules of the classes that give what they are on its colour as `--c`: `p0`, `e0`, `a0`, and so on."""
    names = [f"{letter}{place}" for letter, group in GROUPS.items() for place in range(len(group))]
    return "\n".join(f".{name} {{ --c: var(--{name}); }}" for name in [*names, "neutral"])
