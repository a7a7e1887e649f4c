"""The section `story` of a scenario: characters with beliefs, resources with owners, stages, a settlement.

Source: Gu et al. 2024, AgentGroupChat. Names are full names here; `personas/story.py` reads the section from a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from persimchat.state.document import Location
from persimchat.state.errors import suggestion
from persimchat.state.normalise import seen, visible_form
from persimchat.state.stage import Stage

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
