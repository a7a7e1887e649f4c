"""Edges of a story whose minds hear and think: who thinks beside the next words, and who hears those just said.

Nothing is sent in a story of strategists. `is_heard` decides who hears.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer, Send

from ...models.failures import is_transient
from ...nodes.assembling import refuse_unfit, topic_in
from ...nodes.minds.natural_language import Template, word_utterance
from ...nodes.people import intervene as carry_out_interventions
from ...nodes.people import say
from ...nodes.stories.acting import choose_partner, review, sum_up, take_stock, vote
from ...nodes.stories.context import part_of_act
from ...nodes.stories.playing import person_decides, play_words
from ...personas.scenario import load_story, make_scenario
from ...state.conversation import as_message, participants, utterance_id, utterances
from ...state.errors import InputError, ModelError
from ...state.intervention import Choose, Floor, Say, intervention
from ...state.minds.mind import Step, Utterance
from ...state.settings import Settings
from ...state.stories.state import Act, StoryInput, StoryOutput, StoryState
from ...state.stories.story import Story
from ...state.stories.support import StoryMind
from .. import phases
from ..compiled import ConversationGraph
from ..context import Context
from ..conversation import assemble, spoken_words
from ..edges import hearers
from ..langgraph_compat import Node, recompiled
from ..minds.building import (
    build_answering,
    build_hearing,
    build_remembering,
    build_story_awakening,
    build_thinking,
    settle_alone,
)
from ..node import TRANSIENT, current_settings, last_attempt, mind_node, module_node, route, silenced
from ..routing import is_silent
from ..situation import situation_of
from .agenda import NODES, agents_among, following, partners_of, story_in
from .situation import for_act, for_mind, for_person
from .talks import OUTSIDE_STAGES, hears, room_of, said_since


def thinkers(state: StoryState, settings: Settings) -> list[str]:
    """Who thinks beside the words of the present act: all others where they are said, in order of listing.

    As in a conversation, a mind thinks once before an utterance, and a silent one not at all. One that has heard
    nothing yet plans; with lean cognition, a plan comes with what it hears.
    """
    act, turn = state["act"], state["turn"]
    if not hears(settings) or not settings.planning_and_reflection or act["do"] not in ("speak", "address"):
        return []

    def room(name: str) -> str:
        return room_of(state["rooms"], act, state["round"], name)

    where = {room(name) for name in act["who"]}
    minds = [mind for name, mind in participants(state).items() if name not in act["who"] and room(name) in where]
    awake = (mind for mind in minds if not mind.get("human") and not is_silent(mind, turn))
    able = (mind for mind in awake if mind["action"] or settings.cognition != "lean")
    return [mind["name"] for mind in able if mind.get("thought", 0) <= turn]


def others_think(state: StoryState, settings: Settings) -> list[Send]:
    """The tasks of those who think beside the words of the present act."""
    story = story_in(state)
    names = thinkers(state, settings)
    return [Send(phases.THINK, for_mind(state, name, story, settings, thinks=True)) for name in names]


def what_each_did(state: StoryState, speakers: list[str], settings: Settings) -> dict[str, dict[str, Any]]:
    """What each mind did while the words after utterance `turn` were made; nothing in a story of strategists."""
    if not hears(settings):
        return {}
    turn = state["turn"] + 1
    thought = {
        name: mind["action"] or "plan" if mind.get("thought") == turn else ""
        for name, mind in participants(state).items()
    }
    return {name: {"did": "speak" if name in speakers else did} for name, did in thought.items()}


def all_hear(state: StoryState) -> list[Send] | Literal["agenda"]:
    """Route: those who hear the words just said take them in, each what was said where it is; else the agenda."""
    settings = current_settings()
    if not hears(settings):
        return "agenda"
    story = story_in(state)
    return [
        Send(phases.HEAR, for_mind(state, name, story, settings, heard=said))
        for said in said_since(state, state["checked"])
        for name in hearers(state, said)
    ] or "agenda"


# A choice that a branch makes for the host of a story: whom it talks to, or that it talks to nobody


def forced_choice(
    state: StoryState, wanted: Sequence[Mapping[str, Any]], done: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The update by which the host who is about to take stock has its partner; the last choice counts.

    The host still takes stock and plans the talk; only that it could have chosen somebody else is gone.

    Args:
        state: the story.
        wanted: the choices, as interventions.
        done: the records of other interventions that were carried out before.

    Raises:
        InputError: the host is not about to choose, or may not choose the partner.
    """
    act, story = state["act"], story_in(state)
    for one in wanted:
        made = intervention(one, list(story.characters))
        assert isinstance(made, Choose)  # its `do` is "choose"
        if act["do"] != "stocktake" or act["room"] or act["host"] != made.host:
            raise InputError(
                f"{made.host} is not about to choose a partner",
                where="intervention",
                remedy="Begin a branch there: persimchat branch RUN --choose HOST=PARTNER.",
            )
        allowed = partners_of(state, story, made.host, story.stages[act["stage"]])
        if made.partner and made.partner not in allowed:
            raise InputError(
                f"{made.host} may not choose {made.partner} in this stage",
                where="intervention",
                remedy=f"Choose one of: {', '.join(allowed)}; or nobody.",
            )
        act = {**act, "partner": made.partner}
    records = [{"turn": state["turn"], **one} for one in wanted]
    return {"act": act, "carried_out": [*done, *records]}


