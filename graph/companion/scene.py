"""What an occurrence meets: world, agent and person as they are, the transcript, and what the agent sees of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from ...nodes.companion.view import view
from ...prompts.companion_blocks import facts_within
from ...state.companion import LINES, STRANGER, CompanionSituation, Occurrence, Talk, Tie
from ...state.companion.clock import moved
from ...state.companion.day import activity_at
from ...state.companion.place import Agent, Place
from ...state.companion.state import LINE, CompanionState
from ...state.minds.emotion import EmotionalState
from ...state.minds.mind import Mind, Situation, Step, Utterance, in_step
from ...state.settings import Settings
from .records import Records, agent_of, lock_of, place_in

LONGEST_INSTRUCTIONS: Final = 4_000
_CALM: Final = EmotionalState().model_dump()


@dataclass(frozen=True)
class Scene:
    """Agent and person, as they are when something comes in.

    Attributes:
        records: of the world.
        place: of the world.
        agent: the agent.
        person: id of the person.
        settings: of the companion, with how this agent recalls.
        mind: the agent's whole mind.
        tie: what it knows of the person.
    """

    records: Records
    place: Place
    agent: Agent
    person: str
    settings: Settings
    mind: Mind
    tie: Tie

    @classmethod
    async def of(cls, settings: Settings) -> Scene:
        """The scene of the pair that the settings name, after `attend` has seen to mind and tie."""
        records = Records(settings.companion.world)
        place, (person, _) = await asyncio.gather(place_in(records), records.person(settings.companion.person))
        agent = agent_of(place, settings.companion.agent)
        mind, tie = await records.pair(agent.name, person)
        assert mind is not None and tie is not None
        return cls(records, place, agent, person, agent.recall.settings(settings), mind, tie)

    async def again(self) -> Scene:
        """The scene with mind and tie as they are now."""
        mind, tie = await self.records.pair(self.agent.name, self.person)
        assert mind is not None and tie is not None
        return replace(self, mind=mind, tie=tie)

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Scene]:
        """The scene as it is now, while nobody else changes the mind."""
        async with lock_of(self.records.world, self.agent.name):
            yield await self.again()

    async def keep(self, *, mind: Mind | None = None, tie: Tie | None = None) -> None:
        """Write mind and tie, both or none."""
        await self.records.keep(self.agent.name, mind=mind, tie=tie)

    @property
    def at_home(self) -> str:
        """Where the agent is, an address."""
        return self.mind["companion"].get("at", "") or self.place.home(self.agent)

    def tick(self, at: str) -> int:
        """The memory clock after an occurrence at this time."""
        own = self.mind["companion"]
        return moved(own.get("tick", 0), own.get("last", at), at) + 1

    def step(
        self,
        talk: Talk,
        messages: Sequence[AnyMessage],
        *,
        exchange: str,
        at: str,
        tick: int,
        activity: str = "",
        occurrence: Occurrence | None = None,
        happened: Sequence[str] = (),
    ) -> Step:
        """The mind as it is used with this person, with the talk so far as its situation.

        Args:
            talk: the talk to which the exchange belongs.
            messages: the transcript; its last line is what was said last.
            exchange: id of the exchange.
            at: ISO time.
            tick: of the memory clock.
            activity: what the agent is doing.
            occurrence: what came in; what a client shows and says of the scene is read.
            happened: what was perceived, a sentence each.
        """
        tie, place, agent, settings = self.tie, self.place, self.agent, self.settings
        who = name_shown(tie)
        recent = shown(messages, agent.name, who, settings.companion.window)
        given = occurrence or Occurrence(kind="time")
        earlier = [
            utterance((AIMessage if one["speaker"] == "agent" else HumanMessage)(content=one["text"]), agent.name, who)
            for one in given.get("shown", [])
            if one["text"]
        ]
        address = self.at_home
        known = [fact.model_dump(mode="json") for fact in tie.in_force]
        companion: CompanionSituation = {
            "person": tie.person,
            "shown": who,
            "introduced": tie.introduced,
            "share": place.share_between_people,
            "at": at,
            "begun": talk.begun,
            "exchange": exchange,
            "talk": talk.id,
            "place": ", ".join([place.world, *address.split("/")]) if address else "",
            "around": around(place, agent, address),
            "activity": activity,
            "trust": tie.trust,
            "talks": tie.talks,
            "last_met": tie.last_met,
            "summary": tie.summary,
            "promises": tie.promises,
            "facts": [dict(fact) for fact in facts_within(known, settings.companion.facts_tokens)],
            "confides": [one.text for one in agent.confides if one.trust <= tie.trust],
            "happened": list(happened),
            "instructions": given.get("instructions", "")[:LONGEST_INSTRUCTIONS],
            "candour": settings.companion.candour,
        }
        situation: Situation = {
            "simulation": settings.companion.world,
            "topic": place.occasion,
            "turn": tick,
            "max_messages": 0,
            "present": [agent.name, who],
            "rules": [],
            "relationships": [{"to": who, "type": tie.type, "side": tie.side, "note": tie.note}],
            "recent": [*earlier, *recent],
            "debate": None,
            "closing": talk.closing,
            "companion": companion,
        }
        heard = {"heard": recent[-1], "focal_points": [recent[-1]["text"]]} if recent else {}
        return in_step(view(self.mind, tie.person, settings.ltm_capacity), situation=situation, **heard)

    def unheard(self, state: CompanionState, occurrence: Occurrence, happened: Sequence[str] = ()) -> Step:
        """The mind when something happens that is no words: nobody has spoken to it.

        Args:
            state: the graph's channels.
            occurrence: what has come in.
            happened: what it perceives, a sentence each.
        """
        tie, at = self.tie, occurrence["at"]
        step = self.step(
            tie.talk or Talk(id="", number=tie.talks + 1, begun=at, last=at, trust=tie.trust),
            state.get("messages", []),
            exchange=occurrence.get("id", ""),
            at=at,
            tick=self.tick(at),
            activity=activity_at(self.mind["companion"], at, tie.person),
            occurrence=occurrence,
            happened=happened,
        )
        return without_words(step)


def name_shown(tie: Tie) -> str:
    """The person's name as the agent knows it."""
    return tie.name if tie.introduced else STRANGER


