"""The lines of a talk with a companion: what a person types, and what is shown of the events."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, Final

from ...runs.companion.events import Acted, Answered, Event, Speaking, TalkOver, Token
from ...runs.companion.session import Companion
from ...runs.companion.world import World
from ...state.companion import Happening, Tie
from ...state.errors import InputError, ModelError, PerSimChatError, suggestion
from ...state.plain_text import clean, one_line, shortened
from ..output import CtrlC, CtrlD, Interrupted, OutputClosed, warn

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "/end": ("", "end the talk; the next words begin another one"),
    "/memory": ("", "what the agent knows of you"),
    "/why": ("", "what the last answer rests on, with scores"),
    "/event": ("TEXT", "something happens: /event The stove is smoking."),
    "/time": ("HH:MM", "set the clock, to the next time that it is so late; or a date and a time"),
    "/forget": ("", "the agent forgets you, for good"),
    "/quit": ("", "end the talk, and leave"),
    "/help": ("", "these commands"),
}
"""Each command with what it takes and what it does."""
_HOUR: Final = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_SCORES: Final = ("recency", "importance", "relevance", "emotional", "stm")
_WIDEST: Final = 100
_DOES: Final = {"comment": "comments", "start_talk": "begins a talk", "interrupt": "interrupts"}


def command_in(line: str) -> tuple[str, str] | None:
    """The command of a line and what follows it; None if the line is words.

    Raises:
        InputError: there is no such command, or it lacks what it takes.
    """
    text = clean(line).strip()
    if not text.startswith("/"):
        return None
    name, _, rest = text.partition(" ")
    name, rest = name.casefold(), rest.strip()
    if name not in COMMANDS:
        raise InputError(f"there is no command {shortened(name, 40)!r}", remedy=suggestion(name, COMMANDS))
    takes = COMMANDS[name][0]
    if bool(takes) != bool(rest):
        what, remedy = ("says nothing", f"{name} {takes}") if takes else ("takes nothing after it", f"{name} alone")
        raise InputError(f"{name} {what}", remedy=f"Write {remedy}.")
    return name, rest


def time_of(text: str, now: str) -> str:
    """The time that /time asks for, ISO: an hour is the next one.

    Args:
        text: HH:MM, or a date and a time.
        now: ISO time.
    """
    found = _HOUR.fullmatch(text)
    if found is None:
        return text
    from datetime import datetime, timedelta

    present = datetime.fromisoformat(now)
    at = present.replace(hour=int(found[1]), minute=int(found[2]), second=0)
    return (at if at >= present else at + timedelta(days=1)).isoformat()


def help_lines() -> list[str]:
    """The commands, a line each."""
    return [f"{name} {takes}".ljust(16) + told for name, (takes, told) in COMMANDS.items()]


def status_line(event: Event, trust: int | None) -> str:
    """What is shown beside the words; empty for nothing.

    Args:
        event: what happened.
        trust: the last trust shown; None before the first.
    """
    match event:
        case Answered(appraised=True):
            change = 0 if trust is None else event.trust - trust
            step = f" ({change:+d})".replace("-", "−") if change else ""
            return f"{event.emotion}, trust {event.trust}{step}"
        case Acted() if event.kind != "none":
            return one_line(f"The agent {_DOES[event.kind]}: {event.about}")
        case TalkOver():
            return one_line(f"The talk is over. {event.summary}")
        case _:
            return ""


def memory_lines(agent: str, tie: Tie | None) -> list[str]:
    """What an agent knows of a person, a line each."""
    if tie is None:
        return [f"{agent} does not know you yet."]
    stands = tie.type.replace("_", " ")
    lines = [f"{agent}: trust {tie.trust}, {stands}{f' ({one_line(tie.note)})' if tie.note else ''}"]
    lines.append(f"talks: {tie.talks}" + (f", the last one {tie.last_met.replace('T', ' ')}" if tie.last_met else ""))
    lines += [f"last: {one_line(tie.summary)}"] if tie.summary else []
    lines += [f"promise: {one_line(promise)}" for promise in tie.promises]
    if not tie.in_force:
        lines.append("no facts: what you tell becomes facts when the talk is over")
    lines += [f"fact: {one_line(fact.statement)} (“{one_line(fact.quote)}”, {fact.at[:10]})" for fact in tie.in_force]
    return lines


def why_lines(why: Mapping[str, Any]) -> list[str]:
    """What an answer rests on, a line each: facts, then memories with their scores, best first."""
    lines = [f"fact: {one_line(fact['statement'])}" for fact in why.get("facts", [])]
    for one in why.get("recalled", []):
        if not one.get("shown", True):
            continue
        parts = ", ".join(f"{name} {one[name]:.2f}" for name in _SCORES if isinstance(one.get(name), float))
        theme = shortened(one_line(str(one["theme"])), _WIDEST)
        lines.append(f"{one['score']:.2f}  {one['kind']}: {theme} ({parts})")
    left = sum(not one.get("shown", True) for one in why.get("recalled", []))
    lines += [f"{left} more were recalled and did not fit into the prompt."] if left else []
    return lines or ["Nothing was recalled."]


# A talk with a companion in a terminal or a pipe: reads lines, streams the agent's words


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


async def talk(world: World, companion: Companion, *, terminal: bool) -> None:
    """Let a person talk with a companion until the input is over; then the talk ends and is consolidated.

    Args:
        world: where they talk.
        companion: the session.
        terminal: whether a person types; in a pipe, each line waits until the one before is digested.

    Raises:
        Interrupted: Ctrl-C; the talk stays open.
        ModelError: in a pipe, there was no answer.
        OutputClosed: the reader has closed standard output.
    """
    screen = Screen(terminal)
    conversation = _Conversation(world, companion, screen, patient=not terminal)
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
        world: where they talk.
        companion: the session.
        screen: what shows it.
        patient: whether each line waits until the one before is digested.
    """

    def __init__(self, world: World, companion: Companion, screen: Screen, *, patient: bool) -> None:
        self._world, self._companion, self._screen, self._patient = world, companion, screen, patient
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
                await companion.world.set_time(time_of(rest, companion.world.now()))
                screen.note(f"It is {companion.world.now().replace('T', ' ')}.")
                await companion.pass_time()
            case "/forget":
                await self._world.forget(companion.person, companion.agent)
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
    from .piped_lines import standard_input

    lines = standard_input()
    while (line := await lines.next()) is not None:
        yield line


async def _typed(companion: Companion) -> AsyncIterator[str]:
    """The lines that a person types in a terminal."""
    from prompt_toolkit import PromptSession
    from prompt_toolkit.patch_stdout import patch_stdout

    session: Any = PromptSession(erase_when_done=False, interrupt_exception=CtrlC, eof_exception=CtrlD)
    with patch_stdout(raw=True):
        while True:
            try:
                yield await session.prompt_async(f"{one_line(companion.person)}: ", handle_sigint=False)
            except CtrlC:
                raise Interrupted from None
            except CtrlD:
                return


GREETING: Final = "Simulated people are not people. /help lists the commands; Ctrl-D ends the talk."
