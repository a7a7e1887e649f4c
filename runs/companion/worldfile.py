"""world.json and place.yaml: what a world is, with which settings it was last opened, and what time it is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from persimchat.graph.companion.attending import refuse_others
from persimchat.graph.companion.companion import COMPANION
from persimchat.personas.place_file import load_place, place_text
from persimchat.prompts import prompt_hash
from persimchat.runs.companion.served import SERVED, served_at
from persimchat.runs.folder.jsonl import checked, parsed, unreadable
from persimchat.runs.folder.lock import held
from persimchat.runs.folder.manifest import public, versions
from persimchat.state.configuration import load_settings
from persimchat.state.errors import InputError, MachineError
from persimchat.state.place import Place
from persimchat.state.settings import Settings

WORLD, PLACE = "world.json", "place.yaml"
"""The files of a world that say what it is."""
FORMAT: Final = 1
"""Version of a world's files."""

_OF_FOLDERS: Final = frozenset({"store", "checkpoints"})
"""Settings that say nothing here: a world keeps everything in its folder."""
_OF_PAIRS: Final = frozenset({"world", "agent", "person"})
"""Settings of `companion` that are chosen when a talk begins."""


class WorldFile(BaseModel):
    """world.json."""

    model_config = ConfigDict(extra="allow")

    format: int = Field(strict=True, ge=1)
    world: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", description="its id; a copied folder keeps it")
    made: str = Field(description="ISO local time")
    embedding: str = Field(description="of all memories")
    settings: dict[str, Any] = Field(default_factory=dict, description="those given when it was last opened")
    prompt_hash: str = ""
    versions: dict[str, str] = {}
    time: str = Field(default="", description="of a game's clock or one of steps, ISO")
    ahead_s: float = Field(default=0.0, description="of a wall clock: seconds ahead of the machine's")


def new_file(folder: Path, settings: Settings, now: str) -> WorldFile:
    """The world.json of a world that begins.

    Args:
        folder: its name becomes the world's id.
        settings: with which it begins.
        now: ISO local time.
    """
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", folder.resolve().name).strip("-")[:64]
    return WorldFile(format=FORMAT, world=name or "companion", made=now, embedding=settings.embedding)


def opened_with(file: WorldFile, settings: Settings) -> WorldFile:
    """world.json with what counts for this opening."""
    given = {
        name: value
        for name, value in settings.model_dump(mode="json", exclude_unset=True).items()
        if name not in _OF_FOLDERS
    }
    given["companion"] = {name: value for name, value in given.get("companion", {}).items() if name not in _OF_PAIRS}
    return file.model_copy(
        update={"format": FORMAT, "settings": public(given), "prompt_hash": prompt_hash(), "versions": versions()}
    )


def is_world(folder: Path) -> bool:
    """Whether a folder holds a world."""
    return (folder / WORLD).is_file()


def read_world(folder: Path) -> WorldFile:
    """The world.json of a folder. Blocks.

    Raises:
        InputError: there is none, it is damaged, or a newer version wrote it.
    """
    path = folder / WORLD
    try:
        found = parsed(path.read_bytes(), str(path))
    except FileNotFoundError:
        raise InputError(
            "there is no world in this folder",
            where=str(folder),
            remedy="Give the folder of a world, or begin one: persimchat companion talk PLACE --person NAME.",
        ) from None
    except OSError as error:
        raise unreadable(path, error) from error
    written = found.get("format") if isinstance(found, dict) else None
    if isinstance(written, int) and written > FORMAT:
        raise InputError(
            f"a newer version of PerSimChat wrote this world (format {written}; this version knows {FORMAT})",
            where=str(path),
            remedy="Open it with that version, or a newer one.",
        )
    return checked(WorldFile, found, str(path))


def write_world(folder: Path, file: WorldFile) -> None:
    """Write world.json; a reader sees the old file or the new one. Blocks for less than a millisecond.

    Raises:
        MachineError: it cannot be written.
    """
    text = json.dumps(file.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
    _replace(folder / WORLD, text)


def read_place(folder: Path) -> Place:
    """The place of a world. Blocks.

    Raises:
        InputError: the file is missing or wrong.
    """
    return load_place(folder / PLACE)


def write_place(folder: Path, place: Place) -> None:
    """Write the place of a world, with its personas written out. Blocks.

    Raises:
        InputError: no place file can hold it.
        MachineError: it cannot be written.
    """
    _replace(folder / PLACE, place_text(place))


def companion_settings(
    place: Place, kept: Mapping[str, Any] | None = None, file: Path | None = None, **arguments: Any
) -> Settings:
    """The settings of a companion: its defaults < the place's < those kept < file < environment < arguments.

    Args:
        place: its settings count.
        kept: settings with which the world was last opened (`WorldFile.settings`).
        file: a YAML file of settings.
        **arguments: settings by name.

    Raises:
        InputError: a setting is invalid.
    """
    given = {**COMPANION, **place.settings, **(kept or {})}
    for name in ("companion", "weights"):
        sources = (COMPANION, place.settings, kept or {})
        parts = [part for source in sources if isinstance(part := source.get(name), Mapping)]
        if parts:
            given[name] = {key: value for part in parts for key, value in part.items()}
    made = load_settings(file, scenario=given, **arguments)
    refuse_others(made)
    return made


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a world while the body runs.

    Raises:
        InputError: another process works on it; the error says where it is served.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(held(folder, "world"))
        except InputError as error:
            if address := served_at(folder):
                raise InputError(error.what, where=error.where, remedy=f"Talk there: {address}") from error
            raise
        (folder / SERVED).unlink(missing_ok=True)  # of a server that was killed
        yield


def make_room(folder: Path, place: Place | None) -> None:
    """Make the folder of a new world."""
    if is_world(folder):
        return
    if place is None:
        read_world(folder)  # says that there is none
    try:
        folder.mkdir(parents=True, exist_ok=True)
        strange = [entry.name for entry in folder.iterdir() if entry.name not in ("run.lock", "run.pid", "place.yaml")]
    except OSError as error:
        raise InputError(
            f"the world's folder cannot be made: {error.strerror}",
            where=str(folder),
            remedy="Choose a folder that you may write to.",
        ) from error
    if strange:
        raise InputError(
            "the folder is not empty, and holds no world",
            where=str(folder),
            remedy="Choose another folder for the world.",
        )


def known_world(folder: Path, place: Place | None, settings: Settings | None) -> tuple[WorldFile, Place, Settings]:
    """world.json, the place and the settings of a world; of a new one, they are written."""
    if is_world(folder):
        file = read_world(folder)
        kept = read_place(folder)
        return file, kept, settings or companion_settings(kept, file.settings)
    assert place is not None
    used = settings or companion_settings(place)
    write_place(folder, place)
    file = new_file(folder, used, local_time(datetime.now()))
    write_world(folder, file)
    return file, place, used


def local_time(at: datetime) -> str:
    """A time as it is kept: ISO, to the second, without a zone."""
    return at.replace(microsecond=0, tzinfo=None).isoformat()


def _replace(path: Path, text: str) -> None:
    beside = path.with_name(path.name + ".new")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise MachineError.caused_by(error, "cannot be written", str(path)) from error
