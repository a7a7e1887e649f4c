"""The conversation as a node of somebody else's graph: its keys go in, what the conversation gave comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, get_args

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from persimchat.graph.arguments import listed, mapped, settings_of, wrong_type
from persimchat.graph.choice import graph_for
from persimchat.graph.langgraph_compat import Node
from persimchat.nodes.assembling import refuse_people_in_baseline, scenario_of, topic_in
from persimchat.state.conversation import Conversation, append_messages, utterances
from persimchat.state.errors import InputError, suggestion
from persimchat.state.persona import Persona
from persimchat.state.plain_text import one_line
from persimchat.state.relationship import Relationship
from persimchat.state.settings import Settings

Given = Literal["messages", "transcript", "utterances", "conclusion", "verdicts", "stop_reason", "usage"]
GIVEN: Final[tuple[Given, ...]] = get_args(Given)
"""What a conversation can give to the graph around it."""

_CHECKED: Final = "x"
"""A topic with which participants are checked before there is one."""


class ConversationNode(Node):
    """A node that holds a conversation; LangGraph finds the conversation's graph in it, for drawing and for states."""

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
    topic_from: str | Callable[[Any], str] = "messages",
    into: Mapping[str, Given] | None = None,
) -> ConversationNode:
    """A node that holds a conversation, for a graph of your own.

    `builder.add_node("group", conversation_node(Settings(max_messages=8)))` adds it to a graph that has `messages`.
    Every time that the graph comes to it, it holds one conversation, with nothing in mind of those before. The graph
    around it may have any state, context, checkpointer and recursion limit, and be run in sync and in async code.

    Args:
        settings: how conversations are held; the graph's own context is not looked at.
        participants: names of shipped personas, personas, or mappings; the first four shipped ones where it is empty.
            Somebody with `human: true` is asked by LangGraph's `interrupt`.
        relationships: as in a scenario file.
        social_goals: participant's name: goals.
        rules: rules that everybody knows.
        topic_from: the key of the graph's state that holds the topic: text, or messages, the last human one of which
            is the topic; or a function of the state that gives the topic.
        into: which key of the graph's state gets what: `messages` (those that are new), `transcript` (text, one
            utterance a line), `utterances` (as in transcript.jsonl), `conclusion` (what a debate came to, None for
            discussions), `verdicts`, `stop_reason`, `usage`. `{"messages": "messages"}` where it is None. Nothing else
            reaches the state.

    Raises:
        InputError: arguments that cannot be, or something that a conversation does not give.
    """
    settings = settings_of(settings)
    if not (callable(topic_from) or isinstance(topic_from, str)):
        raise wrong_type("topic_from", topic_from, "Name a key of the graph's state, or give a function of the state.")
    wanted = {"messages": "messages"} if into is None else mapped("into", into)
    for key, what in wanted.items():
        if what not in GIVEN:
            raise InputError(
                f"a conversation gives no {what!r}",
                where=f"argument into, key {key!r}",
                remedy=suggestion(str(what), GIVEN),
            )
    given = {
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
    refuse_people_in_baseline(scenario_of(Conversation(topic=_CHECKED, **given)), settings)  # type: ignore[typeddict-item]
    return ConversationNode(given, settings, topic_from, wanted)  # type: ignore[arg-type]


def _topic(state: Any, topic_from: str | Callable[[Any], str]) -> str:
    """What the conversation is about."""
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
    """What the graph around it gets."""
    said = utterances(output["messages"])
    gives = {
        **output,
        "utterances": said,
        "transcript": "\n".join(f"{u['speaker']}: {one_line(u['text'])}" for u in said),
    }
    return {key: gives.get(what) for key, what in into.items()}
