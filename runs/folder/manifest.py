"""What is known about a run: scenario, settings, models, versions, how often it was resumed, its end and its usage.

The log of a run (`runs/log.py`) holds it as three kinds of events; `Manifest.of` puts them together.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, ValidationError

from ...prompts import prompt_hash
from ...state.kinds import kinds_of
from ...state.language import ENGLISH
from ...state.plain_text import without_credentials
from ...state.poll import Guide
from ...state.scenario import Scenario
from ...state.settings import AFTERWARDS, OF_PRUNING, OF_STORIES, OUTSIDE, SHIPPED, Settings, modules
from ...state.stories.story import Story
from ..events import Stopped
from .checkpoints import without_password
from .lines import DISCLAIMER
from .parts import Concluded, Count, Open, Stored, StoryOutcome, Turn, Usage, left_out

STATE_VERSION: Final = 2
"""Version of the state in checkpoints (state/conversation.py)."""

_PACKAGES: Final = ("persimchat", "langgraph", "langchain-core", "langchain-openai", "chromadb", "openai", "numpy")


def most_utterances(settings: Settings, story: Mapping[str, Any] | Story | None) -> int:
    """How many utterances a conversation makes at most: the message limit, or what a story's stages add up to.

    Args:
        settings: `max_messages` and `rounds` are read.
        story: the section of the scenario; None for all other conversations.
    """
    if story is None:
        return settings.max_messages
    read = story if isinstance(story, Story) else Story.model_validate(story)
    return read.most_said(settings.rounds)


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def versions() -> dict[str, str]:
    """The installed versions of Python and of the packages that determine the course of a run."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without the passwords and credentials of addresses, for the run's log."""
    shown: dict[str, Any] = _without_secrets(dict(settings))
    if isinstance(place := settings.get("checkpoints"), str):
        shown["checkpoints"] = without_password(place)  # user and database stay: resuming needs them
    return shown


class Participant(Open):
    """A participant."""

    name: str
    description: str = ""
    human: bool = False


class RecordedStory(Open):
    """The section `story` of a scenario."""

    ablation: list[str] = []


class RecordedScenario(Open):
    """The scenario of a run."""

    topic: str
    participants: list[Participant]
    story: RecordedStory | None = left_out("the section of a story")


class RecordedSettings(Open):
    """The settings of a run, without passwords."""

    mode: str = "discussion"
    pattern: str = "need_to_talk"
    baseline: str | None = None
    answer_format: str = "free"
    max_messages: Count | None = None
    model: str | None = None

    @property
    def language(self) -> str:
        """In which the participants speak, as a tag (BCP 47)."""
        return str(self.given.get("language", ENGLISH))

    @property
    def prompts_now(self) -> str:
        """The hash of the prompts that a conversation with these settings has today."""
        return prompt_hash(kinds_of(self.given)[0].TEMPLATES, self.given.get("prompts"))


class JudgementCounts(Stored):
    """How often a module of minds was asked for a judgement, and with what results."""

    asked: Count = Field(description="judgements asked for")
    valid: Count = Field(default=0, description="valid at the first try")
    again: Count = Field(default=0, description="valid at the second try")
    corrected: Count = Field(default=0, description="a number was moved into its range, or a list was corrected")
    failed: Count = Field(default=0, description="invalid twice, so the value stayed as it was")


class Branch(Stored):
    """The origin of a branch."""

    of: str
    turn: Turn
    why: str = ""
    """"branch" or "regenerate"."""
    changed: dict[str, Any] = {}
    """What the branch changed: settings, or the words that were put in."""


def _no_path(run: str) -> str:
    """The id of a run, which names the folder of its replay."""
    if run in ("", ".", "..") or set(run) & {"/", "\\", "\0"}:
        raise ValueError("this is not a run's id")
    return run


class Begun(Stored):
    """A run begins, or a branch: with what."""

    run: Annotated[str, Field(max_length=200), AfterValidator(_no_path)] = Field(description="the run's id")
    branch: Branch | None = Field(default=None, description="of a branch: the run of which it is, and where")
    disclaimer: str = DISCLAIMER
    started: str = Field(default="", description="ISO 8601")
    seed: int | None = None
    scenario: RecordedScenario
    settings: RecordedSettings = Field(default=RecordedSettings(), description="without passwords")
    models: dict[str, Any] = Field(default={}, description="by agent and module")
    outside_models: dict[str, Any] = Field(default={}, description="by module that belongs to no agent")
    prompt_hash: str = Field(default="", description="digest of the prompts' templates")
    versions: dict[str, str] = Field(default={}, description="of Python and packages")
    state_version: int | None = None


class Resumed(Stored):
    """An occasion on which a run was resumed."""

    at: str = Field(default="", description="ISO 8601")
    turn: Turn | None = Field(default=None, description="utterances so far")
    changed: dict[str, Any] = Field(default={}, description="the changed settings with their new values")
    before: dict[str, Any] = Field(default={}, description="their old values")
    reopened: bool = Field(default=False, description="whether it continued beyond an end by its own rules")
    settings: dict[str, Any] = left_out("all settings from now on, without passwords", {})


