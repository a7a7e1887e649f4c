"""One process, and one holder in it, works on a run: a lock in the run's folder, which goes with its process.

The lock is the operating system's, on `run.lock`; a killed process holds none. `run.pid` only says who holds it, and
counts for nothing while the lock is free.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from persimchat.state.errors import InputError

LOCK, PID = "run.lock", "run.pid"
"""The files of a run that is, or was, worked on."""

_PATIENCE_S: Final = 0.5
"""So long the lock is waited for: somebody else may be looking whether it is held (`holder`)."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a run while the body runs.

    Args:
        folder: the run's.

    Raises:
        InputError: somebody else holds it, in another process or in this one, or the folder cannot be written.
    """
    lock = _lock(folder)
    try:
        lock.acquire(timeout=_PATIENCE_S, poll_interval=0.02)
    except Timeout:
        raise _busy(folder) from None
    except OSError as error:
        raise InputError(
            f"the run cannot be locked: {error.strerror}", where=str(folder), remedy="Check the folder's permissions."
        ) from error
    note = folder / PID
    try:
        with suppress(OSError):  # it is for people; whoever finds it empty is told of another process
            note.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        with suppress(OSError):
            note.unlink(missing_ok=True)
        lock.release()


def is_held(folder: Path) -> bool:
    """Whether somebody works on a run just now; in a folder that cannot be written, whether its notes say so."""
    if not (folder / LOCK).is_file():
        return False
    lock = _lock(folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return (folder / PID).is_file()
    lock.release()
    return False


def check_free(folder: Path) -> None:
    """Refuse a run that somebody works on.

    Raises:
        InputError: somebody does.
    """
    if is_held(folder):
        raise _busy(folder)


def holder(folder: Path) -> int | None:
    """The id of the process that works on a run just now; None where nobody does, or it has not said yet."""
    return _noted(folder) if is_held(folder) else None


def _lock(folder: Path) -> FileLock:
    # Not thread-local: an event loop may take it in one thread and let it go in another.
    return FileLock(folder / LOCK, thread_local=False)


def _busy(folder: Path) -> InputError:
    pid = _noted(folder)
    who = "another process" if pid is None else "this process" if pid == os.getpid() else f"process {pid}"
    return InputError(
        f"the run is being worked on by {who}", where=str(folder), remedy="Wait until it has ended, or stop it there."
    )


def _noted(folder: Path) -> int | None:
    try:
        return int((folder / PID).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
