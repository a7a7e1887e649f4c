"""Assembling: the participants, the topic, and the minds before they awaken. No model is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from ..models.drawn import askable
from ..personas.catalogue import judge_persona, shipped
from ..personas.names import full_name
from ..personas.scenario import default_participants, make_scenario
from ..prompts.rendering import is_template, templates
from ..state.conversation import Conversation, ConversationInput, utterances
from ..state.errors import InputError
from ..state.minds.mind import Mind
from ..state.packages import rule_of
from ..state.persona import Persona
from ..state.scenario import Scenario
from ..state.settings import Settings
from ..state.stories.story import Story
from .debates.judge import judge_name


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


def refuse_unfit(scenario: Scenario, settings: Settings) -> None:
    """Refuse a scenario that cannot be held with these settings.

    Raises:
        InputError: the first thing that does not fit.
    """
    for problem in unfit(scenario, settings):
        raise problem


def unfit(scenario: Scenario, settings: Settings) -> Iterator[InputError]:
    """What of a scenario does not go with these settings."""
    baseline, mode, story, guide = settings.baseline, settings.mode, scenario.story, scenario.guide
    by_baseline, by_mode = f"setting baseline={baseline}", f"setting mode={mode}"
    people = [persona.name for persona in scenario.participants if persona.human]
    if people and baseline is not None:
        remedy = "Leave the baseline out, or let a model take this part."
        what = f"baseline={baseline} cannot include human participants"
        yield InputError(what, where=f"participant {people[0]}", remedy=remedy)
    try:
        with templates(settings.prompts):
            pass
    except InputError as error:
        yield error
    if baseline is None:
        try:  # what packages have must be there before the first word
            for module in settings.modules:
                if is_template(module):
                    raise InputError(
                        f"{module} is the name of a prompt",
                        where=f"entry point persimchat.module {module}",
                        remedy="Give the module another name.",
                    )
                askable(module)
            rule_of(settings.pattern)
        except InputError as error:
            yield error
    if guide is not None and mode != "discussion":
        remedy = "Leave the mode out; ask for positions before and after with guide.positions."
        yield InputError(f"a focus group with a guide is a discussion, not a {mode}", where=by_mode, remedy=remedy)
    if guide is not None and baseline is not None:
        remedy = "Leave the baseline out, or the section guide."
        yield InputError(f"baseline={baseline} has no moderator who follows a guide", where=by_baseline, remedy=remedy)
    for persona in scenario.participants if baseline is None else ():
        goals = settings.social_goals and scenario.goals_of(persona)
        room = settings.ltm_capacity - (3 if goals else 2)  # beside profile, topic and social goals
        if len(persona.memories) > room and not persona.human:
            yield InputError(
                f"{persona.name} has {len(persona.memories)} memories, and long-term memory has room for {room} "
                f"beside profile, topic{' and social goals' if goals else ''}",
                where=f"participant {persona.name}, field memories",
                remedy=f"Leave {len(persona.memories) - room} out, or set a greater ltm_capacity.",
            )
    if mode == "story" and story is None:
        remedy = "Give a scenario file with a section story, for example examples/stories/ferries.yaml."
        yield InputError(
            "a story needs characters and stages, and this scenario has none", where=by_mode, remedy=remedy
        )
    if story is not None and mode != "story":
        what = f"a scenario with a section story cannot be held as a {mode}"
        yield InputError(what, where=by_mode, remedy="Leave the mode out, or the section story.")
    if story is not None:
        yield from unfit_minds(story, scenario.participants, settings)


def unfit_minds(story: Story, participants: Sequence[Persona], settings: Settings) -> Iterator[InputError]:
    """What of a story does not go with its kind of minds: plenary and rooms, people, ablations."""
    cognition, needed = settings.cognition, story.needs_minds
    strategists = cognition == "strategist"
    people = [persona.name for persona in participants if persona.human]
    if needed and strategists:
        yield InputError(
            "plenary and rooms go by need to talk, which cognition=strategist does not judge",
            where="setting cognition=strategist",
            remedy="Set cognition=full (or compact, lean), or leave the stages plenary and rooms out.",
        )
    if story.ablation and not strategists:
        what = f"ablation leaves out parts of strategists, not of minds with cognition={cognition}"
        remedy = "Leave ablation out." if needed else "Leave ablation out, or cognition."
        yield InputError(what, where="field story.ablation", remedy=remedy)
    if people and not strategists:
        what = f"people can take part in stories of strategists only, not with cognition={cognition} yet"
        remedy = f"Let a model take this part{'.' if needed else ', or leave cognition out.'}"
        yield InputError(what, where=f"participant {people[0]}", remedy=remedy)


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
    if settings.mode != "story":  # a story has checked itself
        refuse_unfit(scenario, settings)
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
