"""The lock of a run: one process, and one holder in it, works on a run. The lock ends with its process.

It is a lock of the operating system on `run.lock`, which a killed process releases. `run.pid` only names the holder,
and means nothing while the lock is free.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from ...state.errors import InputError

LOCK, PID = "run.lock", "run.pid"
"""The files of the lock; they remain after the run."""

_PATIENCE_S: Final = 0.5
"""Seconds to wait for the lock: another process may hold it for a moment to test it (`holder`)."""


@contextmanager
def held(folder: Path, what: str = "run") -> Iterator[None]:
    """Hold the lock of a run while the body runs.

    Args:
        folder: the run's.
        what: what the folder holds, for errors.

    Raises:
        InputError: another process, or another task of this one, holds it; or the folder cannot be written.
    """
    lock = _lock(folder)
    try:
        lock.acquire(timeout=_PATIENCE_S, poll_interval=0.02)
    except Timeout:
        raise _busy(folder, what) from None
    except OSError as error:
        raise InputError(
            f"the {what} cannot be locked: {error.strerror}",
            where=str(folder),
            remedy="Check the folder's permissions.",
        ) from error
    note = folder / PID
    try:
        with suppress(OSError):  # for people; if it is empty, the error says "another process"
            note.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        try:
            with suppress(OSError):
                note.unlink(missing_ok=True)
        finally:
            try:
                lock.release()
            except OSError:
                lock.release()  # its file is still open: a second try


def is_held(folder: Path) -> bool:
    """Whether a run is in progress; in a folder that cannot be written, what `run.pid` says."""
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
    """Refuse a run that is in progress.

    Raises:
        InputError: it is.
    """
    if is_held(folder):
        raise _busy(folder)


def holder(folder: Path) -> int | None:
    """The id of the process that works on a run; None if there is none, or it has not written its id yet."""
    return _noted(folder) if is_held(folder) else None


def _lock(folder: Path) -> FileLock:
    # Not thread-local: an event loop may acquire it in one thread and release it in another.
    return FileLock(folder / LOCK, thread_local=False)


def _busy(folder: Path, what: str = "run") -> InputError:
    pid = _noted(folder)
    who = "another process" if pid is None else "this process" if pid == os.getpid() else f"process {pid}"
    return InputError(
        f"the {what} is being worked on by {who}",
        where=str(folder),
        remedy="Wait until it has ended, or stop it there.",
    )


def _noted(folder: Path) -> int | None:
    try:
        return int((folder / PID).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
