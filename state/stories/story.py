"""The section `story` of a scenario: characters with beliefs, resources with owners, stages, a settlement.

Source: Gu et al. 2024, AgentGroupChat. Names are full names here; `personas/scenario.py` reads the section from a file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from ..document import Location
from ..errors import suggestion
from ..plain_text import seen, visible_form

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


NOBODY: Final = "nobody"
"""What a belief is for, if it is for no participant."""
LONGEST_TEXT: Final = 3_000
"""The most characters of a text of a story."""

Score = Annotated[int, Field(strict=True, ge=0, le=100)]
Text = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TEXT), AfterValidator(seen)
]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300), AfterValidator(seen)]


def _short_form(value: object) -> object:
    if isinstance(value, dict):
        raise ValueError("beliefs are a list; write one line '- {text: …, score: …, for: …}' for each")
    return value


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Belief(_Part):
    """Something that a character is after, or thinks that should be."""

    text: Text = Field(description="the belief, a sentence")
    score: Score = Field(description="how strong it is")
    for_: Name = Field(alias="for", description="the participant whom it favours, or nobody")

    @property
    def favours(self) -> str | None:
        """The participant whom it favours; None for nobody."""
        return None if visible_form(self.for_) == NOBODY else self.for_


class Character(_Part):
    """One participant's part in a story. All but `known_as` and `camp` is known to its owner alone."""

    main: bool = Field(default=False, description="a main character: it chooses whom to talk to, and can be voted for")
    known_as: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_TEXT)] = Field(
        default="", description="what everybody knows of this character"
    )
    beliefs: Annotated[list[Belief], BeforeValidator(_short_form)] = Field(
        default_factory=list, max_length=20, description="with their strength; the strongest is what it is after"
    )
    closeness: dict[Name, Score] = Field(
        default_factory=dict, description="closeness to others at the beginning, where it is not limits.closeness"
    )
    supports: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = Field(
        default="", description="the main character whom it supports at the beginning; empty for nobody"
    )
    neutral: bool = Field(default=False, description="it never supports anybody (a judge)")
    approachable: bool = Field(default=True, description="whether main characters may choose it for a talk")
    camp: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = Field(
        default="", description="its camp, if the story has declared camps"
    )


class Resource(_Part):
    """Something that a character owns; everybody knows all of it."""

    name: Name = Field(description="its name")
    owner: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = Field(
        default="", description="the participant who owns it; empty for nobody"
    )
    influence: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = Field(
        default=0, description="the weight that it gives its owner"
    )
    topics: list[Text] = Field(default_factory=list, max_length=20, description="what it gives to talk about")
    description: Annotated[str, StringConstraints(strip_whitespace=True, max_length=LONGEST_TEXT)] = Field(
        default="", description="what it is"
    )


Ablation = Literal["planning", "thinking", "reflection", "memory"]
"""A part of the minds of a story's characters that an ablation leaves out."""


class Settlement(_Part):
    """The vote after the last round."""

    voters: Literal["main", "all"] | Annotated[list[Name], Field(min_length=1, max_length=100)] = Field(
        default="main", description="who votes: main, all, or names"
    )
    candidates: Literal["main"] | Annotated[list[Name], Field(max_length=50)] = Field(
        default="main", description="what is voted on: main (the main characters), or outcomes"
    )
    decider: Annotated[str, StringConstraints(strip_whitespace=True, max_length=300)] = Field(
        default="",
        description="a main character who may keep things as they are, or another character, who decides alone",
    )


class Limits(_Part):
    """The figures of a story."""

    closeness: Score = Field(default=10, description="closeness at the beginning")
    change: Annotated[int, Field(strict=True, ge=1, le=100)] = Field(
        default=10, description="greatest change of a closeness or a belief in one update"
    )
    support: Score = Field(default=20, description="least closeness from which another character supports")


def _usual_stages() -> list[Stage]:
    return [Stage(kind="private"), Stage(kind="confidential"), Stage(kind="group")]


