"""The draft of a conversation: its values so far, valid or not; and the draft that a browser keeps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from nicegui import app
from pydantic import TypeAdapter, ValidationError

from ....models.naming import OFFLINE
from ....models.redaction import redact
from ....personas.names import with_full_names
from ....personas.scenario import DEFAULT_NUMBER, default_participants, load_story, make_scenario
from ....runs.folder.manifest import Manifest, public
from ....state.configuration import load_settings
from ....state.document import Document
from ....state.errors import InputError
from ....state.kinds import fitting
from ....state.minds.pruning import Pruning
from ....state.persona import Persona, Relationship
from ....state.plain_text import visible_form
from ....state.poll import Guide
from ....state.scenario import Scenario
from ....state.settings import MODES, PART, Settings
from ....state.stories.story import Story
from ....state.validation_errors import input_error
from ..shared.runs import Pace, usual_pace
from ..words import t

# The guide of a focus group in progress

FEWEST: Final = 3
"""Participants of a focus group, the moderator among them."""
SUGGESTED: Final = 3
"""How many questions a new guide has."""


@dataclass
class Asked:
    """One question: its words, the answers after which the next follows, and whether the stimulus is shown with it."""

    ask: str = ""
    turns: int | None = None
    show: bool = False


@dataclass
class Stand:
    """A question on which everybody takes a stand; the fields of `Poll`."""

    ask: str = ""
    answer: str = "scale:1-5"
    options: list[str] = field(default_factory=list)
    named: str = ""
    by: str = ""


@dataclass
class GuideDraft:
    """The fields of `Guide`, flat; texts that are empty are left out.

    Attributes:
        moderator: who asks.
        wording: whether the moderator keeps to the guide's words.
        title: of the stimulus.
        text: of the stimulus.
        image: of the stimulus, described.
        questions: in their order.
        positions: taken before and after the talk.
        limit: the message limit that followed from the guide last; None if the user gave one.
    """

    moderator: str = ""
    wording: str = "exact"
    title: str = ""
    text: str = ""
    image: str = ""
    questions: list[Asked] = field(default_factory=list)
    positions: list[Stand] = field(default_factory=list)
    limit: int | None = field(default=None, compare=False)

    @classmethod
    def suggested(cls, moderator: str) -> GuideDraft:
        """A first guide, in the page's language."""
        questions = [Asked(t(f"setup.guide_question_{number}")) for number in range(1, SUGGESTED + 1)]
        return cls(moderator, questions=questions)

    @classmethod
    def of(cls, guide: Guide) -> GuideDraft:
        """The draft of a guide."""
        given = guide.model_dump(exclude_none=True)
        return _READ.validate_python({**given, **given.get("stimulus", {})})

    def data(self) -> dict[str, Any]:
        """The section of a scenario file; questions without words are left out."""
        shown = _filled({name: getattr(self, name) for name in ("title", "text", "image")})
        wording = self.wording if self.wording != "exact" else ""
        questions = [_filled(asdict(one)) for one in self.questions if one.ask.strip()]
        positions = [_filled(asdict(one)) for one in self.positions if one.ask.strip()]
        head = {"moderator": self.moderator, "wording": wording, "stimulus": shown}
        return _filled({**head, "questions": questions, "positions": positions})

    def fault(self, present: Sequence[str]) -> InputError | None:
        """What is wrong with it; None if nothing is.

        Args:
            present: the names of those who take part.
        """
        if self.moderator not in present:
            return InputError(t("setup.guide_nobody_asks"), remedy=t("setup.guide_choose"))
        if len(present) < FEWEST:
            return InputError(t("setup.guide_too_few"), remedy=t("setup.guide_choose_more"))
        data = self.data()
        if "questions" not in data:
            return InputError(t("setup.guide_no_question"), remedy=t("setup.guide_write"))
        try:
            Guide.model_validate(data)
        except ValidationError as error:
            return input_error(error, Guide, Document(data))
        return None

    def answers_expected(self, usual: int) -> int:
        """Messages that the whole guide takes: every question and its answers.

        Args:
            usual: answers to a question that says no number.
        """
        return sum(1 + (one.turns or usual) for one in self.questions if one.ask.strip())

    def most_said(self, everybody: int) -> int | None:
        """How many messages the guide can take at most; None as long as it cannot be read.

        Args:
            everybody: how many take part, the moderator included.
        """
        try:
            return Guide.model_validate(self.data()).most_said(everybody)
        except ValidationError:
            return None


_READ: Final = TypeAdapter(GuideDraft)


def _filled(given: Mapping[str, Any]) -> dict[str, Any]:
    """What is filled in; the options of an answer only where it is one of several."""
    plain = {name: value.strip() if isinstance(value, str) else value for name, value in given.items()}
    if "options" in plain:
        several = plain["answer"] == "choice"
        plain["options"] = [text for option in plain["options"] if several and (text := option.strip())]
    return {name: value for name, value in plain.items() if value}


