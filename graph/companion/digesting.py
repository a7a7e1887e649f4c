"""Digesting: what an exchange leaves in the mind, after the words or beside them (design, 2.4).

Every exchange is digested once: the mind names the last ones that it has digested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage

from persimchat.graph.companion import ongoing
from persimchat.graph.companion.attending import pair_in
from persimchat.graph.companion.lines import line_id
from persimchat.graph.companion.records import lock_of
from persimchat.graph.companion.situation import step_of
from persimchat.graph.companion.taking_back import undo_of
from persimchat.graph.langgraph_compat import UNCHECKPOINTED
from persimchat.graph.minds import build_hearing
from persimchat.nodes.companion_view import returned
from persimchat.nodes.conversing import recalling
from persimchat.state.clock import moved
from persimchat.state.companion import DIGESTED, CompanionMind, Exchange, Talk, Tie
from persimchat.state.companion_state import CompanionState
from persimchat.state.errors import ModelError
from persimchat.state.expression import label_of
from persimchat.state.mind import Mind, Step
from persimchat.state.place import Agent, Place
from persimchat.state.settings import Settings
from persimchat.state.trust import appraised

TRIES: Final = 2
"""How often the appraisal of an exchange is tried, if its model fails."""
_HEARING = build_hearing(checkpointer=False)


def key_of(settings: Settings, agent: str, exchange: str) -> str:
    """What judgements that begin early are about."""
    return f"{settings.companion.world}/{agent}/{exchange}"


class Digestion:
    """Digests exchanges of one agent.

    Args:
        place: of the world.
        agent: the agent.
        settings: of the companion.
    """

    def __init__(self, place: Place, agent: Agent, settings: Settings) -> None:
        self._place, self._agent, self._settings = place, agent, settings

    def step(self, mind: Mind, tie: Tie, messages: Sequence[AnyMessage], exchange: Exchange, tick: int) -> Step:
        """The mind as it hears the person's words: the transcript ends with them."""
        words = line_id(exchange["id"], own=False)
        ends = next((n for n, message in enumerate(messages, start=1) if message.id == words), len(messages))
        talk = talk_of(tie, exchange["talk"]) or Talk(
            id=exchange["talk"], number=1, begun=exchange["at"], last=exchange["at"], trust=tie.trust
        )
        return step_of(
            self._place, self._agent, mind, tie, talk, messages[:ends], self._settings,
            exchange=exchange["id"], at=exchange["at"], tick=tick,
        )  # fmt: skip

    async def judged(
        self, mind: Mind, tie: Tie, messages: Sequence[AnyMessage], exchange: Exchange, tick: int
    ) -> dict[str, Any]:
        """The view of the mind after it has heard the words; the mind itself stays as it is."""
        step = self.step(mind, tie, messages, exchange, tick)
        return await _HEARING.ainvoke(step, UNCHECKPOINTED, context=recalling(self._settings))

    async def digested(
        self, mind: Mind, tie: Tie, messages: Sequence[AnyMessage], exchange: Exchange
    ) -> tuple[Mind, Tie, Exchange]:
        """Mind, tie and exchange after the exchange.

        Raises:
            ModelError: a model failed.
        """
        own = mind["companion"]
        tick = moved(own.get("tick", 0), own.get("last", exchange["at"]), exchange["at"]) + 1
        if not exchange["said"]:
            return _noted(mind, exchange, tick), with_talk(tie, exchange), {**exchange, "appraised": True}
        key = key_of(self._settings, self._agent.name, exchange["id"])
        after = await ongoing.taken(key, own.get("version", 0))
        if after is None:
            after = await self.judged(mind, tie, messages, exchange, tick)
        seen = self.step(mind, tie, messages, exchange, tick)
        changed = returned(mind, seen, after, self._settings.ltm_capacity)
        made = after.get("percept")
        changed = _noted(changed, exchange, tick, importance=made["importance"] if made else 0)
        label = label_of(changed["emotion"], own.get("label", "neutral"), self._settings.companion.emotion_floor)
        changed["companion"]["label"] = label
        tie = with_talk(trusted(tie, exchange["talk"], after.get("trust_change")), exchange)
        return changed, tie, {**exchange, "emotion": label, "trust": tie.trust, "appraised": True}


