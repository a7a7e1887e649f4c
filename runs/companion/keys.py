"""The keys of a served world: each is one person's, and only its hash is kept (`keys.yaml` in the world's folder)."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persimchat.state.companion import person_key, person_name
from persimchat.state.errors import InputError, MachineError

KEYS: Final = "keys.yaml"
"""The file in a world's folder; only its owner can read it."""
LONGEST_KEY: Final = 500
"""The most characters of a key that is looked up."""

_MADE: Final = "psc-"
_REMEDY: Final = "Remove the file and make new keys: persimchat companion key."


class Key(BaseModel):
    """A key, without the key itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    person: Annotated[str, Field(min_length=1, max_length=80, description="the person whose key it is")]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="hash of the key")]
    relay: bool = Field(default=False, description="whether its holder speaks for other people, whom it names")


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    keys: list[Key] = []


@dataclass
class _Read:
    """What a file held when it was read last."""

    at: tuple[int, int]
    keys: list[Key]


class Keys:
    """The keys of a world, read again when the file has changed.

    Args:
        folder: the world's.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._last: _Read | None = None

    def find(self, given: str) -> Key | None:
        """The key that somebody gives, compared in constant time; None if there is none like it.

        Raises:
            InputError: the file is damaged.
        """
        found: Key | None = None
        hashed = _hash(given[:LONGEST_KEY])
        for key in self._current():  # all of them, so that the time does not tell which
            if hmac.compare_digest(key.sha256, hashed):
                found = key
        return found if given else None

    def _current(self) -> list[Key]:
        try:
            stat = (self._folder / KEYS).stat()
        except FileNotFoundError:
            return []
        at = (stat.st_mtime_ns, stat.st_size)
        if self._last is None or self._last.at != at:
            self._last = _Read(at, read_keys(self._folder))
        return self._last.keys


def read_keys(folder: Path) -> list[Key]:
    """The keys of a world; none without the file.

    Raises:
        InputError: the file is damaged.
    """
    path = folder / KEYS
    try:
        return _File.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {}).keys
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError("the keys cannot be read", where=str(path), remedy=_REMEDY) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"{first['msg']}", where=f"{path}, {place}", remedy=_REMEDY) from None


def add_key(folder: Path, person: str, *, relay: bool = False) -> str:
    """Make a key for a person, and keep its hash.

    Args:
        folder: the world's.
        person: whose key it is.
        relay: whether its holder may speak for other people (a chat program with users of its own).

    Returns:
        The key, which nobody can read again.

    Raises:
        InputError: the name is invalid, or the file is damaged.
        MachineError: the file cannot be written.
    """
    made = _MADE + secrets.token_urlsafe(24)
    _write(folder, [*read_keys(folder), Key(person=person_name(person), sha256=_hash(made), relay=relay)])
    return made


def remove_keys(folder: Path, person: str) -> int:
    """Remove the keys of a person; returns how many there were.

    Raises:
        InputError: the name is invalid, or the file is damaged.
        MachineError: the file cannot be written.
    """
    keys, wanted = read_keys(folder), person_key(person)
    kept = [key for key in keys if person_key(key.person) != wanted]
    if len(kept) < len(keys):
        _write(folder, kept)
    return len(keys) - len(kept)


def rename_keys(folder: Path, person: str, new: str) -> None:
    """Let the keys of a person go on as theirs under another name.

    Raises:
        InputError: a name is invalid, or the file is damaged.
        MachineError: the file cannot be written.
    """
    keys, wanted, shown = read_keys(folder), person_key(person), person_name(new)
    named = [key.model_copy(update={"person": shown}) if person_key(key.person) == wanted else key for key in keys]
    if named != keys:
        _write(folder, named)


def _write(folder: Path, keys: list[Key]) -> None:
    path, new = folder / KEYS, folder / f".{KEYS}.new"
    text = yaml.safe_dump({"keys": [key.model_dump() for key in keys]}, allow_unicode=True, sort_keys=False)
    try:
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        new.replace(path)
    except OSError as error:
        raise MachineError.caused_by(error, "the keys cannot be written", str(path)) from error


def _hash(key: str) -> str:
    """The hash of a key. Keys are drawn at random, so a fast hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
