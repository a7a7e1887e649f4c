"""Assembling: the participants, the topic, and the minds before they awaken. No model is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from persimchat.nodes.judge import judge_name
from persimchat.personas.catalogue import judge_persona, shipped
from persimchat.personas.names import full_name
from persimchat.personas.scenario import default_participants, make_scenario
from persimchat.state.conversation import Conversation, ConversationInput, utterances
from persimchat.state.errors import InputError
from persimchat.state.mind import Mind
from persimchat.state.persona import Persona
from persimchat.state.scenario import Scenario
from persimchat.state.settings import Settings
from persimchat.state.story import Story


def _topic(state: ConversationInput) -> str:
    """The topic as given, else the last human message."""
    topic = state.get("topic") or topic_in(state.get("messages", []))
    if topic is None:
        raise InputError("the conversation has no topic", remedy="Give a topic, or a human message that holds it.")
    return topic


def topic_in(messages: Sequence[AnyMessage]) -> str | None:
    """The words of the last human message, None if there is none.

    People's utterances of an earlier conversation on the same thread are not topics.
    """
    said = (m for m in reversed(messages) if isinstance(m, HumanMessage) and not utterances([m]))
    return next((str(m.text) for m in said), None)


def _participant(entry: Any) -> Any:
    """A participant of the input: a shipped persona by name, or one written out. Input opens no files."""
    if isinstance(entry, str):
        return next(p for p in shipped() if p.name == full_name(entry, [p.name for p in shipped()], what="persona"))
    if isinstance(entry, Mapping) and not entry.keys().isdisjoint(("include", "persona")):
        raise InputError(
            "a participant of the graph's input names a file",
            where="field participants",
            remedy="Write the persona out; files are read by load_scenario() and the command line.",
        )
    return entry


def _participants(state: ConversationInput) -> list[Any]:
    given: Any = state.get("participants")
    if given and not isinstance(given, list | tuple):
        raise InputError(
            f"participants are a list, not {type(given).__name__}",
            where="field participants",
            remedy="List names of shipped personas, or personas.",
        )
    return [_participant(entry) for entry in given or default_participants()]


def scenario_of(state: ConversationInput) -> Scenario:
    """The scenario that a conversation's input describes.

    Raises:
        InputError: the input is not a valid scenario.
    """
    goals: Any = state.get("social_goals")
    if goals and not isinstance(goals, Mapping):
        raise InputError(
            f"social_goals are a mapping, not {type(goals).__name__}",
            where="field social_goals",
            remedy="Write {name: [goals]}.",
        )
    return make_scenario(
        _topic(state),
        _participants(state),
        relationships=state.get("relationships") or (),
        social_goals=goals,
        rules=state.get("rules") or (),
        guide=state.get("guide") or None,
    )


def refuse_people_in_baseline(scenario: Scenario, settings: Settings) -> None:
    """Refuse a baseline with human participants.

    Raises:
        InputError: there is a human participant.
    """
    people = [persona.name for persona in scenario.participants if persona.human]
    if people and settings.baseline is not None:
        raise InputError(
            f"baseline={settings.baseline} cannot include human participants",
            where=f"participant {people[0]}",
            remedy="Leave the baseline out, or let a model take this part.",
        )


def refuse_unfit_guide(scenario: Scenario, settings: Settings) -> None:
    """Refuse a guide in a debate, and in a baseline, which has no moderator.

    Raises:
        InputError: one of these.
    """
    if scenario.guide is None:
        return
    if settings.mode != "discussion":
        raise InputError(
            f"a focus group with a guide is a discussion, not a {settings.mode}",
            where=f"setting mode={settings.mode}",
            remedy="Leave the mode out; ask for positions before and after with guide.positions.",
        )
    if settings.baseline is not None:
        raise InputError(
            f"baseline={settings.baseline} has no moderator who follows a guide",
            where=f"setting baseline={settings.baseline}",
            remedy="Leave the baseline out, or the section guide.",
        )


def refuse_too_many_memories(scenario: Scenario, settings: Settings) -> None:
    """Refuse given memories for which long-term memory has no room beside profile, topic and social goals.

    Raises:
        InputError: somebody has too many.
    """
    if settings.baseline is not None:
        return
    for persona in scenario.participants:
        goals = settings.social_goals and scenario.goals_of(persona)
        room = settings.ltm_capacity - (3 if goals else 2)
        if len(persona.memories) > room and not persona.human:
            raise InputError(
                f"{persona.name} has {len(persona.memories)} memories, and long-term memory has room for {room} "
                f"beside profile, topic{' and social goals' if goals else ''}",
                where=f"participant {persona.name}, field memories",
                remedy=f"Leave {len(persona.memories) - room} out, or set a greater ltm_capacity.",
            )


def refuse_half_a_story(scenario: Scenario, settings: Settings) -> None:
    """Refuse a story without its section, and a section without its mode.

    Raises:
        InputError: one of these.
    """
    if settings.mode == "story" and scenario.story is None:
        raise InputError(
            "a story needs characters and stages, and this scenario has none",
            where="setting mode=story",
            remedy="Give a scenario file with a section story, for example examples/stories/ferries.yaml.",
        )
    if settings.mode != "story" and scenario.story is not None:
        raise InputError(
            f"a scenario with a section story cannot be held as a {settings.mode}",
            where=f"setting mode={settings.mode}",
            remedy="Leave the mode out, or the section story.",
        )
    if scenario.story is not None:
        refuse_unfit_minds(scenario.story, scenario.participants, settings)


def refuse_unfit_minds(story: Story, participants: Sequence[Persona], settings: Settings) -> None:
    """Refuse plenary and rooms of strategists, and people and ablations among minds that hear.

    Raises:
        InputError: one of these.
    """
    if story.needs_minds and settings.cognition == "strategist":
        raise InputError(
            "plenary and rooms go by need to talk, which cognition=strategist does not judge",
            where="setting cognition=strategist",
            remedy="Set cognition=full (or compact, lean), or leave the stages plenary and rooms out.",
        )
    if story.ablation and settings.cognition != "strategist":
        raise InputError(
            f"ablation leaves out parts of strategists, not of minds with cognition={settings.cognition}",
            where="field story.ablation",
            remedy="Leave ablation out, or cognition." if not story.needs_minds else "Leave ablation out.",
        )
    people = [persona.name for persona in participants if persona.human]
    if people and settings.cognition != "strategist":
        raise InputError(
            f"people can take part in stories of strategists only, not with cognition={settings.cognition} yet",
            where=f"participant {people[0]}",
            remedy="Let a model take this part" + (", or leave cognition out." if not story.needs_minds else "."),
        )


def assemble(state: Conversation, settings: Settings, thread: str) -> dict[str, Any]:
    """Make the conversation's channels and all minds from its input.

    Args:
        state: the input; the state of an earlier conversation on the same thread is replaced.
        settings: `social_goals` counts.
        thread: the thread's id, from which the simulation's id is made if none is given.
    """
    scenario = scenario_of(state)
    again = len(state.get("messages", [])) if state.get("agents") else 0
    simulation = state.get("simulation", "") if not again else ""
    refuse_people_in_baseline(scenario, settings)
    refuse_unfit_guide(scenario, settings)
    refuse_too_many_memories(scenario, settings)
    minds = {
        persona.name: _mind(persona, scenario.goals_of(persona) if settings.social_goals else [])
        for persona in scenario.participants
    }
    if settings.mode == "debate" and settings.judge == "persona":
        judge = judge_persona().model_copy(update={"name": judge_name(tuple(minds))})
        minds[judge.name] = {**_mind(judge, []), "role": "judge"}
    return {
        "topic": scenario.topic,
        "relationships": [r.model_dump(by_alias=True) for r in scenario.relationships],
        "rules": list(scenario.rules),
        **({"guide": scenario.guide.model_dump(mode="json")} if scenario.guide is not None else {}),
        "simulation": simulation or hashlib.sha256(f"{thread}/{again}".encode()).hexdigest()[:16],
        "agents": [dict.fromkeys(state.get("agents", {})), minds],
        "turn": 0,
        "stop_reason": "",
        "stop_source": "",
        "stop_detail": "",
        "verdicts": None,
        "conclusion": None,
        "closing": "",
        "closing_since": 0,
        "quiet": 0,
        "checked": 0,
        "selected": {},
        "scores": None,
        "judgements": None,
        "streaks": None,
        "interventions": [],
        "carried_out": None,
    }


def _mind(persona: Persona, goals: list[str]) -> Mind:
    """A mind before it awakens."""
    return {
        "name": persona.name,
        "persona": persona.model_dump(),
        "goals": goals,
        "emotion": {},
        "action": "",
        "plan": None,
        "stm": None,
        "alive": {},
        "pinned": [],
        "unsaved": [],
        "percept": None,
        "focal_points": [],
        "recalled": [],
        "insights": [],
        "utterances": 0,
        "last_spoke": 0,
        "did": "",
        **({"human": True, "hand": False, "passed": 0, "need_to_talk": 0} if persona.human else {}),
    }