async def digest(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Digest the exchanges that are spoken; one whose model fails stays for the next time, and then is given up."""
    pair = await pair_in(settings)
    records, place, agent = pair.records, pair.place, pair.agent
    settings = agent.recall.settings(settings)
    digestion, left, done = Digestion(place, agent, settings), list(state.get("pending", [])), list[Exchange]()
    undo = state.get("undo")
    async with lock_of(records.world, agent.name):
        while left:
            exchange = left[0]
            mind, tie = await records.pair(agent.name, pair.person)
            assert mind is not None and tie is not None
            if exchange["id"] in mind["companion"]["digested"]:
                label = mind["companion"].get("label", exchange["emotion"])
                felt = label if mind["companion"]["digested"][-1] == exchange["id"] else exchange["emotion"]
                done.append({**exchange, "appraised": True, "trust": tie.trust, "emotion": felt})
                undo = None  # what it has changed is not known any more
                left.pop(0)
                continue
            try:
                changed, new_tie, exchange = await digestion.digested(mind, tie, state["messages"], exchange)
            except ModelError:
                tried = exchange.get("tried", 0) + 1
                if tried < TRIES:
                    left[0] = {**exchange, "tried": tried}
                    done.append(left[0])
                    break
                tick = mind["companion"].get("tick", 0) + 1
                changed, new_tie = _noted(mind, exchange, tick), with_talk(tie, exchange)
                exchange = {**exchange, "tried": tried}
            undo = undo_of(exchange, mind, tie, changed)
            await records.keep(agent.name, mind=changed, tie=new_tie)
            done.append(exchange)
            left.pop(0)
    return {"pending": left, "digested": done, "undo": undo, **({"answer": done[-1]} if done else {})}


def trusted(tie: Tie, talk: str, change: dict[str, Any] | None) -> Tie:
    """The tie after a judgement of trust in a talk that is open, or over in the meantime."""
    if change is None:
        return tie
    own = talk_of(tie, talk)
    if own is None:
        return tie
    judged = appraised(tie.model_copy(update={"talk": own}), change["cause"], change["change"], change["wants_to_end"])
    if tie.talk is not None and tie.talk.id == talk:
        return judged
    return tie.model_copy(update={"trust": judged.trust})


def talk_of(tie: Tie, talk: str) -> Talk | None:
    """The talk of this id, open or over; None if it is consolidated."""
    return next((one for one in tie.unconsolidated if one.id == talk), None)


def with_talk(tie: Tie, exchange: Exchange) -> Tie:
    """The tie after one more exchange of its talk, which is over if these were the last words."""
    over = [one.model_copy(update={"exchanges": one.exchanges + 1}) if one.id == exchange["talk"] else one
            for one in tie.over]  # fmt: skip
    talk = tie.talk
    if talk is not None and talk.id == exchange["talk"]:
        talk = talk.model_copy(update={"exchanges": talk.exchanges + 1})
        if exchange["end"]:
            over, talk = [*over, talk], None
    return tie.model_copy(update={"talk": talk, "over": over, "talked": exchange["turn"]})


def _noted(mind: Mind, exchange: Exchange, tick: int, *, importance: int = 0) -> Mind:
    """The mind that remembers to have digested an exchange, with its clock moved."""
    own = mind["companion"]
    now: CompanionMind = {
        **own,
        "tick": tick,
        "last": max(own.get("last", ""), exchange["at"]),
        "digested": [*own["digested"], exchange["id"]][-DIGESTED:],
        "since_reflection": own.get("since_reflection", 0) + importance,
    }
    return {**mind, "companion": now, "utterances": mind.get("utterances", 0) + bool(exchange["utterance"])}