# A story: assemble ─▶ awaken×n ─▶ agenda ─▶ (an act ─▶ agenda)… or END; words go by way of publish


NAME = "story"


async def begin(state: StoryState, settings: Settings) -> dict[str, Any]:
    """Make the story's channels and minds from its input; of the small story that comes with the package if empty."""
    given = state if state.get("story") else await asyncio.to_thread(_small_story, state)
    made = await asyncio.to_thread(
        make_scenario,
        given["topic"],
        given.get("participants", []),
        relationships=given.get("relationships") or (),
        social_goals=given.get("social_goals"),
        rules=given.get("rules") or (),
        story=given["story"],
    )
    refuse_unfit(made, settings)
    story = made.story
    assert story is not None  # `given` has one
    assembled = await assemble(given, settings)
    gone, minds = assembled["agents"]
    for name, mind in minds.items():
        mind["story"] = _first_mind(story, name)
    return {
        **assembled,
        "agents": [gone, minds],
        "story": story.model_dump(by_alias=True),
        "round": 0,
        "act": _awakening(agents_among(list(minds), minds)),
        "rooms": {},
        "happenings": None,
        "owners": {resource.name: resource.owner for resource in story.resources},
        "outcome": None,
    }


def _first_mind(story: Story, name: str) -> StoryMind:
    """The story's part of a mind before it awakens."""
    one = story.characters[name]
    others = [other for other in story.characters if other != name]
    return {
        "main": one.main,
        "beliefs": [{"text": b.text, "score": b.score, "for": b.favours or ""} for b in one.beliefs],
        "closeness": {other: one.closeness.get(other, story.limits.closeness) for other in others},
        "supports": one.supports,
        "stock": None,
        "plan": [],
        "review": "",
        "done": 0,
        "answer": None,
    }


def _awakening(who: list[str]) -> Act:
    """The act with which a story begins: everybody awakens whose part no person takes."""
    outside = {"stage": OUTSIDE_STAGES, "host": "", "rest": [], "left": 0, "room": ""}
    return cast(Act, {"n": 1, "do": "awaken", "who": who, **outside})


def _small_story(state: StoryState) -> StoryState:
    """The state with the small story that comes with the package, on the topic that it has. Blocks."""
    made = load_story().model_dump(by_alias=True, exclude={"settings"})
    topic = state.get("topic") or topic_in(state.get("messages", []))
    return cast(StoryState, {**state, **made, **({"topic": topic} if topic else {})})


async def agenda(state: StoryState, settings: Settings) -> dict[str, Any]:
    """Say what is done next."""
    return following(state, settings)


def _template(settings: Settings) -> Template:
    """The prompt of words: the conversation's, or that of characters without the minds of one."""
    return "utterance" if hears(settings) else "story_utterance"


async def speak(mind: Step, settings: Settings) -> dict[str, Any]:
    """A character speaks where it is; if its model fails for good, a room of two ends, and elsewhere others speak."""
    try:
        return await spoken_words(mind, settings, _template(settings))
    except ModelError as error:
        if mind.get("required") or (is_transient(error) and not last_attempt()):
            raise
        return silenced(mind, phases.SPEAK, error)


