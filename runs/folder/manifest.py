"""run.json: everything needed to understand and repeat a run (specification, *What a run leaves behind*).

`Manifest` writes and reads it. A field that older versions did not write has a default (None or empty); fields of newer
versions are kept. So resuming a run changes only those fields of its run.json that differ.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from persimchat.prompts import prompt_hash
from persimchat.runs.events import Concluded, Stopped, StoryOutcome
from persimchat.runs.folder.checkpoints import without_password
from persimchat.runs.folder.jsonl import checked
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.stored import AsGiven, Count, Kept, Stored, Turn
from persimchat.runs.folder.totals import Usage, usage_of
from persimchat.state.errors import InputError
from persimchat.state.guide import Guide
from persimchat.state.plain_text import without_credentials
from persimchat.state.scenario import Scenario
from persimchat.state.setting import with_current_names
from persimchat.state.settings import AFTERWARDS, FORMER_NAMES, MODULES, OF_PRUNING, OF_STORIES, OUTSIDE, Settings
from persimchat.state.story import Story

RUN_FORMAT: Final = 2
"""Version of the run folder's files."""
STATE_VERSION: Final = 2
"""Version of the state in checkpoints (state/conversation.py)."""
STATE_VERSIONS: Final = (1, STATE_VERSION)
"""Versions of the state from which a run can continue (graph/earlier.py)."""

_PACKAGES: Final = ("persimchat", "langgraph", "langchain-core", "langchain-openai", "chromadb", "openai", "numpy")
_OPEN_END: Final = {"ended": None, "stop_reason": None, "stop_source": "", "detail": "", "conclusion": None}
"""Fields on the end of a run, of one that has not ended."""


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
    """Settings without the passwords and credentials of addresses, for run.json."""
    shown: dict[str, Any] = _without_secrets(dict(settings))
    if isinstance(place := settings.get("checkpoints"), str):
        shown["checkpoints"] = without_password(place)  # user and database stay: resuming needs them
    return shown


class Participant(Stored):
    """A participant."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    description: str = ""
    human: bool = False


class RecordedStory(Kept):
    """The section `story` of a scenario; other fields are kept unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow")

    ablation: list[str] = []


class RecordedScenario(Kept):
    """The scenario of a run; other fields are kept unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow")

    topic: str
    participants: list[Participant]
    story: RecordedStory | None = None


class RecordedSettings(Kept):
    """The settings of a run; other fields are kept unchanged."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: str = "discussion"
    pattern: str = "need_to_talk"
    baseline: str | None = None
    answer_format: str = "free"
    max_messages: Count | None = None
    model: str | None = None


class JudgementCounts(Stored):
    """How often a module of minds was asked for a judgement, and with what results."""

    asked: Count = Field(description="judgements asked for")
    valid: Count = Field(default=0, description="valid at the first try")
    again: Count = Field(default=0, description="valid at the second try")
    corrected: Count = Field(default=0, description="a number was moved into its range, or a list was corrected")
    failed: Count = Field(default=0, description="invalid twice, so the value stayed as it was")


class Branch(Kept):
    """The origin of a branch."""

    of: str
    turn: Turn
    why: str = ""
    """"branch" or "regenerate"."""
    changed: Any = None
    """What the branch changed: settings, or the words that were put in."""


class Resumed(Stored):
    """An occasion on which a run was resumed."""

    at: str = ""
    turn: Turn | None = None
    changed: dict[str, Any] = {}
    """The changed settings with their new values."""
    before: dict[str, Any] = Field(default={}, exclude=True)
    """The old values of the changed settings."""
    reopened: bool = Field(default=False, exclude=True)
    """Whether it continued unchanged beyond an end by its own rules."""


