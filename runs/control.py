"""Lets people control a running conversation: speak, whisper, answer, pause, change the topic, stop.

The command line, the web page and other programs make a `Control` and give it to `run_simulation`; the run carries out
the requests between two turns. Every method checks its arguments at once: a mistake raises an error to the caller and
changes nothing.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from ..personas.names import full_name
from ..state.errors import InputError
from ..state.intervention import AnyIntervention, Floor, Stop, intervention
from ..state.person_answer import PersonAnswer, Question, answer_of

LONGEST_PACE_S: Final = 600.0
"""The most seconds that somebody may want between two turns."""


class Control:
    """The controls of a run. Every method may be called from any thread; names may be first names.

    Args:
        attended: whether a person can answer when their turn comes. If not, the run stops at a person's turn, and can
            be resumed from there.
    """

    def __init__(self, *, attended: bool = True) -> None:
        self._attended = attended
        self._present: list[str] = []
        self._people: list[str] = []
        self._wanted: deque[AnyIntervention] = deque()
        self._asked: tuple[str, str] | None = None
        self._question: Question | None = None
        self._answer: PersonAnswer | None = None
        self._baseline: str | None = None
        self._in_story = False
        self._moderator: str | None = None
        self._paused = self._stopped = self._over = self._steps = False
        self._pace_s, self._turned_at = 0.0, -math.inf  # the first turn waits for none, on a machine just started too
        self._paced_turn: int | None = None
        self._free: int | None = None  # the number of utterances at which one more turn may pass
        self._lock = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._changed = asyncio.Event()

    # What people call

    def say(self, text: str, *, speaker: str = "", heard_by: Sequence[str] | None = None) -> None:
        """Say something next, as the moderator or a participant. If the person is being asked, this is the answer.

        Args:
            text: the words.
            speaker: a participant; empty for the moderator.
            heard_by: who hears it besides the speaker; None for all.

        Raises:
            InputError: there are no words, or too many; or a name is not a participant's.
        """
        with self._lock:
            name = self._name(speaker) if speaker else ""
            heard = [self._name(other) for other in heard_by] if heard_by is not None else None
            if name and self._asked == (name, "utterance"):
                self.answer({"text": text, "heard_by": heard} if heard else text)
                return
            self._refuse_in_story(name)
            self._want({"do": "say", "text": text, "speaker": name, "heard_by": heard})

    def whisper(self, to: str, text: str, *, speaker: str = "") -> None:
        """Say something that one participant hears and nobody else; raises as `say`."""
        self.say(text, speaker=speaker, heard_by=[to])

    def change_topic(self, topic: str) -> None:
        """Change the topic; raises InputError if it is empty or too long."""
        self._want({"do": "topic", "topic": topic})

    def raise_hand(self, agent: str, *, raised: bool = True) -> None:
        """Raise or lower a person's hand; raises InputError if the participant is not a person, or in a story."""
        with self._lock:
            self._refuse_in_story(self._name(agent))
            self._want({"do": "hand", "agent": self._name(agent), "raised": raised})

    def give_floor(self, agent: str, *, avoid: Sequence[str] = ()) -> None:
        """Let a participant speak next, regardless of need to talk; raises InputError if there is none of this name.

        Args:
            agent: the participant.
            avoid: utterances that the participant must not repeat.
        """
        with self._lock:
            self._want(Floor(agent=self._name(agent), avoid=list(avoid)))

    def next_question(self) -> None:
        """Let the moderator of a focus group put the next question of the guide now, before it is due.

        Raises:
            InputError: the conversation follows no guide.
        """
        with self._lock:
            self._check()
            if self._moderator is None:
                raise InputError(
                    "the conversation follows no guide, so there is no next question",
                    remedy="Say something instead, or change the topic.",
                )
            self._want(Floor(agent=self._moderator, question=True))

    def stop(self) -> None:
        """End the conversation after the utterance in progress, or at once if a person is being asked.

        Raises:
            InputError: the conversation has not begun, or is over.
        """
        with self._lock:
            self._want(Stop())
            self._stopped, self._paused, self._steps = True, False, False
            self._notify()

    def pause(self) -> None:
        """Pause after the utterance in progress, until `go_on`."""
        with self._lock:
            self._paused = True
            self._notify()

    def go_on(self) -> None:
        """End a pause."""
        with self._lock:
            self._paused = self._steps = False
            self._notify()

    def one_turn(self) -> None:
        """Let one more turn pass, and pause after it."""
        with self._lock:
            self._paused = self._steps = True
            self._notify()

    def pace(self, seconds: float) -> None:
        """Let at least so many seconds pass from turn to turn; 0: as fast as the models answer.

        Raises:
            InputError: fewer than 0, or more than `LONGEST_PACE_S`.
        """
        if not 0 <= seconds <= LONGEST_PACE_S:
            raise InputError(
                f"a turn cannot take {seconds:g} seconds", remedy=f"Choose from 0 to {LONGEST_PACE_S:g} seconds."
            )
        with self._lock:
            self._pace_s = seconds
            self._notify()

    def answer(self, given: Any) -> None:
        """Answer for the person who is being asked.

        Args:
            given: the person's words; or `{"text": …, "heard_by": […]}`; or `{"pass": True}`; or, if asked for their
                need to talk, a whole number from 0 to 10; or, if asked for a choice or a ballot, a candidate's name or
                number, or `{"choice": …}`; or, if asked where they stand, the answer to the poll.

        Raises:
            InputError: nobody is being asked, or the answer is invalid.
        """
        with self._lock:
            if self._asked is None:
                raise InputError("nobody is being asked just now", remedy="Use say() to speak without being asked.")
            agent, what = self._asked
            asked = self._question
            story = asked["story"] if asked and "story" in asked else None
            position = asked["position"] if asked and "position" in asked else None
            self._answer = answer_of(agent, given, what, self._present, story, position)
            self._asked = None  # `say` after this is a new utterance
            self._notify()

    def pass_turn(self) -> None:
        """Pass for the person who is being asked; raises InputError if nobody is."""
        self.answer({"pass": True})

    def leave(self) -> None:
        """No person can answer any more: the run stops at the next turn of a person. Also ends a pause."""
        with self._lock:
            self._attended = self._paused = False
            self._notify()

    @property
    def asked(self) -> tuple[str, str] | None:
        """Who is being asked, and for what (`state.person_answer.Asked`); None if nobody is."""
        return self._asked

    @property
    def question(self) -> Question | None:
        """The whole question that a person is being asked; None if nobody is."""
        return self._question if self._asked is not None else None

    @property
    def paused(self) -> bool:
        """Whether a pause was asked for, if only after one more turn."""
        return self._paused

    @property
    def pace_s(self) -> float:
        """The least seconds from turn to turn."""
        return self._pace_s

    # What the run calls

    def begin(
        self,
        present: Sequence[str],
        people: Sequence[str],
        *,
        baseline: str | None = None,
        in_story: bool = False,
        moderator: str | None = None,
    ) -> None:
        """Called when the run begins.

        Args:
            present: the full names of all participants.
            people: the full names of those who are people.
            baseline: the baseline that holds the conversation; people cannot take part in one.
            in_story: whether it is a story, in which people speak only when they are asked.
            moderator: the full name of who asks the questions of a focus group's guide; None without a guide.
        """
        with self._lock:
            self._in_story, self._moderator = in_story, moderator
            self._present, self._people, self._baseline = list(present), list(people), baseline
            self._loop, self._changed = asyncio.get_running_loop(), asyncio.Event()
            self._wanted.clear()
            self._asked = self._answer = None
            self._stopped = self._over = False

    def end(self) -> None:
        """Called when the run is over; later requests raise an error."""
        with self._lock:
            self._over, self._asked = True, None

    def wanted(self, turn: int) -> bool:
        """Whether there are interventions to carry out."""
        return bool(self._wanted)

    def take(self, turn: int) -> list[dict[str, Any]]:
        """The requested interventions, in order; the caller carries them out."""
        with self._lock:
            taken = [wanted.model_dump() for wanted in self._wanted]
            self._wanted.clear()
            return taken

    def pauses(self, turn: int) -> bool:
        """Whether the run is to pause after this many utterances."""
        return self._paused and turn != self._free

    async def unpaused(self, turn: int) -> None:
        """Wait while the run is paused, or until one more turn may pass.

        Args:
            turn: utterances so far.
        """
        while self._paused and not self._steps:
            await self._change()
        self._free, self._steps = (turn if self._paused else None), False

    async def paced(self, turn: int) -> None:
        """Wait until the next turn may begin, at the pace that was asked for; a pause or an end cuts it short.

        Args:
            turn: utterances so far; each is waited for once.
        """
        if turn == self._paced_turn:
            return
        now = asyncio.get_running_loop().time
        while not (self._stopped or self._paused) and (rest := self._turned_at + self._pace_s - now()) > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(rest):
                    await self._change()
        self._paced_turn, self._turned_at = turn, now()

    def ask(self, question: Question) -> None:
        """Ask a person; `reply` waits for the answer."""
        with self._lock:
            self._asked, self._answer = (question["agent"], question["what"]), None
            self._question = question

    async def reply(self) -> PersonAnswer | None:
        """Wait for the answer of the person who is being asked; None if nobody attends, or if the run is to stop."""
        try:
            while self._answer is None and self._attended and not self._stopped:
                await self._change()
            return None if self._stopped else self._answer
        finally:
            with self._lock:
                self._asked = None

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stopped

    def _name(self, wanted: str) -> str:
        self._check()
        return full_name(wanted, self._present, what="participant")

    def _refuse_in_story(self, name: str) -> None:
        """Refuse a person's own words in a story: kept for the next turn, they could reach another room's ears."""
        if self._in_story and name in self._people:
            raise InputError(
                f"{name} is not being asked; in a story, the stages say who speaks when",
                remedy="Wait for the question; the moderator may speak at any time.",
            )

    def _want(self, given: Mapping[str, Any] | AnyIntervention) -> None:
        with self._lock:
            self._check()
            self._wanted.append(intervention(given, self._present, self._people))
            self._notify()

    def _check(self) -> None:
        """Raise InputError if the conversation cannot be controlled."""
        if self._loop is None:
            raise InputError("the conversation has not begun", remedy="Wait for its `started` event.")
        if self._over or self._loop.is_closed():
            raise InputError("the conversation is over", remedy="Resume or branch the run, and try again there.")
        if self._baseline is not None:
            raise InputError(
                f"baseline={self._baseline} holds its conversation by itself; people cannot take part",
                remedy="Leave the baseline out, or stop the program.",
            )

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def _notify(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._changed.set)