async def address(mind: Step, settings: Settings) -> dict[str, Any]:
    """A character speaks at the same time as others: before the group, or in its room; `publish` makes words known."""
    name, turn = mind["name"], mind["situation"]["turn"] + 1
    message_id = f"{utterance_id(mind['situation']['simulation'], turn)}/{name}"
    try:
        worded = await word_utterance(mind, settings, message_id, template=_template(settings))
    except ModelError as error:
        if mind.get("required") or (is_transient(error) and not last_attempt()):
            raise
        return silenced(mind, phases.SPEAK if hears(settings) else phases.ADDRESS, error)  # a room has another speaker
    own = {"story": part_of_act(mind, cast(dict[str, Any], worded.utterance)), "silent": None, **worded.own}
    return {"agents": {name: own}}


async def person_speaks(mind: Step, settings: Settings) -> dict[str, Any]:
    """A person speaks for their character, in its room or before the group."""
    return await play_words(mind, settings)


async def publish(state: StoryState, settings: Settings) -> dict[str, Any]:
    """Make words known and advance the clock: those of one speaker, or those of a chat round or of rooms at once."""
    turn, act = state["turn"], state["act"]
    said = utterances(state["messages"][-1:])
    if said and said[0]["turn"] == turn + 1:
        did = what_each_did(state, [said[0]["speaker"]], settings)
        return {"turn": turn + 1, **({"agents": did} if did else {}), **_carried_out(state, said[0])}
    if act["do"] != "address":
        return {}
    minds = [state["agents"][name] for name in act["who"] if state["agents"][name]["story"]["done"] == act["n"]]
    speakers = [mind for mind in minds if mind["story"]["answer"] is not None]  # a person may have passed
    messages = []
    agents = what_each_did(state, [mind["name"] for mind in speakers], settings)
    for number, mind in enumerate(speakers, start=turn + 1):
        utterance = cast(Utterance, {**(mind["story"]["answer"] or {}), "turn": number})
        by_person = bool(mind.get("human"))
        messages.append(as_message(utterance, utterance_id(state["simulation"], number), by_person=by_person))
        own: dict[str, Any] = {"utterances": mind["utterances"] + 1, "last_spoke": number}
        if mind.get("pruned", {}).get("turn") == turn + 1:  # as all of them, when they were worded at once
            own["pruned"] = {**mind["pruned"], "turn": number}
        agents[mind["name"]] = {**agents.get(mind["name"], {}), **own}
    return {"messages": messages, "turn": turn + len(messages), "agents": agents}


def _carried_out(state: StoryState, said: Utterance) -> dict[str, Any]:
    """The update for an intervention that these words, or these words' speaker, carried out."""
    waiting = state["interventions"]
    for place, one in enumerate(waiting):
        words = one["do"] == "say" and one["text"] == said["text"]
        if words or (one["do"] == "floor" and one["agent"] == said["speaker"]):
            done = [{"turn": state["turn"], **one}]
            return {"interventions": [*waiting[:place], *waiting[place + 1 :]], "carried_out": done}
    return {}


async def intervene(state: StoryState, settings: Settings) -> dict[str, Any]:
    """Carry out the waiting interventions but for words and the floor, which wait until their speaker's turn."""
    waiting = state["interventions"]
    kept = [one for one in waiting if one["do"] in ("say", "floor")]
    forced = [one for one in waiting if one["do"] == "choose"]
    others: StoryState = {**state, "interventions": [one for one in waiting if one not in [*kept, *forced]]}
    update = {**await carry_out_interventions(others, settings), "interventions": kept}
    return update | forced_choice(state, forced, update.get("carried_out", [])) if forced else update