class Manifest(AsGiven):
    """run.json; `stop_reason` and `ended` are null until the run has ended."""

    format: Count = RUN_FORMAT
    state_version: int | None = None
    run: str
    branch: Branch | None = None
    resumed: list[Resumed] = []
    disclaimer: Any = ""
    """For people; never read."""
    started: str = ""
    """ISO 8601."""
    ended: str | None = None
    stop_reason: str | None = None
    stop_source: str = ""
    detail: str = ""
    conclusion: Concluded | None = None
    outcome: StoryOutcome | None = None
    """The result of a story's vote; absent without one."""
    turn: Turn = 0
    """Utterances so far."""
    seed: int | None = None
    scenario: RecordedScenario
    settings: RecordedSettings = RecordedSettings()
    models: dict[str, Any] = {}
    outside_models: dict[str, Any] = {}
    prompt_hash: str = ""
    versions: dict[str, str] = {}
    corrections: Any = {}
    """How often an utterance was corrected, by kind of correction; never read."""
    silences: Count = 0
    """Number of silences of agents, one per turn and agent."""
    usage: Usage = Usage()
    judgements: dict[str, JudgementCounts] = {}
    """By module, the results of the judgements of minds; absent if there are none."""

    @classmethod
    def up_to_date(cls, value: Any) -> Any:
        """The contents of run.json, with current names of settings; anything else unchanged."""
        found = _with_current_names(value, "settings")
        if isinstance(found, dict) and isinstance(found.get("resumed"), list):
            found["resumed"] = [_with_current_names(entry, "changed", "before") for entry in found["resumed"]]
        if isinstance(found, dict) and "branch" in found:
            found["branch"] = _with_current_names(found["branch"], "changed")
        return found

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
                for module in MODULES
                if module not in OUTSIDE
                and (module not in OF_STORIES or settings.mode == "story")
                and (module not in OF_PRUNING or settings.pruning.active)
            }
            for participant in scenario.participants
        }
        outside = {module: settings.model_for("", module) for module in OUTSIDE if module not in AFTERWARDS}
        given = {
            "format": RUN_FORMAT,
            "state_version": STATE_VERSION,
            "run": run,
            "branch": {**branch.given, "changed": public(branch.changed or {})} if branch else None,
            "resumed": [],
            "disclaimer": DISCLAIMER,
            "started": started,
            **_OPEN_END,
            "turn": 0,
            "seed": settings.seed,
            "scenario": scenario.model_dump(mode="json", by_alias=True, exclude={"settings"}),
            "settings": public(settings.model_dump(mode="json")),
            "models": _without_secrets(models),
            "outside_models": _without_secrets(outside),
            "prompt_hash": prompt_hash(),
            "versions": versions(),
            "corrections": {},
            "silences": 0,
            "usage": {},
        }
        return cls.model_validate(given)

    def with_values(self, **values: Any) -> Self:
        """A copy with changed values, as in JSON; all other values stay."""
        return self.model_validate({**self.given, **values})

    def going_on(
        self, *, at: str, turn: int, settings: Settings, changed: Mapping[str, Any], silences: int, reopened: bool
    ) -> Self:
        """The manifest of a resumed run: it has not ended, and has a new entry in `resumed`.

        Args:
            at: time of resuming, ISO 8601.
            turn: utterances so far.
            settings: with which it continues.
            changed: the changed settings with their new values.
            silences: number of silences so far.
            reopened: whether it continues unchanged beyond an end by its own rules.
        """
        before = {name: self.settings.given.get(name) for name in changed}
        again = {"at": at, "turn": turn, "changed": public(changed), "before": before}
        return self.with_values(
            **_OPEN_END,
            state_version=STATE_VERSION,
            settings=public(settings.model_dump(mode="json")),
            resumed=[*self.given["resumed"], {**again, "reopened": True} if reopened else again],
            silences=silences,
        )

    def in_progress(
        self,
        *,
        turn: int,
        rows: Iterable[Mapping[str, Any]],
        corrections: Mapping[str, int],
        silences: int,
        judgements: Mapping[str, Mapping[str, int]],
    ) -> Self:
        """The manifest after a turn of a run in progress: so a killed run has its usage on disk.

        Args:
            turn: utterances so far.
            rows: the usage so far, as accounting rows.
            corrections: how often an utterance was corrected, by kind of correction.
            silences: number of silences so far.
            judgements: by module, the results of the judgements of minds (`outcomes.by_module`).
        """
        judged = {"judgements": {name: dict(row) for name, row in judgements.items()}} if judgements else {}
        return self.with_values(
            turn=turn,
            corrections=dict(sorted(corrections.items())),
            silences=silences,
            **judged,
            usage=usage_of(_without_secrets([dict(row) for row in rows])),
        )

    def over(self, ended: str, stopped: Stopped) -> Self:
        """The manifest of a run that is over; its progress is already in it.

        Args:
            ended: time of its end, ISO 8601.
            stopped: its last event.
        """
        return self.with_values(
            ended=ended,
            stop_reason=stopped.reason,
            stop_source=stopped.source,
            detail=stopped.detail,
            conclusion=stopped.conclusion.model_dump() if stopped.conclusion else None,
            **({"outcome": stopped.outcome.model_dump()} if stopped.outcome else {}),
        )

    def check_complete(self, where: str) -> None:
        """Refuse a run.json that lacks a field that resuming needs.

        Args:
            where: the file, for the error.

        Raises:
            InputError: something is missing, or null.
        """
        if missing := [key for key in _Needed.model_fields if key not in self.given]:
            raise InputError(f"{missing[0]} is missing", where=where, remedy="Restore the file from a backup.")
        checked(_Needed, self.given, where)

    def written(self) -> bytes:
        """The file's bytes."""
        return (json.dumps(self.given, ensure_ascii=False, indent=2) + "\n").encode()

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


def _with_current_names(value: Any, *keys: str) -> Any:
    """A mapping in which the settings under these keys have their current names; anything else unchanged."""
    if not isinstance(value, dict):
        return value
    named = {
        key: with_current_names(value[key], FORMER_NAMES, hint=False)
        for key in keys
        if isinstance(value.get(key), dict)
    }
    return {**value, **named}


def _no_path(run: str) -> str:
    """The id of a run, which names the folder of its replay."""
    if run in ("", ".", "..") or set(run) & {"/", "\\", "\0"}:
        raise ValueError("this is not a run's id")
    return run


class _NeededResumed(BaseModel):
    turn: Turn
    changed: dict[str, Any]
    before: dict[str, Any]


class _NeededBranch(BaseModel):
    of: str
    turn: Turn
    why: str


class _Needed(BaseModel):
    """Fields that resuming needs; a run without them can still be shown."""

    run: Annotated[str, Field(max_length=200), AfterValidator(_no_path)]
    state_version: Annotated[int, Field(strict=True)]
    scenario: dict[str, Any]
    settings: dict[str, Any]
    turn: Turn
    resumed: list[_NeededResumed]
    branch: _NeededBranch | None
    stop_reason: str | None
    silences: Count
