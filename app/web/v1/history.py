"""Compares the history that a client sends with the transcript, which alone is true."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Final

from persimchat.app.web.v1.bodies import Message
from persimchat.graph.companion.attending import LONGEST_MESSAGE
from persimchat.state.companion import Exchange
from persimchat.state.plain_text import shortened

COMPARED: Final = 200
"""The last exchanges with which a client's lines are compared."""
SHOWN: Final = 24
"""The most lines of an unknown history that an agent gets."""
_SENT: Final = 8
_NEW_MINUTES: Final = 10
"""Words that nobody asked for come with the next answer if they are not older; else they stay a memory."""


@dataclass
class Window:
    """What this server last told a client of one pair and talk.

    Attributes:
        before: digest of the history that came with the last exchange.
        exchange: id of that exchange.
        tries: how often the same words were answered again.
        sent: what clients saw of the last answers, by exchange; it may be cut, or differ in wording.
    """

    before: str = ""
    exchange: str = ""
    tries: int = 0
    sent: dict[str, str] = field(default_factory=dict)

    def told(self, exchange: str, text: str, before: str, tries: int) -> None:
        """Note what a client saw of an answer."""
        self.before, self.exchange, self.tries = before, exchange, tries
        self.sent.pop(exchange, None)
        self.sent[exchange] = text
        while len(self.sent) > _SENT:
            del self.sent[next(iter(self.sent))]


@dataclass(frozen=True)
class Compared:
    """What a request means.

    Attributes:
        again: whether the last exchange is taken back: the client wants another answer, or has changed its words.
        same: whether the words are the same as then.
        shown: lines that the transcript does not have, as `speaker` and `text`.
    """

    again: bool
    same: bool
    shown: tuple[Mapping[str, str], ...]


def digest(lines: Sequence[Message]) -> str:
    """What tells one history from another."""
    told = [(line.role, _bare(line.words)) for line in lines]
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest()


def compare(
    lines: Sequence[Message], exchanges: Iterable[Exchange], window: Window, *, person: str, agent: str
) -> Compared:
    """Compare a client's history with the transcript.

    The last exchange is taken back if the client has an answer before it and not its own. With other words, the client
    must besides have sent the very history that it sent then: it could be another window.

    Args:
        lines: the client's lines, the new words last.
        exchanges: the pair's last exchanges, in order.
        window: what this server last told the client.
        person: the person's name.
        agent: the agent's name.
    """
    *earlier, new = lines
    known = [exchange for exchange in exchanges if not exchange.get("retracted") and exchange["said"]]
    answers = [line.words for line in earlier if line.role == "assistant"]
    again = same = False
    if known and answers and not _is_answer(answers[-1], known[-1], window):
        same = _bare(new.words) == _bare(known[-1]["said"])
        follows = len(known) > 1 and _is_answer(answers[-1], known[-2], window)
        repeats = window.exchange == known[-1]["id"] and window.before == digest(earlier)
        again = (repeats or follows) if same else (repeats and follows)
    shown = _unknown(earlier, known, window, person=person, agent=agent)
    return Compared(again, again and same, shown)


def unasked(exchanges: Sequence[Exchange], now: str) -> list[str]:
    """What the agent has said unasked since the person's last words, and not too long ago: no client has it yet.

    Args:
        exchanges: the pair's last ones, in order.
        now: the time in the world, ISO.
    """
    since = datetime.fromisoformat(now) - timedelta(minutes=_NEW_MINUTES)
    last = takewhile(lambda one: not one["said"], reversed(exchanges))
    return [one["utterance"] for one in last if one["utterance"] and datetime.fromisoformat(one["at"]) >= since][::-1]


def _unknown(
    lines: Sequence[Message], known: Sequence[Exchange], window: Window, *, person: str, agent: str
) -> tuple[Mapping[str, str], ...]:
    said = {_bare(exchange["said"]) for exchange in known}
    answered = {_bare(exchange["utterance"]) for exchange in known} | {_bare(text) for text in window.sent.values()}
    found = [
        {"speaker": person if line.role == "user" else agent, "text": shortened(line.words, LONGEST_MESSAGE)}
        for line in lines[-2 * SHOWN :]
        if _bare(line.words) not in (said if line.role == "user" else answered)
    ]
    return tuple(found[-SHOWN:])


def _is_answer(text: str, exchange: Exchange, window: Window) -> bool:
    """Whether a line of a client is the answer of an exchange."""
    return _bare(text) in (_bare(exchange["utterance"]), _bare(window.sent.get(exchange["id"], exchange["utterance"])))


def _bare(text: str) -> str:
    return " ".join(text.split())
