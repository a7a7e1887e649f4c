"""run.json: everything needed to understand and repeat a run (specification, *What a run leaves behind*).

`Manifest` writes it and reads it. What older versions did not write has a default that says so (None, or empty); what
newer ones add is kept as it is. So a run that goes on changes nothing in its run.json but what has changed.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from persimchat.prompts import prompt_hash
from persimchat.runs.events import Concluded, Stopped
from persimchat.runs.folder.checkpoints import without_password
from persimchat.runs.folder.jsonl import checked
from persimchat.runs.folder.lines import DISCLAIMER
from persimchat.runs.folder.stored import AsGiven, Count, Kept, Stored, Turn
from persimchat.runs.folder.totals import Usage, usage_of
from persimchat.state.errors import InputError
from persimchat.state.plain_text import without_credentials
from persimchat.state.scenario import Scenario
from persimchat.state.setting import with_current_names
from persimchat.state.settings import FORMER_NAMES, MODULES, OUTSIDE, Settings

RUN_FORMAT: Final = 2
"""Version of the run folder's files."""
STATE_VERSION: Final = 2
"""Version of what a run's checkpoints hold (state/conversation.py)."""
STATE_VERSIONS: Final = (1, STATE_VERSION)
"""Versions from which a run goes on (graph/earlier.py)."""

_PACKAGES: Final = ("persimchat", "langgraph", "langchain-core", "langchain-openai", "chromadb", "openai", "numpy")
_OPEN_END: Final = {"ended": None, "stop_reason": None, "stop_source": "", "detail": "", "conclusion": None}
"""What is said of the end of a run that has not ended."""


def _without_secrets(value: Any) -> Any:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def versions() -> dict[str, str]:
    """Of Python and of the packages on which a run's course rests, as they are now."""
    return {"python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def public(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, or some of them, as they may be written down: without passwords and credentials in addresses."""
    shown: dict[str, Any] = _without_secrets(dict(settings))
    if isinstance(place := settings.get("checkpoints"), str):
        shown["checkpoints"] = without_password(place)  # user and database stay: whoever resumes needs them
    return shown


class Participant(Stored):
    """Who took part."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    description: str = ""
    human: bool = False


class RecordedScenario(Kept):
    """What a run was about; what is not named here is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    topic: str
    participants: list[Participant]


class RecordedSettings(Kept):
    """How a run was made; the settings that are not named here are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: str = "discussion"
    pattern: str = "need_to_talk"
    baseline: str | None = None
    max_messages: Count | None = None
    model: str | None = None


class JudgementCounts(Stored):
    """How often a module of minds was asked for a judgement, and how they came out."""

    asked: Count = Field(description="judgements asked for")
    valid: Count = Field(default=0, description="right at first try")
    again: Count = Field(default=0, description="right when it was asked for again")
    corrected: Count = Field(default=0, description="a number was moved into its range, or a list put right")
    failed: Count = Field(default=0, description="of no use twice, so that things stayed as they were")


class Branch(Kept):
    """Where a run has its past from."""

    of: str
    turn: Turn
    why: str = ""
    """"branch" or "regenerate"."""
    changed: Any = None
    """Settings, or whatever else is not as it was."""


class Resumed(Stored):
    """When a run was taken up again after it had stopped."""

    at: str = ""
    turn: Turn | None = None
    changed: dict[str, Any] = {}
    """Settings that are no longer as they were, with their new values."""
    before: dict[str, Any] = Field(default={}, exclude=True)
    """Their old values."""
    reopened: bool = Field(default=False, exclude=True)
    """Whether it went on as it was beyond an end that its own rules had found."""


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
    """How often what was put right in an utterance; never read."""
    silences: Count = 0
    """How often somebody was silent for a turn."""
    usage: Usage = Usage()
    judgements: dict[str, JudgementCounts] = {}
    """By module, how the judgements of minds came out; not there where there are none."""

    @classmethod
    def up_to_date(cls, value: Any) -> Any:
        """What run.json says, with the settings by their current names; anything else as it is."""
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
        """What is known of a run when it begins.

        Args:
            run: its id.
            scenario: who talks about what.
            settings: how.
            started: when, ISO 8601.
            branch: of a run that shares another's past: where it has it from.
        """
        models = {
            participant.name: {
                module: settings.model_for(participant.name, module) for module in MODULES if module not in OUTSIDE
            }
            for participant in scenario.participants
        }
        outside = {module: settings.model_for("", module) for module in OUTSIDE}
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
        """The same with other values, as JSON has them; all else stays as it was given."""
        return self.model_validate({**self.given, **values})

    def going_on(
        self, *, at: str, turn: int, settings: Settings, changed: Mapping[str, Any], silences: int, reopened: bool
    ) -> Self:
        """Of a run that goes on: it has not ended, and says that it was resumed.

        Args:
            at: when, ISO 8601.
            turn: utterances so far.
            settings: with which it goes on.
            changed: those of the settings that are not as they were, with their new values.
            silences: how often somebody was silent so far.
            reopened: whether it goes on as it was beyond an end that its own rules had found.
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
        """Of a run while it goes on, after every turn: a killed run has told what it used.

        Args:
            turn: utterances so far.
            rows: what was used so far, as accounting rows.
            corrections: how often what was put right in an utterance.
            silences: how often somebody was silent for a turn.
            judgements: by module, how the judgements of minds came out (`outcomes.by_module`).
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
        """Of a run that is over, whose progress is in it already.

        Args:
            ended: when, ISO 8601.
            stopped: the run's last event.
        """
        return self.with_values(
            ended=ended,
            stop_reason=stopped.reason,
            stop_source=stopped.source,
            detail=stopped.detail,
            conclusion=stopped.conclusion.model_dump() if stopped.conclusion else None,
        )

    def check_complete(self, where: str) -> None:
        """Refuse a run.json that does not say all that a run needs to go on.

        Args:
            where: the file, for the error.

        Raises:
            InputError: something is missing, or null.
        """
        if missing := [key for key in _Needed.model_fields if key not in self.given]:
            raise InputError(f"{missing[0]} is missing", where=where, remedy="Take the file from a backup.")
        checked(_Needed, self.given, where)

    def written(self) -> bytes:
        """The file's bytes."""
        return (json.dumps(self.given, ensure_ascii=False, indent=2) + "\n").encode()

    @property
    def names(self) -> list[str]:
        """The participants, in order of listing."""
        return [participant.name for participant in self.scenario.participants]

    @property
    def people(self) -> list[str]:
        """Those of the participants who are people."""
        return [participant.name for participant in self.scenario.participants if participant.human]


def _with_current_names(value: Any, *keys: str) -> Any:
    """A mapping with the settings under these keys by their current names; anything else as it is."""
    if not isinstance(value, dict):
        return value
    named = {
        key: with_current_names(value[key], FORMER_NAMES, hint=False)
        for key in keys
        if isinstance(value.get(key), dict)
    }
    return {**value, **named}


def _no_path(run: str) -> str:
    """A run's id, which is a folder's name where the run is made again."""
    if run in ("", ".", "..") or set(run) & {"/", "\\", "\0"}:
        raise ValueError("this is no run's id")
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
    """What may be neither absent nor null where a run goes on, though a run without it can be shown."""

    run: Annotated[str, Field(max_length=200), AfterValidator(_no_path)]
    state_version: Annotated[int, Field(strict=True)]
    scenario: dict[str, Any]
    settings: dict[str, Any]
    turn: Turn
    resumed: list[_NeededResumed]
    branch: _NeededBranch | None
    stop_reason: str | None
    silences: Count
