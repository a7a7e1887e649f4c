"""A talk with a companion in a terminal or a pipe: reads lines, streams the agent's words."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, Final

from persimchat.app.console.companion_lines import (
    command_in,
    help_lines,
    memory_lines,
    status_line,
    time_of,
    why_lines,
)
from persimchat.app.output import Interrupted, OutputClosed, warn
from persimchat.runs.companion.events import Answered, Event, Speaking, Token
from persimchat.runs.companion.session import Companion
from persimchat.state.companion import Happening
from persimchat.state.errors import InputError, ModelError, PerSimChatError
from persimchat.state.plain_text import clean, one_line

_DIM, _PLAIN = "\x1b[2m", "\x1b[0m"


class Screen:
    """Shows a talk on standard output: in a terminal with dim remarks, in a pipe as plain lines.

    Args:
        colours: whether it is a terminal.
    """

    def __init__(self, colours: bool) -> None:
        self._colours = colours
        self._open = False
        self._trust: int | None = None

    def show(self, event: Event) -> None:
        """Show one event.

        Raises:
            OutputClosed: the reader has closed standard output.
        """
        match event:
            case Speaking():
                self._end_line()
                self._write(f"{one_line(event.agent)}: ")
                self._open = True
                self._trust = event.trust if self._trust is None else self._trust
            case Token():
                self._write(clean(event.text).replace("\n", " "))
            case Answered(appraised=False):
                self._end_line()
            case _:
                if line := status_line(event, self._trust):
                    self.note(line)
        if isinstance(event, Answered) and event.appraised:
            self._trust = event.trust

    def note(self, line: str) -> None:
        """Show a remark."""
        self._end_line()
        self._write(f"{_DIM}  {line}{_PLAIN}\n" if self._colours else f"  ({line})\n")

    def _end_line(self) -> None:
        if self._open:
            self._open = False
            self._write("\n")

    def _write(self, text: str) -> None:
        try:
            sys.stdout.write(text)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise OutputClosed from error


async def talk(companion: Companion, *, terminal: bool) -> None:
    """Let a person talk with a companion until the input is over; then the talk ends and is consolidated.

    Args:
        companion: the session.
        terminal: whether a person types; in a pipe, each line waits until the one before is digested.

    Raises:
        Interrupted: Ctrl-C; the talk stays open.
        ModelError: in a pipe, there was no answer.
        OutputClosed: the reader has closed standard output.
    """
    screen = Screen(terminal)
    conversation = _Conversation(companion, screen, patient=not terminal)
    async with aclosing(_typed(companion) if terminal else _piped()) as lines:  # type: ignore[type-var]
        async for line in lines:
            try:
                if not await conversation.take(line):
                    break
            except InputError as error:
                warn(f"persimchat: {one_line(str(error))}")
            except ModelError as error:
                if not terminal:
                    raise
                warn(f"persimchat: {one_line(str(error))}")
    await conversation.leave()


class _Conversation:
    """Carries lines out, in order.

    Args:
        companion: the session.
        screen: what shows it.
        patient: whether each line waits until the one before is digested.
    """

    def __init__(self, companion: Companion, screen: Screen, *, patient: bool) -> None:
        self._companion, self._screen, self._patient = companion, screen, patient
        self._digests: set[asyncio.Task[None]] = set()

    async def take(self, line: str) -> bool:
        """Carry out a line; whether the talk goes on.

        Raises:
            InputError: the line is wrong.
            ModelError: there was no answer.
        """
        if not line.strip():
            return True
        found = command_in(line)
        if found is None:
            await self._answered(self._companion.say(line))
            return True
        return await self._carried_out(*found)

    async def leave(self) -> None:
        """End the talk."""
        await self._companion.settled()
        await asyncio.gather(*self._digests)
        await self._shown(self._companion.end())

    async def _answered(self, events: AsyncIterator[Event]) -> None:
        """Show an answer; what follows its words is shown while the person types."""
        first: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def follow() -> None:
            try:
                async for event in events:
                    self._screen.show(event)
                    if isinstance(event, Answered) and not first.done():
                        first.set_result(None)
            except PerSimChatError as error:
                if first.done():
                    warn(f"persimchat: {one_line(str(error))}")
                else:
                    first.set_exception(error)
            finally:
                if not first.done():
                    first.set_result(None)

        task = asyncio.create_task(follow())
        self._digests.add(task)
        task.add_done_callback(self._digests.discard)
        await first
        if self._patient:
            await task

    async def _shown(self, events: AsyncIterator[Event]) -> None:
        async for event in events:
            self._screen.show(event)

    async def _carried_out(self, name: str, rest: str) -> bool:
        companion, screen = self._companion, self._screen
        match name:
            case "/end":
                await self._shown(companion.end())
            case "/memory":
                self._notes(memory_lines(companion.agent, await companion.tie()))
            case "/why":
                self._notes(why_lines(companion.why))
            case "/event":
                await self._answered(companion.happen([Happening(subject="event", object=rest, description=rest)]))
            case "/time":
                companion.world.set_time(time_of(rest, companion.world.now()))
                screen.note(f"It is {companion.world.now().replace('T', ' ')}.")
                await companion.pass_time()
            case "/forget":
                await companion.forget()
                screen.note(f"{companion.agent} has forgotten {one_line(companion.person)}.")
            case "/help":
                self._notes(help_lines())
            case _:
                return False
        return True

    def _notes(self, lines: list[str]) -> None:
        for line in lines:
            self._screen.note(line)


async def _piped() -> AsyncIterator[str]:
    """The lines of standard input."""
    from persimchat.app.console.piped_lines import standard_input

    lines = standard_input()
    while (line := await lines.next()) is not None:
        yield line


class _CtrlC(Exception):
    """The key that interrupts."""


class _CtrlD(Exception):
    """The key that leaves."""


async def _typed(companion: Companion) -> AsyncIterator[str]:
    """The lines that a person types in a terminal."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.patch_stdout import patch_stdout

    session: Any = PromptSession(erase_when_done=False, interrupt_exception=_CtrlC, eof_exception=_CtrlD)
    with patch_stdout(raw=True):
        while True:
            try:
                yield await session.prompt_async(f"{one_line(companion.person)}: ", handle_sigint=False)
            except _CtrlC:
                raise Interrupted from None
            except _CtrlD:
                return


GREETING: Final = "Simulated people are not people. /help lists the commands; Ctrl-D ends the talk."
