"""The server's runs. They belong to the server, not to a tab: they continue while no page shows them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any, Final

from ...models.health_check import reach_all
from ...models.naming import SMOLLM2, shown
from ...models.redaction import redact
from ...runs.broadcast import Broadcast
from ...runs.control import Control
from ...runs.events import Event, Started
from ...runs.folder.listing import is_there, list_runs
from ...runs.folder.lock import is_held
from ...runs.folder.reading import read_manifest
from ...runs.folder.run_folder import RUN
from ...state.configuration import load_settings
from ...state.errors import InputError, MissingExtraError, PerSimChatError
from ...state.scenario import Scenario
from ...state.settings import Settings
from ...state.templates import SHIPPED
from .board import Board, board_of, earlier_totals

_MODELS: Final = ("model", "agent_models", "module_models")

ENDED_KEPT: Final = 5
"""How many ended runs stay in memory; others are read from their folders again."""

Stamp = tuple[tuple[int, int], ...]
"""The time of the last write to a run (nanoseconds), and its size (bytes)."""


class LiveRun:
    """A run that this server holds.

    Args:
        folder: the run's folder; its name is the run's id on this server.
        control: the run's controls.
        broadcast: its events, for every follower.
        past: the number of past utterances of a resumed run or a branch.

    Attributes:
        run: its id.
        board: what pages show of it.
    """

    def __init__(self, folder: Path, control: Control, broadcast: Broadcast, past: int = 0) -> None:
        self.run = folder.name
        self.control = control
        self.broadcast = broadcast
        self.board = Board()
        self._left: asyncio.Task[Stamp] | None = None
        self._folder = folder
        self._past = past
        self._caught_up = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._follow())

    @property
    def over(self) -> bool:
        """Whether it has ended and its board has the ending."""
        return self._task.done()

    async def ended(self) -> None:
        """Wait until the run is over."""
        await asyncio.wait([self._task])

    async def caught_up(self) -> None:
        """Wait until the board holds its past, so that no page announces old messages as new."""
        await self._caught_up.wait()

    async def left(self) -> Stamp | None:
        """The stamp of its folder when it ended; None before that."""
        return await asyncio.shield(self._left) if self._left is not None else None

    async def _follow(self) -> None:
        events = self.broadcast.subscribe()
        try:
            async with aclosing(events):
                async for event in events:
                    self.board.take(event)
                    if self.board.turn >= self._past:
                        self._caught_up.set()
        except PerSimChatError as error:
            self.board.fail(str(error))
        except Exception as error:
            self.board.fail(redact(f"{type(error).__name__}: {error}"))
            raise
        finally:
            if self.board.stopped is None and not self.board.error:
                self.board.abandon()
            self._caught_up.set()
            if not self._task.cancelling():  # otherwise the server's event loop is closing
                self._left = asyncio.get_running_loop().create_task(asyncio.to_thread(stamp_of, self._folder))


class LiveRuns:
    """All runs of the server.

    Args:
        out: the folder that holds runs.
        cells: finds the run's folder of a cell of an experiment by its address, `EXPERIMENT:CELL`. Pages show such a
            run, and never change it.
    """

    def __init__(self, out: Path, cells: Callable[[str], Path | None] = lambda _: None) -> None:
        self.out = out
        self._cells = cells
        self._live: dict[str, LiveRun] = {}
        self._boards: dict[str, tuple[Stamp, Board]] = {}

    async def start(self, scenario: Scenario, settings: Settings, control: Control | None = None) -> LiveRun:
        """Begin a run.

        Args:
            scenario: who takes part and what about.
            settings: how it runs, and with which models.
            control: controls it, for example at a pace from its first message on; a new one if None.

        Raises:
            InputError: a model, an embedding or a store cannot be used; nothing has begun.
            ModelError: the server of a model is not there, says nothing within `timeout_s`, refuses the key or does not
                know the model; nothing has begun.
        """
        from ...runs.run.simulation import run_simulation  # no page needs it, nor the others below

        refuse_model_files(settings.model_dump(by_alias=True))
        await reach_all(settings)
        control = control or Control()
        return await self._begin(run_simulation(scenario, settings, out=self.out, control=control), control)

    async def resume(self, run: str, changes: Mapping[str, Any] | None = None) -> LiveRun:
        """Resume a kept run; raises InputError or ModelError, as `start`, if that is impossible."""
        from ...runs.run.resume import resume_run

        folder, control = await self._unused(run, changes, alone=True), Control()
        return await self._begin(resume_run(folder, changes=changes or {}, control=control), control, folder)

    async def branch(
        self,
        run: str,
        turn: int | None,
        *,
        say: tuple[str, str] | None = None,
        choose: tuple[str, str] | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> LiveRun:
        """Begin a branch of a run at a turn; raises InputError or ModelError, as `start`, if that is impossible."""
        from ...runs.run.branch import branch_run

        folder, control = await self._unused(run, changes), Control()
        begins: dict[str, Any] = {"say": say, "choose": choose, "changes": changes or {}}
        return await self._begin(branch_run(folder, turn, **begins, out=self.out, control=control), control)

    async def regenerate(self, run: str, turn: int, changes: Mapping[str, Any] | None = None) -> LiveRun:
        """Begin a branch in which an utterance is worded again; raises as `start` if that is impossible."""
        from ...runs.run.branch import regenerate_run

        folder, control = await self._unused(run, changes), Control()
        events = regenerate_run(folder, turn, changes=changes or {}, out=self.out, control=control)
        return await self._begin(events, control)

    async def _unused(self, run: str, changes: Mapping[str, Any] | None, *, alone: bool = False) -> Path:
        """The folder of a run to go on from, which has closed all it used, and whose models can be asked.

        Args:
            run: its id.
            changes: the settings with which it goes on.
            alone: whether to refuse a run that is still running.
        """
        from ...runs.run.resume_input import settings_of

        refuse_model_files(changes or {})
        folder = self.own_folder(run)
        await self.closed(run)
        if alone and (self.going_on(run) or self.get(run) is None and await asyncio.to_thread(is_held, folder)):
            raise InputError(f"run {run} is still running", remedy="Watch it, or stop it first.")
        await reach_all(settings_of(await asyncio.to_thread(read_manifest, folder), changes or {}))
        return folder

    def get(self, run: str) -> LiveRun | None:
        """A run that this server holds; None for any other."""
        return self._live.get(run)

    def going_on(self, run: str) -> LiveRun | None:
        """An active run of this server; None for any other."""
        live = self.get(run)
        return live if live is not None and not live.over else None

    async def closed(self, run: str) -> None:
        """Wait until a run that has told its end has also closed all it used; for no other run."""
        live = self.going_on(run)
        if live is not None and live.board.stopped is not None:
            await live.ended()

    @property
    def active(self) -> list[LiveRun]:
        """The active runs."""
        return [live for live in self._live.values() if not live.over]

    def folder(self, run: str) -> Path:
        """The folder of a run.

        Raises:
            InputError: there is none of that name; a name with a path in it is refused.
        """
        found = self.out / run if self._is_own(run) else self._cells(run)
        if found is None:
            raise InputError(f"there is no run {run!r}", where=str(self.out), remedy="See the list of runs.")
        return found

    def own_folder(self, run: str) -> Path:
        """The folder of a run that may be changed.

        Raises:
            InputError: there is none of that name, or it is a cell of an experiment.
        """
        folder = self.folder(run)
        if self.experiment_of(run):
            raise InputError(
                "the run is a cell of an experiment, which the page only shows",
                where=run,
                remedy="Copy its set-up into a new conversation, or use the command line.",
            )
        return folder

    def experiment_of(self, run: str) -> str:
        """The experiment whose cell a run is; empty for any other run."""
        return "" if self._is_own(run) else run.rpartition(":")[0]

    def _is_own(self, run: str) -> bool:
        plain = run not in ("", ".", "..") and not set(run) & {"/", "\\", "\0"}
        return plain and is_there(self.out / run / RUN)

    async def board(self, run: str) -> Board:
        """The board of a run, live or read from its folder.

        Raises:
            InputError: there is no such run, or its folder is damaged.
        """
        live = self.get(run)
        if live is not None and not live.over:
            return live.board
        folder = self.folder(run)
        stamp = await asyncio.to_thread(stamp_of, folder)
        if live is not None and await live.left() == stamp:
            return live.board
        if live is not None and self.get(run) is live:
            del self._live[run]  # another process has resumed it
        cached = self._boards.get(run)
        if cached is not None and cached[0] == stamp:
            board = cached[1]
        else:
            board = await asyncio.to_thread(board_of, folder)
            self._boards = dict([*((k, v) for k, v in self._boards.items() if k != run)][-ENDED_KEPT:])
            self._boards[run] = (stamp, board)
        board.elsewhere = await asyncio.to_thread(is_held, folder)
        return board

    async def runs(self) -> Any:
        """The runs of the folder (`runs.listing.Listing`), the latest first."""
        return await asyncio.to_thread(list_runs, self.out)

    def forget(self, run: str) -> None:
        """Forget a run whose folder was deleted."""
        self._live.pop(run, None)
        self._boards.pop(run, None)

    async def close(self) -> None:
        """Stop all active runs; each can be resumed."""
        active = self.active
        for live in active:
            live.broadcast.cancel()
        for live in active:
            await live.ended()

    async def _begin(
        self, events: AsyncGenerator[Event, None], control: Control, folder: Path | None = None
    ) -> LiveRun:
        """Begin a run that belongs to the server: it continues if the caller is cancelled.

        Args:
            events: of the run.
            control: the run's controls.
            folder: the folder of a resumed run; None for a new run.
        """
        return await asyncio.shield(asyncio.get_running_loop().create_task(self._begun(events, control, folder)))

    async def _begun(self, events: AsyncGenerator[Event, None], control: Control, folder: Path | None) -> LiveRun:
        renamed = folder is not None and (await asyncio.to_thread(read_manifest, folder)).run != folder.name
        broadcast = Broadcast(events, out=None if renamed else self.out)
        following = broadcast.subscribe()
        async with aclosing(following):
            first = await anext(following)
        if not isinstance(first, Started):
            raise TypeError(f"the first event is {first.event}")
        live = LiveRun(folder or self.out / first.run, control, broadcast, first.turn)
        if first.turn:
            live.board.know(await asyncio.to_thread(earlier_totals, self.folder(live.run), first.turn))
            await live.caught_up()
        self._live[live.run] = live
        self._boards.pop(live.run, None)
        over = [run for run, other in self._live.items() if other.over]
        for run in over[:-ENDED_KEPT]:
            del self._live[run]
        return live


def stamp_of(folder: Path) -> Stamp:
    """A value that changes with every write to a run, even if the clock goes back; empty if there is no run."""
    stats = []
    for name in (RUN, f"{RUN}-wal"):
        with suppress(OSError):  # the file may vanish at any moment; reading the run raises the error
            stats.append((folder / name).stat())
    return tuple((one.st_mtime_ns, one.st_size) for one in stats)


def refuse_model_files(settings: Mapping[str, Any]) -> None:
    """Refuse a model, or a scorer of pruning, that is given by the path of its file, and templates.

    Args:
        settings: by name, which may be dotted; `model`, `agent_models`, `module_models`, `prompts` and `pruning.scorer`
            count.

    Raises:
        InputError: one of the models is `llamacpp:` and a path, where files from `persimchat models get` have names
            instead; or the scorer is not the one that pages offer, or the prompts not those with which the page was
            started.
    """
    refuse_prompts(settings)
    for name, given in _parts(settings):
        if name == "pruning.scorer":
            refuse_other_scorer(given)
        elif name.partition(".")[0] in _MODELS and str(given or "").strip().lower().startswith("llamacpp:"):
            raise InputError(
                f"the model {shown(str(given))} is a file on the server's machine, which users of the page cannot "
                "choose",
                where="setting model",
                remedy="Store it with persimchat models get and use its name, or begin the run on the command line.",
            )


def refuse_prompts(settings: Mapping[str, Any]) -> None:
    """Refuse templates other than the shipped ones and those with which the page was started; no folder is read.

    Args:
        settings: by name, which may be dotted.

    Raises:
        InputError: there are others.
    """
    for name, given in settings.items():
        if name.partition(".")[0] == "prompts" and given not in (None, {}, SHIPPED):
            if name == "prompts" and given == load_settings().prompts:
                continue
            raise InputError(
                "prompts are a folder on the server's machine, which users of the page cannot choose",
                where="setting prompts",
                remedy="Begin the run on the command line, or start the page with PERSIMCHAT_PROMPTS=FOLDER.",
            )


def _parts(settings: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All values by dotted name."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", part) for inner, part in _parts(value))
        else:
            yield name, value


OFFERED: Final = SMOLLM2
"""The only scorer that pages and the REST API take: any other is a file on the server's machine."""


def scorer_missing() -> InputError | MissingExtraError | None:
    """Why attention cannot score here, with the command that helps; None if it can. Blocks."""
    from ...models.attention.scoring import check_scorer

    try:
        check_scorer(OFFERED)
    except (InputError, MissingExtraError) as error:
        return error
    return None


def refuse_other_scorer(given: Any) -> None:
    """Refuse a scorer that is a file or a folder; raises InputError."""
    if str(given).strip() != OFFERED:
        raise InputError(
            f"the scorer {str(given)[:60]!r} is a file on the server's machine, which users of the page cannot choose",
            where="setting pruning.scorer",
            remedy=f"Leave it out, which takes {OFFERED}, or begin the run on the command line.",
        )
