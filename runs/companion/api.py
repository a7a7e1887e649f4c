"""Companions for programs: one person talks with one agent, in ordinary code and in async code."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from ...graph.node import background, wait_for
from ...personas.place_file import place_for
from ...state.companion import Happening, Tie
from ...state.companion.place import Place, place_of
from ...state.errors import InputError
from ...state.persona import Persona
from ...state.settings import Settings
from .events import Answered, Event
from .folder import companion_settings, is_world, read_place, read_world
from .session import Companion
from .world import World, opened_world

Result = TypeVar("Result")


class Talking:
    """A companion for programs; `persimchat.companion(…)` opens it. Close it, or use it in a `with` block.

    Its work runs in an event loop of its own, in another thread, so it can be used from ordinary code, from notebooks
    and from any event loop.

    Args:
        world: the open world.
        session: of the agent and the person.
        stack: closes the world.
    """

    def __init__(self, world: World, session: Companion, stack: AsyncExitStack) -> None:
        self._world, self._session, self._stack = world, session, stack

    @property
    def agent(self) -> str:
        """The agent's full name."""
        return self._session.agent

    @property
    def folder(self) -> Path:
        """The folder of the world."""
        return self._world.folder

    def say(self, text: str, **more: Any) -> Answered:
        """Say something, and get the answer with emotion and trust after it.

        Args:
            text: the person's words, 1 to 8,000 characters.
            **more: `id`, `seed`, `instructions` and the rest, as for `asay`.

        Raises:
            InputError: the words are empty or too long.
            ModelError: there was no answer.
        """
        return wait_for(self._answer(text, more))

    async def asay(self, text: str, **more: Any) -> AsyncIterator[Event]:
        """Say something, and get the events as they happen: `Speaking`, `Token`, `Sentence`, `Answered`, `TalkOver`.

        Args:
            text: the person's words.
            **more: `id`: of the exchange, which is answered once; `seed`: another answer to the same words;
                `instructions`: what is to be known of the scene.
        """
        async for event in _across(self._session.say(text, **more)):
            yield event

    def happen(self, *events: str | Mapping[str, Any] | Happening) -> list[Event]:
        """Let the agent perceive events, in sentences or as quadruples; it may speak unasked."""
        return wait_for(_all(self._session.happen(_happenings(events))))

    async def ahappen(self, *events: str | Mapping[str, Any] | Happening) -> AsyncIterator[Event]:
        """`happen` in async code: the events of what the agent does."""
        async for event in _across(self._session.happen(_happenings(events))):
            yield event

    def end(self) -> list[Event]:
        """End the talk; what matters of it is kept."""
        return wait_for(_all(self._session.end()))

    async def aend(self) -> list[Event]:
        """`end` in async code."""
        return await _elsewhere(_all(self._session.end()))

    def remembered(self) -> Tie | None:
        """What the agent knows of the person: trust, facts, promises; None before their first talk."""
        return wait_for(self._session.tie())

    async def aremembered(self) -> Tie | None:
        """`remembered` in async code."""
        return await _elsewhere(self._session.tie())

    def forget(self) -> None:
        """Let the agent forget the person, for good: every file of the world is written anew without them.

        Raises:
            InputError: the agent knows nothing of the person.
        """
        wait_for(self._forget())

    async def aforget(self) -> None:
        """`forget` in async code."""
        await _elsewhere(self._forget())

    def close(self) -> None:
        """Close the world, after what is under way. The talk stays open: a later one goes on with it."""
        wait_for(self._stack.aclose())

    async def aclose(self) -> None:
        """`close` in async code."""
        await _elsewhere(self._stack.aclose())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _answer(self, text: str, more: Mapping[str, Any]) -> Answered:
        found = [event async for event in self._session.say(text, **more) if isinstance(event, Answered)]
        return found[-1]

    async def _forget(self) -> None:
        agent, person = self._session.agent, self._session.person
        await self._world.forget(person, agent)
        self._session = await self._world.companion(agent, person)


