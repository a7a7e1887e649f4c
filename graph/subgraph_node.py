"""The conversation as a node of another graph: keys of that graph's state are its input and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, get_args

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from ..nodes.assembling import refuse_unfit, scenario_of, topic_in
from ..personas.scenario import make_scenario
from ..state.conversation import ConversationInput, append_messages, utterances
from ..state.errors import InputError, suggestion
from ..state.persona import Persona, Relationship
from ..state.plain_text import one_line
from ..state.poll import Guide
from ..state.scenario import Scenario
from ..state.settings import Settings
from ..state.stories.story import Story
from .context import listed, mapped, settings_of, wrong_type
from .kinds import graph_for
from .langgraph_compat import Node

Given = Literal["messages", "transcript", "utterances", "conclusion", "verdicts", "outcome", "stop_reason", "usage"]
GIVEN: Final[tuple[Given, ...]] = get_args(Given)
"""The results that a conversation can give to the surrounding graph."""

_CHECKED: Final = "x"
"""A placeholder topic, with which participants are validated before the topic is known."""


class ConversationNode(Node):
    """A node that runs a conversation; LangGraph finds the conversation's graph in `deps`, for drawings and states."""

    def __init__(
        self,
        given: Mapping[str, Any],
        settings: Settings,
        topic_from: str | Callable[[Any], str],
        into: Mapping[str, Given],
    ) -> None:
        group = graph_for(settings)

        def question(state: Any) -> dict[str, Any]:
            return {**given, "topic": _topic(state, topic_from)}

        def hold(state: Any) -> dict[str, Any]:
            return _handed_out(group.invoke(question(state), context=settings), into)

        async def ahold(state: Any) -> dict[str, Any]:
            return _handed_out(await group.ainvoke(question(state), context=settings), into)

        super().__init__(hold, ahold, "conversation")
        self._group = group

    @property
    def deps(self) -> list[Runnable[Any, Any]]:
        """The graphs that run inside."""
        return [self._group]


def conversation_node(
    settings: Settings,
    *,
    participants: Iterable[str | Mapping[str, Any] | Persona] = (),
    relationships: Iterable[Mapping[str, Any] | Relationship] = (),
    social_goals: Mapping[str, Iterable[str]] | None = None,
    rules: Iterable[str] = (),
    story: Mapping[str, Any] | Story | None = None,
    guide: Mapping[str, Any] | Guide | None = None,
    topic_from: str | Callable[[Any], str] = "messages",
    into: Mapping[str, Given] | None = None,
) -> ConversationNode:
    """A node that runs a conversation, for a graph of your own.

    `builder.add_node("group", conversation_node(Settings(max_messages=8)))` adds it to a graph that has `messages`.
    Each time that the graph reaches it, the node runs a new conversation, whose agents remember no earlier one. The
    surrounding graph may have any state, context, checkpointer and recursion limit, and run in sync or async code.

    Args:
        settings: the settings of the conversations; the node ignores the graph's own context.
        participants: names of shipped personas, personas, or mappings; if empty, the first four shipped ones.
            The node asks a participant with `human: true` by LangGraph's `interrupt`.
        relationships: as in a scenario file.
        social_goals: each participant's goals by name.
        rules: rules that all participants know.
        story: the section `story` of a scenario, for a story among the participants (docs/stories.md); the settings
            then need no `mode`. Words that only a room hears are in the results, too.
        guide: the section `guide` of a scenario, for a focus group (docs/focus_groups.md).
        topic_from: the key of the graph's state that holds the topic, as text or as messages, whose last human one is
            the topic; or a function from the state to the topic.
        into: keys of the graph's state, each with the result that it gets: `messages` (the new ones), `transcript`
            (text, one utterance per line), `utterances` (as the log has them), `conclusion` (of a debate; None for
            discussions), `verdicts`, `outcome` (of a story's vote; None without one), `stop_reason`, `usage`. None
            means `{"messages": "messages"}`. Nothing else reaches the state.

    Raises:
        InputError: an argument is invalid, or `into` names an unknown result.
    """
    settings = settings_of(settings)
    if not (callable(topic_from) or isinstance(topic_from, str)):
        raise wrong_type("topic_from", topic_from, "Name a key of the graph's state, or give a function of the state.")
    wanted: dict[str, Given] = {}
    for key, what in ({"messages": "messages"} if into is None else mapped("into", into)).items():
        result = next((known for known in GIVEN if known == what), None)
        if result is None:
            raise InputError(
                f"a conversation has no result {what!r}",
                where=f"argument into, key {key!r}",
                remedy=suggestion(str(what), GIVEN),
            )
        wanted[key] = result
    given: ConversationInput = {
        "participants": [p.model_dump() if isinstance(p, Persona) else p for p in listed("participants", participants)],
        "relationships": [
            r.model_dump(by_alias=True) if isinstance(r, Relationship) else r
            for r in listed("relationships", relationships)
        ],
        "social_goals": {
            name: listed(f"social_goals, {name}", goals)
            for name, goals in mapped("social_goals", social_goals or {}).items()
        },
        "rules": listed("rules", rules),
    }
    if guide is not None:
        given["guide"] = guide.model_dump(mode="json") if isinstance(guide, Guide) else mapped("guide", guide)
    checked: ConversationInput = {**given, "topic": _CHECKED}
    scenario = scenario_of(checked)
    if story is not None:
        return _story_node(scenario, story, settings, topic_from, wanted)
    if settings.mode != "story":
        refuse_unfit(scenario, settings)
    return ConversationNode(given, settings, topic_from, wanted)


def _story_node(
    scenario: Scenario,
    story: Mapping[str, Any] | Story,
    settings: Settings,
    topic_from: str | Callable[[Any], str],
    into: Mapping[str, Given],
) -> ConversationNode:
    """The node of a story among a scenario's participants."""
    if "mode" not in settings.model_fields_set:
        settings = Settings.model_validate({**settings.model_dump(exclude_unset=True), "mode": "story"})
    told = make_scenario(
        scenario.topic,
        scenario.participants,
        relationships=scenario.relationships,
        social_goals=scenario.social_goals,
        rules=scenario.rules,
        story=story,
    )
    refuse_unfit(told, settings)
    given = told.model_dump(by_alias=True, exclude={"settings", "topic"})
    return ConversationNode(given, settings, topic_from, into)


def _topic(state: Any, topic_from: str | Callable[[Any], str]) -> str:
    """The topic of the conversation, from the graph's state."""
    if callable(topic_from):
        return topic_from(state)
    found = state.get(topic_from) if isinstance(state, Mapping) else getattr(state, topic_from, None)
    said = found
    if isinstance(found, list | tuple):
        said = topic_in(append_messages([], [list(found)]))
    elif isinstance(found, BaseMessage):
        said = str(found.text)
    if not isinstance(said, str) or not said.strip():
        raise InputError(
            f"the topic must be text, not {type(found).__name__}"
            if said and not isinstance(said, str)
            else "the conversation has no topic",
            where=f"key {topic_from!r} of the graph's state",
            remedy="Put a text there, or messages with a human one among them; or name another key with topic_from.",
        )
    return said


def _handed_out(output: Mapping[str, Any], into: Mapping[str, Given]) -> dict[str, Any]:
    """The update of the surrounding graph's state."""
    said = utterances(output["messages"])
    gives = {
        **output,
        "utterances": said,
        "transcript": "\n".join(f"{u['speaker']}: {one_line(u['text'])}" for u in said),
    }
    return {key: gives.get(what) for key, what in into.items()}
