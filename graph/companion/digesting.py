"""Digesting: what an exchange leaves in the mind, after the words or beside them; and taking it back.

Every exchange is digested once: the mind names the last ones that it has digested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, RemoveMessage

from ...nodes.companion.conversing import recalling
from ...nodes.companion.view import returned
from ...state.companion import DIGESTED, CompanionMind, Exchange, Talk, Tie, label_of
from ...state.companion.state import CompanionState
from ...state.companion.trust import appraised
from ...state.errors import ModelError
from ...state.minds.mind import Mind, Step
from ...state.settings import Settings
from ..langgraph_compat import UNCHECKPOINTED
from ..minds.building import build_hearing
from . import ongoing
from .scene import Scene, about, line_id

TRIES: Final = 2
"""How often the appraisal of an exchange is tried, if its model fails."""
_HEARING = build_hearing(checkpointer=False)


def key_of(scene: Scene, exchange: str) -> str:
    """What judgements that begin early are about."""
    return f"{scene.records.world}/{scene.agent.name}/{exchange}"


def _heard(scene: Scene, messages: Sequence[AnyMessage], exchange: Exchange, tick: int) -> Step:
    """The mind as it hears the person's words: the transcript ends with them."""
    words = line_id(exchange["id"], own=False)
    ends = next((n for n, message in enumerate(messages, start=1) if message.id == words), len(messages))
    talk = talk_of(scene.tie, exchange["talk"]) or Talk(
        id=exchange["talk"], number=1, begun=exchange["at"], last=exchange["at"], trust=scene.tie.trust
    )
    return scene.step(talk, messages[:ends], exchange=exchange["id"], at=exchange["at"], tick=tick)


async def judged(scene: Scene, messages: Sequence[AnyMessage], exchange: Exchange, tick: int) -> dict[str, Any]:
    """The view of the mind after it has heard the words; the mind itself stays as it is."""
    step = _heard(scene, messages, exchange, tick)
    return await _HEARING.ainvoke(step, UNCHECKPOINTED, context=recalling(scene.settings))


async def _digested(scene: Scene, messages: Sequence[AnyMessage], exchange: Exchange) -> tuple[Mind, Tie, Exchange]:
    """Mind, tie and exchange after the exchange.

    Raises:
        ModelError: a model failed.
    """
    mind, settings, own = scene.mind, scene.settings, scene.mind["companion"]
    tick = scene.tick(exchange["at"])
    if not exchange["said"]:
        return _noted(mind, exchange, tick), _with_talk(scene.tie, exchange), {**exchange, "appraised": True}
    after = await ongoing.taken(key_of(scene, exchange["id"]), own.get("version", 0))
    if after is None:
        after = await judged(scene, messages, exchange, tick)
    changed = returned(mind, _heard(scene, messages, exchange, tick), after, settings.ltm_capacity)
    made = after.get("percept")
    changed = _noted(changed, exchange, tick, importance=made["importance"] if made else 0)
    label = label_of(changed["emotion"], own.get("label", "neutral"), settings.companion.emotion_floor)
    changed["companion"]["label"] = label
    tie = _with_talk(_trusted(scene.tie, exchange["talk"], after.get("trust_change")), exchange)
    return changed, tie, {**exchange, "emotion": label, "trust": tie.trust, "appraised": True}


async def digest(state: CompanionState, settings: Settings) -> dict[str, Any]:
    """Digest the exchanges that are spoken; one whose model fails stays for the next time, and then is given up."""
    left, done = list(state.get("pending", [])), list[Exchange]()
    undo = state.get("undo")
    scene = await Scene.of(settings)
    async with scene.held() as scene:
        while left:
            exchange, mind, tie = left[0], scene.mind, scene.tie
            if exchange["id"] in mind["companion"]["digested"]:
                label = mind["companion"].get("label", exchange["emotion"])
                felt = label if mind["companion"]["digested"][-1] == exchange["id"] else exchange["emotion"]
                done.append({**exchange, "appraised": True, "trust": tie.trust, "emotion": felt})
                undo = None  # what it has changed is not known any more
                left.pop(0)
                continue
            try:
                changed, new_tie, exchange = await _digested(scene, state["messages"], exchange)
            except ModelError:
                exchange = {**exchange, "tried": exchange.get("tried", 0) + 1}
                if exchange["tried"] < TRIES:
                    left[0] = exchange
                    done.append(exchange)
                    break
                tick = mind["companion"].get("tick", 0) + 1
                changed, new_tie = _noted(mind, exchange, tick), _with_talk(tie, exchange)
            undo = undo_of(exchange, mind, tie, changed)
            await scene.keep(mind=changed, tie=new_tie)
            scene = await scene.again()
            done.append(exchange)
            left.pop(0)
    return {"pending": left, "digested": done, "undo": undo, **({"answer": done[-1]} if done else {})}


