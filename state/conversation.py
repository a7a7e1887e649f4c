"""The conversation's channels and their reducers: what the outer graph keeps from turn to turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.channels.delta import DeltaChannel
from typing_extensions import TypedDict

from persimchat.state.mind import Call, Utterance


def append_messages(messages: list[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    """Reducer of `messages`: append, replacing a message that has the same id (a retried or resumed node).

    Args:
        messages: what is there; not changed.
        writes: lists of messages (or single ones), oldest first.
    """
    result = list(messages)
    index = {m.id: i for i, m in enumerate(result) if m.id is not None}
    for write in writes:
        for message in write if isinstance(write, list) else [write]:
            if message.id is not None and message.id in index:
                result[index[message.id]] = message
            else:
                if message.id is not None:
                    index[message.id] = len(result)
                result.append(message)
    return result


def merge_minds(minds: dict[str, dict[str, Any]], update: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Reducer of `agents`: an update replaces only the keys that it names, of the minds that it names."""
    return {**minds, **{name: {**minds.get(name, {}), **mind} for name, mind in update.items()}}


def add_usage(
    usage: dict[str, dict[str, Any]], calls: list[Call] | dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Reducer of `usage`: sums per "module|agent|model"; a cost becomes None as soon as one part of it is unknown."""
    result = {key: dict(row) for key, row in usage.items()}
    for row in calls.values() if isinstance(calls, dict) else calls:
        key = f"{row['module']}|{row['agent']}|{row['model']}"
        old = result.get(key)
        if old is None:
            result[key] = {k: v for k, v in row.items() if k != "turn"}
            continue
        for field in ("calls", "input_tokens", "output_tokens"):
            old[field] += row[field]
        old["estimated"] = old["estimated"] or row["estimated"]
        unknown = old["cost_usd"] is None or row["cost_usd"] is None
        old["cost_usd"] = None if unknown else old["cost_usd"] + row["cost_usd"]
    return result


class ConversationInput(TypedDict, total=False):
    """What starts a conversation. Only a topic (or a message that holds it) and participants are needed."""

    topic: str
    """What the conversation is about; where it is missing, the last human message is the topic."""
    messages: Annotated[list[AnyMessage], DeltaChannel(append_messages, snapshot_frequency=16)]
    participants: list[Any]
    """Names of shipped personas, or personas as mappings; the first four shipped ones where it is missing."""
    relationships: list[dict[str, Any]]
    social_goals: dict[str, list[str]]
    rules: list[str]
    simulation: str
    """The run's id, under which memories are kept; made from the thread's id where it is missing."""


class Conversation(ConversationInput, total=False):
    """The outer graph's channels. Everything in them is plain values and LangChain messages."""

    agents: Annotated[dict[str, dict[str, Any]], merge_minds]
    """Minds by agent's name, in order of listing (state/mind.py)."""
    turn: int
    """Utterances so far: the simulation's clock."""
    stop_reason: str
    """Why the conversation ended; empty while it goes on."""
    usage: Annotated[dict[str, dict[str, Any]], add_usage]


class ConversationOutput(TypedDict, total=False):
    """What a finished conversation hands to whoever invoked it."""

    messages: Annotated[list[AnyMessage], DeltaChannel(append_messages, snapshot_frequency=16)]
    turn: int
    stop_reason: str
    usage: Annotated[dict[str, dict[str, Any]], add_usage]


def as_message(utterance: Utterance, message_id: str) -> AIMessage:
    """An utterance as the LangChain message that the `messages` channel keeps: `name` is the speaker."""
    return AIMessage(
        content=utterance["text"],
        name=utterance["speaker"],
        id=message_id,
        additional_kwargs={"utterance": dict(utterance)},
    )


def utterances(messages: Sequence[AnyMessage]) -> list[Utterance]:
    """The utterances among a conversation's messages, oldest first."""
    return [m.additional_kwargs["utterance"] for m in messages if "utterance" in m.additional_kwargs]
