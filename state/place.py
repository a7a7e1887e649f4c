"""A companion's place: where agents are, what is there, and whom they know; what a place file holds.

Addresses are world:sector:arena:object, as in Park et al. 2023.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from persimchat.state.companion import Happening
from persimchat.state.companion_settings import CompanionSettings
from persimchat.state.emotion import EmotionalState
from persimchat.state.persona import Persona
from persimchat.state.relationship import Relationship
from persimchat.state.setting_values import Weight
from persimchat.state.settings import Settings

IDLE: Final = "idle"
"""An object's state, if none is given."""
AGENTS, ARENAS, OBJECTS, EVENTS = 20, 200, 1_000, 500
"""The most of each in one place file."""

Part = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^:/]+$")]
"""The name of a sector, an arena or an object."""
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
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

    type: str = "acquaintance"
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] = ""

    def seen_by(self, agent: str, person: str) -> Relationship:
        """The relationship from the agent's side."""
        return Relationship(from_=agent, to=person, type=self.type, note=self.note)


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
    emotion: dict[str, int] = Field(default_factory=dict, description="levels at the beginning")
    trust: int | None = Field(default=None, ge=0, le=10, description="trust in strangers at the beginning")
    confides: list[Confidence] = Field(default_factory=list, max_length=100)
    recall: Recall = Field(default=Recall(), exclude_if=lambda value: value == Recall())

    @property
    def name(self) -> str:
        """The persona's name."""
        return self.persona.name

    def first_emotion(self) -> EmotionalState:
        """The emotional state at the beginning."""
        return EmotionalState(**self.emotion)


class Person(Model):
    """A person whom the agents know from the beginning."""

    name: str
    introduced: bool = True
    relationship: Acquainted = Acquainted()


class Other(Model):
    """Somebody who is seen and never asked: no mind, no calls."""

    name: Part
    at: str = ""
    does: Line = "is here"


class Clock(Model):
    """The world's clock."""

    mode: Literal["wall", "game", "steps"] = "wall"
    start: str = Field(default="2025-03-03 08:00", description="of game and steps: the first time")
    sec_per_step: int = Field(default=10, ge=1, le=86_400, description="of game: seconds of a MOVEMESSAGE")


class Planned(Model):
    """An event of the place file, at a time of the day."""

    at: Annotated[str, StringConstraints(pattern=r"^([01]?\d|2[0-3]):[0-5]\d$")] = Field(description="HH:MM")
    change: dict[str, Line] = Field(default_factory=dict, description="sector/arena/object: its new state")
    who: str = ""
    does: str = Field(default="", max_length=300)
    say: str = Field(default="", max_length=300, description="what is perceived, a sentence")
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
        return next(agent for agent in self.agents if agent.name == name)


def place_of(persona: Persona) -> Place:
    """A place with one agent and nothing else."""
    return Place(agents=[Agent(persona=persona)])
