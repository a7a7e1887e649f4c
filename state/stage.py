"""A stage of a story's round: talks of two, all together, or rooms into which the group splits."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from persimchat.state.document import Location
from persimchat.state.errors import suggestion
from persimchat.state.normalise import seen

Kind = Literal["private", "confidential", "group", "plenary", "rooms"]
Partners = Literal["anyone", "others", "own_camp", "other_camp"]
Member = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300), AfterValidator(seen)]

_BY_EXCHANGES = ("exchanges", "partners")
_BY_UTTERANCES = ("utterances", "split", "report")
"""The fields of talks of two and of the group; those of plenary and rooms."""


class Split(BaseModel):
    """How a group splits into rooms: by a size, with lots, or into named groups."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: Annotated[int, Field(strict=True, ge=2, le=50)] | None = Field(
        default=None, description="members of a room, drawn by lot; a remainder of one joins the last room"
    )
    groups: Annotated[list[list[Member]], Field(max_length=50)] | None = Field(
        default=None, description="the members of each room, by name"
    )

    @model_serializer(mode="wrap")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}

    def rooms(self, names: Sequence[str], lots: random.Random) -> list[list[str]]:
        """The members of each room, in order of listing.

        Args:
            names: all participants, in order of listing.
            lots: draws the lots.
        """
        if self.groups is not None:
            return [[name for name in names if name in group] for group in self.groups]
        drawn, size = list(names), self.size or 2
        lots.shuffle(drawn)
        rooms = [drawn[first : first + size] for first in range(0, len(drawn), size)]
        if len(rooms) > 1 and len(rooms[-1]) == 1:
            rooms[-2:] = [[*rooms[-2], *rooms[-1]]]
        return sorted((sorted(room, key=list(names).index) for room in rooms), key=lambda room: names.index(room[0]))

    def sizes(self, participants: int) -> list[int]:
        """How many members each room has.

        Args:
            participants: how many take part.
        """
        if self.groups is not None:
            return [len(group) for group in self.groups]
        return [len(room) for room in self.rooms([str(one) for one in range(participants)], random.Random(0))]


class Stage(BaseModel):
    """A stage of a round."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind = Field(
        description="talks of two that nobody notices (private), or that all notice (confidential); all together, at "
        "once (group) or in turn (plenary); all in rooms at the same time (rooms)"
    )
    exchanges: Annotated[int, Field(strict=True, ge=1, le=20)] = Field(
        default=3, description="utterances of each in a talk of two; in the group, how often everybody speaks"
    )
    partners: Partners = Field(
        default="anyone",
        description="whom a host may choose: anyone, others (who are no main characters), own_camp or other_camp",
    )
    utterances: Annotated[int, Field(strict=True, ge=1, le=1_000)] | None = Field(
        default=None, description="of plenary and rooms: utterances of all together, in each room"
    )
    split: Split | None = Field(default=None, description="of rooms: how the group splits")
    report: bool = Field(default=False, description="of rooms: whether one of each room tells the plenary that follows")

    @model_validator(mode="after")
    def _of_its_kind(self) -> Self:
        """Refuse fields of other kinds of stages, and plenary and rooms without a length."""
        by_utterances = self.kind in ("plenary", "rooms")
        for name in _BY_EXCHANGES if by_utterances else _BY_UTTERANCES:
            if name in self.model_fields_set:
                raise ValueError(f"{name} does not go with a stage {self.kind}; leave {name} out")
        if self.kind == "plenary" and not self.model_fields_set.isdisjoint(("split", "report")):
            raise ValueError("split and report go with rooms, not with a plenary; leave them out")
        if by_utterances and self.utterances is None:
            raise ValueError(f"a stage {self.kind} has no utterances; write how many are made (utterances: 6)")
        if self.kind == "rooms" and self.split is None:
            raise ValueError("a stage rooms has no split; write split: {size: 2}, or the groups")
        return self

    @model_serializer(mode="wrap")
    def _own(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only the fields of its kind, so that stories without rooms are written as they always were."""
        others = _BY_UTTERANCES if self.utterances is None else _BY_EXCHANGES
        unset = {"split": None, "report": False}
        return {
            key: value
            for key, value in handler(self).items()
            if key not in others and not (key in unset and value == unset[key])
        }

    @property
    def by_two(self) -> bool:
        """Whether main characters talk with partners whom they choose."""
        return self.kind in ("private", "confidential")

    def made(self, participants: int, mains: int) -> int:
        """How many utterances the stage makes in a round if nobody falls silent.

        Args:
            participants: how many take part.
            mains: how many of them are main characters.
        """
        if self.utterances is not None:
            return self.utterances * (len(self.split.sizes(participants)) if self.split is not None else 1)
        return self.exchanges * (2 * mains if self.by_two else participants)

    def problems(self, names: Sequence[str], following: Stage | None) -> Iterator[tuple[Location, str, str]]:
        """What is wrong with rooms: where, what, and the remedy.

        Args:
            names: the participants' full names.
            following: the next stage of the round; None if this is the last one.
        """
        if self.split is None:
            return
        yield from _of_split(self.split, names)
        rooms = len(self.split.sizes(len(names)))
        if self.report and (following is None or following.kind != "plenary"):
            yield ("report",), "no plenary follows to which the rooms could report", "Add one, or leave report out."
        elif self.report and following is not None and (following.utterances or 0) < rooms:
            what = f"{rooms} rooms report, and the plenary that follows has {following.utterances} utterances"
            yield ("report",), what, "Give the plenary more utterances, or leave report out."


def _of_split(split: Split, names: Sequence[str]) -> Iterator[tuple[Location, str, str]]:
    """What is wrong with a split: where, what, and the remedy."""
    if (split.size is None) == (split.groups is None):
        yield ("split",), "a split is either by size or into groups", "Write split: {size: 2}, or split: {groups: …}."
        return
    if split.groups is None:
        if len(split.sizes(len(names))) < 2:
            what = f"{len(names)} participants in rooms of {split.size} are one room"
            yield ("split", "size"), what, "Choose a smaller size, or write a plenary."
        return
    at: Location = ("split", "groups")
    placed: Mapping[str, list[int]] = {
        name: [place for place, group in enumerate(split.groups) if name in group] for name in names
    }
    for place, group in enumerate(split.groups):
        for name in group:
            if name not in names:
                yield (*at, place), f"{name!r} does not take part", suggestion(name, names)
        if len(group) < 2:
            yield (*at, place), "a room has fewer than two members", "Name two or more, or put them elsewhere."
    for name, places in placed.items():
        if not places:
            yield at, f"{name} is in no room", "Name everybody in one of the groups."
        if len(places) > 1 or any(split.groups[place].count(name) > 1 for place in places):
            yield (*at, places[-1]), f"{name} is in a room twice", "Name everybody once."
    if len(split.groups) < 2:
        yield at, "there is one room only", "Name two groups or more, or write a plenary."
