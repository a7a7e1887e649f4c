"""The UDP server: takes datagrams, answers each message once, and lets no datagram harm it.

Loopback only. UDP loses, doubles and reorders; nothing is sent again unasked. A client that wants every answer gives
its messages an `id` and asks again until the answer is there.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from persimchat.app.companion_udp.answering import Game
from persimchat.app.companion_udp.peers import Address, Peer, Peers
from persimchat.runs.companion.world import World
from persimchat.state.errors import InputError, PerSimChatError
from persimchat.state.game_messages import GameMessage, PromptMessage, StartMessage, id_of, read_message, read_object
from persimchat.state.plain_text import one_line, shortened

PROMPTS: Final = 32
"""The most prompts that wait for their answer."""
OTHERS: Final = 256
"""The most other messages that wait for theirs."""
_ERROR: Final = 600
"""The most characters of an error."""

_log = logging.getLogger(__name__)

Data = dict[str, Any] | str
Answer = Callable[[GameMessage], Awaitable[Sequence[Data]]]
"""Answers a message: the `data` of each datagram of the answer."""


class GameServer(asyncio.DatagramProtocol):
    """The server's end of the socket.

    Args:
        answer: answers a message.
        reply_port: the port that answers go to, on the sender's host; None: the sender's own.

    Attributes:
        address: host and port on which it listens.
    """

    address: Address

    def __init__(self, answer: Answer, reply_port: int | None = None) -> None:
        self._answer = answer
        self._reply_port = reply_port
        self._peers = Peers()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = {True: 0, False: 0}
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is open."""
        self._transport = cast(asyncio.DatagramTransport, transport)
        self.address = transport.get_extra_info("sockname")[:2]

    def error_received(self, exc: Exception) -> None:
        """A client is gone, so that an answer did not arrive: nobody waits for it."""

    def datagram_received(self, datagram: bytes, sender: tuple[Any, ...]) -> None:
        """A datagram came in: answer it, now or by a task."""
        # One client may send from many ports if all answers go to one.
        address: Address = (sender[0], self._reply_port or sender[1])
        peer, now = self._peers[address], asyncio.get_running_loop().time()
        message_id = ""
        try:
            found = read_object(datagram)
            message_id = id_of(found)
            message = read_message(found)
            again = peer.again(message.id, datagram, now) if message.id else None
        except InputError as error:
            if peer.may_hear_of_errors(now):
                self._send(address, [_failure(error, message_id)])
            elif peer.silenced & (peer.silenced - 1) == 0:
                _log.warning("%d wrong datagrams of %s:%d got no answer", peer.silenced, *address)
            return
        is_prompt = isinstance(message, PromptMessage)
        if again is not None:
            self._send(address, again)
        elif not (is_prompt and not message.id and peer.is_repeated(datagram, now)):
            self._begin(message, datagram, peer, address)

    async def close(self) -> None:
        """Take no more datagrams, and end the answers under way."""
        if self._transport is not None:
            self._transport.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, message: GameMessage, datagram: bytes, peer: Peer, address: Address) -> None:
        is_prompt = isinstance(message, PromptMessage)
        if self._waiting[is_prompt] >= (PROMPTS if is_prompt else OTHERS):
            busy = InputError("busy", remedy="Wait for an answer, then send it again.")
            self._send(address, [_failure(busy, message.id)])
            return
        if message.id:
            peer.begin(message.id, datagram)
        elif is_prompt:
            peer.accept(datagram, asyncio.get_running_loop().time())
        if isinstance(message, StartMessage):
            peer.prompts.clear()  # equal words are new in another world
        self._waiting[is_prompt] += 1
        task = asyncio.create_task(self._reply(message, datagram, peer, address))
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a message of a game got no answer", exc_info=error)

    async def _reply(self, message: GameMessage, datagram: bytes, peer: Peer, address: Address) -> None:
        done: list[bytes] = []
        try:
            parts = [_datagram(message.RESPONSE, "Success", data, message.id) for data in await self._answer(message)]
            done = parts
        except PerSimChatError as error:
            parts = [_failure(error, message.id, message.RESPONSE if isinstance(message, StartMessage) else "")]
        finally:
            self._waiting[isinstance(message, PromptMessage)] -= 1
            peer.finish(message.id, datagram, done, asyncio.get_running_loop().time())
        self._send(address, parts)

    def _send(self, address: Address, datagrams: Sequence[bytes]) -> None:
        for datagram in datagrams:
            if self._transport is not None and not self._transport.is_closing():
                self._transport.sendto(datagram, address)


@asynccontextmanager
async def serve_udp(
    world: World, host: str = "127.0.0.1", port: int = 9091, reply_port: int | None = None
) -> AsyncIterator[GameServer]:
    """Let games talk with the agents of a world while the body runs.

    Args:
        world: the world that messages mean until a STARTMESSAGE opens another one beside it.
        host: an address of this machine alone.
        port: to listen on; 0: any free one, see `GameServer.address`.
        reply_port: the port that answers go to, on the sender's host; None: the sender's own.

    Raises:
        InputError: the host is not loopback, or the port is taken.
    """
    loopback = "127.0.0.1" if host == "localhost" else host
    if not _is_loopback(loopback):
        raise InputError(
            f"UDP is served on loopback only, not on {host!r}", where="host", remedy="Use 127.0.0.1 (or ::1)."
        )
    async with Game.open(world) as game:
        try:
            _, server = await asyncio.get_running_loop().create_datagram_endpoint(
                lambda: GameServer(game.answer, reply_port), local_addr=(loopback, port)
            )
        except OSError as error:
            raise InputError(
                f"UDP port {port} cannot be used: {error.strerror or error}",
                where=f"{host}:{port}",
                remedy="Choose another port, or end the program that has it.",
            ) from None
        try:
            yield server
        finally:
            await server.close()


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _failure(error: PerSimChatError, message_id: str, kind: str = "") -> bytes:
    return _datagram(kind or "ErrorResponse", "Failed", shortened(one_line(str(error)), _ERROR), message_id)


def _datagram(kind: str, status: str, data: Data, message_id: str) -> bytes:
    answer: dict[str, Any] = {"type": kind, "status": status, "data": data}
    if message_id:
        answer["id"] = message_id
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