def companion(
    place: str | Path | Place | Persona,
    agent: str = "",
    person: str = "guest",
    *,
    world: Path | str,
    settings: Settings | None = None,
    introduced: bool | None = None,
    **options: Any,
) -> Talking:
    """Open a companion: one agent, one person, and a folder in which the agent remembers.

    Args:
        place: a place file, a persona (its name, its file, or a `Persona`), or a `Place`. It counts for a new world;
            an old one has its own.
        agent: whom the person talks with, by full or first name; empty: the first of the place.
        person: the person's name.
        world: the folder of the world, which is made if it is missing.
        settings: of the talks; None: as the world was last opened, < `PERSIMCHAT_*` < `options`.
        introduced: whether agent and person know each other by name when they meet.
        **options: single settings (`model="openai:gpt-4o-mini"`, `utterance_words=40`, …).

    Raises:
        InputError: the place, a name or a setting is wrong, or another process works on the world.

    Example:
        ```python
        import persimchat

        with persimchat.companion("Jarmila", person="Petr", world="worlds/jarmila", model="offline") as jarmila:
            jarmila.say("My sister is called Mira.")
            jarmila.end()
            print(jarmila.say("What is my sister called?").utterance)
        ```
    """
    return wait_for(_opened(place, agent, person, Path(world), settings, introduced, options))


async def acompanion(
    place: str | Path | Place | Persona, agent: str = "", person: str = "guest", **more: Any
) -> Talking:
    """Open a companion in async code; arguments as for `companion`."""
    options = {name: more.pop(name) for name in list(more) if name not in ("world", "settings", "introduced")}
    folder = Path(more["world"])
    given = more.get("settings"), more.get("introduced")
    return await _elsewhere(_opened(place, agent, person, folder, *given, options))


async def _opened(
    place: str | Path | Place | Persona,
    agent: str,
    person: str,
    folder: Path,
    settings: Settings | None,
    introduced: bool | None,
    options: Mapping[str, Any],
) -> Talking:
    if settings is not None and options:
        raise InputError("settings are given twice", where="argument settings", remedy="Leave single settings out.")
    where, settings = await asyncio.to_thread(_prepared, place, folder, settings, options)
    stack = AsyncExitStack()
    world = await stack.enter_async_context(opened_world(folder, where, settings))
    try:
        return Talking(world, await world.companion(agent, person, introduced=introduced), stack)
    except BaseException:
        await stack.aclose()
        raise


def _prepared(
    place: str | Path | Place | Persona, folder: Path, settings: Settings | None, options: Mapping[str, Any]
) -> tuple[Place | None, Settings]:
    """The place of a new world, None for an old one, and the settings; reads files."""
    known = is_world(folder)
    where = None if known else _place(place)
    if settings is None:
        kept = read_world(folder).settings if known else None
        settings = companion_settings(where or read_place(folder), kept, **options)
    return where, settings


def _place(given: str | Path | Place | Persona) -> Place:
    if isinstance(given, Place):
        return given
    return place_of(given) if isinstance(given, Persona) else place_for(str(given))


def _happenings(events: Iterable[str | Mapping[str, Any] | Happening]) -> list[Happening]:
    return [
        Happening(subject="event", object=one[:200], description=one[:500])
        if isinstance(one, str)
        else Happening.model_validate(one)
        for one in events
    ]


async def _all(events: AsyncIterator[Event]) -> list[Event]:
    return [event async for event in events]


async def _elsewhere(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of work in the companions' own loop."""
    return await asyncio.wrap_future(background(work))


async def _across(events: AsyncIterator[Event]) -> AsyncIterator[Event]:
    """Events of the companions' own loop, in the loop of the caller."""

    async def following() -> Event | None:
        return await anext(events, None)

    while (event := await _elsewhere(following())) is not None:
        yield event