class _End(Stored):
    ended: str | None = Field(default=None, description="ISO 8601")
    stop_reason: str | None = None
    stop_source: str = ""
    detail: str = ""
    conclusion: Concluded | None = None
    outcome: StoryOutcome | None = left_out("the result of a story's vote; left out without one")
    judgements: dict[str, JudgementCounts] = left_out(
        "by module: how many judgements of minds it was asked for, and with what results; left out if none", {}
    )


class Ended(_End):
    """A run has ended."""

    turn: Turn
    usage: list[dict[str, Any]] = Field(default=[], description="accounting rows")

    @classmethod
    def by(cls, stopped: Stopped, ended: str, judgements: Mapping[str, Mapping[str, int]]) -> Self:
        """The end of a run in its log.

        Args:
            stopped: its last event.
            ended: time of its end, ISO 8601.
            judgements: by module, the results of the judgements of minds.
        """
        return cls.model_validate(
            {
                **{name: getattr(stopped, name) for name in ("turn", "detail", "conclusion", "outcome")},
                "ended": ended,
                "stop_reason": stopped.reason,
                "stop_source": stopped.source,
                "usage": _without_secrets(stopped.usage),
                "judgements": judgements,
            }
        )


class Manifest(Begun, _End):
    """What is known about a run; `stop_reason` and `ended` are null until it has ended."""

    resumed: list[Resumed] = []
    turn: Turn = 0
    """Utterances so far."""
    silences: Count = 0
    """Number of silences of agents, one per turn and agent."""
    usage: Usage = Usage()

    @classmethod
    def begun(
        cls, run: str, scenario: Scenario, settings: Settings, started: str, *, branch: Branch | None = None
    ) -> Self:
        """The manifest of a run that begins.

        Args:
            run: its id.
            scenario: topic and participants.
            settings: of the run.
            started: time of its beginning, ISO 8601.
            branch: the origin of a branch.
        """
        models = {
            participant.name: {
                module: settings.model_for(participant.name, module)
                for module in modules()
                if module not in OUTSIDE
                and (module not in OF_STORIES or settings.mode == "story")
                and (module not in OF_PRUNING or settings.pruning.active)
                and (module in (*SHIPPED, *settings.modules))
            }
            for participant in scenario.participants
        }
        outside = {module: settings.model_for("", module) for module in OUTSIDE if module not in AFTERWARDS}
        return cls(
            state_version=STATE_VERSION,
            run=run,
            branch=branch and branch.model_copy(update={"changed": public(branch.changed)}),
            started=started,
            seed=settings.seed,
            scenario=RecordedScenario(**scenario.model_dump(mode="json", by_alias=True, exclude={"settings"})),
            settings=RecordedSettings(**public(settings.model_dump(mode="json"))),
            models=_without_secrets(models),
            outside_models=_without_secrets(outside),
            prompt_hash=prompt_hash(settings.kind.TEMPLATES, settings.prompts),
            versions=versions(),
        )

    @classmethod
    def of(cls, begun: Begun, resumed: Sequence[Resumed], ended: Ended | None, **known: Any) -> Self:
        """The manifest of a run in its folder.

        Args:
            begun: its first event.
            resumed: when it was resumed.
            ended: its end; None while it has none.
            **known: how far it is, and what it has used.
        """
        manifest = cls(**dict(begun), **dict(known))
        for one in resumed:
            manifest = manifest.resumed_with(one)
        return manifest.model_copy(update={name: getattr(ended, name) for name in _End.model_fields} if ended else {})

    @property
    def as_begun(self) -> Begun:
        """The first event of a run's log."""
        return Begun(**{name: getattr(self, name) for name in Begun.model_fields})

    def going_on(
        self, *, at: str, turn: int, settings: Settings, changed: Mapping[str, Any], reopened: bool
    ) -> Resumed:
        """The event with which a run is resumed.

        Args:
            at: time of resuming, ISO 8601.
            turn: utterances so far.
            settings: with which it continues.
            changed: the changed settings with their new values.
            reopened: whether it continues beyond an end by its own rules.
        """
        return Resumed(
            at=at,
            turn=turn,
            changed=public(changed),
            before={name: self.settings.given.get(name) for name in changed},
            reopened=reopened,
            settings=public(settings.model_dump(mode="json")),
        )

    def resumed_with(self, resumed: Resumed) -> Self:
        """The manifest of the run after it was resumed."""
        entry = resumed.model_copy(update={"settings": {}})
        values = {"settings": RecordedSettings(**resumed.settings), "resumed": [*self.resumed, entry]}
        return self.model_copy(update={**dict(_End()), **values})

    @property
    def names(self) -> list[str]:
        """The names of the participants, in order."""
        return [participant.name for participant in self.scenario.participants]

    @property
    def guide(self) -> Guide | None:
        """The guide of a focus group; None if there is none, or if this version cannot read it."""
        given = self.scenario.given.get("guide")
        with suppress(ValidationError):
            return Guide.model_validate(given) if given is not None else None
        return None

    @property
    def people(self) -> list[str]:
        """The names of the participants who are people."""
        return [participant.name for participant in self.scenario.participants if participant.human]
