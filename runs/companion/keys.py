"""The keys of a served world: each is one person's, and only its hash is kept, among the records of the world."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

from langgraph.store.base import BaseStore
from pydantic import BaseModel, ConfigDict, Field

from ...state.companion import person_key, person_name

KEYS: Final = "keys"
"""The namespace of keys in a world's."""
LONGEST_KEY: Final = 500
"""The most characters of a key that is looked up."""
_MOST: Final = 100_000


class Key(BaseModel):
    """A key, without the key itself."""

    model_config = ConfigDict(frozen=True)

    person: str = Field(description="the person whose key it is")
    relay: bool = Field(default=False, description="whether its holder speaks for other people, whom it names")


def find_key(store: BaseStore, world: str, given: str) -> Key | None:
    """The key that somebody gives, compared in constant time; None if there is none like it."""
    found: Key | None = None
    hashed = _hash(given[:LONGEST_KEY])
    for digest, key in _keys(store, world):  # all of them, so that the time does not tell which
        if hmac.compare_digest(digest, hashed):
            found = key
    return found if given else None


def add_key(store: BaseStore, world: str, person: str, *, relay: bool = False) -> str:
    """Make a key for a person, and keep its hash.

    Args:
        store: with the world's records.
        world: its id.
        person: whose key it is.
        relay: whether its holder may speak for other people (a chat program with users of its own).

    Returns:
        The key, which nobody can read again.

    Raises:
        InputError: the name is invalid.
    """
    made, key = f"psc-{secrets.token_urlsafe(24)}", Key(person=person_name(person), relay=relay)
    store.put((world, KEYS), _hash(made), key.model_dump(), index=False)
    return made


def remove_keys(store: BaseStore, world: str, person: str) -> int:
    """Remove the keys of a person; returns how many there were.

    Raises:
        InputError: the name is invalid.
    """
    theirs = [digest for digest, key in _keys(store, world) if person_key(key.person) == person_key(person)]
    for digest in theirs:
        store.delete((world, KEYS), digest)
    return len(theirs)


def rename_keys(store: BaseStore, world: str, person: str, new: str) -> None:
    """Let the keys of a person go on as theirs under another name.

    Raises:
        InputError: a name is invalid.
    """
    shown = person_name(new)
    for digest, key in _keys(store, world):
        if person_key(key.person) == person_key(person):
            renamed: dict[str, Any] = {**key.model_dump(), "person": shown}
            store.put((world, KEYS), digest, renamed, index=False)


def _keys(store: BaseStore, world: str) -> list[tuple[str, Key]]:
    return [(item.key, Key.model_validate(item.value)) for item in store.search((world, KEYS), limit=_MOST)]


def _hash(key: str) -> str:
    """The hash of a key. Keys are drawn at random, so a fast hash is enough."""
    return hashlib.sha256(key.encode()).hexdigest()
