"""Reading relationships from a prompt: the wording of `prompts/templates/_relationships.jinja`, the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_RELATIONS: Final = (
    # What stands after the other's name, how they stand to me, and whether that is good (1) or bad (-1).
    ("does not know me and I do not know them", "stranger", 0),
    ("is known to me by name only", "stranger", 0),
    ("is an acquaintance of mine", "acquaintance", 0),
    ("is a friend of mine", "friend", 1),
    ("is a close friend of mine", "close friend", 1),
    ("is my ally", "ally", 1),
    ("is somebody I admire", "idol", 1),
    ("admires me", "admirer", 1),
    ("and I are in love", "love", 1),
    ("is my rival", "rival", -1),
    ("is my enemy", "enemy", -1),
    ("is somebody who annoys me", "nuisance", -1),
    ("is annoyed with me", "annoyed", -1),
    ("has betrayed me", "traitor", -1),
    ("feels betrayed by me", "betrayed", -1),
    ("follows me; I lead", "follower", 0),
    ("leads me; I follow", "leader", 0),
    ("is my subordinate", "subordinate", 0),
    ("has authority over me", "superior", 0),
    ("is my mentee", "mentee", 1),
    ("is my mentor", "mentor", 1),
    ("is my child", "child", 1),
    ("is my parent", "parent", 1),
    ("is my sibling", "sibling", 1),
    ("is my grandchild", "child", 1),
    ("is my grandparent", "grandparent", 1),
    ("is my niece or nephew", "child", 1),
    ("is my aunt or uncle", "aunt or uncle", 1),
    ("is my cousin", "cousin", 1),
    ("is my spouse", "spouse", 1),
    ("is my stepchild", "child", 1),
    ("is my stepparent", "stepparent", 0),
    ("is my adopted child", "child", 1),
    ("is my adoptive parent", "parent", 1),
)


@dataclass(frozen=True)
class Relation:
    """How somebody stands to the person whose prompt this is; `valence` is -1, 0 or 1."""

    to: str
    role: str
    valence: int
    note: str


def relation(line: str, others: Sequence[str]) -> Relation | None:
    """The relationship that an item tells, None where it is none of the known ones.

    Args:
        line: the item.
        others: names of the others present.
    """
    text = line.removeprefix("- ").strip()
    # The longest name first: "Eva" must not be found in "Eva Malá is my parent."
    for to in sorted(others, key=len, reverse=True):
        if text.startswith(to + " "):
            rest = text[len(to) + 1 :]
            for words, role, valence in _RELATIONS:
                if rest.startswith(words + "."):
                    return Relation(to, role, valence, rest[len(words) + 1 :].strip())
    return None
