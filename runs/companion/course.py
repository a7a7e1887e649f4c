"""The events of one occurrence, for any number of readers; and from the graph's stream to events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from langchain_core.messages import AIMessageChunk

from persimchat.runs.companion.events import Acted, Answered, Event, Sentence, Speaking, TalkOver, Token
from persimchat.state.companion import Exchange
from persimchat.state.sentences import SentenceCutter


class Course:
    """What happens to one occurrence. A late reader gets the past events first.

    Attributes:
        id: of the exchange; empty while there is none.
        over: whether nothing more will happen.
    """

    def __init__(self, exchange: str = "") -> None:
        self.id, self.over = exchange, False
        self._events: list[Event] = []
        self._error: BaseException | None = None
        self._news = asyncio.Event()

    def tell(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)
        self._wake()

    def close(self, error: BaseException | None = None) -> None:
        """Nothing more will happen.

        Args:
            error: what readers get at the end.
        """
        if not self.over:
            self.over, self._error = True, error
            self._wake()

    async def events(self) -> AsyncIterator[Event]:
        """All events, from the first one.

        Raises:
            PerSimChatError: the occurrence failed.
        """
        at = 0
        while True:
            while at < len(self._events):
                at += 1
                yield self._events[at - 1]
            if self.over:
                if self._error is not None:
                    raise self._error
                return
            await self._news.wait()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()


class Words:
    """The agent's words as they stream: makes tokens and sentences of them.

    Args:
        agent: the agent's name.
    """

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self.speaking: Speaking | None = None
        self._begin()

    def begins(self, told: Mapping[str, Any]) -> Event:
        """The agent begins to speak."""
        self.speaking = Speaking(agent=self._agent, **told)
        self._begin()
        return self.speaking

    def take(self, message: Any) -> list[Event]:
        """The events of a piece of the answer."""
        if self.speaking is None or not isinstance(message, AIMessageChunk):
            return []
        found: list[Event] = []
        if self._stream not in (None, message.id):  # after unusable first words, the model is asked again
            self._begin()
            found.append(self.speaking)
        self._stream = message.id
        return [*found, *self._said(str(message.text))]

    def ended(self, exchange: Exchange) -> list[Event]:
        """The events with which the words of an answer end; all of them if nothing has streamed."""
        found: list[Event] = []
        if self.speaking is None or self.speaking.id != exchange["id"]:
            told = {"id": exchange["id"], "emotion": exchange["emotion"], "trust": exchange["trust"]}
            found.append(self.begins(told))
        if not self._any:
            found += self._said(exchange["utterance"])
        if rest := self._cutter.rest():
            found.append(self._sentence(rest, last=True))
        self.speaking = None
        return found

    def _begin(self) -> None:
        self._cutter, self._stream, self._number, self._held, self._any = SentenceCutter(), None, 0, "", False

    def _said(self, text: str) -> list[Event]:
        if not text or self.speaking is None:
            return []
        self._any = True
        found: list[Event] = [Token(id=self.speaking.id, text=text)]
        # White space at the end waits for more words: so the last sentence is the rest.
        whole = self._held + text
        words = whole.rstrip()
        self._held = whole[len(words) :]
        return [*found, *(self._sentence(one) for one in self._cutter.add(words) if one)]

    def _sentence(self, text: str, *, last: bool = False) -> Sentence:
        assert self.speaking is not None
        self._number += 1
        return Sentence(id=self.speaking.id, n=self._number, text=text, last=last)

    _stream: str | None


def answered(exchange: Exchange) -> Answered:
    """The event of an exchange as it stands."""
    names = ("id", "talk", "said", "utterance", "emotion", "trust", "end", "appraised")
    return Answered.model_validate({name: exchange[name] for name in names})  # type: ignore[literal-required]


def acted(told: Mapping[str, Any]) -> Acted:
    """The event of what the agent does unasked."""
    return Acted.model_validate({"kind": told["kind"], "about": told.get("about", "")})


def talk_over(told: Mapping[str, Any]) -> TalkOver:
    """The event of a talk that is consolidated."""
    facts = [one if isinstance(one, str) else str(one["statement"]) for one in told.get("facts", [])]
    return TalkOver(talk=told["talk"], summary=told["summary"], trust=told["trust"], facts=facts)