def moderator() -> Persona:
    """The persona who asks where nobody was chosen to; what it reads is English, as all that models read."""
    return Persona(
        name="Mira Solheim",
        description=(
            "Mira moderates research groups. She asks one short, open question at a time, and for the last time "
            "somebody did a thing rather than whether they would. Her own opinions she leaves at the door."
        ),
        characteristics={"age": "47", "occupation": "research moderator"},
        traits=["neutral", "attentive", "patient"],
        speaking_style="One short open question at a time.",
    )


# The draft


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
        settings = {name: value for name, value in scenario.settings.items() if name != "prompts"}  # the server's own
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
        recorded = {"pruning": Pruning().model_dump(mode="json"), **manifest.settings.model_dump(mode="json")}
        held = {**usual(base, recorded["mode"], recorded.get("cognition")), "mode": base.mode}
        changed = {name: value for name, value in recorded.items() if name in held and value != held[name]}
        if isinstance(own := changed.get("pruning"), Mapping):  # a group; a log has it only where it is set
            changed["pruning"] = {name: value for name, value in own.items() if value != held["pruning"].get(name)}
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
        asked = fitting(self.settings, **({"mode": "story"} if self.story is not None else {}))
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
        if self.guide is not None and self.guide.moderator == old:
            self.guide.moderator = persona.name

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


def usual(base: Settings, mode: Any, cognition: Any = None) -> dict[str, Any]:
    """The values of settings that are not filled in, without passwords; some depend on the mode, one on cognition.

    Args:
        base: the settings of the server.
        mode: the value of the mode's field; an invalid mode is ignored.
        cognition: the value of that field, by which minds may stay as they are; None if it is not filled in.
    """
    given = base.model_dump(mode="json", exclude_unset=True)
    if mode in MODES:
        given["mode"] = mode
    values = Settings.model_validate(given, context=PART).whole()
    if cognition == "fixed":
        values["pattern"] = Settings.model_validate({**given, "cognition": cognition}, context=PART).pattern
    return public(values)


# The draft that a browser keeps from one visit to the next: limited in size, and without keys

LARGEST: Final = 200_000
"""Characters of a draft that is kept; a larger one has to be saved as a file."""
_KEY: Final = "draft"
_UNFOLDED: Final = "unfolded"
_DRAFT: Final = TypeAdapter(Draft)


def without_keys(value: Any) -> Any:
    """A value without API keys at any depth."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(key)): without_keys(item) for key, item in value.items()}
    return [without_keys(item) for item in value] if isinstance(value, list | tuple) else value


def draft_text(draft: Draft) -> str:
    """A draft as JSON, valid or not; keys and passwords are left out."""
    seats = [replace(seat, model=without_keys(seat.model)) for seat in draft.seats]
    plain = replace(draft, seats=seats, settings=without_keys(public(draft.settings)))
    return _DRAFT.dump_json(plain, by_alias=True).decode()


def read_draft(text: str) -> Draft:
    """The draft of a text of `draft_text`; raises ValueError if it is of another version, or damaged."""
    given = json.loads(text)
    if not isinstance(given, dict) or not {"topic", "seats", "settings"} <= given.keys():
        raise ValueError("no draft")
    draft = _DRAFT.validate_python(given)
    known = Settings.model_fields.keys() - {"prompts"}
    draft.settings = {name: value for name, value in draft.settings.items() if name in known}
    return draft


class KeptDraft:
    """The draft of this browser.

    Args:
        source: where a draft comes from that the address names, such as `like=RUN`; empty if it names none.
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._first = ""

    def taken_up(self) -> Draft | None:
        """The draft that was kept; None if there is none, or if the address names another one."""
        kept = app.storage.user.get(_KEY)
        if not isinstance(kept, dict) or (self._source and kept.get("source") != self._source):
            return None
        try:
            return read_draft(str(kept.get("text")))
        except ValueError:  # of another version
            return None

    def begin(self, draft: Draft) -> None:
        """Note the draft that the page begins with; only what differs from it is worth keeping."""
        self._first = draft_text(draft)

    def keep(self, draft: Draft) -> bool:
        """Keep a draft that was changed; returns whether it is small enough."""
        text = draft_text(draft)
        if text == self._first:
            return True
        self._first = ""
        if len(text) > LARGEST:
            app.storage.user.pop(_KEY, None)
            return False
        app.storage.user[_KEY] = {"source": self._source, "text": text}
        return True

    @property
    def unfolded(self) -> list[str]:
        """The parts of the page that were open."""
        kept = app.storage.user.get(_UNFOLDED)
        return [str(part) for part in kept] if isinstance(kept, list) else []

    def keep_unfolded(self, parts: list[str]) -> None:
        """Keep which parts of the page are open."""
        app.storage.user[_UNFOLDED] = parts

    def drop(self, draft: Draft) -> None:
        """Forget it, and begin anew with another draft."""
        app.storage.user.pop(_KEY, None)
        app.storage.user.pop(_UNFOLDED, None)
        self._source = ""
        self.begin(draft)
