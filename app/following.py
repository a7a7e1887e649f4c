"""Running a simulation in the foreground: its events go to a view, and signals stop it in good order."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

from persimchat.app.exits import Interrupted
from persimchat.app.view import View
from persimchat.models.registry import close_models
from persimchat.runs.events import Started, Stopped
from persimchat.runs.simulation import run_simulation
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


async def follow(scenario: Scenario, settings: Settings, out: Path, view: View) -> None:
    """Run a simulation to its end, and show it.

    Raises:
        Interrupted: a signal came, or nobody reads the output any more; the run's folder says `stopped`.
        PerSimChatError: what the run reports.
    """
    folder: Path | None = None
    over = False
    with _signals_cancel():
        try:
            async with aclosing(run_simulation(scenario, settings, out=out)) as events:
                async for event in events:
                    if isinstance(event, Started):
                        folder = out / event.run
                    over = isinstance(event, Stopped)
                    view.show(event)
        except asyncio.CancelledError:
            if not over:
                if folder is not None:
                    view.show(stopped_event(folder))
                raise Interrupted from None
        finally:
            view.close()
            await close_models()


def stopped_event(folder: Path) -> Stopped:
    """The last event of a run that was interrupted, from what it left on disk."""
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return Stopped(
        run=manifest["run"],
        reason=manifest["stop_reason"],
        source=manifest["stop_source"],
        conclusion=manifest["conclusion"],
        detail=manifest["detail"],
        turn=manifest["turn"],
        totals=manifest["usage"]["total"],
        usage=manifest["usage"]["rows"],
        folder=str(folder),
    )


@contextmanager
def _signals_cancel() -> Iterator[None]:
    """Let the first signal cancel the running task; a second one has its usual effect.

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
        yield
    finally:
        release()
