"""Each place of the code at which the operating system works on files, made to fail once, in turn."""

from __future__ import annotations

import errno
import itertools
import os
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import persimchat
from persimchat.state.errors import PerSimChatError

pytestmark = [pytest.mark.proof, pytest.mark.timeout(600)]

TOLD = "a disk that fails for the test"
ASKED_OF_THE_SYSTEM = {
    "open", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.listdir", "os.scandir", "os.chmod",
    "sqlite3.connect", "fcntl.flock",
}  # fmt: skip
Place = tuple[str, str]
"""What is asked of the system, and the code of the project that asks."""


@dataclass
class Disk:
    """What is asked of the system about files below a folder, and the one request that fails."""

    folder: str = ""
    fails: Place | None = None
    asked: dict[Place, None] = field(default_factory=dict)
    failed: bool = False

    def look(self, event: str, args: tuple[Any, ...]) -> None:
        """Python tells of a request before it is made; an exception keeps it from being made."""
        if not self.folder or event not in ASKED_OF_THE_SYSTEM:
            return
        if event != "fcntl.flock" and self.folder not in str(args[0]):
            return
        frame = sys._getframe(1)
        while frame is not None and "persimchat/" not in frame.f_code.co_filename.replace(os.sep, "/"):
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None or TESTS in frame.f_code.co_filename:
            return
        code = frame.f_code
        place = event, f"{Path(code.co_filename).name}, {code.co_name}, line {frame.f_lineno}"
        self.asked.setdefault(place)
        if place == self.fails and not self.failed:
            self.failed = True
            if event == "sqlite3.connect":
                raise sqlite3.OperationalError(f"disk I/O error: {TOLD}")
            raise OSError(errno.EIO, TOLD, str(args[0]))


TESTS = f"{os.sep}tests{os.sep}"
DISK = Disk()
LONGER = itertools.count(2)


@pytest.fixture(scope="module", autouse=True)
def looked() -> None:
    """The disk is looked at from here on; Python takes no such look back, and it does nothing without a folder."""
    sys.addaudithook(lambda event, args: DISK.look(event, args) if DISK.folder else None)


async def held(folder: Path) -> None:
    """A conversation, or the one that was begun, and its continuation."""
    begun = [path.parent for path in folder.glob("runs/*/run.sqlite")]
    told = {"model": "offline", "participants": 2, "max_messages": 1}
    if not begun:
        begun = [folder / "runs" / (await persimchat.asimulate("Tea?", out=folder / "runs", **told)).run]
    await persimchat.aresume(begun[0], max_messages=next(LONGER))


async def talked(folder: Path) -> None:
    """A companion's world, new or known, and an answer."""
    async with await persimchat.acompanion("Jarmila", person="Petr", world=folder / "w", model="offline") as jarmila:
        assert [event async for event in jarmila.asay("Hello!")][-1]


async def failing(what: Callable[[Path], Awaitable[None]], folder: Path, place: Place | None) -> Exception | None:
    """What is told where a request fails."""
    folder.mkdir()
    DISK.fails, DISK.failed, DISK.folder = place, False, str(folder)
    try:
        await what(folder)
    except (PerSimChatError, OSError, sqlite3.Error) as error:
        return error
    finally:
        DISK.folder = ""
    return None


@pytest.mark.parametrize(("what", "fewest"), [(held, 15), (talked, 12)])
@pytest.mark.parametrize("each", [4, pytest.param(1, marks=pytest.mark.long)])
async def test_the_first_error_is_told_and_the_next_call_works(
    what: Callable[[Path], Awaitable[None]], fewest: int, each: int, tmp_path: Path
) -> None:
    DISK.asked.clear()
    assert await failing(what, tmp_path / "whole", None) is None
    places, wrong = list(DISK.asked), []
    assert len(places) >= fewest
    for number, place in enumerate(places[::each]):
        folder = tmp_path / str(number)
        error = await failing(what, folder, place)
        if not DISK.failed:
            wrong.append(f"{place}: was not asked again")
        elif error is not None and not (isinstance(error, PerSimChatError) and TOLD in str(error)):
            wrong.append(f"{place}: {error!r}")
        try:
            await what(folder)
        except PerSimChatError as again:
            wrong.append(f"{place}: afterwards {again}")
    assert wrong == []
