"""A conversation that is being set up: what is filled in so far, valid or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from persimchat.app.web.setup.specs import usual
from persimchat.models.naming import OFFLINE
from persimchat.personas.names import with_full_names
from persimchat.personas.scenario import DEFAULT_NUMBER, default_participants, make_scenario
from persimchat.runs.folder.manifest import Manifest
from persimchat.state.configuration import load_settings
from persimchat.state.document import Document
from persimchat.state.normalise import visible_form
from persimchat.state.persona import Persona
from persimchat.state.relationship import Relationship
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.validation_errors import input_error


@dataclass
class Seat:
    """A participant's place in the conversation.

    Attributes:
        persona: who it is; `human` says whether a person takes the part.
        model: the name of its own model; empty where it has none.
        goals: social goals for this conversation, beside the persona's own.
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
    """What a scenario file says, as it is being written.

    Attributes:
        topic: what they talk about.
        seats: who takes part, in order.
        relationships: between them.
        rules: rules that everybody knows.
        settings: those that are not as they would be otherwise, as they were filled in; without `agent_models`.
    """

    topic: str = ""
    seats: list[Seat] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

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
        """The draft from which a scenario could have come."""
        settings = dict(scenario.settings)
        models: Mapping[str, str] = settings.pop("agent_models", None) or {}
        seats = [
            Seat(persona, models.get(persona.name, ""), list(scenario.social_goals.get(persona.name, [])))
            for persona in scenario.participants
        ]
        return cls(scenario.topic, seats, list(scenario.relationships), list(scenario.rules), settings)

    @classmethod
    def of_run(cls, manifest: Manifest, base: Settings) -> Draft:
        """The scenario and the settings of a run, as far as they are not what holds anyway.

        Args:
            manifest: of the run.
            base: the settings of the server.

        Raises:
            InputError: the run's record is no scenario any more.
        """
        kept = manifest.scenario.model_dump(mode="json", by_alias=True)
        try:
            scenario = Scenario.model_validate(kept)
        except ValidationError as error:
            raise input_error(error, Scenario, Document(kept), where=f"run {manifest.run}") from None
        recorded = manifest.settings.model_dump(mode="json")
        held = {**usual(base, recorded["mode"]), "mode": base.mode}
        changed = {name: value for name, value in recorded.items() if name in held and value != held[name]}
        return cls.of(scenario.model_copy(update={"settings": changed}))

    @property
    def names(self) -> list[str]:
        """Of those who take part."""
        return [seat.name for seat in self.seats]

    def settings_asked(self) -> dict[str, Any]:
        """The settings with the participants' own models among them, without those that have no meaning now."""
        asked = dict(self.settings)
        if asked.get("answer_format", "free") != "choice":
            asked.pop("choices", None)  # the draft keeps them
        models = {seat.name: seat.model for seat in self.seats if seat.model and not seat.persona.human}
        return {**asked, "agent_models": models} if models else asked

    def scenario(self) -> Scenario:
        """The scenario, checked.

        Raises:
            InputError: it is not right yet.
        """
        return make_scenario(
            self.topic,
            [seat.persona for seat in self.seats],
            relationships=self.relationships,
            social_goals={seat.name: seat.goals for seat in self.seats if seat.goals},
            rules=self.rules,
            settings=self.settings_asked(),
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

    def remove(self, seat: Seat) -> None:
        """Take a participant and all that was said of them out."""
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

    def move_up(self, seat: Seat) -> None:
        """Let a participant stand one place further up; the first one becomes the last."""
        at = self.seats.index(seat)
        self.seats.insert((at - 1) % len(self.seats), self.seats.pop(at))

    def between(self, one: str, other: str) -> Relationship | None:
        """The relationship of two participants."""
        return next((tie for tie in self.relationships if {tie.from_, tie.to} == {one, other}), None)

    def relate(self, one: str, other: str, tie: Relationship | None) -> None:
        """Put a relationship in the place of the one that two participants have; None for none."""
        kept = [known for known in self.relationships if {known.from_, known.to} != {one, other}]
        self.relationships = kept if tie is None else [*kept, tie]