def around(place: Place, agent: Agent, address: str) -> list[str]:
    """What is at an address, and who else: a line each."""
    sector, _, arena = address.partition("/")
    things = place.places.get(sector, {}).get(arena, {})
    lines = [f"{name}: {state}" for name, state in things.items()]
    lines += [f"Also here: {other.name}, {other.does}" for other in place.others if other.at in ("", address)]
    others = [one for one in place.agents if one.name != agent.name and place.home(one) == address and address]
    return [*lines, *(f"Also here: {one.name}" for one in others)]


def without_words(step: Step) -> Step:
    """The mind with nothing heard: nobody has spoken to it."""
    return {key: value for key, value in step.items() if key != "heard"}  # type: ignore[return-value]


# The transcript of a pair as messages, and what prompts show of it


def line(said: str, *, own: bool, exchange: str, talk: str, at: str, n: int) -> AnyMessage:
    """A line of the transcript.

    Args:
        said: the words.
        own: whether the agent said them.
        exchange: id of the exchange.
        talk: id of the talk.
        at: ISO time.
        n: the line's number in the pair's transcript, from 1.
    """
    about = {LINE: {"exchange": exchange, "talk": talk, "at": at, "n": n}}
    kind = AIMessage if own else HumanMessage
    return kind(content=said, id=line_id(exchange, own=own), additional_kwargs=about)


def line_id(exchange: str, *, own: bool) -> str:
    """The id of a line's message, under which its words stream."""
    return f"{exchange}-{'answer' if own else 'words'}"


def about(message: BaseMessage) -> dict[str, Any]:
    """What the transcript knows of a message; empty for a message that is not in it yet."""
    found = message.additional_kwargs.get(LINE)
    return dict(found) if isinstance(found, dict) else {}


def new_words(messages: Sequence[AnyMessage]) -> AnyMessage | None:
    """The human message at the end that is not in the transcript yet; None if there is none."""
    last = messages[-1] if messages else None
    return last if isinstance(last, HumanMessage) and not about(last) else None


def of_talk(messages: Sequence[AnyMessage], talk: str) -> list[AnyMessage]:
    """The lines of one talk."""
    return [message for message in messages if about(message).get("talk") == talk]


def shown(messages: Sequence[AnyMessage], agent: str, person: str, window: int) -> list[Utterance]:
    """The last lines as utterances, oldest first.

    When there are more than the window holds, half a window goes at once: so most prompts begin with the lines with
    which the one before began, and a server's cache keeps them.

    Args:
        messages: the transcript.
        agent: the agent's name.
        person: the person's name as the agent knows it.
        window: lines.
    """
    known = [message for message in messages if about(message)]
    if not known:
        return []
    half, last = max(1, window // 2), int(about(known[-1])["n"])
    first = max(0, -(-(last - window) // half) * half)
    found = [message for message in known if int(about(message)["n"]) > first]
    return [utterance(message, agent, person) for message in found]


def utterance(message: BaseMessage, agent: str, person: str) -> Utterance:
    """A line as an utterance."""
    own = isinstance(message, AIMessage)
    return {
        "turn": int(about(message).get("n", 0)),
        "speaker": agent if own else person,
        "text": str(message.text),
        "addressees": [person if own else agent],
        "emotion": _CALM if own else {},
        "need_to_talk": {},
        "response_time_s": 0.0,
        "tokens": {},
        "corrections": [],
    }


def gone(messages: Sequence[AnyMessage], tie: Tie) -> list[str]:
    """Ids of the lines that a thread need not keep: neither among the last ones, nor of a talk to be consolidated."""
    open_talks = {talk.id for talk in tie.unconsolidated}
    return [
        str(message.id) for message in messages[:-LINES] if about(message) and about(message)["talk"] not in open_talks
    ]
