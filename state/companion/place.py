"""A companion's place: where agents are, what is there, and whom they know; what a place file holds.

Addresses are world:sector:arena:object, as in Park et al. 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

from ..document import Location
from ..errors import InputError, suggestion
from ..kinds.companion import CompanionSettings
from ..minds.emotion import EmotionalState
from ..persona import Persona, known_type
from ..plain_text import name_as_written, quoted, visible_form
from ..setting import Weight
from ..settings import Settings
from . import Happening, person_name
from .clock import time_in

IDLE: Final = "idle"
"""An object's state, if none is given."""
AGENTS, ARENAS, OBJECTS, EVENTS = 20, 200, 1_000, 500
"""The most of each in one place file."""
_MOST_SHOWN: Final = 12
_FORMS: Final = {"arena": "sector/arena", "object": "sector/arena/object", "sector or arena": "sector, or sector/arena"}

LONGEST_PART: Final = 48
"""The most characters in the name of a sector, an arena or an object: a whole address is at most 195 long."""


def part_name(value: str) -> str:
    """A validator that returns the name of a part of the world, on one line.

    Raises:
        ValueError: the name is empty or too long, or holds a colon, a slash or a control character.
    """
    name = name_as_written(value)
    if len(name) > LONGEST_PART or any(sign in name for sign in ":/"):
        raise ValueError(
            f"{quoted(name, 60)} is no name of a place; write up to {LONGEST_PART} characters, without colon and slash"
        )
    return name


def _first_time(value: str) -> str:
    try:
        return time_in(value, where="start")
    except InputError as error:
        raise ValueError(f"{error.what}; {error.remedy}") from None


def _hour(value: str) -> str:
    found = re.fullmatch(r"\s*([01]?[0-9]|2[0-3]):([0-5][0-9])\s*", value)
    if found is None:
        raise ValueError(f"{quoted(value, 60)} is no time of the day; write HH:MM, for example 11:50")
    return f"{found[1]}:{found[2]}"


Part = Annotated[str, AfterValidator(part_name), WithJsonSchema({"type": "string", "minLength": 1, "maxLength": 48})]
"""The name of a sector, an arena or an object."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
Short = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200)]
"""A part of an event (`Happening`)."""
Arenas = dict[Part, dict[Part, Line]]
"""Arenas with their objects and the objects' states."""


class Model(BaseModel):
    """Base of the parts of a place: unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Confidence(Model):
    """A fact that an agent tells only to those whom it trusts."""

    trust: Annotated[int, Field(ge=0, le=10)]
    text: Line


class Acquainted(Model):
    """How agents and a person stand to each other at the beginning."""

    type: Annotated[str, BeforeValidator(known_type)] = Field(
        default="acquaintance", description="one of the relationship types"
    )
    side: Literal["from", "to"] = Field(
        default="from", description="which side of the type the agent is: from, the first-named (the mentor), or to"
    )
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""


class Recall(Model):
    """How one agent recalls, where it differs from the settings."""

    recency: Weight | None = Field(default=None, description="weight of recency")
    relevance: Weight | None = Field(default=None, description="weight of relevance")
    importance: Weight | None = Field(default=None, description="weight of importance")
    recency_decay: Annotated[float, Field(gt=0, le=1)] | None = Field(
        default=None, description="recency is this to the power of the ticks since a memory was last recalled"
    )
    reflection_trigger: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="importance after which the agent reflects"
    )

    def settings(self, common: Settings) -> Settings:
        """The settings of this agent."""
        given = self.model_dump(exclude_none=True)
        own: dict[str, Any] = {name: given.pop(name) for name in CompanionSettings.model_fields if name in given}
        return common.model_copy(
            update={
                "weights": common.weights.model_copy(update=given),
                "companion": common.companion.model_copy(update=own),
            }
        )


class Agent(Model):
    """An agent of the place."""

    persona: Persona
    at: str = Field(default="", description="sector/arena; empty: the first arena")
    knows: list[str] = Field(default_factory=list, description="sectors, or sector/arena; empty: all")
    lifestyle: str = Field(default="", max_length=1000)
    appointments: list[Line] = Field(default_factory=list, max_length=50)
    emotion: EmotionalState = Field(default=EmotionalState(), description="levels at the beginning, emotion: 0–10")
    trust: int | None = Field(default=None, ge=0, le=10, description="trust in strangers at the beginning")
    confides: list[Confidence] = Field(default_factory=list, max_length=100)
    recall: Recall = Field(default=Recall(), exclude_if=lambda value: value == Recall())

    @property
    def name(self) -> str:
        """The persona's name."""
        return self.persona.name


