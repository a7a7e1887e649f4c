"""The lines and the manifest of a run's folder, as they are read back.

What older versions did not write yet has a default that says so (None, or empty), and what newer ones add is ignored.
The writing side is in `runs/events.py`, `runs/folder/manifest.py` and `runs/folder/run_folder.py`.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from persimchat.runs.events import Concluded
from persimchat.runs.folder.stored import Count, Seconds, Stored, Turn
from persimchat.runs.folder.totals import Totals
from persimchat.state.setting import with_current_names
from persimchat.state.settings import FORMER_NAMES


def with_current_settings(manifest: Any) -> Any:
    """What run.json says, with the settings by their current names; anything else as it is."""

    def current(value: Any, *keys: str) -> Any:
        if not isinstance(value, dict):
            return value
        named = {
            key: with_current_names(value[key], FORMER_NAMES, hint=False)
            for key in keys
            if isinstance(value.get(key), dict)
        }
        return {**value, **named}

    found = current(manifest, "settings")
    if isinstance(found, dict) and isinstance(found.get("resumed"), list):
        found["resumed"] = [current(entry, "changed", "before") for entry in found["resumed"]]
    if isinstance(found, dict) and "branch" in found:
        found["branch"] = current(found["branch"], "changed")
    return found


class RecordedIntervention(Stored):
    """One line of control.jsonl: what somebody did to the conversation, with whatever belongs to it."""

    model_config = ConfigDict(frozen=True, extra="allow")

    turn: Turn
    do: str

    @property
    def more(self) -> dict[str, Any]:
        """Everything in it beside turn and deed."""
        return dict(self.model_extra or {})


class RecordedCall(Stored):
    """One line of calls.jsonl: a request to a model, without what was asked and answered."""

    turn: Turn | None = None
    agent: str = ""
    module: str
    model: str
    n: Count | None = None
    calls: Annotated[int, Field(ge=0, le=1)] = 1
    seconds: Seconds | None = None
    input_tokens: Count = 0
    output_tokens: Count = 0
    cached_tokens: Count = 0
    estimated: bool = False
    cost_usd: Seconds | None = None
    failed: str | None = None


class Participant(Stored):
    """Who took part."""

    model_config = ConfigDict(frozen=True, extra="allow")

    name: str
    description: str = ""
    human: bool = False


class RecordedScenario(Stored):
    """What a run was about; what is not named here is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")

    topic: str
    participants: list[Participant]


class RecordedSettings(Stored):
    """How a run was made; the settings that are not named here are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    mode: str = "discussion"
    pattern: str = "need_to_talk"
    baseline: str | None = None
    max_messages: Count | None = None
    model: str | None = None


class UsageRow(BaseModel):
    """What one module used for one agent with one model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    agent: str
    module: str
    model: str
    calls: Count
    input_tokens: Count
    output_tokens: Count
    cached_tokens: Count = Field(default=0, exclude_if=lambda value: not value)
    estimated: bool
    cost_usd: float | None = None


class JudgementCounts(Stored):
    """How often a module of minds was asked for a judgement, and how they came out."""

    asked: Count = Field(description="judgements asked for")
    valid: Count = Field(default=0, description="right at first try")
    again: Count = Field(default=0, description="right when it was asked for again")
    corrected: Count = Field(default=0, description="a number was moved into its range, or a list put right")
    failed: Count = Field(default=0, description="of no use twice, so that things stayed as they were")


class Usage(Stored):
    """What a run used; empty while it goes on."""

    total: Totals | None = None
    by_module: dict[str, Totals] = {}
    by_agent: dict[str, Totals] = {}
    rows: list[UsageRow] = []


class Branch(Stored):
    """Where a run has its past from."""

    of: str
    turn: Turn
    why: str = ""
    changed: Any = None


class Resumed(Stored):
    """When a run was taken up again after it had stopped."""

    at: str = ""
    turn: Turn | None = None
    changed: dict[str, Any] = {}
    """Settings that are no longer as they were, with their new values."""


class Manifest(Stored):
    """run.json."""

    run: str
    started: str = ""
    ended: str | None = None
    stop_reason: str | None = None
    stop_source: str = ""
    detail: str = ""
    turn: Turn = 0
    seed: int | None = None
    scenario: RecordedScenario
    settings: RecordedSettings = RecordedSettings()
    models: dict[str, Any] = {}
    outside_models: dict[str, Any] = {}
    prompt_hash: str = ""
    versions: dict[str, str] = {}
    conclusion: Concluded | None = None
    usage: Usage = Usage()
    judgements: dict[str, JudgementCounts] = {}
    state_version: int | None = None
    branch: Branch | None = None
    resumed: list[Resumed] = []

    @model_validator(mode="before")
    @classmethod
    def _current(cls, value: Any) -> Any:
        return with_current_settings(value)

    @property
    def people(self) -> list[str]:
        """Those of the participants who are people."""
        return [participant.name for participant in self.scenario.participants if participant.human]
