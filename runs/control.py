"""What people do to a run while it goes on: speak, whisper, answer, pause, change the topic, stop.

The command line, the web page and other programs hold a `Control` and give it to `run_simulation`; the run carries out
what is wanted between two turns. Everything is checked when it is asked for, so a mistake is told to whoever made it,
and nothing else happens.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from persimchat.personas.names import full_name
from persimchat.state.errors import InputError
from persimchat.state.intervention import AnyIntervention, Floor, Stop, intervention
from persimchat.state.person_answer import PersonAnswer, person_answer


class Control:
    """A run's controls. Every method may be called from any thread; names may be first names.

    Args:
        attended: whether somebody is there who can answer when a person's turn comes. Where nobody is, a run stops at a
            person's turn, and can be resumed from there.
    """

    def __init__(self, *, attended: bool = True) -> None:
        self._attended = attended
        self._present: list[str] = []
        self._people: list[str] = []
        self._wanted: deque[AnyIntervention] = deque()
        self._asked: tuple[str, str] | None = None
        self._answer: PersonAnswer | None = None
        self._paused = self._stopped = False
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()

    # What people do

    def say(self, text: str, *, speaker: str = "", heard_by: Sequence[str] | None = None) -> None:
        """Say something next: as the moderator, or as a participant. A person who is being asked answers with it.

        Args:
            text: the words.
            speaker: a participant; empty for the moderator.
            heard_by: who hears it beside its speaker; None for everybody.

        Raises:
            InputError: there are no words, or too many; a name is nobody's.
        """
        with self._lock:
            name = self._name(speaker) if speaker else ""
            heard = [self._name(other) for other in heard_by] if heard_by is not None else None
            if name and self._asked == (name, "utterance"):
                self.answer({"text": text, "heard_by": heard} if heard else text)
                return
            self._want({"do": "say", "text": text, "speaker": name, "heard_by": heard})

    def whisper(self, to: str, text: str, *, speaker: str = "") -> None:
        """Say something that one participant hears and nobody else; raises as `say`."""
        self.say(text, speaker=speaker, heard_by=[to])

    def change_topic(self, topic: str) -> None:
        """Turn the conversation to another topic; raises InputError for an empty or too long one."""
        self._want({"do": "topic", "topic": topic})

    def raise_hand(self, agent: str, *, raised: bool = True) -> None:
        """A person wants to speak next, or no longer; raises InputError for somebody who is no person."""
        with self._lock:
            self._want({"do": "hand", "agent": self._name(agent), "raised": raised})

    def give_floor(self, agent: str, *, avoid: Sequence[str] = ()) -> None:
        """Let somebody speak next, whatever everybody's need to talk is; raises InputError for a name that is nobody's.

        Args:
            agent: who.
            avoid: what they are not to say again.
        """
        with self._lock:
            self._want(Floor(agent=self._name(agent), avoid=list(avoid)))

    def stop(self) -> None:
        """End the conversation after the utterance that is being made; at once while a person is being asked."""
        with self._lock:
            self._stopped = True
            self._want(Stop())

    def pause(self) -> None:
        """Let nothing happen after the utterance that is being made, until `go_on`."""
        with self._lock:
            self._paused = True
            self._notify()

    def go_on(self) -> None:
        """End a pause."""
        with self._lock:
            self._paused = False
            self._notify()

    def answer(self, given: Any) -> None:
        """Answer for the person who is being asked.

        Args:
            given: their words; or `{"text": …, "heard_by": […]}`; or `{"pass": True}`; where they are asked for their
                need to talk, a whole number from 0 to 10.

        Raises:
            InputError: nobody is being asked, or this is no answer.
        """
        with self._lock:
            if self._asked is None:
                raise InputError("nobody is being asked just now", remedy="Use say() to speak without being asked.")
            self._answer = person_answer(given, self._asked[1], self._present)
            self._notify()

    def pass_turn(self) -> None:
        """The person who is being asked says nothing this time; raises InputError where nobody is being asked."""
        self.answer({"pass": True})

    def leave(self) -> None:
        """Nobody is there any more who could answer: the run stops at the next person's turn."""
        with self._lock:
            self._attended = False
            self._notify()

    @property
    def asked(self) -> tuple[str, str] | None:
        """Who is being asked for what ("utterance" or "need_to_talk"); None while nobody is."""
        return self._asked

    @property
    def paused(self) -> bool:
        """Whether a pause was asked for."""
        return self._paused

    # What the run does

    def begin(self, present: Sequence[str], people: Sequence[str]) -> None:
        """The run has begun, with these participants and these people among them."""
        with self._lock:
            self._present, self._people = list(present), list(people)
            self._loop = asyncio.get_running_loop()

    def wanted(self) -> bool:
        """Whether there is anything to carry out."""
        return bool(self._wanted)

    def take(self) -> list[dict[str, Any]]:
        """The interventions that are wanted, in order; they are the caller's to carry out now."""
        with self._lock:
            taken = [wanted.model_dump() for wanted in self._wanted]
            self._wanted.clear()
            return taken

    async def unpaused(self) -> None:
        """Wait while the run is paused."""
        while self._paused and not self._stopped:
            await self._change()

    async def ask(self, agent: str, what: str) -> PersonAnswer | None:
        """Wait for a person's answer; None where nobody is there to give one, or the run is to stop."""
        with self._lock:
            self._asked, self._answer = (agent, what), None
        try:
            while self._answer is None and self._attended and not self._stopped:
                await self._change()
            return None if self._stopped else self._answer
        finally:
            with self._lock:
                self._asked = None

    @property
    def stopped(self) -> bool:
        """Whether somebody has asked for the end."""
        return self._stopped

    def _name(self, wanted: str) -> str:
        return full_name(wanted, self._present, what="participant")

    def _want(self, given: Mapping[str, Any] | AnyIntervention) -> None:
        with self._lock:
            if self._loop is None:
                raise InputError("the conversation has not begun", remedy="Wait for its `started` event.")
            self._wanted.append(intervention(given, self._present, self._people))
            self._notify()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _notify(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._changed.set)