class Person(Model):
    """A person whom the agents know from the beginning."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
    introduced: bool = Field(default=True, description="whether the agents know the name")
    relationship: Acquainted = Acquainted()


class Other(Model):
    """Somebody who is seen and never asked: no mind, no calls."""

    name: Part
    at: str = Field(default="", description="sector/arena; empty: wherever the agent is")
    does: Short = "is here"


class Clock(Model):
    """The world's clock."""

    mode: Literal["wall", "game", "steps"] = "wall"
    start: Annotated[str, AfterValidator(_first_time)] = Field(
        default="2025-03-03T08:00:00", description="of game and steps: the first time"
    )
    sec_per_step: int = Field(default=10, ge=1, le=86_400, description="of game: seconds of a MOVEMESSAGE")


class Planned(Model):
    """An event of the place file, at a time of the day."""

    at: Annotated[str, AfterValidator(_hour)] = Field(description="HH:MM")
    change: dict[str, Annotated[Short, Field(min_length=1)]] = Field(
        default_factory=dict, description="sector/arena/object: its new state"
    )
    who: Short = Field(default="", description="somebody who does something")
    does: Short = Field(default="", description="what they do: leaving the hut")
    say: Short = Field(default="", description="what is perceived, a sentence")
    importance: int | None = Field(default=None, ge=0, le=10)
    once: bool = Field(default=False, description="on one day only")

    def happenings(self) -> list[Happening]:
        """What it is to those who perceive it."""
        found = [
            Happening(subject=address.replace("/", ":"), predicate="is", object=state, importance=self.importance)
            for address, state in self.change.items()
        ]
        if self.who:
            found.append(
                Happening(subject=self.who, predicate="is", object=self.does, person=True, importance=self.importance)
            )
        if self.say:
            found.append(
                Happening(
                    subject="event", predicate="is", object=self.say, description=self.say, importance=self.importance
                )
            )
        return found


