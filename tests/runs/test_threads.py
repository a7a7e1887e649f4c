"""Contexts that block are entered and left in threads: what fails first is told, and whatever fails, they are left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from persimchat.runs.folder.lock import held, is_held
from persimchat.runs.threads import entered


class Door:
    """Says who went through, in which thread; leaving may fail."""

    def __init__(self, fails: bool = False) -> None:
        self.fails, self.seen, self.may = fails, list[str](), threading.Event()
        self.may.set()

    @contextmanager
    def context(self) -> Iterator[str]:
        assert threading.current_thread() is not threading.main_thread()
        self.may.wait(60)
        self.seen.append("in")
        try:
            yield "inside"
        finally:
            assert threading.current_thread() is not threading.main_thread()
            self.seen.append("out")
            if self.fails:
                raise OSError("cannot leave")


async def test_the_body_has_what_the_context_gives() -> None:
    door = Door()
    async with entered(door.context()) as found:
        assert (found, door.seen) == ("inside", ["in"])
    assert door.seen == ["in", "out"]


async def test_the_first_error_is_told() -> None:
    door = Door(fails=True)
    with pytest.raises(KeyError, match="first"):
        async with entered(door.context()):
            raise KeyError("first")
    assert door.seen == ["in", "out"]
    with pytest.raises(OSError, match="cannot leave"):
        async with entered(door.context()):
            pass


async def test_who_is_cancelled_while_entering_has_left() -> None:
    door = Door()
    door.may.clear()

    async def through() -> None:
        async with entered(door.context()):
            raise AssertionError("nobody is inside")

    going = asyncio.create_task(through())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    going.cancel()
    door.may.set()
    with pytest.raises(asyncio.CancelledError):
        await going
    assert door.seen in ([], ["in", "out"])


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("blocking")])
async def test_a_lock_is_free_afterwards_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patched, pytest.raises(KeyError, match="first"):
        async with entered(held(tmp_path)):
            patched.setattr(Path, "unlink", fails)
            raise KeyError("first")
    assert not is_held(tmp_path)
    with held(tmp_path):
        assert is_held(tmp_path)
