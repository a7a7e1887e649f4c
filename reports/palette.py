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
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ..memory.retrieval import COMPONENTS
from ..state.document import table
from ..state.minds.emotion import EMOTIONS
from ..state.plain_text import one_line


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

_PAIRS: Final = table(__file__, "palette.yaml")
PEOPLE: Final = tuple(Tint(*pair) for pair in _PAIRS["people"].values())
"""Blue, orange, green, pink, olive, plum, red, navy, wine and teal; lightness tells near hues apart.

The first six differ most.
"""

EMOTION_TINTS: Final = {name: Tint(*_PAIRS["emotions"][name]) for name in EMOTIONS}

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