class Place(Model):
    """A place with its agents; what a place file holds."""

    world: Part = "World"
    occasion: Line = "a talk"
    clock: Clock = Clock()
    places: dict[Part, Arenas] = Field(default_factory=dict, description="sector: arena: object: state")
    agents: list[Agent] = Field(min_length=1, max_length=AGENTS)
    people: list[Person] = Field(default_factory=list)
    others: list[Other] = Field(default_factory=list)
    events: list[Planned] = Field(default_factory=list, max_length=EVENTS)
    share_between_people: bool = Field(
        default=False, description="whether what one person tells may be recalled with another"
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="settings; models and places are refused")

    def arenas(self) -> list[str]:
        """The addresses of all arenas, sector/arena, in order of listing."""
        return [f"{sector}/{arena}" for sector, arenas in self.places.items() for arena in arenas]

    def known_to(self, agent: Agent) -> list[str]:
        """The arenas that an agent knows, in order of listing."""
        if not agent.knows:
            return self.arenas()
        wanted = set(agent.knows)
        return [arena for arena in self.arenas() if arena in wanted or arena.split("/")[0] in wanted]

    def home(self, agent: Agent) -> str:
        """Where an agent is at the beginning; empty in a world without arenas."""
        return agent.at or next(iter(self.arenas()), "")

    def agent(self, name: str) -> Agent:
        """The agent of this full name.

        Raises:
            KeyError: there is none.
        """
        found = next((agent for agent in self.agents if agent.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def problems(self) -> Iterator[tuple[Location, str, str]]:
        """What does not fit together: where, what, and the remedy; first names, then sizes, then addresses."""
        yield from self._names()
        arenas = self.arenas()
        objects = [
            f"{sector}/{arena}/{name}"
            for sector, inside in self.places.items()
            for arena, things in inside.items()
            for name in things
        ]
        for number, most, what in ((len(arenas), ARENAS, "arenas"), (len(objects), OBJECTS, "objects")):
            if number > most:
                yield ("places",), f"the place has {number} {what}", f"Keep to {most}."
        for number, agent in enumerate(self.agents):
            for entry, known in enumerate(agent.knows):
                if known not in self.places and known not in arenas:
                    yield _unknown(
                        ("agents", number, "knows", entry), known, [*self.places, *arenas], "sector or arena"
                    )
        for at, one in self._placed():
            if one.at and one.at not in arenas:
                yield _unknown((*at, "at"), one.at, arenas, "arena")
        for number, event in enumerate(self.events):
            here: Location = ("events", number)
            for address in event.change:
                if address not in objects:
                    yield _unknown((*here, "change", address), address, objects, "object")
            if not (event.change or event.who or event.say):
                yield here, "the event does not say what happens", "Give change, say, or who and does."
            elif bool(event.who) != bool(event.does):
                yield here, "who and does belong together", "Give both, or say instead."

    def _names(self) -> Iterator[tuple[Location, str, str]]:
        """Names given twice, and names that nobody can have."""
        seen: dict[str, str] = {}
        listed: list[tuple[Location, str, str]] = [
            *((("agents", n), agent.name, "agent") for n, agent in enumerate(self.agents)),
            *((("people", n), person.name, "person") for n, person in enumerate(self.people)),
            *((("others", n), other.name, "other") for n, other in enumerate(self.others)),
        ]
        for at, name, kind in listed:
            form = visible_form(name)
            if form in seen:
                both = f"two {kind}s are" if seen[form] == kind else "an agent, a person or another is also"
                yield at, f"{both} called {quoted(name, 60)}", "Remove one, or give each a name of its own."
            seen[form] = kind
        for number, person in enumerate(self.people):
            try:
                person_name(person.name)
            except InputError as error:
                yield ("people", number, "name"), error.what, error.remedy
        for number, agent in enumerate(self.agents):
            if agent.persona.human:
                remedy = "Leave human out; list people under people."
                yield ("agents", number, "persona"), f"the agent {quoted(agent.name, 60)} is a person", remedy
        for at, siblings in [
            (("places",), list(self.places)),
            *((("places", sector), list(arenas)) for sector, arenas in self.places.items()),
            *((("places", s, arena), list(things)) for s, a in self.places.items() for arena, things in a.items()),
        ]:
            forms = [visible_form(name) for name in siblings]
            for place, form in enumerate(forms):
                if form in forms[:place]:
                    remedy = "Give each a name of its own."
                    yield (*at, siblings[place]), f"{quoted(siblings[place], 60)} is given twice", remedy

    def _placed(self) -> Iterator[tuple[Location, Agent | Other]]:
        for number, agent in enumerate(self.agents):
            yield ("agents", number), agent
        for number, other in enumerate(self.others):
            yield ("others", number), other


def _unknown(at: Location, address: str, valid: list[str], kind: str) -> tuple[Location, str, str]:
    otherwise = "" if 0 < len(valid) <= _MOST_SHOWN else f"Write it as under places: {_FORMS[kind]}."
    return at, f"there is no {kind} {quoted(address, 120)}", suggestion(address, valid, otherwise=otherwise)


def place_of(persona: Persona) -> Place:
    """A place with one agent and nothing else."""
    return Place(agents=[Agent(persona=persona)])
