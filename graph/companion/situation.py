"""The talk as the agent sees it in one step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from persimchat.graph.companion.lines import shown, utterance
from persimchat.nodes.companion_view import view
from persimchat.prompts.companion_blocks import facts_within
from persimchat.state.companion import STRANGER, CompanionSituation, Occurrence, Talk, Tie
from persimchat.state.mind import Mind, Situation, Step, in_step
from persimchat.state.place import Agent, Place
from persimchat.state.settings import Settings

LONGEST_INSTRUCTIONS: Final = 4_000


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


def step_of(
    place: Place,
    agent: Agent,
    mind: Mind,
    tie: Tie,
    talk: Talk,
    messages: Sequence[AnyMessage],
    settings: Settings,
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
        place: of the world.
        agent: the agent.
        mind: its whole mind.
        tie: what it knows of the person.
        talk: the talk to which the exchange belongs.
        messages: the transcript; its last line is what was said last.
        settings: of the companion.
        exchange: id of the exchange.
        at: ISO time.
        tick: of the memory clock.
        activity: what the agent is doing.
        occurrence: what came in; what a client shows and says of the scene is read.
        happened: what was perceived, a sentence each.
    """
    who = name_shown(tie)
    recent = shown(messages, agent.name, who, settings.companion.window)
    given = occurrence or Occurrence(kind="time")
    earlier = [
        utterance((AIMessage if one["speaker"] == "agent" else HumanMessage)(content=one["text"]), agent.name, who)
        for one in given.get("shown", [])
        if one["text"]
    ]
    address = mind["companion"].get("at", "") or place.home(agent)
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
    return in_step(view(mind, tie.person, settings.ltm_capacity), situation=situation, **heard)