def carry_out(state: StoryState) -> list[Send] | Literal["intervene", "__end__"]:
    """Route: the end, an intervention, or the present act, as one task for each who does it.

    The moderator's words come first. Words for a character are said when it is that character's turn in a room.
    """
    settings, act = current_settings(), state["act"]
    if state["stop_reason"]:
        return "__end__"
    present = participants(state)
    wanted = [intervention(one, list(present)) for one in state["interventions"]]
    if any(not isinstance(one, Say | Floor) for one in wanted):
        return phases.INTERVENE
    speaker = act["who"][0] if act["do"] == "speak" else ""
    story = story_in(state)
    for one in wanted:
        if isinstance(one, Say) and one.speaker in ("", speaker):
            beside = others_think(state, settings) if one.speaker else []
            return [Send(phases.SAY, _given(state, one, settings)), *beside]
    avoid = next((one.avoid for one in wanted if isinstance(one, Floor) and one.agent == speaker), [])
    more: dict[str, Any] = {"avoid": avoid} if avoid else {}
    if act["do"] == "awaken":
        more["asks"] = "impressions" if story.first_impressions and story.mains else ""
    agents = agents_among(act["who"], present)
    node = phases.PERSON_SPEAKS if act["do"] in ("speak", "address") else phases.PERSON_DECIDES
    people = [name for name in act["who"] if name not in agents]
    return [
        *(Send(NODES[act["do"]], for_act(state, name, story, settings, **more)) for name in agents),
        *(Send(node, for_person(state, name, story, settings)) for name in people),
        *others_think(state, settings),
    ]


def _given(state: StoryState, words: Say, settings: Settings) -> dict[str, Any]:
    """The input of words that somebody has put in; in a room, only the room hears a character."""
    name, heard_by = words.speaker, words.heard_by
    mind = for_act(state, name, story_in(state), settings) if name else None
    if name:
        room = room_of(state["rooms"], state["act"], state["round"], name)
        heard_by = [other for other in state["rooms"][room]["members"] if other != name] if room else None
    return {
        "situation": situation_of(state, name, settings),
        "needs": {},
        "text": words.text,
        "heard_by": heard_by,
        "mind": mind,
        **({"edited_by": words.edited_by} if words.edited_by else {}),
    }


def build_story(checkpointer: Checkpointer = None) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The compiled story; see `persimchat.graph.conversation.build_conversation`."""
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        StoryState, context_schema=Context, input_schema=StoryInput, output_schema=StoryOutput
    )
    nodes: dict[str, Node] = {
        phases.ASSEMBLE: module_node(begin),
        phases.AWAKEN: mind_node(build_story_awakening(), phases.AWAKEN, otherwise=settle_alone),
        phases.AGENDA: module_node(agenda),
        phases.STOCKTAKE: mind_node(build_answering(take_stock), phases.STOCKTAKE),
        phases.CHOOSE: mind_node(build_answering(choose_partner), phases.CHOOSE),
        phases.SPEAK: module_node(speak, tells=True),
        phases.ADDRESS: module_node(address, tells=True),
        phases.PERSON_SPEAKS: module_node(person_speaks),
        phases.PERSON_DECIDES: module_node(person_decides),
        phases.SAY: module_node(say),
        phases.THINK: mind_node(build_thinking(), phases.THINK),
        phases.PUBLISH: module_node(publish),
        phases.HEAR: mind_node(build_hearing(), phases.HEAR),
        phases.SUMMARISE: mind_node(build_remembering(sum_up), phases.SUMMARISE),
        phases.REVIEW: mind_node(build_remembering(review), phases.REVIEW),
        phases.BALLOT: mind_node(build_answering(vote), phases.BALLOT),
        phases.INTERVENE: module_node(intervene),
    }
    for name, node in nodes.items():
        asks = name in (phases.SPEAK, phases.ADDRESS)
        builder.add_node(name, node, retry_policy=TRANSIENT if asks else None)
    builder.add_edge(START, phases.ASSEMBLE)
    builder.add_conditional_edges(phases.ASSEMBLE, route(carry_out), [phases.AWAKEN])
    people = [phases.PERSON_SPEAKS, phases.PERSON_DECIDES]
    ways = [*NODES.values(), *people, phases.SAY, phases.THINK, phases.INTERVENE, END]
    builder.add_conditional_edges(phases.AGENDA, route(carry_out), ways)
    builder.add_conditional_edges(phases.PUBLISH, route(all_hear), [phases.HEAR, phases.AGENDA])
    for name in (phases.SPEAK, phases.ADDRESS, phases.PERSON_SPEAKS, phases.SAY, phases.THINK):
        builder.add_edge(name, phases.PUBLISH)
    silent = (phases.AWAKEN, phases.STOCKTAKE, phases.CHOOSE, phases.SUMMARISE, phases.REVIEW, phases.BALLOT)
    for name in (*silent, phases.PERSON_DECIDES, phases.HEAR, phases.INTERVENE):
        builder.add_edge(name, phases.AGENDA)
    return recompiled(ConversationGraph, builder.compile(checkpointer=checkpointer, name=NAME))
