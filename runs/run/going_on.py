"""What resuming and branching have in common: a run's scenario and settings as its folder says, and its past."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from persimchat.memory.chroma_client import EPHEMERAL
from persimchat.models.naming import default_model_name
from persimchat.personas.names import with_full_names
from persimchat.runs.events import Event, Started
from persimchat.runs.folder.checkpoints import CHECKPOINTS
from persimchat.runs.folder.jsonl import checked
from persimchat.runs.folder.manifest import STATE_VERSION, STATE_VERSIONS
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import manifest_in, read_run
from persimchat.runs.folder.rebuild import Rebuilt, add_minds
from persimchat.runs.folder.recorded import Manifest, with_current_settings
from persimchat.runs.folder.records import mind_records
from persimchat.runs.folder.run_folder import MANIFEST, RUN_FORMAT, TRANSCRIPT
from persimchat.runs.folder.stored import Count, Turn
from persimchat.runs.run.history import states_at
from persimchat.runs.run.resources import RunResources
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

NO_END: Final = {"stop_reason": "", "stop_source": "", "stop_detail": "", "conclusion": None, "streaks": None}
"""The channels of a conversation that has not ended; modules that failed get another chance."""
NO_LEAVE: Final = {"closing": "", "closing_since": 0}
"""Those of one in which nobody takes leave."""


def _no_path(run: str) -> str:
    """A run's id, which is a folder's name where the run is made again."""
    if run in ("", ".", "..") or set(run) & {"/", "\\", "\0"}:
        raise ValueError("this is no run's id")
    return run


class _Resumed(BaseModel):
    turn: Turn
    changed: dict[str, Any]
    before: dict[str, Any]


class _Branch(BaseModel):
    of: str
    turn: Turn
    why: str
    changed: Any = None


class _Needed(BaseModel):
    """What run.json has to say for a run to go on; of what else is in it, `Manifest` has looked at the form."""

    run: Annotated[str, Field(max_length=200), AfterValidator(_no_path)]
    state_version: Annotated[int, Field(strict=True)]
    scenario: dict[str, Any]
    settings: dict[str, Any]
    turn: Turn
    resumed: list[_Resumed]
    branch: _Branch | None
    stop_reason: str | None
    silences: Count


_FIRST_KEPT: Final = 2
"""The first format of a run's folder with checkpoints."""


def manifest_of(folder: Path) -> dict[str, Any]:
    """A run's run.json, of a run that can go on. Blocks.

    Raises:
        InputError: this is no run's folder, or one of a version from which nothing goes on, or it kept no checkpoints.
    """
    manifest: dict[str, Any] = with_current_settings(manifest_in(folder))
    checked(Manifest, manifest, str(folder / MANIFEST))  # says what is wrong with it
    if manifest["format"] >= _FIRST_KEPT:
        if missing := [key for key in _Needed.model_fields if key not in manifest]:
            raise InputError(
                f"{missing[0]} is missing", where=str(folder / MANIFEST), remedy="Take the file from a backup."
            )
        checked(_Needed, manifest, str(folder / MANIFEST))
    by = f"PerSimChat {(manifest.get('versions') or {}).get('persimchat', 'of another version')}"
    if manifest["format"] < _FIRST_KEPT:
        raise InputError(
            f"the run was made by {by}, which kept no checkpoints: it can be shown and exported, but not go on",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    if manifest["format"] > RUN_FORMAT or manifest["state_version"] not in STATE_VERSIONS:
        raise InputError(
            f"the run's state has version {manifest['state_version']}, and only {STATE_VERSION} is known here",
            where=str(folder),
            remedy=f"Go on with the version that made it: {by}.",
        )
    kept = manifest["settings"].get("checkpoints")
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
    if isinstance(server, str) and "://" in server and "checkpoints" not in changes:
        own = load_settings().checkpoints
        recorded["checkpoints"] = own if "://" in own else server
    settings = load_settings(environment={}, scenario=recorded, **changes)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0]})
    return with_full_names(settings, [person["name"] for person in manifest["scenario"]["participants"]])


def changed_settings(before: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Those settings that are not as run.json says, with their new values.

    A setting that run.json does not name yet had, in effect, its default.
    """
    before = {**Settings().model_dump(mode="json"), **before}
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if name != "checkpoints" and before.get(name) != value
    }


async def complete_minds(folder: Path, place: RunResources, rebuilt: Rebuilt, *, since: int = 0) -> list[int]:
    """Write what minds.jsonl and judge_mind.jsonl lack, from the states of then.

    Args:
        folder: the run's.
        place: what holds the states.
        rebuilt: what is lacking.
        since: the first turn of which there is a state: a branch has none of the past that it shares.

    Returns:
        The turns that stay lacking.
    """
    every = {False: rebuilt.minds, True: rebuilt.judge_minds}
    lacking = {judge: [turn for turn in missing if turn >= since] for judge, missing in every.items()}
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
    return sorted({turn for missing in every.values() for turn in missing if turn < since})


async def past_of(folder: Path, *, notice: str = "") -> list[Event]:
    """A run's past as events, without `stopped`.

    Args:
        folder: the run's.
        notice: what `started` says to people.
    """

    def read() -> list[Event]:
        record = read_run(folder)
        past = list(past_events(record, upto=record.utterances[-1].turn if record.utterances else 0))
        return [e.model_copy(update={"notice": notice}) if isinstance(e, Started) else e for e in past]

    return await asyncio.to_thread(read)


def remembered(mind: Mapping[str, Any]) -> list[str]:
    """Ids of the memories that a mind needs to go on: those alive, and those recalled last.

    What was recalled is shown in the next prompts, though it may have been forgotten since.
    """
    return list(dict.fromkeys([*mind["alive"], *(recalled["id"] for recalled in mind["recalled"])]))