def _trusted(tie: Tie, talk: str, change: dict[str, Any] | None) -> Tie:
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


def _with_talk(tie: Tie, exchange: Exchange) -> Tie:
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


# Taking the last exchange back, as if it had not been: for another answer, or for other words of the person


def undo_of(exchange: Exchange, before: Mind, tie: Tie, after: Mind) -> dict[str, Any]:
    """What a digest has changed, so that it can be taken back; nothing that another person has said is in it.

    Args:
        exchange: the exchange digested.
        before: the whole mind before.
        tie: the tie before.
        after: the whole mind afterwards.
    """
    stm = before.get("stm")
    own = bool(stm and (stm.get("circumstance") or {}).get("person") == tie.person)
    talk = talk_of(tie, exchange["talk"])
    return {
        "exchange": exchange["id"],
        "talk": talk.model_dump(mode="json") if talk is not None else None,
        "trust": tie.trust,
        "talked": tie.talked,
        "emotion": before["emotion"],
        "label": before["companion"].get("label", "neutral"),
        "importance": _importance(after) - _importance(before),
        "stm": stm if own else None,
        "memories": sorted(_memories(after) - _memories(before)),
    }


def taken_back(state: CompanionState, mind: Mind, tie: Tie) -> tuple[Mind, Tie, dict[str, Any]]:
    """Mind, tie and channels without the last exchange; unchanged if its talk is consolidated, or there is none.

    What has happened since stays: other talks of the person, and other persons' talks with what the agent felt in them.
    """
    pending = list(state.get("pending", []))
    if pending:
        last = pending.pop()
        return mind, _reopened(tie, last["talk"]), {"pending": pending, **_without(state, last["id"])}
    undo = state.get("undo")
    talk = Talk.model_validate(undo["talk"]) if undo and undo["talk"] else None
    if not undo or talk is None or not any(one.id == talk.id for one in tie.unconsolidated):
        return mind, tie, {}
    return _unlearned(mind, undo), _untold(tie, undo, talk), {"undo": None, **_without(state, undo["exchange"])}


def _unlearned(mind: Mind, undo: Mapping[str, Any]) -> Mind:
    """The mind without what an exchange has left in it."""
    gone, own, stm = set(undo["memories"]), mind["companion"], mind.get("stm")
    unsaved = mind.get("unsaved", [])
    alive = {memory: turn for memory, turn in mind["alive"].items() if memory not in gone}
    left: CompanionMind = {
        **own,
        "private": {memory: hearers for memory, hearers in own.get("private", {}).items() if memory not in gone},
        "digested": [one for one in own["digested"] if one != undo["exchange"]],
        "since_reflection": max(0, own.get("since_reflection", 0) - undo["importance"]),
    }
    felt: Any = {}
    if own["digested"][-1:] == [undo["exchange"]]:
        left["label"] = undo["label"]
        felt = {"emotion": undo["emotion"]}
    if stm and stm["id"] in gone:
        # The one before comes back, if nobody has forgotten it.
        stm = undo["stm"] if undo["stm"] and undo["stm"]["id"] in alive else None
        alive.pop(stm["id"] if stm else "", None)
    out = gone | ({stm["id"]} if stm else set())
    unsaved = [memory for memory in unsaved if memory["id"] not in out]
    return {**mind, **felt, "alive": alive, "unsaved": unsaved, "stm": stm, "companion": left}


def _untold(tie: Tie, undo: Mapping[str, Any], talk: Talk) -> Tie:
    """The tie with trust and talk as they were before an exchange."""
    before = {"trust": undo["trust"], "talked": undo["talked"]}
    if tie.talk is not None and tie.talk.id != talk.id:
        over = [talk if one.id == talk.id else one for one in tie.over]
        return tie.model_copy(update={**before, "over": over})
    over = [one for one in tie.over if one.id != talk.id]
    return tie.model_copy(update={**before, "talk": talk, "over": over})


def _memories(mind: Mind) -> set[str]:
    stm = mind.get("stm")
    return {*mind["alive"], *([stm["id"]] if stm else [])}


def _importance(mind: Mind) -> int:
    return mind["companion"].get("since_reflection", 0)


def _reopened(tie: Tie, talk: str) -> Tie:
    """The tie with this talk open again, and no longer about to end."""
    over = next((one for one in tie.over if one.id == talk), None)
    opened = tie.talk or over
    if opened is None or opened.id != talk:
        return tie
    rest = [one for one in tie.over if one.id != talk]
    return tie.model_copy(update={"talk": opened.model_copy(update={"closing": False}), "over": rest})


def _without(state: CompanionState, exchange: str) -> dict[str, Any]:
    ids = {line_id(exchange, own=own) for own in (False, True)}
    known = [str(message.id) for message in state.get("messages", []) if str(message.id) in ids and about(message)]
    return {"messages": [RemoveMessage(id=one) for one in known], "answer": None}
