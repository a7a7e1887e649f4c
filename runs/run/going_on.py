"""Shared by resuming and branching: reads the scenario, the settings and the past of a run from its folder."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from persimchat.memory.chroma_client import EPHEMERAL
from persimchat.models.naming import default_model_name
from persimchat.personas.names import with_full_names
from persimchat.runs.events import Event, Started
from persimchat.runs.folder.checkpoints import CHECKPOINTS
from persimchat.runs.folder.manifest import STATE_VERSION, STATE_VERSIONS, Manifest
from persimchat.runs.folder.past import past_events
from persimchat.runs.folder.reading import read_manifest, read_run
from persimchat.runs.folder.run_folder import MANIFEST, TRANSCRIPT
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

NO_END: Final = {"stop_reason": "", "stop_source": "", "stop_detail": "", "conclusion": None, "streaks": None}
"""Channel values of a conversation that has not ended; modules that failed are asked again."""
NO_LEAVE: Final = {"closing": "", "closing_since": 0}
"""Channel values of a conversation in which nobody takes leave."""


_FIRST_KEPT: Final = 2
"""The first format of run folders with checkpoints."""


def manifest_of(folder: Path) -> Manifest:
    """Read run.json of a run that can continue. Blocks.

    Raises:
        InputError: this is not a run's folder, its version cannot be resumed, or it kept no checkpoints.
    """
    manifest = read_manifest(folder)
    if manifest.format >= _FIRST_KEPT:
        manifest.check_complete(str(folder / MANIFEST))
    by = f"PerSimChat {manifest.versions.get('persimchat', 'of another version')}"
    if manifest.format < _FIRST_KEPT:
        raise InputError(
            f"the run was made by {by}, which kept no checkpoints: it can be shown and exported, but not resumed",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    if manifest.state_version not in STATE_VERSIONS:
        raise InputError(
            f"the run's state has version {manifest.state_version}; this PerSimChat knows only {STATE_VERSION}",
            where=str(folder),
            remedy=f"Use the version that made it: {by}.",
        )
    kept = manifest.settings.given.get("checkpoints")
    if kept == "memory" or (kept == "run" and has_begun(folder, manifest) and not (folder / CHECKPOINTS).is_file()):
        raise InputError(
            "the run's checkpoints ended with its process" if kept == "memory" else "the run's checkpoints are gone",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )
    return manifest


def has_begun(folder: Path, manifest: Manifest) -> bool:
    """Whether the run has utterances; one that was killed before it kept any begins again."""
    transcript = folder / TRANSCRIPT
    return bool(manifest.turn) or (transcript.is_file() and transcript.stat().st_size > 0)


def check_memories(manifest: Manifest, folder: Path) -> None:
    """Refuse to continue a run whose memories are gone.

    Raises:
        InputError: only its process kept them.
    """
    if manifest.settings.given.get("store") == EPHEMERAL:
        raise InputError(
            "the run's memories ended with its process (store=ephemeral)",
            where=str(folder),
            remedy="Start a new run with its scenario and settings.",
        )


def scenario_of(manifest: Manifest, folder: Path) -> Scenario:
    """The scenario of a run that continues.

    Raises:
        InputError: it does not fit this version.
    """
    try:
        return Scenario.model_validate(manifest.scenario.given)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"the run's scenario does not fit this version: {first['msg']}",
            where=f"{folder / MANIFEST}, field scenario.{field}",
            remedy="Use the version that made it.",
        ) from None


def settings_of(manifest: Manifest, changes: Mapping[str, Any]) -> Settings:
    """The settings with which a run continues: its own, overridden by the changes.

    A password that run.json does not hold is taken from the environment (`PERSIMCHAT_CHECKPOINTS`).

    Raises:
        InputError: a change is invalid, or the settings do not fit this version.
    """
    recorded = dict(manifest.settings.given)
    server = recorded.get("checkpoints", "")
    if isinstance(server, str) and "checkpoints" not in changes:
        recorded["checkpoints"] = with_own_password(server)
    settings = load_settings(environment={}, scenario=recorded, **changes)
    settings = settings.model_copy(update={"model": default_model_name(settings.model)[0]})
    return with_full_names(settings, manifest.names)


def with_own_password(checkpoints: str) -> str:
    """The address of a server of checkpoints with the password that the environment has (`PERSIMCHAT_CHECKPOINTS`).

    Args:
        checkpoints: the setting, without a password; another place than a server is returned as it is.
    """
    own = load_settings().checkpoints if "://" in checkpoints else checkpoints
    return own if "://" in own else checkpoints


def changed_settings(manifest: Manifest, settings: Settings) -> dict[str, Any]:
    """The settings that differ from run.json, with their new values.

    A setting that run.json does not name had its default.
    """
    before = {**Settings().model_dump(mode="json"), **manifest.settings.given}
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if name != "checkpoints" and before.get(name) != value
    }


def refuse_out_of_turn(state: Mapping[str, Any], wanted: Sequence[Mapping[str, Any]], source: Path) -> None:
    """Refuse words of a story's character whose turn it is not: rooms and their order are part of the shared past.

    Args:
        state: of a story; nothing is refused in other conversations.
        wanted: the interventions with which a branch begins.
        source: the folder of the run that is branched.

    Raises:
        InputError: a character is to speak that is not the next one.
    """
    act = state.get("act")
    if act is None:
        return
    speakers = {one.get("speaker") or one.get("agent") for one in wanted} - {None, ""}
    next_ = act["who"] if act["do"] == "speak" else []
    for speaker in speakers:
        if speaker not in next_:
            room = " and ".join(state["rooms"][act["room"]]["members"]) if act["room"] else ""
            told = f"{next_[0]} speaks next, in the room of {room}" if next_ else "all speak at once there"
            raise InputError(
                f"{speaker} cannot speak there: {told}",
                where=str(source),
                remedy="Choose the speaker, another turn, or let the Moderator say it.",
            )


async def past_of(folder: Path, *, notice: str = "") -> list[Event]:
    """The past of a run as events, without `stopped`.

    Args:
        folder: the folder of the run.
        notice: the notice of `started`, for people.
    """

    def read() -> list[Event]:
        record = read_run(folder)
        past = list(past_events(record, upto=record.utterances[-1].turn if record.utterances else 0))
        return [e.model_copy(update={"notice": notice}) if isinstance(e, Started) else e for e in past]

    return await asyncio.to_thread(read)
