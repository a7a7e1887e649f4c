"""Relationships between two participants: their types and sides (specification, *Speaking*)."""

from __future__ import annotations

import re
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from persimchat.state.errors import suggestion

RELATIONSHIP_TYPES: Final[dict[str, tuple[str, bool]]] = {
    # type: (group, whether direction matters)
    "unknown": ("neutral", False),
    "known_by_name": ("neutral", False),
    "acquaintance": ("neutral", False),
    "friend": ("positive", False),
    "close_friend": ("positive", False),
    "ally": ("positive", False),
    "admirer": ("positive", True),
    "romantic": ("positive", False),
    "rival": ("negative", False),
    "enemy": ("negative", False),
    "annoyed": ("negative", True),
    "betrayed": ("negative", True),
    "leader_follower": ("hierarchical", True),
    "authority_subordinate": ("hierarchical", True),
    "mentor_mentee": ("hierarchical", True),
    "parent_child": ("family", True),
    "siblings": ("family", False),
    "grandparent_grandchild": ("family", True),
    "aunt_uncle_niece_nephew": ("family", True),
    "cousins": ("family", False),
    "spouses": ("family", False),
    "stepparent_stepchild": ("family", True),
    "adoptive_parent_child": ("family", True),
}
"""Every relationship type. Where direction matters, `from_` is the first-named side: the admirer, the annoyed, the
betrayed, the leader, the parent …"""


ONE_SIDED: Final = frozenset({"admirer", "annoyed", "betrayed"})
"""Types that describe the feelings of one side; two participants may have one in each direction."""


def known_type(value: object) -> str:
    """A validator that returns a relationship type in its own spelling: "mentor_mentee" for "Mentee, mentor".

    Raises:
        ValueError: there is no such type; the nearest is suggested.
    """
    words = re.findall(r"[^\W_]+", str(value).casefold())
    key = next((known for known in RELATIONSHIP_TYPES if sorted(known.split("_")) == sorted(words)), "_".join(words))
    if key not in RELATIONSHIP_TYPES:
        raise ValueError(f"unknown relationship type {value!r}. {suggestion(key, RELATIONSHIP_TYPES)}")
    return key


class Relationship(BaseModel):
    """How two participants stand to each other.

    In a file it is written `{from: Anna, to: Ben, type: parent_child, note: ...}`: Anna is the parent.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    from_: str = Field(alias="from", min_length=1, description="the first-named side")
    to: str = Field(min_length=1, description="the second-named side")
    type: str = Field(description="one of the relationship types")
    note: str = Field(default="", max_length=500, description="anything more about it, in words")

    @field_validator("type", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        return known_type(value)

    def seen_by(self, name: str) -> dict[str, str] | None:
        """The relationship from the view of `name` (`to`, `type`, `side`, `note`), or None if it is between others."""
        if name == self.from_:
            return {"to": self.to, "type": self.type, "side": "from", "note": self.note}
        if name == self.to:
            return {"to": self.from_, "type": self.type, "side": "to", "note": self.note}
        return None
