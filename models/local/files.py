"""The folder of model files and its index: the files, their names, and their origin."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from platformdirs import user_cache_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...state.errors import InputError, suggestion
from ..naming import SMOLLM2, ModelName, hub_parts, shown

FOLDER_VARIABLE: Final = "PERSIMCHAT_MODELS"
"""Environment variable that names another folder for model files."""

_INDEX: Final = "index.json"
_SHARED_WAIT_S: Final = 1.0


class Stored(BaseModel):
    """One model file, as the index keeps it.

    Attributes:
        name: the model's name: `smollm2` or `hf:OWNER/REPO/FILE.gguf`.
        file: its path within the folder.
        size: bytes.
        sha256: of the file, pinned at the first download.
        source: its origin: a package and its version, or the hub's address.
        revision: the hub's commit, pinned at the first download; empty for packages.
        licence: as package or file state it; empty if they do not.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    file: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    source: str
    revision: str = ""
    licence: str = ""


def cached(name: str) -> Path:
    """A file or folder in the user's cache, which need not exist.

    For a user without a home, as in some containers, it is in the working folder, with `persimchat-` before its name.
    """
    try:
        return user_cache_path("persimchat", appauthor=False) / name
    except RuntimeError:
        return Path(f"persimchat-{name}").absolute()


def folder() -> Path:
    """The folder of model files, which need not exist: `PERSIMCHAT_MODELS`, else one in the user's cache (`cached`)."""
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    with suppress(RuntimeError):  # ~ of a user without a home
        return Path(named).expanduser() if named else cached("models")
    return cached("models")


def place(name: str) -> str:
    """The path of a model's file within the folder.

    Raises:
        InputError: the name is not that of a model that can be downloaded.
    """
    if name == SMOLLM2:
        return "smollm2.gguf"
    return Path("hf", *hub_parts(name)).as_posix()


def model_file(name: ModelName) -> Path:
    """The file of a model on this machine: the path that `llamacpp:` gives, else what `persimchat models get` stored.

    Raises:
        InputError: the file is missing; the message has the command that gets it.
    """
    if name.written.startswith("llamacpp:"):
        file = Path(name.model).expanduser()
        if not file.exists():
            raise InputError(f"there is no model file {shown(name.model)}", remedy="Give the path of a .gguf file.")
        return file
    file = folder() / place(name.written)
    if not file.is_file():
        raise InputError(
            f"the model {shown(name.written)} is not on this machine",
            remedy=f"Get it with: persimchat models get {name.written}",
        )
    return file


def stored() -> list[Stored]:
    """The models of the index whose files exist, in the order of their names.

    Raises:
        InputError: the index cannot be read.
    """
    return [entry for entry in known().values() if (folder() / entry.file).is_file()]


def known() -> dict[str, Stored]:
    """The index: the downloaded models by name.

    Raises:
        InputError: the index cannot be read.
    """
    index = folder() / _INDEX
    try:
        text = index.read_text(encoding="utf-8")
        entries = [Stored.model_validate(entry) for entry in json.loads(text)["models"]]
        if any(entry.file != place(entry.name) for entry in entries):
            raise ValueError("a file is not where its name says")
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(
            f"{index} cannot be read: {error.strerror or error}", remedy="Check that you may read it."
        ) from error
    except (ValueError, TypeError, KeyError, ValidationError, InputError, RecursionError) as error:
        raise InputError(
            f"the list of model files {index} is damaged",
            remedy="Move it away, and get the models again: persimchat models get NAME.",
        ) from error
    return {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}


def keep(entry: Stored) -> None:
    """Write a model into the index, replacing an earlier one of the same name. Call it within `alone`."""
    _write({**known(), entry.name: entry})


def remove(name: str) -> Stored:
    """Delete a model's file and its entry in the index.

    Returns:
        The deleted entry.

    Raises:
        InputError: there is no such model.
    """
    with alone():
        entries = known()
        entry = entries.pop(name, None)
        if entry is None:
            raise InputError(
                f"there is no model {shown(name)} here",
                where=str(folder()),
                remedy=suggestion(name, entries) if entries else "List the models with: persimchat models",
            )
        (folder() / entry.file).unlink(missing_ok=True)
        _write(entries)
    return entry


@contextmanager
def alone() -> Iterator[Path]:
    """Lock the folder, made if missing, against other processes that get or remove models.

    Raises:
        InputError: the folder cannot be written, or another process has locked it.
    """
    where = folder()
    try:
        where.mkdir(parents=True, exist_ok=True)
        lock = FileLock(where / ".lock")
        lock.acquire(timeout=_SHARED_WAIT_S)
    except Timeout:
        raise InputError(
            f"another process is getting or removing a model in {where}", remedy="Wait until it is done."
        ) from None
    except OSError as error:
        raise InputError(
            f"the folder of model files {where} cannot be written: {error.strerror or error}",
            remedy=f"Name another one with {FOLDER_VARIABLE}.",
        ) from error
    try:
        yield where
    finally:
        lock.release()


def _write(entries: dict[str, Stored]) -> None:
    index = folder() / _INDEX
    new = index.with_suffix(".new")
    models: list[dict[str, Any]] = [entries[name].model_dump(mode="json") for name in sorted(entries)]
    new.write_text(json.dumps({"models": models}, indent=2) + "\n", encoding="utf-8")
    new.replace(index)
