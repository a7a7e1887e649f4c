"""What resuming and branching have in common: a run's scenario and settings as its folder says, and its past."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from persimchat.memory.chroma_client import EPHEMERAL
from persimchat.models.naming import default_model_name
from persimchat.personas.names import with_full_names
from persimchat.runs.checkpoints import CHECKPOINTS
from persimchat.runs.events import Event
from persimchat.runs.folder import MANIFEST, RUN_FORMAT, TRANSCRIPT
from persimchat.runs.history import states_at
from persimchat.runs.manifest import STATE_VERSION
from persimchat.runs.past import past_events
from persimchat.runs.reading import read_manifest, read_run
from persimchat.runs.rebuild import Rebuilt, add_minds
from persimchat.runs.records import mind_records
from persimchat.runs.workplace import Workplace
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

NO_END: Final = {"stop_reason": "", "stop_source": "", "stop_detail": "", "conclusion": None}
"""The channels of a conversation that has not ended."""
NO_LEAVE: Final = {"closing": "", "closing_since": 0}
"""Those of one in which nobody takes leave."""

_NEEDED: Final = ("state_version", "scenario", "settings", "turn", "resumed", "branch", "stop_reason", "silences")
"""What run.json has to say for a run to go on."""

_FIRST_KEPT: Final = 2
"""The first format of a run's folder with checkpoints."""


def manifest_of(folder: Path) -> dict[str, Any]:
    """A run's run.json, of a run that can go on. Blocks.

    Raises:
        InputError: this is no run's folder, or one of a version from which nothing goes on, or it kept no checkpoints.
    """
    read_manifest(folder)  # says what is wrong with it
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    if manifest["format"] >= _FIRST_KEPT and (missing := [key for key in _NEEDED if key not in manifest]):
        raise InputError(
            f"{missing[0]} is missing", where=str(folder / MANIFEST), remedy="Take the file from a backup."
        )
    by = f"PerSimChat {(manifest.get('versions') or {}).get('persimchat', 'of another version')}"
    if manifest["format"] < _FIRST_KEPT:
        raise InputError(
            f"the run was made by {by}, which kept no checkpoints: it can be shown and exported, but not go on",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    if manifest["format"] > RUN_FORMAT or manifest["state_version"] != STATE_VERSION:
        raise InputError(
            f"the run's state has version {manifest['state_version']}, and only {STATE_VERSION} is known here",
            where=str(folder),
            remedy=f"Go on with the version that made it: {by}.",
        )
    kept = manifest["settings"]["checkpoints"]
    if kept == "memory" or (kept == "run" and has_begun(folder, manifest) and not (folder / CHECKPOINTS).is_file()):
        raise InputError(
            "the run kept no checkpoints that outlived its process"
            if kept == "memory"
            else "the run's checkpoints are gone",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    return manifest


def has_begun(folder: Path, manifest: Mapping[str, Any]) -> bool:
    """Whether anything was said; a run that was killed before it kept anything begins once more."""
    transcript = folder / TRANSCRIPT
    return bool(manifest["turn"]) or (transcript.is_file() and transcript.stat().st_size > 0)


def check_memories(manifest: Mapping[str, Any], folder: Path) -> None:
    """Refuse to go on with a run whose memories are gone.

    Raises:
        InputError: they were kept by its process alone.
    """
    if manifest["settings"].get("store") == EPHEMERAL:
        raise InputError(
            "the run's memories did not outlive its process (store=ephemeral)",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )


def scenario_of(manifest: Mapping[str, Any], folder: Path) -> Scenario:
    """The scenario of a run that goes on.

    Raises:
        InputError: it does not fit this version.
    """
    try:
        return Scenario.model_validate(manifest["scenario"])
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"the run's scenario does not fit this version: {first['msg']}",
            where=f"{folder / MANIFEST}, field scenario.{field}",
            remedy="Go on with the version that made it.",
        ) from None


def settings_of(manifest: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """The settings with which a run goes on: as they were, then what is changed.

    A password that run.json does not hold is taken from the environment (`PERSIMCHAT_CHECKPOINTS`).

    Raises:
        InputError: a change is wrong, or they do not fit this version.
    """
    recorded = dict(manifest["settings"])
    server = recorded.get("checkpoints", "")
    if "://" in server and "checkpoints" not in changes:
        own = load_settings().checkpoints
        recorded["checkpoints"] = own if "://" in own else server
    settings = load_settings(environment={}, scenario=recorded, **changes)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0]})
    return with_full_names(settings, [person["name"] for person in manifest["scenario"]["participants"]])


def changed_settings(before: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Those settings that are not as run.json says, with their new values."""
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if name != "checkpoints" and before.get(name) != value
    }


async def complete_minds(folder: Path, place: Workplace, rebuilt: Rebuilt) -> None:
    """Write what minds.jsonl and judge_mind.jsonl lack, from the states of then."""
    lacking = {False: rebuilt.minds, True: rebuilt.judge_minds}
    turns = {turn for missing in lacking.values() for turn in missing}
    states = await states_at(place.graph, place.config, turns, first=True) if turns else {}
    for judge, missing in lacking.items():
        records = [
            record
            for turn in missing
            for record in await mind_records(states[turn].values, place.settings, judge=judge)
        ]
        if records:
            await asyncio.to_thread(add_minds, folder, records, judge=judge)


async def past_of(folder: Path) -> list[Event]:
    """A run's past as events, without `stopped`."""

    def read() -> list[Event]:
        record = read_run(folder)
        return list(past_events(record, upto=record.utterances[-1].turn if record.utterances else 0))

    return await asyncio.to_thread(read)


def remembered(mind: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that a mind needs to go on: those alive, and those recalled last.

    What was recalled is shown in the next prompts, though it may have been forgotten since.
    """
    return list(dict.fromkeys([*mind["alive"], *(recalled["id"] for recalled in mind["recalled"])]))
