"""The draft of a conversation: its values so far, valid or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from pydantic import ValidationError

from persimchat.app.web.setup.guide_draft import GuideDraft
from persimchat.app.web.setup.specs import usual
from persimchat.app.web.shared.paces import Pace, usual_pace
from persimchat.models.naming import OFFLINE
from persimchat.personas.names import with_full_names
from persimchat.personas.scenario import DEFAULT_NUMBER, default_participants, load_story, make_scenario
from persimchat.runs.folder.manifest import Manifest
from persimchat.state.configuration import load_settings
from persimchat.state.document import Document
from persimchat.state.normalise import visible_form
from persimchat.state.persona import Persona
from persimchat.state.pruning import Pruning
from persimchat.state.relationship import Relationship
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.story import Story
from persimchat.state.validation_errors import input_error

_PRUNING: Final = "pruning"
"""The setting that is a group; run.json has it only where it is set."""


@dataclass
class Seat:
    """One participant of the draft.

    Attributes:
        persona: the persona; `human` says whether a person takes the part.
        model: the name of its own model; empty if it has none.
        goals: social goals for this conversation, in addition to the persona's own.
    """

    persona: Persona
    model: str = ""
    goals: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The persona's name."""
        return self.persona.name


@dataclass
class Draft:
    """The contents of a scenario file in progress.

    Attributes:
        topic: the topic.
        seats: the participants, in order.
        relationships: between them.
        rules: rules that all participants know.
        settings: the settings that the user changed, as filled in; without `agent_models`.
        story: the section of a story's file, in which the participants have parts; None for all other conversations.
        guide: the guide of a focus group; None for all other conversations.
        chosen_pace: how fast the conversation goes at first, which its file does not say; None for the usual pace.
    """

    topic: str = ""
    seats: list[Seat] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    story: Story | None = None
    guide: GuideDraft | None = None
    chosen_pace: Pace | None = None

    @classmethod
    def fresh(cls, base: Settings) -> Draft:
        """The first draft: shipped personas and, if no model is set, the offline model.

        Args:
            base: the settings of the server.
        """
        settings = {} if base.model else {"model": OFFLINE}
        return cls(seats=[Seat(persona) for persona in default_participants(DEFAULT_NUMBER)], settings=settings)

    @classmethod
    def of(cls, scenario: Scenario) -> Draft:
        """The draft of a scenario."""
        settings = dict(scenario.settings)
        models: Mapping[str, str] = settings.pop("agent_models", None) or {}
        seats = [
            Seat(persona, models.get(persona.name, ""), list(scenario.social_goals.get(persona.name, [])))
            for persona in scenario.participants
        ]
        ties, rules = list(scenario.relationships), list(scenario.rules)
        guide = None if scenario.guide is None else GuideDraft.of(scenario.guide)
        return cls(scenario.topic, seats, ties, rules, settings, scenario.story, guide)

    @classmethod
    def small_story(cls, base: Settings) -> Draft:
        """The draft of the small story that comes with the package; with the offline model if no model is set. Blocks.

        Args:
            base: the settings of the server.
        """
        draft = cls.of(load_story())
        return draft if base.model else replace(draft, settings={"model": OFFLINE, **draft.settings})

    @classmethod
    def of_run(cls, manifest: Manifest, base: Settings) -> Draft:
        """The draft of a run: its scenario, and its settings that differ from the server's.

        Args:
            manifest: the run's.
            base: the settings of the server.

        Raises:
            InputError: the recorded scenario is not valid in this version.
        """
        kept = manifest.scenario.model_dump(mode="json", by_alias=True)
        try:
            scenario = Scenario.model_validate(kept)
        except ValidationError as error:
            raise input_error(error, Scenario, Document(kept), where=f"run {manifest.run}") from None
        recorded = {_PRUNING: Pruning().model_dump(mode="json"), **manifest.settings.model_dump(mode="json")}
        held = {**usual(base, recorded["mode"], recorded.get("cognition")), "mode": base.mode}
        changed = {name: value for name, value in recorded.items() if name in held and value != held[name]}
        if isinstance(own := changed.get(_PRUNING), Mapping):
            changed[_PRUNING] = {name: value for name, value in own.items() if value != held[_PRUNING].get(name)}
        return cls.of(scenario.model_copy(update={"settings": changed}))

    @property
    def pace(self) -> Pace:
        """How fast the conversation goes at first."""
        people = any(seat.persona.human for seat in self.seats)
        return usual_pace(with_people=people) if self.chosen_pace is None else self.chosen_pace

    @property
    def names(self) -> list[str]:
        """Of those who take part."""
        return [seat.name for seat in self.seats]

    def settings_asked(self) -> dict[str, Any]:
        """The settings, including the participants' own models, without those whose condition is not met."""
        asked = dict(self.settings)
        if asked.get("answer_format", "free") != "choice":
            asked.pop("choices", None)  # the draft keeps them
        models = {seat.name: seat.model for seat in self.seats if seat.model and not seat.persona.human}
        return {**asked, "agent_models": models} if models else asked

    def scenario(self) -> Scenario:
        """The scenario, checked.

        Raises:
            InputError: the draft is not valid yet.
        """
        return make_scenario(
            self.topic,
            [seat.persona for seat in self.seats],
            relationships=self.relationships,
            social_goals={seat.name: seat.goals for seat in self.seats if seat.goals},
            rules=self.rules,
            settings=self.settings_asked(),
            story=self.story,
            guide=None if self.guide is None else self.guide.data(),
        )

    def simulation(self) -> tuple[Scenario, Settings]:
        """The scenario and settings of a new run: the server's settings, overridden by those filled in.

        Raises:
            InputError: it is not right yet, or the environment holds a wrong setting.
        """
        scenario = self.scenario()
        return scenario, with_full_names(load_settings(**scenario.settings), self.names)

    def add(self, personas: Iterable[Persona]) -> None:
        """Add participants; those who already take part are left out."""
        for persona in personas:
            if visible_form(persona.name) not in map(visible_form, self.names):
                self.seats.append(Seat(persona))

    def stand_ins(self) -> list[Seat]:
        """The participants that the page began with, if nothing of them was changed and nobody else was chosen.

        People who take part and the moderator of a guide came beside them: they do not count.
        """
        usual = default_participants(DEFAULT_NUMBER)
        asks = None if self.guide is None else self.guide.moderator
        chosen = [seat for seat in self.seats if not seat.persona.human and seat.name != asks]
        untouched = chosen == [Seat(persona) for persona in usual]
        return chosen if untouched and not self.relationships and self.story is None else []

    def remove(self, seat: Seat) -> None:
        """Remove a participant with their relationships."""
        self.seats.remove(seat)
        self.relationships = [tie for tie in self.relationships if seat.name not in (tie.from_, tie.to)]

    def replace(self, seat: Seat, persona: Persona) -> None:
        """Replace the persona of a participant, also under another name."""
        old, seat.persona = seat.name, persona
        renamed = {old: persona.name}
        self.relationships = [
            tie.model_copy(update={"from_": renamed.get(tie.from_, tie.from_), "to": renamed.get(tie.to, tie.to)})
            for tie in self.relationships
        ]
        if self.guide is not None:
            self.guide.renamed(old, persona.name)

    def move_up(self, seat: Seat) -> None:
        """Move a participant one place up; the first one becomes the last."""
        at = self.seats.index(seat)
        self.seats.insert((at - 1) % len(self.seats), self.seats.pop(at))

    def between(self, one: str, other: str) -> Relationship | None:
        """The relationship of two participants."""
        return next((tie for tie in self.relationships if {tie.from_, tie.to} == {one, other}), None)

    def relate(self, one: str, other: str, tie: Relationship | None) -> None:
        """Replace the relationship of two participants; None removes it."""
        kept = [known for known in self.relationships if {known.from_, known.to} != {one, other}]
        self.relationships = kept if tie is None else [*kept, tie]
