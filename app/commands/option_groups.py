"""What a user asks for on the command line. It imports little, so that a wrong option is reported at once.

The fields of these classes are options: a command takes one such class in place of one parameter per option
(`setting_command.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from ...state.folders import RESULTS
from . import options
from .options import option

SETTINGS: Final = "the options of settings"

SettingOptions = Annotated[Mapping[str, Any], SETTINGS]
"""A field that stands for all options of settings: it holds those that were given, by the setting's name."""


@dataclass(frozen=True)
class Wanted:
    """The conversation that the user asked for; None or empty for what was not given."""

    topic: Annotated[str | None, option("topic")] = None
    scenario: Annotated[Path | None, option("scenario_file")] = None
    participants: options.Participants = None
    number: Annotated[int | None, option("number")] = None
    humans: options.Humans = None
    arguments: SettingOptions = field(default_factory=dict)
    settings: options.SettingsFile = None
    assignments: options.Assignments = None


@dataclass(frozen=True)
class WantedDebate(Wanted):
    """The debate that the user asked for."""

    topic: Annotated[str | None, option("question")] = None


@dataclass(frozen=True, kw_only=True)
class WantedStory:
    """The story that the user asked for."""

    file: Annotated[str, option("story_file")]
    humans: options.Humans = None
    arguments: SettingOptions = field(default_factory=dict)
    settings: options.SettingsFile = None
    assignments: options.Assignments = None


@dataclass(frozen=True, kw_only=True)
class WantedTalk:
    """The talk with a companion that the user asked for."""

    place: options.Place
    person: Annotated[str, option("person")]
    agent: Annotated[str | None, option("agent")] = None
    world: options.World = None
    stranger: Annotated[bool, option("stranger")] = False
    reembed: Annotated[bool, option("reembed")] = False
    arguments: SettingOptions = field(default_factory=dict)
    settings: options.SettingsFile = None
    assignments: options.Assignments = None


@dataclass(frozen=True, kw_only=True)
class WantedServed:
    """The companions' world that the user wants to be served."""

    place: options.Place
    world: options.World = None
    host: options.Host = options.HOST
    name: options.Name = None
    port: options.Port = options.PORT
    udp: Annotated[str | None, option("udp")] = None
    udp_reply: Annotated[int | None, option("udp_reply")] = None
    person: Annotated[str, option("default_person")] = "guest"
    client_system: Annotated[Literal["data", "ignore"], option("client_system")] = "data"
    out: options.Out = options.OUT
    library: options.Library = options.LIBRARY
    results: options.Results = RESULTS
    arguments: SettingOptions = field(default_factory=dict)
    settings: options.SettingsFile = None
    assignments: options.Assignments = None


@dataclass(frozen=True)
class WantedAgain:
    """The run that the user wants to continue, and what changes from there on."""

    run: options.OneRun
    arguments: SettingOptions = field(default_factory=dict)
    assignments: Annotated[list[str] | None, option("changes")] = None


@dataclass(frozen=True)
class Shown:
    """How the conversation is shown, and where it is kept."""

    moderate: Annotated[bool, option("moderate")] = False
    out: options.Out = options.OUT
    as_json: options.Json = False
    quiet: options.Quiet = False


@dataclass(frozen=True)
class WantedAsking:
    """How models are asked about conversations that are over, and how the answers are shown."""

    with_people: Annotated[bool, option("with_people")] = False
    budget_calls: options.BudgetCalls = None
    budget_tokens: options.BudgetTokens = None
    budget_usd: options.BudgetUsd = None
    settings: options.SettingsFile = None
    assignments: options.Assignments = None
    yes: options.Yes = False
    as_json: options.JsonObject = False

    @property
    def budgets(self) -> dict[str, float | None]:
        """The budgets by their settings."""
        return {name: getattr(self, name) for name in ("budget_calls", "budget_tokens", "budget_usd")}
