"""Follows a run in the foreground: passes its events to a view, and stops it in good order on a signal."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

from ..models.registry import close_models
from ..runs.events import Event, Started, Stopped
from ..runs.folder.reading import stopped_event
from ..state.errors import MachineError
from .console.taking_part import TakingPart
from .output import Interrupted
from .views.picture import View

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


async def follow(
    events: AsyncGenerator[Event, None],
    view: View,
    *,
    kept: Callable[[str], Path] | None,
    people: TakingPart | None = None,
) -> Stopped | None:
    """Follow a run to its end, and show it.

    Args:
        events: the run's.
        view: what shows it.
        kept: gives a run's folder by its id; None if the run is not kept.
        people: the source of the lines that people type.

    Returns:
        How it ended.

    Raises:
        Interrupted: a signal or a person interrupted the run, or standard output was closed; the run's folder says
            `stopped`.
        MachineError: the run was stopped because it could no longer be shown.
        PerSimChatError: what the run reports.
    """
    folder: Path | None = None
    stopped: Stopped | None = None
    reading: asyncio.Task[None] | None = None
    with signals_cancel() as interrupt:
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, Stopped):
                        stopped = event
                    if people is not None:
                        people.take(event)
                    if isinstance(event, Started):
                        folder = kept(event.run) if kept is not None else None
                    view.show(event)
                    if isinstance(event, Stopped):
                        sys.stdout.flush()  # output errors are reported here, where the run is known
                    if isinstance(event, Started) and people is not None:
                        reading = asyncio.create_task(_read(people, interrupt), name="people")
            return stopped
        except BrokenPipeError:
            raise  # standard output was closed, as for any command
        except OSError as error:  # the run's own errors pass unchanged
            failure = MachineError.caused_by(error, "the conversation cannot be shown", "standard output")
            if stopped is not None and folder is not None:
                shown = f"The run has ended and is kept: persimchat show {shlex.quote(str(folder))}"
                failure = MachineError(failure.what, where=failure.where, remedy=shown)
                raise failure from error
            raise (failure.resumable(folder) if folder is not None else failure) from error
        except asyncio.CancelledError:
            if stopped is None:
                if folder is not None:
                    view.show(stopped_event(folder))
                raise Interrupted from None
            return stopped
        finally:
            try:
                await _ended(reading)
            finally:
                view.close()
                await close_models()


async def _read(people: TakingPart, interrupt: Callable[[], None]) -> None:
    """Let people take part; end the run if they interrupt it, or if reading their lines fails."""
    try:
        await people.read()
    except Interrupted:
        interrupt()
    except Exception:
        interrupt()
        raise
    finally:
        people.control.leave()


async def _ended(reading: asyncio.Task[None] | None) -> None:
    """Stop reading; raises the error with which reading failed."""
    if reading is not None:
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading


@contextmanager
def signals_cancel() -> Iterator[Callable[[], None]]:
    """Let the first signal cancel the running task; a second one has its usual effect. Yields what cancels it.

    A run under `nohup` outlives its terminal. Where an event loop cannot take signals (Windows), asyncio itself
    cancels the task on Ctrl-C.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    taken: list[signal.Signals] = []

    def release() -> None:
        while taken:
            loop.remove_signal_handler(taken.pop())

    def stop() -> None:
        release()
        if task is not None:
            task.cancel()

    for number in _SIGNALS:
        if number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN:
            continue
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stop)
            taken.append(number)
    try:
        yield stop
    finally:
        release()
