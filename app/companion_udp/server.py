"""What the server remembers of each peer, so that a lost, doubled or damaged datagram does no harm."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import json
import logging
import math
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, cast

from ...runs.companion.world import World
from ...state.companion.game_messages import GameMessage, Prompt, Start, id_of, read_message, read_object
from ...state.errors import InputError, PerSimChatError
from ...state.plain_text import one_line, shortened
from .answering import Game

Address = tuple[str, int]

KEPT_S: Final = 60.0
"""Seconds for which a finished answer is sent again."""
KEPT: Final = 256
"""The most finished answers a peer."""
SAME_S: Final = 2.0
"""Seconds in which equal prompts without an id count as one."""
ERRORS: Final = 5
"""Errors sent to one peer in a second; what else it sends wrong is counted and not answered."""
_UNNAMED: Final = "\0"
"""How the keys of messages without an id begin; no id does."""
PEERS: Final = 1_024
"""The most peers; those that were silent for longest go first."""


@dataclass
class _Seen:
    """A message that came: until when an equal one counts as the same, and its answer once there is one."""

    until: float
    digest: bytes
    answer: list[bytes] = field(default_factory=list)


@dataclass
class Peer:
    """One sender.

    Attributes:
        silenced: wrong datagrams that got no answer.
    """

    seen: OrderedDict[str, _Seen] = field(default_factory=OrderedDict)
    errors: deque[float] = field(default_factory=deque)
    silenced: int = 0

    def begin(self, key: str, datagram: bytes, now: float) -> list[bytes] | None:
        """A message came in.

        Args:
            key: the client's id; of a prompt without one what `unnamed` says, and empty for others.
            datagram: the message, as it came.
            now: seconds of a monotonic clock.

        Returns:
            What to send again for a message that came before: nothing while it is being answered, as its answer goes
            out when it is there, and nothing for an equal prompt a moment ago. None for a new one.

        Raises:
            InputError: the id belongs to another message.
        """
        self.seen = OrderedDict((one, seen) for one, seen in self.seen.items() if seen.until > now)
        digest = hashlib.sha256(datagram).digest()
        if (seen := self.seen.get(key)) is None:
            if key:
                self.seen[key] = _Seen(now + SAME_S if key.startswith(_UNNAMED) else math.inf, digest)
            return None
        if seen.digest != digest:
            raise InputError(
                "another message had this id", where="field id", remedy="Give each message an id of its own."
            )
        return seen.answer

    def finish(self, key: str, answer: list[bytes], now: float) -> None:
        """A message is answered; without an answer it failed, and may come again as if it were new."""
        if not answer:
            self.seen.pop(key, None)
        elif key in self.seen and not key.startswith(_UNNAMED):
            self.seen[key] = _Seen(now + KEPT_S, self.seen.pop(key).digest, answer)
            named = [one for one in self.seen if self.seen[one].answer]
            for old in named[: max(0, len(named) - KEPT)]:
                del self.seen[old]

    def forget_prompts(self) -> None:
        """Equal words are new in another world."""
        for key in [key for key in self.seen if key.startswith(_UNNAMED)]:
            del self.seen[key]

    @property
    def is_waiting(self) -> bool:
        """Whether a message with an id is being answered."""
        return any(seen.until == math.inf for seen in self.seen.values())

    def may_hear_of_errors(self, now: float) -> bool:
        """Whether an error may be sent; otherwise the wrong datagram is counted."""
        while self.errors and self.errors[0] <= now - 1:
            self.errors.popleft()
        if len(self.errors) >= ERRORS:
            self.silenced += 1
            return False
        self.errors.append(now)
        return True


def unnamed(datagram: bytes) -> str:
    """What stands for the id of a prompt that has none."""
    return _UNNAMED + hashlib.sha256(datagram).hexdigest()


class Peers:
    """All peers by address."""

    def __init__(self) -> None:
        self._known: OrderedDict[Address, Peer] = OrderedDict()

    def __getitem__(self, address: Address) -> Peer:
        """The peer of an address, new or known."""
        peer = self._known.setdefault(address, Peer())
        self._known.move_to_end(address)
        while len(self._known) > PEERS:
            idle = next((known for known, other in self._known.items() if not other.is_waiting), address)
            if idle == address:
                break
            del self._known[idle]
        return peer


# The UDP server: takes datagrams, answers each message once, and lets no datagram harm it


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
            is_prompt = isinstance(message.data, Prompt)
            key = message.id or (unnamed(datagram) if is_prompt else "")
            if key not in peer.seen and self._waiting[is_prompt] >= (PROMPTS if is_prompt else OTHERS):
                busy = InputError("busy", remedy="Wait for an answer, then send it again.")
                self._send(address, [_failure(busy, message.id)])
                return
            again = peer.begin(key, datagram, now)
        except InputError as error:
            if peer.may_hear_of_errors(now):
                self._send(address, [_failure(error, message_id)])
            elif peer.silenced & (peer.silenced - 1) == 0:
                _log.warning("%d wrong datagrams of %s:%d got no answer", peer.silenced, *address)
            return
        if again is not None:
            self._send(address, again)
            return
        if isinstance(message.data, Start):
            peer.forget_prompts()
        self._waiting[is_prompt] += 1
        task = asyncio.create_task(self._reply(message, key, peer, address))
        self._tasks.add(task)
        task.add_done_callback(self._over)

    async def close(self) -> None:
        """Take no more datagrams, and end the answers under way."""
        if self._transport is not None:
            self._transport.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a message of a game got no answer", exc_info=error)

    async def _reply(self, message: GameMessage, key: str, peer: Peer, address: Address) -> None:
        done: list[bytes] = []
        try:
            parts = [_datagram(message.RESPONSE, "Success", data, message.id) for data in await self._answer(message)]
            done = parts
        except PerSimChatError as error:
            parts = [_failure(error, message.id, message.RESPONSE if isinstance(message.data, Start) else "")]
        finally:
            self._waiting[isinstance(message.data, Prompt)] -= 1
            peer.finish(key, done, asyncio.get_running_loop().time())
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