class Problem(NamedTuple):
    """What is wrong with a story."""

    at: Location
    what: str
    remedy: str


class Story(_Part):
    """The section `story`: every participant is one of its `characters`, in order of listing."""

    characters: dict[Name, Character] = Field(
        description="the participants' parts, by name; without a main one, the group only splits and comes together"
    )
    resources: list[Resource] = Field(default_factory=list, max_length=100, description="what characters own")
    stages: list[Stage] = Field(
        default_factory=_usual_stages, min_length=1, max_length=20, description="the stages of a round, in order"
    )
    settlement: Settlement | None = Field(default=None, description="the vote after the last round; none if left out")
    first_impressions: bool = Field(
        default=True, description="before the first round, everybody judges the others by what is known of them"
    )
    limits: Limits = Field(default=Limits(), description="the figures of the story")
    ablation: list[Ablation] = Field(
        default_factory=list,
        exclude_if=lambda value: not value,
        description="what the characters' minds go without: planning, thinking, reflection, memory",
    )

    @property
    def mains(self) -> list[str]:
        """The main characters, in order of listing."""
        return [name for name, character in self.characters.items() if character.main]

    def most_said(self, rounds: int) -> int:
        """How many utterances the story makes if nobody falls silent.

        Args:
            rounds: how many rounds it has.
        """
        everybody, mains = len(self.characters), len(self.mains)
        each = sum(stage.made(everybody, mains) for stage in self.stages)
        return rounds * each + (everybody if self.settlement is not None else 0)

    @property
    def needs_minds(self) -> bool:
        """Whether some stage goes by need to talk, which minds of strategists do not have."""
        return any(stage.kind in ("plenary", "rooms") for stage in self.stages)

    @property
    def in_order(self) -> list[str]:
        """Everybody: the main characters first, then the others, each in order of listing."""
        return [*self.mains, *(name for name, character in self.characters.items() if not character.main)]

    @property
    def voters(self) -> list[str]:
        """Who votes, in order of listing; a decider always does."""
        if self.settlement is None:
            return []
        wanted = self.settlement.voters
        named = self.mains if wanted == "main" else list(self.characters) if wanted == "all" else wanted
        return [name for name in self.characters if name in named or name == self.settlement.decider]

    @property
    def outcomes(self) -> list[str]:
        """The outcomes that are voted on; empty if the main characters are."""
        found = "main" if self.settlement is None else self.settlement.candidates
        return [] if isinstance(found, str) else list(found)

    @property
    def candidates(self) -> list[str]:
        """What may stand on a ballot."""
        return self.outcomes or self.mains

    def problems(self, names: Sequence[str]) -> Iterator[Problem]:
        """What is wrong with it, in order of reading.

        Args:
            names: the participants' full names.
        """
        yield from self._unknown(names)
        yield from self._doubled()
        if not self.mains and (self.settlement is not None or any(stage.by_two for stage in self.stages)):
            what = "no character is a main one, and private and confidential stages and votes need some"
            yield Problem(
                ("characters",), what, "Write main: true for those who can win, or have plenary and rooms alone."
            )
        yield from self._settled()
        for number, stage in enumerate(self.stages):
            following = self.stages[number + 1] if number + 1 < len(self.stages) else None
            for at, what, remedy in stage.problems(names, following):
                yield Problem(("stages", number, *at), what, remedy)
            for host in self.mains if stage.by_two else ():
                if not self.partners(host, stage):
                    yield Problem(
                        ("stages", number),
                        f"{host} can choose nobody in this stage",
                        "Make somebody approachable, or leave partners out.",
                    )

    def partners(self, host: str, stage: Stage, camps: dict[str, str] | None = None) -> list[str]:
        """Whom a host may choose in a stage, in order of listing.

        Args:
            host: a main character.
            stage: the stage.
            camps: everybody's camp now; None for what is certain before the story begins, so that a camp that is not
                declared excludes nobody.
        """
        known = camps if camps is not None else {name: one.camp for name, one in self.characters.items()}

        def fits(name: str) -> bool:
            if stage.partners == "others":
                return not self.characters[name].main
            if stage.partners == "anyone" or (camps is None and not (known[host] and known[name])):
                return True
            same = bool(known[host]) and known[name] == known[host]
            return same if stage.partners == "own_camp" else not same

        able = (name for name, one in self.characters.items() if one.approachable and name != host)
        return [name for name in able if fits(name)]

    def _unknown(self, names: Sequence[str]) -> Iterator[Problem]:
        def unknown(name: str, at: Location) -> Iterator[Problem]:
            if name not in names:
                yield Problem(at, f"{name!r} does not take part", suggestion(name, names))

        for name, one in self.characters.items():
            yield from unknown(name, ("characters", name))
            for number, belief in enumerate(one.beliefs):
                if belief.favours is not None:
                    yield from unknown(belief.favours, ("characters", name, "beliefs", number, "for"))
            for other in one.closeness:
                yield from unknown(other, ("characters", name, "closeness", other))
                if other == name:
                    yield Problem(
                        ("characters", name, "closeness", other), f"{name} is close to {name}", "Name another one."
                    )
            if one.supports and (one.supports not in self.mains or one.supports == name):
                yield Problem(
                    ("characters", name, "supports"),
                    f"{name} supports {one.supports!r}, who is no other main character",
                    f"Choose one of: {', '.join(main for main in self.mains if main != name)}.",
                )
        for number, resource in enumerate(self.resources):
            if resource.owner:
                yield from unknown(resource.owner, ("resources", number, "owner"))
        if self.settlement is not None:
            voters = self.settlement.voters
            for number, voter in enumerate(voters if isinstance(voters, list) else ()):
                yield from unknown(voter, ("settlement", "voters", number))
            if self.settlement.decider:
                yield from unknown(self.settlement.decider, ("settlement", "decider"))

    def _doubled(self) -> Iterator[Problem]:
        for name, one in self.characters.items():
            if (twin := _twin([belief.text for belief in one.beliefs])) is not None:
                at: Location = ("characters", name, "beliefs", twin)
                yield Problem(at, f"{name} has the same belief twice", "Keep one, with one score.")
        if (twin := _twin([resource.name for resource in self.resources])) is not None:
            what = f"two resources are called {self.resources[twin].name!r}"
            yield Problem(("resources", twin), what, "Give each a name of its own.")
        if (twin := _twin(self.ablation)) is not None:
            yield Problem(("ablation", twin), f"{self.ablation[twin]} is listed twice", "List each once.")

    def _settled(self) -> Iterator[Problem]:
        settlement = self.settlement
        if settlement is None:
            return
        if isinstance(settlement.voters, list) and (twin := _twin(settlement.voters)) is not None:
            what = f"the voter {settlement.voters[twin]!r} is listed twice"
            yield Problem(("settlement", "voters", twin), what, "Everybody has one vote; list each once.")
        at: Location = ("settlement", "candidates")
        if len(self.candidates) < 2 and self.mains:
            what = f"the settlement has {len(self.candidates)} candidates"
            yield Problem(at, what.replace("1 candidates", "one candidate"), "A vote needs two or more.")
        if (twin := _twin(self.outcomes)) is not None:
            yield Problem(at, f"the outcome {self.outcomes[twin]!r} is listed twice", "List each once.")
        if settlement.decider and settlement.decider in self.outcomes:
            what = f"the decider {settlement.decider!r} is among the outcomes"
            yield Problem(at, what, "Leave candidates out to vote on the main characters.")


def _twin(texts: Sequence[str]) -> int | None:
    """The place of the first text that looks like an earlier one."""
    forms = [visible_form(text) for text in texts]
    return next((place for place, form in enumerate(forms) if form in forms[:place]), None)
