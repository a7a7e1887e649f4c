"""What the server remembers of each peer, so that a lost, doubled or damaged datagram does no harm."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final

from persimchat.state.errors import InputError

Address = tuple[str, int]

KEPT_S: Final = 60.0
"""Seconds for which a finished answer is sent again."""
KEPT: Final = 256
"""The most finished answers a peer."""
SAME_S: Final = 2.0
"""Seconds in which equal prompts without an id count as one."""
ERRORS: Final = 5
"""Errors sent to one peer in a second; what else it sends wrong is counted and not answered."""
PEERS: Final = 1_024
"""The most peers; those that were silent for longest go first."""


@dataclass
class _Finished:
    until: float
    digest: bytes
    datagrams: list[bytes]


@dataclass
class Peer:
    """One sender.

    Attributes:
        silenced: wrong datagrams that got no answer.
    """

    finished: OrderedDict[str, _Finished] = field(default_factory=OrderedDict)
    running: dict[str, bytes] = field(default_factory=dict)
    prompts: OrderedDict[bytes, float] = field(default_factory=OrderedDict)
    errors: deque[float] = field(default_factory=deque)
    silenced: int = 0

    def again(self, message_id: str, datagram: bytes, now: float) -> list[bytes] | None:
        """What to send again for a message that came before; None for a new one.

        A message that is being answered gets nothing now: its answer goes out when it is there.

        Args:
            message_id: the client's.
            datagram: the message, as it came.
            now: seconds of a monotonic clock.

        Raises:
            InputError: the id belongs to another message.
        """
        while self.finished and next(iter(self.finished.values())).until <= now:
            self.finished.popitem(last=False)
        done, digest = self.finished.get(message_id), _digest(datagram)
        if digest != (done.digest if done else self.running.get(message_id, digest)):
            raise InputError(
                "another message had this id", where="field id", remedy="Give each message an id of its own."
            )
        return done.datagrams if done else [] if message_id in self.running else None

    def is_repeated(self, prompt: bytes, now: float) -> bool:
        """Whether an equal prompt without an id was accepted a moment ago."""
        while self.prompts and next(iter(self.prompts.values())) <= now:
            self.prompts.popitem(last=False)
        return _digest(prompt) in self.prompts

    def accept(self, prompt: bytes, now: float) -> None:
        """A prompt without an id is being answered."""
        self.prompts[_digest(prompt)] = now + SAME_S

    def begin(self, message_id: str, datagram: bytes) -> None:
        """A message with an id is being answered."""
        self.running[message_id] = _digest(datagram)

    def finish(self, message_id: str, datagram: bytes, answer: list[bytes], now: float) -> None:
        """A message is answered; without an answer it failed, and may come again as if it were new."""
        digest = _digest(datagram)
        self.running.pop(message_id, None)
        if not answer:
            self.prompts.pop(digest, None)
        elif message_id:
            self.finished[message_id] = _Finished(now + KEPT_S, digest, answer)
            if len(self.finished) > KEPT:
                self.finished.popitem(last=False)

    def may_hear_of_errors(self, now: float) -> bool:
        """Whether an error may be sent; otherwise the wrong datagram is counted."""
        while self.errors and self.errors[0] <= now - 1:
            self.errors.popleft()
        if len(self.errors) >= ERRORS:
            self.silenced += 1
            return False
        self.errors.append(now)
        return True


class Peers:
    """All peers by address."""

    def __init__(self) -> None:
        self._known: OrderedDict[Address, Peer] = OrderedDict()

    def __getitem__(self, address: Address) -> Peer:
        """The peer of an address, new or known."""
        peer = self._known.setdefault(address, Peer())
        self._known.move_to_end(address)
        while len(self._known) > PEERS:
            idle = next((known for known, other in self._known.items() if not other.running), address)
            if idle == address:
                break
            del self._known[idle]
        return peer


def _digest(datagram: bytes) -> bytes:
    return hashlib.sha256(datagram).digest()
