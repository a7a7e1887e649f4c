"""What tests of worlds on disk share: a small world in which two people have told something, and its bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from companion_talks import FERRY, Scripted
from langgraph.store.base import BaseStore

from persimchat.runs.companion.events import KINDS
from persimchat.runs.companion.folder import WORLD, opened_file, read_world
from persimchat.runs.companion.keys import KEYS, add_key
from persimchat.runs.companion.world import World, opened_world
from persimchat.runs.log import Log
from persimchat.state.companion.place import Place

Told = tuple[str, str, Sequence[str]]
"""Agent, person and what the person says; then the talk is over."""


def listener(**replaced: Any) -> Scripted:
    """A scripted model whose percepts and facts hold the person's words."""

    def fact(line: Any) -> dict[str, Any]:
        words = str(line["text"])
        known = {"about": "person", "subject": " ".join(words.split()[:3]), "statement": f"It is said: {words}"}
        return {**known, "quote": words, "importance": 5, "replaces": []}

    def consolidation(values: Any) -> dict[str, Any]:
        person = values["person"]
        lines = [item for item in values["transcript"].items if item["speaker"] == person]
        return {
            "summary": f"{person} told me: {lines[0]['text']}",
            "keywords": ["talk"],
            "importance": 5,
            "relationship": "friend",
            "note": f"{person} comes often.",
            "promises": [],
            "facts": [fact(line) for line in lines],
        }

    def perception(values: Any) -> dict[str, Any]:
        (heard,) = values["heard"].items
        return {"theme": f"{heard['speaker']} said: {heard['text']}", "keywords": ["words"], "importance": 4}

    return Scripted(**{"consolidation": consolidation, "perception": perception, **replaced})


async def told(folder: Path, patch: pytest.MonkeyPatch, *talks: Told, place: Place = FERRY, **replaced: Any) -> Path:
    """A closed world after these talks.

    Args:
        folder: the world's.
        patch: puts the scripted model in the offline model's place.
        *talks: in their order.
        place: of a new world.
        **replaced: answers of the model.
    """
    listener(**replaced).install(patch)
    async with opened_world(folder, place) as world:
        for agent, person, lines in talks:
            await talked(world, agent, person, lines)
    return folder


async def talked(world: World, agent: str, person: str, lines: Iterable[str]) -> None:
    """A whole talk, with its end."""
    companion = await world.companion(agent, person, introduced=True)
    for line in lines:
        async for _ in companion.say(line):
            pass
        await companion.settled()
    async for _ in companion.end():
        pass
    await companion.settled()


def kept_in(world: Path, kind: str) -> list[dict[str, Any]]:
    """What a world's log holds of one kind of event, in order."""
    with Log(world / WORLD, KINDS, read_only=True) as log:
        return [body for _, _, body in log.bodies(kind)]


class WorldKeys:
    """The keys of a world."""

    def __init__(self, store: BaseStore, world: str) -> None:
        self._of = (store, world)

    def add(self, person: str, *, relay: bool = False) -> str:
        """Make a key."""
        return add_key(*self._of, person, relay=relay)

    def people(self) -> list[str]:
        """Whose keys there are."""
        store, world = self._of
        return sorted(item.value["person"] for item in store.search((world, KEYS)))


@contextmanager
def keys_of(folder: Path) -> Iterator[WorldKeys]:
    """The keys of a world, also of one that is served."""
    with opened_file(folder / WORLD) as kept:
        yield WorldKeys(kept.store, read_world(folder).world)


def files_with(folder: Path, *texts: str) -> list[str]:
    """The files below a folder that hold any of these texts, whatever the case, as UTF-8 or escaped as in JSON."""
    wanted = {form for text in texts for form in (text.encode(), text.encode("unicode_escape"))}
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(form.lower() in path.read_bytes().lower() for form in wanted)
    ]
