"""What a conversation is about and who takes part: the contents of a scenario file."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from .errors import suggestion
from .persona import ONE_SIDED, Persona, Relationship
from .plain_text import seen, visible_form
from .poll import Guide
from .stories.story import Story

LONGEST_TOPIC: Final = 8_000
"""Characters of a topic."""
LONGEST_LINE: Final = 1_000
"""Characters of a rule, and of a social goal."""

Topic = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TOPIC), AfterValidator(seen)
]
Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_LINE), AfterValidator(seen)
]


class Scenario(BaseModel):
    """Topic, participants, relationships, goals and rules; participants are already resolved to personas.

    `persimchat.personas.scenario.load_scenario` reads it from a file, in which a participant may also be the name of a
    shipped persona or the path of a persona file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    topic: Topic = Field(description="what the conversation is about")
    participants: list[Persona] = Field(min_length=2, max_length=100, description="who takes part, in order of listing")
    relationships: list[Relationship] = Field(default_factory=list, description="between pairs of participants")
    social_goals: dict[str, list[Line]] = Field(
        default_factory=dict, description="participant's name: goals for this conversation, beside the persona's own"
    )
    rules: list[Line] = Field(default_factory=list, description="rules of the conversation that all participants know")
    story: Story | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="a story in stages: characters, resources, stages, settlement",
    )
    guide: Guide | None = Field(
        default=None,
        exclude_if=lambda value: value is None,
        description="the guide of a focus group: who asks, the questions, what is shown",
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="settings of this scenario")

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        names = [p.name for p in self.participants]
        forms: set[str] = set()
        for name in names:
            form = visible_form(name)
            if form in forms:
                raise ValueError(f"two participants are called {name!r}; give each a name of its own")
            forms.add(form)
        pairs: set[Hashable] = set()
        for relationship in self.relationships:
            for name in (relationship.from_, relationship.to):
                if name not in names:
                    raise ValueError(f"relationship names {name!r}, who does not take part. {suggestion(name, names)}")
            pair: Hashable = frozenset((relationship.from_, relationship.to))
            if relationship.from_ == relationship.to:
                raise ValueError(f"a relationship joins {relationship.to!r} with itself; name two participants")
            if relationship.type in ONE_SIDED:  # the other side may have the same feeling
                pair = (relationship.from_, relationship.to)
            if pair in pairs:
                raise ValueError(
                    f"two relationships between {relationship.from_!r} and {relationship.to!r}; keep one of them"
                )
            pairs.add(pair)
        if all(p.human for p in self.participants):
            raise ValueError("all participants are people; at least one must be an agent, without human: true")
        for name in self.social_goals:
            if name not in names:
                raise ValueError(f"social_goals name {name!r}, who does not take part. {suggestion(name, names)}")
        if self.story is not None:
            self._check_story(self.story, names)
        if self.guide is not None:
            self._check_guide(self.guide, names)
        return self

    def _check_guide(self, guide: Guide, names: list[str]) -> None:
        if guide.moderator not in names:
            raise ValueError(
                f"guide.moderator is {guide.moderator!r}, who does not take part. {suggestion(guide.moderator, names)}"
            )
        if len(names) < 3:
            raise ValueError("a guide needs two or more participants beside the moderator")
        if self.story is not None:
            raise ValueError("a story has stages in place of a guide; leave out one of them")

    def _check_story(self, story: Story, names: list[str]) -> None:
        if list(story.characters) != names:
            raise ValueError("story.characters are not the participants in their order; name each of them")
        for problem in story.problems(names):
            raise ValueError(f"story: {problem.what}. {problem.remedy}")

    def goals_of(self, persona: Persona) -> list[str]:
        """A participant's social goals: the persona's own, then those of this scenario."""
        return [*persona.social_goals, *self.social_goals.get(persona.name, [])]
